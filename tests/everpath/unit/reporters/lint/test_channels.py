"""A finding in several channels is shown once to people, and for each channel to programs."""

from __future__ import annotations

import json

import pytest

from everpath.rules.findings import Severity
from tests.support.everpath.reports import finding, rendered

_EACH = [finding(channel=name) for name in ("alpha", "beta", "stable")]


def test_a_heading_names_all_channels_of_a_finding() -> None:
    text = rendered("text", *_EACH)
    assert text.startswith("package p, channels alpha, beta and stable: 1 error\n\nerror[EP203 fork]: a: b")
    assert text.count("error[") == 1
    assert "\n1 error in 1 package" in text


def test_a_finding_in_more_channels_has_its_own_heading() -> None:
    text = rendered("text", *_EACH, finding(channel="beta", message="something else"))
    assert [line for line in text.splitlines() if line.startswith("package")] == [
        "package p, channels alpha, beta and stable: 1 error",
        "package p, channel beta: 1 error",
    ]


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("concise", "EP203 error fork: p/alpha,beta,stable/a: b and c both replace it\n"),
        ("markdown", "| p/alpha,beta,stable/a<br>"),
        ("github", "::a: b and c both replace it (in the channels alpha, beta and stable)%0A"),
    ],
)
def test_one_line_names_all_channels(name: str, expected: str) -> None:
    text = rendered(name, *_EACH)
    assert expected in text
    assert text.count("both replace it") == 1


@pytest.mark.parametrize("name", ["json", "sarif", "junit"])
def test_formats_for_programs_have_each_channel(name: str) -> None:
    text = rendered(name, *_EACH)
    assert all(channel in text for channel in ("alpha", "beta", "stable"))


def test_the_summary_of_json_counts_each_channel() -> None:
    assert json.loads(rendered("json", *_EACH))["summary"]["errors"] == 3


@pytest.mark.parametrize(
    "changes",
    [{"message": "m"}, {"entry": "z"}, {"package": "q"}, {"severity": Severity.WARNING}, {"fix": None}],
)
def test_what_differs_by_more_than_the_channel_is_two_findings(changes: dict[str, object]) -> None:
    text = rendered("concise", finding(channel="alpha"), finding(channel="beta", **changes), brief=True)
    assert len(text.splitlines()) == 2


def test_what_is_said_twice_of_one_channel_is_two_findings() -> None:
    assert len(rendered("concise", finding(), finding(), brief=True).splitlines()) == 2
