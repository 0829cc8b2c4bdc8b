"""Children of the process that tries mutants: how they run tests, and how many at a time."""

from __future__ import annotations

__all__ = ["BROKEN", "PYTEST", "forked", "in_turn"]

import os
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from hypothesis import HealthCheck, Phase, settings

T = TypeVar("T")

PYTEST: Final = (
    *("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
    # That an assertion fails is all that is asked: rewriting them would take most of a child's time.
    "--assert=plain",
    # Named here, and not loaded by us, for the suite's own configuration is loaded after that.
    "--hypothesis-profile=mutation",
    # Real catalogs take minutes; a law that nothing smaller states is not stated.
    *("-m", "not corpus"),
)
#: The same examples in every run, not as many as in the suite, and no time spent on making them smaller.
settings.register_profile(
    "mutation",
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)

#: How a child ends that could not even try.
BROKEN: Final = 99

_JOBS: Final = 2


def forked(work: Callable[[], int]) -> int:
    """A child that does some work, says nothing, and ends with its answer; its process id."""
    child = os.fork()
    if child:
        return child
    code = BROKEN
    errors = os.dup(2)
    try:
        nowhere = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nowhere, stream)
        code = work()
    except BaseException:
        os.write(errors, traceback.format_exc().encode())
        raise
    finally:
        os._exit(code)


def in_turn(every: Iterable[T], start: Callable[[T], int]) -> Iterator[tuple[T, int]]:
    """Start a child for each, a few at a time; each with the status of its end, as they end."""
    running: dict[int, T] = {}
    for each in every:
        if len(running) == _JOBS:
            yield _ended(running)
        running[start(each)] = each
    while running:
        yield _ended(running)


def _ended(running: dict[int, T]) -> tuple[T, int]:
    child, status = os.wait()
    return running.pop(child), status
