"""Child processes that fail cost time, but do not change the result."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, signal
from everpath.app import worker_processes

def work(number):
    if number == 1:
        {misfortune}
    return number * 10

{before}
try:
    print(worker_processes.run_in_processes(work, 3))
except ValueError as error:
    print(error)
try:
    os.waitpid(-1, 0)
except ChildProcessError:
    print("no child left")
"""

MINE_FAILS = """
theirs = work

def work(number):
    if number == 0:
        raise ValueError("mine")
    return theirs(number)
"""


def run(misfortune: str = "pass", before: str = "") -> list[str]:
    """Run in a separate process, because pytest has threads and a fork would copy their locks."""
    program = PROGRAM.format(misfortune=misfortune, before=before)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()


def test_each_process_returns_the_result_of_its_number() -> None:
    assert run() == ["[0, 10, 20]", "no child left"]


@pytest.mark.parametrize(
    "misfortune",
    [
        "raise RuntimeError",
        "raise KeyboardInterrupt",
        "os.kill(os.getpid(), signal.SIGKILL)",
        "os._exit(3)",
        "return lambda: None",
    ],
)
def test_failed_child_has_the_result_none(misfortune: str) -> None:
    assert run(misfortune)[-2:] == ["[0, None, 20]", "no child left"]


def test_without_fork_everything_runs_in_the_parent() -> None:
    refused = "def no(): raise BlockingIOError\nos.fork = no"
    assert run(before=refused) == ["[0, None, None]", "no child left"]


def test_failure_of_the_parent_ends_the_children() -> None:
    slow = "import time; time.sleep(600)"
    assert run(slow, MINE_FAILS) == ["mine", "no child left"]
