"""HTTP as the standard library speaks it: connections kept and used again, TLS, and the usual proxies."""

from __future__ import annotations

__all__ = ["Connections"]

import errno
import http.client
import io
import select
import socket
import ssl
import weakref
from base64 import b64encode
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import SplitResult, unquote, urlsplit
from urllib.request import getproxies_environment, proxy_bypass

from everpath.errors import UsageError
from everpath.oci.registry.transport import Absent, Answer, Broken, Lasting, NotTls, Request

if TYPE_CHECKING:
    from _typeshed import WriteableBuffer

_NO_TLS: Final = ("WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE", "PACKET_LENGTH_TOO_LONG")
_Origin = tuple[str, str]
# How a handshake fails whose other side is gone before it began.
_HUNG_UP: Final = frozenset({errno.EBADF, errno.ENOTCONN})


class Connections:
    """A `Wire`. A connection whose answer was read to its end serves the next request to that host."""

    def __init__(self, *, verify: bool = True, cacert: str | None = None, timeout: float = 60.0) -> None:
        self._verify = verify
        self._cacert = cacert
        self._timeout = timeout
        self._idle: dict[_Origin, list[http.client.HTTPConnection]] = {}
        self._context: ssl.SSLContext | None = None
        weakref.finalize(self, _hang_up, self._idle)

    def send(self, request: Request) -> Answer:
        try:
            url = urlsplit(request.url)
        except ValueError as error:
            raise Absent(f"{request.url[:200]!r} is no address") from error
        origin = (url.scheme, url.netloc)
        kept = self._resumed(origin)
        connection = kept or self._opened(url)
        try:
            return self._exchanged(connection, origin, url, request)
        except (http.client.HTTPException, OSError) as error:
            connection.close()
            # A server may hang up at the very moment; only what changes nothing is asked again unseen.
            if kept is not None and request.method in ("GET", "HEAD"):
                return self.send(request)
            raise _through(_told(error), _proxy(url)) from error
        except ValueError as error:
            # A host that no name can be (`a..b`), or a header that none may be.
            connection.close()
            raise Absent(f"{url.netloc[:200]} cannot be asked: {error}") from error
        except BaseException:
            connection.close()
            raise

    def _resumed(self, origin: _Origin) -> http.client.HTTPConnection | None:
        """A connection that idles and was not hung up: one that has something to say has been."""
        idle = self._idle.setdefault(origin, [])
        while idle:
            connection = idle.pop()
            if connection.sock is not None and not select.select([connection.sock], [], [], 0)[0]:
                return connection
            connection.close()
        return None

    def _exchanged(
        self, connection: http.client.HTTPConnection, origin: _Origin, url: SplitResult, request: Request
    ) -> Answer:
        path = f"{url.path or '/'}{f'?{url.query}' if url.query else ''}"
        try:
            connection.request(request.method, path, body=request.body, headers=dict(request.headers))
        except (BrokenPipeError, ConnectionResetError):
            # Who refuses a body before its end may have said why.
            if connection.sock is None:
                raise
        answer = connection.getresponse()
        headers = {name.lower(): value for name, value in answer.getheaders()}
        body = _Body(answer, lambda: self._kept(origin, connection, answer))
        return Answer(answer.status, headers, io.BufferedReader(body, 1 << 16))

    def _kept(
        self, origin: _Origin, connection: http.client.HTTPConnection, answer: http.client.HTTPResponse
    ) -> None:
        """After the last byte, or at whatever byte the reader left."""
        if answer.isclosed() and not answer.will_close and connection.sock is not None:
            self._idle[origin].append(connection)
        else:
            answer.close()
            connection.close()

    def _opened(self, url: SplitResult) -> http.client.HTTPConnection:
        """A connection, not yet made. Raises UsageError for a certificate that cannot be read."""
        try:
            host, port = url.hostname or "", url.port
        except ValueError as error:
            raise Broken(f"{url.netloc} is no address: {error}") from error
        proxy = _proxy(url)
        is_tls = url.scheme == "https"
        if proxy is None:
            return self._connection(host, port, is_tls=is_tls)
        connection = self._connection(proxy.hostname or "", proxy.port, is_tls=is_tls)
        connection.set_tunnel(host, port or (443 if is_tls else 80), _proxy_headers(proxy))
        return connection

    def _connection(self, host: str, port: int | None, *, is_tls: bool) -> http.client.HTTPConnection:
        if not is_tls:
            return http.client.HTTPConnection(host, port, timeout=self._timeout)
        return http.client.HTTPSConnection(host, port, timeout=self._timeout, context=self._tls())

    def _tls(self) -> ssl.SSLContext:
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


def _hang_up(idle: Mapping[_Origin, list[http.client.HTTPConnection]]) -> None:
    for connections in idle.values():
        for connection in connections:
            connection.close()


class _Body(io.RawIOBase):
    """The bytes of an answer. One that ends early raises Broken, where http.client shrugs."""

    def __init__(self, answer: http.client.HTTPResponse, done: Callable[[], None]) -> None:
        self._answer = answer
        self._left = answer.length
        self._done = done

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: WriteableBuffer) -> int:
        try:
            count = self._answer.readinto(buffer)
        except (http.client.HTTPException, OSError) as error:
            raise _told(error) from error
        if self._left is not None:
            self._left -= count
            if not count and self._left > 0:
                raise Broken(f"the answer ends {self._left} bytes early")
        return count

    def close(self) -> None:
        if not self.closed:
            # An empty read is what tells http.client that the end was met.
            if self._left == 0 and not self._answer.isclosed():
                self._answer.read()
            self._done()
        super().close()


def _told(error: Exception) -> Broken:
    """Without the machinery's prefixes: `[Errno 111]`, `[SSL: …] … (_ssl.c:1006)`."""
    if isinstance(error, ssl.SSLError):
        return _tls_told(error)
    if isinstance(error, TimeoutError):
        return Broken("it did not answer in time")
    if isinstance(error, http.client.RemoteDisconnected) or getattr(error, "errno", None) in _HUNG_UP:
        return Broken("it closed the connection without an answer")
    if isinstance(error, OSError):
        is_absent = isinstance(error, (ConnectionRefusedError, socket.gaierror))
        return (Absent if is_absent else Broken)((error.strerror or str(error)).lower())
    return Broken(f"it does not speak HTTP as it should ({type(error).__name__})")


def _tls_told(error: ssl.SSLError) -> Broken:
    if isinstance(error, ssl.SSLCertVerificationError):
        return Lasting(f"its certificate is not trusted: {error.verify_message}")
    if any(mark in (error.reason or "") for mark in _NO_TLS):
        return NotTls("it does not speak TLS")
    return Broken(f"TLS failed: {(error.reason or str(error)).replace('_', ' ').lower()}")


def _proxy(url: SplitResult) -> SplitResult | None:
    """The proxy that HTTPS_PROXY, HTTP_PROXY and NO_PROXY name for an address."""
    named = getproxies_environment().get(url.scheme)
    if not named or proxy_bypass(url.netloc):
        return None
    try:
        proxy = urlsplit(named if "//" in named else f"//{named}")
        is_one = bool(proxy.hostname) and proxy.scheme in ("", "http") and (proxy.port or 1) > 0
    except ValueError:
        is_one = False
    if not is_one or any(map(str.isspace, named)):
        # It may hold a password, which is nothing to show.
        raise UsageError(
            f"{url.scheme.upper()}_PROXY names no proxy that can be used",
            hint="write it like http://HOST:PORT",
        )
    return proxy


def _through(error: Broken, proxy: SplitResult | None) -> Broken:
    """The same, with the proxy that may be to blame."""
    if proxy is None:
        return error
    return type(error)(f"{error}, through the proxy {proxy.netloc.rpartition('@')[2]}")


def _proxy_headers(proxy: SplitResult) -> Mapping[str, str]:
    if not proxy.username:
        return {}
    pair = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": f"Basic {b64encode(pair.encode()).decode()}"}
