"""catalogd's content API on a socket: threads, time limits, and an end that waits for answers under way."""

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

from everpath.server.content_api.content import Content
from everpath.server.content_api.responses import Request, answer

# catalogd's own limits: to say what is wanted, to take the answer.
_ASKING: Final = 5.0
_TAKING: Final = 300.0
# Each connection is a thread, and each answer under way may hold its own compressed copy.
_CONNECTIONS: Final = 256
_BUSY: Final = (
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
)


class ContentServer:
    """Serves the catalogs that `catalogs` gives at the moment of each request, by name, until it is closed.

    `listening` is a socket that listens; it is closed with the server. `heard` is told each answer's code.
    """

    def __init__(
        self,
        listening: socket.socket,
        catalogs: Callable[[], Mapping[str, Content]],
        *,
        connections: int = _CONNECTIONS,
        heard: Callable[[int], None] = lambda _: None,
    ) -> None:
        self._listener = _Listener(listening, catalogs, connections, heard)
        self._thread = Thread(target=self._listener.serve_forever, args=(0.05,), name="http", daemon=True)
        self._thread.start()

    def close(self, grace: float = 30.0) -> None:
        """Takes no further connection, and gives answers that are under way some seconds to end."""
        self._listener.shutdown()
        self._listener.server_close()
        self._listener.drain(grace)
        self._thread.join()


class _Listener(ThreadingHTTPServer):
    daemon_threads = True
    # Waiting for connections is `drain`'s, which knows an end.
    block_on_close = False

    def __init__(
        self,
        listening: socket.socket,
        catalogs: Callable[[], Mapping[str, Content]],
        connections: int,
        heard: Callable[[int], None],
    ) -> None:
        super().__init__(listening.getsockname(), _Conversation, bind_and_activate=False)
        # The base class has made one of its own.
        self.socket.close()
        self.socket = listening
        self.catalogs = catalogs
        self.heard = heard
        self.is_closing = False
        self._places = BoundedSemaphore(connections)
        self._size = connections
        self._silent: set[socket.socket] = set()
        self._changing = Lock()

    def process_request(self, request: Any, client_address: Any) -> None:
        if not self._places.acquire(blocking=False):
            self.heard(HTTPStatus.SERVICE_UNAVAILABLE)
            request.settimeout(1)
            request.sendall(_BUSY)
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:
            self._places.release()
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._places.release()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that goes away, or does not take its answer in time, is no event; all else is."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)

    def is_to_wait(self, connection: socket.socket) -> bool:
        """Whether a client may be waited for; from here on it counts as one that says nothing."""
        with self._changing:
            if not self.is_closing:
                self._silent.add(connection)
            return not self.is_closing

    def has_spoken(self, connection: socket.socket) -> None:
        with self._changing:
            self._silent.discard(connection)

    def drain(self, grace: float) -> None:
        """Until nobody is answered any more, or the time is over. Who says nothing is not waited for."""
        with self._changing:
            self.is_closing = True
            for connection in self._silent:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RD)
        deadline = time.monotonic() + grace
        for _ in range(self._size):
            if not self._places.acquire(timeout=max(0.0, deadline - time.monotonic())):
                return


class _Conversation(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = _ASKING
    # Head and body leave in one piece where they fit.
    wbufsize = 64 * 1024
    server: _Listener

    def handle_one_request(self) -> None:
        if self.server.is_to_wait(self.connection):
            super().handle_one_request()
        else:
            self.close_connection = True

    def parse_request(self) -> bool:
        self.server.has_spoken(self.connection)
        return super().parse_request()

    def finish(self) -> None:
        self.server.has_spoken(self.connection)
        super().finish()

    def __getattr__(self, name: str) -> Callable[[], None]:
        """Every method is answered, if only to say that it is not allowed."""
        if name.startswith("do_"):
            return self._answer
        raise AttributeError(name)

    def _answer(self) -> None:
        headers = {name.lower(): value for name, value in reversed(self.headers.items())}
        # Not `path`, which has lost the slashes in front; and bytes, which were taken for Latin-1.
        target = self.requestline.split()[1].encode("latin-1").decode(errors="surrogateescape")
        found = answer(Request(self.command, target, headers), self.server.catalogs())
        self.server.heard(found.status)
        # What follows the head of a request that has a body is not the next request.
        is_last = self.server.is_closing or "content-length" in headers or "transfer-encoding" in headers
        self.close_connection = self.close_connection or is_last
        self.send_response_only(found.status)
        self.send_header("Date", formatdate(usegmt=True))
        for name, value in found.headers.items():
            self.send_header(name, value)
        if self.command != "HEAD" and found.status is not HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(found.body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self._send(found.body)

    def _send(self, body: bytes) -> None:
        self.connection.settimeout(_TAKING)
        if len(body) <= self.wbufsize:
            self.wfile.write(body)
            body = b""
        self.wfile.flush()
        # In one call: the limit is for all of it, and whoever takes a byte a minute does not take hours.
        self.connection.sendall(body)
        self.connection.settimeout(self.timeout)

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the standard library's name)
        """Nobody asked what is asked."""
