"""Single edges: unknown names, edges to the entry itself or to higher versions, duplicates."""

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
from everpath.rules.findings import Fix, Flaw, Severity
from everpath.rules.fixes.edits import (
    Advice,
    ChannelEdit,
    add_skips,
    first_accepted_edit,
    remove_replaces,
    remove_skip,
    republish_advice,
    set_replaces,
)
from everpath.rules.registry import channel_rule
from everpath.wording import NameSuggestions, skip_clause


@channel_rule("EP211", "self-edge", Severity.ERROR)
def self_edge(graph: ChannelGraph) -> Iterator[Flaw]:
    """No entry replaces or skips itself.

    An entry that skips itself counts as skipped: opm does not check whether it is stranded, and OLM v0 never
    installs it. An entry that replaces itself cannot be a head. Cost: one pass over the edges.
    """
    for name in graph.entries:
        for edge in graph.named_edges(name):
            if edge.successor == name:
                yield Flaw(
                    graph.entries[name].place.at(edge.kind.value),
                    f"{name} {edge.kind.value} itself",
                    because=(edge,),
                    fix=_self_edge_fix(graph, edge),
                    entry=name,
                )


def _self_edge_fix(graph: ChannelGraph, edge: Edge) -> ChannelEdit:
    name, field = edge.installed, edge.kind.value
    if edge.kind is EdgeKind.REPLACES:
        alone = remove_replaces(graph, name)
        return alone._replace(text=f"remove {name} from its own {field}", copied=())
    alone = remove_skip(graph, name, [name])._replace(text=f"remove {name} from its own {field}")
    return alone._replace(fallback=_move_skip(graph, name, alone)) if graph.head is not None else alone


def _move_skip(graph: ChannelGraph, name: str, alone: ChannelEdit) -> ChannelEdit:
    """Keep the entry below the head: without its own skip it would be a second head."""
    assert graph.head is not None  # the caller checks it
    entry, (freed,) = graph.entries[name], alone.entries
    below, above = graph.versions.get(graph.head), graph.versions.get(name)
    if not entry.replaces and below is not None and above is not None and below < above:
        text = f"{alone.text} and set replaces: {graph.head} on {name}"
        return ChannelEdit(text, (freed._replace(replaces=graph.head),), copied=(graph.head,))
    skipped = add_skips(graph, graph.head, [name])
    return ChannelEdit(
        f"move {name} from its own skips to the skips of {graph.head}", alone.entries + skipped.entries
    )


@channel_rule("EP212", "dangling-replaces", Severity.WARNING)
def dangling_replaces(graph: ChannelGraph) -> Iterator[Flaw]:
    """What an entry replaces exists in its package.

    At the end of the chain a missing name is harmless, because older releases were pruned: it is a note.
    Elsewhere, or if the name looks misspelled, clusters on the intended version get no updates.
    Cost: one look-up an entry; one comparison with every name for unknown ones.
    """
    # The name of an entry without a bundle can be meant as well.
    nearby, entries = NameSuggestions(graph.package.by_name), NameSuggestions(graph.entries)
    for name, target in _replaces_outside(graph):
        if graph.bundle(target) is not None:
            continue
        probably = nearby.suggest(target, exclude=(name,)) or entries.suggest(target, exclude=(name,))
        yield Flaw(
            graph.entries[name].place.at("replaces"),
            f"{name} replaces {target}, which is not in the package",
            because=(Edge(name, target, EdgeKind.REPLACES),),
            fix=_dangling_fix(graph, name, target, probably),
            entry=name,
            severity=Severity.NOTE if probably is None and _is_tail(graph, name) else None,
        )


def _dangling_fix(graph: ChannelGraph, name: str, target: str, probably: str | None) -> Fix:
    """Return what the entry should replace. At the end of a chain no change is needed."""
    if probably is not None:
        return set_replaces(graph, name, probably)._replace(text=f"did you mean {probably}?")
    if graph.package.is_single_bundle:
        return f"no action if {target} was released: only this folder was read; validate the package's folder"
    newest = graph.head_below(name) if not graph.head else None
    if newest is not None and len(graph.topmost([name, newest])) == 2:
        return set_replaces(graph, name, newest)
    removal = f"remove replaces: {target} from {name}"
    return Advice(f"no action if {target} was released and pruned; else {removal}", (target,))


def _replaces_outside(graph: ChannelGraph) -> Iterator[tuple[str, str]]:
    """Yield entries with the name they replace, if that is not in the channel."""
    for name, entry in graph.entries.items():
        if entry.replaces and entry.replaces not in graph.entries:
            yield name, entry.replaces


def _is_tail(graph: ChannelGraph, name: str) -> bool:
    """Return whether an entry has the lowest version of the channel."""
    return graph.by_version[:1] == (name,)


@channel_rule("EP213", "replaces-out-of-channel", Severity.WARNING)
def replaces_out_of_channel(graph: ChannelGraph) -> Iterator[Flaw]:
    """What an entry replaces is in the same channel.

    For the lowest version it is an update from another channel, and a note. Elsewhere it splits the channel.
    Cost: one look-up an entry.
    """
    for name, target in _replaces_outside(graph):
        if graph.bundle(target) is None:
            continue
        yield Flaw(
            graph.entries[name].place.at("replaces"),
            f"{name} replaces {target}, which is in the package but not in this channel",
            because=(Edge(name, target, EdgeKind.REPLACES),),
            fix=f"no action if clusters update from {target} in another channel"
            if _is_tail(graph, name)
            else f"add {target} to the channel, or make {name} replace the entry below it",
            entry=name,
            severity=Severity.NOTE if _is_tail(graph, name) else None,
        )


@channel_rule("EP214", "skips-unknown", Severity.WARNING)
def skips_unknown(graph: ChannelGraph) -> Iterator[Flaw]:
    """What an entry skips exists in its package.

    A removed release can stay in the skips, for clusters that still run it: it is a note. A misspelled name
    leaves the intended version without an edge.
    Cost: one look-up a name; one comparison with every name for unknown ones.
    """
    nearby = NameSuggestions(graph.package.by_name)
    for name, target, place in _skips_outside(graph):
        if target in graph.package.by_name or not target:
            continue
        probably = nearby.suggest(target, exclude=(name, graph.entries[name].replaces or ""))
        probably = None if probably in graph.skips[name] else probably
        yield Flaw(
            place,
            f"{name} skips {target}, which is not in the package",
            because=(Edge(name, target, EdgeKind.SKIPS),),
            fix=Advice(f"did you mean {probably}?", (probably,))
            if probably
            else f"no action if {target} was released; else remove {target} from the skips of {name}",
            entry=name,
            severity=None if probably else Severity.NOTE,
        )


def _skips_outside(graph: ChannelGraph) -> Iterator[tuple[str, str, Place]]:
    """Yield entries, a name that they skip and that is not in the channel, and its first place."""
    for name, entry in graph.entries.items():
        first: dict[str, int] = {}
        for index, target in enumerate(entry.skips):
            if target not in graph.entries:
                yield name, target, entry.place.at("skips", first.setdefault(target, index))


@channel_rule("EP215", "skips-out-of-channel", Severity.NOTE)
def skips_out_of_channel(graph: ChannelGraph) -> Iterator[Flaw]:
    """What an entry skips is in the same channel.

    It is an update from another channel, and can be intended. Cost: one look-up a name.
    """
    for name, target, place in _skips_outside(graph):
        if target in graph.package.by_name:
            yield Flaw(
                place,
                f"{name} skips {target}, which is in the package but not in this channel",
                because=(Edge(name, target, EdgeKind.SKIPS),),
                fix=f"no action if clusters update from {target} in another channel; else remove it",
                entry=name,
            )


@channel_rule("EP216", "replaces-and-skips", Severity.WARNING)
def replaces_and_skips(graph: ChannelGraph) -> Iterator[Flaw]:
    """No entry both replaces and skips the same entry.

    Skipping withdraws an entry: opm ends the replaces chain there, and OLM v0 never installs the entry.
    Cost: one pass over the edges.
    """
    for name, entry in graph.entries.items():
        if entry.replaces and entry.replaces in entry.skips:
            target = entry.replaces
            yield Flaw(
                entry.place.at("skips", entry.skips.index(target)),
                f"{name} both replaces and skips {target}",
                because=(Edge(name, target, EdgeKind.REPLACES), Edge(name, target, EdgeKind.SKIPS)),
                fix=_remove_skip_fix(graph, name, target),
                entry=name,
            )


def _remove_skip_fix(graph: ChannelGraph, name: str, target: str) -> str | ChannelEdit:
    """Remove the skip if opm then accepts the channel: it does not check entries below a skipped one."""
    edit = remove_skip(graph, target, [name])
    if first_accepted_edit(graph, [edit]) is None:
        return f"no action: opm rejects the channel unless {name} skips {target}"
    return edit._replace(text=f"{edit.text}, unless it was withdrawn on purpose")


@channel_rule("EP217", "empty-skip", Severity.ERROR)
def empty_skip(graph: ChannelGraph) -> Iterator[Flaw]:
    """No name in a skips list is empty.

    opm rejects the catalog. Cost: one pass over the edges.
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

    OLM v0 follows such an edge and downgrades the operator; OLM v1 does not. For semver, `1.0.1-1` is a
    pre-release below 1.0.1, not a rebuild of it. Cost: one comparison an edge.
    """
    for name, version in graph.versions.items():
        entry = graph.entries[name]
        for field, target in (
            (EdgeKind.REPLACES, entry.replaces),
            *((EdgeKind.SKIPS, s) for s in entry.skips),
        ):
            higher = graph.versions.get(target or "")
            if target and target != name and higher is not None and version < higher:
                yield Flaw(
                    entry.place.at(field.value),
                    f"OLM v0 downgrades {target} to {name}: {name} {field.value} it, "
                    f"and {version} is lower than {higher}",
                    because=(Edge(name, target, field),),
                    fix=republish_advice(graph, name, above=target),
                    entry=name,
                )


@channel_rule("EP221", "range-on-skipped", Severity.NOTE)
def range_on_skipped(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipped entry has no skipRange.

    OLM v0 never installs a skipped entry and ignores its range; OLM v1 uses it. Cost: one pass.
    """
    others = {name: [s for s in graph.skippers.get(name, ()) if s != name] for name in graph.ranges}
    found = {name: skippers for name, skippers in others.items() if skippers}
    for name, skippers in found.items():
        yield Flaw(
            graph.entries[name].place.at("skipRange"),
            f"OLM v0 ignores the skipRange of {name}, because {skip_clause(skippers)} it; OLM v1 uses it",
            because=tuple(Edge(s, name, EdgeKind.SKIPS) for s in skippers),
            fix="no action if it is for OLM v1",
            entry=name,
        )
