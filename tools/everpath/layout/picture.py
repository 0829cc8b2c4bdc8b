"""A channel as a picture has it: nodes from the oldest version to the newest, and the edges between them.

Ranges stay ranges. Columns are in order of version, so what a range covers is a few runs of columns, however
many edges that makes: a picture is as large as the channel that was written down.
"""

from __future__ import annotations

__all__ = ["Node", "Picture", "Reach", "Skips"]

from bisect import bisect_left
from collections.abc import Collection, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.layout.lines import Line, lines
from everpath.model import DeprecationEntry, Entry
from everpath.resolvers import olm_v0
from everpath.versions import Key


class Node(NamedTuple):
    """An entry, or a name that entries refer to and that is not one of them.

    `version` is as written. `deprecated` and `prohibited` say why, if they do.
    """

    name: str
    label: str
    version: str | None
    entry: Entry | None
    stream: tuple[int, int] | None = None
    is_head: bool = False
    is_skipped: bool = False
    has_bundle: bool = True
    deprecated: str | None = None
    prohibited: str | None = None


class Skips(NamedTuple):
    """All that one entry skips, by column."""

    successor: int
    targets: tuple[int, ...]


class Reach(NamedTuple):
    """What the skipRange of one entry covers: runs of columns, each from its first to its last.

    Without a run it covers nobody who is in the channel. `is_read` is false for a range that OLM ignores.
    """

    successor: int
    text: str
    runs: tuple[tuple[int, int], ...]
    is_read: bool = True

    @property
    def size(self) -> int:
        return sum(last - first + 1 for first, last in self.runs)


class Picture:
    """One channel, its nodes by column, the edges between columns. Immutable."""

    def __init__(self, graph: ChannelGraph) -> None:
        self.graph = graph
        self.package = graph.package.name
        self.channel = graph.name
        self.is_default = graph.name == graph.package.default_channel

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """First what has no version, then by version: so that no run of a range has strangers in it."""
        strangers = [name for name in _referred(self.graph) if name not in self.graph.entries]
        unversioned = [name for name in self.graph.entries if name not in self.graph.versions]
        names = (*strangers, *unversioned, *self.graph.by_version)
        return tuple(map(self._node, names))

    def _node(self, name: str) -> Node:
        graph, notice = self.graph, self._deprecated.get(name)
        bundle, version = graph.bundle(name), graph.versions.get(name)
        written = bundle.version if bundle else None
        return Node(
            name,
            label=written if written and version else name[self.prefix :] or name,
            version=written,
            entry=graph.entries.get(name),
            stream=version.minor_stream if version else None,
            is_head=name in self._heads,
            is_skipped=name in graph.skippers and name in graph.entries,
            has_bundle=bundle is not None,
            deprecated=notice.message if notice else None,
            prohibited=olm_v0.uninstallable(graph).get(name),
        )

    @cached_property
    def prefix(self) -> int:
        """How many characters of each name say nothing, because all entries begin with them."""
        return _shared_start(self.graph.entries)

    @cached_property
    def _heads(self) -> frozenset[str]:
        return frozenset(self.graph.heads)

    @cached_property
    def _deprecated(self) -> Mapping[str, DeprecationEntry]:
        return self.graph.package.deprecations_by_name("olm.bundle")

    @cached_property
    def columns(self) -> Mapping[str, int]:
        return {node.name: column for column, node in enumerate(self.nodes)}

    @cached_property
    def replaces(self) -> Mapping[int, int]:
        """The column that each column replaces, if any."""
        pairs = ((column, node.entry.replaces) for column, node in enumerate(self.nodes) if node.entry)
        return {column: self.columns[below] for column, below in pairs if below}

    @cached_property
    def skips(self) -> tuple[Skips, ...]:
        return tuple(
            Skips(column, tuple(sorted({self.columns[name] for name in node.entry.skips})))
            for column, node in enumerate(self.nodes)
            if node.entry and node.entry.skips
        )

    @cached_property
    def reaches(self) -> tuple[Reach, ...]:
        """The ranges, by successor. Two binary searches for each of their intervals."""
        return tuple(
            self._reach(column, node.entry.skip_range)
            for column, node in enumerate(self.nodes)
            if node.entry and node.entry.skip_range
        )

    @cached_property
    def reach_of(self) -> Mapping[int, Reach]:
        """The ranges again, by the column of their entry."""
        return {reach.successor: reach for reach in self.reaches}

    def _reach(self, column: int, text: str) -> Reach:
        span = self.graph.ranges.get(self.nodes[column].name)
        if span is None:
            return Reach(column, text, (), is_read=False)
        keys = self._keys
        first = len(self.nodes) - len(keys)
        cuts = [first + bisect_left(keys, cut.key) for cut in span.intervals.cuts]
        runs = ((low, high - 1) for low, high in zip(cuts[::2], cuts[1::2], strict=True) if low < high)
        return Reach(column, text, tuple(runs))

    @cached_property
    def _keys(self) -> list[Key]:
        return [version.key for version in self.graph.sorted_versions]

    @cached_property
    def lines(self) -> tuple[Line, ...]:
        """The newest head's line first, then the other heads', then whatever no head leads to."""
        newest_first = range(len(self.nodes) - 1, -1, -1)
        return lines(sorted(newest_first, key=lambda c: not self.nodes[c].is_head), self.replaces)

    def edges(self) -> Iterator[tuple[int, int, str]]:
        """Every edge as (successor, accepted, kind): the long way, for whoever must see each."""
        for successor, below in self.replaces.items():
            yield successor, below, "replaces"
        for skips in self.skips:
            yield from ((skips.successor, target, "skips") for target in skips.targets)
        for reach in self.reaches:
            for first, last in reach.runs:
                yield from ((reach.successor, column, "skipRange") for column in range(first, last + 1))


def _referred(graph: ChannelGraph) -> dict[str, None]:
    """Every name that an entry replaces or skips, in the order of writing."""
    return {name: None for entry in graph.entries.values() for name in (entry.replaces, *entry.skips) if name}


def _shared_start(names: Collection[str]) -> int:
    """How much of the names says nothing: up to the first dot, if all are alike as far as that."""
    end = min(names, default="").find(".") + 1
    return end if len(names) > 1 and len({name[:end] for name in names}) == 1 else 0
