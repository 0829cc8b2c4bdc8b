"""Two catalogs: where everybody who has anything of the old one goes in the new one."""

from __future__ import annotations

__all__ = ["EVERYTHING", "Comparison", "Scope", "compare"]

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

from everpath.compare.all_channels import follow
from everpath.compare.catalog_changes import (
    channel_changes,
    channel_emptied,
    channel_gone,
    package_gone,
    package_remarks,
    refused,
)
from everpath.compare.changes import Change, ChangeKind
from everpath.compare.channels import ChannelComparison, compare_channel
from everpath.compare.outcomes import Outcome, Row
from everpath.compare.properties import Properties, properties, strays
from everpath.compare.similar_names import Spellings
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Catalog
from everpath.resolvers import ResolverName
from everpath.rules.findings import Severity
from everpath.wording import plural

_KINDS: Final = {kind: position for position, kind in enumerate(ChangeKind)}


class Scope(NamedTuple):
    """What to look at: packages and channels of these names, or all; and whose users to think of."""

    packages: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    policies: tuple[ResolverName, ...] = ("v0", "v1")

    def has_package(self, name: str) -> bool:
        return not self.packages or name in self.packages

    def has_channel(self, name: str) -> bool:
        return not self.channels or name in self.channels


EVERYTHING: Final = Scope()


@dataclass(frozen=True)
class Comparison:
    """What was found: a row for everybody, the changes worth telling, and whether the properties hold.

    `unnamed` are the rows of whoever names no channel, in packages where that makes a difference.
    """

    packages: int
    channels: int
    rows: tuple[Row, ...]
    changes: tuple[Change, ...]
    properties: Properties
    unnamed: tuple[Row, ...] = ()

    @cached_property
    def counts(self) -> Mapping[Outcome, int]:
        """How many rows have each outcome."""
        return Counter(row.outcome for row in self.rows)

    @property
    def stranded(self) -> int:
        """How many rows are cut off by the new catalog."""
        return sum(number for outcome, number in self.counts.items() if outcome.hurts)

    @property
    def errors(self) -> int:
        """How many changes cut somebody off, or will."""
        return sum(change.severity is Severity.ERROR for change in self.changes)

    @property
    def surprised(self) -> int:
        """How many rows arrive by another way than before, those of whoever names no channel included."""
        return sum(row.outcome.surprises for row in (*self.rows, *self.unnamed))


def compare(old: Catalog, new: Catalog, scope: Scope = EVERYTHING) -> Comparison:
    """All packages of the old catalog against the new one. Each package is compared by itself.

    Cost: O((edges + ranges) · log n) in both catalogs; where somebody is hurt, a walk of that channel for
    every edit in it that is tried.
    """
    added = [p.name for p in new.packages if p.name not in old.by_name]
    parts, spellings = list[Comparison](), Spellings(added)
    for package in old.packages:
        if scope.has_package(package.name):
            found = new.by_name.get(package.name)
            there = PackageGraph(found) if found is not None else None
            parts.append(_package(PackageGraph(package), there, spellings, scope))
    return _summed(parts, _packages_added(new, added, scope))


def _packages_added(new: Catalog, added: Iterable[str], scope: Scope) -> Iterator[Change]:
    for name in added:
        package = new.by_name[name]
        if scope.has_package(name) and not scope.channels:
            words = f"the package is new, with {plural(len(package.channels), 'channel')}"
            yield Change(ChangeKind.PACKAGE_ADDED, name, None, words, place=package.place)
            yield from refused(PackageGraph(package))


def _summed(parts: Iterable[Comparison], more: Iterable[Change]) -> Comparison:
    parts = list(parts)
    changes = [*(change for part in parts for change in part.changes), *more]
    changes.sort(key=lambda c: (c.package, c.channel or "", -c.severity, _KINDS[c.kind]))
    return Comparison(
        packages=len(parts),
        channels=sum(part.channels for part in parts),
        rows=tuple(row for part in parts for row in part.rows),
        changes=tuple(changes),
        properties=Properties.summed(part.properties for part in parts),
        unnamed=tuple(row for part in parts for row in part.unnamed),
    )


def _package(old: PackageGraph, new: PackageGraph | None, added: Spellings, scope: Scope) -> Comparison:
    rows: list[Row] = []
    changes: list[Change] = []
    held: list[Properties] = []
    channels = [graph for name, graph in old.by_name.items() if scope.has_channel(name)]
    fresh = Spellings(name for name in (new.by_name if new else ()) if name not in old.by_name)
    for graph in channels:
        there = new.by_name.get(graph.name) if new else None
        compared = compare_channel(graph, there, scope.policies, (old.name, graph.name))
        rows += compared.rows
        held.append(properties(compared))
        if there is not None and graph.entries and not there.entries:
            changes.append(channel_emptied(graph, there, scope.policies))
        else:
            changes += _changes(graph, there, compared)
        if there is None and new is not None:
            changes.append(channel_gone(graph, new, fresh, scope.policies))
    unnamed: tuple[Row, ...] = ()
    if new is not None and "v1" in scope.policies and not scope.channels:
        unnamed, told = follow(old, new, rows, scope.policies)
        changes += told
    if new is None and channels:
        changes.append(package_gone(old, added, scope.policies))
    elif new is not None:
        held.append(strays(new, scope.policies) if not scope.channels else Properties())
        changes += (c for c in package_remarks(old, new) if c.channel is None or scope.has_channel(c.channel))
    return Comparison(1, len(channels), tuple(rows), tuple(changes), Properties.summed(held), unnamed)


def _changes(old: ChannelGraph, new: ChannelGraph | None, compared: ChannelComparison) -> Iterator[Change]:
    if new is not None:
        yield from channel_changes(old, new, compared)
        yield from compared.notes()
