"""HTTP requests over pooled connections of the standard library, with TLS and proxies."""

from __future__ import annotations

__all__ = [
    "ConnectionFailed",
    "ConnectionPool",
    "HostUnavailable",
    "HttpClient",
    "PermanentFailure",
    "RegistryRequest",
    "RegistryResponse",
    "TlsNotSupported",
    "is_retryable",
    "retry_after",
]

import errno
import http.client
import io
import select
import socket
import ssl
import weakref
from base64 import b64encode
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, BinaryIO, Final, Protocol
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from everpath.errors import UsageError

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_Origin = tuple[str, str]
_RETRYABLE: Final = frozenset({408, 425, 429, 500, 502, 503, 504})
# Errors of OpenSSL when the server does not speak TLS.
_NOT_TLS: Final = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
# Errors of a handshake with a server that closed the connection before.
_CLOSED_BEFORE_HANDSHAKE: Final = frozenset({errno.EBADF, errno.ENOTCONN})


class ConnectionFailed(Exception):
    """A connection could not be made, or ended early. A retry may succeed."""


class HostUnavailable(ConnectionFailed):
    """The host does not exist or refuses connections. A retry may succeed only if it responded before."""


class PermanentFailure(ConnectionFailed):
    """A retry cannot succeed."""


class TlsNotSupported(PermanentFailure):
    """The server does not speak TLS."""


@dataclass(frozen=True, slots=True)
class RegistryRequest:
    """An HTTP request. The length of a stream is in the headers."""

    method: str
    url: str
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | BinaryIO | None = None


@dataclass(frozen=True, slots=True)
class RegistryResponse:
    """An HTTP response. Names of headers are in lower case. The body can be read once, and must be closed."""

    status: int
    headers: Mapping[str, str]
    body: BinaryIO

    def read_body(self, max_size: int = 65536) -> bytes:
        """Read the start of the body and close it. Raises ConnectionFailed."""
        with self.body as body:
            return body.read(max_size)


class HttpClient(Protocol):
    """Sends requests. Redirects, retries and credentials are left to the caller."""

    def send(self, request: RegistryRequest) -> RegistryResponse:
        """Send a request. Raises ConnectionFailed if there is no response."""


def is_retryable(status: int) -> bool:
    """True for statuses that a later attempt may not have."""
    return status in _RETRYABLE


def retry_after(headers: Mapping[str, str], now: float) -> float | None:
    """Return the seconds in the header Retry-After, which is a number or a date."""
    text = headers.get("retry-after", "").strip()
    if not text:
        return None
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        date = parsedate_to_datetime(text)
        # HTTP dates are in GMT, including the format without a time zone.
        return max(0.0, (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp() - now)
    except (ValueError, OverflowError):
        return None


class ConnectionPool:
    """An `HttpClient` that reuses a connection after its response was read to the end."""

    def __init__(self, *, verify: bool = True, cacert: str | None = None, timeout: float = 60.0) -> None:
        self._verify = verify
        self._cacert = cacert
        self._timeout = timeout
        self._idle: dict[_Origin, list[http.client.HTTPConnection]] = {}
        self._context: ssl.SSLContext | None = None
        weakref.finalize(self, _close_all, self._idle)

    def send(self, request: RegistryRequest) -> RegistryResponse:
        try:
            url = urlsplit(request.url)
        except ValueError as error:
            raise HostUnavailable(f"{request.url[:200]!r} is not a valid URL") from error
        origin = (url.scheme, url.netloc)
        idle = self._take_idle(origin)
        connection = idle or self._create_connection(url)
        try:
            return self._exchange(connection, origin, url, request)
        except (http.client.HTTPException, OSError) as error:
            connection.close()
            # The server may have closed the idle connection just now. Only safe methods are sent again.
            if idle is not None and request.method in ("GET", "HEAD"):
                return self.send(request)
            failure, proxy = _connection_failure(error), _find_proxy(url)
            if proxy is not None:
                host = proxy.netloc.rpartition("@")[2]
                failure = type(failure)(f"{failure}, through the proxy {host}")
            raise failure from error
        except ValueError as error:
            # An invalid host name, such as `a..b`, or an invalid header.
            connection.close()
            raise HostUnavailable(f"cannot send a request to {url.netloc[:200]}: {error}") from error
        except BaseException:
            connection.close()
            raise

    def _take_idle(self, origin: _Origin) -> http.client.HTTPConnection | None:
        """Return an idle connection. One with data to read was closed by the server."""
        idle = self._idle.setdefault(origin, [])
        while idle:
            connection = idle.pop()
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                return connection
            connection.close()
        return None

    def _exchange(
        self,
        connection: http.client.HTTPConnection,
        origin: _Origin,
        url: SplitResult,
        request: RegistryRequest,
    ) -> RegistryResponse:
        path = f"{url.path or '/'}{f'?{url.query}' if url.query else ''}"
        try:
            connection.request(request.method, path, body=request.body, headers=dict(request.headers))
        except (BrokenPipeError, ConnectionResetError):
            # A server that rejects a body before its end may have sent a response.
            if connection.sock is None:
                raise
        response = connection.getresponse()

        def release() -> None:
            if response.isclosed() and not response.will_close and connection.sock is not None:
                self._idle[origin].append(connection)
            else:
                response.close()
                connection.close()

        headers = {name.lower(): value for name, value in response.getheaders()}
        return RegistryResponse(
            response.status, headers, io.BufferedReader(_Body(response, release), 1 << 16)
        )

    def _create_connection(self, url: SplitResult) -> http.client.HTTPConnection:
        """Return a connection that is not open yet. Raises UsageError if the CA file cannot be read."""
        try:
            host, port = url.hostname or "", url.port
        except ValueError as error:
            raise ConnectionFailed(f"{url.netloc} is not a valid address: {error}") from error
        is_tls = url.scheme == "https"
        proxy = _find_proxy(url)
        server = (host, port) if proxy is None else (proxy.hostname or "", proxy.port)
        connection = (
            http.client.HTTPSConnection(*server, timeout=self._timeout, context=self._tls_context())
            if is_tls
            else http.client.HTTPConnection(*server, timeout=self._timeout)
        )
        if proxy is not None:
            headers = {}
            if proxy.username:
                pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
                headers["Proxy-Authorization"] = f"Basic {b64encode(pair.encode()).decode()}"
            connection.set_tunnel(host, port or (443 if is_tls else 80), headers)
        return connection

    def _tls_context(self) -> ssl.SSLContext:
        if self._context is None:
            try:
                self._context = ssl.create_default_context(cafile=None)
                if self._cacert is not None:
                    self._context.load_verify_locations(self._cacert)
            except (OSError, ssl.SSLError) as error:
                reason = getattr(error, "strerror", None) or str(error)
                hint = "give a file of PEM certificates"
                raise UsageError(f"cannot read the CA {self._cacert}: {reason}", hint=hint) from error
            if not self._verify:
                self._context.check_hostname = False
                self._context.verify_mode = ssl.CERT_NONE
        return self._context


def _close_all(idle: Mapping[_Origin, list[http.client.HTTPConnection]]) -> None:
    for connections in idle.values():
        for connection in connections:
            connection.close()


class _Body(io.RawIOBase):
    """The body of a response. Raises ConnectionFailed if it is truncated, which http.client ignores."""

    def __init__(self, response: http.client.HTTPResponse, release: Callable[[], None]) -> None:
        self._response = response
        self._remaining = response.length
        self._release = release

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        try:
            count = self._response.readinto(buffer)
        except (http.client.HTTPException, OSError) as error:
            raise _connection_failure(error) from error
        if self._remaining is not None:
            self._remaining -= count
            if not count and self._remaining > 0:
                raise ConnectionFailed(f"the response ends {self._remaining} bytes early")
        return count

    def close(self) -> None:
        if not self.closed:
            # http.client notices the end of the response only at an empty read.
            if self._remaining == 0 and not self._response.isclosed():
                self._response.read()
            self._release()
        super().close()


def _connection_failure(error: Exception) -> ConnectionFailed:
    """Convert an error, without prefixes such as `[Errno 111]` and `[SSL: …] … (_ssl.c:1006)`."""
    if isinstance(error, ssl.SSLError):
        return _tls_failure(error)
    if isinstance(error, TimeoutError):
        return ConnectionFailed("the request timed out")
    if (
        isinstance(error, http.client.RemoteDisconnected)
        or getattr(error, "errno", None) in _CLOSED_BEFORE_HANDSHAKE
    ):
        return ConnectionFailed("it closed the connection without a response")
    if isinstance(error, OSError):
        is_unavailable = isinstance(error, (ConnectionRefusedError, socket.gaierror))
        reason = (error.strerror or str(error)).lower()
        return HostUnavailable(reason) if is_unavailable else ConnectionFailed(reason)
    return ConnectionFailed(f"it sends an invalid HTTP response ({type(error).__name__})")


def _tls_failure(error: ssl.SSLError) -> ConnectionFailed:
    if isinstance(error, ssl.SSLCertVerificationError):
        return PermanentFailure(f"its certificate is not trusted: {error.verify_message}")
    if any(mark in (error.reason or "") for mark in _NOT_TLS):
        return TlsNotSupported("it does not speak TLS")
    return ConnectionFailed(f"TLS failed: {(error.reason or str(error)).replace('_', ' ').lower()}")


def _find_proxy(url: SplitResult) -> SplitResult | None:
    """Return the proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY select for a URL. Raises UsageError."""
    text = getproxies_environment().get(url.scheme)
    if not text or proxy_bypass(url.netloc):
        return None
    try:
        proxy = urlsplit(text if "//" in text else f"//{text}")
        is_valid = bool(proxy.hostname) and proxy.scheme in ("", "http") and (proxy.port or 1) > 0
    except ValueError:
        is_valid = False
    if not is_valid or any(map(str.isspace, text)):
        # The value is not shown: it may contain a password.
        raise UsageError(
            f"{url.scheme.upper()}_PROXY is not a supported proxy", hint="write it like http://HOST:PORT"
        )
    return proxy
