"""Counts by rule."""

from __future__ import annotations

import json

from everpath.reporters.lint import statistics
from everpath.rules.findings import Severity
from tests.support.everpath.reports import finding, outcome
from tests.support.schemas import conforms

FINDINGS = (
    *[finding(rule="EP101", name="seldom")] * 1,
    *[finding(rule="EP301", name="often", severity=Severity.WARNING)] * 10,
    *[finding(rule="EP209", name="quiet", severity=Severity.NOTE)] * 5,
)


def test_rules_are_counted_most_often_first() -> None:
    assert "".join(statistics.render(outcome(*FINDINGS, brief=True), "text")) == (
        "10  EP301  warning  often\n 1  EP101  error    seldom\n"
    )


def test_json_counts_everything_and_keeps_its_schema() -> None:
    document = json.loads("".join(statistics.render(outcome(*FINDINGS), "json")))
    conforms("statistics", document)
    assert [(row["rule"], row["count"]) for row in document["statistics"]] == [
        ("EP301", 10),
        ("EP209", 5),
        ("EP101", 1),
    ]


def test_markdown_is_a_table_with_links() -> None:
    text = "".join(statistics.render(outcome(*FINDINGS), "markdown"))
    assert "| 10 | warning | [EP301 often](https://" in text


def test_nothing_found_is_no_row() -> None:
    assert "|" not in "".join(statistics.render(outcome(), "markdown"))
    assert (
        "".join(statistics.render(outcome(), "text"))
        == "Nothing wrong in 1 package, 2 channels and 3 entries.\n"
    )
