"""The candidates that a resolver examined, grouped by result and reason."""

from __future__ import annotations

__all__ = ["CandidateGroup", "group_candidates"]

from typing import NamedTuple

from everpath.explanation.trace import ResolverTrace
from everpath.graph import Edge, EdgeKind
from everpath.resolvers.resolution import CandidateResult, ReasonForm, TraceStep


class CandidateGroup(NamedTuple):
    """Candidates with the same result for the same reason."""

    names: tuple[str, ...]
    result: CandidateResult
    text: str
    catalog: str | None = None
    edge: Edge | None = None


def group_candidates(trace: ResolverTrace) -> tuple[CandidateGroup, ...]:
    """Group the steps of a trace, in their order, by edge, result and text."""
    # A bundle may have several steps: first it is the best of its catalog, then of all. The last one counts.
    last_steps = {(step.entry, step.catalog): step for step in trace.steps}
    grouped: dict[tuple[object, ...], list[TraceStep]] = {}
    for step in last_steps.values():
        key = (step.entry if step.edge else None, step.result, _text(trace, step), step.catalog)
        grouped.setdefault(key, []).append(step)
    groups = []
    for first, *others in grouped.values():
        each = "each " if others and first.form is ReasonForm.PREDICATE else ""
        names = tuple(step.entry for step in (first, *others))
        text = f"{each}{_text(trace, first)}"
        groups.append(CandidateGroup(names, first.result, text, first.catalog, first.edge))
    return tuple(groups)


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
    # The message of a failure is shown elsewhere.
    is_message = step.form is ReasonForm.MESSAGE
    reason = "OLM v1 rejects the bundle that it has chosen" if is_message else step.reason
    return f"{_edge_text(trace, step.edge)}, {join} {reason}"


def _edge_text(trace: ResolverTrace, edge: Edge) -> str:
    if edge.kind is not EdgeKind.RANGE:
        return f"{edge.kind.value} {edge.installed}"
    entry = trace.graph.entries.get(edge.successor) if trace.graph is not None else None
    # If an entry is declared twice, the other declaration may have the range.
    skip_range = f" '{entry.skip_range}'" if entry is not None and entry.skip_range else ""
    version = trace.installed.version if trace.installed is not None else None
    return f"has the skipRange{skip_range}, which contains {version or edge.installed}"
