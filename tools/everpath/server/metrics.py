"""Metrics of the server for Prometheus: calls, their duration, and the state of the catalog."""

from __future__ import annotations

__all__ = ["Metrics", "serve_metrics"]

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from threading import Lock
from typing import Final

from everpath.server.address import Address, listen
from everpath.server.index.model import Index

_BUCKETS: Final = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0)
_CLIENT_TIMEOUT: Final = 5.0
_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counters and gauges. One thread records calls and reloads; any thread may record HTTP responses."""

    def __init__(self) -> None:
        self._calls: Counter[tuple[str, str]] = Counter()
        self._calls_within: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._http_responses: Counter[int] = Counter()
        self._http_lock = Lock()
        self._reloads = Counter({"done": 0, "failed": 0})
        self._is_current = True
        self._packages = self._bundles = 0
        self._loaded = 0.0

    def record_call(self, method: str, code: str, seconds: float) -> None:
        """Count a gRPC call that has ended."""
        self._calls[method, code] += 1
        self._seconds[method] += seconds  # type: ignore[assignment] # typeshed restricts Counter to int
        for bucket in _BUCKETS:
            if seconds <= bucket:
                self._calls_within[method, bucket] += 1

    def record_http_response(self, status: int) -> None:
        """Count a response of the content API. Thread-safe."""
        with self._http_lock:
            self._http_responses[status] += 1

    def record_catalog(self, index: Index) -> None:
        """Set the gauges of the catalog that is served from now on."""
        self._is_current, self._loaded = True, time.time()
        self._packages = len(index.packages)
        self._bundles = sum(len(package.bundles) for package in index.packages.values())

    def record_reload(self, *, succeeded: bool) -> None:
        """Count a reload of the catalog on disk."""
        self._reloads["done" if succeeded else "failed"] += 1
        self._is_current = succeeded

    def render(self) -> str:
        """Render all metrics in the text format of Prometheus."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        name = "everpath_requests_total"
        yield _header(name, "counter", "gRPC calls by method and status code.")
        for (method, code), count in sorted(self._calls.items()):
            yield f'{name}{{method="{method}",code="{code}"}} {count}'

        name = "everpath_request_seconds"
        yield _header(name, "histogram", "Duration of gRPC calls by method.")
        for method, seconds in sorted(self._seconds.items()):
            total = sum(count for (called, _), count in self._calls.items() if called == method)
            label = f'method="{method}"'
            for bucket in _BUCKETS:
                yield f'{name}_bucket{{{label},le="{bucket}"}} {self._calls_within[method, bucket]}'
            yield f'{name}_bucket{{{label},le="+Inf"}} {total}'
            yield f"{name}_sum{{{label}}} {float(seconds):.6f}"
            yield f"{name}_count{{{label}}} {total}"

        name = "everpath_http_requests_total"
        yield _header(name, "counter", "HTTP requests by status code.")
        with self._http_lock:
            http_responses = sorted(self._http_responses.items())
        for status, count in http_responses:
            yield f'{name}{{code="{status}"}} {count}'

        name = "everpath_reloads_total"
        yield _header(name, "counter", "Reloads of the catalog by result.")
        for result, count in sorted(self._reloads.items()):
            yield f'{name}{{result="{result}"}} {count}'

        for suffix, value, description in (
            ("current", int(self._is_current), "1 if the served catalog is the one on disk."),
            ("loaded_timestamp_seconds", self._loaded, "Time when the served catalog was loaded."),
            ("packages", self._packages, "Packages of the served catalog."),
            ("bundles", self._bundles, "Bundles of the served catalog."),
        ):
            yield _header(f"everpath_catalog_{suffix}", "gauge", description)
            yield f"everpath_catalog_{suffix} {value}"


def _header(name: str, kind: str, description: str) -> str:
    return f"# HELP {name} {description}\n# TYPE {name} {kind}"


@asynccontextmanager
async def serve_metrics(metrics: Metrics, address: Address) -> AsyncIterator[str]:
    """Serve `/metrics` over HTTP within the block, and yield its URL. Raises UsageError."""

    async def respond(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(
            OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError
        ):
            request = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _CLIENT_TIMEOUT)
            method, path, *_ = request.split(maxsplit=2)
            is_found = method in (b"GET", b"HEAD") and path.partition(b"?")[0] == b"/metrics"
            body = metrics.render().encode() if is_found else b"not found; the metrics are at /metrics\n"
            head = (
                f"HTTP/1.1 {'200 OK' if is_found else '404 Not Found'}\r\nContent-Type: {_CONTENT_TYPE}\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            )
            writer.write(head.encode() + (b"" if method == b"HEAD" else body))
            await asyncio.wait_for(writer.drain(), _CLIENT_TIMEOUT)
        writer.close()

    socket = listen(address)
    server = await asyncio.start_server(respond, sock=socket, limit=1 << 14)
    async with server:
        yield f"http://{Address(*socket.getsockname()[:2])}/metrics"
