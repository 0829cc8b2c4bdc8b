"""One successor for each installed version: the invariant itself, and where v0 and v1 read it differently."""

from __future__ import annotations

__all__ = ["divergence", "fork", "head_not_highest", "several_successors"]

from collections.abc import Iterator
from itertools import chain, islice, pairwise

from everpath.graph import ChannelGraph, Edge, EdgeKind
from everpath.resolvers import olm_v0, olm_v1, opm
from everpath.rules.edits import (
    Edit,
    add_skips,
    cap_range,
    first_accepted_edit,
    is_worth_trying,
    missing_bundles_advice,
    next_release_advice,
    remove_edge,
    remove_skip,
    set_replaces,
)
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import channel_rule
from everpath.wording import join_names


@channel_rule("EP203", "fork", Severity.ERROR)
def fork(graph: ChannelGraph) -> Iterator[Flaw]:
    """No two entries replace the same one, unless one of them stands in the other's line.

    A registry asked "what replaces X?" may answer either, and whichever users take, they are on two
    roads. Cost: one visit an edge for each name that has two replacers.
    """
    for target, replacers in graph.replacers.items():
        rivals = graph.topmost(r for r in replacers if r != target)
        if len(rivals) < 2:
            continue
        newest, *older = rivals
        place = graph.entries[target].place if target in graph.entries else graph.entries[newest].place
        yield Flaw(
            place,
            f"{join_names(sorted(rivals))} both replace it"
            if len(rivals) == 2
            else f"{join_names(sorted(rivals))} all replace it",
            because=tuple(Edge(r, target, EdgeKind.REPLACES) for r in rivals),
            fix=missing_bundles_advice(graph, rivals)
            or _one_line(graph, newest, older)
            or next_release_advice(graph, target),
            entry=target,
        )


def _one_line(graph: ChannelGraph, newest: str, older: list[str]) -> Edit | None:
    """The edit that makes one line of rivals, without cutting the one that the head stands on."""
    chain = opm.validate_channel(graph).chain
    in_line = _in_line(graph, [newest, *older])
    if chain and newest not in chain:
        return first_accepted_edit(graph, [in_line])
    return add_skips(graph, newest, older)._replace(fallback=in_line)


def _in_line(graph: ChannelGraph, rivals: list[str]) -> Edit:
    """Each of several entries replaces the next one; the last keeps what it replaces."""
    edits = [set_replaces(graph, above, below) for above, below in pairwise(rivals)]
    return Edit(join_names(e.text for e in edits), tuple(entry for e in edits for entry in e.entries))


@channel_rule("EP209", "several-successors", Severity.NOTE)
def several_successors(graph: ChannelGraph) -> Iterator[Flaw]:
    """Exactly one entry accepts each installed version.

    With several, the resolver's own order decides: v0 takes the one nearest to the head, v1 the highest
    version. This is legal and common with skipRange; it is reported so that nobody has to guess.
    The edges shown are those by name and those that are
    taken: a version may be covered by every range there is. Cost: O((edges + ranges) · log n).
    """
    v0, v1 = olm_v0.next_hops(graph), olm_v1.next_hops(graph)
    several = {name: count for name, count in graph.successor_counts.items() if count > 1}
    is_short = is_worth_trying(len(several), graph)
    for name, count in several.items():
        chosen = (v0.next.get(name), v1.get(name))
        edges = chain(graph.named_edges(name), *(graph.edges_between(c, name) for c in chosen if c))
        yield Flaw(
            graph.entries[name].place.at("name"),
            f"{count} entries accept it: OLM v0 {_chosen(v0, name)}, v1 {_takes(v1.get(name))}",
            because=tuple(islice(dict.fromkeys(e for e in edges if e.successor != name), 5)),
            fix=_kept(graph, name, v1.get(name) or v0.next.get(name), is_short=is_short),
            entry=name,
        )


def _kept(graph: ChannelGraph, name: str, chosen: str | None, *, is_short: bool) -> str | Edit:
    """It is no fault, so the first advice is to leave it; the other, how to close the road that is taken.

    Of a long channel only the first is given: the other one has to be tried.
    """
    kinds = {edge.kind for edge in graph.edges_between(chosen, name)} if chosen else set()
    # OLM v1 needs no edge to another entry of the same version, and there is none to close.
    if chosen is None or not kinds or EdgeKind.REPLACES in kinds:
        return "leave it, if that is meant"
    if first_accepted_edit(graph, [remove_skip(graph, name, [chosen])]) is None:
        return f"leave it: opm refuses the channel unless {chosen} skips {name}"
    leave = f"leave it, if the way to {chosen} is meant"
    return (
        remove_edge(graph, chosen, name)._replace(prefix=f"{leave}; else ", fallback=leave)
        if is_short
        else leave
    )


def _chosen(hops: olm_v0.ChannelHops, name: str) -> str:
    return "fails" if hops.failure or name in hops.failures else _takes(hops.next.get(name))


def _takes(name: str | None) -> str:
    return f"takes {name}" if name else "stays"


@channel_rule("EP218", "divergence", Severity.WARNING)
def divergence(graph: ChannelGraph) -> Iterator[Flaw]:
    """OLM v0 and OLM v1 send every installed version to the same next one.

    Where they differ, a cluster's road depends on the OLM generation it runs, and only one of the two
    roads was probably meant. Cost: O((edges + ranges) · log n).
    """
    hops = olm_v0.next_hops(graph)
    if hops.failure is not None:
        return
    v1 = olm_v1.next_hops(graph)
    for name in graph.entries:
        first, second = hops.next.get(name), v1.get(name)
        # Whoever v0 strands is reported as stranded; here both have somewhere to go, or v0 has arrived.
        if first == second or name in hops.failures or (first is None and name != graph.head):
            continue
        yield Flaw(
            graph.entries[name].place.at("name"),
            f"OLM v0 {_takes(first)}, OLM v1 {_takes(second)}",
            because=tuple(e for s in (first, second) if s for e in graph.edges_between(s, name)),
            fix=_one_road(graph, name, first, second),
            entry=name,
        )


def _one_road(graph: ChannelGraph, name: str, v0: str | None, v1: str | None) -> str | Edit:
    """An edit after which both take the same hop; a next release may always be where both go."""
    if v0 is not None and graph.bundle(v0) is None:
        return f"same cause as EP401 ({v0}), mended with it"
    if v0 in graph.package.deprecations_by_name("olm.bundle"):
        return f"remove the deprecation of {v0}, which OLM v1 avoids, or {next_release_advice(graph, name)}"
    if v0 is None or v1 is not None or not _is_lower(graph, v0, name):
        return next_release_advice(graph, name)
    if any(edge.kind is not EdgeKind.RANGE for edge in graph.edges_between(v0, name)):
        return f"publish {v0} again with a version above {graph.versions[name]}, in its stead"
    edit = cap_range(graph, v0)
    assert edit is not None  # what is lower has a version
    return edit._replace(fallback=next_release_advice(graph, name))


def _is_lower(graph: ChannelGraph, one: str, other: str) -> bool:
    first, second = graph.versions.get(one), graph.versions.get(other)
    return first is not None and second is not None and first < second


@channel_rule("EP219", "head-not-highest", Severity.WARNING)
def head_not_highest(graph: ChannelGraph) -> Iterator[Flaw]:
    """The head of a channel is its highest version.

    OLM v0 installs the head, OLM v1 the highest version: with a rolled-back release the two install
    different ones, and v1 keeps whoever has the higher one. Cost: one comparison.
    """
    head = graph.head
    if head is None or head not in graph.versions:
        return
    highest = graph.by_version[-1]
    if graph.versions[highest] <= graph.versions[head]:
        return
    yield Flaw(
        graph.entries[head].place.at("name"),
        f"the head is {head}, but {highest} is a higher version: a new install gets {head} from OLM v0 "
        f"and {olm_v1.new_install(graph)} from OLM v1",
        because=tuple(graph.named_edges(highest)),
        fix=f"publish {head} again with a version above {graph.versions[highest]}, "
        f"or take {highest} out of the catalog and {_left(graph, highest)}",
        entry=head,
    )


def _left(graph: ChannelGraph, name: str) -> str:
    """What the edges to an entry become when it is taken out: whoever has it must still find a way."""
    takers = [taker for taker in graph.replacers.get(name, ()) if taker != name]
    if not takers:
        return f"leave its name in the skips of {join_names(graph.skippers.get(name, ()))}"
    below = graph.entries[name].replaces
    if below and below != takers[0]:
        return f"let {takers[0]} replace {below} and skip {name}"
    return f"let {takers[0]} skip {name} instead of replacing it"
