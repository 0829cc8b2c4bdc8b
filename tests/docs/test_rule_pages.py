"""Every rule has a page, and its examples and statements are correct."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from console import ROOT
from everpath.rules.registry import Rule, all_rules
from tests.docs.example_catalogs import lay_out, lint_example
from tests.docs.rule_page import Example, read_page

RULES = ROOT / "docs" / "rules"
every_rule = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.id)


@pytest.fixture(autouse=True)
def plain_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Run without cache and GitHub Actions, in a folder with only the example."""
    monkeypatch.setenv("EVERPATH_CACHE", "off")
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")


def found_in(example: Example, tmp_path: Path, rule: Rule) -> set[str]:
    lay_out(example, tmp_path / "here")
    return {finding["rule"] for finding in lint_example(tmp_path / "report.json", rule)["findings"]}


@every_rule
def test_page_has_the_rule_and_its_effects(rule: Rule) -> None:
    page = read_page(RULES / f"{rule.id}.md")
    assert (page.rule, page.name) == (rule.id, rule.name)
    assert page.facts["Severity"] == rule.severity.word
    assert {"OLM v0", "OLM v1", "Mirror"} <= page.facts.keys()


@every_rule
def test_the_bad_example_is_reported(rule: Rule, tmp_path: Path) -> None:
    assert rule.id in found_in(read_page(RULES / f"{rule.id}.md").bad, tmp_path, rule)


@every_rule
def test_every_finding_of_the_bad_example_has_a_fix(rule: Rule, tmp_path: Path) -> None:
    lay_out(read_page(RULES / f"{rule.id}.md").bad, tmp_path / "here")
    found = lint_example(tmp_path / "report.json", rule)["findings"]
    assert [finding["rule"] for finding in found if not finding["fix"]] == []


@every_rule
def test_the_good_example_is_not_reported(rule: Rule, tmp_path: Path) -> None:
    found = found_in(read_page(RULES / f"{rule.id}.md").good, tmp_path, rule)
    assert rule.id not in found


@every_rule
def test_the_waiver_is_for_the_rule_and_has_a_reason(rule: Rule) -> None:
    waiver = read_page(RULES / f"{rule.id}.md").waiver
    if rule.subject == "waiver":
        assert waiver is None
    else:
        assert waiver is not None
        assert waiver["rule"] in (rule.id, rule.name)
        assert waiver["reason"]


@pytest.mark.conformance
@every_rule
def test_opm_accepts_or_rejects_as_the_page_says(rule: Rule, tmp_path: Path, opm: str) -> None:
    page = read_page(RULES / f"{rule.id}.md")
    if page.opinion.word == "not asked":
        pytest.skip("opm reads no input of this kind")
    lay_out(page.bad, tmp_path / "here")
    catalog = tmp_path / "here" / "catalog"
    done = subprocess.run([opm, "validate", catalog], capture_output=True, text=True, check=False, timeout=60)
    assert (page.opinion.word, page.opinion.matches(done.stderr)) == (
        "rejects" if done.returncode else "accepts",
        True,
    ), done.stderr
