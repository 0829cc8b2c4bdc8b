"""Tables for pull requests."""

from __future__ import annotations

import pytest

from everpath.model import Place
from everpath.reporters.lint.markdown import escape_markdown, render_table
from tests.support.everpath.reports import finding, outcome, rendered


def test_a_finding_is_a_row() -> None:
    *_, row = rendered("markdown", finding()).splitlines()
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[0] == "error"
    assert cells[1].startswith("[EP203 fork](https://")
    assert cells[2:] == [
        "p/stable/a<br>catalog/p.yaml:5:5",
        "a: b and c both replace it",
        "add b to the skips of c",
    ]


def test_what_is_unknown_is_left_out() -> None:
    bare = finding(package=None, channel=None, entry=None, place=Place(""), fix=None)
    assert rendered("markdown", bare).endswith("|  | b and c both replace it |  |\n")


def test_a_clean_report_has_no_table() -> None:
    assert rendered("markdown") == (
        "### everpath validate-graph\n\nNothing wrong in 1 package, 2 channels and 3 entries.\n"
    )


def test_names_cannot_write_markdown() -> None:
    report = rendered("markdown", finding(message="<script> | `x` @team ![i](u) *b*\n# h"))
    row = report.splitlines()[-1]
    assert "&lt;script&gt; \\| \\`x\\` @<!-- -->team \\!\\[i\\]\\(u\\) \\*b\\* \\# h" in row


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("https://evil.example/x", "https:<!-- -->//evil.example/x"),
        ("see WWW.evil.com", "see WWW<!-- -->.evil.com"),
        ("a/b#1", r"a/b\#<!-- -->1"),
        ("GH-1", "GH-<!-- -->1"),
        ("a@b.com", "a@<!-- -->b.com"),
        ("note: the # of hops", r"note: the \# of hops"),
    ],
)
def test_github_finds_nothing_to_link(text: str, shown: str) -> None:
    assert escape_markdown(text) == shown


def test_a_table_can_be_cut() -> None:
    text = "".join(render_table(outcome(*[finding()] * 12), 10))
    assert text.count("EP203 fork") == 10
    assert text.endswith("\nThe table ends here; 2 more findings not shown.\n")
