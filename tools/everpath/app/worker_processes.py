"""Work done by several processes at once, each with all that was imported and read before.

A child is a shortcut and never a risk: whatever goes wrong in one, from a refused fork to a killed process,
is answered with None, and the caller does that work itself.
"""

from __future__ import annotations

__all__ = ["can_fork", "run_in_processes", "usable_processors"]

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, NamedTuple, NoReturn, TypeVar, cast

T = TypeVar("T")

# SIGKILL, the same number wherever there is a fork. The module `signal` takes longer to import than a fork.
_KILL: Final = 9

# More than this many would read the same disk and wait for the same parent.
_MOST: Final = 4


def can_fork() -> bool:
    """Whether there is a fork, and no thread that would not live on in a child."""
    threading = sys.modules.get("threading")
    return hasattr(os, "fork") and (threading is None or threading.active_count() == 1)


def usable_processors() -> int:
    """How many processes are worth while here."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(usable, _MOST)


def run_in_processes(work: Callable[[int], T], count: int) -> list[T | None]:
    """`work(0)` here and `work(1)` up to `count - 1` in children; None for a child that failed.

    What `work(0)` raises is raised, after the children were ended. Results travel as pickles.
    """
    with _children(work, range(1, count)) as children:
        own = work(0)
        return [own, *(cast("T | None", child and child.result()) for child in children)]


class _Child(NamedTuple):
    """A process and the end of a pipe that its result comes out of."""

    process: int
    pipe: int

    def result(self) -> object:
        """What it worked out; None if it did not come to an end."""
        import pickle  # noqa: PLC0415 - a small input needs no children

        with open(self.pipe, "rb", closefd=False) as stream:
            told = stream.read()
        try:
            return pickle.loads(told)
        except (EOFError, pickle.UnpicklingError):
            return None


@contextmanager
def _children(work: Callable[[int], T], numbers: range) -> Iterator[list[_Child | None]]:
    children: list[_Child | None] = []
    try:
        children.extend(_started(work, number) for number in numbers)
        yield children
    finally:
        for child in filter(None, children):
            os.close(child.pipe)
            # Until it is waited for, nobody else can have its number.
            os.kill(child.process, _KILL)
            os.waitpid(child.process, 0)


def _started(work: Callable[[int], T], number: int) -> _Child | None:
    try:
        outlet, inlet = os.pipe()
    except OSError:
        return None
    try:
        process = os.fork()
    except OSError:
        os.close(outlet)
        os.close(inlet)
        return None
    if process == 0:
        os.close(outlet)
        _tell(inlet, work, number)
    os.close(inlet)
    return _Child(process, outlet)


def _tell(pipe: int, work: Callable[[int], T], number: int) -> NoReturn:
    """Nothing of the parent's is flushed, closed or handled by a child."""
    try:
        import pickle  # noqa: PLC0415

        told = pickle.dumps(work(number), pickle.HIGHEST_PROTOCOL)
        with open(pipe, "wb") as stream:
            stream.write(told)
    finally:
        os._exit(0)
