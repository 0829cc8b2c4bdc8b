"""Measure a command: wall time, processor time and peak memory.

A child inherits the peak memory of the process that forks it. So this module also runs as a small program,
which starts the command in its arguments and prints the cost.
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
    """The cost of one run."""

    wall: float
    cpu: float
    megabytes: float
    exit_code: int


class Run(NamedTuple):
    """A command, and variables that are added to its environment."""

    command: Sequence[str]
    env: Mapping[str, str] | None = None


def measure(command: Sequence[str], env: Mapping[str, str] | None = None) -> Cost:
    """Run a command once without its output, and return its cost."""
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
    """Return the fastest of several runs, because noise only makes runs slower."""
    return best_in_turns(times, Run(command, env))[0]


def best_in_turns(times: int, *runs: Run) -> list[Cost]:
    """Return the fastest run of each command. They run in turns, so that other load affects all of them."""
    rounds = [[measure(*each) for each in runs] for _ in range(times)]
    return [min(costs, key=lambda cost: cost.wall) for costs in zip(*rounds, strict=True)]


if __name__ == "__main__":
    print(json.dumps(_launch(sys.argv[1:])))
