"""Child processes that run tests."""

from __future__ import annotations

__all__ = ["BROKEN", "PYTEST", "fork_child", "run_children"]

import os
import traceback
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeVar

from hypothesis import HealthCheck, Phase, settings

T = TypeVar("T")

PYTEST: Final = (
    *("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"),
    # Only the failure matters: rewriting assertions would take most of the time of a child.
    "--assert=plain",
    # As an option, because the configuration of the tests loads its own profile.
    "--hypothesis-profile=mutation",
    # Tests with real catalogs take minutes; smaller tests should detect the mutants.
    *("-m", "not corpus"),
)
#: The same examples in every run, fewer than in the test suite, and without shrinking.
settings.register_profile(
    "mutation",
    max_examples=40,
    derandomize=True,
    database=None,
    deadline=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=list(HealthCheck),
)

#: The exit code of a child that could not run the tests.
BROKEN: Final = 99

_MAX_CHILDREN: Final = 2


def fork_child(work: Callable[[], int]) -> int:
    """Fork a child that exits with the result of `work`, without output; return its process id."""
    child = os.fork()
    if child:
        return child
    code = BROKEN
    errors = os.dup(2)
    try:
        devnull = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(devnull, stream)
        code = work()
    except BaseException:
        os.write(errors, traceback.format_exc().encode())
        raise
    finally:
        os._exit(code)


def run_children(items: Iterable[T], start: Callable[[T], int]) -> Iterator[tuple[T, int]]:
    """Start a child for each item, a few at a time; yield each item with the exit status of its child."""
    running: dict[int, T] = {}
    for each in items:
        if len(running) == _MAX_CHILDREN:
            yield _wait_for_child(running)
        running[start(each)] = each
    while running:
        yield _wait_for_child(running)


def _wait_for_child(running: dict[int, T]) -> tuple[T, int]:
    child, status = os.wait()
    return running.pop(child), status
