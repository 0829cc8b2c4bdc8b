"""Comparison of two catalogs, package by package."""

from __future__ import annotations

__all__ = ["EVERYTHING", "Comparison", "ComparisonScope", "compare"]

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from everpath.comparison.all_channels import compare_all_channels
from everpath.comparison.changes import Change, ChangeKind
from everpath.comparison.channel_changes import channel_changes
from everpath.comparison.channels import compare_channel
from everpath.comparison.outcomes import PathOutcome, VersionOutcome
from everpath.comparison.package_changes import opm_error_changes, package_changes
from everpath.comparison.properties import Properties, channel_properties, unlisted_bundle_properties
from everpath.comparison.removals import emptied_channel, removed_channel, removed_package
from everpath.graph import PackageGraph
from everpath.model import Catalog
from everpath.resolvers import ResolverName
from everpath.rules.findings import Severity
from everpath.wording import NameSuggestions, count

_KIND_ORDER: Final = {kind: index for index, kind in enumerate(ChangeKind)}


class ComparisonScope(NamedTuple):
    """The packages and channels to compare (empty: all), and the resolvers."""

    packages: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    resolvers: tuple[ResolverName, ...] = ("v0", "v1")

    def has_package(self, name: str) -> bool:
        return not self.packages or name in self.packages

    def has_channel(self, name: str) -> bool:
        return not self.channels or name in self.channels


EVERYTHING: Final = ComparisonScope()


@dataclass(frozen=True)
class Comparison:
    """The outcome for every installed version, the changes to report, and the properties of OLM's design.

    `without_channels` are the outcomes for ClusterExtensions without `channels`, in packages where these
    differ.
    """

    packages: int
    channels: int
    rows: tuple[VersionOutcome, ...]
    changes: tuple[Change, ...]
    properties: Properties
    without_channels: tuple[VersionOutcome, ...] = ()

    @cached_property
    def counts(self) -> Mapping[PathOutcome, int]:
        """Number of rows with each outcome."""
        return Counter(row.outcome for row in self.rows)

    @property
    def regression_count(self) -> int:
        """Number of rows that are regressions."""
        return sum(number for outcome, number in self.counts.items() if outcome.is_regression)

    @property
    def errors(self) -> int:
        """Number of changes with severity error."""
        return sum(change.severity is Severity.ERROR for change in self.changes)

    @property
    def changed_path_count(self) -> int:
        """Number of rows that reach their goal by other versions than before."""
        return sum(row.outcome.changes_path for row in (*self.rows, *self.without_channels))


def compare(old: Catalog, new: Catalog, scope: ComparisonScope = EVERYTHING) -> Comparison:
    """Compare all packages of the old catalog with the new one.

    Cost: O((edges + ranges) · log n) in both catalogs; for a regression, one resolution of the channel for
    each edit that is tried.
    """
    added = [package.name for package in new.packages if package.name not in old.by_name]
    added_names, parts = NameSuggestions(added), list[Comparison]()
    for package in old.packages:
        if scope.has_package(package.name):
            found = new.by_name.get(package.name)
            counterpart = PackageGraph(found) if found is not None else None
            parts.append(_compare_package(PackageGraph(package), counterpart, added_names, scope))
    changes = [change for part in parts for change in part.changes]
    for package in (new.by_name[name] for name in added):
        if scope.has_package(package.name) and not scope.channels:
            message = f"The package is new, with {count(len(package.channels), 'channel')}"
            changes.append(Change(ChangeKind.PACKAGE_ADDED, package.name, None, message, place=package.place))
            changes += opm_error_changes(PackageGraph(package))
    changes.sort(key=lambda c: (c.package, c.channel or "", -c.severity, _KIND_ORDER[c.kind]))
    return Comparison(
        packages=len(parts),
        channels=sum(part.channels for part in parts),
        rows=tuple(row for part in parts for row in part.rows),
        changes=tuple(changes),
        properties=Properties.sum(part.properties for part in parts),
        without_channels=tuple(row for part in parts for row in part.without_channels),
    )


def _compare_package(
    old: PackageGraph, new: PackageGraph | None, added_packages: NameSuggestions, scope: ComparisonScope
) -> Comparison:
    rows: list[VersionOutcome] = []
    changes: list[Change] = []
    properties: list[Properties] = []
    channels = [graph for name, graph in old.by_name.items() if scope.has_channel(name)]
    added = NameSuggestions(name for name in (new.by_name if new else ()) if name not in old.by_name)
    for graph in channels:
        counterpart = new.by_name.get(graph.name) if new else None
        comparison = compare_channel(graph, counterpart, scope.resolvers, (old.name, graph.name))
        rows += comparison.rows
        properties.append(channel_properties(comparison))
        if counterpart is not None and graph.entries and not counterpart.entries:
            changes.append(emptied_channel(graph, counterpart, scope.resolvers))
        elif counterpart is not None:
            changes += channel_changes(graph, counterpart, comparison)
            changes += comparison.notes()
        elif new is not None:
            changes.append(removed_channel(graph, new, added, scope.resolvers))
    without_channels: tuple[VersionOutcome, ...] = ()
    if new is None and channels:
        changes.append(removed_package(old, added_packages, scope.resolvers))
    elif new is not None:
        if "v1" in scope.resolvers and not scope.channels:
            without_channels, more = compare_all_channels(old, new, rows, scope.resolvers)
            changes += more
        if not scope.channels:
            properties.append(unlisted_bundle_properties(new, scope.resolvers))
        changes += (c for c in package_changes(old, new) if c.channel is None or scope.has_channel(c.channel))
    return Comparison(
        1, len(channels), tuple(rows), tuple(changes), Properties.sum(properties), without_channels
    )
