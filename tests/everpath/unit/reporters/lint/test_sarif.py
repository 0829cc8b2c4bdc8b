"""SARIF 2.1.0, as far as dashboards depend on it."""

from __future__ import annotations

import json
from typing import Any

from everpath.model import Place
from everpath.reporters import reporter
from everpath.reporters.lint.lint_report import Workspace
from everpath.rules.findings import Severity
from everpath.rules.registry import Rule
from tests.support.everpath.reports import finding, outcome, rendered

RULE = Rule(
    "EP203",
    "fork",
    Severity.ERROR,
    "channel",
    "No two replace one.\n\nWho is\nhurt. Cost: little.",
    check=lambda _: iter(()),
)


def run(*findings: Any, **options: Any) -> dict[str, Any]:
    document = json.loads(rendered("sarif", *findings, **options))
    assert document["version"] == "2.1.0"
    assert document["$schema"].endswith("sarif-2.1.0.json")
    [only] = document["runs"]
    assert isinstance(only, dict)
    return only


def test_a_result_names_its_rule_level_message_and_region() -> None:
    [result] = run(finding())["results"]
    assert result["ruleId"] == "EP203"
    assert result["ruleIndex"] == 0
    assert result["level"] == "error"
    assert result["message"]["text"] == (
        "a: b and c both replace it\n- c replaces a\n- b replaces a\nFix: add b to the skips of c"
    )
    assert result["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "catalog/p.yaml", "uriBaseId": "%SRCROOT%"},
                "region": {"startLine": 5, "startColumn": 5, "endColumn": 12},
            },
            "logicalLocations": [
                {"name": "p", "kind": "package"},
                {"name": "stable", "kind": "channel"},
                {"name": "a", "kind": "entry"},
            ],
        }
    ]


def test_each_rule_that_spoke_comes_with_help() -> None:
    driver = run(finding(), rules={"EP203": RULE})["tool"]["driver"]
    assert driver["name"] == "everpath"
    [rule] = driver["rules"]
    assert rule["id"] == "EP203"
    assert rule["name"] == "Fork"
    assert rule["shortDescription"]["text"] == "No two replace one."
    assert rule["help"]["text"] == "No two replace one.\n\nWho is hurt."
    assert rule["helpUri"].endswith("/docs/rules/EP203.md")
    assert rule["defaultConfiguration"]["level"] == "error"


def test_rule_indices_point_at_their_rules() -> None:
    first = run(finding(rule="EP900"), finding(rule="EP100"), finding(rule="EP900"))
    ids = [rule["id"] for rule in first["tool"]["driver"]["rules"]]
    assert ids == ["EP100", "EP900"]
    assert [ids[r["ruleIndex"]] for r in first["results"]] == ["EP900", "EP100", "EP900"]


def test_a_finding_about_nothing_in_particular_has_a_file_alone() -> None:
    [result] = run(finding(package=None, channel=None, entry=None, place=Place("p.yaml")))["results"]
    assert result["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "p.yaml", "uriBaseId": "%SRCROOT%"}}}
    ]


def test_a_rule_that_hurts_one_generation_of_olm_is_tagged_with_it() -> None:
    def tags(rule: Rule) -> list[str]:
        [described] = run(finding(), rules={"EP203": rule})["tool"]["driver"]["rules"]
        found: list[str] = described["properties"]["tags"]
        return found

    assert tags(RULE) == ["olm", "channel"]
    assert tags(RULE._replace(resolver="v0")) == ["olm", "channel", "v0"]


def fingerprints(*findings: Any) -> list[str]:
    return [r["partialFingerprints"]["everpathFinding/v1"] for r in run(*findings)["results"]]


def test_a_fingerprint_survives_moved_lines_and_tells_findings_apart() -> None:
    here, there = finding(), finding(place=Place("catalog/p.yaml", pointer=(6, 1, 2)))
    assert fingerprints(here) == fingerprints(there)
    other = finding(entry="b")
    assert len(set(fingerprints(here, there, other))) == 3


def test_paths_count_from_the_root_of_the_repository() -> None:
    workspace = Workspace("/repo/sub", "/repo")

    def uri(file: str) -> dict[str, str]:
        [result] = run(finding(place=Place(file)), workspace=workspace)["results"]
        located: dict[str, str] = result["locations"][0]["physicalLocation"]["artifactLocation"]
        return located

    assert uri("p.yaml") == {"uri": "sub/p.yaml", "uriBaseId": "%SRCROOT%"}
    assert uri("../a b%.yaml") == {"uri": "a%20b%25.yaml", "uriBaseId": "%SRCROOT%"}
    assert uri("/else/p.yaml") == {"uri": "file:///else/p.yaml"}
    assert uri("-") == {"uri": "stdin"}


def test_input_that_cannot_be_judged_is_an_unsuccessful_run() -> None:
    assert run(finding())["invocations"] == [{"executionSuccessful": True}]
    assert run(finding(unreadable=True))["invocations"] == [{"executionSuccessful": False}]


def test_a_clean_run_has_an_empty_list_of_results() -> None:
    assert run()["results"] == []


def test_every_finding_is_in_it_whatever_is_shown() -> None:
    note = finding(severity=Severity.NOTE)
    [result] = run(note, show=Severity.ERROR)["results"]
    assert result["level"] == "note"


def test_results_are_written_one_by_one() -> None:
    chunks = list(reporter("sarif")(outcome(*[finding()] * 50)))
    assert len(chunks) > 50
