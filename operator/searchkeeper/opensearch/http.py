"""JSON over HTTP to an engine: one connection, short patience, nothing repeated that changes anything."""

from __future__ import annotations

__all__ = ["Access", "ErrorResponse", "HttpConnection", "NoResponse"]

import base64
import io
import json
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from searchkeeper.redaction import redact

# Nobody's cluster state is as large as that; what is, is no answer of an engine.
_MOST: Final = 256 * 2**20
# Of an engine's own sentence: enough to know what it is about.
_SENTENCE: Final = 500
# What was asked cannot be right, or may not be: the same question gets the same answer.
_FOR_GOOD: Final = frozenset({400, 401, 403, 404, 405, 413, 415, 422})


class NoResponse(Exception):
    """Nothing came back, or not in time, or nothing that could be read: it may have been carried out."""


class ErrorResponse(Exception):
    """The engine said no, or that it cannot at the moment: `status` is HTTP's number for it."""

    def __init__(self, status: int, said: str) -> None:
        self.status = status
        super().__init__(f"{status} {said}")

    @property
    def is_for_good(self) -> bool:
        return self.status in _FOR_GOOD


@dataclass(frozen=True, slots=True)
class Access:
    """Where an engine is, and how it is entered. `authority` are certificates in PEM."""

    url: str
    username: str = ""
    password: str = ""
    authority: str | None = None

    def __repr__(self) -> str:
        return f"Access({self.url!r})"

    @property
    def authorization(self) -> str | None:
        """The header's value; None for whoever needs no name."""
        pair = f"{self.username}:{self.password}".encode()
        return f"Basic {base64.b64encode(pair).decode()}" if self.username else None

    def without_secrets(self, text: str) -> str:
        """What an engine, or whatever stands before it, quotes of a question is not for everybody."""
        return redact(text, (self.password, (self.authorization or "").removeprefix("Basic ")))


class HttpConnection:
    """A connection that is opened by the first question, and closed by whoever asked the last one.

    No answer takes longer than the patience, and all together not longer than `lasting`: however slowly it
    comes, byte by byte, nobody waits for more.
    """

    def __init__(self, access: Access, *, deadline: float = 15, lasting: float = 60) -> None:
        self._access = access
        self._patience = deadline
        self._end = time.monotonic() + lasting
        self._connection: HTTPConnection | None = None

    @property
    def is_late(self) -> bool:
        """Whether one more question might not be answered any more."""
        return time.monotonic() + self._patience > self._end

    def get(self, path: str, **query: str) -> Any:
        """Asked twice where the connection breaks: a kept one may have been closed by the other side.

        Whoever has been silent for as long as anybody is waited for is not asked again.
        """
        try:
            return self.call("GET", path, query)
        except NoResponse as error:
            if isinstance(error.__cause__, TimeoutError):
                raise
            self.close()
            return self.call("GET", path, query)

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        *,
        deadline: float | None = None,
    ) -> Any:
        """Once. Raises NoAnswer, Turned."""
        where = f"{path}?{urlencode(query)}" if query else path
        until = min(time.monotonic() + (deadline or self._patience), self._end)
        try:
            status, text = self._exchange(method, where, body, until)
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            said = " ".join(self._access.without_secrets(str(error)).split()) or type(error).__name__
            raise NoResponse(f"{method} {path}: {said}") from error
        return self._understood(f"{method} {path}", status, text)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(self, method: str, where: str, body: Any, until: float) -> tuple[int, bytes]:
        connection = self._connection or self._connect()
        self._connection = connection
        connection.timeout = _left(until)
        if connection.sock is not None:
            connection.sock.settimeout(connection.timeout)
        connection.response_class = partial(_Answer, until=until)  # type: ignore[assignment]
        text = None if body is None else json.dumps(body).encode()
        connection.request(method, where, text, self._headers())
        answer = connection.getresponse()
        return answer.status, answer.read(_MOST)

    def _connect(self) -> HTTPConnection:
        parts = urlsplit(self._access.url)
        host = parts.hostname or ""
        if parts.scheme != "https":
            return HTTPConnection(host, parts.port)
        if not (self._access.authority or "").isascii():
            raise ssl.SSLError("the authority's certificate is not in PEM")
        trust = ssl.create_default_context(cadata=self._access.authority)
        return HTTPSConnection(host, parts.port, context=trust)

    def _headers(self) -> dict[str, str]:
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        authorization = self._access.authorization
        return headers if authorization is None else {**headers, "Authorization": authorization}

    def _understood(self, question: str, status: int, text: bytes) -> Any:
        """Raises NoAnswer, Turned."""
        try:
            # Voting exclusions are answered with nothing at all.
            answer = json.loads(text) if text else None
        except (ValueError, RecursionError) as error:
            if status < 300:
                raise NoResponse(f"{question}: {status}, and no JSON") from error
            answer = None
        if status >= 300:
            # Struck out before it is cut: half a password is too much, too.
            said = self._access.without_secrets(_reason(answer))[:_SENTENCE]
            raise ErrorResponse(status, f"{question}: {said}")
        return answer


class _Answer(HTTPResponse):
    """One that is read until a moment, not for as long as something comes now and then."""

    def __init__(self, sock: socket.socket, *arguments: Any, until: float, **others: Any) -> None:
        super().__init__(_Timed(sock, until), *arguments, **others)  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class _Timed:
    """As much of a socket as an answer wants of it."""

    sock: socket.socket
    until: float

    def makefile(self, _: str) -> io.BufferedReader:
        return io.BufferedReader(_Bytes(self.sock, self.until))


class _Bytes(io.RawIOBase):
    """What comes in until a moment. Raises TimeoutError after it.

    The stream keeps the socket open: http.client closes it beforehand where the answer is the last one.
    """

    def __init__(self, sock: socket.socket, until: float) -> None:
        self._sock = sock
        self._until = until
        self._stream = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(_left(self._until))
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _left(until: float) -> float:
    """The seconds until then. Raises TimeoutError when there are none."""
    left = until - time.monotonic()
    if left <= 0:
        raise TimeoutError("timed out")
    return left


def _reason(answer: Any) -> str:
    """The engine's own sentence, where it has one."""
    error = answer.get("error") if isinstance(answer, dict) else None
    reason = (error.get("reason") or error.get("type")) if isinstance(error, dict) else error
    return str(reason or "no reason is given")
