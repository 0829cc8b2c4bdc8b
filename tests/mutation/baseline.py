"""What the tests do where nothing is mutated: which lines each of them reaches, and what it costs."""

from __future__ import annotations

__all__ = ["Baseline", "baseline", "file_of"]

import json
import os
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from mutation.children import PYTEST, forked
from mutation.mutants import Mutant


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the tests do where nothing is mutated: the lines each reaches, and the seconds they take."""

    lines: Mapping[str, frozenset[tuple[str, int]]]
    early: frozenset[tuple[str, int]]
    #: By file: what all its tests take, and what the slowest of them does.
    costs: Mapping[str, float]
    slowest: Mapping[str, float]

    def tests_of(self, mutant: Mutant, file: str) -> frozenset[str]:
        """Tests that could notice a mutant; what runs early, all of them might."""
        if self.runs_early(mutant, file):
            return frozenset(self.lines)
        spots = _spots_of(mutant, file)
        return frozenset(test for test, reached in self.lines.items() if not spots.isdisjoint(reached))

    def runs_early(self, mutant: Mutant, file: str) -> bool:
        """Whether its statement runs before the first test does."""
        return mutant.runs_at_import or not _spots_of(mutant, file).isdisjoint(self.early)


def _spots_of(mutant: Mutant, file: str) -> set[tuple[str, int]]:
    return {(file, line) for line in range(mutant.line, mutant.last_line + 1)}


def file_of(test: str) -> str:
    return test.partition("::")[0]


class _Watch:
    """Notes which lines of some files each test reaches."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = modules
        self.files = frozenset(modules.values())
        self.early: set[tuple[str, int]] = set()
        self.reached: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.shared: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    @contextmanager
    def _watching(self, found: set[tuple[str, int]]) -> Iterator[None]:
        def of_line(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
            found.add((frame.f_code.co_filename, frame.f_lineno))
            return of_line

        def of_call(frame: FrameType, event: str, _: object) -> Callable[..., Any] | None:
            return of_line if frame.f_code.co_filename in self.files else None

        sys.settrace(of_call)
        try:
            yield
        finally:
            sys.settrace(None)

    def pytest_sessionstart(self) -> None:
        """Import all of them before the first test does, in whose name it would be done."""
        with self._watching(self.early):
            for module in self.modules:
                import_module(module)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        with self._watching(self.early):
            return (yield)

    # In processor time, as the limits are: how busy the machine was decides nothing.
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        # What an earlier test has had remembered, this one would not reach; in a trial it may run alone.
        _forget({module.partition(".")[0] for module in self.modules})
        begun = time.process_time()
        answer = yield
        self.seconds[item.nodeid] = time.process_time() - begun
        return answer

    # What a fixture of a whole file does is done in the name of its first test, for all of them.
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        with self._watching(self.shared[file_of(item.nodeid)]):
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        with self._watching(self.reached[item.nodeid]):
            yield

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def result(self) -> dict[str, Any]:
        lines = {test: [*found, *self.shared[file_of(test)]] for test, found in self.reached.items()}
        return {"lines": lines, "early": [*self.early], "seconds": self.seconds, "failed": self.failed}


def _forget(packages: set[str]) -> None:
    """Clear what the functions of some packages remember."""
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] in packages:
            for value in [*vars(module).values()]:
                if hasattr(type(value), "cache_clear"):
                    value.cache_clear()


def baseline(tests: tuple[str, ...], modules: Mapping[str, str]) -> Baseline:
    """Run the tests once, unmutated and watched. They must pass: a failing test kills everything.

    `modules` are all that may be mutated, with their files.
    """
    with tempfile.NamedTemporaryFile() as notes:

        def work() -> int:
            watch = _Watch(modules)
            code = pytest.main([*PYTEST, *tests], plugins=[watch])
            Path(notes.name).write_text(json.dumps(watch.result()))
            return code

        _, status = os.waitpid(forked(work), 0)
        found = json.loads(Path(notes.name).read_text())
    if status:
        sys.exit(f"the tests must pass before mutants are tried: {', '.join(found['failed'])}")
    lines = {test: _spots(reached) for test, reached in found["lines"].items()}
    by_file: dict[str, list[float]] = defaultdict(list)
    for test, seconds in found["seconds"].items():
        by_file[file_of(test)].append(seconds)
    costs, slowest = ({file: of(taken) for file, taken in by_file.items()} for of in (sum, max))
    return Baseline(lines, _spots(found["early"]), costs, slowest)


def _spots(pairs: list[tuple[str, int]]) -> frozenset[tuple[str, int]]:
    return frozenset((file, line) for file, line in pairs)
