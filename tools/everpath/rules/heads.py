"""Heads and cycles: every channel has one newest entry, and the way down from it ends."""

from __future__ import annotations

__all__ = ["cycle", "hidden_cycle", "no_head", "several_heads"]

import itertools
from collections.abc import Iterator
from itertools import pairwise

from everpath.graph import ChannelGraph, Edge, EdgeKind
from everpath.policies import olm_v0, opm
from everpath.rules._words import Nearby, listed
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import channel_rule


@channel_rule("EP201", "no-head", Severity.ERROR)
def no_head(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every channel has an entry that no other replaces or skips.

    Without one there is nothing to install: opm refuses the catalog, and OLM v0 fails every
    Subscription of the namespace. Cost: one pass over the edges.
    """
    if not graph.entries or graph.heads:
        return
    newest = graph.by_version[-1] if graph.by_version else next(iter(graph.entries))
    edges = tuple(graph.named_edges(newest))
    yield Flaw(
        graph.entries[newest].place.at("name"),
        f"the channel has no head: every entry is replaced or skipped by another, even {newest}",
        because=edges,
        fix=f"remove {newest} from {_fields(edges)}",
        entry=newest,
    )


def _fields(edges: tuple[Edge, ...]) -> str:
    return listed(f"{e.kind.value} of {e.successor}" for e in edges)


@channel_rule("EP202", "several-heads", Severity.ERROR)
def several_heads(graph: ChannelGraph) -> Iterator[Flaw]:
    """A channel has only one entry that no other replaces or skips. A skipRange does not count here.

    opm refuses the catalog. OLM v0 fails every Subscription of the namespace; v1 leaves whoever stands
    below the wrong head without a way to the newest version. Cost: one pass over the edges.
    """
    if len(graph.heads) < 2:
        return
    main, *others = graph.unrelated(graph.heads)
    for above, head in pairwise([main, *others]):
        tail = _tail(graph, above)
        yield Flaw(
            graph.entries[head].place.at("name"),
            f"nothing replaces or skips {head}, nor {main}: the channel has {len(graph.heads)} heads",
            because=_why_apart(graph, tail, head),
            fix=_joined(graph, tail, head, main),
            entry=head,
        )


def _tail(graph: ChannelGraph, head: str) -> str:
    """The last entry of a head's replaces chain (where a cycle closes, if it has one)."""
    seen, here = {head}, head
    while (below := graph.entries[here].replaces) in graph.entries and below not in seen:
        assert below is not None  # an entry's name
        seen.add(below)
        here = below
    return here


def _why_apart(graph: ChannelGraph, tail: str, head: str) -> tuple[Edge | str, ...]:
    """Where the chain from the main head ends, and that a range does not help."""
    target = graph.entries[tail].replaces
    reasons: list[Edge | str] = []
    if target:
        where = "is in the package but not in this channel" if graph.bundle(target) else "exists nowhere"
        reasons += [Edge(tail, target, EdgeKind.REPLACES), f"{target} {where}"]
    else:
        reasons.append(f"{tail} replaces nothing")
    if head in graph.versions and any(e.kind is EdgeKind.RANGE for e in graph.successors(head)):
        reasons.append(f"a skipRange covers {head}, but ranges do not make or unmake a head")
    return tuple(reasons)


def _joined(graph: ChannelGraph, tail: str, head: str, main: str) -> str:
    """The smallest edit that puts a second head below the first."""
    target = graph.entries[tail].replaces
    if target and graph.bundle(target) and Nearby([head]).meant(target) is None:
        return f"put {target} into this channel, or add {head} to the skips of {main}"
    if _is_older(graph, head, tail):
        return f"set replaces: {head} on {tail}"
    return f"add {head} to the skips of {main}"


def _is_older(graph: ChannelGraph, one: str, other: str) -> bool:
    first, second = graph.versions.get(one), graph.versions.get(other)
    return first is not None and second is not None and first < second


@channel_rule("EP204", "cycle", Severity.ERROR)
def cycle(graph: ChannelGraph) -> Iterator[Flaw]:
    """The chain of replaces below the head never comes back to itself.

    opm refuses the catalog and OLM v0 fails every Subscription of the namespace. Cost: one walk.
    """
    if names := opm.verdict(graph).cycle:
        yield _cycle(graph, names, "entries replace each other in a circle")


@channel_rule("EP205", "hidden-cycle", Severity.ERROR, policy="v0")
def hidden_cycle(graph: ChannelGraph) -> Iterator[Flaw]:
    """No circle of replaces hides behind a skipped entry.

    opm stops looking at the first skipped entry and accepts the catalog; OLM v0 walks on, meets the
    circle, and fails every Subscription of the namespace, new installs included. Cost: one walk.
    """
    failure = olm_v0.order(graph).failure
    if failure is None or failure.kind is not olm_v0.FailureKind.CYCLE or opm.verdict(graph).cycle:
        return
    yield _cycle(graph, failure.names, "entries replace each other in a circle that opm does not see")


def _cycle(graph: ChannelGraph, names: tuple[str, ...], what: str) -> Flaw:
    edges = tuple(Edge(a, b, EdgeKind.REPLACES) for a, b in itertools.pairwise(names))
    wrong = next((e for e in edges if _is_older(graph, e.successor, e.installed)), edges[-1])
    return Flaw(
        graph.entries[wrong.successor].place.at("replaces"),
        f"{what}: {' → '.join(names)}",
        because=edges,
        fix=f"remove replaces: {wrong.installed} from {wrong.successor}",
        entry=wrong.successor,
    )
