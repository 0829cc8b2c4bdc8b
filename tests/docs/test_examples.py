"""Every example has findings before its fix, and none after."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from console import ROOT
from everpath.cli.entry_point import run

EXAMPLES = ROOT / "examples"
BEFORE = sorted(EXAMPLES.glob("*/before"))
CATALOGS = [*sorted(EXAMPLES.glob("0[1-4]*/before")), *sorted(EXAMPLES.glob("0[1-4]*/after"))]


def report(path: Path, tmp_path: Path, *options: str) -> tuple[int, list[str]]:
    file = tmp_path / "report.json"
    code = run(["validate-graph", str(path), "-o", "json", "--output-file", str(file), "--quiet", *options])
    findings = json.loads(file.read_text(encoding="utf-8"))["findings"]
    return code, [finding["rule"] for finding in findings if finding["severity"] != "note"]


@pytest.fixture(autouse=True)
def no_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVERPATH_CACHE", "off")


def test_examples_are_numbered_without_gaps() -> None:
    numbers = [int(folder.name[:2]) for folder in sorted(EXAMPLES.iterdir()) if folder.is_dir()]
    assert numbers == list(range(1, len(numbers) + 1))


@pytest.mark.parametrize("path", BEFORE, ids=lambda p: p.parent.name)
def test_findings_are_reported_before_the_fix(path: Path, tmp_path: Path) -> None:
    code, rules = report(path, tmp_path, "--fail-on", "warning")
    assert code == 1
    assert rules


@pytest.mark.parametrize("path", BEFORE, ids=lambda p: p.parent.name)
def test_nothing_is_reported_after_the_fix(path: Path, tmp_path: Path) -> None:
    assert report(path.parent / "after", tmp_path) == (0, [])


def test_waiver_accepts_exactly_one_rule(tmp_path: Path) -> None:
    folder = EXAMPLES / "06-waivers"
    _, without = report(folder / "catalog", tmp_path, "--no-config")
    _, excused = report(folder / "catalog", tmp_path, "--config", str(folder / "everpath.yaml"))
    assert set(without) - set(excused) == {"EP207"}


@pytest.mark.conformance
@pytest.mark.parametrize("path", CATALOGS, ids=lambda p: f"{p.parent.name}/{p.name}")
def test_opm_rejects_only_the_range_that_does_not_parse(path: Path, opm: str) -> None:
    done = subprocess.run([opm, "validate", path], capture_output=True, text=True, check=False, timeout=60)
    assert bool(done.returncode) == (path == EXAMPLES / "04-skip-ranges" / "before"), done.stderr
