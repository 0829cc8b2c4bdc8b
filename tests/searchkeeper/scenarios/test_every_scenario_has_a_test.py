"""Every scenario of docs/operator/scenarios.md has a test that names it."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from tests.support.commandline import ROOT

PAGE = ROOT / "docs/operator/scenarios.md"
SCENARIOS = [f"S{number:02}" for number in range(1, 34)]
_ROW = re.compile(r"^\| (?P<number>S\d\d) \|.*\| (?P<tests>[^|]+) \|$", re.MULTILINE)
_TEST = re.compile(r"`(?P<file>[\w/]+\.py)::(?P<name>test_\w+)`")


def docstrings() -> Iterator[tuple[str, str]]:
    """Yield every test as `folder/file.py::name`, with its docstring."""
    for path in sorted((ROOT / "tests").rglob("test_*.py")):
        text = path.read_text()
        if not re.search(r"\bS\d\d\b", text):
            continue
        file = path.relative_to(ROOT / "tests").as_posix()
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                yield f"{file}::{node.name}", ast.get_docstring(node) or ""


def docstring_tests() -> dict[str, set[str]]:
    """The tests whose docstring names each scenario."""
    tests: dict[str, set[str]] = {}
    for test, docstring in docstrings():
        for number in re.findall(r"\bS\d\d\b", docstring):
            tests.setdefault(number, set()).add(test)
    return tests


def page_tests() -> dict[str, set[str]]:
    """The tests that the page lists for each scenario."""
    return {
        row["number"]: {f"{test['file']}::{test['name']}" for test in _TEST.finditer(row["tests"])}
        for row in _ROW.finditer(PAGE.read_text())
    }


def test_every_scenario_is_named_in_a_test_docstring() -> None:
    assert sorted(docstring_tests()) == SCENARIOS


def test_page_lists_every_scenario_with_its_tests() -> None:
    tests, rows = docstring_tests(), page_tests()
    assert list(rows) == SCENARIOS
    for number, listed in rows.items():
        assert listed, f"{number} has no test on the page"
        assert listed <= tests[number], f"{number}: {sorted(listed - tests[number])} do not name it"
