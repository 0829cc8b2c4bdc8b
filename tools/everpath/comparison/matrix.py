"""Several catalogs in sequence, as a cluster gets them: one for each version of OpenShift.

A cluster upgrade replaces the catalog under the installed operators. So every version that any catalog so far
has offered is compared in the next one.
"""

from __future__ import annotations

__all__ = ["CatalogUpdate", "Matrix", "MatrixCell", "MatrixRow", "compare_sequence"]

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from everpath.comparison.all_channels import AllChannels, AllChannelsComparison, is_single_channel
from everpath.comparison.catalogs import EVERYTHING, ComparisonScope
from everpath.comparison.changes import Change, ChangeKind, regressions_without_channels
from everpath.comparison.channel_changes import channel_changes
from everpath.comparison.channels import REPORTED_OUTCOMES, ChannelComparison, compare_channel
from everpath.comparison.installed_paths import InstalledPaths, installations
from everpath.comparison.outcomes import PathOutcome, VersionOutcome
from everpath.comparison.removals import emptied_channel, removed_channel, removed_package
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Catalog, Package
from everpath.resolvers import ResolverName
from everpath.resolvers.resolution import FailureKind
from everpath.rules.findings import Severity
from everpath.upgrade_path.hops import PathEnd
from everpath.upgrade_path.path import UpgradePath
from everpath.versions import Version
from everpath.wording import NameSuggestions

#: The changes of a channel that are reported for an update: those that affect clusters.
_REPORTED_KINDS: Final = (
    ChangeKind.DEAD_END,
    *(ChangeKind(outcome.value) for outcome in REPORTED_OUTCOMES),
)

_Graphs = Sequence[ChannelGraph | None]
_Packages = Sequence[PackageGraph | None]


class MatrixCell(NamedTuple):
    """How the path of one installed version ends in one catalog.

    `last` is the version at which it ends; None if the installed version stays. `is_regression`: whether the
    update to this catalog cuts the version off.
    """

    end: PathEnd
    last: str | None
    is_regression: bool


class MatrixRow(NamedTuple):
    """One installed version under one resolver: its path in each catalog, and the outcome of each update.

    A path is None if no catalog so far had the version; the outcome of the next update is then None, too.
    """

    package: str
    channel: str | None
    installed: str
    version: Version | None
    resolver: ResolverName
    paths: tuple[UpgradePath | None, ...]
    outcomes: tuple[PathOutcome | None, ...]

    @property
    def cells(self) -> tuple[MatrixCell | None, ...]:
        """How each path ends; None if no catalog so far had the version."""
        outcomes = (None, *self.outcomes)
        pairs = zip(self.paths, outcomes, strict=True)
        return tuple(_cell(path, outcome) if path is not None else None for path, outcome in pairs)

    @property
    def is_notable(self) -> bool:
        """Whether a path misses its goal or changes."""
        unchanged = (None, PathOutcome.SAME, PathOutcome.FURTHER)
        reaches_goals = all(path is None or path.reaches_goal for path in self.paths)
        return not reaches_goals or any(outcome not in unchanged for outcome in self.outcomes)


def _cell(path: UpgradePath, outcome: PathOutcome | None) -> MatrixCell:
    is_regression = outcome is not None and outcome.is_regression
    if is_regression and path.reaches_goal:
        # A path may end at a goal, such as the head of another channel, that is lower than before.
        return MatrixCell(PathEnd.STRANDED, path.last, is_regression)
    # Without an update OLM v1 reports an error and keeps what is installed; OLM v0 only keeps it.
    keeps_installed = path.failure is not None and path.failure.kind is FailureKind.NO_BUNDLES
    end = PathEnd.STRANDED if keeps_installed else path.end
    return MatrixCell(end, path.last if path.hops else None, is_regression)


class CatalogUpdate(NamedTuple):
    """The step from one catalog to the next: numbers of regressions and of changed paths, and the changes."""

    regression_count: int
    changed_path_count: int
    changes: tuple[Change, ...]

    @property
    def cut_off_count(self) -> int:
        """Number of versions that are cut off, including those only cut off without `channels`."""
        return self.regression_count + regressions_without_channels(self.changes)

    @property
    def has_dead_end(self) -> bool:
        """Whether the update adds a release without a replacement."""
        return any(change.kind is ChangeKind.DEAD_END for change in self.changes)


@dataclass(frozen=True)
class Matrix:
    """A row for every installed version, a column for every catalog, and the updates between them.

    `without_channels` are the rows of ClusterExtensions without `channels`, in packages where these differ.
    """

    rows: tuple[MatrixRow, ...]
    updates: tuple[CatalogUpdate, ...]
    without_channels: tuple[MatrixRow, ...] = ()

    @property
    def distinct_rows(self) -> Sequence[MatrixRow]:
        """All rows, and those without channels that differ from all rows of channels; by package."""
        known = {(row.package, row.installed, row.cells) for row in self.rows if row.resolver == "v1"}
        additional = [
            row for row in self.without_channels if (row.package, row.installed, row.cells) not in known
        ]
        return sorted((*self.rows, *additional), key=lambda row: row.package) if additional else self.rows

    @property
    def regression_count(self) -> int:
        return sum(update.regression_count for update in self.updates)

    @property
    def errors(self) -> int:
        return sum(c.severity is Severity.ERROR for update in self.updates for c in update.changes)

    @property
    def changed_path_count(self) -> int:
        outcomes = (o for row in self.without_channels for o in row.outcomes if o is not None)
        return sum(o.changes_path for o in outcomes) + sum(u.changed_path_count for u in self.updates)


def compare_sequence(
    catalogs: Sequence[Catalog], scope: ComparisonScope = EVERYTHING, *, report_different_paths: bool = False
) -> Matrix:
    """Compare each catalog with the next, for all versions of all catalogs so far.

    Cost: that of comparing each catalog with the next.
    """
    names = sorted({p.name for c in catalogs for p in c.packages if scope.has_package(p.name)})
    rows: list[MatrixRow] = []
    without_channels: list[MatrixRow] = []
    changes: list[list[Change]] = [[] for _ in catalogs[1:]]
    added = [
        NameSuggestions(p.name for p in new.packages if p.name not in old.by_name)
        for old, new in pairwise(catalogs)
    ]
    for name in names:
        found = [catalog.by_name.get(name) for catalog in catalogs]
        packages = [PackageGraph(package) if package is not None else None for package in found]
        own_rows = [
            row
            for channel in _channel_names(packages, scope)
            for row in _channel_rows(packages, channel, scope, changes)
        ]
        rows += own_rows
        if "v1" in scope.resolvers and not scope.channels:
            without_channels += _rows_without_channels(name, packages, own_rows, scope, changes)
        for index, (old, new) in enumerate(pairwise(packages)):
            if old is not None and new is None and _channel_names([old], scope):
                changes[index].append(removed_package(old, added[index], scope.resolvers))
    if not report_different_paths:
        changes = [[c for c in each if c.kind is not ChangeKind.DIFFERENT_PATH] for each in changes]
    updates: list[CatalogUpdate] = []
    for index, each in enumerate(changes):
        outcomes = [outcome for row in rows if (outcome := row.outcomes[index]) is not None]
        regressions = sum(outcome.is_regression for outcome in outcomes)
        changed = sum(outcome.changes_path for outcome in outcomes)
        updates.append(CatalogUpdate(regressions, changed, tuple(each)))
    return Matrix(tuple(rows), tuple(updates), tuple(without_channels))


def _channel_names(packages: _Packages, scope: ComparisonScope) -> list[str]:
    names = (name for package in packages if package is not None for name in package.by_name)
    return [name for name in dict.fromkeys(names) if scope.has_channel(name)]


def _channel_rows(
    packages: _Packages, channel: str, scope: ComparisonScope, changes: list[list[Change]]
) -> Iterator[MatrixRow]:
    """Yield the rows of one channel, and add the changes of each update to `changes`."""
    graphs = [package.by_name.get(channel) if package is not None else None for package in packages]
    where = (next(package.name for package in packages if package is not None), channel)
    installed: dict[str, Version | None] = {}
    columns: list[dict[tuple[str, ResolverName], UpgradePath]] = []
    updates: list[dict[tuple[str, ResolverName], PathOutcome]] = []
    for index, graph in enumerate(graphs):
        if index:
            comparison = compare_channel(graphs[index - 1], graph, scope.resolvers, where, dict(installed))
            updates.append({(row.installed, row.resolver): row.outcome for row in comparison.rows})
            changes[index - 1] += _update_changes(comparison, graphs, packages, index, scope)
        installed |= installations(graph) if graph is not None else {}
        all_paths = [InstalledPaths(graph, r, dict(installed), where) for r in scope.resolvers]
        columns.append(
            {(name, paths.resolver): paths.path(name) for name in installed for paths in all_paths}
        )
    for name in installed:
        for resolver in scope.resolvers:
            key = (name, resolver)
            cells = tuple(column.get(key) for column in columns)
            outcomes = tuple(update.get(key) for update in updates)
            yield MatrixRow(*where, name, installed[name], resolver, cells, outcomes)


def _rows_without_channels(
    name: str,
    packages: _Packages,
    channel_rows: Sequence[MatrixRow],
    scope: ComparisonScope,
    changes: list[list[Change]],
) -> Iterator[MatrixRow]:
    """Yield the rows without `channels`. A catalog without the package counts as an empty package."""
    if is_single_channel(*(package for package in packages if package is not None)):
        return
    before: AllChannels | None = None
    installed: dict[str, Version | None] = {}
    columns: list[Mapping[str, UpgradePath]] = []
    updates: list[Mapping[str, PathOutcome]] = []
    for index, package in enumerate(packages):
        here = AllChannels(package or PackageGraph(Package(name)), before)
        if before is not None:
            comparison = AllChannelsComparison(before, here, dict(installed))
            updates.append({row.installed: row.outcome for row in comparison.rows})
            others = (_version_outcome(row, index - 1) for row in channel_rows)
            changes[index - 1] += comparison.changes(
                (other for other in others if other is not None), scope.resolvers
            )
        installed |= installations(here.graph)
        columns.append(here.paths(dict(installed)))
        before = here
    for each in installed:
        cells = tuple(column.get(each) for column in columns)
        outcomes = tuple(update.get(each) for update in updates)
        yield MatrixRow(name, None, each, installed[each], "v1", cells, outcomes)


def _version_outcome(row: MatrixRow, index: int) -> VersionOutcome | None:
    """Return the outcome of one update."""
    old, new, outcome = row.paths[index], row.paths[index + 1], row.outcomes[index]
    if old is None or new is None or outcome is None:
        return None
    return VersionOutcome(
        row.package, row.channel, row.installed, row.version, row.resolver, outcome, old, new
    )


def _update_changes(
    comparison: ChannelComparison, graphs: _Graphs, packages: _Packages, index: int, scope: ComparisonScope
) -> Iterator[Change]:
    old, new, package = graphs[index - 1], graphs[index], packages[index]
    if old is None:
        return
    if new is not None and old.entries and not new.entries:
        yield emptied_channel(old, new, scope.resolvers)
    elif new is not None:
        yield from (c for c in channel_changes(old, new, comparison) if c.kind in _REPORTED_KINDS)
    elif package is not None:
        before = packages[index - 1]
        known = before.by_name if before is not None else {}
        added = NameSuggestions(name for name in package.by_name if name not in known)
        yield removed_channel(old, package, added, scope.resolvers)
