"""A server of catalogs like catalogd: one JSON document per line at /catalogs/NAME/api/v1/all."""

from __future__ import annotations

__all__ = ["FakeCatalogd", "fake_catalogd"]

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from tests.e2e.servers.loopback import HOST


class FakeCatalogd:
    """The catalogs on the server. `fetched` has the names of those that a client has requested."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._texts: dict[str, bytes] = {}
        self.fetched: set[str] = set()

    def add(self, name: str, text: str) -> str:
        """Serve a catalog, and return the base of its URL."""
        self._texts[f"/catalogs/{name}/api/v1/all"] = text.encode()
        return f"http://{HOST}:{self._port}/catalogs/{name}"

    def get(self, path: str) -> bytes | None:
        text = self._texts.get(path)
        if text is not None:
            self.fetched.add(path.split("/")[2])
        return text


@contextmanager
def fake_catalogd() -> Iterator[FakeCatalogd]:
    with ThreadingHTTPServer((HOST, 0), BaseHTTPRequestHandler) as listener:
        server = FakeCatalogd(listener.server_port)
        listener.RequestHandlerClass = _request_handler(server)
        thread = Thread(target=listener.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown()
            thread.join()


def _request_handler(server: FakeCatalogd) -> type[BaseHTTPRequestHandler]:
    class CatalogHandler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = server.get(self.path)
            self.send_response(404 if text is None else 200)
            self.send_header("Content-Type", "application/jsonl")
            self.send_header("Content-Length", str(len(text or b"")))
            self.end_headers()
            self.wfile.write(text or b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the standard library's name)
            """Print nothing."""

    return CatalogHandler
