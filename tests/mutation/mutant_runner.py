"""Runs the tests of each mutant in a child process.

Most mutants run in a child of a process that has imported everything and collected the tests: the child
replaces the code of the mutated function. This is too late for code that runs at import or while tests are
collected. Such a mutant is imported instead of its module, in a child of a process that has imported pytest
and other large packages, but neither everpath nor searchkeeper.

Processor time and memory are limited, so that an endless loop ends and a busy machine kills no mutant.
"""

from __future__ import annotations

__all__ = ["SURVIVING", "Outcome", "run_mutants"]

import ast
import gc
import os
import resource
import signal
import sys
from collections.abc import Iterable, Iterator
from enum import StrEnum
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType
from typing import Any, Final

import pytest

from tests.mutation.baseline import Baseline, file_of
from tests.mutation.child_processes import BROKEN, PYTEST, fork_child, run_children
from tests.mutation.function_swap import Functions
from tests.mutation.mutants import Mutant
from tests.mutation.targets import name_of

#: Seconds of processor time for imports and collection, and bytes of memory.
_STARTUP_TIME: Final = 20
_MEMORY: Final = 4 * 1024**3
#: The exit code of a child whose mutant must be imported.
_NOT_SWAPPED: Final = 98


class Outcome(StrEnum):
    """The result of a mutant."""

    KILLED = "killed"
    TIMEOUT = "killed by its limit"
    SURVIVED = "survived"
    UNREACHED = "survived: no test reaches it"


SURVIVING: Final = frozenset({Outcome.SURVIVED, Outcome.UNREACHED})


def run_mutants(
    mutants: Iterable[Mutant], file: Path, baseline: Baseline
) -> Iterator[tuple[Mutant, Outcome]]:
    """Yield each mutant of a file with its outcome."""
    swapped: list[Mutant] = []
    imported: list[Mutant] = []
    for mutant in mutants:
        if not baseline.tests_of(mutant, str(file)):
            yield mutant, Outcome.UNREACHED
        else:
            (imported if baseline.runs_early(mutant, str(file)) else swapped).append(mutant)
    for mutant, status in _run_swapped(swapped, file, baseline):
        if status is None:
            imported.append(mutant)
        else:
            yield mutant, _outcome(status)
    for mutant, status in run_children(
        imported, lambda each: fork_child(lambda: _run_imported(each, file, baseline))
    ):
        yield mutant, _outcome(status)


def _run_imported(mutant: Mutant, file: Path, baseline: Baseline) -> int:
    """Import a mutant instead of its module, and run its tests."""
    signal.setitimer(signal.ITIMER_VIRTUAL, _STARTUP_TIME)
    _install_mutant(mutant, file)
    tests = baseline.tests_of(mutant, str(file))
    files = sorted({file_of(test) for test in tests}, key=baseline.costs.__getitem__)
    return pytest.main([*PYTEST, *files], plugins=[_SelectedTests(tests, baseline)])


def _install_mutant(mutant: Mutant, file: Path) -> CodeType:
    """Limit the memory, and make imports of the module return the mutant."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    finder = _MutantFinder(name_of(mutant.module), file, mutant.tree)
    sys.meta_path.insert(0, finder)
    return finder.code


class _CodeLoader(SourceFileLoader):
    """Loads the given code instead of the code of the file."""

    def __init__(self, fullname: str, path: str, code: CodeType) -> None:
        super().__init__(fullname, path)
        self.code = code

    def get_code(self, _: str) -> CodeType:
        return self.code


class _MutantFinder(MetaPathFinder):
    """Finds the mutant for the name of its module."""

    def __init__(self, module: str, file: Path, tree: ast.Module) -> None:
        self.module = module
        self.file = str(file)
        self.code = compile(tree, self.file, "exec")

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        return spec_from_file_location(
            fullname, self.file, loader=_CodeLoader(fullname, self.file, self.code)
        )


class _Limits:
    """Limits the processor time of each test."""

    def __init__(self, baseline: Baseline) -> None:
        self.baseline = baseline

    def selected(self, items: list[pytest.Item], tests: frozenset[str]) -> list[pytest.Item]:
        """Return the items of these tests, cheap files first."""
        found = (item for item in items if item.nodeid in tests)
        return sorted(found, key=lambda item: self.baseline.costs[file_of(item.nodeid)])

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        # The first test of a file also pays for the fixtures of the file.
        signal.setitimer(signal.ITIMER_VIRTUAL, 2 + 10 * self.baseline.slowest[file_of(item.nodeid)])


class _SelectedTests(_Limits):
    """Runs only the selected tests."""

    def __init__(self, tests: frozenset[str], baseline: Baseline) -> None:
        super().__init__(baseline)
        self.tests = tests

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = self.selected(items, self.tests)


class _SwapPlugin(_Limits):
    """Runs a child for each mutant instead of the collected tests."""

    def __init__(self, mutants: list[Mutant], file: Path, baseline: Baseline, results_fd: int) -> None:
        super().__init__(baseline)
        self.mutants = mutants
        self.file = file
        self.results_fd = results_fd
        self.is_child = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if self.is_child:
            return None
        functions = Functions(str(self.file))
        gc.freeze()

        def start(number: int) -> int:
            return fork_child(lambda: self._run_in_child(session, functions, self.mutants[number]))

        for number, status in run_children(range(len(self.mutants)), start):
            os.write(self.results_fd, f"{number} {status}\n".encode())
        return True

    def _run_in_child(self, session: pytest.Session, functions: Functions, mutant: Mutant) -> int:
        if not functions.swap(_install_mutant(mutant, self.file)):
            return _NOT_SWAPPED
        session.items[:] = self.selected(session.items, self.baseline.tests_of(mutant, str(self.file)))
        self.is_child = True
        try:
            session.config.hook.pytest_runtestloop(session=session)
        except session.Failed:
            return pytest.ExitCode.TESTS_FAILED
        return pytest.ExitCode.OK


def _run_swapped(
    mutants: list[Mutant], file: Path, baseline: Baseline
) -> Iterator[tuple[Mutant, int | None]]:
    """Yield each mutant with the exit status of its child, or None if it must be imported."""
    if not mutants:
        return
    reading, writing = os.pipe()
    child = fork_child(
        lambda: pytest.main(
            [*PYTEST, *baseline.costs], plugins=[_SwapPlugin(mutants, file, baseline, writing)]
        )
    )
    os.close(writing)
    left = dict(enumerate(mutants))
    with os.fdopen(reading) as results_fd:
        for line in results_fd:
            number, status = map(int, line.split())
            is_swapped = os.WIFSIGNALED(status) or os.WEXITSTATUS(status) != _NOT_SWAPPED
            yield left.pop(number), status if is_swapped else None
    os.waitpid(child, 0)
    if left:
        raise RuntimeError(f"{len(left)} mutants could not be run")


def _outcome(status: int) -> Outcome:
    """Return the outcome for the exit status of a child."""
    if os.WIFSIGNALED(status):
        return Outcome.TIMEOUT
    code = os.WEXITSTATUS(status)
    if code in (BROKEN, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"a mutant could not be run: pytest ended with {code}")
    return Outcome.KILLED if code else Outcome.SURVIVED
