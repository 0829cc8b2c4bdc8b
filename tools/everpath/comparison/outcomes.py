"""The effect of a new catalog on one installed version."""

from __future__ import annotations

__all__ = ["ChannelPair", "PathOutcome", "VersionOutcome"]

from collections.abc import Callable
from enum import StrEnum
from typing import NamedTuple

from everpath.comparison.installed_paths import InstalledPaths
from everpath.resolvers import ResolverName
from everpath.resolvers.resolution import FailureKind
from everpath.upgrade_path.path import UpgradePath
from everpath.versions import Version


class PathOutcome(StrEnum):
    """How the upgrade path of an installed version changes, from worst to best."""

    FAILING = "failing"
    STRANDED = "stranded"
    DOWNGRADED = "downgraded"
    DIFFERENT_PATH = "different-path"
    STRANDED_BEFORE = "before"
    FIXED = "fixed"
    FURTHER = "further"
    SAME = "same"

    @property
    def is_regression(self) -> bool:
        """Whether clusters that got updates before are cut off now."""
        return self in (PathOutcome.FAILING, PathOutcome.STRANDED)

    @property
    def changes_path(self) -> bool:
        """Whether the path still reaches its goal, but by other versions."""
        return self in (PathOutcome.DOWNGRADED, PathOutcome.DIFFERENT_PATH)


class VersionOutcome(NamedTuple):
    """One installed version under one resolver: its path in both catalogs, and the outcome.

    `channel` is None for a ClusterExtension without `channels`.
    """

    package: str
    channel: str | None
    installed: str
    version: Version | None
    resolver: ResolverName
    outcome: PathOutcome
    old: UpgradePath
    new: UpgradePath


class ChannelPair:
    """A channel in both catalogs, with the paths of the same installed versions under the same resolver."""

    def __init__(self, old: InstalledPaths, new: InstalledPaths) -> None:
        self.old = old
        self.new = new
        # Filled when an outcome is requested.
        self._same_hops = _AlongPath(old.next_hop, lambda start, end: new.next_hop(start) == end)
        self._old_ascents = _ascents(old)
        self._new_ascents = _ascents(new)

    @property
    def resolver(self) -> ResolverName:
        return self.old.resolver

    def outcome(self, name: str) -> PathOutcome:
        """Return the outcome for one installed version. Amortised O(1) over all versions."""
        if (regression := self._regression(name)) is not None:
            return regression
        old, new = self.old.path(name), self.new.path(name)
        if not old.reaches_goal:
            return PathOutcome.FIXED if new.reaches_goal else PathOutcome.STRANDED_BEFORE
        goes_down = _goes_down(self.new, self._new_ascents, name)
        if goes_down and not _goes_down(self.old, self._old_ascents, name):
            return PathOutcome.DOWNGRADED
        if old.next is not None and not (old.next == new.next and self._same_hops[old.next]):
            return PathOutcome.DIFFERENT_PATH
        return PathOutcome.SAME if len(old.hops) == len(new.hops) else PathOutcome.FURTHER

    def is_regression(self, name: str) -> bool:
        """Return whether the outcome is a regression, without comparing the hops."""
        return self._regression(name) is not None

    def _regression(self, name: str) -> PathOutcome | None:
        old, new = self.old.path(name), self.new.path(name)
        if _fails(self.new, new) and not _fails(self.old, old):
            return PathOutcome.FAILING
        if old.reaches_goal and (not new.reaches_goal or self._ends_below_head(name)):
            return PathOutcome.STRANDED
        return None

    def is_further_behind(self, name: str) -> bool:
        """Return whether a path that was stranded before now ends at a lower version."""
        return _is_lower(self.new.version(self.new.last(name)), self.old.version(self.old.last(name)))

    def _ends_below_head(self, name: str) -> bool:
        """Return whether the new path ends at a goal below the head, and lower than before."""
        paths, last = self.new, self.new.last(name)
        version = paths.version(last)
        if not paths.top_entries or last in paths.top_entries or last == self.old.last(name):
            return False
        # A version above the head is not on the path to it.
        if not paths.is_all_channels and all(
            _is_lower(paths.version(top), version) for top in paths.top_entries
        ):
            return False
        return _is_lower(version, self.old.version(self.old.last(name)))

    def version_outcome(self, name: str, where: tuple[str, str | None]) -> VersionOutcome:
        paths = self.old.path(name), self.new.path(name)
        version = self.old.version(name)
        return VersionOutcome(*where, name, version, self.resolver, self.outcome(name), *paths)


class _AlongPath(dict[str, bool]):
    """Whether all hops from an entry to the end of its path satisfy a condition. Each hop is checked once."""

    def __init__(self, next_hop: Callable[[str], str | None], condition: Callable[[str, str], bool]) -> None:
        self._next_hop = next_hop
        self._condition = condition

    def __missing__(self, name: str) -> bool:
        passed, here = list[str](), name
        while here not in self:
            passed.append(here)
            there = self._next_hop(here)
            if there is None or not self._condition(here, there):
                self[here] = there is None
                break
            here = there
        result = self[here]
        self.update(dict.fromkeys(passed, result))
        return result


def _ascents(paths: InstalledPaths) -> _AlongPath:
    return _AlongPath(
        paths.next_hop, lambda start, end: not _is_lower(paths.version(end), paths.version(start))
    )


def _goes_down(paths: InstalledPaths, ascents: _AlongPath, name: str) -> bool:
    """Return whether a path has a hop to a lower version; the first hop starts at what is installed."""
    first = paths.path(name).next
    if first is None:
        return False
    return _is_lower(paths.version(first), paths.installed.get(name)) or not ascents[first]


def _is_lower(version: Version | None, other: Version | None) -> bool:
    return version is not None and other is not None and version < other


def _fails(paths: InstalledPaths, path: UpgradePath) -> bool:
    """Return whether the resolver fails. For v1 it is no failure that nothing accepts a missing version."""
    failure = path.failure
    if failure is None or paths.resolver == "v0" or paths.graph is None:
        return failure is not None
    return failure.kind is not FailureKind.NO_BUNDLES or paths.has_installed(path.last or "")
