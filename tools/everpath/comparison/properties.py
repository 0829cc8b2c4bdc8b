"""The properties of a new catalog that OLM's design of upgrades requires:

    any operator found in the old catalog has a single replacement in the new one
    any operator found in the new catalog has one, too
    any z-stream release of the old catalog updates to the latest z-stream release of the new one

OLM always chooses one replacement where there are several (`validate-graph` reports forks), so only a missing
replacement is counted. The head needs none; a bundle in no channel does. A release that is updated beyond its
z-stream, to a newer minor version, need not reach the latest of the stream.
"""

from __future__ import annotations

__all__ = ["Properties", "PropertyResult", "channel_properties", "unlisted_bundle_properties"]

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from everpath.comparison.channels import ChannelComparison
from everpath.comparison.installed_paths import InstalledPaths
from everpath.graph import ChannelGraph, PackageGraph
from everpath.resolvers import ResolverName, olm_v0
from everpath.upgrade_path.path import UpgradePath
from everpath.versions import Version, parse_or_none


class PropertyResult(NamedTuple):
    """Number of installed versions that were checked, under each resolver, and that lack the property."""

    checked: int = 0
    failed: int = 0

    @property
    def holds(self) -> bool:
        return not self.failed


class Properties(NamedTuple):
    """The three properties."""

    found_in_old: PropertyResult = PropertyResult()
    found_in_new: PropertyResult = PropertyResult()
    z_streams: PropertyResult = PropertyResult()

    @classmethod
    def sum(cls, parts: Iterable[Properties]) -> Properties:
        """Add up the properties of several channels or packages."""
        totals = [[0, 0], [0, 0], [0, 0]]
        for part in parts:
            for total, each in zip(totals, part, strict=True):
                total[0] += each.checked
                total[1] += each.failed
        return cls(*(PropertyResult(checked, failed) for checked, failed in totals))


def channel_properties(comparison: ChannelComparison) -> Properties:
    """Return the properties of one channel. O((edges + ranges) · log n)."""
    return Properties.sum(_properties(pair.new) for pair in comparison.pairs)


def unlisted_bundle_properties(package: PackageGraph, resolvers: Sequence[ResolverName]) -> Properties:
    """Return the properties of bundles in no channel: a channel must accept them."""
    installed = {
        name: parse_or_none(package.package.by_name[name].version) for name in package.bundles_without_channel
    }
    failed = 0
    for resolver in resolvers if installed else ():
        channels = [InstalledPaths(g, resolver, installed, (package.name, g.name)) for g in package.channels]
        failed += sum(all(paths.path(name).next is None for paths in channels) for name in installed)
    return Properties(found_in_new=PropertyResult(len(installed) * len(resolvers), failed))


def _properties(paths: InstalledPaths) -> Properties:
    failed = sum(not _has_replacement(paths, name, paths.path(name)) for name in paths.installed)
    found_in_old = PropertyResult(len(paths.installed), failed)
    if paths.graph is None:
        return Properties(found_in_old)
    entries = paths.graph.entries
    failed = sum(not _has_replacement(paths, name, paths.entry_path(name)) for name in entries)
    found_in_new = PropertyResult(len(entries), failed)
    latest, behind, not_updated = _latest_releases(paths.graph), 0, 0
    for name, version in paths.installed.items():
        if version is not None and version < (wanted := latest.get(version.minor_stream, version)):
            following = paths.path(name).next
            reached = paths.version(following) if following is not None else None
            behind += 1
            not_updated += reached is None or reached < wanted
    return Properties(found_in_old, found_in_new, PropertyResult(behind, not_updated))


def _has_replacement(paths: InstalledPaths, name: str, path: UpgradePath) -> bool:
    return path.next is not None or (path.failure is None and name in paths.goals)


def _latest_releases(graph: ChannelGraph) -> Mapping[tuple[int, int], Version]:
    """Return the latest release of each z-stream that is neither skipped nor uninstallable."""
    uninstallable = olm_v0.uninstallable(graph)
    found: dict[tuple[int, int], Version] = {}
    for name in graph.by_version:
        version = graph.versions[name]
        if not version.is_prerelease and name not in graph.skippers and name not in uninstallable:
            found[version.minor_stream] = version
    return found
