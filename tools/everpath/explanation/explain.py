"""The explanation: for each resolver its decision, candidates, path and fixes; and checks for the cluster."""

from __future__ import annotations

__all__ = ["Explanation", "ResolverExplanation", "explain"]

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from everpath.explanation.candidates import CandidateGroup, group_candidates
from everpath.explanation.cluster_checks import ClusterCheck, cluster_checks
from everpath.explanation.fixes import ProposedFix, propose_fixes
from everpath.explanation.location import alternatives, location, near_misses, opm_error_text
from everpath.explanation.trace import ExplainQuery, ResolverTrace, trace_resolvers
from everpath.explanation.warnings import warnings
from everpath.model import Catalog, OpmError
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.resolvers.resolution import FailureKind
from everpath.rules.opm_errors import opm_errors
from everpath.upgrade_path.reasons import goal_name
from everpath.wording import join_hops

#: Longest path that is shown as a whole; of others, how many versions at the start and at the end.
_SHOWN_HOPS: Final = (8, 6, 1)

#: Number of opm's errors that are shown; opm itself stops at the first.
_MAX_OPM_ERRORS: Final = 3


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

    `opm_errors`: what opm rejects of the package, with the name of the catalog.
    """

    query: ExplainQuery
    location: tuple[str, ...]
    explanations: tuple[ResolverExplanation, ...]
    checks: tuple[ClusterCheck, ...]
    opm_errors: tuple[tuple[str, OpmError], ...] = ()

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
        ResolverExplanation(
            trace=trace,
            summary=_summary(trace),
            requester=_requester(trace, query),
            candidates=group_candidates(trace),
            path_summary=_path_summary(trace),
            hints=tuple(near_misses(trace)),
            fixes=tuple(propose_fixes(trace, query, catalogs or {})),
            alternatives=tuple(alternatives(trace, sources)),
            warnings=tuple(warnings(trace, sources)),
        )
        for trace in trace_resolvers(sources, query)
    )
    checks: dict[ClusterCheck, None] = {}
    for each in explanations:
        trace = each.trace
        checks |= dict.fromkeys(cluster_checks(trace.resolver, is_explained=trace.decision.next is None))
    errors = [
        (source.name, error)
        for source in sources
        if source.package is not None
        for error in opm_errors(source.package.package)
    ]
    error_texts = (
        opm_error_text(error, catalog if len(sources) > 1 else None)
        for catalog, error in errors[:_MAX_OPM_ERRORS]
    )
    sentences = (*location(sources, query), *error_texts)
    return Explanation(query, sentences, explanations, tuple(checks), tuple(errors))


def _summary(trace: ResolverTrace) -> str:
    """Return what OLM does, in one sentence."""
    olm, decision = f"OLM {trace.resolver}", trace.decision
    here = (trace.installed.name or '""') if trace.installed is not None else None
    if decision.failure is not None:
        # Under OLM v0 a failure affects the whole namespace, a panic the whole cluster.
        fails = "fails for the whole namespace" if trace.resolver == "v0" else "fails"
        fails = "panics" if decision.failure.kind is FailureKind.PANIC else fails
        return f"{olm} {fails}, and {f'{here} is not upgraded' if here else 'nothing is installed'}."
    if decision.next is not None:
        origin = f" from catalog {decision.catalog}" if trace.catalog and decision.catalog else ""
        upgrades = f"upgrades {here} to" if here else "installs"
        return f"{olm} {upgrades} {decision.next}{origin}."
    if trace.reaches_goal:
        # With several channels or catalogs only the path knows the channel of its goal.
        is_goal = f"is {goal_name(trace.graph, trace.last or '')}" if trace.graph else trace.path.reason
        return f"{olm} does not upgrade {here}: it {is_goal}."
    return f"{olm} does not upgrade {here}."


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
    stops = join_hops([*start, *trace.path.hops], *_SHOWN_HOPS)
    if trace.path.hops:
        return f"{stops}: {trace.path.reason}."
    if trace.decision.failure is not None and trace.decision.failure.message:
        return f"none, while OLM {trace.resolver} fails."
    return f"{stops} {trace.path.reason}." if trace.reaches_goal else f"{trace.path.reason}."
