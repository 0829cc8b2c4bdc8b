"""A table for pull request comments and for the summary page of a CI job."""

from __future__ import annotations

__all__ = ["disable_autolinks", "escape_markdown", "render", "render_table"]

import re
from collections.abc import Iterator
from typing import Final

from everpath.reporters.formatting import count, one_line
from everpath.reporters.lint_report import LintReport, LocatedFinding, one_line_message, rule_url

# Whatever Markdown would read as more than text: markup, table borders, HTML.
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]()#+!|~])")
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# GitHub turns plain words into links and calls on people: addresses, @mentions, #1 and GH-1. It does so after
# escapes are undone, so that only something between the characters helps. A comment is not copied with them.
_LINKED: Final = re.compile(r"(:(?=//)|www(?=\.)|@|&#64;|(?:(?<!&)#|&#35;)(?=\d)|gh-(?=\d))", re.IGNORECASE)


def render(outcome: LintReport) -> Iterator[str]:
    """A heading, the summary and all findings as a table."""
    return render_table(outcome, len(outcome.report.findings))


def render_table(outcome: LintReport, most: int) -> Iterator[str]:
    """The same with at most that many rows: GitHub refuses a summary of more than a mebibyte."""
    shown = outcome.shown
    yield f"### everpath {outcome.command}\n\n{outcome.summary}\n"
    if shown:
        yield "\n| | rule | where | what | fix |\n|---|---|---|---|---|\n"
        yield from map(_row, outcome.sights(shown[:most]))
    if len(shown) > most:
        yield f"\nThe table ends here; {count(len(shown) - most, 'more finding')} not shown.\n"


def _row(sighting: LocatedFinding) -> str:
    finding = sighting.finding
    where = [part for part in (sighting.subject, sighting.where) if part]
    cells = (
        finding.severity.word,
        f"[{finding.rule} {finding.name}]({rule_url(finding.rule)})",
        "<br>".join(map(escape_markdown, where)),
        escape_markdown(one_line_message(finding)),
        escape_markdown(finding.fix or ""),
    )
    return f"| {' | '.join(cells)} |\n"


def escape_markdown(text: str) -> str:
    """The text as Markdown that shows just it."""
    plain = _SPECIAL.sub(r"\\\1", one_line(text))
    return disable_autolinks("".join(_ENTITIES.get(c, c) for c in plain))


def disable_autolinks(markdown: str) -> str:
    """The same Markdown, in which GitHub finds nothing to link."""
    return _LINKED.sub(r"\1<!-- -->", markdown)
