"""Catalogs over gRPC, as OLM v0 asks for them: served by everpath, and by opm."""

from __future__ import annotations

__all__ = ["answers", "served_by_everpath", "served_by_opm"]

import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import everpath
from e2e.servers.binaries import Parts
from e2e.servers.loopback import HOST, free_ports
from e2e.servers.processes import Workshop, running


@contextmanager
def served_by_everpath(place: Workshop, catalog: Path, name: str = "everpath-serve") -> Iterator[str]:
    """The address where `everpath catalog serve` answers."""
    said = place.home(name) / "address"
    command = (
        *(sys.executable, "-m", "everpath", "catalog", "serve", catalog),
        *("--address", HOST, "--port", "0", "--ready-file", said),
    )
    environment = {"PYTHONPATH": str(Path(everpath.__file__).parents[1])}
    with running(place, name, command, ready=said.exists, environment=environment):
        yield said.read_text(encoding="utf-8").strip()


@contextmanager
def served_by_opm(parts: Parts, place: Workshop, catalog: Path, name: str = "opm-serve") -> Iterator[str]:
    """The address where `opm serve` answers. It listens on every address there is."""
    (port,) = free_ports(1)
    command = (
        *(parts.opm, "serve", catalog, "--port", str(port), "--pprof-addr="),
        *("--termination-log", place.home(name) / "termination-log"),
    )
    with running(place, name, command, ready=lambda: answers(port)):
        yield f"{HOST}:{port}"


def answers(port: int) -> bool:
    """Whether somebody listens there."""
    try:
        with socket.create_connection((HOST, port), timeout=5):
            return True
    except OSError:
        return False
