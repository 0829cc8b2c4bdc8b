"""Children that fail cost time, never the answer."""

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
    print("nobody left")
"""

MINE_FAILS = """
theirs = work

def work(number):
    if number == 0:
        raise ValueError("mine")
    return theirs(number)
"""


def run(misfortune: str = "pass", before: str = "") -> list[str]:
    """In a process of its own: pytest has threads, which no fork should meet."""
    program = PROGRAM.format(misfortune=misfortune, before=before)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, timeout=60
    )
    return done.stdout.splitlines()


def test_each_process_answers_for_its_number() -> None:
    assert run() == ["[0, 10, 20]", "nobody left"]


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
def test_a_child_that_fails_answers_none(misfortune: str) -> None:
    assert run(misfortune)[-2:] == ["[0, None, 20]", "nobody left"]


def test_where_no_process_can_be_made_none_is_missed() -> None:
    refused = "def no(): raise BlockingIOError\nos.fork = no"
    assert run(before=refused) == ["[0, None, None]", "nobody left"]


def test_a_failure_of_ones_own_ends_the_children_at_once() -> None:
    slow = "import time; time.sleep(600)"
    assert run(slow, MINE_FAILS) == ["mine", "nobody left"]
