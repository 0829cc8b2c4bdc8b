"""A table for pull request comments and for the summary page of a CI job."""

from __future__ import annotations

__all__ = ["escaped", "render", "table", "unlinked"]

import re
from collections.abc import Iterator
from typing import Final

from everpath.reporters.outcome import Outcome, Sighting, page, statement
from everpath.reporters.plain import count, one_line

# Whatever Markdown would read as more than text: markup, table borders, HTML.
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]()#+!|~])")
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
# GitHub turns plain words into links and calls on people: addresses, @mentions, #1 and GH-1. It does so after
# escapes are undone, so that only something between the characters helps. A comment is not copied with them.
_LINKED: Final = re.compile(r"(:(?=//)|www(?=\.)|@|&#64;|(?:(?<!&)#|&#35;)(?=\d)|gh-(?=\d))", re.IGNORECASE)


def render(outcome: Outcome) -> Iterator[str]:
    """A heading, the summary and all findings as a table."""
    return table(outcome, len(outcome.report.findings))


def table(outcome: Outcome, most: int) -> Iterator[str]:
    """The same with at most that many rows: GitHub refuses a summary of more than a mebibyte."""
    shown = outcome.shown
    yield f"### everpath {outcome.command}\n\n{outcome.summary}\n"
    if shown:
        yield "\n| | rule | where | what | fix |\n|---|---|---|---|---|\n"
        yield from map(_row, outcome.sights(shown[:most]))
    if len(shown) > most:
        yield f"\nThe table ends here; {count(len(shown) - most, 'more finding')} not shown.\n"


def _row(sighting: Sighting) -> str:
    finding = sighting.finding
    where = [part for part in (sighting.subject, sighting.where) if part]
    cells = (
        finding.severity.word,
        f"[{finding.rule} {finding.name}]({page(finding.rule)})",
        "<br>".join(map(escaped, where)),
        escaped(statement(finding)),
        escaped(finding.fix or ""),
    )
    return f"| {' | '.join(cells)} |\n"


def escaped(text: str) -> str:
    """The text as Markdown that shows just it."""
    plain = _SPECIAL.sub(r"\\\1", one_line(text))
    return unlinked("".join(_ENTITIES.get(c, c) for c in plain))


def unlinked(markdown: str) -> str:
    """The same Markdown, in which GitHub finds nothing to link."""
    return _LINKED.sub(r"\1<!-- -->", markdown)
