"""JSON over HTTP to OpenSearch: one connection, short timeouts, and no retry of a request that writes."""

from __future__ import annotations

__all__ = ["Access", "ErrorResponse", "HttpConnection", "NoResponse"]

import base64
import io
import json
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any, Final
from urllib.parse import urlencode, urlsplit

from searchkeeper.redaction import redact

# Far above any cluster state; a larger body comes from something else.
_MAX_RESPONSE_BYTES: Final = 256 * 2**20
_MAX_REASON_LENGTH: Final = 500
# The request is invalid or not permitted: a retry gets the same response.
_PERMANENT_STATUSES: Final = frozenset({400, 401, 403, 404, 405, 413, 415, 422})


class NoResponse(Exception):
    """No valid response arrived in time. OpenSearch may have executed the request."""


class ErrorResponse(Exception):
    """OpenSearch responded with an error. `status` is the HTTP status code."""

    def __init__(self, status: int, message: str) -> None:
        self.status = status
        self.is_permanent = status in _PERMANENT_STATUSES
        super().__init__(f"{status} {message}")


@dataclass(frozen=True, slots=True)
class Access:
    """URL and credentials of an OpenSearch cluster. `authority` is the CA certificate in PEM."""

    url: str
    username: str = field(default="", repr=False)
    password: str = field(default="", repr=False)
    authority: str | None = field(default=None, repr=False)

    @property
    def authorization(self) -> str | None:
        """The Authorization header; None without a username."""
        credentials = f"{self.username}:{self.password}".encode()
        return f"Basic {base64.b64encode(credentials).decode()}" if self.username else None

    def without_secrets(self, text: str) -> str:
        """Redact the credentials: servers and proxies quote request headers in their errors."""
        return redact(text, (self.password, (self.authorization or "").removeprefix("Basic ")))


class HttpConnection:
    """A kept-alive connection. The first request opens it; the caller closes it.

    `timeout` limits each request, `total_timeout` all requests together, in seconds. Both limit the time
    until the whole response is there, not the time between two bytes.
    """

    def __init__(self, access: Access, *, timeout: float = 15, total_timeout: float = 60) -> None:
        self._access = access
        self._timeout = timeout
        self._end = time.monotonic() + total_timeout
        self._connection: HTTPConnection | None = None

    @property
    def has_time_left(self) -> bool:
        """Whether `total_timeout` leaves a whole `timeout` for one more request."""
        return time.monotonic() + self._timeout <= self._end

    def get(self, path: str, **query: str) -> Any:
        """Send a GET, and retry it once: the server may have closed the kept-alive connection.

        A timeout is not retried. Raises NoResponse, ErrorResponse.
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
        timeout: float | None = None,
    ) -> Any:
        """Send a request once and return the parsed body. Raises NoResponse, ErrorResponse."""
        target = f"{path}?{urlencode(query)}" if query else path
        deadline = min(time.monotonic() + (timeout or self._timeout), self._end)
        try:
            status, content = self._exchange(method, target, body, deadline)
        except (OSError, HTTPException, ValueError) as error:
            self.close()
            message = " ".join(self._access.without_secrets(str(error)).split()) or type(error).__name__
            raise NoResponse(f"{method} {path}: {message}") from error
        try:
            # Requests for voting exclusions have an empty response.
            response = json.loads(content) if content else None
        except (ValueError, RecursionError) as error:
            if status < 300:
                raise NoResponse(f"{method} {path}: {status} with a body that is not JSON") from error
            response = None
        if status >= 300:
            # Redact before truncating, or a part of the password could remain.
            reason = self._access.without_secrets(_error_reason(response))[:_MAX_REASON_LENGTH]
            raise ErrorResponse(status, f"{method} {path}: {reason}")
        return response

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _exchange(self, method: str, target: str, body: Any, deadline: float) -> tuple[int, bytes]:
        connection = self._connection = self._connection or self._connect()
        connection.timeout = _seconds_until(deadline)
        if connection.sock is not None:
            connection.sock.settimeout(connection.timeout)
        connection.response_class = partial(_DeadlineResponse, deadline=deadline)  # type: ignore[assignment]
        content = None if body is None else json.dumps(body).encode()
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self._access.authorization is not None:
            headers["Authorization"] = self._access.authorization
        connection.request(method, target, content, headers)
        response = connection.getresponse()
        return response.status, response.read(_MAX_RESPONSE_BYTES)

    def _connect(self) -> HTTPConnection:
        parts = urlsplit(self._access.url)
        host = parts.hostname or ""
        if parts.scheme != "https":
            return HTTPConnection(host, parts.port)
        if not (self._access.authority or "").isascii():
            raise ssl.SSLError("the CA certificate is not PEM")
        context = ssl.create_default_context(cadata=self._access.authority)
        return HTTPSConnection(host, parts.port, context=context)


class _DeadlineResponse(HTTPResponse):
    """A response that must be read completely before a deadline.

    http.client has only a timeout per read, which a server that sends a byte now and then never exceeds.
    """

    def __init__(self, sock: socket.socket, *args: Any, deadline: float, **kwargs: Any) -> None:
        super().__init__(sock, *args, **kwargs)
        self.fp.close()
        self.fp = io.BufferedReader(_DeadlineStream(sock, deadline))


class _DeadlineStream(io.RawIOBase):
    """Reads a socket until a deadline, then raises TimeoutError.

    The stream from `makefile` keeps the socket open: http.client closes its own reference before it reads the
    last response of a connection.
    """

    def __init__(self, sock: socket.socket, deadline: float) -> None:
        self._sock = sock
        self._deadline = deadline
        self._stream = sock.makefile("rb", buffering=0)

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int | None:
        self._sock.settimeout(_seconds_until(self._deadline))
        return self._stream.readinto(buffer)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _seconds_until(deadline: float) -> float:
    """The remaining seconds. Raises TimeoutError when none remain."""
    seconds = deadline - time.monotonic()
    if seconds <= 0:
        raise TimeoutError("timed out")
    return seconds


def _error_reason(response: Any) -> str:
    """The `reason` of an OpenSearch error, else its `type`."""
    error = response.get("error") if isinstance(response, dict) else None
    reason = (error.get("reason") or error.get("type")) if isinstance(error, dict) else error
    return str(reason or "the response has no reason")
