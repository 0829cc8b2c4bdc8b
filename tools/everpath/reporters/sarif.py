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
from everpath.reporters.lint_report import (
    LintReport,
    LocatedFinding,
    Workspace,
    one_line_message,
    rule_description,
    rule_url,
)
from everpath.rules.findings import Finding
from everpath.rules.registry import Rule

_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"
_LEVELS: Final = {1: "note", 2: "warning", 3: "error"}
_FINGERPRINT: Final = "everpathFinding/v1"


def render(outcome: LintReport) -> Iterator[str]:
    """One run: the rules that spoke, then a line for each result."""
    ids = sorted({f.rule for f in outcome.report.findings})
    yield f'{{"version": "2.1.0",\n "$schema": "{_SCHEMA}",\n "runs": [{{\n'
    yield f' "tool": {{"driver": {_json(_driver(outcome, ids))}}},\n'
    yield f' "columnKind": "unicodeCodePoints",\n "invocations": {_json(_invocations(outcome))},\n'
    yield ' "results": ['
    separator = "\n  "
    for result in _results(outcome, ids):
        yield separator + _json(result)
        separator = ",\n  "
    yield "\n ]}]}\n"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


def _driver(outcome: LintReport, ids: list[str]) -> dict[str, Any]:
    return {
        "name": "everpath",
        "semanticVersion": everpath.__version__,
        "informationUri": everpath.__url__,
        "rules": [_rule(rule_id, outcome.rules.get(rule_id)) for rule_id in ids],
    }


def _rule(rule_id: str, rule: Rule | None) -> dict[str, Any]:
    described: dict[str, Any] = {"id": rule_id, "helpUri": rule_url(rule_id)}
    if rule is not None:
        law = "\n\n".join(rule_description(rule))
        described |= {
            "name": "".join(word.capitalize() for word in rule.name.split("-")),
            "shortDescription": {"text": rule.summary},
            "fullDescription": {"text": law},
            "help": {"text": law, "markdown": f"{law}\n\n[{rule.id} {rule.name}]({rule_url(rule.id)})"},
            "defaultConfiguration": {"level": _LEVELS[rule.severity]},
            "properties": {"tags": ["olm", rule.subject, *([rule.policy] if rule.policy else [])]},
        }
    return described


def _invocations(outcome: LintReport) -> list[dict[str, Any]]:
    return [{"executionSuccessful": not outcome.report.unreadable}]


def _results(outcome: LintReport, ids: list[str]) -> Iterator[dict[str, Any]]:
    index = {rule_id: number for number, rule_id in enumerate(ids)}
    seen: Counter[str] = Counter()
    for sighting in outcome.sightings(outcome.report.findings):
        finding = sighting.finding
        identity = _identity(sighting, outcome.workspace)
        seen[identity] += 1
        yield {
            "ruleId": finding.rule,
            "ruleIndex": index[finding.rule],
            "level": _LEVELS[finding.severity],
            "message": {"text": _message(finding)},
            "locations": [_location(sighting, outcome.workspace)],
            "partialFingerprints": {_FINGERPRINT: _digest(f"{identity}\0{seen[identity]}")},
        }


def _identity(sighting: LocatedFinding, workspace: Workspace) -> str:
    """What stays the same when lines move: a dashboard must not call an old finding new.

    A file of an image goes by the image's name, wherever it is kept.
    """
    finding = sighting.finding
    parts = (
        finding.rule,
        workspace.relative(sighting.location.file),
        finding.package,
        finding.channel,
        finding.entry,
    )
    return "\0".join(part or "" for part in parts)


def _digest(text: str) -> str:
    return sha256(text.encode("utf-8", "backslashreplace")).hexdigest()[:32]


def _message(finding: Finding) -> str:
    fix = f"\nFix: {finding.fix}" if finding.fix else ""
    because = "".join(f"\n- {reason}" for reason in finding.because)
    return f"{one_line_message(finding)}{because}{fix}"


def _location(sighting: LocatedFinding, workspace: Workspace) -> dict[str, Any]:
    finding = sighting.finding
    physical: dict[str, Any] = {"artifactLocation": _artifact(sighting.location.file, workspace)}
    if region := _region(sighting):
        physical["region"] = region
    kinds = (("package", finding.package), ("channel", finding.channel), ("entry", finding.entry))
    logical = [{"name": name, "kind": kind} for kind, name in kinds if name]
    return {"physicalLocation": physical, **({"logicalLocations": logical} if logical else {})}


def _artifact(file: str, workspace: Workspace) -> dict[str, str]:
    """Relative to the repository's root where the file is in it, else an absolute file: URI."""
    if file in ("", "-"):
        return {"uri": "stdin"}
    path = workspace.relative(file)
    if PurePosixPath(path).is_absolute():
        return {"uri": f"file://{_quoted(path)}"}
    return {"uri": _quoted(path), "uriBaseId": "%SRCROOT%"}


def _quoted(path: str) -> str:
    return quote(path, errors="surrogateescape")


def _region(sighting: LocatedFinding) -> dict[str, int]:
    location = sighting.location
    if not location.line:
        return {}
    found = {"startLine": location.line, "startColumn": location.column, "endColumn": location.end_column}
    return {key: number for key, number in found.items() if number}
