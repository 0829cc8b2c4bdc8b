"""JSON over HTTP to an engine: one connection, short patience, nothing repeated that changes anything."""

from __future__ import annotations

__all__ = ["Access", "Http", "NoAnswer", "Turned"]

import base64
import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

# Nobody's cluster state is as large as that; what is, is no answer of an engine.
_MOST: Final = 256 * 2**20


class NoAnswer(Exception):
    """Nothing came back, or not in time, or nothing that could be read: it may have been carried out."""


class Turned(Exception):
    """The engine said no, or that it cannot at the moment: `status` is HTTP's number for it."""

    def __init__(self, status: int, said: str) -> None:
        self.status = status
        super().__init__(f"{status} {said}")


@dataclass(frozen=True, slots=True)
class Access:
    """Where an engine is, and how it is entered. `authority` are certificates in PEM."""

    url: str
    username: str = ""
    password: str = ""
    authority: str | None = None

    def __repr__(self) -> str:
        return f"Access({self.url!r})"


class Http:
    """A connection that is opened by the first question, and closed by whoever asked the last one."""

    def __init__(self, access: Access, *, patience: float = 15) -> None:
        self._access = access
        self._patience = patience
        self._connection: HTTPConnection | None = None

    def get(self, path: str, **query: str) -> Any:
        """Asked twice where the connection breaks: a kept one may have been closed by the other side."""
        try:
            return self.call("GET", path, query)
        except NoAnswer:
            self.close()
            return self.call("GET", path, query)

    def call(
        self,
        method: str,
        path: str,
        query: Mapping[str, str] | None = None,
        body: Any = None,
        *,
        patience: float | None = None,
    ) -> Any:
        """Once. Raises NoAnswer, Turned."""
        where = f"{path}?{urlencode(query)}" if query else path
        try:
            status, text = self._exchange(method, where, body, patience or self._patience)
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            raise NoAnswer(f"{method} {path}: {error or type(error).__name__}") from error
        return _understood(method, path, status, text)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(self, method: str, where: str, body: Any, patience: float) -> tuple[int, bytes]:
        connection = self._connection or self._connect()
        self._connection = connection
        connection.timeout = patience
        if connection.sock is not None:
            connection.sock.settimeout(patience)
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
        if self._access.username:
            pair = f"{self._access.username}:{self._access.password}".encode()
            headers["Authorization"] = f"Basic {base64.b64encode(pair).decode()}"
        return headers


def _understood(method: str, path: str, status: int, text: bytes) -> Any:
    """Raises NoAnswer, Turned."""
    try:
        # Voting exclusions are answered with nothing at all.
        answer = json.loads(text) if text else None
    except ValueError as error:
        if status < 300:
            raise NoAnswer(f"{method} {path}: {status}, and no JSON") from error
        answer = None
    if status >= 300:
        raise Turned(status, f"{method} {path}: {_reason(answer)}")
    return answer


def _reason(answer: Any) -> str:
    """The engine's own sentence, where it has one."""
    error = answer.get("error") if isinstance(answer, dict) else None
    reason = (error.get("reason") or error.get("type")) if isinstance(error, dict) else error
    return str(reason or "no reason is given")[:500]
