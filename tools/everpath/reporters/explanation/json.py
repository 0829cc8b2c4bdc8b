"""An explanation as JSON (docs/schemas/why.schema.json)."""

from __future__ import annotations

__all__ = ["VERSION", "render"]

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from everpath.explanation import Explanation, ProposedFix, ResolverExplanation

#: Raised when a field changes its meaning or is removed; fields may be added at any time.
VERSION: Final = 2


def render(
    explanation: Explanation, *, warnings: Sequence[str] = (), live: Mapping[str, Any] | None = None
) -> Iterator[str]:
    """Yield one JSON object. `live` is the status of the operator on a cluster."""
    query, installed = explanation.query, explanation.query.installed
    errors = [
        {"catalog": catalog, "package": error.package, "channel": error.channel, "message": error.message}
        for catalog, error in explanation.opm_errors
    ]
    document = {
        "version": VERSION,
        **({"warnings": warnings} if warnings else {}),
        "package": query.package,
        "channel": query.channel,
        "installed": installed
        and {"name": installed.name, "version": installed.version, "known": installed.is_known},
        "location": explanation.location,
        **({"opmErrors": errors} if errors else {}),
        "explanations": [_explanation(each) for each in explanation.explanations],
        "checks": [check._asdict() for check in explanation.checks],
        **({"live": live} if live is not None else {}),
    }
    yield json.dumps(document, ensure_ascii=False, indent=1)
    yield "\n"


def _explanation(each: ResolverExplanation) -> dict[str, Any]:
    trace = each.trace
    failure = trace.decision.failure
    return {
        "resolver": trace.resolver,
        "requester": each.requester,
        "channels": trace.channels,
        "catalog": trace.catalog,
        "summary": each.summary,
        "next": trace.decision.next,
        "failure": failure
        and {"kind": failure.kind.value, "names": failure.names, "message": failure.message or None},
        "path": list(trace.path.hops),
        "end": trace.path.end.value,
        "pathSummary": each.path_summary,
        "candidates": [
            {
                "names": group.names,
                "result": group.result.value,
                "edge": group.edge.kind.value if group.edge is not None else None,
                "reason": group.text,
                "catalog": group.catalog,
            }
            for group in each.candidates
        ],
        "hints": each.hints,
        "fixes": [_fix(fix) for fix in each.fixes],
        "alternatives": each.alternatives,
        "warnings": each.warnings,
    }


def _fix(fix: ProposedFix) -> dict[str, Any]:
    position = fix.position
    return {
        "fix": fix.text,
        "rule": fix.rule,
        "name": fix.name,
        "severity": fix.severity.word if fix.severity is not None else None,
        "message": fix.message or None,
        "file": (position.file or None) if position else None,
        "line": (position.line or None) if position else None,
        "column": (position.column or None) if position else None,
    }
