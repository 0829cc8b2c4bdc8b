"""Measure `everpath catalog serve` and `opm serve` with the same catalog and clients."""

from __future__ import annotations

__all__ = ["Costs", "Server", "serving_costs"]

import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import grpc

from tests.bench.registry_clients import Tally, listening


class Server(NamedTuple):
    """The command of a server; `{port}` in its arguments is replaced by the port."""

    command: Sequence[str]
    environment: Mapping[str, str] = {}


class Costs(NamedTuple):
    """The cost of a server: time to the first response with and without its cache, then with clients."""

    cold: float
    warm: float
    megabytes: float
    one: Tally
    many: Tally
    growth: float


def serving_costs(cold: Server, warm: Server, repeat: int, crowd: int, seconds: float) -> Costs:
    """Measure a server with one catalog. `warm` was started before and has its cache."""
    colds = [_started(cold) for _ in range(repeat)]
    with _running(warm):
        pass
    warms = [_started(warm) for _ in range(repeat)]
    with _running(cold) as (process, address, _):
        _ask_for_all(address)
        one = max((listening(address, 1, 3.0) for _ in range(repeat)), key=_rate)
        megabytes = _megabytes(process.pid, "VmHWM")
        listening(address, crowd, min(5.0, seconds))
        before = _megabytes(process.pid, "VmRSS")
        many = listening(address, crowd, seconds)
        growth = _megabytes(process.pid, "VmRSS") - before
    return Costs(min(colds), min(warms), megabytes, one, many, growth)


def _rate(tally: Tally) -> float:
    return tally.messages / tally.seconds


def _started(server: Server) -> float:
    with _running(server) as (_, _, seconds):
        return seconds


@contextmanager
def _running(server: Server) -> Iterator[tuple[subprocess.Popen[bytes], str, float]]:
    """Run a server; yield the process, its address, and the time to its first correct response."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    address = f"127.0.0.1:{port}"
    command = [part.replace("{port}", str(port)) for part in server.command]
    around = {**os.environ, **server.environment}
    start = time.perf_counter()
    quiet = subprocess.DEVNULL
    with subprocess.Popen(command, env=around, stdout=quiet, stderr=quiet) as process:
        try:
            _wait_for(port, process)
            with grpc.insecure_channel(address) as channel:
                _first_package(channel)
                seconds = time.perf_counter() - start
            yield process, address, seconds
        finally:
            process.terminate()


def _wait_for(port: int, process: subprocess.Popen[bytes]) -> None:
    deadline = time.monotonic() + 120
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            if process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{process.args!r} does not serve") from None
            time.sleep(0.01)
        else:
            return


def _first_package(channel: grpc.Channel) -> bytes:
    call: Any = channel.unary_stream("/api.Registry/ListPackages")
    found: bytes = next(iter(call(b"", timeout=60)))
    return found


def _ask_for_all(address: str) -> None:
    """Send the requests of OLM's package server: each package, and the head of each channel."""
    from everpath.server import registry_pb2 as api  # noqa: PLC0415 - after PYTHONPATH is settled

    with grpc.insecure_channel(address) as channel:
        names: Any = channel.unary_stream("/api.Registry/ListPackages")
        package: Any = channel.unary_unary("/api.Registry/GetPackage")
        head: Any = channel.unary_unary("/api.Registry/GetBundleForChannel")
        for name in list(names(b"")):
            # A PackageName has the same bytes as a GetPackageRequest.
            found = api.Package.FromString(package(name))
            for one in found.channels:
                wanted = api.GetBundleInChannelRequest(pkgName=found.name, channelName=one.name)
                head(wanted.SerializeToString())


def _megabytes(process: int, what: str) -> float:
    """Return the peak or present memory of a process; NaN without /proc."""
    status = Path(f"/proc/{process}/status")
    if not sys.platform.startswith("linux"):
        return float("nan")
    line = next(line for line in status.read_text().splitlines() if line.startswith(what))
    return int(line.split()[1]) / 1e3
