"""Several catalogs in a row, as a cluster meets them: one for each version of OpenShift.

An upgrade of the cluster replaces the catalog under whatever is installed. So every version that any
catalog so far has offered is followed into the next one.
"""

from __future__ import annotations

__all__ = ["Matrix", "MatrixRow", "Move", "matrix"]

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from everpath.compare.all_channels import AnyChannel, Whole, is_same
from everpath.compare.catalog_changes import channel_changes, channel_emptied, channel_gone, package_gone
from everpath.compare.catalogs import EVERYTHING, Scope
from everpath.compare.changes import Change, ChangeKind
from everpath.compare.channel_paths import Road, Roads, installations
from everpath.compare.channels import TRACED, ChannelComparison, compare_channel
from everpath.compare.outcomes import Outcome, Row
from everpath.compare.similar_names import Spellings
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Catalog, Package
from everpath.resolvers import ResolverName
from everpath.rules.findings import Severity
from everpath.versions import Version

#: Of what is told of two catalogs, what is told of a move: what happens to somebody, and what will.
_TOLD: Final = (ChangeKind.DEAD_END, *(ChangeKind(outcome.value) for outcome in TRACED))

_Graphs = Sequence[ChannelGraph | None]
_Packages = Sequence[PackageGraph | None]


class MatrixRow(NamedTuple):
    """One installed version under one policy: its road in each catalog, and what each move makes of it.

    A road is None where no catalog so far had the version; an outcome, where there was nobody to move.
    """

    package: str
    channel: str | None
    installed: str
    version: Version | None
    policy: ResolverName
    roads: tuple[Road | None, ...]
    outcomes: tuple[Outcome | None, ...]

    @property
    def hurts(self) -> bool:
        """Whether some move cuts somebody off."""
        return any(outcome is not None and outcome.hurts for outcome in self.outcomes)

    @property
    def differs(self) -> bool:
        """Whether there is more to say than that everybody goes on as before."""
        calm = (None, Outcome.SAME, Outcome.FURTHER)
        arrives = all(road is None or road.arrives for road in self.roads)
        return not arrives or any(outcome not in calm for outcome in self.outcomes)


class Move(NamedTuple):
    """From one catalog to the next: how many it cuts off, how many it sends another way, and what to say."""

    stranded: int
    surprised: int
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class Matrix:
    """A row for every version, a column for every catalog, a move between each two.

    `unnamed` are the rows of whoever names no channel, in packages where that makes a difference.
    """

    rows: tuple[MatrixRow, ...]
    moves: tuple[Move, ...]
    unnamed: tuple[MatrixRow, ...] = ()

    @property
    def stranded(self) -> int:
        return sum(move.stranded for move in self.moves)

    @property
    def errors(self) -> int:
        return sum(change.severity is Severity.ERROR for move in self.moves for change in move.changes)

    @property
    def surprised(self) -> int:
        unnamed = sum(o is not None and o.surprises for row in self.unnamed for o in row.outcomes)
        return unnamed + sum(move.surprised for move in self.moves)


def matrix(catalogs: Sequence[Catalog], scope: Scope = EVERYTHING, *, roads: bool = False) -> Matrix:
    """All versions of all catalogs; `roads` tells also who goes another way.

    Cost: that of comparing each catalog with the next.
    """
    names = sorted({p.name for c in catalogs for p in c.packages if scope.has_package(p.name)})
    rows: list[MatrixRow] = []
    unnamed: list[MatrixRow] = []
    told: list[list[Change]] = [[] for _ in catalogs[1:]]
    added = [
        Spellings(p.name for p in new.packages if p.name not in old.by_name)
        for old, new in pairwise(catalogs)
    ]
    for name in names:
        found = [catalog.by_name.get(name) for catalog in catalogs]
        packages = [PackageGraph(package) if package is not None else None for package in found]
        own = [
            row for channel in _channels(packages, scope) for row in _channel(packages, channel, scope, told)
        ]
        rows += own
        if "v1" in scope.policies and not scope.channels:
            unnamed += _unnamed(name, packages, own, scope, told)
        for place, spellings in enumerate(added):
            told[place] += _gone(packages, place, spellings, scope)
    told = told if roads else [[c for c in each if c.kind is not ChangeKind.ROAD] for each in told]
    moves = (Move(*_counts(rows, place), tuple(changes)) for place, changes in enumerate(told))
    return Matrix(tuple(rows), tuple(moves), tuple(unnamed))


def _channels(packages: _Packages, scope: Scope) -> list[str]:
    names = (name for package in packages if package is not None for name in package.by_name)
    return [name for name in dict.fromkeys(names) if scope.has_channel(name)]


def _counts(rows: Sequence[MatrixRow], place: int) -> tuple[int, int]:
    met = [outcome for row in rows if (outcome := row.outcomes[place]) is not None]
    return sum(outcome.hurts for outcome in met), sum(outcome.surprises for outcome in met)


def _gone(packages: _Packages, place: int, added: Spellings, scope: Scope) -> Iterator[Change]:
    old, there = packages[place], packages[place + 1]
    if old is not None and there is None and _channels([old], scope):
        yield package_gone(old, added, scope.policies)


def _channel(
    packages: _Packages, channel: str, scope: Scope, told: list[list[Change]]
) -> Iterator[MatrixRow]:
    graphs = [package.by_name.get(channel) if package is not None else None for package in packages]
    where = (next(package.name for package in packages if package is not None), channel)
    carried: dict[str, Version | None] = {}
    columns: list[dict[tuple[str, ResolverName], Road]] = []
    moves: list[dict[tuple[str, ResolverName], Outcome]] = []
    for place, graph in enumerate(graphs):
        if place:
            compared = compare_channel(graphs[place - 1], graph, scope.policies, where, dict(carried))
            moves.append({(row.installed, row.policy): row.outcome for row in compared.rows})
            told[place - 1] += _told(compared, graphs, packages, place, scope)
        carried |= installations(graph) if graph is not None else {}
        roads = [Roads(graph, policy, dict(carried), where) for policy in scope.policies]
        columns.append({(name, r.policy): r.road(name) for name in carried for r in roads})
    for name in carried:
        for policy in scope.policies:
            key = (name, policy)
            cells, steps = (c.get(key) for c in columns), (m.get(key) for m in moves)
            yield MatrixRow(*where, name, carried[name], policy, tuple(cells), tuple(steps))


def _unnamed(
    name: str, packages: _Packages, others: Sequence[MatrixRow], scope: Scope, told: list[list[Change]]
) -> Iterator[MatrixRow]:
    """Whoever names no channel. Where a catalog lacks the package, they meet an empty one."""
    met = [package or PackageGraph(Package(name)) for package in packages]
    if is_same(*(package for package in packages if package is not None)):
        return
    before: Whole | None = None
    carried: dict[str, Version | None] = {}
    columns: list[Mapping[str, Road]] = []
    moves: list[Mapping[str, Outcome]] = []
    for place, package in enumerate(met):
        here = Whole(package, before)
        if before is not None:
            found = AnyChannel(before, here, dict(carried))
            moves.append({row.installed: row.outcome for row in found.rows})
            known = (_at_move(row, place - 1) for row in others)
            told[place - 1] += found.changes((row for row in known if row is not None), scope.policies)
        carried |= installations(here.graph)
        columns.append(here.roads(dict(carried)))
        before = here
    for each in carried:
        cells, steps = (c.get(each) for c in columns), (m.get(each) for m in moves)
        yield MatrixRow(name, None, each, carried[each], "v1", tuple(cells), tuple(steps))


def _at_move(row: MatrixRow, place: int) -> Row | None:
    """A row as one of a comparison."""
    old, new, outcome = row.roads[place], row.roads[place + 1], row.outcomes[place]
    if old is None or new is None or outcome is None:
        return None
    return Row(row.package, row.channel, row.installed, row.version, row.policy, outcome, old, new)


def _told(
    compared: ChannelComparison, graphs: _Graphs, packages: _Packages, place: int, scope: Scope
) -> Iterator[Change]:
    old, new, package = graphs[place - 1], graphs[place], packages[place]
    if new is not None and old is not None and old.entries and not new.entries:
        yield channel_emptied(old, new, scope.policies)
    elif new is not None and old is not None:
        told = channel_changes(old, new, compared)
        yield from (c for c in told if c.kind in _TOLD)
    elif old is not None and package is not None:
        before = packages[place - 1]
        known = before.by_name if before is not None else {}
        added = Spellings(name for name in package.by_name if name not in known)
        yield channel_gone(old, package, added, scope.policies)
