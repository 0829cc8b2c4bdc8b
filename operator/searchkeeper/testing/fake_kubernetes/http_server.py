"""The world in memory on a loopback port: clients of a real API server find what they expect."""

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
    Progress,
    Response,
    Watch,
    bookmark_line,
    event_line,
    expired_line,
)
from searchkeeper.testing.fake_kubernetes.watch_history import Compacted

_DISCONNECTED: Final = (BrokenPipeError, ConnectionResetError, TimeoutError)


class Server(ThreadingHTTPServer):
    """Answers for one Api, until it is closed. Whoever watches is disconnected then."""

    daemon_threads = True
    # Beyond this, a client that opens all its connections at once is refused some.
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
        """Ends every connection, also those in the middle of a watch."""
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
    """A server on a port of its own, in a thread of its own."""
    server = Server(api, port=port, bookmarks=bookmarks)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    server: Server
    protocol_version = "HTTP/1.1"
    # An answer leaves in one piece: in two, the second would wait for the first to be acknowledged.
    wbufsize = 1 << 16
    disable_nagle_algorithm = True

    def _handle(self) -> None:
        parts = urlsplit(self.path)
        sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        content_type = (self.headers.get("Content-Type") or "").partition(";")[0]
        body = json.loads(sent) if sent else None
        query = dict(parse_qsl(parts.query))
        answer = self.server.api.answer(ApiRequest(self.command, parts.path, query, content_type, body))
        if isinstance(answer, Watch):
            self._stream(answer)
        else:
            self._send(answer)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle  # noqa: N815 - the names HTTP's server looks for

    def _send(self, answer: Response) -> None:
        data = json.dumps(answer.body).encode()
        self.send_response(answer.code)
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
        """Changes as they happen, and bookmarks while none do, until the watch's time is up."""
        api, end = self.server.api, time.monotonic() + watch.seconds
        try:
            progress = api.start(watch)
            while not self.server.is_closed and time.monotonic() < end:
                yield from map(event_line, progress.found)
                progress = self._next(watch, progress.place)
                if not progress.found:
                    yield bookmark_line(watch, progress.revision)
        except Compacted as error:
            yield expired_line(error)

    def _next(self, watch: Watch, place: int) -> Progress:
        api, until = self.server.api, time.monotonic() + self.server.bookmarks
        with api.changed:
            while True:
                progress = api.changes(watch, place)
                place, left = progress.place, until - time.monotonic()
                if progress.found or left <= 0 or self.server.is_closed:
                    return progress
                api.changed.wait(left)

    def log_message(self, *_: object) -> None:
        """Nobody reads it."""
