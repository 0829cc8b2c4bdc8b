"""The candidates that a resolver examined, grouped by result and reason."""

from __future__ import annotations

__all__ = ["CandidateGroup", "group_candidates"]

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from everpath.explain.trace import ResolverTrace
from everpath.graph import Edge, EdgeKind
from everpath.resolvers.resolution import CandidateResult, TraceStep


class CandidateGroup(NamedTuple):
    """Candidates with the same result for the same reason."""

    names: tuple[str, ...]
    result: CandidateResult
    text: str
    catalog: str | None = None
    edge: Edge | None = None


def group_candidates(trace: ResolverTrace) -> tuple[CandidateGroup, ...]:
    """Group the steps of a trace, in their order, by edge, result and text."""
    grouped: dict[tuple[object, ...], list[TraceStep]] = {}
    for step in _last_steps(trace.steps):
        text = _text(trace, step)
        key = (step.entry if step.edge else None, step.result, text, step.catalog)
        grouped.setdefault(key, []).append(step)
    return tuple(_candidate_group(trace, group) for group in grouped.values())


def _last_steps(steps: Iterable[TraceStep]) -> Iterator[TraceStep]:
    """Return the last step of each candidate: a bundle may be the best of its catalog, then of all."""
    return iter({(step.entry, step.catalog): step for step in steps}.values())


def _candidate_group(trace: ResolverTrace, group: list[TraceStep]) -> CandidateGroup:
    first, names = group[0], tuple(step.entry for step in group)
    text = _text(trace, first)
    if len(names) > 1 and text.startswith(("is ", "does ", "has ")):
        text = f"each {text}"
    return CandidateGroup(names, first.result, text, first.catalog, first.edge)


def _text(trace: ResolverTrace, step: TraceStep) -> str:
    installed = trace.installed.name if trace.installed is not None else None
    if step.entry == installed and step.result is CandidateResult.TAKEN and trace.resolver == "v0":
        return "is installed, and its own skipRange contains it, so OLM v0 considers it up to date"
    if step.entry == installed and step.edge is None:
        is_all = trace.resolver == "v0" or step.result is CandidateResult.TAKEN
        return "is installed" + ("" if is_all else f", and {step.reason}")
    if step.edge is None:
        return step.reason
    join = "and" if step.result is CandidateResult.TAKEN else "but"
    return f"{_edge_text(trace, step.edge)}, {join} {_reason(trace, step)}"


def _edge_text(trace: ResolverTrace, edge: Edge) -> str:
    if edge.kind is not EdgeKind.RANGE:
        return f"{edge.kind.value} {edge.installed}"
    entry = trace.graph.entries.get(edge.successor) if trace.graph is not None else None
    # If an entry is declared twice, the other declaration may have the range.
    span = f" '{entry.skip_range}'" if entry is not None and entry.skip_range else ""
    return f"has the skipRange{span}, which contains {_version(trace) or edge.installed}"


def _version(trace: ResolverTrace) -> str | None:
    if trace.installed is None or trace.installed.version is None:
        return None
    return str(trace.installed.version)


def _reason(trace: ResolverTrace, step: TraceStep) -> str:
    """Return the reason of a step; the message of a failure is shown elsewhere."""
    failure = trace.decision.failure
    if failure is not None and step.reason == failure.message:
        return "OLM v1 rejects the bundle that it has chosen"
    return step.reason
