"""Heads of a channel, and cycles of replaces."""

from __future__ import annotations

__all__ = ["cycle", "hidden_cycle", "no_head", "several_heads"]

from collections.abc import Iterator
from itertools import pairwise

from everpath.graph import ChannelGraph, Edge, EdgeKind
from everpath.model import Entry
from everpath.resolvers import olm_v0, opm
from everpath.resolvers.resolution import FailureKind
from everpath.rules.findings import Flaw, Severity
from everpath.rules.fixes.edits import (
    ChannelEdit,
    add_entry,
    add_skips,
    missing_bundles_advice,
    remove_replaces,
    set_replaces,
)
from everpath.rules.registry import channel_rule
from everpath.wording import NameSuggestions, join_names


@channel_rule("EP201", "no-head", Severity.ERROR)
def no_head(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every channel has an entry that no other replaces or skips.

    Without a head opm rejects the catalog, and under OLM v0 every Subscription in the namespace fails.
    Cost: one pass over the edges.
    """
    if not graph.entries or graph.heads:
        return
    newest = graph.by_version[-1] if graph.by_version else next(iter(graph.entries))
    edges = tuple(graph.named_edges(newest))
    yield Flaw(
        graph.entries[newest].place.at("name"),
        f"the channel has no head: every entry is replaced or skipped, even {newest}",
        because=edges,
        fix=_make_head(graph, newest, edges),
        entry=newest,
    )


def _make_head(graph: ChannelGraph, name: str, edges: tuple[Edge, ...]) -> ChannelEdit:
    """Remove a name from every `replaces` and `skips`."""
    takers = (graph.entries[e] for e in dict.fromkeys(edge.successor for edge in edges))
    entries = tuple(
        e._replace(
            replaces=None if e.replaces == name else e.replaces, skips=tuple(s for s in e.skips if s != name)
        )
        for e in takers
    )
    fields = join_names(f"{edge.kind.value} of {edge.successor}" for edge in edges)
    return ChannelEdit(f"remove {name} from {fields}", entries)


@channel_rule("EP202", "several-heads", Severity.ERROR)
def several_heads(graph: ChannelGraph) -> Iterator[Flaw]:
    """A channel has only one entry that no other replaces or skips. A skipRange does not count here.

    opm rejects the catalog. Under OLM v0 every Subscription in the namespace fails; under OLM v1 clusters
    below the wrong head never reach the newest version. Cost: one pass over the edges.
    """
    if len(graph.heads) < 2:
        return
    main, *others = graph.topmost(graph.heads)
    nearby, tails = NameSuggestions(graph.package.by_name), dict[str, str]()
    for above, head in pairwise([main, *others]):
        tail = _tail(graph, above, tails)
        yield Flaw(
            graph.entries[head].place.at("name"),
            f"the channel has {len(graph.heads)} heads; only {main} should be one: "
            f"nothing replaces or skips {head}",
            because=_why_apart(graph, above, tail, head),
            fix=missing_bundles_advice(graph, (main, head)) or _join_chains(graph, tail, head, main, nearby),
            entry=head,
        )


def _tail(graph: ChannelGraph, head: str, known: dict[str, str]) -> str:
    """Return the last entry of a head's replaces chain; in a cycle, the entry before the first repeated one.

    `known` has the tails of all entries visited before, because chains of several heads can join.
    """
    chain: dict[str, None] = {}
    here: str | None = head
    while here in graph.entries and here not in known and here not in chain:
        assert here is not None  # an entry's name
        chain[here] = None
        here = graph.entries[here].replaces or None
    last = next(reversed(chain), head)
    if here in known:
        last = known[here]
    known |= dict.fromkeys(chain, last)
    if here in chain:
        # A chain that joins the cycle at an entry ends at the entry above it.
        cycle_names = [*chain][[*chain].index(here) :]
        known |= {below: above for above, below in pairwise(cycle_names)}
    return known[head]


def _why_apart(graph: ChannelGraph, above: str, tail: str, head: str) -> tuple[Edge | str, ...]:
    """Return why the chain from the head above does not include a head."""
    target = graph.entries[tail].replaces
    reasons: list[Edge | str] = []
    if (passing := _passing_edge(graph, above, head)) is not None:
        reasons.append(f"{passing} and not {head}")
    elif not target:
        reasons.append(f"{tail} replaces nothing")
    else:
        reasons.append(Edge(tail, target, EdgeKind.REPLACES))
        if target in graph.entries:
            reasons.append(f"{target} closes a cycle")
        elif graph.bundle(target):
            reasons.append(f"{target} is in the package but not in this channel")
        else:
            reasons.append(f"{target} does not exist")
    if head in graph.versions and graph.coverage.count(graph.versions[head]):
        reasons.append(
            f"a skipRange covers {head}, but only replaces and skips decide which entries are heads"
        )
    return tuple(reasons)


def _passing_edge(graph: ChannelGraph, above: str, head: str) -> Edge | None:
    """Return the edge of a head's chain that leaves out a lower head.

    The chain is followed while versions decrease. Heads are sorted by version, so no edge is visited twice.
    """
    here = graph.entries[above]
    while here.replaces and (below := graph.entries.get(here.replaces)):
        if not _is_older(graph, below.name, here.name):
            break
        if _is_older(graph, below.name, head):
            return Edge(here.name, below.name, EdgeKind.REPLACES)
        here = below
    return None


def _join_chains(
    graph: ChannelGraph, tail: str, head: str, main: str, nearby: NameSuggestions
) -> ChannelEdit:
    """Return the smallest edit that puts a second head on the chain of the first."""
    target, skips = graph.entries[tail].replaces, add_skips(graph, main, [head])
    meant = (
        nearby.suggest(target, exclude=(tail,)) or NameSuggestions([head]).suggest(target) if target else None
    )
    between = graph.bundle(target) if target and target not in graph.entries else None
    if between and NameSuggestions([head]).suggest(between.name) is None:
        place, csv = graph.channel.place, between.csv
        entry = (
            Entry(between.name, place, head)
            if csv is None
            else Entry(between.name, place, csv.replaces, csv.skips, csv.skip_range)
        )
        link = add_entry(entry, head if entry.replaces == head else None)
        return link._replace(alternative=skips) if head in (entry.replaces, *entry.skips) else skips
    if meant == head or (meant is None and _is_older(graph, head, tail)):
        return set_replaces(graph, tail, head)
    return skips


def _is_older(graph: ChannelGraph, one: str, other: str) -> bool:
    first, second = graph.stated_versions.get(one), graph.stated_versions.get(other)
    return first is not None and second is not None and first < second


@channel_rule("EP204", "cycle", Severity.ERROR)
def cycle(graph: ChannelGraph) -> Iterator[Flaw]:
    """The replaces chain of the head has no cycle.

    opm rejects the catalog, and under OLM v0 every Subscription in the namespace fails. Cost: one pass.
    """
    if names := opm.validate_channel(graph).cycle:
        yield _cycle_flaw(graph, names, "entries replace each other in a cycle")


@channel_rule("EP205", "hidden-cycle", Severity.ERROR, resolver="v0")
def hidden_cycle(graph: ChannelGraph) -> Iterator[Flaw]:
    """No cycle of replaces is behind a skipped entry.

    opm stops at the first skipped entry and accepts the catalog. OLM v0 goes on, detects the cycle and fails
    every Subscription in the namespace, new installs included. Cost: one pass.
    """
    failure = olm_v0.sort_channel(graph).failure
    if failure is None or failure.kind is not FailureKind.CYCLE or opm.validate_channel(graph).cycle:
        return
    yield _cycle_flaw(graph, failure.names, "entries replace each other in a cycle that opm does not detect")


def _cycle_flaw(graph: ChannelGraph, names: tuple[str, ...], what: str) -> Flaw:
    edges = tuple(Edge(a, b, EdgeKind.REPLACES) for a, b in pairwise(names))
    wrong = next((e for e in edges if _is_older(graph, e.successor, e.installed)), edges[-1])
    return Flaw(
        graph.entries[wrong.successor].place.at("replaces"),
        f"{what}: {' → '.join(names)}",
        because=edges,
        fix=remove_replaces(graph, wrong.successor),
        entry=wrong.successor,
    )
