"""Heads and cycles: every channel has one newest entry, and the way down from it ends."""

from __future__ import annotations

__all__ = ["cycle", "hidden_cycle", "no_head", "several_heads"]

from collections.abc import Iterator
from itertools import pairwise

from everpath.graph import ChannelGraph, Edge, EdgeKind
from everpath.model import Bundle, Entry, Place
from everpath.resolvers import olm_v0, opm
from everpath.resolvers.resolution import FailureKind
from everpath.rules.edits import (
    Edit,
    add_entry,
    add_skips,
    missing_bundles_advice,
    remove_replaces,
    set_replaces,
)
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import channel_rule
from everpath.wording import NameSuggestions, join_names


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
        fix=_freed(graph, newest, edges),
        entry=newest,
    )


def _freed(graph: ChannelGraph, name: str, edges: tuple[Edge, ...]) -> Edit:
    """Entries that neither replace nor skip a name any more."""
    takers = (graph.entries[e] for e in dict.fromkeys(edge.successor for edge in edges))
    entries = tuple(
        e._replace(
            replaces=None if e.replaces == name else e.replaces, skips=tuple(s for s in e.skips if s != name)
        )
        for e in takers
    )
    return Edit(f"remove {name} from {_fields(edges)}", entries)


def _fields(edges: tuple[Edge, ...]) -> str:
    return join_names(f"{e.kind.value} of {e.successor}" for e in edges)


@channel_rule("EP202", "several-heads", Severity.ERROR)
def several_heads(graph: ChannelGraph) -> Iterator[Flaw]:
    """A channel has only one entry that no other replaces or skips. A skipRange does not count here.

    opm refuses the catalog. OLM v0 fails every Subscription of the namespace; v1 leaves whoever stands
    below the wrong head without a way to the newest version. Cost: one pass over the edges.
    """
    if len(graph.heads) < 2:
        return
    main, *others = graph.topmost(graph.heads)
    nearby, tails = NameSuggestions(graph.package.by_name), dict[str, str]()
    for above, head in pairwise([main, *others]):
        tail = _tail(graph, above, tails)
        yield Flaw(
            graph.entries[head].place.at("name"),
            f"nothing replaces or skips {head}, nor {main}: the channel has {len(graph.heads)} heads",
            because=_why_apart(graph, above, tail, head),
            fix=missing_bundles_advice(graph, (main, head)) or _joined(graph, tail, head, main, nearby),
            entry=head,
        )


def _tail(graph: ChannelGraph, head: str, known: dict[str, str]) -> str:
    """The last entry of a head's replaces chain (where a cycle closes, if it has one).

    `known` holds the tails of all entries met before: chains of many heads run together.
    """
    trail: dict[str, None] = {}
    here: str | None = head
    while here in graph.entries and here not in known and here not in trail:
        assert here is not None  # an entry's name
        trail[here] = None
        here = graph.entries[here].replaces or None
    last = next(reversed(trail), head)
    if here in known:
        last = known[here]
    known |= dict.fromkeys(trail, last)
    if here in trail:
        # Whoever comes in amid the circle goes round to the entry above.
        circle = [*trail][[*trail].index(here) :]
        known |= {below: above for above, below in pairwise(circle)}
    return known[head]


def _why_apart(graph: ChannelGraph, above: str, tail: str, head: str) -> tuple[Edge | str, ...]:
    """Where the chain from the head above goes past a head, or else ends; and that a range does not help."""
    target = graph.entries[tail].replaces
    reasons: list[Edge | str] = []
    if (passing := _passing(graph, above, head)) is not None:
        reasons.append(f"{passing}, past {head}")
    elif target:
        reasons += [Edge(tail, target, EdgeKind.REPLACES), f"{target} {_whereabouts(graph, target)}"]
    else:
        reasons.append(f"{tail} replaces nothing")
    if head in graph.versions and graph.coverage.count(graph.versions[head]):
        reasons.append(f"a skipRange covers {head}, but ranges do not make or unmake a head")
    return tuple(reasons)


def _passing(graph: ChannelGraph, above: str, head: str) -> Edge | None:
    """The step with which the chain from one head goes past a lower one.

    It is followed as long as it goes down, and heads come in the order of their versions: no step is
    looked at for two of them.
    """
    here = graph.entries[above]
    while here.replaces and (below := graph.entries.get(here.replaces)):
        if not _is_older(graph, below.name, here.name):
            break
        if _is_older(graph, below.name, head):
            return Edge(here.name, below.name, EdgeKind.REPLACES)
        here = below
    return None


def _whereabouts(graph: ChannelGraph, target: str) -> str:
    """Why a chain does not go on from a name."""
    if target in graph.entries:
        return "is where the chain goes in a circle"
    return "is in the package but not in this channel" if graph.bundle(target) else "exists nowhere"


def _joined(graph: ChannelGraph, tail: str, head: str, main: str, nearby: NameSuggestions) -> Edit:
    """The smallest edit that puts a second head below the first."""
    target, skips = graph.entries[tail].replaces, add_skips(graph, main, [head])
    meant = (
        nearby.suggest(target, exclude=(tail,)) or NameSuggestions([head]).suggest(target) if target else None
    )
    between = graph.bundle(target) if target and target not in graph.entries else None
    if between and NameSuggestions([head]).suggest(between.name) is None:
        entry = _link(between, graph.channel.place, head)
        link = add_entry(entry, "" if entry.replaces != head else f", with replaces: {head}")
        return link._replace(alternative=skips) if head in (entry.replaces, *entry.skips) else skips
    if meant == head or (meant is None and _is_older(graph, head, tail)):
        return set_replaces(graph, tail, head)
    return skips


def _link(bundle: Bundle, place: Place, head: str) -> Entry:
    """A bundle as it would stand in the channel, above a head: in a repository its own CSV says how."""
    if (csv := bundle.csv) is None:
        return Entry(bundle.name, place, head)
    return Entry(bundle.name, place, csv.replaces, csv.skips, csv.skip_range)


def _is_older(graph: ChannelGraph, one: str, other: str) -> bool:
    first, second = graph.stated_versions.get(one), graph.stated_versions.get(other)
    return first is not None and second is not None and first < second


@channel_rule("EP204", "cycle", Severity.ERROR)
def cycle(graph: ChannelGraph) -> Iterator[Flaw]:
    """The chain of replaces below the head never comes back to itself.

    opm refuses the catalog and OLM v0 fails every Subscription of the namespace. Cost: one walk.
    """
    if names := opm.validate_channel(graph).cycle:
        yield _cycle(graph, names, "entries replace each other in a circle")


@channel_rule("EP205", "hidden-cycle", Severity.ERROR, policy="v0")
def hidden_cycle(graph: ChannelGraph) -> Iterator[Flaw]:
    """No circle of replaces hides behind a skipped entry.

    opm stops looking at the first skipped entry and accepts the catalog; OLM v0 walks on, meets the
    circle, and fails every Subscription of the namespace, new installs included. Cost: one walk.
    """
    failure = olm_v0.sort_channel(graph).failure
    if failure is None or failure.kind is not FailureKind.CYCLE or opm.validate_channel(graph).cycle:
        return
    yield _cycle(graph, failure.names, "entries replace each other in a circle that opm does not see")


def _cycle(graph: ChannelGraph, names: tuple[str, ...], what: str) -> Flaw:
    edges = tuple(Edge(a, b, EdgeKind.REPLACES) for a, b in pairwise(names))
    wrong = next((e for e in edges if _is_older(graph, e.successor, e.installed)), edges[-1])
    return Flaw(
        graph.entries[wrong.successor].place.at("replaces"),
        f"{what}: {' → '.join(names)}",
        because=edges,
        fix=remove_replaces(graph, wrong.successor),
        entry=wrong.successor,
    )
