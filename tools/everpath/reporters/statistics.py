"""`--statistics`: how often each rule spoke, most often first."""

from __future__ import annotations

__all__ = ["render"]

import json
from collections import Counter
from collections.abc import Iterable, Iterator

from everpath.reporters.formatting import columns
from everpath.reporters.json_report import VERSION, summary
from everpath.reporters.lint_report import LintReport, rule_url
from everpath.rules.findings import Finding

_Row = tuple[int, str, str, str]


def render(outcome: LintReport, name: str) -> Iterator[str]:
    """The tally in one of TALLY_FORMATS; only JSON counts what --show hides."""
    if name == "json":
        return _document(outcome)
    rows = _rows(shown.finding for shown in outcome.shown)
    return _markdown(outcome, rows) if name == "markdown" else _text(outcome, rows)


def _rows(findings: Iterable[Finding]) -> list[_Row]:
    counts = Counter((f.rule, f.name, f.severity) for f in findings)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return [(number, rule, severity.word, name) for (rule, name, severity), number in ranked]


def _text(outcome: LintReport, rows: list[_Row]) -> Iterator[str]:
    digits = max((len(str(row[0])) for row in rows), default=0)
    yield from columns([(str(row[0]).rjust(digits), *row[1:]) for row in rows])
    if not outcome.brief:
        yield f"{outcome.summary}\n"


def _markdown(outcome: LintReport, rows: list[_Row]) -> Iterator[str]:
    yield f"### everpath {outcome.command}\n\n{outcome.summary}\n"
    if rows:
        yield "\n| findings | severity | rule |\n|--:|---|---|\n"
    for number, rule, severity, name in rows:
        yield f"| {number} | {severity} | [{rule} {name}]({rule_url(rule)}) |\n"


def _document(outcome: LintReport) -> Iterator[str]:
    keys = ("count", "rule", "severity", "name")
    rows = [dict(zip(keys, row, strict=True)) for row in _rows(outcome.report.findings)]
    yield json.dumps({"version": VERSION, "summary": summary(outcome), "statistics": rows}, indent=1) + "\n"
