"""Edits of a channel, tried before they are advised: a fix must not cost a catalog opm's acceptance."""

from __future__ import annotations

__all__ = [
    "Edit",
    "add_entry",
    "add_skips",
    "apply_edit",
    "cap_range",
    "first_accepted_edit",
    "is_worth_trying",
    "join_edits",
    "merge_edits",
    "missing_bundles_advice",
    "move_range",
    "next_release_advice",
    "remove_edge",
    "remove_replaces",
    "remove_skip",
    "set_range",
    "set_replaces",
    "widen_range",
]

from collections.abc import Callable, Iterable
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.model import Entry
from everpath.ranges import Interval, IntervalSet, Range
from everpath.resolvers import opm
from everpath.resolvers.opm_revalidation import is_valid_after
from everpath.wording import join_names

#: Names are spelled out in a fix up to this many: who is to write them down must see them.
_MOST_NAMED = 40

#: Entries of all copies of a channel on which edits are tried that only notes speak of.
_MOST_NOTED = 100

#: Of more than that so many, to show whom the fix means; the entries of the edit have all.
_FEW_NAMED = 3


class Edit(NamedTuple):
    """Entries as they would read, and the words for it; `otherwise` says what would do as well.

    `instead` is for a channel where this would harm somebody: another edit to try, or advice in words.
    `lead` stands before the words where to leave all as it is would be as good.
    Where an entry has a list, what makes it stands in its stead: thousands of edits of one long list would
    hold it thousands of times, and most are never tried.
    """

    text: str
    changes: tuple[Entry, ...] | Callable[[], tuple[Entry, ...]]
    alternative: Edit | None = None
    fallback: Edit | str | None = None
    prefix: str = ""

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The entries that change, as they would read."""
        return self.changes() if callable(self.changes) else self.changes

    def __str__(self) -> str:
        words = f"{self.prefix}{self.text}"
        return f"{words}, or {self.alternative.text}" if self.alternative is not None else words


def add_skips(graph: ChannelGraph, on: str, names: Iterable[str]) -> Edit:
    """An entry that skips more."""
    entry, more = graph.entries[on], tuple(names)
    named = join_names(more, _MOST_NAMED if len(more) <= _MOST_NAMED else _FEW_NAMED)
    return Edit(f"add {named} to the skips of {on}", lambda: (entry._replace(skips=(*entry.skips, *more)),))


def remove_skip(graph: ChannelGraph, name: str, skippers: Iterable[str]) -> Edit:
    """Entries that no longer skip a name."""
    on = tuple(dict.fromkeys(skippers))

    def kept() -> tuple[Entry, ...]:
        entries = (graph.entries[s] for s in on)
        return tuple(e._replace(skips=tuple(s for s in e.skips if s != name)) for e in entries)

    return Edit(f"remove {name} from the skips of {join_names(on, _MOST_NAMED)}", kept)


def set_replaces(graph: ChannelGraph, on: str, target: str) -> Edit:
    """An entry that replaces another one than now."""
    return Edit(f"set replaces: {target} on {on}", (graph.entries[on]._replace(replaces=target),))


def remove_replaces(graph: ChannelGraph, on: str) -> Edit:
    """An entry that replaces nothing any more."""
    entry = graph.entries[on]
    return Edit(f"remove replaces: {entry.replaces} from {on}", (entry._replace(replaces=None),))


def add_entry(entry: Entry, edge: str) -> Edit:
    """A channel with an entry more."""
    return Edit(f"put {entry.name} into this channel{edge}", (entry,))


def join_edits(first: Edit, second: Edit) -> Edit | None:
    """Two edits as one; None where both change the same entry."""
    if not {e.name for e in first.entries}.isdisjoint(e.name for e in second.entries):
        return None
    return Edit(f"{first.text} and {second.text}", first.entries + second.entries)


def merge_edits(graph: ChannelGraph, first: Edit, second: Edit) -> Edit | None:
    """Two edits of a channel as one, where both change the same entry, too; None where they contradict."""
    entries = {entry.name: entry for entry in first.entries}
    for other in second.entries:
        one, base = entries.get(other.name, other), graph.entries.get(other.name)
        both = one if one == other else _both(base, one, other) if base is not None else None
        if both is None:
            return None
        entries[other.name] = both
    return Edit(f"{first.text} and {second.text}", tuple(entries.values()))


def _both(base: Entry, one: Entry, other: Entry) -> Entry | None:
    """An entry with what two others have made of it; None where they have made two things of one."""
    fields = (
        (base.replaces, one.replaces, other.replaces),
        (base.skip_range, one.skip_range, other.skip_range),
    )
    if any(len({*field}) > 2 for field in fields):
        return None
    replaces, skip_range = (second if first == was else first for was, first, second in fields)
    common, known = {*one.skips} & {*other.skips}, {*base.skips}
    left = (s for s in base.skips if s in common)
    more = dict.fromkeys(s for s in (*one.skips, *other.skips) if s not in known)
    return base._replace(replaces=replaces, skips=(*left, *more), skip_range=skip_range)


def next_release_advice(graph: ChannelGraph, name: str) -> str:
    """The release that both generations go to from an entry, whatever stands in the channel now."""
    top = graph.versions[graph.by_version[-1]] if graph.by_version else None
    above = f"publish a release above {top}" if top else "publish a release"
    newest, *others = graph.topmost(graph.heads) or graph.by_version[-1:] or (name,)
    skips = [*others, *(() if name in graph.versions or name == newest else (name,))]
    start = f", with a skipRange from {graph.versions[name]}" if name in graph.versions else ""
    return f"{above} that replaces {newest}{f' and skips {join_names(skips)}' if skips else ''}{start}"


def missing_bundles_advice(graph: ChannelGraph, names: Iterable[str]) -> str | None:
    """What comes before an edit that puts some entries below others, if nobody can tell which are newer."""
    missing = [name for name in names if graph.bundle(name) is None and name not in graph.stated_versions]
    return f"add the olm.bundle document of {join_names(missing)} first, then ask again" if missing else None


def widen_range(graph: ChannelGraph, on: str, covered: Iterable[str]) -> Edit | None:
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
    return set_range(entry, f"{entry.skip_range} || {wanted}" if is_more else wanted)


def cap_range(graph: ChannelGraph, on: str, span: IntervalSet | None = None) -> Edit | None:
    """An entry whose range, or another one, ends below its own version; None without a version."""
    version = graph.versions.get(on)
    if version is None:
        return None
    known = graph.ranges[on].intervals if span is None else span
    return _limited(graph.entries[on], known & IntervalSet.from_comparison("<", version))


def remove_edge(graph: ChannelGraph, on: str, name: str) -> Edit:
    """An entry that no longer accepts another one by its skips or its range, whatever it replaces."""
    entry, known, version = graph.entries[on], graph.ranges.get(on), graph.versions.get(name)
    edits = [remove_skip(graph, name, [on])] if name in entry.skips else []
    if known is not None and version is not None and known.intervals.contains(version):
        # No more than this version: others below it may be installed and in no catalog any more.
        edits.append(_limited(entry, known.intervals & ~IntervalSet.from_comparison("=", version)))
    skips, span = tuple(s for s in entry.skips if s != name), edits[-1].entries[0].skip_range
    return Edit(join_names(e.text for e in edits), (entry._replace(skips=skips, skip_range=span),))


def move_range(graph: ChannelGraph, name: str, to: str) -> Edit | None:
    """A range that another entry has, as far as it is below that one; None without a version."""
    own = graph.ranges[to].intervals if to in graph.ranges else IntervalSet()
    given = cap_range(graph, to, graph.ranges[name].intervals | own)
    bare = _limited(graph.entries[name], IntervalSet())
    is_needless = graph.ranges[name].intervals.is_subset(own)
    return bare if is_needless else join_edits(bare, given) if given is not None else None


def is_worth_trying(count: int, graph: ChannelGraph) -> bool:
    """Whether so many edits, each of which need not be made, are worth a copy of the channel."""
    return count * len(graph.entries) <= _MOST_NOTED


def _limited(entry: Entry, span: IntervalSet) -> Edit:
    if span.is_empty:
        return Edit(f"remove the skipRange of {entry.name}", (entry._replace(skip_range=None),))
    return set_range(entry, " || ".join(map(_spelled, span)))


def set_range(entry: Entry, span: str) -> Edit:
    """An entry with another range."""
    return Edit(f"give {entry.name} the skipRange '{span}'", (entry._replace(skip_range=span),))


def _spelled(run: Interval) -> str:
    """A run of versions as one would write it."""
    if run.low == run.high:
        return f"={run.low}"
    low = f">{'=' * run.low_inclusive}{run.low}" if run.low else ""
    high = f"<{'=' * run.high_inclusive}{run.high}" if run.high else ""
    return f"{low} {high}".strip()


def first_accepted_edit(graph: ChannelGraph, edits: Iterable[Edit]) -> Edit | None:
    """The first edit after which opm still accepts the channel; any, if it does not accept it now.

    Cost: the edges of the entries that each edit changes.
    """
    is_accepted = opm.validate_channel(graph).is_valid
    return next((e for e in edits if not is_accepted or is_valid_after(graph, e.entries)), None)


def apply_edit(graph: ChannelGraph, edit: Edit) -> ChannelGraph:
    """The channel as it would be."""
    changed = {entry.name: entry for entry in edit.entries}
    entries = (changed.pop(e.name, e) for e in graph.channel.entries)
    return ChannelGraph(graph.channel._replace(entries=(*entries, *changed.values())), graph.package)
