"""Release streams: patches of a minor version, skipped releases, switches between channels."""

from __future__ import annotations

__all__ = ["channel_switch", "dependent_target", "drift", "withdrawn_target", "zstream"]

from collections.abc import Iterator
from itertools import islice
from typing import Final

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Entry
from everpath.ranges import IntervalSet
from everpath.resolvers import olm_v0, olm_v1
from everpath.rules.findings import Flaw, Severity
from everpath.rules.fixes.edits import ChannelEdit, next_release_advice, widen_range
from everpath.rules.registry import channel_rule, package_rule
from everpath.upgrade_path.hops import last_entries
from everpath.versions import Version
from everpath.wording import count, join_names, skip_clause

#: The number of names listed in a message.
_MAX_LISTED: Final = 8


@channel_rule("EP231", "zstream", Severity.WARNING)
def zstream(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every patch of a minor version has an upgrade path to the latest patch within the minor version.

    Otherwise a cluster that stays on the minor version gets no fixes. If OLM v0 updates past the latest
    patch, it is a note.
    Cost: each minor's entries and edges once; ranges are queried only for patches not reached yet.
    """
    minors = ((latest, _missed_patches(graph, latest, patches)) for latest, patches in _minors(graph))
    failing = [(latest, missed) for latest, missed in minors if missed]
    ends = last_entries(olm_v0.next_hops(graph).next, (graph.head,), graph.entries) if failing else {}
    for latest, missed in failing:
        last = [ends[patch].name for patch in missed if patch in ends]
        passes = all(n in graph.versions and graph.versions[n] >= graph.versions[latest] for n in last)
        yield Flaw(
            graph.entries[latest].place.at("name"),
            f"{join_names(missed)} cannot update to {latest}, the latest patch of the minor version",
            because=tuple(
                f"there is no upgrade path from {p} to {latest} within the minor version" for p in missed[:5]
            ),
            fix=_patch_fix(graph, latest, missed),
            entry=latest,
            severity=Severity.NOTE if passes else None,
        )


def _patch_fix(graph: ChannelGraph, latest: str, missed: list[str]) -> str | ChannelEdit:
    """Widen the range of the latest patch; a patch of an equal version needs a new one above both."""
    is_above = all(graph.versions[name] < graph.versions[latest] for name in missed)
    edit = widen_range(graph, latest, missed) if is_above else None
    patch = f"publish a patch above {graph.versions[latest]} that skips {join_names(missed)}"
    return edit._replace(fallback=patch) if edit is not None else patch


def _minors(graph: ChannelGraph) -> Iterator[tuple[str, list[str]]]:
    """Yield the latest entry of each minor version that is not skipped, and the other entries."""
    groups: dict[tuple[int, int], list[str]] = {}
    for name in graph.by_version:
        groups.setdefault(graph.versions[name].minor_stream, []).append(name)
    for names in groups.values():
        standing = [n for n in names if n not in graph.skippers]
        if len(names) > 1 and standing:
            yield standing[-1], [n for n in names if n != standing[-1]]


def _missed_patches(graph: ChannelGraph, latest: str, patches: list[str]) -> list[str]:
    """Return the patches without an upgrade path to the latest one within the minor version."""
    left, reached, waiting = _Unreached(graph, patches), set[str](), [latest]
    while waiting:
        accepted = left.take(graph.entries[waiting.pop()])
        reached.update(accepted)
        waiting += accepted
    return [
        name
        for name in patches
        if name not in reached
        # A skipped patch can be above the latest one, and a patch of an equal version can be its successor.
        and not graph.versions[name] > graph.versions[latest]
        and not any(graph.edges_between(name, latest))
    ]


class _Unreached:
    """Entries not reached yet, lowest version first (union-find: each entry is taken once).

    `_next[i]` points towards the first remaining entry at or above index i; look-ups shorten the pointers.
    """

    def __init__(self, graph: ChannelGraph, names: list[str]) -> None:
        self._ranges = graph.ranges
        self._names = names
        self._versions = [graph.versions[name] for name in names]
        self._places: dict[str | None, int] = {name: place for place, name in enumerate(names)}
        self._next = list(range(len(names) + 1))

    def take(self, successor: Entry) -> list[str]:
        """Remove and return the remaining entries that have an edge to `successor`."""
        named = (self._places.get(name) for name in (successor.replaces, *successor.skips))
        spans = [(place, place + 1) for place in named if place is not None]
        if successor.name in self._ranges:
            spans += self._ranges[successor.name].intervals.index_ranges(self._versions)
        taken = []
        for start, end in spans:
            while (place := self._first(start)) < end:
                self._next[place] = place + 1
                taken.append(self._names[place])
        return taken

    def _first(self, place: int) -> int:
        while self._next[place] != place:
            self._next[place] = place = self._next[self._next[place]]
        return place


@channel_rule("EP232", "withdrawn-target", Severity.WARNING, resolver="v1")
def withdrawn_target(graph: ChannelGraph) -> Iterator[Flaw]:
    """OLM installs no skipped release.

    OLM v0 never does. OLM v1 ignores skips here: it installs a skipped entry, and updates to it, if that is
    the highest version with an edge. Cost: O((edges + ranges) · log n).
    """
    arrivals: dict[str, list[str]] = {}
    withdrawn = {n for n, skippers in graph.skippers.items() if set(skippers) - {n}}
    for name, target in olm_v1.next_hops(graph).items():
        if target in withdrawn:
            arrivals.setdefault(target, []).append(name)
    fresh = olm_v1.new_install(graph)
    best = next((name for name in olm_v1.ranking(graph) if name not in withdrawn), None)
    for target, entry in graph.entries.items():
        where = [f"clusters on {join_names(arrivals[target])}"] if target in arrivals else []
        where += ["new clusters"] if target == fresh and target in withdrawn else []
        if where:
            skippers = [s for s in graph.skippers[target] if s != target]
            yield Flaw(
                entry.place.at("name"),
                f"OLM v1 installs {target} on {' and '.join(where)}, although {skip_clause(skippers)} it",
                because=tuple(graph.named_edges(target)),
                fix=_avoid_target(graph, target, arrivals.get(target, []), best),
                entry=target,
            )


def _avoid_target(
    graph: ChannelGraph, target: str, installed: list[str], best: str | None
) -> str | ChannelEdit:
    """Widen the range of the best release that is not skipped; else make OLM v1 prefer another one."""
    if best is not None and olm_v1.ranking(graph)[best] < olm_v1.ranking(graph)[target]:
        edit = widen_range(graph, best, installed)
        if edit is not None:
            return edit
    release = f"publish a release above {graph.versions.get(target, target)} that skips {target}"
    if not graph.package.is_rendered:
        return release
    return f"deprecate {target} in olm.deprecations, and OLM v1 prefers others; or {release}"


@channel_rule("EP235", "dependent-target", Severity.WARNING, resolver="v1")
def dependent_target(graph: ChannelGraph) -> Iterator[Flaw]:
    """No release that OLM v1 updates to depends on other packages or APIs.

    OLM v1 does not resolve dependencies. It selects such a release, then rejects it and installs no other,
    so clusters get no update. If new installs fail as well, it is a note: the package is for OLM v0.
    Cost: one visit a property.
    """
    bundles = ((name, graph.bundle(name)) for name in graph.entries)
    kinds = {name: olm_v1.dependency_property(bundle) for name, bundle in bundles if bundle is not None}
    rejected = {name: kind for name, kind in kinds.items() if kind is not None}
    installed: dict[str | None, list[str]] = {name: [] for name in olm_v1.new_installs(graph)}
    for name, target in olm_v1.next_hops(graph).items() if rejected else ():
        if name not in rejected:
            installed.setdefault(target, []).append(name)
    for target, kind in rejected.items():
        if target not in installed:
            continue
        names = installed[target]
        lowest = next((name for name in graph.by_version if name in names), target)
        effect = f"clusters on {join_names(names)} get no update" if names else "a new ClusterExtension fails"
        release = f"{next_release_advice(graph, lowest)}, without {kind}"
        yield Flaw(
            graph.entries[target].place.at("name"),
            f"{effect} under OLM v1: {target} has dependencies, which OLM v1 rejects",
            because=(f"{target} has the property {kind}", *graph.edges_between(target, lowest)),
            fix=f"no action if the package is only for OLM v0; else {release}",
            entry=target,
            severity=None if names else Severity.NOTE,
        )


@package_rule("EP233", "channel-switch", Severity.NOTE)
def channel_switch(package: PackageGraph) -> Iterator[Flaw]:
    """Every version can switch to every channel that has a higher version.

    After a change of channel without an edge from the installed version, a Subscription gets no updates and
    no error; OLM v1 reports an error. Cost: a few look-ups for each entry of each channel.
    """
    released = _Released(package)
    for target in package.channels if len(package.channels) > 1 else ():
        missed, first = released.versions_without_edge(target)
        if missed:
            yield Flaw(
                target.channel.place,
                f"{count(missed, 'version')} of other channels cannot switch to {target.name}: "
                f"{join_names(first, _MAX_LISTED, total=missed)}",
                fix=_switch_fix(target, released.versions[first[0]]),
                channel=target.name,
            )


def _switch_fix(target: ChannelGraph, low: Version) -> str:
    """Widen a range of the channel, from the lowest version of the others."""
    head = target.head or target.by_version[-1]
    own = target.versions.get(head)
    if own is None or own <= low:
        return f"give a release of {target.name} above them a skipRange from {low}"
    known = f"{target.entries[head].skip_range} || " if head in target.ranges else ""
    return f"to allow the switch, give {head} the skipRange '{known}>={low} <{own}'"


class _Released:
    """All entries of a package that have a version, lowest first."""

    def __init__(self, package: PackageGraph) -> None:
        self.versions = {n: version for graph in package.channels for n, version in graph.versions.items()}
        self._names = sorted(self.versions, key=lambda name: (self.versions[name].key, name))
        self._sorted = [self.versions[name] for name in self._names]

    def versions_without_edge(self, channel: ChannelGraph) -> tuple[int, list[str]]:
        """Return the number of lower versions without an edge into a channel, and the first of them.

        Cost: its own names and ranges, however many versions there are.
        """
        if not channel.by_version:
            return 0, []
        below_highest = IntervalSet.from_comparison("<", channel.versions[channel.by_version[-1]])
        covered = IntervalSet.union(skip_range.intervals for skip_range in channel.ranges.values())
        uncovered = below_highest & ~covered
        spans = uncovered.index_ranges(self._sorted)
        known = channel.entries.keys() | channel.replacers.keys() | channel.skippers.keys()
        served = sum(name in self.versions and self.versions[name] in uncovered for name in known)
        names = (self._names[i] for start, end in spans for i in range(start, end))
        first = islice((name for name in names if name not in known), _MAX_LISTED)
        return sum(end - start for start, end in spans) - served, list(first)


@package_rule("EP234", "drift", Severity.NOTE)
def drift(package: PackageGraph) -> Iterator[Flaw]:
    """An entry replaces the same entry in every channel that contains both candidates.

    Edges belong to a channel, so an entry can replace different entries in two channels. If both channels
    have both, one is probably a mistake. Cost: one comparison for each entry of each channel.
    """
    seen: dict[str, tuple[ChannelGraph, str]] = {}
    for graph in package.channels:
        for name, entry in graph.entries.items():
            target = entry.replaces
            if not target or target not in graph.entries:
                continue
            first, other = seen.setdefault(name, (graph, target))
            if other != target and other in graph.entries and target in first.entries:
                yield Flaw(
                    entry.place.at("replaces"),
                    f"{name} replaces {target} in {graph.name}, but {other} in {first.name}",
                    fix=f"make it replace {other} here as well, unless the difference is intended",
                    entry=name,
                    channel=graph.name,
                )
