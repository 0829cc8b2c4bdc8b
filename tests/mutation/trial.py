"""Mutants on trial: children in which a mutant stands in the module's place, and its tests.

Most are tried in children of a process that has imported everything and collected the tests: the mutant's
code is put into the function that it is a mutant of. For what runs before the first test does, at import or
while tests are collected, that comes too late: such a mutant is imported as if it were the module, in a child
of a process that has imported pytest and everything heavy but nothing of everpath or searchkeeper.

The limit is on processor time and memory: a busy machine convicts nobody, and a mutant that loops for ever
does not outlive it.
"""

from __future__ import annotations

__all__ = ["UNNOTICED", "Verdict", "tried"]

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

from mutation.baseline import Baseline, file_of
from mutation.children import BROKEN, PYTEST, forked, in_turn
from mutation.mutants import Mutant
from mutation.swapping import Functions
from mutation.targets import name_of

#: Seconds of processor time for imports and collection, and bytes for all.
_START: Final = 20
_MEMORY: Final = 4 * 1024**3
#: How a child ends that would have to import the mutant.
_NOT_SWAPPED: Final = 98


class Verdict(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    TIMEOUT = "killed by its limit"
    SURVIVED = "survived"
    UNREACHED = "survived: no test reaches it"


UNNOTICED: Final = frozenset({Verdict.SURVIVED, Verdict.UNREACHED})


def tried(mutants: Iterable[Mutant], file: Path, known: Baseline) -> Iterator[tuple[Mutant, Verdict]]:
    """Each mutant of a file with what became of it, as they end."""
    swapped: list[Mutant] = []
    imported: list[Mutant] = []
    for mutant in mutants:
        if not known.tests_of(mutant, str(file)):
            yield mutant, Verdict.UNREACHED
        else:
            (imported if known.runs_early(mutant, str(file)) else swapped).append(mutant)
    for mutant, status in _swapped(swapped, file, known):
        if status is None:
            imported.append(mutant)
        else:
            yield mutant, _verdict(status)
    for mutant, status in in_turn(imported, lambda each: forked(lambda: _import(each, file, known))):
        yield mutant, _verdict(status)


def _import(mutant: Mutant, file: Path, known: Baseline) -> int:
    """Import a mutant as if it were the module, and run its tests."""
    signal.setitimer(signal.ITIMER_VIRTUAL, _START)
    _stand_in(mutant, file)
    tests = known.tests_of(mutant, str(file))
    files = sorted({file_of(test) for test in tests}, key=known.costs.__getitem__)
    return pytest.main([*PYTEST, *files], plugins=[_Chosen(tests, known)])


def _stand_in(mutant: Mutant, file: Path) -> CodeType:
    """From now on, within limits, whoever imports the module gets the mutant."""
    resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    stand_in = _StandIn(name_of(mutant.module), file, mutant.tree)
    sys.meta_path.insert(0, stand_in)
    return stand_in.code


class _Stand(SourceFileLoader):
    """Loads other code than the file holds."""

    def __init__(self, fullname: str, path: str, code: CodeType) -> None:
        super().__init__(fullname, path)
        self.code = code

    def get_code(self, _: str) -> CodeType:
        return self.code


class _StandIn(MetaPathFinder):
    """Answers to one module's name with a mutant."""

    def __init__(self, module: str, file: Path, tree: ast.Module) -> None:
        self.module = module
        self.file = str(file)
        self.code = compile(tree, self.file, "exec")

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        if fullname != self.module:
            return None
        return spec_from_file_location(fullname, self.file, loader=_Stand(fullname, self.file, self.code))


class _Limits:
    """Ends the process if a test does not end."""

    def __init__(self, known: Baseline) -> None:
        self.known = known

    def chosen(self, items: list[pytest.Item], tests: frozenset[str]) -> list[pytest.Item]:
        """Some tests only, cheap files first."""
        found = (item for item in items if item.nodeid in tests)
        return sorted(found, key=lambda item: self.known.costs[file_of(item.nodeid)])

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        # Any test of a file may be the first, and do what the file's fixtures do for all.
        signal.setitimer(signal.ITIMER_VIRTUAL, 2 + 10 * self.known.slowest[file_of(item.nodeid)])


class _Chosen(_Limits):
    """Runs the chosen tests only."""

    def __init__(self, tests: frozenset[str], known: Baseline) -> None:
        super().__init__(known)
        self.tests = tests

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = self.chosen(items, self.tests)


class _Swapping(_Limits):
    """Instead of running the tests that were collected, has a child run some of them for each mutant."""

    def __init__(self, mutants: list[Mutant], file: Path, known: Baseline, answers: int) -> None:
        super().__init__(known)
        self.mutants = mutants
        self.file = file
        self.answers = answers
        self.is_trial = False

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        if self.is_trial:
            return None
        functions = Functions(str(self.file))
        gc.freeze()

        def start(number: int) -> int:
            return forked(lambda: self._trial(session, functions, self.mutants[number]))

        for number, status in in_turn(range(len(self.mutants)), start):
            os.write(self.answers, f"{number} {status}\n".encode())
        return True

    def _trial(self, session: pytest.Session, functions: Functions, mutant: Mutant) -> int:
        if not functions.swap(_stand_in(mutant, self.file)):
            return _NOT_SWAPPED
        session.items[:] = self.chosen(session.items, self.known.tests_of(mutant, str(self.file)))
        self.is_trial = True
        try:
            session.config.hook.pytest_runtestloop(session=session)
        except session.Failed:
            return pytest.ExitCode.TESTS_FAILED
        return pytest.ExitCode.OK


def _swapped(mutants: list[Mutant], file: Path, known: Baseline) -> Iterator[tuple[Mutant, int | None]]:
    """Mutants with the status of their child's end, or None for one that has to be imported."""
    if not mutants:
        return
    reading, writing = os.pipe()
    child = forked(
        lambda: pytest.main([*PYTEST, *known.costs], plugins=[_Swapping(mutants, file, known, writing)])
    )
    os.close(writing)
    left = dict(enumerate(mutants))
    with os.fdopen(reading) as answers:
        for line in answers:
            number, status = map(int, line.split())
            is_swapped = os.WIFSIGNALED(status) or os.WEXITSTATUS(status) != _NOT_SWAPPED
            yield left.pop(number), status if is_swapped else None
    os.waitpid(child, 0)
    if left:
        raise RuntimeError(f"{len(left)} mutants could not be tried")


def _verdict(status: int) -> Verdict:
    """What the end of a child means."""
    if os.WIFSIGNALED(status):
        return Verdict.TIMEOUT
    code = os.WEXITSTATUS(status)
    if code in (BROKEN, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"a mutant could not be tried: pytest ended with {code}")
    return Verdict.KILLED if code else Verdict.SURVIVED
