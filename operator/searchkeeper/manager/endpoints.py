"""HTTP endpoints `/healthz`, `/readyz` and `/metrics`, served by their own thread."""

from __future__ import annotations

__all__ = ["respond", "serve_endpoints"]

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from searchkeeper.manager.health import Health
from searchkeeper.manager.metrics import CONTENT_TYPE, Metrics


class _Server6(ThreadingHTTPServer):
    """Listens on an IPv6 address; `::` also accepts IPv4 connections."""

    address_family = socket.AF_INET6


@contextmanager
def serve_endpoints(address: tuple[str, int], health: Health, metrics: Metrics) -> Iterator[str]:
    """Serve until the block ends; yield the URL. Raises OSError when the address is not available."""

    class Handler(BaseHTTPRequestHandler):
        # A client that sends no request does not keep its thread for longer.
        timeout = 10

        def do_GET(self) -> None:
            code, content_type, body = respond(self.path, health, metrics)
            self.send_response(code)
            self.send_header("Content-Type", content_type)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Log nothing: probes arrive every few seconds."""

    is_ipv6 = ":" in address[0]
    server = (_Server6 if is_ipv6 else ThreadingHTTPServer)(address, Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="endpoints", daemon=True)
    thread.start()
    try:
        host, port = server.server_address[:2]
        yield f"http://[{host!s}]:{port}" if is_ipv6 else f"http://{host!s}:{port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def respond(path: str, health: Health, metrics: Metrics) -> tuple[int, str, bytes]:
    """Status code, content type and body of one response."""
    match path.partition("?")[0]:
        case "/healthz":
            overdue = health.overdue_loops()
            code, text = (500, "\n".join(overdue)) if overdue else (200, "ok")
        case "/readyz":
            code, text = (200, "ok") if health.is_ready else (503, "not watching yet, or not alive")
        case "/metrics":
            return 200, CONTENT_TYPE, metrics.render()
        case _:
            code, text = 404, "not found; the endpoints are /healthz, /readyz and /metrics"
    return code, "text/plain; charset=utf-8", f"{text}\n".encode()
