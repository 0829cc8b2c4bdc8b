"""Run a function in several forked processes, each with everything that was imported and loaded before.

A failed child process is no error: its result is None, and the caller does that work itself.
"""

from __future__ import annotations

__all__ = ["can_fork", "run_in_processes", "usable_processors"]

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, NoReturn, TypeVar, cast

T = TypeVar("T")

# The number of SIGKILL on every system with fork. Importing `signal` takes longer than a fork.
_SIGKILL: Final = 9

# More processes than this compete for the disk and for the parent.
_MAX_PROCESSES: Final = 4


def can_fork() -> bool:
    """True if the system has fork, and no other thread runs: it would not exist in the child."""
    threading = sys.modules.get("threading")
    return hasattr(os, "fork") and (threading is None or threading.active_count() == 1)


def usable_processors() -> int:
    """Return the number of processes to use, at most 4."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _MAX_PROCESSES)


def run_in_processes(work: Callable[[int], T], count: int) -> list[T | None]:
    """Return `work(0)`, run in this process, and `work(1)` to `work(count - 1)`, run in child processes.

    The result of a failed child is None. An error of `work(0)` is raised after the children are killed.
    Results are pickled.
    """
    with _children(work, range(1, count)) as children:
        own = work(0)
        return [own, *(cast("T | None", child and child.result()) for child in children)]


class _Child(NamedTuple):
    """A process, and the read end of the pipe for its result."""

    process: int
    pipe: int

    def result(self) -> object:
        """Wait for the result; None if the process failed."""
        import pickle  # noqa: PLC0415 - a small input needs no children

        with open(self.pipe, "rb", closefd=False) as stream:
            content = stream.read()
        try:
            return pickle.loads(content)
        except (EOFError, pickle.UnpicklingError):
            return None


@contextmanager
def _children(work: Callable[[int], T], numbers: range) -> Iterator[list[_Child | None]]:
    children: list[_Child | None] = []
    try:
        children.extend(_fork(work, number) for number in numbers)
        yield children
    finally:
        for child in filter(None, children):
            os.close(child.pipe)
            # The process ID cannot be reused before waitpid.
            os.kill(child.process, _SIGKILL)
            os.waitpid(child.process, 0)


def _fork(work: Callable[[int], T], number: int) -> _Child | None:
    try:
        read_end, write_end = os.pipe()
    except OSError:
        return None
    try:
        process = os.fork()
    except OSError:
        os.close(read_end)
        os.close(write_end)
        return None
    if process == 0:
        os.close(read_end)
        _run_child(write_end, work, number)
    os.close(write_end)
    return _Child(process, read_end)


def _run_child(pipe: int, work: Callable[[int], T], number: int) -> NoReturn:
    """Write the result to the pipe and exit, without flushing or closing anything of the parent."""
    try:
        import pickle  # noqa: PLC0415 - a small input needs no children

        content = pickle.dumps(work(number), pickle.HIGHEST_PROTOCOL)
        with open(pipe, "wb") as stream:
            stream.write(content)
    finally:
        os._exit(0)
