"""HTTP for the fake API server, on a loopback port, for real Kubernetes clients."""

from __future__ import annotations

__all__ = ["Server", "serving"]

import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final
from urllib.parse import parse_qsl, urlsplit

from searchkeeper.testing.fake_kubernetes.api_server import (
    ApiRequest,
    FakeApiServer,
    Response,
    Watch,
    WatchProgress,
    bookmark_line,
    event_line,
    expired_line,
)
from searchkeeper.testing.fake_kubernetes.watch_history import Compacted

_DISCONNECTED: Final = (BrokenPipeError, ConnectionResetError, TimeoutError)


class Server(ThreadingHTTPServer):
    """Serves one `FakeApiServer` until it is closed, which disconnects every watch."""

    daemon_threads = True
    # The default of 5 refuses connections of a client that opens many at once.
    request_queue_size = 128

    def __init__(self, api: FakeApiServer, *, port: int = 0, bookmarks: float = 1.0) -> None:
        self.api = api
        self.bookmarks = bookmarks
        self.is_closed = False
        self._open: set[socket.socket] = set()
        super().__init__(("127.0.0.1", port), _Handler)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def finish_request(self, request: Any, client_address: Any) -> None:
        self._open.add(request)
        with suppress(*_DISCONNECTED):
            super().finish_request(request, client_address)
        self._open.discard(request)

    def close(self) -> None:
        """Close every connection, watches included."""
        self.is_closed = True
        with self.api.changed:
            self.api.changed.notify_all()
        self.shutdown()
        self.server_close()
        for connection in tuple(self._open):
            with suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


@contextmanager
def serving(api: FakeApiServer, *, port: int = 0, bookmarks: float = 1.0) -> Iterator[Server]:
    """Serve in a thread. The port 0 is any free one; `bookmarks` is the seconds between two bookmarks."""
    server = Server(api, port=port, bookmarks=bookmarks)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """One connection of a client."""

    server: Server
    protocol_version = "HTTP/1.1"
    # One write for headers and body: with two, the second waits for the TCP acknowledgement of the first.
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        content = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        content_type = (self.headers.get("Content-Type") or "").partition(";")[0]
        body = json.loads(content) if content else None
        query = dict(parse_qsl(parts.query))
        response = self.server.api.answer(ApiRequest(self.command, parts.path, query, content_type, body))
        if isinstance(response, Watch):
            self._stream(response)
        else:
            self._send(response)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815 - the names that HTTP calls

    def _send(self, response: Response) -> None:
        data = json.dumps(response.body).encode()
        self.send_response(response.code)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def _stream(self, watch: Watch) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for line in self._lines(watch):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(line), line))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _lines(self, watch: Watch) -> Iterator[bytes]:
        """Yield events as they happen, and bookmarks in between, until the watch times out."""
        api, end = self.server.api, time.monotonic() + watch.seconds
        try:
            progress = api.start(watch)
            while not self.server.is_closed and time.monotonic() < end:
                yield from map(event_line, progress.events)
                progress = self._next_progress(watch, progress.position)
                if not progress.events:
                    yield bookmark_line(watch, progress.revision)
        except Compacted as error:
            yield expired_line(error)

    def _next_progress(self, watch: Watch, position: int) -> WatchProgress:
        """Wait for events, at most until the next bookmark is due."""
        api, until = self.server.api, time.monotonic() + self.server.bookmarks
        with api.changed:
            while True:
                progress = api.changes(watch, position)
                position, left = progress.position, until - time.monotonic()
                if progress.events or left <= 0 or self.server.is_closed:
                    return progress
                api.changed.wait(left)

    def log_message(self, *_: object) -> None:
        """Log nothing."""
