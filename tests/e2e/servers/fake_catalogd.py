"""Serves catalogs as catalogd does: the documents of NAME, one a line, at /catalogs/NAME/api/v1/all."""

from __future__ import annotations

__all__ = ["CatalogServer", "catalog_server"]

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

from e2e.servers.loopback import HOST


class CatalogServer:
    """Catalogs that are offered, and which of them somebody has fetched."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._texts: dict[str, bytes] = {}
        self.fetched: set[str] = set()

    def offer(self, name: str, text: str) -> str:
        """Serves a catalog from now on, and returns the base of its address."""
        self._texts[f"/catalogs/{name}/api/v1/all"] = text.encode()
        return f"http://{HOST}:{self._port}/catalogs/{name}"

    def fetch(self, path: str) -> bytes | None:
        text = self._texts.get(path)
        if text is not None:
            self.fetched.add(path.split("/")[2])
        return text


@contextmanager
def catalog_server() -> Iterator[CatalogServer]:
    with ThreadingHTTPServer((HOST, 0), BaseHTTPRequestHandler) as listener:
        server = CatalogServer(listener.server_port)
        listener.RequestHandlerClass = _answers_of(server)
        thread = Thread(target=listener.serve_forever, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown()
            thread.join()


def _answers_of(server: CatalogServer) -> type[BaseHTTPRequestHandler]:
    class Answers(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            text = server.fetch(self.path)
            self.send_response(404 if text is None else 200)
            self.send_header("Content-Type", "application/jsonl")
            self.send_header("Content-Length", str(len(text or b"")))
            self.end_headers()
            self.wfile.write(text or b"")

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the standard library's name)
            """What was fetched is remembered, not printed."""

    return Answers
