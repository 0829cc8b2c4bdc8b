"""OLM v0: what one Subscription gets next, whatever is installed, with a trace of the candidates.

Mirrors getSubscriptionVariables and sortChannel of operator-lifecycle-manager v0.46.0
(pkg/controller/registry/resolver/resolver.go), with its messages, for a catalog whose bundles have no
dependencies. `olm_v0` computes the same for all entries of a channel at once.
"""

from __future__ import annotations

__all__ = ["CATALOG", "SUBSCRIPTION", "no_channel_failure", "resolve"]

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from everpath.graph import ChannelGraph, Edge
from everpath.resolvers import olm_v0
from everpath.resolvers.resolution import (
    CandidateResult,
    FailureKind,
    InstalledBundle,
    ReasonForm,
    Resolution,
    ResolutionFailure,
    Tracer,
    TraceStep,
)
from everpath.versions import Version

#: Placeholder in messages for the name of the Subscription, which only the cluster knows.
SUBSCRIPTION: Final = "<subscription>"

#: Placeholder in messages for name and namespace of the CatalogSource.
CATALOG: Final = "<catalog>/<namespace>"


def resolve(
    graph: ChannelGraph | None,
    installed: InstalledBundle | None,
    *,
    starting_csv: str | None = None,
    trace: Tracer | None = None,
) -> Resolution:
    """Return what a Subscription to this channel gets next; `graph` None: the channel does not exist.

    `installed` need not be in the channel. If its version is None, the one that the channel states counts.
    `starting_csv` only counts while nothing is installed.
    `trace` gets every entry once: first those that OLM does not sort, then the others from the head down. If
    OLM cannot sort the channel or crashes, it only gets the entries that cause this.
    Cost: the edges by name from what is installed; with `trace`, the entries of the channel.
    """
    if graph is None:
        return Resolution(None, ResolutionFailure(FailureKind.NO_CHANNEL, ()))
    if not graph.entries:
        return Resolution(None, no_channel_failure(graph.package.name, graph.name))
    if installed is not None:
        return _resolve_upgrade(graph, installed, trace)
    if starting_csv:
        return _resolve_starting_csv(graph, starting_csv, trace)
    ordered = olm_v0.sort_channel(graph)
    if ordered.failure is not None:
        return _fail(graph, ordered.failure, trace)
    if trace is not None:
        for step in _unsorted_entries(graph, {}):
            trace(step)
    return _resolve_new_install(graph, ordered.chain, trace)


def no_channel_failure(package: str, channel: str) -> ResolutionFailure:
    """Return the failure of a Subscription whose channel is not in the catalog or has no entries."""
    message = _no_operators_found(f"in channel {channel} of package {package} in")
    return ResolutionFailure(FailureKind.NO_CHANNEL, (), message)


def _resolve_upgrade(graph: ChannelGraph, installed: InstalledBundle, trace: Tracer | None) -> Resolution:
    version = installed.version or graph.versions.get(installed.name)
    failure = olm_v0.sort_channel(graph).failure or _first_panic(graph, version)
    if failure is not None:
        return _fail(graph, failure, trace)
    if trace is not None:
        for step in _upgrade_trace(graph, installed.name, version):
            trace(step)
    return Resolution(olm_v0.next_hop(graph, installed.name, version))


def _first_panic(graph: ChannelGraph, version: Version | None) -> ResolutionFailure | None:
    """Return the first panic of OLM on this version, from the head down.

    OLM evaluates the ranges of all sorted entries before it compares names.
    """
    if version is None or not graph.panicking_entries:
        return None
    panicking = {name for name in graph.panicking_entries if graph.ranges[name].panics_on(version)}
    chain = olm_v0.sort_channel(graph).chain
    return next((olm_v0.panic_failure(name) for name in chain if name in panicking), None)


def _upgrade_trace(graph: ChannelGraph, installed: str, version: Version | None) -> Iterator[TraceStep]:
    edges: dict[str, Edge] = {}
    for edge in graph.successors(installed, version):
        edges.setdefault(edge.successor, edge)
    yield from _unsorted_entries(graph, edges)
    uninstallable, taken = olm_v0.uninstallable(graph), None
    for name in olm_v0.sort_channel(graph).chain:
        if name not in edges:
            reason = _no_edge_reason(graph, name, installed, version)
            yield TraceStep(name, CandidateResult.REFUSED, reason)
        elif name in uninstallable:
            yield TraceStep(name, CandidateResult.REFUSED, uninstallable[name], edges[name])
        elif taken is not None:
            reason = f"{taken} is nearer to the head"
            edge, form = edges[name], ReasonForm.CLAUSE
            yield TraceStep(name, CandidateResult.PASSED_OVER, reason, edge, form=form)
        else:
            taken = name
            reason = "is installed, and stays" if name == installed else "is the nearest to the head"
            yield TraceStep(name, CandidateResult.TAKEN, reason, edges[name])


def _no_edge_reason(graph: ChannelGraph, name: str, installed: str, version: Version | None) -> str:
    skip_range = graph.entries[name].skip_range
    if not skip_range:
        mismatch = "has no skipRange"
    elif name not in graph.ranges:
        mismatch = f"its skipRange '{skip_range}' does not parse, so OLM ignores it"
    elif version is None:
        mismatch = f"its skipRange '{skip_range}' does not apply: the installed version is unknown"
    else:
        mismatch = f"its skipRange '{skip_range}' does not contain {version}"
    return f"does not replace or skip {installed}, and {mismatch}"


def _unsorted_entries(graph: ChannelGraph, edges: Mapping[str, Edge]) -> Iterator[TraceStep]:
    """Yield the entries that OLM v0 does not sort, the newest first."""
    chain = frozenset(olm_v0.sort_channel(graph).chain)
    for name in _newest_first(graph):
        if name in chain:
            continue
        reason = f"is not on the chain of replaces below {graph.head}"
        if skippers := graph.skippers.get(name):
            reason = f"is skipped by {', '.join(sorted(skippers))}, and OLM v0 never installs a skipped entry"
        yield TraceStep(name, CandidateResult.REFUSED, reason, edges.get(name))


def _newest_first(graph: ChannelGraph) -> Iterator[str]:
    """Yield all entries by version, whatever their order in the file; those without a version are last."""
    yield from reversed(graph.by_version)
    yield from sorted(graph.entries.keys() - graph.versions.keys())


def _resolve_starting_csv(graph: ChannelGraph, starting_csv: str, trace: Tracer | None) -> Resolution:
    """Resolve startingCSV as if the channel had no other entry: skips and a broken chain do not matter."""
    entry = graph.entries.get(starting_csv)
    if entry is None:
        message = _no_operators_found(
            f"with name {starting_csv} in channel {graph.name} of package {graph.package.name} in"
        )
        return Resolution(None, ResolutionFailure(FailureKind.NO_STARTING_CSV, (starting_csv,), message))
    if starting_csv in (entry.replaces, *entry.skips):
        return _fail(graph, olm_v0.no_head_failure(graph, (starting_csv,)), trace)
    if trace is not None:
        for name in _newest_first(graph):
            if name != starting_csv:
                reason = f"is not the startingCSV {starting_csv}"
                trace(TraceStep(name, CandidateResult.REFUSED, reason))
    return _resolve_new_install(graph, (starting_csv,), trace)


def _resolve_new_install(graph: ChannelGraph, chain: Sequence[str], trace: Tracer | None) -> Resolution:
    """Take the first installable entry of a chain that begins with the head."""
    uninstallable = olm_v0.uninstallable(graph)
    taken = next((name for name in chain if name not in uninstallable), None)
    if trace is not None:
        for position, name in enumerate(chain):
            if name in uninstallable:
                trace(TraceStep(name, CandidateResult.REFUSED, uninstallable[name]))
            elif name == taken:
                reason = "is the first installable entry below the head" if position else "is the head"
                trace(TraceStep(name, CandidateResult.TAKEN, reason))
            else:
                reason = f"{taken} is nearer to the head"
                trace(TraceStep(name, CandidateResult.PASSED_OVER, reason, form=ReasonForm.CLAUSE))
    return Resolution(taken, None if taken else _nothing_installable(graph, chain))


def _fail(graph: ChannelGraph, failure: ResolutionFailure, trace: Tracer | None) -> Resolution:
    if trace is not None:
        for name in dict.fromkeys(failure.names):
            trace(TraceStep(name, CandidateResult.REFUSED, _failure_cause(graph, failure.kind, name)))
    return Resolution(None, failure)


def _failure_cause(graph: ChannelGraph, kind: FailureKind, name: str) -> str:
    """Return how an entry causes a failure."""
    if kind is FailureKind.SEVERAL_HEADS:
        return "is one of several heads: no entry replaces or skips it"
    if kind is FailureKind.CYCLE:
        return f"is in a cycle: it replaces {graph.entries[name].replaces}"
    if kind is FailureKind.PANIC:
        return f"has the skipRange '{graph.entries[name].skip_range}', on which OLM crashes"
    successors = sorted({*graph.replacers.get(name, ()), *graph.skippers.get(name, ())})
    return f"is no head: {', '.join(successors)} replaces or skips it"


def _no_operators_found(where: str) -> str:
    return (
        f"constraints not satisfiable: no operators found {where} the catalog referenced by subscription "
        f"{SUBSCRIPTION}, subscription {SUBSCRIPTION} exists"
    )


def _nothing_installable(graph: ChannelGraph, chain: Sequence[str]) -> ResolutionFailure:
    """Return the failure of a chain without installable entries.

    OLM's message is only stable if all carry olm.deprecated: it lists repeated APIs in random order.
    """
    bundles = map(graph.bundle, chain)
    if not all(bundle is not None and olm_v0.is_deprecated(bundle) for bundle in bundles):
        return ResolutionFailure(FailureKind.NOTHING_INSTALLABLE, tuple(chain))
    ids = [f"{CATALOG}/{graph.name}/{name}" for name in chain]
    required = ids[0] if len(ids) == 1 else f"at least one of {', '.join(ids[:-1])} or {ids[-1]}"
    parts = (
        *(f"bundle {bundle_id} is deprecated" for bundle_id in sorted(ids)),
        f"subscription {SUBSCRIPTION} exists",
        f"subscription {SUBSCRIPTION} requires {required}",
    )
    message = f"constraints not satisfiable: {', '.join(parts)}"
    return ResolutionFailure(FailureKind.NOTHING_INSTALLABLE, tuple(chain), message)
