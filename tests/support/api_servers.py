"""A fake API server on the loopback address, with fixed responses by path."""

from __future__ import annotations

__all__ = ["ApiServer", "Request", "kubeconfig"]

import json
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit


class Request(NamedTuple):
    """A request that the server received."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: Any


class ApiServer:
    """`answers` has a status and a body (JSON or bytes) by method and path. Other requests get 404."""

    def __init__(self) -> None:
        self.answers: dict[tuple[str, str], tuple[int, Any]] = {}
        self.requests: list[Request] = []
        self.url = ""

    @classmethod
    @contextmanager
    def running(cls) -> Iterator[ApiServer]:
        server = cls()
        listener = ThreadingHTTPServer(("127.0.0.1", 0), _handler(server))
        listener.daemon_threads = True
        server.url = f"http://127.0.0.1:{listener.server_port}"
        thread = Thread(target=listener.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield server
        finally:
            listener.shutdown()
            listener.server_close()
            thread.join()

    def answer(self, request: Request) -> tuple[int, Any]:
        self.requests.append(request)
        more = request.query.get("continue")
        path = f"{request.path}?continue={more}" if more else request.path
        return self.answers.get((request.method, path), (404, {"message": "not found"}))


def _handler(server: ApiServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _answer(self) -> None:
            parts = urlsplit(self.path)
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(
                self.command,
                parts.path,
                dict(parse_qsl(parts.query)),
                {key.lower(): value for key, value in self.headers.items()},
                json.loads(sent) if sent else None,
            )
            code, body = server.answer(request)
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            self.send_response(code)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_PATCH = do_DELETE = do_POST = _answer  # noqa: N815 - the names that HTTP's server looks for

        def log_message(self, *_: Any) -> None:
            """Keep the output of the tests clean."""

    return Handler


def kubeconfig(file: Path, url: str, name: str = "test", namespace: str | None = None) -> str:
    """A configuration of kubectl with one context."""
    context = {"cluster": name, "user": name} | ({"namespace": namespace} if namespace else {})
    made = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": name, "cluster": {"server": url}}],
        "users": [{"name": name, "user": {"token": f"token-of-{name}"}}],
        "contexts": [{"name": name, "context": context}],
        "current-context": name,
    }
    file.write_text(json.dumps(made))
    return str(file)
