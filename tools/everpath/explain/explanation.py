"""The explanation: for each resolver its decision, candidates, path and fixes; and checks for the cluster."""

from __future__ import annotations

__all__ = ["Explanation", "ResolverExplanation", "explain"]

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from everpath.explain.candidates import CandidateGroup, group_candidates
from everpath.explain.cluster_checks import ClusterCheck, cluster_checks
from everpath.explain.fixes import ProposedFix, propose_fixes
from everpath.explain.location import (
    alternatives,
    location,
    near_misses,
    opm_error_text,
    opm_errors_by_catalog,
)
from everpath.explain.trace import ExplainQuery, ResolverTrace, trace_resolvers
from everpath.explain.warnings import warnings
from everpath.model import Catalog, OpmError
from everpath.resolvers import ResolverName
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.resolvers.resolution import FailureKind, ResolutionFailure

#: Versions of a path that are shown; the trace has all.
_MOST_STOPS: Final = 8

#: Number of opm's errors that are shown; opm itself stops at the first.
_MOST_REFUSALS: Final = 3


class ResolverExplanation(NamedTuple):
    """The explanation of one resolver's decision, in sentences."""

    trace: ResolverTrace
    summary: str
    requester: str
    candidates: tuple[CandidateGroup, ...]
    path_summary: str
    hints: tuple[str, ...]
    fixes: tuple[ProposedFix, ...]
    alternatives: tuple[str, ...]
    warnings: tuple[str, ...]


class Explanation(NamedTuple):
    """Where the installed version is, an explanation for each resolver, and checks for the cluster.

    `refused`: what opm rejects of the package, with the name of the catalog.
    """

    query: ExplainQuery
    location: tuple[str, ...]
    explanations: tuple[ResolverExplanation, ...]
    checks: tuple[ClusterCheck, ...]
    refused: tuple[tuple[str, OpmError], ...] = ()

    @property
    def reaches_goal(self) -> bool:
        """Whether the path of every resolver reaches its goal."""
        return all(each.trace.reaches_goal for each in self.explanations)


def explain(
    sources: Sequence[ClusterCatalog], query: ExplainQuery, catalogs: Mapping[str, Catalog] | None = None
) -> Explanation:
    """Explain why OLM upgrades an installed version or not.

    `catalogs` are those of the sources, by name; without them no rules are run to find fixes. Cost: the paths
    of the channel, and the rules for one package if a path is stranded.
    """
    explanations = tuple(
        _explain_trace(trace, sources, query, catalogs or {}) for trace in trace_resolvers(sources, query)
    )
    checks: dict[ClusterCheck, None] = {}
    for each in explanations:
        trace = each.trace
        checks |= dict.fromkeys(cluster_checks(trace.resolver, is_explained=trace.decision.next is None))
    found = tuple(opm_errors_by_catalog(sources))
    errors = (
        opm_error_text(catalog if len(sources) > 1 else None, each)
        for catalog, each in found[:_MOST_REFUSALS]
    )
    return Explanation(query, (*location(sources, query), *errors), explanations, tuple(checks), found)


def _explain_trace(
    trace: ResolverTrace,
    sources: Sequence[ClusterCatalog],
    query: ExplainQuery,
    catalogs: Mapping[str, Catalog],
) -> ResolverExplanation:
    return ResolverExplanation(
        trace=trace,
        summary=_summary(trace),
        requester=_requester(trace, query),
        candidates=group_candidates(trace),
        path_summary=_path_summary(trace),
        hints=tuple(near_misses(trace)),
        fixes=tuple(propose_fixes(trace, query, catalogs)),
        alternatives=tuple(alternatives(trace, sources)),
        warnings=tuple(warnings(trace, sources)),
    )


def _summary(trace: ResolverTrace) -> str:
    """Return what OLM does, in one sentence."""
    olm, decision = f"OLM {trace.resolver}", trace.decision
    here = (trace.installed.name or '""') if trace.installed is not None else None
    if decision.failure is not None:
        left = f"{here} is not upgraded" if here else "nothing is installed"
        return f"{olm} {_failing(trace.resolver, decision.failure)}, and {left}."
    if decision.next is not None:
        origin = f" from catalog {decision.catalog}" if trace.catalog and decision.catalog else ""
        return (
            f"{olm} upgrades {here} to {decision.next}{origin}."
            if here
            else f"{olm} installs {decision.next}{origin}."
        )
    if trace.reaches_goal:
        return f"{olm} does not upgrade {here}: it is the head."
    return f"{olm} does not upgrade {here}."


def _failing(policy: ResolverName, failure: ResolutionFailure) -> str:
    """Describe a failure. Under OLM v0 it affects the whole namespace, a panic the whole cluster."""
    if failure.kind is FailureKind.PANIC:
        return "panics"
    return "fails for the whole namespace" if policy == "v0" else "fails"


def _requester(trace: ResolverTrace, query: ExplainQuery) -> str:
    if trace.resolver == "v0":
        catalog = f" of catalog {trace.catalog}" if trace.catalog else ""
        starting = f" with startingCSV: {query.starting_csv}" if query.starting_csv else ""
        return f"a Subscription to channel {query.channel}{catalog}{starting}"
    parts = [f"channels: [{', '.join(trace.channels)}]"] if trace.channels else []
    parts += [f"version: '{query.options.version_range}'"] if query.options.version_range else []
    parts += ["upgradeConstraintPolicy: SelfCertified"] if query.options.self_certified else []
    return f"a ClusterExtension{' with ' if parts else ''}{', '.join(parts)}"


def _path_summary(trace: ResolverTrace) -> str:
    """Return the path and why it ends, as in simulate."""
    start = [trace.installed.name] if trace.installed is not None else []
    stops = " → ".join(_abbreviated([*start, *trace.path.hops]))
    if trace.path.hops:
        return f"{stops}: {trace.path.reason}."
    if trace.decision.failure is not None and trace.decision.failure.message:
        return f"none, while OLM {trace.resolver} fails."
    return f"{stops} {trace.path.reason}." if trace.reaches_goal else f"{trace.path.reason}."


def _abbreviated(stops: list[str]) -> list[str]:
    """Abbreviate a long path to its first versions and the last."""
    if len(stops) <= _MOST_STOPS:
        return stops
    return [*stops[: _MOST_STOPS - 2], f"… {len(stops) - _MOST_STOPS + 1} more …", stops[-1]]
