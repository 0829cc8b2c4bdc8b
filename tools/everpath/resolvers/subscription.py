"""What OLM v0 does for one Subscription, whatever is installed.

Mirrors getSubscriptionVariables and sortChannel of operator-lifecycle-manager v0.46.0
(pkg/controller/registry/resolver/resolver.go), with its words, for a catalog whose bundles depend on nothing.
`olm_v0` answers for all entries of a channel at once what this answers for one question.
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
    Resolution,
    ResolutionFailure,
    Tracer,
    TraceStep,
)
from everpath.versions import Version

#: Stands in the words for the name of the Subscription, which only the cluster knows.
SUBSCRIPTION: Final = "<subscription>"

#: Stands in the words for the name and the namespace of the CatalogSource.
CATALOG: Final = "<catalog>/<namespace>"


def resolve(
    graph: ChannelGraph | None,
    installed: InstalledBundle | None,
    *,
    starting_csv: str | None = None,
    trace: Tracer | None = None,
) -> Resolution:
    """What a Subscription to this channel gets next; `graph` None: no such channel.

    `installed` need not be in the channel; its version, if None, is the one that the channel gives the name.
    `starting_csv` is startingCSV, which only counts as long as nothing is installed.
    Every entry is heard of once, those that OLM leaves out of its order before the others; where it cannot
    order them, or crashes, those alone that cause that.
    Cost: the edges from what is installed; with somebody who hears, the entries of the channel.
    """
    if graph is None or not graph.entries:
        return Resolution(
            None, ResolutionFailure(FailureKind.NO_CHANNEL, ()) if graph is None else _empty(graph)
        )
    if installed is not None:
        return _upgraded(graph, installed, trace)
    return _started(graph, starting_csv, trace) if starting_csv else _fresh(graph, trace)


def no_channel_failure(package: str, channel: str) -> ResolutionFailure:
    """The failure of a Subscription whose channel is not in the catalog, or has no entries there."""
    return ResolutionFailure(
        FailureKind.NO_CHANNEL, (), _invalid(f"in channel {channel} of package {package} in")
    )


def _empty(graph: ChannelGraph) -> ResolutionFailure:
    return no_channel_failure(graph.package.name, graph.name)


def _upgraded(graph: ChannelGraph, installed: InstalledBundle, trace: Tracer | None) -> Resolution:
    version = installed.version or graph.versions.get(installed.name)
    failure = olm_v0.sort_channel(graph).failure or _panic(graph, version)
    if failure is not None:
        return _failed(graph, failure, trace)
    if trace is not None:
        for remark in _asked(graph, installed.name, version):
            trace(remark)
    return Resolution(olm_v0.next_hop(graph, installed.name, version))


def _panic(graph: ChannelGraph, version: Version | None) -> ResolutionFailure | None:
    """Every entry in order is asked for its range before any is chosen, and before names are compared."""
    if version is None or not graph.panicking_entries:
        return None
    crashing = {name for name in graph.panicking_entries if graph.ranges[name].panics_on(version)}
    return next(
        (olm_v0.panic_failure(name) for name in olm_v0.sort_channel(graph).chain if name in crashing), None
    )


def _asked(graph: ChannelGraph, installed: str, version: Version | None) -> Iterator[TraceStep]:
    """Every entry beside what is installed, from the head down."""
    edges: dict[str, Edge] = {}
    for found in graph.successors(installed, version):
        edges.setdefault(found.successor, found)
    yield from _left_out(graph, edges)
    prohibited, taken = olm_v0.uninstallable(graph), None
    for name in olm_v0.sort_channel(graph).chain:
        if (edge := edges.get(name)) is None:
            yield TraceStep(name, CandidateResult.REFUSED, _unlinked(graph, name, installed, version))
        elif name in prohibited:
            yield TraceStep(name, CandidateResult.REFUSED, prohibited[name], edge)
        elif taken is not None:
            yield TraceStep(name, CandidateResult.PASSED_OVER, f"{taken} is nearer to the head", edge)
        else:
            taken = name
            reason = "is installed, and stays" if name == installed else "is the nearest to the head"
            yield TraceStep(name, CandidateResult.TAKEN, reason, edge)


def _unlinked(graph: ChannelGraph, name: str, installed: str, version: Version | None) -> str:
    stated, span = graph.entries[name].skip_range, graph.ranges.get(name)
    if not stated:
        return f"does not name {installed}, and has no skipRange"
    if span is None:
        return (
            f"does not name {installed}, and its skipRange '{stated}' does not parse, so that OLM ignores it"
        )
    if version is None:
        return f"does not name {installed}, and its skipRange '{stated}' cannot be asked: no version is known"
    return f"does not name {installed}, and its skipRange '{stated}' does not hold {version}"


def _left_out(graph: ChannelGraph, edges: Mapping[str, Edge]) -> Iterator[TraceStep]:
    """Entries that are not in OLM's order, newest first."""
    chain = frozenset(olm_v0.sort_channel(graph).chain)
    for name in _newest_first(graph):
        if name not in chain:
            yield TraceStep(name, CandidateResult.REFUSED, _why_left_out(graph, name), edges.get(name))


def _newest_first(graph: ChannelGraph) -> Iterator[str]:
    """All entries, whatever the order of writing; last those that have no version."""
    yield from reversed(graph.by_version)
    yield from sorted(graph.entries.keys() - graph.versions.keys())


def _why_left_out(graph: ChannelGraph, name: str) -> str:
    if name in graph.skippers:
        by = ", ".join(sorted(graph.skippers[name]))
        return f"is skipped by {by}, and OLM v0 takes nothing that is skipped"
    return f"is not on the chain of replaces below {graph.head}"


def _fresh(graph: ChannelGraph, trace: Tracer | None) -> Resolution:
    """The head, or the first below it that is not prohibited."""
    ordered = olm_v0.sort_channel(graph)
    if ordered.failure is not None:
        return _failed(graph, ordered.failure, trace)
    if trace is not None:
        for remark in _left_out(graph, {}):
            trace(remark)
    return _first_installable(graph, ordered.chain, trace)


def _started(graph: ChannelGraph, starting_csv: str, trace: Tracer | None) -> Resolution:
    """startingCSV alone, as if the channel had no other entry: neither skips nor a broken chain matter."""
    entry = graph.entries.get(starting_csv)
    if entry is None:
        where = f"with name {starting_csv} in channel {graph.name} of package {graph.package.name} in"
        return Resolution(
            None, ResolutionFailure(FailureKind.NO_STARTING_CSV, (starting_csv,), _invalid(where))
        )
    if starting_csv in (entry.replaces, *entry.skips):
        return _failed(graph, olm_v0.no_head_failure(graph, (starting_csv,)), trace)
    if trace is not None:
        for name in _newest_first(graph):
            if name != starting_csv:
                trace(
                    TraceStep(
                        name, CandidateResult.REFUSED, f"is not {starting_csv}, which startingCSV asks for"
                    )
                )
    return _first_installable(graph, (starting_csv,), trace)


def _first_installable(graph: ChannelGraph, chain: Sequence[str], trace: Tracer | None) -> Resolution:
    prohibited = olm_v0.uninstallable(graph)
    taken = next((name for name in chain if name not in prohibited), None)
    if trace is not None:
        for remark in _offered(chain, prohibited, taken):
            trace(remark)
    return Resolution(taken, None if taken else _nothing_installable(graph, chain))


def _offered(chain: Sequence[str], prohibited: Mapping[str, str], taken: str | None) -> Iterator[TraceStep]:
    for place, name in enumerate(chain):
        if name in prohibited:
            yield TraceStep(name, CandidateResult.REFUSED, prohibited[name])
        elif name == taken:
            reason = "is the first from the head down" if place else "is the head"
            yield TraceStep(name, CandidateResult.TAKEN, reason)
        else:
            yield TraceStep(name, CandidateResult.PASSED_OVER, f"{taken} is nearer to the head")


def _failed(graph: ChannelGraph, failure: ResolutionFailure, trace: Tracer | None) -> Resolution:
    if trace is not None:
        for name in dict.fromkeys(failure.names):
            trace(TraceStep(name, CandidateResult.REFUSED, _guilt(graph, failure.kind, name)))
    return Resolution(None, failure)


def _guilt(graph: ChannelGraph, kind: FailureKind, name: str) -> str:
    """What an entry has to do with the failure of the whole channel."""
    if kind is FailureKind.SEVERAL_HEADS:
        return "is a head, because no entry replaces or skips it, and is not the only one"
    if kind is FailureKind.CYCLE:
        return f"stands in a circle: it replaces {graph.entries[name].replaces}"
    if kind is FailureKind.PANIC:
        return f"has the skipRange '{graph.entries[name].skip_range}', over which OLM crashes"
    above = sorted({*graph.replacers.get(name, ()), *graph.skippers.get(name, ())})
    return f"is no head, because {', '.join(above)} replaces or skips it"


def _invalid(where: str) -> str:
    return (
        f"constraints not satisfiable: no operators found {where} the catalog referenced by subscription "
        f"{SUBSCRIPTION}, subscription {SUBSCRIPTION} exists"
    )


def _nothing_installable(graph: ChannelGraph, chain: Sequence[str]) -> ResolutionFailure:
    """Where every entry carries olm.deprecated, the words; repeated APIs OLM lists in an order of its own."""
    prohibited = olm_v0.uninstallable(graph)
    if any(prohibited[name] != olm_v0.DEPRECATED_REASON for name in chain):
        return ResolutionFailure(FailureKind.NOTHING_INSTALLABLE, tuple(chain))
    places = [f"{CATALOG}/{graph.name}/{name}" for name in chain]
    wanted = places[0] if len(places) == 1 else f"at least one of {', '.join(places[:-1])} or {places[-1]}"
    parts = (
        *(f"bundle {place} is deprecated" for place in sorted(places)),
        f"subscription {SUBSCRIPTION} exists",
        f"subscription {SUBSCRIPTION} requires {wanted}",
    )
    words = f"constraints not satisfiable: {', '.join(parts)}"
    return ResolutionFailure(FailureKind.NOTHING_INSTALLABLE, tuple(chain), words)
