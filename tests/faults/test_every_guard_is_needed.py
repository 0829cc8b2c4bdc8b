"""Every guard is taken away once, and something breaks: none is there for decoration.

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

import runs
import tales
from guards import (
    broken_pods,
    deletion,
    denials,
    draining,
    gates,
    kernel,
    ledger,
    locks,
    manager,
    objects,
    olm,
    rolling,
    scale_in,
    way_back,
    wishes,
)
from guards.taking_away import Guard, Patch
from searchkeeper.planner import Result, actions
from searchkeeper.testing.invariants.checks import INVARIANTS

TESTS = Path(__file__).resolve().parents[1]
DOCS = TESTS.parent / "docs/operator"
TABLES = {
    "Gates": gates.GUARDS,
    "Cycles": kernel.GUARDS,
    "The ledger": ledger.GUARDS,
    "Wishes": wishes.GUARDS,
    "The lock": locks.GUARDS,
    "The roll": rolling.GUARDS,
    "The way back": way_back.GUARDS,
    "Broken pods": broken_pods.GUARDS,
    "Shards and votes": draining.GUARDS,
    "Fewer nodes": scale_in.GUARDS,
    "Deletion": deletion.GUARDS,
    "What is deployed": objects.GUARDS,
    "OLM": olm.GUARDS,
    "What is refused": denials.GUARDS,
}
MANAGER = "What keeps the manager from harm"
EVERY = [guard for table in (*TABLES.values(), manager.GUARDS) for guard in table]


def fresh(path: str) -> ModuleType:
    """A copy of a module of tests: what others of it remember was seen with the guard in place."""
    spec = importlib.util.spec_from_file_location(f"killer_{Path(path).stem}", TESTS / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(module: ModuleType, test: str, arguments: tuple[Any, ...], monkeypatch: Patch) -> None:
    """A test with these arguments. What else it asks for are fixtures: this patch, or its module's own."""
    found, given = getattr(module, test), iter(arguments)
    asked = inspect.signature(found).parameters
    fixtures = {
        name: inspect.unwrap(each) for name, each in vars(module).items() if hasattr(each, "__wrapped__")
    }
    fixtures["monkeypatch"] = lambda: monkeypatch
    found(*(fixtures[name]() if name in fixtures else next(given) for name in asked))


def stumbles(monkeypatch: Patch) -> list[str]:
    """What actions stumble over from now on. One that cannot answer breaks a test as well: no proof."""
    found: list[str] = []
    plain = actions.action_error

    def at_fault(words: str) -> Result:
        found.extend([words] if words.startswith(("TypeError", "AttributeError", "NameError")) else [])
        return plain(words)

    monkeypatch.setattr(actions, "action_error", at_fault)
    return found


@pytest.mark.parametrize("guard", EVERY, ids=lambda guard: guard.name)
def test_without_it_a_test_fails(guard: Guard, monkeypatch: Patch) -> None:
    path, _, test = guard.test.partition("::")
    module = fresh(path)
    # Stories that go on for ever without it need not be heard for that long.
    monkeypatch.setattr(tales, "_LIMIT", 600)
    clumsy = stumbles(monkeypatch)
    guard.taken_away(monkeypatch)
    with pytest.raises((AssertionError, pytest.fail.Exception)):
        run(module, test, guard.arguments, monkeypatch)
    assert not clumsy


@pytest.fixture(autouse=True)
def _nothing_is_remembered() -> Iterator[None]:
    """Runs that were seen with a guard in place say nothing about those without it, nor they about others."""
    runs.forgotten()
    yield
    runs.forgotten()


def told(page: str, heading: str) -> dict[str, str]:
    """The guards of a table in the docs, each with its test."""
    text = (DOCS / page).read_text(encoding="utf-8").partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in text.splitlines() if line.startswith("| ")]
    return {row[1].strip(): row[3].strip().strip("`") for row in rows[1:]}


@pytest.mark.parametrize("heading", TABLES)
def test_every_guard_is_in_the_docs_with_its_test(heading: str) -> None:
    assert told("guards.md", heading) == {guard.name: guard.test for guard in TABLES[heading]}


def test_guards_of_the_manager_are_on_the_page_about_running_it() -> None:
    """Beside others, which are no function's: their tests are there at least."""
    found = {name: f"manager/{test}" for name, test in told("running.md", MANAGER).items()}
    assert {guard.name: guard.test for guard in manager.GUARDS}.items() <= found.items()
    for path, _, test in (each.partition("::") for each in found.values()):
        assert f"def {test}(" in (TESTS / path).read_text(encoding="utf-8"), test


def test_every_law_is_in_the_docs() -> None:
    text = (DOCS / "guards.md").read_text(encoding="utf-8")
    assert not [law.__name__ for law in INVARIANTS if f"`{law.__name__}`" not in text]
