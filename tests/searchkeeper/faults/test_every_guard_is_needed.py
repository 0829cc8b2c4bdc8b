"""Every guard is needed: a test fails without it.

The tables are those of docs/operator/guards.md, one for each of its headings.
"""

from __future__ import annotations

import importlib.util
import inspect
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from searchkeeper.planner import Result, actions
from searchkeeper.testing.invariants.checks import INVARIANTS
from tests.searchkeeper.faults.guards import (
    deletion,
    denied_operations,
    drain,
    failed_pods,
    gates,
    ledger,
    locks,
    manager,
    objects,
    operator_condition,
    planner,
    rollback,
    rollout,
    scale_in,
    versions,
)
from tests.searchkeeper.faults.guards.guard import Guard, Patch
from tests.support.commandline import ROOT
from tests.support.searchkeeper import fault_runs as runs
from tests.support.searchkeeper import operator_runs

TESTS = ROOT / "tests"
DOCS = TESTS.parent / "docs/operator"
TABLES = {
    "Gates": gates.GUARDS,
    "Planner": planner.GUARDS,
    "The ledger": ledger.GUARDS,
    "Versions and specs": versions.GUARDS,
    "Spec lock": locks.GUARDS,
    "Rollout": rollout.GUARDS,
    "Rollback": rollback.GUARDS,
    "Failed pods": failed_pods.GUARDS,
    "Drain and votes": drain.GUARDS,
    "Scale-in": scale_in.GUARDS,
    "Deletion": deletion.GUARDS,
    "Objects": objects.GUARDS,
    "Operator condition": operator_condition.GUARDS,
    "Denied operations": denied_operations.GUARDS,
}
MANAGER = "What keeps the manager from harm"
EVERY = [guard for table in (*TABLES.values(), manager.GUARDS) for guard in table]


def import_again(path: str) -> ModuleType:
    """Import a test module again: the caches of the imported one were filled with the guard in place."""
    spec = importlib.util.spec_from_file_location(f"again_{Path(path).stem}", TESTS / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(module: ModuleType, test: str, arguments: tuple[Any, ...], monkeypatch: Patch) -> None:
    """Run a test with these arguments. Its other parameters are `monkeypatch` and fixtures of its module."""
    function, values = getattr(module, test), iter(arguments)
    parameters = inspect.signature(function).parameters
    fixtures = {
        name: inspect.unwrap(each) for name, each in vars(module).items() if hasattr(each, "__wrapped__")
    }
    fixtures["monkeypatch"] = lambda: monkeypatch
    function(*(fixtures[name]() if name in fixtures else next(values) for name in parameters))


def record_programming_errors(monkeypatch: Patch) -> list[str]:
    """Record programming errors of actions from now on. They fail a test too, but do not prove the guard."""
    errors: list[str] = []
    original = actions.action_error

    def action_error(message: str) -> Result:
        if message.startswith(("TypeError", "AttributeError", "NameError")):
            errors.append(message)
        return original(message)

    monkeypatch.setattr(actions, "action_error", action_error)
    return errors


@pytest.mark.exhaustive(keep=15)
@pytest.mark.parametrize("guard", EVERY, ids=lambda guard: guard.name)
def test_a_test_fails_without_the_guard(guard: Guard, monkeypatch: Patch) -> None:
    path, _, test = guard.test.partition("::")
    module = import_again(path)
    # Without the guard some runs never converge: give up earlier.
    monkeypatch.setattr(operator_runs, "_MAX_RECONCILES", 600)
    errors = record_programming_errors(monkeypatch)
    guard.remove(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        run(module, test, guard.arguments, monkeypatch)
    assert not errors


@pytest.fixture(autouse=True)
def _clear_caches() -> Iterator[None]:
    """Runs with and without a guard differ."""
    runs.clear_caches()
    yield
    runs.clear_caches()


def documented_guards(page: str, heading: str) -> dict[str, str]:
    """Return the guards of a table in the docs with their tests."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
    return {row[1].strip(): row[3].strip().strip("`") for row in rows[1:]}


@pytest.mark.parametrize("heading", TABLES)
def test_docs_list_every_guard_with_its_test(heading: str) -> None:
    assert documented_guards("guards.md", heading) == {guard.name: guard.test for guard in TABLES[heading]}


def test_docs_list_the_guards_of_the_manager() -> None:
    """Other rows of that table are not a function of the manager: their tests exist at least."""
    found = {
        name: f"searchkeeper/unit/manager/{test}"
        for name, test in documented_guards("running.md", MANAGER).items()
    }
    assert {guard.name: guard.test for guard in manager.GUARDS}.items() <= found.items()
    for path, _, test in (each.partition("::") for each in found.values()):
        assert f"def {test}(" in (TESTS / path).read_text(encoding="utf-8"), test


def test_docs_list_every_invariant() -> None:
    text = (DOCS / "guards.md").read_text(encoding="utf-8")
    assert not [each.__name__ for each in INVARIANTS if f"`{each.__name__}`" not in text]
