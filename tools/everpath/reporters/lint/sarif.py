"""SARIF 2.1.0, for code scanning dashboards."""

from __future__ import annotations

__all__ = ["render"]

import json
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import PurePosixPath
from typing import Any, Final
from urllib.parse import quote

import everpath
from everpath.reporters.lint.lint_report import (
    LintReport,
    Workspace,
    one_line_message,
    rule_url,
)
from everpath.rules.findings import Finding
from everpath.rules.registry import Rule

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {1: "note", 2: "warning", 3: "error"}
_FINGERPRINT: Final = "everpathFinding/v1"


def render(report: LintReport) -> Iterator[str]:
    """Yield one run: the rules of all findings, then a line for each result."""
    ids = sorted({f.rule for f in report.report.findings})
    driver = {
        "name": "everpath",
        "semanticVersion": everpath.__version__,
        "informationUri": everpath.__url__,
        "rules": [_rule(rule_id, report.rules.get(rule_id)) for rule_id in ids],
    }
    invocations = [{"executionSuccessful": not report.report.unreadable}]
    yield f'{{"version": "2.1.0",\n "$schema": "{_SCHEMA}",\n "runs": [{{\n'
    yield f' "tool": {{"driver": {_json(driver)}}},\n'
    yield f' "columnKind": "unicodeCodePoints",\n "invocations": {_json(invocations)},\n'
    yield ' "results": ['
    separator = "\n  "
    for result in _results(report, ids):
        yield separator + _json(result)
        separator = ",\n  "
    yield "\n ]}]}\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _rule(rule_id: str, rule: Rule | None) -> dict[str, Any]:
    described: dict[str, Any] = {"id": rule_id, "helpUri": rule_url(rule_id)}
    if rule is not None:
        text = "\n\n".join(rule.description)
        described |= {
            "name": "".join(word.capitalize() for word in rule.name.split("-")),
            "shortDescription": {"text": rule.summary},
            "fullDescription": {"text": text},
            "help": {"text": text, "markdown": f"{text}\n\n[{rule.id} {rule.name}]({rule_url(rule.id)})"},
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
            "properties": {"tags": ["olm", rule.subject, *([rule.resolver] if rule.resolver else [])]},
        }
    return described


def _results(report: LintReport, ids: list[str]) -> Iterator[dict[str, Any]]:
    index = {rule_id: number for number, rule_id in enumerate(ids)}
    seen: Counter[str] = Counter()
    for finding in report.report.findings:
        identity = _identity(finding, report.workspace)
        seen[identity] += 1
        fingerprint = f"{identity}\0{seen[identity]}".encode("utf-8", "backslashreplace")
        fix = f"\nFix: {finding.fix}" if finding.fix else ""
        because = "".join(f"\n- {reason}" for reason in finding.because)
        yield {
            "ruleId": finding.rule,
            "ruleIndex": index[finding.rule],
            "level": _LEVELS[finding.severity],
            "message": {"text": f"{one_line_message(finding)}{because}{fix}"},
            "locations": [_location(finding, report.workspace)],
            "partialFingerprints": {_FINGERPRINT: sha256(fingerprint).hexdigest()[:32]},
        }


def _identity(finding: Finding, workspace: Workspace) -> str:
    """Return what does not change when lines move, so that a dashboard recognizes an old finding.

    The file of an image has the name of the image, not that of the folder it is unpacked to.
    """
    file = workspace.relative(finding.file)
    parts = (finding.rule, file, finding.package, finding.channel, finding.entry)
    return "\0".join(part or "" for part in parts)


def _location(finding: Finding, workspace: Workspace) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": _artifact(finding.file, workspace)}
    position = finding.position
    if position is not None and position.line:
        region = {
            "startLine": position.line,
            "startColumn": position.column,
            "endColumn": position.end_column,
        }
        physical["region"] = {key: number for key, number in region.items() if number}
    kinds = (("package", finding.package), ("channel", finding.channel), ("entry", finding.entry))
    logical = [{"name": name, "kind": kind} for kind, name in kinds if name]
    return {"physicalLocation": physical, **({"logicalLocations": logical} if logical else {})}


def _artifact(file: str, workspace: Workspace) -> dict[str, str]:
    """Return a URI relative to the root of the repository; an absolute one for a file outside."""
    if file in ("", "-"):
        return {"uri": "stdin"}
    path = workspace.relative(file)
    uri = quote(path, errors="surrogateescape")
    if PurePosixPath(path).is_absolute():
        return {"uri": f"file://{uri}"}
    return {"uri": uri, "uriBaseId": "%SRCROOT%"}
