"""Single edges: names that exist nowhere, edges that point at themselves, down, or twice."""

from __future__ import annotations

__all__ = [
    "dangling_replaces",
    "downgrade",
    "empty_skip",
    "range_on_skipped",
    "replaces_and_skips",
    "replaces_out_of_channel",
    "self_edge",
    "skips_out_of_channel",
    "skips_unknown",
]

from collections.abc import Iterator

from everpath.graph import ChannelGraph, Edge, EdgeKind
from everpath.model import Place
from everpath.rules.edits import (
    Edit,
    add_skips,
    first_accepted_edit,
    is_worth_trying,
    move_range,
    remove_replaces,
    remove_skip,
    set_replaces,
)
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import channel_rule
from everpath.wording import NameSuggestions, skip_clause


@channel_rule("EP211", "self-edge", Severity.ERROR)
def self_edge(graph: ChannelGraph) -> Iterator[Flaw]:
    """No entry replaces or skips itself.

    An entry that skips itself counts as skipped: opm no longer looks whether anybody can leave it, and
    OLM v0 never offers it. One that replaces itself can be no head. Cost: one pass over the edges.
    """
    for name in graph.entries:
        for edge in graph.named_edges(name):
            if edge.successor == name:
                yield Flaw(
                    graph.entries[name].place.at(edge.kind.value),
                    f"{name} {edge.kind.value} itself",
                    because=(edge,),
                    fix=_unlooped(graph, edge),
                    entry=name,
                )


def _unlooped(graph: ChannelGraph, edge: Edge) -> Edit:
    name, field = edge.installed, edge.kind.value
    if edge.kind is EdgeKind.REPLACES:
        return remove_replaces(graph, name)._replace(text=f"remove {name} from its own {field}")
    alone = remove_skip(graph, name, [name])._replace(text=f"remove {name} from its own {field}")
    return alone._replace(fallback=_relinked(graph, name, alone)) if graph.head is not None else alone


def _relinked(graph: ChannelGraph, name: str, alone: Edit) -> Edit:
    """Where nobody else accepts an entry, it would be a second head without its own skip."""
    assert graph.head is not None  # asked before
    entry, (freed,) = graph.entries[name], alone.entries
    below, above = graph.versions.get(graph.head), graph.versions.get(name)
    if not entry.replaces and below is not None and above is not None and below < above:
        text = f"{alone.text} and set replaces: {graph.head} on {name}"
        return Edit(text, (freed._replace(replaces=graph.head),))
    skipped = add_skips(graph, graph.head, [name])
    return Edit(
        f"move {name} from its own skips to the skips of {graph.head}", alone.entries + skipped.entries
    )


@channel_rule("EP212", "dangling-replaces", Severity.WARNING)
def dangling_replaces(graph: ChannelGraph) -> Iterator[Flaw]:
    """What an entry replaces exists in its package.

    At the very end of the chain a missing name is harmless (older releases were pruned) and only noted;
    anywhere else, and where it looks like a slip of the pen, users of the version that was meant are cut
    off. Cost: one look-up an entry; one comparison with every name for those that miss.
    """
    # An entry whose bundle is not there yet may be meant, too.
    nearby, entries = NameSuggestions(graph.package.by_name), NameSuggestions(graph.entries)
    for name, target in _replaced(graph):
        if graph.bundle(target) is not None:
            continue
        probably = nearby.suggest(target, exclude=(name,)) or entries.suggest(target, exclude=(name,))
        yield Flaw(
            graph.entries[name].place.at("replaces"),
            f"{name} replaces {target}, which exists nowhere in the package",
            because=(Edge(name, target, EdgeKind.REPLACES),),
            fix=_repointed(graph, name, target, probably),
            entry=name,
            severity=Severity.NOTE if probably is None and _is_tail(graph, name) else None,
        )


def _repointed(graph: ChannelGraph, name: str, target: str, probably: str | None) -> str | Edit:
    """What a replaces that leads nowhere should say. At the end of a chain it does no harm as it is."""
    if probably is not None:
        return set_replaces(graph, name, probably)._replace(text=f"did you mean {probably}?")
    if graph.package.is_one_release:
        return f"leave it, if {target} was released: only this folder was read; validate the package's folder"
    newest = graph.head_below(name) if not graph.head else None
    if newest is not None and len(graph.topmost([name, newest])) == 2:
        return set_replaces(graph, name, newest)
    return f"leave it, if {target} was released and pruned; else remove replaces: {target} from {name}"


def _replaced(graph: ChannelGraph) -> Iterator[tuple[str, str]]:
    """Entries that replace a name which is no entry of the channel."""
    for name, entry in graph.entries.items():
        if entry.replaces and entry.replaces not in graph.entries:
            yield name, entry.replaces


def _is_tail(graph: ChannelGraph, name: str) -> bool:
    """Whether nothing in the channel is older than an entry, so that nothing can be meant below it."""
    return graph.by_version[:1] == (name,)


@channel_rule("EP213", "replaces-out-of-channel", Severity.WARNING)
def replaces_out_of_channel(graph: ChannelGraph) -> Iterator[Flaw]:
    """What an entry replaces is in the same channel.

    For the oldest entry this is how users come over from another channel, and it is only noted. Further
    up the chain it cuts the channel in two. Cost: one look-up an entry.
    """
    for name, target in _replaced(graph):
        if graph.bundle(target) is None:
            continue
        yield Flaw(
            graph.entries[name].place.at("replaces"),
            f"{name} replaces {target}, which is in the package but not in this channel",
            because=(Edge(name, target, EdgeKind.REPLACES),),
            fix=f"leave it, if users come from {target} in another channel"
            if _is_tail(graph, name)
            else f"put {target} into the channel, or let {name} replace the entry below it",
            entry=name,
            severity=Severity.NOTE if _is_tail(graph, name) else None,
        )


@channel_rule("EP214", "skips-unknown", Severity.WARNING)
def skips_unknown(graph: ChannelGraph) -> Iterator[Flaw]:
    """What an entry skips exists in its package.

    A release that was withdrawn and removed may stay skipped, for those who still run it, and is only
    noted; a name that looks like a slip of the pen leaves the version that was meant without an edge.
    Cost: one look-up a name; one comparison with every name for those that miss.
    """
    nearby = NameSuggestions(graph.package.by_name)
    for name, target, place in _skipped(graph):
        if target in graph.package.by_name or not target:
            continue
        probably = nearby.suggest(target, exclude=(name, graph.entries[name].replaces or ""))
        probably = None if probably in graph.skips[name] else probably
        yield Flaw(
            place,
            f"{name} skips {target}, which exists nowhere in the package",
            because=(Edge(name, target, EdgeKind.SKIPS),),
            fix=f"did you mean {probably}?"
            if probably
            else f"leave it, if {target} was released; else remove {target} from the skips of {name}",
            entry=name,
            severity=None if probably else Severity.NOTE,
        )


def _skipped(graph: ChannelGraph) -> Iterator[tuple[str, str, Place]]:
    """Entries with the names they skip that are no entries of the channel, and where that is first said."""
    for name, entry in graph.entries.items():
        first: dict[str, int] = {}
        for index, target in enumerate(entry.skips):
            if target not in graph.entries:
                yield name, target, entry.place.at("skips", first.setdefault(target, index))


@channel_rule("EP215", "skips-out-of-channel", Severity.NOTE)
def skips_out_of_channel(graph: ChannelGraph) -> Iterator[Flaw]:
    """What an entry skips is in the same channel.

    It is a way in from another channel and may well be meant. Cost: one look-up a name.
    """
    for name, target, place in _skipped(graph):
        if target in graph.package.by_name:
            yield Flaw(
                place,
                f"{name} skips {target}, which is in the package but not in this channel",
                because=(Edge(name, target, EdgeKind.SKIPS),),
                fix=f"leave it, if users come from {target} in another channel; else remove it",
                entry=name,
            )


@channel_rule("EP216", "replaces-and-skips", Severity.WARNING)
def replaces_and_skips(graph: ChannelGraph) -> Iterator[Flaw]:
    """No entry both replaces and skips the same one.

    To skip is to withdraw: opm ends the chain there and calls everything below stranded, and OLM v0
    never offers the entry again. Cost: one pass over the edges.
    """
    for name, entry in graph.entries.items():
        if entry.replaces and entry.replaces in entry.skips:
            target = entry.replaces
            yield Flaw(
                entry.place.at("skips", entry.skips.index(target)),
                f"{name} both replaces and skips {target}",
                because=(Edge(name, target, EdgeKind.REPLACES), Edge(name, target, EdgeKind.SKIPS)),
                fix=_unless_withdrawn(graph, name, target),
                entry=name,
            )


def _unless_withdrawn(graph: ChannelGraph, name: str, target: str) -> str | Edit:
    """Behind a skipped entry opm does not look; it may not like what it would find there."""
    edit = remove_skip(graph, target, [name])
    if first_accepted_edit(graph, [edit]) is None:
        return f"leave it: opm refuses the channel unless {name} skips {target}"
    return edit._replace(text=f"{edit.text}, unless it was withdrawn")


@channel_rule("EP217", "empty-skip", Severity.ERROR)
def empty_skip(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every name in a skips list says something.

    opm refuses the catalog. Cost: one pass over the edges.
    """
    for name, entry in graph.entries.items():
        for index, target in enumerate(entry.skips):
            if not target:
                place = entry.place.at("skips", index)
                fix = remove_skip(graph, "", [name])._replace(text="remove the empty item")
                yield Flaw(place, f"{name} skips an empty name", fix=fix, entry=name)


@channel_rule("EP220", "downgrade", Severity.WARNING)
def downgrade(graph: ChannelGraph) -> Iterator[Flaw]:
    """An entry replaces and skips only lower versions than its own.

    OLM v0 follows such an edge and downgrades the operator; v1 never does. A rebuild named `1.0.1-1` is,
    to SemVer, a pre-release *below* 1.0.1. Cost: one comparison an edge.
    """
    for name, version in graph.versions.items():
        entry = graph.entries[name]
        for field, target in (
            (EdgeKind.REPLACES, entry.replaces),
            *((EdgeKind.SKIPS, s) for s in entry.skips),
        ):
            lower = graph.versions.get(target or "")
            if target and target != name and lower is not None and version < lower:
                yield Flaw(
                    entry.place.at(field.value),
                    f"{name} ({version}) {field.value} {target}, whose version {lower} is higher",
                    because=(Edge(name, target, field),),
                    fix=f"publish {name} again with a version above {lower}, in its stead",
                    entry=name,
                )


@channel_rule("EP221", "range-on-skipped", Severity.NOTE)
def range_on_skipped(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipped entry has no skipRange.

    OLM v0 never offers a skipped entry and ignores its range; v1 honours it. Cost: one pass.
    """
    others = {name: [s for s in graph.skippers.get(name, ()) if s != name] for name in graph.ranges}
    found = {name: skippers for name, skippers in others.items() if skippers}
    is_short = is_worth_trying(len(found), graph)
    for name, skippers in found.items():
        yield Flaw(
            graph.entries[name].place.at("skipRange"),
            f"{name} has a skipRange, but {skip_clause(skippers)} it: OLM v0 ignores the range, "
            "v1 honours it",
            because=tuple(Edge(s, name, EdgeKind.SKIPS) for s in skippers),
            fix=_moved(graph, name, skippers, is_short=is_short),
            entry=name,
        )


def _moved(graph: ChannelGraph, name: str, skippers: list[str], *, is_short: bool) -> str | Edit:
    """To move a range to whoever skips its entry; where that cannot be tried, or does harm, to leave it."""
    leave = "leave it, if it is for users of OLM v1"
    heirs = [skipper for skipper in skippers if skipper not in graph.skippers]
    edit = move_range(graph, name, heirs[-1]) if heirs and is_short else None
    return edit._replace(prefix=f"{leave}; else ", fallback=leave) if edit is not None else leave
