"""Whoever names no channel: a ClusterExtension without `channels`, OLM v1's default, may take any bundle.

To OLM v1, which knows no heads, an edge is an edge, whichever channel states it and however. So all channels
of a package are one channel to such a user, and what is known of a channel is known of this one.
"""

from __future__ import annotations

__all__ = ["AnyChannel", "Whole", "follow", "is_same"]

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from everpath.compare.causes import causes
from everpath.compare.changes import Change
from everpath.compare.channel_paths import Installations, Road, Roads, installations
from everpath.compare.channels import TRACED, UNMENDED, changed
from everpath.compare.differences import Difference, Kind, added, differences
from everpath.compare.fixes import Wound, related, spares
from everpath.compare.outcomes import Meeting, Outcome, Row
from everpath.compare.trials import Trials
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Channel, Entry
from everpath.ranges import Range, RangeError
from everpath.resolvers import ResolverName, olm_v1, opm
from everpath.resolvers.catalog_candidates import served_package
from everpath.rules.edits import Edit, add_skips, apply_edit, widen_range
from everpath.wording import join_names

#: Channels in which a way out is tried, those with the newest heads first.
_MOST_CHANNELS: Final = 3

#: So many names are added to skips; for more, one range is the shorter edit.
_MOST_SKIPPED: Final = 3


class Whole:
    """A package as one channel, `graph`, and where a road in it may well end: at the head of a channel.

    Where a road ended well in the catalog `before`, it does now: whoever is left behind on the head of a
    channel is told so there, and a user without channels loses nothing by the same road.
    """

    def __init__(self, package: PackageGraph, before: Whole | None = None) -> None:
        self.served = served_package(package)
        self.heads = frozenset(g.head for g in self.served.channels if g.head is not None)
        self._withdrawn = frozenset(name for g in self.served.channels for name in g.skippers)
        self._before: Collection[str] = ()
        if before is not None:
            self._before = before.homes(before.walked)

    @cached_property
    def graph(self) -> ChannelGraph:
        return _joined(self.served)

    @cached_property
    def walked(self) -> ChannelGraph:
        """What has the roads of `graph`: the only channel, if there is but one, whose answers are known."""
        return self.served.channels[0] if _is_one(self.served) else self.graph

    def roads(self, installed: Installations) -> Mapping[str, Road]:
        """The road of everybody."""
        roads = _Roads(self.walked, installed, self)
        return {name: roads.road(name) for name in installed}

    def homes(self, graph: ChannelGraph) -> frozenset[str]:
        """Heads, the newest, if it is not withdrawn, and what was as good; `graph` may be a trial."""
        newest = (name for name in olm_v1.new_installs(graph) if name not in self._withdrawn)
        before = (name for name in self._before if name in graph.entries)
        return frozenset((*self.heads, *newest, *before))


def _joined(package: PackageGraph) -> ChannelGraph:
    """All channels as one, in which an entry skips whatever it replaces or skips in any of them. O(edges).

    A bundle that is in no channel is an entry, too: it needs no edge for what has its very version.
    """
    stated: dict[str, list[Entry]] = {}
    for channel in package.package.channels:
        for entry in channel.entries:
            stated.setdefault(entry.name, []).append(entry)
    entries = [_united(each) for each in stated.values()]
    entries += (Entry(b.name, b.place) for b in package.package.bundles if b.name not in stated)
    channel = Channel("", package.name, package.package.place, tuple(entries))
    return ChannelGraph(channel, package.package._replace(channels=(channel,)))


def _united(stated: Sequence[Entry]) -> Entry:
    names = dict.fromkeys(n for entry in stated for n in (entry.replaces, *entry.skips) if n)
    spans = dict.fromkeys(e.skip_range for e in stated if e.skip_range and _is_range(e.skip_range))
    span = " || ".join(spans) or None
    return stated[0]._replace(replaces=None, skips=tuple(names), skip_range=span)


def _is_range(text: str) -> bool:
    """OLM ignores a range that it cannot read; joined with others it would spoil them."""
    try:
        Range.parse(text)
    except RangeError:
        return False
    return True


def follow(
    old: PackageGraph, new: PackageGraph, rows: Iterable[Row], policies: Sequence[ResolverName]
) -> tuple[tuple[Row, ...], tuple[Change, ...]]:
    """The rows of whoever names no channel, and what `rows`, those of whoever does, leave to say of them.

    None where it makes no difference. Cost: O((edges + ranges) · log n), and the trials of AnyChannel.
    """
    if is_same(old, new):
        return (), ()
    before = Whole(old)
    found = AnyChannel(before, Whole(new, before))
    return found.rows, tuple(found.changes(rows, policies))


def is_same(*packages: PackageGraph) -> bool:
    """Whether to name no channel is to name the only one: it has all bundles, and a single name."""
    names = {channel.name for package in packages for channel in package.package.channels}
    return len(names) == 1 and all(_is_one(package) for package in packages)


def _is_one(package: PackageGraph) -> bool:
    return len(package.channels) == 1 and all(
        bundle.name in package.channels[0].entries for bundle in package.package.bundles
    )


class _Roads(Roads):
    """Roads along the edges of all channels."""

    spans = True

    @property
    def _channels(self) -> tuple[str, ...] | None:
        """None are named; but a bundle whose entry a trial takes out is not there in that trial."""
        return None if self._is_trial else ()

    def __init__(
        self, graph: ChannelGraph, installed: Installations, package: Whole, *, is_trial: bool = False
    ) -> None:
        super().__init__(graph, "v1", installed, (package.served.name, ""), is_trial=is_trial)
        self._whole = package

    def over(self, graph: ChannelGraph) -> Roads:
        return _Roads(graph, self.installed, self._whole, is_trial=True)

    @cached_property
    def homes(self) -> frozenset[str]:
        return self._whole.homes(self.graph) if self.graph is not None else frozenset()

    @cached_property
    def summits(self) -> Collection[str]:
        return olm_v1.new_installs(self.graph) if self.graph is not None else ()

    def is_head(self, name: str) -> bool:
        return name in self._whole.heads


class _Trials(Trials):
    """Edits in words that fit: an edge that is gone from one channel may be stated by another."""

    @cached_property
    def edits(self) -> Sequence[Difference]:
        return [self._reworded(edit) for edit in differences(self.old, self.new)]

    def _reworded(self, edit: Difference) -> Difference:
        if edit.kind is Kind.ADDED:
            return edit._replace(words=added(self.new.entries[edit.entry], "replaces or skips"))
        if edit.kind is not Kind.SKIPS:
            return edit
        name = edit.entry
        before, after = (frozenset(graph.entries[name].skips) for graph in (self.old, self.new))
        fewer, more = join_names(sorted(before - after)), join_names(sorted(after - before))
        words = [f"{name} replaces or skips {fewer} in no channel any more"] if fewer else []
        words += [f"{name} replaces or skips {more} in a channel now"] if more else []
        undo = [f"let {name} replace or skip {fewer} in a channel again"] if fewer else []
        undo += [f"let {name} replace or skip {more} in no channel"] if more else []
        return edit._replace(words=" and ".join(words), undo=" and ".join(undo))


class AnyChannel:
    """Everybody who names no channel, in both catalogs."""

    def __init__(self, old: Whole, new: Whole, installed: Installations | None = None) -> None:
        self._new = new
        self._old = old
        installed = installations(old.walked) if installed is None else installed
        name = new.served.name
        there, here = (_Roads(p.walked, installed, p) for p in (old, new))
        self._meeting = Meeting(there, here)
        self.rows = tuple(self._meeting.row(each, (name, None)) for each in installed)

    def changes(self, others: Iterable[Row], policies: Sequence[ResolverName]) -> Iterator[Change]:
        """Who is hurt or surprised, and is so in no channel. `others` are the rows of whoever names one.

        Cost: a walk of the package for each edit that is tried.
        """
        victims = _news(self.rows, others)
        if not victims or not self._new.graph.entries:
            return
        trials = _Trials(self._old.graph, self._new.graph)
        wounds = [
            Wound([self._meeting], outcome, cause)
            for outcome, names in victims.items()
            for cause in causes(trials, self._meeting, dict.fromkeys(names, outcome))
        ]
        fixes: dict[int, Edit] = {}
        for alike in related([wound for wound in wounds if wound.outcome.hurts]):
            fixes.update(dict.fromkeys(map(id, alike), self._fix(trials, alike, policies) or UNMENDED))
        for wound in wounds:
            yield changed(*wound, fixes.get(id(wound)))

    def _fix(self, trials: Trials, wounds: Sequence[Wound], policies: Sequence[ResolverName]) -> Edit | None:
        """An edit of one channel that helps them all and hurts nobody there; else what takes it back."""
        stops = sorted({self._meeting.new.road(n).stop for wound in wounds for n in wound.cause.victims})
        for graph in self._channels():
            for edit in _ways_out(graph, stops):
                trial = apply_edit(graph, edit)
                whole = Whole(_with(self._new.served, trial)).graph
                if _helps_all(trials, whole, wounds) and _is_harmless(graph, trial, policies):
                    return Edit(f"{edit.text} in channel {graph.name}", ())
        edits = tuple(dict.fromkeys(edit for wound in wounds for edit in wound.cause.edits))
        return Edit(join_names([edit.undo for edit in edits]), ()) if edits else None

    def _channels(self) -> Iterable[ChannelGraph]:
        """Those with a head, the newest head first."""
        headed = [g for g in self._new.served.channels if g.head is not None and g.head in g.versions]
        headed.sort(key=lambda g: (g.versions[g.head or ""].key, g.name), reverse=True)
        return headed[:_MOST_CHANNELS]


def _news(rows: Iterable[Row], others: Iterable[Row]) -> Mapping[Outcome, Sequence[str]]:
    """Of whom there is more to say than of those who name a channel."""
    known: dict[str, list[Row]] = {}
    for other in others:
        if other.policy == "v1":
            known.setdefault(other.installed, []).append(other)
    found: dict[Outcome, list[str]] = {outcome: [] for outcome in TRACED}
    for row in rows:
        if row.outcome in found and not any(_is_same(row, other) for other in known.get(row.installed, ())):
            found[row.outcome].append(row.installed)
    return {outcome: names for outcome, names in found.items() if names}


def _is_same(row: Row, other: Row) -> bool:
    """Whether both go the same ways, or both are cut off: how to mend that is told of the channel."""
    if row.outcome.hurts and other.outcome.hurts:
        return True
    return row.new[:4] == other.new[:4] and (row.old[:4] == other.old[:4] or row.outcome is other.outcome)


def _ways_out(graph: ChannelGraph, stops: Sequence[str]) -> Iterator[Edit]:
    assert graph.head is not None  # it was chosen for it
    others = [stop for stop in stops if stop != graph.head]
    if others and len(others) <= _MOST_SKIPPED:
        yield add_skips(graph, graph.head, others)
    if others and (edit := widen_range(graph, graph.head, others)) is not None:
        yield edit


def _with(package: PackageGraph, trial: ChannelGraph) -> PackageGraph:
    channels = (trial.channel if c.name == trial.name else c for c in package.package.channels)
    return PackageGraph(package.package._replace(channels=tuple(channels)))


def _helps_all(trials: Trials, graph: ChannelGraph, wounds: Sequence[Wound]) -> bool:
    return all(
        trials.cured(meeting, graph, dict.fromkeys(wound.cause.victims, wound.outcome)) == wound.cause.victims
        for wound in wounds
        for meeting in wound.meetings
    )


def _is_harmless(graph: ChannelGraph, trial: ChannelGraph, policies: Sequence[ResolverName]) -> bool:
    """Whether whoever follows the channel itself does as well after the edit, and opm, too."""
    where, installed = (graph.package.name, graph.name), installations(graph)
    return opm.validate_channel(trial).is_valid >= opm.validate_channel(graph).is_valid and all(
        spares(Roads(graph, policy, installed, where), Roads(trial, policy, installed, where))
        for policy in policies
    )
