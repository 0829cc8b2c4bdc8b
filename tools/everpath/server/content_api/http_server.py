"""An HTTP server of catalogd's content API: threads, timeouts, and a graceful shutdown."""

from __future__ import annotations

__all__ = ["ContentServer"]

import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from email.utils import formatdate
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import BoundedSemaphore, Lock, Thread
from typing import Any, Final

from everpath.server.content_api.content import CatalogContent
from everpath.server.content_api.responses import HttpRequest, respond

# catalogd's timeouts, in seconds.
_READ_TIMEOUT: Final = 5.0
_WRITE_TIMEOUT: Final = 300.0
# Each connection has a thread, and each response may hold a compressed copy of the catalog.
_MAX_CONNECTIONS: Final = 256
_TOO_MANY_CONNECTIONS: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)


class ContentServer:
    """Serves catalogs on a listening socket until it is closed, and then closes the socket.

    `catalogs` is called for each request, `on_response` with the status code of each response.
    """

    def __init__(
        self,
        server_socket: socket.socket,
        catalogs: Callable[[], Mapping[str, CatalogContent]],
        *,
        max_connections: int = _MAX_CONNECTIONS,
        on_response: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._server = _Server(server_socket, catalogs, max_connections, on_response)
        self._thread = Thread(target=self._server.serve_forever, args=(0.05,), name="http", daemon=True)
        self._thread.start()

    def close(self, grace: float = 30.0) -> None:
        """Accept no more connections, and wait up to `grace` seconds for responses in progress."""
        self._server.shutdown()
        self._server.server_close()
        self._server.drain(grace)
        self._thread.join()


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    # `drain` waits for the connections, with a limit.
    block_on_close = False

    def __init__(
        self,
        server_socket: socket.socket,
        catalogs: Callable[[], Mapping[str, CatalogContent]],
        max_connections: int,
        on_response: Callable[[int], None],
    ) -> None:
        super().__init__(server_socket.getsockname(), _RequestHandler, bind_and_activate=False)
        # Replaces the socket that the base class has opened.
        self.socket.close()
        self.socket = server_socket
        self.catalogs = catalogs
        self.on_response = on_response
        self.is_closing = False
        self._free_connections = BoundedSemaphore(max_connections)
        self._max_connections = max_connections
        self._idle_connections: set[socket.socket] = set()
        self._lock = Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._free_connections.acquire(blocking=False):
            self.on_response(HTTPStatus.SERVICE_UNAVAILABLE)
            request.settimeout(1)
            request.sendall(_TOO_MANY_CONNECTIONS)
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._free_connections.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._free_connections.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log everything except lost connections and timeouts of clients."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def mark_idle(self, connection: socket.socket) -> bool:
        """Mark a connection that waits for a request. Returns False if the server is closing."""
        with self._lock:
            if not self.is_closing:
                self._idle_connections.add(connection)
            return not self.is_closing

    def mark_active(self, connection: socket.socket) -> None:
        """Mark a connection that has sent a request, or has ended."""
        with self._lock:
            self._idle_connections.discard(connection)

    def drain(self, grace: float) -> None:
        """Close idle connections, and wait up to `grace` seconds for the active ones."""
        with self._lock:
            self.is_closing = True
            for connection in self._idle_connections:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RD)
        deadline = time.monotonic() + grace
        for _ in range(self._max_connections):
            if not self._free_connections.acquire(timeout=max(0.0, deadline - time.monotonic())):
                return


class _RequestHandler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _READ_TIMEOUT
    # A small response is sent in one packet.
    wbufsize = 64 * 1024
    server: _Server

    def handle_one_request(self) -> None:
        if self.server.mark_idle(self.connection):
            super().handle_one_request()
        else:
            self.close_connection = True

    def parse_request(self) -> bool:
        self.server.mark_active(self.connection)
        return super().parse_request()

    def finish(self) -> None:
        self.server.mark_active(self.connection)
        super().finish()

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Handle every method: `respond` rejects those that are not allowed."""
        if name.startswith("do_"):
            return self._handle
        raise AttributeError(name)

    def _handle(self) -> None:
        headers = {name.lower(): value for name, value in reversed(self.headers.items())}
        # Not `self.path`, which has no repeated slashes at the start. The base class decodes it as Latin-1.
        target = self.requestline.split()[1].encode("latin-1").decode(errors="surrogateescape")
        response = respond(HttpRequest(self.command, target, headers), self.server.catalogs())
        self.server.on_response(response.status)
        # The body of a request is not read, so the next request cannot be found.
        has_body = "content-length" in headers or "transfer-encoding" in headers
        self.close_connection = self.close_connection or self.server.is_closing or has_body
        self.send_response_only(response.status)
        self.send_header("Date", formatdate(usegmt=True))
        for name, value in response.headers.items():
            self.send_header(name, value)
        if self.command != "HEAD" and response.status is not HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(response.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self._send(response.body)

    def _send(self, body: bytes) -> None:
        self.connection.settimeout(_WRITE_TIMEOUT)
        if len(body) <= self.wbufsize:
            self.wfile.write(body)
            body = b""
        self.wfile.flush()
        # One call, so that the timeout is for the whole body and not for each block.
        self.connection.sendall(body)
        self.connection.settimeout(self.timeout)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - name in the standard library
        """Log no requests."""
