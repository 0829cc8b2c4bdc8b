"""Annotations for GitHub Actions."""

from __future__ import annotations

import pytest

from everpath.model import Place
from everpath.reporters.lint.lint_report import Workspace
from everpath.rules.findings import Severity
from tests.support.everpath.reports import finding, rendered


def test_a_finding_is_a_workflow_command() -> None:
    assert rendered("github", finding(), brief=True) == (
        "::error file=catalog/p.yaml,line=5,col=5,title=EP203 fork::a: b and c both replace it"
        "%0Abecause: c replaces a%0Abecause: b replaces a%0Afix: add b to the skips of c\n"
    )


@pytest.mark.parametrize(
    ("severity", "command"),
    [(Severity.ERROR, "::error "), (Severity.WARNING, "::warning "), (Severity.NOTE, "::notice ")],
)
def test_severities_are_githubs(severity: Severity, command: str) -> None:
    assert rendered("github", finding(severity=severity), show=Severity.NOTE).startswith(command)


def test_what_separates_properties_is_escaped_in_them() -> None:
    line = rendered("github", finding(place=Place("a:b,c%.yaml")), brief=True)
    assert line.startswith("::error file=a%3Ab%2Cc%25.yaml,title=")


def test_a_message_cannot_start_a_command_of_its_own() -> None:
    report = rendered("github", finding(message="100%\n::stop-commands::x\r\n", evidence=("\n::error::y",)))
    assert [line for line in report.splitlines() if line.startswith("::")] == [report.splitlines()[0]]
    assert "100%25 ::stop-commands::x" in report


def test_paths_count_from_the_checkout() -> None:
    line = rendered("github", finding(place=Place("p.yaml")), workspace=Workspace("/repo/sub", "/repo"))
    assert line.startswith("::error file=sub/p.yaml,title=")


def test_standard_input_has_no_file() -> None:
    assert rendered("github", finding(place=Place("-"))).startswith("::error title=EP203 fork::")
