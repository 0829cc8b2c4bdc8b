"""`/healthz`, `/readyz` and `/metrics`, from a thread that no loop can hold up."""

from __future__ import annotations

__all__ = ["serve_endpoints"]

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from searchkeeper.manager.health import Health
from searchkeeper.manager.metrics import Metrics


class _Server6(ThreadingHTTPServer):
    """At an IPv6 address; at `::` also for whoever comes by IPv4."""

    address_family = socket.AF_INET6


@contextmanager
def serve_endpoints(address: tuple[str, int], health: Health, metrics: Metrics) -> Iterator[str]:
    """Answers until the block is left; gives its URL."""
    server = (_Server6 if ":" in address[0] else ThreadingHTTPServer)(address, _handler(health, metrics))
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), name="endpoint", daemon=True)
    thread.start()
    try:
        host, port = server.server_address[:2]
        yield f"http://[{host!s}]:{port}" if ":" in address[0] else f"http://{host!s}:{port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def answer(path: str, health: Health, metrics: Metrics) -> tuple[int, str]:
    match path.partition("?")[0]:
        case "/healthz":
            return (200, "ok\n") if health.is_alive else (500, "\n".join(health.complaints()) + "\n")
        case "/readyz":
            return (200, "ok\n") if health.is_ready else (503, "not watching yet, or stuck\n")
        case "/metrics":
            return 200, metrics.text()
        case _:
            return 404, "/healthz, /readyz and /metrics are all there is\n"


def _handler(health: Health, metrics: Metrics) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        # A probe that never says what it wants holds nobody up for long.
        timeout = 10

        def do_GET(self) -> None:
            code, text = answer(self.path, health, metrics)
            data = text.encode()
            self.send_response(code)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Probes come every few seconds; nobody wants to read of them."""

    return Handler
