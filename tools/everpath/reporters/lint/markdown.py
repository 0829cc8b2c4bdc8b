"""A table for pull request comments and for the summary page of a CI job."""

from __future__ import annotations

__all__ = ["disable_autolinks", "escape_markdown", "render", "render_table"]

import re
from collections.abc import Iterator
from typing import Final

from everpath.reporters.formatting import one_line
from everpath.reporters.lint.lint_report import LintReport, one_line_message, position_text, rule_url
from everpath.wording import count

#: Characters with a meaning in Markdown: markup, borders of tables.
_SPECIAL: Final = re.compile(r"([\\`*_{}\[\]()#+!|~])")
_ENTITIES: Final = {"&": "&amp;", "<": "&lt;", ">": "&gt;"}
#: What GitHub turns into links or mentions: addresses, @name, #1 and GH-1. It does so after it has removed
#: escapes, so only a comment between the characters prevents it. A comment is not copied with the text.
_LINKED: Final = re.compile(r"(:(?=//)|www(?=\.)|@|&#64;|(?:(?<!&)#|&#35;)(?=\d)|gh-(?=\d))", re.IGNORECASE)


def render(report: LintReport) -> Iterator[str]:
    """Yield a heading, the summary and all findings as a table."""
    return render_table(report, len(report.report.findings))


def render_table(report: LintReport, most: int) -> Iterator[str]:
    """Yield the same with at most this many rows: GitHub rejects a summary of more than 1 MiB."""
    shown = report.shown_findings
    yield f"### everpath {report.command}\n\n{report.summary}\n"
    if shown:
        yield "\n| | rule | where | what | fix |\n|---|---|---|---|---|\n"
    for each in shown[:most]:
        finding = each.finding
        where = [part for part in (each.subject, position_text(finding)) if part]
        cells = (
            finding.severity.word,
            f"[{finding.rule} {finding.name}]({rule_url(finding.rule)})",
            "<br>".join(map(escape_markdown, where)),
            escape_markdown(one_line_message(finding)),
            escape_markdown(finding.fix or ""),
        )
        yield f"| {' | '.join(cells)} |\n"
    if len(shown) > most:
        yield f"\nThe table ends here; {count(len(shown) - most, 'more finding')} not shown.\n"


def escape_markdown(text: str) -> str:
    """Return Markdown that is displayed as the text."""
    plain = _SPECIAL.sub(r"\\\1", one_line(text))
    return disable_autolinks("".join(_ENTITIES.get(c, c) for c in plain))


def disable_autolinks(markdown: str) -> str:
    """Return Markdown in which GitHub creates no links and mentions of its own."""
    return _LINKED.sub(r"\1<!-- -->", markdown)
