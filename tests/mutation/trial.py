"""One mutant on trial: a forked child in which the module is the mutant, and the tests that reach it.

The parent has imported pytest and everything heavy but nothing of everpath, so that a child starts in
milliseconds and imports the mutant as if it were the module. The limit is on processor time and memory: a
busy machine convicts nobody, and a mutant that loops for ever does not outlive it.
"""

from __future__ import annotations

__all__ = ["Baseline", "Verdict", "baseline", "start", "verdict"]

import ast
import json
import os
import resource
import signal
import sys
import tempfile
import time
import traceback
from collections import defaultdict
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from importlib import import_module
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from importlib.util import spec_from_file_location
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, Phase, settings

from mutation.mutants import Mutant
from mutation.targets import name_of

_PYTEST: Final = (
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

#: Seconds of processor time for imports and collection, and bytes for all.
_START: Final = 20
_MEMORY: Final = 4 * 1024**3
#: How a child ends that could not even try.
_BROKEN: Final = 99


class Verdict(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    TIMEOUT = "killed by its limit"
    SURVIVED = "survived"
    UNREACHED = "survived: no test reaches it"


@dataclass(frozen=True, slots=True)
class Baseline:
    """What the tests do where nothing is mutated: the lines each reaches, and the seconds they take."""

    lines: Mapping[str, frozenset[tuple[str, int]]]
    imported: frozenset[tuple[str, int]]
    #: By file: what all its tests take, and what the slowest of them does.
    costs: Mapping[str, float]
    slowest: Mapping[str, float]

    def tests_of(self, mutant: Mutant, file: str) -> frozenset[str]:
        """Tests that could notice a mutant; what runs at import, all of them might."""
        spots = {(file, line) for line in range(mutant.line, mutant.last_line + 1)}
        if mutant.runs_at_import or not spots.isdisjoint(self.imported):
            return frozenset(self.lines)
        return frozenset(test for test, reached in self.lines.items() if not spots.isdisjoint(reached))


def _file(test: str) -> str:
    return test.partition("::")[0]


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


class _Chosen:
    """Runs the chosen tests only, cheap files first, and ends the process if one of them does not end."""

    def __init__(self, tests: frozenset[str], known: Baseline) -> None:
        self.tests = tests
        self.known = known

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        chosen = [item for item in items if item.nodeid in self.tests]
        items[:] = sorted(chosen, key=lambda item: self.known.costs[_file(item.nodeid)])

    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        # Any test of a file may be the first, and do what the file's fixtures do for all.
        signal.setitimer(signal.ITIMER_VIRTUAL, 2 + 10 * self.known.slowest[_file(item.nodeid)])


class _Watch:
    """Notes which lines of some files each test reaches."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        self.modules = modules
        self.files = frozenset(modules.values())
        self.imported: set[tuple[str, int]] = set()
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
        with self._watching(self.imported):
            for module in self.modules:
                import_module(module)

    # In processor time, as the limits are: how busy the machine was decides nothing.
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        begun = time.process_time()
        answer = yield
        self.seconds[item.nodeid] = time.process_time() - begun
        return answer

    # What a fixture of a whole file does is done in the name of its first test, for all of them.
    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> Iterator[None]:
        with self._watching(self.shared[_file(item.nodeid)]):
            yield

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Iterator[None]:
        with self._watching(self.reached[item.nodeid]):
            yield

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.failed.append(report.nodeid)

    def result(self) -> dict[str, Any]:
        lines = {test: [*found, *self.shared[_file(test)]] for test, found in self.reached.items()}
        return {"lines": lines, "imported": [*self.imported], "seconds": self.seconds, "failed": self.failed}


def baseline(tests: tuple[str, ...], modules: Mapping[str, str]) -> Baseline:
    """Run the tests once, unmutated and watched. They must pass: a failing test kills everything.

    `modules` are all that may be mutated, with their files.
    """
    with tempfile.NamedTemporaryFile() as notes:

        def work() -> int:
            watch = _Watch(modules)
            code = pytest.main([*_PYTEST, *tests], plugins=[watch])
            Path(notes.name).write_text(json.dumps(watch.result()))
            return code

        _, status = os.waitpid(_forked(work), 0)
        found = json.loads(Path(notes.name).read_text())
    if status:
        sys.exit(f"the tests must pass before mutants are tried: {', '.join(found['failed'])}")
    lines = {test: _spots(reached) for test, reached in found["lines"].items()}
    by_file: dict[str, list[float]] = defaultdict(list)
    for test, seconds in found["seconds"].items():
        by_file[_file(test)].append(seconds)
    costs, slowest = ({file: of(taken) for file, taken in by_file.items()} for of in (sum, max))
    return Baseline(lines, _spots(found["imported"]), costs, slowest)


def _spots(pairs: list[tuple[str, int]]) -> frozenset[tuple[str, int]]:
    return frozenset((file, line) for file, line in pairs)


def start(mutant: Mutant, file: Path, tests: frozenset[str], known: Baseline) -> int:
    """Fork the child that tries a mutant; its process id."""

    def work() -> int:
        signal.setitimer(signal.ITIMER_VIRTUAL, _START)
        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
        sys.meta_path.insert(0, _StandIn(name_of(mutant.module), file, mutant.tree))
        files = sorted({_file(test) for test in tests}, key=known.costs.__getitem__)
        return pytest.main([*_PYTEST, *files], plugins=[_Chosen(tests, known)])

    return _forked(work)


def _forked(work: Callable[[], int]) -> int:
    """A child that does some work, says nothing, and ends with its answer; its process id."""
    child = os.fork()
    if child:
        return child
    code = _BROKEN
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


def verdict(status: int) -> Verdict:
    """What the end of a child means."""
    if os.WIFSIGNALED(status):
        return Verdict.TIMEOUT
    code = os.WEXITSTATUS(status)
    if code in (_BROKEN, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise RuntimeError(f"a mutant could not be tried: pytest ended with {code}")
    return Verdict.KILLED if code else Verdict.SURVIVED
