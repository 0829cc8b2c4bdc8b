"""ClusterExtensions without `channels`, which is the default: OLM v1 may install a bundle of any channel.

OLM v1 knows no heads and treats all kinds of edge alike. For such a ClusterExtension all channels of a
package are one channel with the edges of all of them, so it is compared like a channel.
"""

from __future__ import annotations

__all__ = ["AllChannels", "AllChannelsComparison", "compare_all_channels", "is_single_channel"]

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Final

from everpath.comparison.causes import causes
from everpath.comparison.changes import Change
from everpath.comparison.channels import NO_FIX_FOUND, REPORTED_OUTCOMES, regression_change
from everpath.comparison.differences import Difference, EditKind, describe_addition, differences
from everpath.comparison.fixes import Regression, group_by_edits, keeps_all_goals, resolves_all
from everpath.comparison.installed_paths import Installations, InstalledPaths, installations
from everpath.comparison.outcomes import ChannelPair, PathOutcome, VersionOutcome
from everpath.comparison.trials import ChannelTrials
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Channel, Entry
from everpath.ranges import Range, RangeError
from everpath.resolvers import ResolverName, olm_v1, opm
from everpath.resolvers.catalog_candidates import served_package
from everpath.rules.fixes.edits import ChannelEdit, add_skips, apply_edit, widen_range
from everpath.upgrade_path.path import UpgradePath
from everpath.wording import join_names

#: Channels in which a fix is tried, those with the newest heads first.
_MAX_CHANNELS: Final = 3

#: Names that are added to `skips`; for more, a range is the shorter edit.
_MAX_SKIPPED: Final = 3


class AllChannels:
    """All channels of a package as one, `graph`. Its goals are the heads of all channels.

    What was a goal in the catalog `before` stays one: if a head is left behind, that is reported for its
    channel, and a ClusterExtension without `channels` loses nothing by the same path.
    """

    def __init__(self, package: PackageGraph, before: AllChannels | None = None) -> None:
        self.served = served_package(package)
        self.heads = frozenset(g.head for g in self.served.channels if g.head is not None)
        self._withdrawn = frozenset(name for g in self.served.channels for name in g.skippers)
        self._goals_before: Collection[str] = ()
        if before is not None:
            self._goals_before = before.goals(before.resolved_graph)

    @cached_property
    def graph(self) -> ChannelGraph:
        """One channel in which an entry skips all that it replaces or skips in any channel. O(edges)."""
        package = self.served.package
        declared: dict[str, list[Entry]] = {}
        for channel in package.channels:
            for entry in channel.entries:
                declared.setdefault(entry.name, []).append(entry)
        entries = [_merge_entries(each) for each in declared.values()]
        # A bundle in no channel is an entry, too: it is installed over its own version without an edge.
        entries += (Entry(b.name, b.place) for b in package.bundles if b.name not in declared)
        channel = Channel("", package.name, package.place, tuple(entries))
        return ChannelGraph(channel, package._replace(channels=(channel,)))

    @cached_property
    def resolved_graph(self) -> ChannelGraph:
        """The graph whose paths are computed: the only channel, if there is one, else `graph`."""
        return self.served.channels[0] if _has_one_channel(self.served) else self.graph

    def paths(self, installed: Installations) -> Mapping[str, UpgradePath]:
        """Return the paths of all installed versions."""
        paths = _AllChannelPaths(self.resolved_graph, installed, self)
        return {name: paths.path(name) for name in installed}

    def goals(self, graph: ChannelGraph) -> frozenset[str]:
        """Return heads, a new installation unless withdrawn, and former goals; `graph` may be a copy."""
        newest = (name for name in olm_v1.new_installs(graph) if name not in self._withdrawn)
        before = (name for name in self._goals_before if name in graph.entries)
        return frozenset((*self.heads, *newest, *before))


def _merge_entries(declared: Sequence[Entry]) -> Entry:
    names = dict.fromkeys(n for entry in declared for n in (entry.replaces, *entry.skips) if n)
    ranges = dict.fromkeys(e.skip_range for e in declared if e.skip_range and _is_valid_range(e.skip_range))
    return declared[0]._replace(replaces=None, skips=tuple(names), skip_range=" || ".join(ranges) or None)


def _is_valid_range(text: str) -> bool:
    """Return whether a range parses. OLM ignores an invalid one; joined, it would invalidate the others."""
    try:
        Range.parse(text)
    except RangeError:
        return False
    return True


def compare_all_channels(
    old: PackageGraph, new: PackageGraph, rows: Iterable[VersionOutcome], resolvers: Sequence[ResolverName]
) -> tuple[tuple[VersionOutcome, ...], tuple[Change, ...]]:
    """Return the outcomes without `channels`, and the changes that `rows` of single channels do not show.

    Both are empty for a package with a single channel. Cost: O((edges + ranges) · log n), and the trials.
    """
    if is_single_channel(old, new):
        return (), ()
    before = AllChannels(old)
    comparison = AllChannelsComparison(before, AllChannels(new, before))
    return comparison.rows, tuple(comparison.changes(rows, resolvers))


def is_single_channel(*packages: PackageGraph) -> bool:
    """Return whether all packages have the same single channel, with all bundles in it."""
    names = {channel.name for package in packages for channel in package.package.channels}
    return len(names) == 1 and all(_has_one_channel(package) for package in packages)


def _has_one_channel(package: PackageGraph) -> bool:
    return len(package.channels) == 1 and all(
        bundle.name in package.channels[0].entries for bundle in package.package.bundles
    )


class _AllChannelPaths(InstalledPaths):
    """Upgrade paths by the edges of all channels."""

    is_all_channels = True

    def __init__(
        self, graph: ChannelGraph, installed: Installations, package: AllChannels, *, is_trial: bool = False
    ) -> None:
        super().__init__(graph, "v1", installed, (package.served.name, ""), is_trial=is_trial)
        self._all_channels = package

    @property
    def _channels(self) -> tuple[str, ...] | None:
        """No channels. A trial lists the merged channel, because it may leave out a bundle's entry."""
        return None if self._is_trial else ()

    def in_trial(self, graph: ChannelGraph) -> InstalledPaths:
        return _AllChannelPaths(graph, self.installed, self._all_channels, is_trial=True)

    @cached_property
    def goals(self) -> frozenset[str]:
        return self._all_channels.goals(self.graph) if self.graph is not None else frozenset()

    @cached_property
    def top_entries(self) -> Collection[str]:
        return olm_v1.new_installs(self.graph) if self.graph is not None else ()

    def is_head(self, name: str) -> bool:
        return name in self._all_channels.heads


class _AllChannelTrials(ChannelTrials):
    """Trials whose edits are described for all channels: an edge removed in one may be in another."""

    @cached_property
    def edits(self) -> Sequence[Difference]:
        return [self._describe_for_all_channels(edit) for edit in differences(self.old, self.new)]

    def _describe_for_all_channels(self, edit: Difference) -> Difference:
        if edit.kind is EditKind.ADDED:
            entry = self.new.entries[edit.entry]
            return edit._replace(description=describe_addition(entry, "replaces or skips"))
        if edit.kind is not EditKind.SKIPS:
            return edit
        name = edit.entry
        before, after = (frozenset(graph.entries[name].skips) for graph in (self.old, self.new))
        fewer, more = join_names(sorted(before - after)), join_names(sorted(after - before))
        description = [f"{name} no longer replaces or skips {fewer} in any channel"] if fewer else []
        description += [f"{name} now replaces or skips {more} in a channel"] if more else []
        undo = [f"let {name} replace or skip {fewer} in a channel again"] if fewer else []
        undo += [f"let {name} replace or skip {more} in no channel"] if more else []
        return edit._replace(description=" and ".join(description), undo=" and ".join(undo))


class AllChannelsComparison:
    """The outcomes for ClusterExtensions without `channels`."""

    def __init__(self, old: AllChannels, new: AllChannels, installed: Installations | None = None) -> None:
        self._old = old
        self._new = new
        installed = installations(old.resolved_graph) if installed is None else installed
        old_paths, new_paths = (_AllChannelPaths(p.resolved_graph, installed, p) for p in (old, new))
        self._pair = ChannelPair(old_paths, new_paths)
        self.rows = tuple(self._pair.version_outcome(name, (new.served.name, None)) for name in installed)

    def changes(
        self, others: Iterable[VersionOutcome], resolvers: Sequence[ResolverName]
    ) -> Iterator[Change]:
        """Yield regressions and changed paths that no channel has; `others` are the rows of channels.

        Cost: one resolution of the package for each edit that is tried.
        """
        affected = _only_without_channels(self.rows, others)
        if not affected or not self._new.graph.entries:
            return
        trials = _AllChannelTrials(self._old.graph, self._new.graph)
        regressions = [
            Regression([self._pair], outcome, cause)
            for outcome, names in affected.items()
            for cause in causes(trials, self._pair, dict.fromkeys(names, outcome))
        ]
        fixes: dict[int, ChannelEdit] = {}
        for group in group_by_edits([each for each in regressions if each.outcome.is_regression]):
            fix = self._find_fix(trials, group, resolvers) or NO_FIX_FOUND
            fixes.update(dict.fromkeys(map(id, group), fix))
        for regression in regressions:
            yield regression_change(regression, fixes.get(id(regression)))

    def _find_fix(
        self, trials: ChannelTrials, group: Sequence[Regression], resolvers: Sequence[ResolverName]
    ) -> ChannelEdit | None:
        """Return an edit of one channel that fixes all and harms no path there; else undo the causes."""
        stops = sorted({self._pair.new.last(name) for each in group for name in each.cause.affected})
        headed = [g for g in self._new.served.channels if g.head is not None and g.head in g.versions]
        headed.sort(key=lambda g: (g.versions[g.head or ""].key, g.name), reverse=True)
        for graph in headed[:_MAX_CHANNELS]:
            for edit in _candidate_edits(graph, stops):
                trial = apply_edit(graph, edit)
                served = self._new.served.package
                channels = tuple(trial.channel if c.name == trial.name else c for c in served.channels)
                merged = AllChannels(PackageGraph(served._replace(channels=channels))).graph
                if resolves_all(trials, merged, group) and _is_harmless(graph, trial, resolvers):
                    return ChannelEdit(f"{edit.text} in channel {graph.name}", ())
        edits = tuple(dict.fromkeys(edit for each in group for edit in each.cause.edits))
        return ChannelEdit(join_names([edit.undo for edit in edits]), ()) if edits else None


def _only_without_channels(
    rows: Iterable[VersionOutcome], others: Iterable[VersionOutcome]
) -> Mapping[PathOutcome, Sequence[str]]:
    """Return the reported outcomes that differ from those of the same version in every channel."""
    in_channels: dict[str, list[VersionOutcome]] = {}
    for other in others:
        if other.resolver == "v1":
            in_channels.setdefault(other.installed, []).append(other)
    found: dict[PathOutcome, list[str]] = {outcome: [] for outcome in REPORTED_OUTCOMES}
    for row in rows:
        channels = in_channels.get(row.installed, ())
        if row.outcome in found and not any(_is_same_outcome(row, other) for other in channels):
            found[row.outcome].append(row.installed)
    return {outcome: names for outcome, names in found.items() if names}


def _is_same_outcome(row: VersionOutcome, other: VersionOutcome) -> bool:
    """Return whether both are cut off, or both paths have the same ends, lengths and outcome."""
    if row.outcome.is_regression and other.outcome.is_regression:
        return True
    old, other_old, new, other_new = (
        (path.next, path.end, path.last, len(path.hops)) for path in (row.old, other.old, row.new, other.new)
    )
    return new == other_new and (old == other_old or row.outcome is other.outcome)


def _candidate_edits(graph: ChannelGraph, stops: Sequence[str]) -> Iterator[ChannelEdit]:
    assert graph.head is not None  # channels without a head are not tried
    others = [stop for stop in stops if stop != graph.head]
    if others and len(others) <= _MAX_SKIPPED:
        yield add_skips(graph, graph.head, others)
    if others and (edit := widen_range(graph, graph.head, others)) is not None:
        yield edit


def _is_harmless(graph: ChannelGraph, trial: ChannelGraph, resolvers: Sequence[ResolverName]) -> bool:
    """Return whether all paths of the channel keep their goals after an edit, and opm still accepts it."""
    where, installed = (graph.package.name, graph.name), installations(graph)
    return opm.validate_channel(trial).is_valid >= opm.validate_channel(graph).is_valid and all(
        keeps_all_goals(
            InstalledPaths(graph, resolver, installed, where),
            InstalledPaths(trial, resolver, installed, where),
        )
        for resolver in resolvers
    )
