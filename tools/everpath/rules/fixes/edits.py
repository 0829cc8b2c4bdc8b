"""Edits of a channel, as suggested fixes: the changed entries and the text for the report."""

from __future__ import annotations

__all__ = [
    "Advice",
    "ChannelEdit",
    "DeferredFix",
    "FixedWith",
    "add_entry",
    "add_skips",
    "apply_edit",
    "cap_range",
    "first_accepted_edit",
    "join_edits",
    "merge_edits",
    "missing_bundles_advice",
    "next_release_advice",
    "remove_replaces",
    "remove_skip",
    "republish_advice",
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

#: The number of names in a fix: the user has to copy them.
_MAX_NAMES = 40

#: The number of names shown of a longer list; the edit itself has all.
_SAMPLE_NAMES = 3


class ChannelEdit(NamedTuple):
    """The changed entries of a channel, and the text of the fix.

    If both help, the fix names the edit and its `alternative`; otherwise the one that helps. If none does,
    the fix is `fallback`: a third edit, which must help too, or advice.
    `changes` can be a function: thousands of edits of one long skips list would take too much memory.
    `copied`: names in the text that users copy into the channel; reports do not shorten them.
    """

    text: str
    changes: tuple[Entry, ...] | Callable[[], tuple[Entry, ...]]
    alternative: ChannelEdit | None = None
    fallback: ChannelEdit | str | None = None
    copied: tuple[str, ...] = ()

    @property
    def entries(self) -> tuple[Entry, ...]:
        """The changed entries."""
        return self.changes() if callable(self.changes) else self.changes

    @property
    def copied_names(self) -> tuple[str, ...]:
        """The names that users copy from the edit and its alternative."""
        return self.copied + (self.alternative.copied if self.alternative is not None else ())

    def __str__(self) -> str:
        return f"{self.text}, or {self.alternative.text}" if self.alternative is not None else self.text


class Advice(NamedTuple):
    """A fix that is not an edit, with the names in it that users copy."""

    text: str
    copied_names: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.text


class DeferredFix(NamedTuple):
    """The fix of a finding whose edit cannot be applied before those of other findings."""

    text: str

    def __str__(self) -> str:
        return self.text


class FixedWith(NamedTuple):
    """The fix of a finding that the fix of another finding resolves; `fix` is that fix, if it is repeated."""

    rule: str
    entry: str | None
    fix: ChannelEdit | DeferredFix | None = None

    @property
    def copied_names(self) -> tuple[str, ...]:
        return self.fix.copied if isinstance(self.fix, ChannelEdit) else ()

    def __str__(self) -> str:
        other = f"{self.rule} ({self.entry})" if self.entry else self.rule
        if isinstance(self.fix, DeferredFix):
            return f"same cause as {other}: {self.fix}"
        return f"fixed together with {other}{f': {self.fix.text}' if self.fix is not None else ''}"


def add_skips(graph: ChannelGraph, on: str, names: Iterable[str]) -> ChannelEdit:
    """Add names to the skips of an entry."""
    entry, more = graph.entries[on], tuple(names)
    named = join_names(more, _MAX_NAMES if len(more) <= _MAX_NAMES else _SAMPLE_NAMES)
    return ChannelEdit(
        f"add {named} to the skips of {on}", lambda: (entry._replace(skips=(*entry.skips, *more)),)
    )


def remove_skip(graph: ChannelGraph, name: str, skippers: Iterable[str]) -> ChannelEdit:
    """Remove a name from the skips of entries."""
    on = tuple(dict.fromkeys(skippers))

    def changes() -> tuple[Entry, ...]:
        entries = (graph.entries[s] for s in on)
        return tuple(e._replace(skips=tuple(s for s in e.skips if s != name)) for e in entries)

    return ChannelEdit(f"remove {name} from the skips of {join_names(on, _MAX_NAMES)}", changes)


def set_replaces(graph: ChannelGraph, on: str, target: str) -> ChannelEdit:
    """Set what an entry replaces."""
    changed = graph.entries[on]._replace(replaces=target)
    return ChannelEdit(f"set replaces: {target} on {on}", (changed,), copied=(target,))


def remove_replaces(graph: ChannelGraph, on: str) -> ChannelEdit:
    """Remove the replaces of an entry."""
    entry = graph.entries[on]
    text, copied = f"remove replaces: {entry.replaces} from {on}", (entry.replaces or "",)
    return ChannelEdit(text, (entry._replace(replaces=None),), copied=copied)


def add_entry(entry: Entry, replaces: str | None = None) -> ChannelEdit:
    """Add an entry to the channel. `replaces` is what the text names of its edges."""
    edge = f", with replaces: {replaces}" if replaces is not None else ""
    copied = (replaces,) if replaces is not None else ()
    return ChannelEdit(f"add {entry.name} to this channel{edge}", (entry,), copied=copied)


def join_edits(first: ChannelEdit, second: ChannelEdit) -> ChannelEdit | None:
    """Combine two edits; return None if both change the same entry."""
    if not {e.name for e in first.entries}.isdisjoint(e.name for e in second.entries):
        return None
    text, copied = f"{first.text} and {second.text}", first.copied + second.copied
    return ChannelEdit(text, first.entries + second.entries, copied=copied)


def merge_edits(graph: ChannelGraph, first: ChannelEdit, second: ChannelEdit) -> ChannelEdit | None:
    """Combine two edits, also of the same entry; return None if they contradict each other."""
    entries = {entry.name: entry for entry in first.entries}
    for other in second.entries:
        one, base = entries.get(other.name, other), graph.entries.get(other.name)
        both = one if one == other else _merge_entry(base, one, other) if base is not None else None
        if both is None:
            return None
        entries[other.name] = both
    text, copied = f"{first.text} and {second.text}", first.copied + second.copied
    return ChannelEdit(text, tuple(entries.values()), copied=copied)


def _merge_entry(base: Entry, one: Entry, other: Entry) -> Entry | None:
    """Three-way merge of an entry; None if both change the same field differently."""
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
    """Advice for a next release to which OLM v0 and v1 both update from an entry."""
    top = graph.versions[graph.by_version[-1]] if graph.by_version else None
    above = f"publish a release above {top}" if top else "publish a release"
    newest, *others = graph.topmost(graph.heads) or graph.by_version[-1:] or (name,)
    skips = [*others, *(() if name in graph.versions or name == newest else (name,))]
    start = f", with a skipRange from {graph.versions[name]}" if name in graph.versions else ""
    return f"{above} that replaces {newest}{f' and skips {join_names(skips)}' if skips else ''}{start}"


def republish_advice(graph: ChannelGraph, name: str, *, above: str) -> str:
    """Advice for an entry that must be above another one but has a lower version."""
    version, other = graph.versions[name], graph.versions[above]
    return f"republish {name} under a version above {other}: semver ranks {version} below {other}"


def missing_bundles_advice(graph: ChannelGraph, names: Iterable[str]) -> str | None:
    """Advice if the order of entries is unknown because their bundles are missing; None if it is known."""
    missing = [name for name in names if graph.bundle(name) is None and name not in graph.stated_versions]
    return f"add the olm.bundle document of {join_names(missing)}, then validate again" if missing else None


def widen_range(graph: ChannelGraph, on: str, covered: Iterable[str]) -> ChannelEdit | None:
    """Widen the skipRange of an entry to cover older entries; return None if their versions are not lower.

    Ranges do not change the heads, so opm accepts the channel as before.
    """
    high = graph.versions.get(on)
    lows = [graph.versions[name] for name in covered if name in graph.versions]
    if high is None or not lows or min(lows) >= high:
        return None
    entry = graph.entries[on]
    known, wanted = graph.ranges.get(on), f">={min(lows)} <{high}"
    is_more = known is not None and not known.intervals.is_subset(Range.parse(wanted).intervals)
    return set_range(entry, f"{entry.skip_range} || {wanted}" if is_more else wanted)


def cap_range(graph: ChannelGraph, on: str, span: IntervalSet | None = None) -> ChannelEdit | None:
    """End the range of an entry, or `span`, below its own version; return None without a version."""
    version = graph.versions.get(on)
    if version is None:
        return None
    entry, known = graph.entries[on], graph.ranges[on].intervals if span is None else span
    lower = known & IntervalSet.from_comparison("<", version)
    if lower.is_empty:
        return ChannelEdit(f"remove the skipRange of {on}", (entry._replace(skip_range=None),))
    return set_range(entry, " || ".join(map(_format_interval, lower)))


def set_range(entry: Entry, span: str) -> ChannelEdit:
    """Set the skipRange of an entry."""
    return ChannelEdit(f"give {entry.name} the skipRange '{span}'", (entry._replace(skip_range=span),))


def _format_interval(interval: Interval) -> str:
    """Format an interval of versions."""
    if interval.low == interval.high:
        return f"={interval.low}"
    low = f">{'=' * interval.low_inclusive}{interval.low}" if interval.low else ""
    high = f"<{'=' * interval.high_inclusive}{interval.high}" if interval.high else ""
    return f"{low} {high}".strip()


def first_accepted_edit(graph: ChannelGraph, edits: Iterable[ChannelEdit]) -> ChannelEdit | None:
    """Return the first edit after which opm accepts the channel; any edit, if opm rejects it now.

    Cost: the edges of the entries that each edit changes.
    """
    is_accepted = opm.validate_channel(graph).is_valid
    return next((e for e in edits if not is_accepted or is_valid_after(graph, e.entries)), None)


def apply_edit(graph: ChannelGraph, edit: ChannelEdit) -> ChannelGraph:
    """Return the channel with the edit applied."""
    changed = {entry.name: entry for entry in edit.entries}
    entries = (changed.pop(e.name, e) for e in graph.channel.entries)
    return ChannelGraph(graph.channel._replace(entries=(*entries, *changed.values())), graph.package)
