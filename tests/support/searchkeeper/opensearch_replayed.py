"""A real HTTP server that replays recorded responses of OpenSearch, or serves any other handler."""

from __future__ import annotations

__all__ = [
    "RESPONSES",
    "Exchange",
    "RecordedEngine",
    "Request",
    "RequestHandler",
    "load_recording",
    "replay",
    "serve",
]

import json
import ssl
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final, NamedTuple, Protocol, TypedDict
from urllib.parse import parse_qsl, urlsplit

from tests.support.commandline import ROOT

RESPONSES: Final = ROOT / "tests/searchkeeper/unit/opensearch/responses"


class Request(NamedTuple):
    """A request. `body` is None if it has none."""

    method: str
    path: str
    query: dict[str, str]
    body: Any


class RequestHandler(Protocol):
    """Handles the requests to a server."""

    def handle(self, request: Request, headers: dict[str, str], /) -> tuple[int, Any]:
        """Return a status code and a body: JSON content, a string that is sent as it is, or None."""


class Exchange(TypedDict):
    """A recorded request with its response. `body` is the body of the request."""

    method: str
    path: str
    body: Any
    status: int
    response: Any


@dataclass
class RecordedEngine:
    """Responds with recorded exchanges, and records the requests and headers that it receives."""

    exchanges: list[Exchange]
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)

    def handle(self, request: Request, headers: dict[str, str]) -> tuple[int, Any]:
        self.requests.append(request)
        self.headers.append(headers)
        exchange = self.exchange(request.method, request.path, request.body)
        return exchange["status"], exchange["response"]

    def exchange(self, method: str, path: str, body: Any) -> Exchange:
        """The exchange with that body, else any exchange with that method and path."""
        same_path = [each for each in self.exchanges if (each["method"], each["path"]) == (method, path)]
        same_body = [each for each in same_path if each["body"] == body]
        missing: Exchange = {
            "method": method,
            "path": path,
            "body": body,
            "status": 418,
            "response": {"error": f"no recording of {method} {path}"},
        }
        return [*same_body, *same_path, missing][0]

    def set_response(self, method: str, path: str, response: Any, status: int = 200) -> None:
        """Replace all recorded responses to this method and path."""
        exchange: Exchange = {
            "method": method,
            "path": path,
            "body": None,
            "status": status,
            "response": response,
        }
        others = [each for each in self.exchanges if (each["method"], each["path"]) != (method, path)]
        self.exchanges = [exchange, *others]

    def writes(self) -> list[Request]:
        """The requests that change something."""
        return [each for each in self.requests if each.method != "GET" and "explain" not in each.path]


def load_recording(name: str) -> list[Exchange]:
    exchanges: list[Exchange] = json.loads((RESPONSES / f"{name}.json").read_text(encoding="utf-8"))
    return exchanges


@contextmanager
def replay(
    exchanges: Sequence[Exchange], certificate: tuple[str, str] | None = None
) -> Iterator[RecordedEngine]:
    """Serve recorded exchanges; over TLS if a certificate and its key are given."""
    engine = RecordedEngine([*exchanges])
    with serve(engine, certificate) as engine.url:
        yield engine


@contextmanager
def serve(handler: RequestHandler, certificate: tuple[str, str] | None = None) -> Iterator[str]:
    """Start a server and yield its URL."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _http_handler(handler))
    server.daemon_threads = True
    if certificate is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*certificate)
        # The handshake runs in the thread of the request: a client that aborts it ends only that thread.
        server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    try:
        yield f"{'https' if certificate else 'http'}://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def _http_handler(handler: RequestHandler) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        # Headers and body leave in one packet. Otherwise Nagle's algorithm delays the body.
        wbufsize = 1 << 16

        def handle(self) -> None:
            with suppress(ssl.SSLError, ConnectionError):
                super().handle()

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            body = json.loads(self.rfile.read(length)) if length else None
            request = Request(self.command, parts.path, dict(parse_qsl(parts.query)), body)
            status, response = handler.handle(request, dict(self.headers))
            content = b"" if response is None else json.dumps(response).encode()
            if isinstance(response, str):
                content = response.encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = _serve  # noqa: N815 - http.server looks for these names

        def log_message(self, *_: object) -> None:
            """Keep the output of the tests clean."""

    return Handler
