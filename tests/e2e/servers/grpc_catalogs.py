"""Catalogs over gRPC for OLM v0, served by everpath or by opm."""

from __future__ import annotations

__all__ = ["is_listening", "serve_with_everpath", "serve_with_opm"]

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import everpath
from tests.e2e.servers.binaries import Binaries
from tests.e2e.servers.loopback import HOST, free_ports
from tests.e2e.servers.processes import WorkDir, run_process


@contextmanager
def serve_with_everpath(work_dir: WorkDir, catalog: Path, name: str = "everpath-serve") -> Iterator[str]:
    """Run `everpath catalog serve`, and yield its address."""
    address = work_dir.home(name) / "address"
    command = (
        *(sys.executable, "-m", "everpath", "catalog", "serve", catalog),
        *("--address", HOST, "--port", "0", "--ready-file", address),
    )
    environment = {"PYTHONPATH": str(Path(everpath.__file__).parents[1])}
    with run_process(work_dir, name, command, ready=address.exists, environment=environment):
        yield address.read_text(encoding="utf-8").strip()


@contextmanager
def serve_with_opm(
    binaries: Binaries, work_dir: WorkDir, catalog: Path, name: str = "opm-serve"
) -> Iterator[str]:
    """Run `opm serve`, and yield its address. It listens on every interface."""
    (port,) = free_ports(1)
    command = (
        *(binaries.opm, "serve", catalog, "--port", str(port), "--pprof-addr="),
        *("--termination-log", work_dir.home(name) / "termination-log"),
    )
    with run_process(work_dir, name, command, ready=lambda: is_listening(port)):
        yield f"{HOST}:{port}"


def is_listening(port: int) -> bool:
    """Whether a program accepts connections on this port."""
    try:
        with socket.create_connection((HOST, port), timeout=5):
            return True
    except OSError:
        return False
