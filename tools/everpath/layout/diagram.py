"""A channel as a diagram: nodes from the oldest version to the newest, and the edges between them.

A range is stored as runs of columns instead of edges: columns are ordered by version, so it covers few runs.
A diagram is as large as the channel in the catalog, even if it has n² edges.
"""

from __future__ import annotations

__all__ = ["CoveredRange", "Diagram", "Node", "SkippedEntries"]

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.layout.replaces_chains import ReplacesChain, replaces_chains
from everpath.model import Entry
from everpath.resolvers import olm_v0
from everpath.versions import Key


class Node(NamedTuple):
    """An entry, or a name that an entry replaces or skips and that is no entry itself (`entry` None).

    `version` is the text in the catalog. `deprecated` is the message of the deprecation, `uninstallable` the
    reason why OLM v0 never installs it.
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
    uninstallable: str | None = None


class SkippedEntries(NamedTuple):
    """All that one entry skips, by column."""

    successor: int
    targets: tuple[int, ...]


class CoveredRange(NamedTuple):
    """The skipRange of one entry and the runs of columns that it covers, each as first and last.

    `is_valid` is false for a range that does not parse: OLM ignores it.
    """

    successor: int
    text: str
    runs: tuple[tuple[int, int], ...]
    is_valid: bool = True

    @property
    def size(self) -> int:
        return sum(last - first + 1 for first, last in self.runs)


class Diagram:
    """One channel: its nodes by column, and the edges between columns. Immutable."""

    def __init__(self, graph: ChannelGraph) -> None:
        self.graph = graph
        self.package = graph.package.name
        self.channel = graph.name
        self.is_default = graph.name == graph.package.default_channel

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Names without a version first, then by version, so that a range covers runs of columns."""
        graph = self.graph
        referenced = dict.fromkeys(n for e in graph.entries.values() for n in (e.replaces, *e.skips) if n)
        absent = [name for name in referenced if name not in graph.entries]
        unversioned = [name for name in graph.entries if name not in graph.versions]
        heads, deprecations = frozenset(graph.heads), graph.package.deprecations_by_name("olm.bundle")
        uninstallable = olm_v0.uninstallable(graph)
        nodes = []
        for name in (*absent, *unversioned, *graph.by_version):
            bundle, version, deprecation = (
                graph.bundle(name),
                graph.versions.get(name),
                deprecations.get(name),
            )
            stated = bundle.version if bundle else None
            node = Node(
                name,
                label=stated if stated and version else name[self.prefix :] or name,
                version=stated,
                entry=graph.entries.get(name),
                stream=version.minor_stream if version else None,
                is_head=name in heads,
                is_skipped=name in graph.skippers and name in graph.entries,
                has_bundle=bundle is not None,
                deprecated=deprecation.message if deprecation else None,
                uninstallable=uninstallable.get(name),
            )
            nodes.append(node)
        return tuple(nodes)

    @cached_property
    def prefix(self) -> int:
        """The length of the prefix, up to the first dot, that all entries share; 0 if they do not."""
        names = self.graph.entries
        end = min(names, default="").find(".") + 1
        return end if len(names) > 1 and len({name[:end] for name in names}) == 1 else 0

    @cached_property
    def columns(self) -> Mapping[str, int]:
        return {node.name: column for column, node in enumerate(self.nodes)}

    @cached_property
    def replaces(self) -> Mapping[int, int]:
        """The column that each column replaces."""
        pairs = ((column, node.entry.replaces) for column, node in enumerate(self.nodes) if node.entry)
        return {column: self.columns[below] for column, below in pairs if below}

    @cached_property
    def skips(self) -> tuple[SkippedEntries, ...]:
        return tuple(
            SkippedEntries(column, tuple(sorted({self.columns[name] for name in node.entry.skips})))
            for column, node in enumerate(self.nodes)
            if node.entry and node.entry.skips
        )

    @cached_property
    def covered_ranges(self) -> tuple[CoveredRange, ...]:
        """The ranges by successor. Two binary searches for each of their intervals."""
        return tuple(
            self._covered_range(column, node.entry.skip_range)
            for column, node in enumerate(self.nodes)
            if node.entry and node.entry.skip_range
        )

    def _covered_range(self, column: int, text: str) -> CoveredRange:
        skip_range = self.graph.ranges.get(self.nodes[column].name)
        if skip_range is None:
            return CoveredRange(column, text, (), is_valid=False)
        keys = self._keys
        first = len(self.nodes) - len(keys)
        cuts = [first + bisect_left(keys, cut.key) for cut in skip_range.intervals.cuts]
        runs = ((low, high - 1) for low, high in zip(cuts[::2], cuts[1::2], strict=True) if low < high)
        return CoveredRange(column, text, tuple(runs))

    @cached_property
    def _keys(self) -> list[Key]:
        return [version.key for version in self.graph.sorted_versions]

    @cached_property
    def range_of(self) -> Mapping[int, CoveredRange]:
        """The ranges by the column of their entry."""
        return {covered.successor: covered for covered in self.covered_ranges}

    @cached_property
    def chains(self) -> tuple[ReplacesChain, ...]:
        """The chain of the newest head first, then those of other heads, then the rest."""
        newest_first = range(len(self.nodes) - 1, -1, -1)
        starts = sorted(newest_first, key=lambda c: not self.nodes[c].is_head)
        return replaces_chains(starts, self.replaces)

    def edges(self) -> Iterator[tuple[int, int, str]]:
        """Yield every edge as (successor, accepted, kind). May be n²."""
        for successor, below in self.replaces.items():
            yield successor, below, "replaces"
        for skips in self.skips:
            yield from ((skips.successor, target, "skips") for target in skips.targets)
        for covered in self.covered_ranges:
            for first, last in covered.runs:
                yield from ((covered.successor, column, "skipRange") for column in range(first, last + 1))
