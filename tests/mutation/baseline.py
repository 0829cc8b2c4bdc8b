"""Runs the tests without mutants, and records which lines each test executes and how long it takes."""

from __future__ import annotations

__all__ = ["Baseline", "file_of", "measure_baseline"]

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

from tests.mutation.child_processes import PYTEST, fork_child
from tests.mutation.mutants import Mutant


@dataclass(frozen=True, slots=True)
class Baseline:
    """The lines that each test executes, and processor seconds. `early` lines run before the first test."""

    lines: Mapping[str, frozenset[tuple[str, int]]]
    early: frozenset[tuple[str, int]]
    #: By file: the seconds of all its tests, and of the slowest one.
    costs: Mapping[str, float]
    slowest: Mapping[str, float]

    def tests_of(self, mutant: Mutant, file: str) -> frozenset[str]:
        """Return the tests that execute the mutated lines; all tests for lines that run early."""
        if self.runs_early(mutant, file):
            return frozenset(self.lines)
        locations = _locations_of(mutant, file)
        return frozenset(test for test, reached in self.lines.items() if not locations.isdisjoint(reached))

    def runs_early(self, mutant: Mutant, file: str) -> bool:
        """Whether its statement runs before the first test."""
        return mutant.runs_at_import or not _locations_of(mutant, file).isdisjoint(self.early)


def _locations_of(mutant: Mutant, file: str) -> set[tuple[str, int]]:
    return {(file, line) for line in range(mutant.line, mutant.last_line + 1)}


def file_of(test: str) -> str:
    return test.partition("::")[0]


class _LineTracer:
    """Records which lines of some files each test executes."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = modules
        self.files = frozenset(modules.values())
        self.early: set[tuple[str, int]] = set()
        self.reached: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.shared: dict[str, set[tuple[str, int]]] = defaultdict(set)
        self.seconds: dict[str, float] = {}
        self.failed: list[str] = []

    @contextmanager
    def _tracing(self, found: set[tuple[str, int]]) -> Iterator[None]:
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
        """Import all modules before the first test, so that their lines are not recorded for it."""
        with self._tracing(self.early):
            for module in self.modules:
                import_module(module)

    @pytest.hookimpl(wrapper=True)
    def pytest_collection(self) -> Generator[None, object, object]:
        with self._tracing(self.early):
            return (yield)

    # Processor time, like the limits, so that the load of the machine does not matter.
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        # This test would not execute functions whose results an earlier test has cached.
        _clear_caches({module.partition(".")[0] for module in self.modules})
        start = time.process_time()
        answer = yield
        self.seconds[item.nodeid] = time.process_time() - start
        return answer

    # Fixtures of a file run before its first test, but for all of them.
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        with self._tracing(self.shared[file_of(item.nodeid)]):
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        with self._tracing(self.reached[item.nodeid]):
            yield

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def result(self) -> dict[str, Any]:
        lines = {test: [*found, *self.shared[file_of(test)]] for test, found in self.reached.items()}
        return {"lines": lines, "early": [*self.early], "seconds": self.seconds, "failed": self.failed}


def _clear_caches(packages: set[str]) -> None:
    """Clear the caches of all functions of these packages."""
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] in packages:
            for value in [*vars(module).values()]:
                if hasattr(type(value), "cache_clear"):
                    value.cache_clear()


def measure_baseline(tests: tuple[str, ...], modules: Mapping[str, str]) -> Baseline:
    """Run the tests once without mutants. They must pass: a failing test would kill every mutant.

    `modules` has the files of all modules that may be mutated, by name.
    """
    with tempfile.NamedTemporaryFile() as output:

        def work() -> int:
            tracer = _LineTracer(modules)
            code = pytest.main([*PYTEST, *tests], plugins=[tracer])
            Path(output.name).write_text(json.dumps(tracer.result()))
            return code

        _, status = os.waitpid(fork_child(work), 0)
        found = json.loads(Path(output.name).read_text())
    if status:
        sys.exit(f"the tests must pass without mutants, but these fail: {', '.join(found['failed'])}")
    lines = {test: _as_locations(reached) for test, reached in found["lines"].items()}
    by_file: dict[str, list[float]] = defaultdict(list)
    for test, seconds in found["seconds"].items():
        by_file[file_of(test)].append(seconds)
    costs, slowest = ({file: of(taken) for file, taken in by_file.items()} for of in (sum, max))
    return Baseline(lines, _as_locations(found["early"]), costs, slowest)


def _as_locations(pairs: list[tuple[str, int]]) -> frozenset[tuple[str, int]]:
    return frozenset((file, line) for file, line in pairs)
