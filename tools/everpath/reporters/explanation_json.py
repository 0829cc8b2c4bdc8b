"""An explanation as JSON (docs/schemas/why.schema.json)."""

from __future__ import annotations

__all__ = ["VERSION", "ExplanationReport", "document"]

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from everpath.explain import CandidateGroup, Explanation, ProposedFix, ResolverExplanation
from everpath.loaders.location import SourcePosition
from everpath.model import OpmError, Place
from everpath.resolvers.resolution import ResolutionFailure

#: Raised when a field changes its meaning or is removed; fields may be added at any time.
VERSION: Final = 2


class ExplanationReport(NamedTuple):
    """An explanation, the way to find lines again, and whether the reader is a terminal.

    `warnings`: what it does not show, for programs; people are report on standard error.
    `is_brief`: without what to ask the cluster. `live`: what a cluster said, as the contract has it.
    """

    explanation: Explanation
    locate: Callable[[Place], SourcePosition]
    colour: bool = False
    warnings: tuple[str, ...] = ()
    is_brief: bool = False
    live: Mapping[str, Any] | None = None


def document(report: ExplanationReport) -> Iterator[str]:
    """One JSON object."""
    import json  # noqa: PLC0415 - only who asks pays for it

    query = report.explanation.query
    asked = query.installed
    yield json.dumps(
        {
            "version": VERSION,
            **({"warnings": report.warnings} if report.warnings else {}),
            "package": query.package,
            "channel": query.channel,
            "installed": asked and {"name": asked.name, "version": asked.version, "known": asked.is_known},
            "location": report.explanation.location,
            **(
                {"refused": list(map(_refused, report.explanation.refused))}
                if report.explanation.refused
                else {}
            ),
            "explanations": [_explanation(story, report) for story in report.explanation.explanations],
            "checks": [check._asdict() for check in report.explanation.checks],
            **({"live": report.live} if report.live is not None else {}),
        },
        ensure_ascii=False,
        indent=1,
    )
    yield "\n"


def _refused(each: tuple[str, OpmError]) -> dict[str, str | None]:
    catalog, refusal = each
    return {
        "catalog": catalog,
        "package": refusal.package,
        "channel": refusal.channel,
        "message": refusal.message,
    }


def _explanation(story: ResolverExplanation, report: ExplanationReport) -> dict[str, Any]:
    trace = story.trace
    return {
        "policy": trace.resolver,
        "requester": story.requester,
        "channels": trace.channels,
        "catalog": trace.catalog,
        "summary": story.summary,
        "next": trace.decision.next,
        "failure": trace.decision.failure and _failure(trace.decision.failure),
        "path": list(trace.path.hops),
        "end": trace.path.end.value,
        "pathSummary": story.path_summary,
        "candidates": [_candidates(group) for group in story.candidates],
        "hints": story.hints,
        "fixes": [_fix(fix, report) for fix in story.fixes],
        "alternatives": story.alternatives,
        "warnings": story.warnings,
    }


def _failure(failure: ResolutionFailure) -> dict[str, Any]:
    return {"kind": failure.kind.value, "names": failure.names, "message": failure.message or None}


def _candidates(group: CandidateGroup) -> dict[str, Any]:
    edge = group.edge.kind.value if group.edge is not None else None
    return {
        "names": group.names,
        "result": group.result.value,
        "edge": edge,
        "reason": group.text,
        "catalog": group.catalog,
    }


def _fix(fix: ProposedFix, report: ExplanationReport) -> dict[str, Any]:
    found = report.locate(fix.place) if fix.place is not None else None
    return {
        "fix": fix.text,
        "rule": fix.rule,
        "name": fix.name,
        "severity": fix.severity.word if fix.severity is not None else None,
        "message": fix.message or None,
        "file": (found.file or None) if found else None,
        "line": (found.line or None) if found else None,
        "column": (found.column or None) if found else None,
    }
