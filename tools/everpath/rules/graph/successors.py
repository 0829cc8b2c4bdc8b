"""Successors of an installed version: forks, several candidates, differences between OLM v0 and v1."""

from __future__ import annotations

__all__ = ["divergence", "fork", "head_not_highest", "several_successors"]

from collections.abc import Iterator
from itertools import chain, islice, pairwise

from everpath.graph import ChannelGraph, Edge, EdgeKind
from everpath.resolvers import olm_v0, olm_v1, opm
from everpath.rules.findings import Fix, Flaw, Severity
from everpath.rules.fixes.edits import (
    ChannelEdit,
    FixedWith,
    add_skips,
    cap_range,
    first_accepted_edit,
    missing_bundles_advice,
    next_release_advice,
    remove_skip,
    republish_advice,
    set_replaces,
)
from everpath.rules.registry import channel_rule
from everpath.wording import join_names, quote_empty


@channel_rule("EP203", "fork", Severity.ERROR)
def fork(graph: ChannelGraph) -> Iterator[Flaw]:
    """No two entries replace the same entry, unless one is on the replaces chain of the other.

    A registry that is queried for the replacement of X can return either, so clusters take different
    upgrade paths. Cost: one visit an edge for each name that has two replacers.
    """
    for target, replacers in graph.replacers.items():
        rivals = graph.topmost(r for r in replacers if r != target)
        if len(rivals) < 2:
            continue
        newest, *older = rivals
        place = graph.entries[target].place if target in graph.entries else graph.entries[newest].place
        yield Flaw(
            place,
            f"{join_names(sorted(rivals))} both replace {quote_empty(target)}"
            if len(rivals) == 2
            else f"{join_names(sorted(rivals))} all replace {quote_empty(target)}",
            because=tuple(Edge(r, target, EdgeKind.REPLACES) for r in rivals),
            fix=missing_bundles_advice(graph, rivals)
            or _one_line(graph, newest, older)
            or next_release_advice(graph, target),
            entry=target,
        )


def _one_line(graph: ChannelGraph, newest: str, older: list[str]) -> ChannelEdit | None:
    """Return the edit that puts the rivals on one replaces chain and keeps the chain of the head."""
    # Each rival replaces the next one; the last one is unchanged.
    edits = [set_replaces(graph, above, below) for above, below in pairwise([newest, *older])]
    entries = tuple(entry for edit in edits for entry in edit.entries)
    copied = tuple(name for edit in edits for name in edit.copied)
    in_line = ChannelEdit(join_names(edit.text for edit in edits), entries, copied=copied)
    chain = opm.validate_channel(graph).chain
    if chain and newest not in chain:
        return first_accepted_edit(graph, [in_line])
    return add_skips(graph, newest, older)._replace(fallback=in_line)


@channel_rule("EP209", "several-successors", Severity.NOTE)
def several_successors(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every installed version has exactly one successor.

    With several, OLM v0 installs the one nearest to the head, and OLM v1 the highest version. This is valid
    and common with skipRange; the note shows which one is installed. The evidence lists edges by name and
    the edges that are followed. Cost: O((edges + ranges) · log n).
    """
    v0, v1 = olm_v0.next_hops(graph), olm_v1.next_hops(graph)
    several = {name: count for name, count in graph.successor_counts.items() if count > 1}
    for name, count in several.items():
        chosen = (v0.next.get(name), v1.get(name))
        fails_v0 = v0.failure is not None or name in v0.failures
        choice_v0 = "fails" if fails_v0 else _choice(chosen[0])
        edges = chain(graph.named_edges(name), *(graph.edges_between(c, name) for c in chosen if c))
        yield Flaw(
            graph.entries[name].place.at("name"),
            f"{name} has {count} successors: OLM v0 {choice_v0}; OLM v1 {_choice(chosen[1])}",
            because=tuple(islice(dict.fromkeys(e for e in edges if e.successor != name), 5)),
            fix=_several_fix(graph, name, chosen[1] or chosen[0]),
            entry=name,
        )


def _several_fix(graph: ChannelGraph, name: str, chosen: str | None) -> str:
    """Advice about the edge that is followed. It is a note's, so no edit is suggested."""
    kinds = {edge.kind for edge in graph.edges_between(chosen, name)} if chosen else set()
    # OLM v1 needs no edge to an entry of the same version, so there is none to remove.
    if chosen is None or not kinds or EdgeKind.REPLACES in kinds:
        return "no action if this is intended"
    removal = remove_skip(graph, name, [chosen])
    if EdgeKind.SKIPS in kinds and first_accepted_edit(graph, [removal]) is None:
        return f"no action: opm rejects the channel unless {chosen} skips {name}"
    return f"no action if the update to {chosen} is intended"


def _choice(name: str | None) -> str:
    return f"updates to {name}" if name else "does not update"


@channel_rule("EP218", "divergence", Severity.WARNING)
def divergence(graph: ChannelGraph) -> Iterator[Flaw]:
    """OLM v0 and OLM v1 update every installed version to the same next version.

    If they differ, the upgrade path of a cluster depends on its version of OLM, and one of the two is
    probably not intended. Cost: O((edges + ranges) · log n).
    """
    hops = olm_v0.next_hops(graph)
    if hops.failure is not None:
        return
    v1 = olm_v1.next_hops(graph)
    for name in graph.entries:
        first, second = hops.next.get(name), v1.get(name)
        # EP206 reports entries without an update under OLM v0.
        if first == second or name in hops.failures or (first is None and name != graph.head):
            continue
        yield Flaw(
            graph.entries[name].place.at("name"),
            f"from {name}, OLM v0 {_choice(first)}; OLM v1 {_choice(second)}",
            because=tuple(e for s in (first, second) if s for e in graph.edges_between(s, name)),
            fix=_align_hops(graph, name, first, second),
            entry=name,
        )


def _align_hops(graph: ChannelGraph, name: str, v0: str | None, v1: str | None) -> Fix:
    """Return the edit after which both make the same hop; else advice for the next release."""
    if v0 is not None and graph.bundle(v0) is None:
        return FixedWith("EP401", v0)
    if v0 in graph.package.deprecations_by_name("olm.bundle"):
        return f"remove the deprecation of {v0}, which OLM v1 avoids, or {next_release_advice(graph, name)}"
    if v0 is None or v1 is not None or not graph.is_lower(v0, name):
        return next_release_advice(graph, name)
    if any(edge.kind is not EdgeKind.RANGE for edge in graph.edges_between(v0, name)):
        return republish_advice(graph, v0, above=name)
    edit = cap_range(graph, v0)
    assert edit is not None  # is_lower has compared its version
    return edit._replace(fallback=next_release_advice(graph, name))


@channel_rule("EP219", "head-not-highest", Severity.WARNING)
def head_not_highest(graph: ChannelGraph) -> Iterator[Flaw]:
    """The head of a channel is its highest version.

    OLM v0 installs the head, OLM v1 the highest version. After a rollback release they install different
    versions, and OLM v1 does not leave the higher one. Cost: one comparison.
    """
    head = graph.head
    if head is None or head not in graph.versions:
        return
    highest = graph.by_version[-1]
    if graph.versions[highest] <= graph.versions[head]:
        return
    yield Flaw(
        graph.entries[head].place.at("name"),
        f"{highest} is a higher version than the head {head}: OLM v0 installs {head}, "
        f"OLM v1 installs {olm_v1.new_install(graph)}",
        because=tuple(graph.named_edges(highest)),
        fix=f"{republish_advice(graph, head, above=highest)}; "
        f"or remove {highest} from the catalog and {_removal_advice(graph, highest)}",
        entry=head,
    )


def _removal_advice(graph: ChannelGraph, name: str) -> str:
    """Return how to keep the updates from an entry that is removed from the catalog."""
    takers = [taker for taker in graph.replacers.get(name, ()) if taker != name]
    if not takers:
        return f"keep its name in the skips of {join_names(graph.skippers.get(name, ()))}"
    below = graph.entries[name].replaces
    if below and below != takers[0]:
        return f"let {takers[0]} replace {below} and skip {name}"
    return f"let {takers[0]} skip {name} instead of replacing it"
