"""Search for edits with which an installed version reaches its goal, tried on copies of the channel."""

from __future__ import annotations

__all__ = ["FixSearch"]

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, reduce
from typing import Final

from everpath.explanation.trace import ExplainQuery, ResolverTrace, trace_resolvers
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Bundle, Entry
from everpath.ranges import Range
from everpath.resolvers import ResolverName, olm_v0, olm_v1
from everpath.rules.fixes.edits import ChannelEdit, add_skips, apply_edit, join_edits, set_range
from everpath.rules.fixes.trials import FixTrials
from everpath.upgrade_path.goals import path_goals
from everpath.versions import Version
from everpath.wording import join_names

#: Name of the release that is added to a trial.
_NEXT: Final = "the next release"


class FixSearch:
    """The channel of a trace, and edits with which its path reaches its goal."""

    def __init__(self, trace: ResolverTrace, query: ExplainQuery, graph: ChannelGraph) -> None:
        assert trace.source is not None  # whose channel it is
        self._trace = trace
        self._query = query
        self._graph = graph
        self._source = trace.source
        self._trials = FixTrials(graph)

    @classmethod
    def of(cls, trace: ResolverTrace, query: ExplainQuery) -> FixSearch | None:
        """Return a search; None if the trace does not follow a single channel."""
        graph = trace.graph
        return cls(trace, query, graph) if graph is not None and trace.source is not None else None

    def helps(self, edit: ChannelEdit) -> bool:
        """Return whether the installed version reaches its goal after an edit, and no other is worse off."""
        return self._trials.regression(edit) is None and self._reaches_goal(apply_edit(self._graph, edit))

    def combine(self, edits: Iterable[ChannelEdit]) -> ChannelEdit | None:
        """Combine edits; if that is not enough, also let a goal accept the installed version."""
        joined = _join_all(edits)
        if self.helps(joined):
            return joined
        for edit in self._after_edit(joined).edits_to_goals():
            # This edit was computed for the channel after the others.
            entries = {entry.name: entry for entry in (*joined.entries, *edit.entries)}
            both = ChannelEdit(f"{joined.text} and {edit.text}", tuple(entries.values()))
            if self.helps(both):
                return both
        return None

    def _after_edit(self, edit: ChannelEdit) -> FixSearch:
        return FixSearch(self._trace, self._query, apply_edit(self._graph, edit))

    def release_after_edits(self, edits: Iterable[ChannelEdit]) -> str | None:
        """Describe several edits followed by a new release, if that works and harms no other version."""
        joined = _join_all(edits)
        release = self._after_edit(joined).new_release() if self._trials.regression(joined) is None else None
        return f"{joined.text}, then {release}" if release is not None else None

    def edits_to_goals(self) -> list[ChannelEdit]:
        """Return edits by which a new installation or a goal accepts the installed version."""
        installed = self._trace.installed
        low = installed.version if installed is not None else None
        targets = [t for t in self._targets if low is None or not self._is_below(t, low)]
        return [edit for t in targets for edit in self._edits_of(t) if self.helps(edit)]

    def downgrades(self) -> list[ChannelEdit]:
        """Return the same for goals below the installed version; the text says that it is a downgrade."""
        installed = self._trace.installed
        if installed is None or (low := installed.version) is None:
            return []
        names = [t for t in self._targets if self._is_below(t, low) and t != installed.name]
        edits = ((t, add_skips(self._graph, t, [installed.name])) for t in names)
        return [
            edit._replace(text=f"{edit.text}, which downgrades it from {low} to {self._graph.versions[t]}")
            for t, edit in edits
            if self.helps(edit)
        ]

    @cached_property
    def _targets(self) -> list[str]:
        resolver = self._trace.resolver
        fresh = olm_v0.new_install(self._graph) if resolver == "v0" else olm_v1.new_install(self._graph)
        return [t for t in dict.fromkeys((fresh, *path_goals(self._graph, resolver))) if t is not None]

    def _is_below(self, target: str, version: Version) -> bool:
        own = self._graph.versions.get(target)
        return own is not None and own < version

    def _edits_of(self, target: str) -> Iterator[ChannelEdit]:
        installed = self._trace.installed
        if installed is None or installed.name == target:
            return
        yield add_skips(self._graph, target, [installed.name])
        by_range = self.covering_range(target)
        if by_range is not None:
            yield by_range

    def covering_range(self, name: str) -> ChannelEdit | None:
        """Return the range of an entry from the installed version up to it; None without versions."""
        installed, high = self._trace.installed, self._graph.versions.get(name)
        low = installed.version if installed is not None else None
        if low is None or high is None or low >= high:
            return None
        known, wanted = self._graph.ranges.get(name), f">={low} <{high}"
        is_more = known is not None and not known.intervals.is_subset(Range.parse(wanted).intervals)
        entry = self._graph.entries[name]
        return set_range(entry, f"{entry.skip_range} || {wanted}" if is_more else wanted)

    def new_release(self) -> str | None:
        """Describe a new release, if that works and harms no other version."""
        graph, installed = self._graph, self._trace.installed
        versions = [*graph.versions.values()]
        versions += [installed.version] if installed is not None and installed.version is not None else []
        if not versions or not graph.heads:
            return None
        newest, *others = graph.topmost(graph.heads)
        outside = installed is not None and installed.name not in graph.entries and installed.version is None
        skips = (*others, *([installed.name] if installed is not None and outside else []))
        low, high = min(versions), max(versions)
        if not self._release_works(newest, skips, low, high):
            return None
        also = f" and skips {join_names(skips)}" if skips else ""
        return (
            f"publish a release above {high} in {graph.name} that replaces {newest}{also}, "
            f"with a skipRange from {low}"
        )

    def _release_works(self, replaces: str, skips: tuple[str, ...], low: Version, high: Version) -> bool:
        graph, package = self._graph, self._graph.package
        version = f"{high.major}.{high.minor}.{high.patch + 1}"
        bundle = Bundle(_NEXT, package.name, version, graph.channel.place)
        entry = Entry(_NEXT, graph.channel.place, replaces, skips, f">={low} <{version}")
        channel = graph.channel._replace(entries=(*graph.channel.entries, entry))
        after = ChannelGraph(channel, package._replace(bundles=(*package.bundles, bundle)))
        return self._trials.regression_in(after) is None and self._reaches_goal(after)

    def _reaches_goal(self, after: ChannelGraph) -> bool:
        """Return whether the path reaches its goal in a changed channel, and no other path loses it."""
        reached = self._goals_reached(after)
        return reached.get(self._trace.resolver, False) and all(
            reached[resolver] for resolver, is_reached in self._reached_now.items() if is_reached
        )

    @cached_property
    def _reached_now(self) -> Mapping[ResolverName, bool]:
        return self._goals_reached(self._graph)

    def _goals_reached(self, graph: ChannelGraph) -> Mapping[ResolverName, bool]:
        """Return under which resolvers the installed version reaches its goal."""
        channels = (graph.channel if c.name == graph.name else c for c in graph.package.channels)
        package = PackageGraph(graph.package._replace(channels=tuple(channels)))
        found = trace_resolvers([self._source._replace(package=package)], self._query)
        return {trace.resolver: trace.reaches_goal for trace in found}


def _join_all(edits: Iterable[ChannelEdit]) -> ChannelEdit:
    """Join edits; of two for one entry the first wins."""
    return reduce(lambda first, second: join_edits(first, second) or first, edits)
