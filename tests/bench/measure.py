"""Runs a command and says what it cost: wall time, processor time and the most memory it held."""

from __future__ import annotations

__all__ = ["Cost", "best_of", "measure"]

import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cost:
    """What one run of a command took."""

    wall: float
    cpu: float
    megabytes: float
    exit_code: int


def measure(command: Sequence[str], env: Mapping[str, str] | None = None) -> Cost:
    """One run, output thrown away. The memory is the child's own high-water mark."""
    start = time.perf_counter()
    with subprocess.Popen(
        command,
        env={**os.environ, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    ) as process:
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
    scale = 1e6 if sys.platform == "darwin" else 1e3
    return Cost(wall, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / scale, process.returncode)


def best_of(times: int, command: Sequence[str], env: Mapping[str, str] | None = None) -> Cost:
    """The quickest of several runs: noise only ever adds."""
    return min((measure(command, env) for _ in range(times)), key=lambda cost: cost.wall)
