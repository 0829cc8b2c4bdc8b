"""What Prometheus may know of a server: calls, how long they took, and the state of the catalog."""

from __future__ import annotations

__all__ = ["Metrics", "metrics_page"]

import asyncio
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, suppress
from threading import Lock
from typing import Final

from everpath.server.address import Address, listening
from everpath.server.index.model import Index

_BOUNDS: Final = (0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0)
_PATIENCE: Final = 5.0
_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


class Metrics:
    """Counts. One thread at a time may tell it something, any may ask for the text."""

    def __init__(self) -> None:
        self._calls: Counter[tuple[str, str]] = Counter()
        self._within: Counter[tuple[str, float]] = Counter()
        self._seconds: Counter[str] = Counter()
        self._fetches: Counter[int] = Counter()
        self._fetching = Lock()
        self._reloads = Counter({"done": 0, "failed": 0})
        self._is_current = True
        self._packages = self._bundles = 0
        self._loaded = 0.0

    def answered(self, method: str, code: str, seconds: float) -> None:
        """A call has ended."""
        self._calls[method, code] += 1
        self._seconds[method] += seconds  # type: ignore[assignment] # a Counter counts whatever adds up
        for bound in _BOUNDS:
            if seconds <= bound:
                self._within[method, bound] += 1

    def fetched(self, code: int) -> None:
        """A request over HTTP has an answer. Any thread may say so."""
        with self._fetching:
            self._fetches[code] += 1

    def serving(self, index: Index) -> None:
        """A catalog is served from here on."""
        self._is_current, self._loaded = True, time.time()
        self._packages = len(index.packages)
        self._bundles = sum(len(package.bundles) for package in index.packages.values())

    def reloaded(self, *, is_done: bool) -> None:
        """The catalog on disk has changed, and could or could not be served."""
        self._reloads["done" if is_done else "failed"] += 1
        self._is_current = is_done

    def text(self) -> str:
        """All of it as Prometheus reads it."""
        return "".join(f"{line}\n" for line in self._lines())

    def _lines(self) -> Iterator[str]:
        yield from _head("everpath_requests_total", "counter", "Calls that were answered, by how they ended.")
        for (method, code), count in sorted(self._calls.items()):
            yield f'everpath_requests_total{{method="{method}",code="{code}"}} {count}'
        yield from _head("everpath_request_seconds", "histogram", "How long they took.")
        for method, seconds in sorted(self._seconds.items()):
            yield from self._histogram(method, float(seconds))
        with self._fetching:
            fetches = sorted(self._fetches.items())
        yield from _head("everpath_http_requests_total", "counter", "Requests over HTTP, by their answers.")
        for status, count in fetches:
            yield f'everpath_http_requests_total{{code="{status}"}} {count}'
        yield from _head("everpath_reloads_total", "counter", "Changes of the catalog on disk, by result.")
        for result, count in sorted(self._reloads.items()):
            yield f'everpath_reloads_total{{result="{result}"}} {count}'
        for name, value, what in (
            ("current", int(self._is_current), "Whether the catalog on disk is the one that is served."),
            ("loaded_timestamp_seconds", self._loaded, "When it was loaded."),
            ("packages", self._packages, "Its packages."),
            ("bundles", self._bundles, "Its bundles."),
        ):
            yield from _head(f"everpath_catalog_{name}", "gauge", what)
            yield f"everpath_catalog_{name} {value}"

    def _histogram(self, method: str, seconds: float) -> Iterator[str]:
        total = sum(count for (name, _), count in self._calls.items() if name == method)
        name, label = "everpath_request_seconds", f'method="{method}"'
        for bound in _BOUNDS:
            yield f'{name}_bucket{{{label},le="{bound}"}} {self._within[method, bound]}'
        yield f'{name}_bucket{{{label},le="+Inf"}} {total}'
        yield f"{name}_sum{{{label}}} {seconds:.6f}"
        yield f"{name}_count{{{label}}} {total}"


def _head(name: str, kind: str, what: str) -> Iterator[str]:
    yield f"# HELP {name} {what}"
    yield f"# TYPE {name} {kind}"


@asynccontextmanager
async def metrics_page(metrics: Metrics, address: Address) -> AsyncIterator[str]:
    """Serves `/metrics` while it is open; gives where. Raises UsageError where that cannot be."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(
            OSError, ValueError, asyncio.IncompleteReadError, asyncio.LimitOverrunError, TimeoutError
        ):
            request = await asyncio.wait_for(reader.readuntil(b"\r\n\r\n"), _PATIENCE)
            method, path, *_ = request.split(maxsplit=2)
            found = method in (b"GET", b"HEAD") and path.partition(b"?")[0] == b"/metrics"
            body = metrics.text().encode() if found else b"only /metrics is here\n"
            head = (
                f"HTTP/1.1 {'200 OK' if found else '404 Not Found'}\r\nContent-Type: {_TYPE}\r\n"
                f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
            )
            writer.write(head.encode() + (b"" if method == b"HEAD" else body))
            await asyncio.wait_for(writer.drain(), _PATIENCE)
        writer.close()

    socket = listening(address)
    server = await asyncio.start_server(answer, sock=socket, limit=1 << 14)
    async with server:
        host, port = socket.getsockname()[:2]
        yield f"http://{f'[{host}]' if ':' in host else host}:{port}/metrics"
