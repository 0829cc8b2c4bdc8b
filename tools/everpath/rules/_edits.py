"""Edits of a channel, tried before they are advised: a fix must not cost a catalog opm's acceptance."""

from __future__ import annotations

__all__ = [
    "Edit",
    "adding",
    "bounded",
    "edited",
    "joined",
    "next_release",
    "replacing",
    "safest",
    "skipping",
    "unreplacing",
    "unskipping",
    "widening",
]

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.model import Entry
from everpath.policies import opm
from everpath.policies.opm_edits import still_accepts
from everpath.ranges import Interval, IntervalSet, Range
from everpath.rules._words import listed

#: Names are spelled out in a fix up to this many: who is to write them down must see them.
_MOST_NAMED = 40

#: Of more than that so many, to show whom the fix means; the entries of the edit have all.
_FEW_NAMED = 3


class Edit(NamedTuple):
    """Entries as they would read, and the words for it; `otherwise` says what would do as well.

    `instead` is for a channel where this would harm somebody: another edit to try, or advice in words.
    Where an entry has a list, what makes it stands in its stead: thousands of edits of one long list would
    hold it thousands of times, and most are never tried.
    """

    text: str
    made: tuple[Entry, ...] | Callable[[], tuple[Entry, ...]]
    otherwise: Edit | None = None
    instead: Edit | str | None = None

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries that change, as they would read."""
        return self.made() if callable(self.made) else self.made

    def __str__(self) -> str:
        return f"{self.text}, or {self.otherwise.text}" if self.otherwise is not None else self.text


def skipping(graph: ChannelGraph, on: str, names: Iterable[str]) -> Edit:
    """An entry that skips more."""
    entry, more = graph.entries[on], tuple(names)
    named = listed(more, _MOST_NAMED if len(more) <= _MOST_NAMED else _FEW_NAMED)
    return Edit(f"add {named} to the skips of {on}", lambda: (entry._replace(skips=(*entry.skips, *more)),))


def unskipping(graph: ChannelGraph, name: str, skippers: Iterable[str]) -> Edit:
    """Entries that no longer skip a name."""
    on = tuple(dict.fromkeys(skippers))

    def kept() -> tuple[Entry, ...]:
        entries = (graph.entries[s] for s in on)
        return tuple(e._replace(skips=tuple(s for s in e.skips if s != name)) for e in entries)

    return Edit(f"remove {name} from the skips of {listed(on, _MOST_NAMED)}", kept)


def replacing(graph: ChannelGraph, on: str, target: str) -> Edit:
    """An entry that replaces another one than now."""
    return Edit(f"set replaces: {target} on {on}", (graph.entries[on]._replace(replaces=target),))


def unreplacing(graph: ChannelGraph, on: str) -> Edit:
    """An entry that replaces nothing any more."""
    entry = graph.entries[on]
    return Edit(f"remove replaces: {entry.replaces} from {on}", (entry._replace(replaces=None),))


def adding(entry: Entry, edge: str) -> Edit:
    """A channel with an entry more."""
    return Edit(f"put {entry.name} into this channel{edge}", (entry,))


def joined(first: Edit, second: Edit) -> Edit | None:
    """Two edits as one; None where both change the same entry."""
    if not {e.name for e in first.entries}.isdisjoint(e.name for e in second.entries):
        return None
    return Edit(f"{first.text} and {second.text}", first.entries + second.entries)


def next_release(graph: ChannelGraph, name: str) -> str:
    """The release that both generations go to from an entry, whatever stands in the channel now."""
    top = graph.versions[graph.by_version[-1]] if graph.by_version else None
    above = f"publish a release above {top}" if top else "publish a release"
    newest, *others = graph.unrelated(graph.heads) or graph.by_version[-1:] or (name,)
    skips = [*others, *(() if name in graph.versions or name == newest else (name,))]
    start = f", with a skipRange from {graph.versions[name]}" if name in graph.versions else ""
    return f"{above} that replaces {newest}{f' and skips {listed(skips)}' if skips else ''}{start}"


def widening(graph: ChannelGraph, on: str, covered: Iterable[str]) -> Edit | None:
    """`give b3 the skipRange '>=1.0.0 <3.0.0'`: the range by which an entry accepts some older ones.

    Ranges make no head and unmake none, so opm's verdict stays what it was. None where versions forbid it.
    """
    high = graph.versions.get(on)
    lows = [graph.versions[name] for name in covered if name in graph.versions]
    if high is None or not lows or min(lows) >= high:
        return None
    entry = graph.entries[on]
    known, wanted = graph.ranges.get(on), f">={min(lows)} <{high}"
    is_more = known is not None and not known.intervals.is_subset(Range.parse(wanted).intervals)
    return _ranged(entry, f"{entry.skip_range} || {wanted}" if is_more else wanted)


def bounded(graph: ChannelGraph, on: str) -> Edit | None:
    """An entry whose range ends below its own version; None without a version."""
    entry, version = graph.entries[on], graph.versions.get(on)
    if version is None:
        return None
    left = graph.ranges[on].intervals & IntervalSet.where("<", version)
    if left.is_empty:
        return Edit(f"remove the skipRange of {on}", (entry._replace(skip_range=None),))
    return _ranged(entry, " || ".join(map(_spelled, left)))


def _ranged(entry: Entry, span: str) -> Edit:
    return Edit(f"give {entry.name} the skipRange '{span}'", (entry._replace(skip_range=span),))


def _spelled(run: Interval) -> str:
    """A run of versions as one would write it."""
    if run.low == run.high:
        return f"={run.low}"
    low = f">{'=' * run.low_inclusive}{run.low}" if run.low else ""
    return f"{low} <{'=' * run.high_inclusive}{run.high}".strip()


def safest(graph: ChannelGraph, edits: Iterable[Edit]) -> Edit | None:
    """The first edit after which opm still accepts the channel; any, if it does not accept it now.

    Cost: the edges of the entries that each edit changes.
    """
    is_accepted = opm.verdict(graph).accepted
    return next((e for e in edits if not is_accepted or still_accepts(graph, e.entries)), None)


def edited(graph: ChannelGraph, edit: Edit) -> ChannelGraph:
    """The channel as it would be."""
    changed = {entry.name: entry for entry in edit.entries}
    entries = (changed.pop(e.name, e) for e in graph.channel.entries)
    return ChannelGraph(replace(graph.channel, entries=(*entries, *changed.values())), graph.package)
