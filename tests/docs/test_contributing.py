"""The worked examples of CONTRIBUTING.md are the code of the repository, and their tests pass."""

from __future__ import annotations

import inspect
import re
import shlex
import subprocess
from pathlib import Path
from typing import Any

import pytest

from console import ROOT
from everpath.reporters import lint
from everpath.rules.graph import edges
from searchkeeper.desired import names
from searchkeeper.reconcilers import migrations, versions

GUIDE = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
RULE, RULE_TESTS, REPORTER, REPORTER_TEST, ACTION, ACTION_TEST, NAME, MIGRATION, MIGRATION_TEST = re.findall(
    r"^```python\n(.*?)^```$", GUIDE, flags=re.MULTILINE | re.DOTALL
)
MIGRATION_TESTS = (ROOT / "tests/searchkeeper/unit/reconcilers/test_migrations.py").read_text(
    encoding="utf-8"
)


def test_shown_rule_is_the_rule_of_the_repository() -> None:
    assert inspect.getsource(edges.replaces_and_skips) == RULE


def test_shown_action_is_the_action_of_the_repository() -> None:
    assert inspect.getsource(migrations.both_labels_set.run) == ACTION
    assert ACTION_TEST in MIGRATION_TESTS


def test_shown_configuration_version_is_the_one_of_the_repository() -> None:
    assert inspect.getsource(names.discovery_service) == NAME
    assert inspect.getsource(migrations.old_configuration_deleted.run) == MIGRATION
    assert MIGRATION_TEST in MIGRATION_TESTS
    [line] = re.findall(r"^```text\n(2: .*)\n```$", GUIDE, flags=re.MULTILINE)
    assert line in inspect.getsource(versions)


def test_shown_tests_are_the_tests_of_the_rule() -> None:
    assert RULE_TESTS in (ROOT / "tests/everpath/unit/rules/graph/test_edges.py").read_text(encoding="utf-8")
    assert RULE_TESTS.count("def test_") == 2


def test_shown_reporter_passes_its_shown_test(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "csv_report.py").write_text(REPORTER, encoding="utf-8")
    monkeypatch.setattr("everpath.reporters.lint.__path__", [*lint.__path__, str(tmp_path)])
    monkeypatch.setattr("everpath.reporters._MODULES", {"csv": "csv_report"})
    scope: dict[str, Any] = {}
    exec(REPORTER_TEST, scope)
    scope["test_each_finding_is_a_row"]()


def test_shown_searches_find_the_shown_functions() -> None:
    section = GUIDE.partition("## Find things\n")[2].partition("\n## ")[0]
    rows = [line.split(" | ") for line in section.splitlines() if "`grep " in line]
    assert len(rows) == 8
    for _, search, answer in rows:
        name, file = re.findall(r"`([^`]+)`", answer)
        found = subprocess.run(
            [*shlex.split(search.strip("`")), "--include=*.py"],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        ).stdout.splitlines()
        assert any(line.startswith(f"tools/everpath/{file}:") for line in found), search
        assert len(found) < 15, search
        assert re.search(rf"(def|class) {name}\b", (ROOT / "tools/everpath" / file).read_text()), name


def test_shown_folders_of_the_operator_exist() -> None:
    section = GUIDE.partition("## Where the operator and its tests are\n")[2].partition("\n## ")[0]
    code, tests = section.strip().split("\n\n")[:2]
    for row in code.splitlines()[2:]:
        parts, _, folders = row.strip("| ").split(" | ")
        for name in re.findall(r"`([\w/.]+)`", parts):
            package = ROOT / "operator/searchkeeper" / name
            assert package.is_dir() or package.with_suffix(".py").is_file(), name
        for name in re.findall(r"`([\w/.]+)`", folders):
            assert (ROOT / "tests/searchkeeper" / name).exists(), name
    for row in tests.splitlines()[2:]:
        for name in re.findall(r"`([\w/.]+)`", row.split(" | ")[0]):
            assert (ROOT / "tests" / name).exists(), name
