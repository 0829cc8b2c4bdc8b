"""Runs a command and says what it cost: wall time, processor time and the most memory it held.

A child inherits the high-water mark of whoever forks it, so a small process of its own does that: this
module, run as a program, which prints the cost of its arguments.
"""

from __future__ import annotations

__all__ = ["Cost", "Run", "best_in_turns", "best_of", "measure"]

import json
import os
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import NamedTuple


class Cost(NamedTuple):
    """What one run of a command took."""

    wall: float
    cpu: float
    megabytes: float
    exit_code: int


class Run(NamedTuple):
    """A command, and what it finds in its environment beside what is there."""

    command: Sequence[str]
    env: Mapping[str, str] | None = None


def measure(command: Sequence[str], env: Mapping[str, str] | None = None) -> Cost:
    """One run, output thrown away. The memory is the command's own high-water mark."""
    launched = subprocess.run(
        [sys.executable, "-S", __file__, *command],
        env={**os.environ, **(env or {})},
        stdout=subprocess.PIPE,
        check=True,
    )
    return Cost(*json.loads(launched.stdout))


def _launch(command: Sequence[str]) -> Cost:
    start = time.perf_counter()
    with subprocess.Popen(
        command,
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
    return best_in_turns(times, Run(command, env))[0]


def best_in_turns(times: int, *runs: Run) -> list[Cost]:
    """The quickest of several of each. They take turns: what else a machine does meanwhile hits them all."""
    rounds = [[measure(*each) for each in runs] for _ in range(times)]
    return [min(costs, key=lambda cost: cost.wall) for costs in zip(*rounds, strict=True)]


if __name__ == "__main__":
    print(json.dumps(_launch(sys.argv[1:])))
