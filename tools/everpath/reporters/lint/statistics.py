"""`--statistics`: the number of findings of each rule, the most frequent first."""

from __future__ import annotations

__all__ = ["render"]

import json
from collections import Counter
from collections.abc import Iterator

from everpath.reporters.formatting import columns
from everpath.reporters.lint.json_report import VERSION, summary
from everpath.reporters.lint.lint_report import LintReport, rule_url


def render(report: LintReport, name: str) -> Iterator[str]:
    """Yield the statistics in one of STATISTICS_FORMATS; only JSON counts findings that --show hides."""
    findings = (
        report.report.findings if name == "json" else [shown.finding for shown in report.shown_findings]
    )
    counts = Counter((f.rule, f.name, f.severity) for f in findings)
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    rows = [(number, rule, severity.word, rule_name) for (rule, rule_name, severity), number in ranked]
    if name == "json":
        keys = ("count", "rule", "severity", "name")
        objects = [dict(zip(keys, row, strict=True)) for row in rows]
        document = {"version": VERSION, "summary": summary(report), "statistics": objects}
        yield f"{json.dumps(document, indent=1)}\n"
    elif name == "markdown":
        yield f"### everpath {report.command}\n\n{report.summary}\n"
        if rows:
            yield "\n| findings | severity | rule |\n|--:|---|---|\n"
        for number, rule, severity, rule_name in rows:
            yield f"| {number} | {severity} | [{rule} {rule_name}]({rule_url(rule)}) |\n"
    else:
        digits = max((len(str(row[0])) for row in rows), default=0)
        yield from columns([(str(row[0]).rjust(digits), *row[1:]) for row in rows])
        if not report.brief:
            yield f"{report.summary}\n"
