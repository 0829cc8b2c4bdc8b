"""All there is to show of one channel: its picture, where everything goes, its roads and its findings."""

from __future__ import annotations

__all__ = ["Scene", "Sighted", "scenes"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.layout.layout import Layout, layout
from everpath.layout.paths import DrawnPaths, drawn_paths
from everpath.layout.picture import Picture
from everpath.rules.findings import Finding, Severity
from everpath.simulate import InstalledVersion


class Sighted(NamedTuple):
    """A finding, and where it is written; 0 for a line or a column that nobody knows."""

    finding: Finding
    file: str = ""
    line: int = 0
    column: int = 0

    @property
    def where(self) -> str:
        """In words: `catalog.yaml:14`."""
        return f"{self.file}:{self.line}" if self.line else self.file


@dataclass(frozen=True)
class Scene:
    """One channel. Everything is computed when it is asked for, once."""

    picture: Picture
    findings: tuple[Sighted, ...] = ()
    installed: tuple[InstalledVersion, ...] = ()

    @cached_property
    def layout(self) -> Layout:
        return layout(self.picture)

    @cached_property
    def paths(self) -> tuple[DrawnPaths, DrawnPaths]:
        return drawn_paths(self.picture)

    @cached_property
    def by_entry(self) -> Mapping[str, tuple[Sighted, ...]]:
        """Findings by the node that they are about."""
        found: dict[str, list[Sighted]] = {}
        for sighted in self.findings:
            if sighted.finding.entry in self.picture.columns:
                found.setdefault(sighted.finding.entry or "", []).append(sighted)
        return {name: tuple(each) for name, each in found.items()}

    @cached_property
    def general(self) -> tuple[Sighted, ...]:
        """Findings about the channel as a whole, or about a name that is no node of it."""
        return tuple(s for s in self.findings if s.finding.entry not in self.picture.columns)

    def worst(self, name: str) -> Severity | None:
        """The severity that marks a node. Notes mark none: nobody is hurt by them."""
        return max((s.finding.severity for s in self.hurting(name)), default=None)

    def hurting(self, name: str) -> tuple[Sighted, ...]:
        """The errors and warnings about a node."""
        return tuple(s for s in self.by_entry.get(name, ()) if s.finding.severity > Severity.NOTE)

    @property
    def visitors(self) -> tuple[InstalledVersion, ...]:
        """What is installed and not in the channel."""
        return tuple(asked for asked in self.installed if asked.name not in self.picture.graph.entries)

    def lit_hops(self, drawn: DrawnPaths) -> tuple[tuple[int, int], ...]:
        """The hops, by column, on the roads of everything that is installed. Cost: those roads."""
        starts = {name: (name,) for name in self.lit}
        paths = [(*starts.get(asked.name, ()), *drawn.path(asked).hops) for asked in self.installed]
        columns = self.picture.columns
        hops = {(columns[a], columns[b]): None for path in paths for a, b in pairwise(path)}
        return tuple(hops)

    @property
    def lit(self) -> tuple[str, ...]:
        """What is installed and is in the channel."""
        return tuple(i.name for i in self.installed if i.name in self.picture.graph.entries)


def scenes(
    graphs: Sequence[ChannelGraph], findings: Sequence[Sighted], installed: Sequence[InstalledVersion] = ()
) -> tuple[Scene, ...]:
    """A scene a channel, each with the findings that concern it, in their order. O(entries + findings)."""
    shelf = _Shelf()
    for sighted in enumerate(findings):
        shelf.put(*sighted)
    return tuple(Scene(Picture(graph), shelf.of(graph), tuple(installed)) for graph in graphs)


class _Shelf:
    """Findings by what they are about, so that no channel looks through those of another."""

    def __init__(self) -> None:
        self._by_channel: dict[str, list[tuple[int, Sighted]]] = {}
        self._by_entry: dict[str, list[tuple[int, Sighted]]] = {}
        self._of_package: list[tuple[int, Sighted]] = []

    def put(self, number: int, sighted: Sighted) -> None:
        finding = sighted.finding
        if finding.channel is not None:
            self._by_channel.setdefault(finding.channel, []).append((number, sighted))
        elif finding.entry is not None:
            self._by_entry.setdefault(finding.entry, []).append((number, sighted))
        else:
            self._of_package.append((number, sighted))

    def of(self, graph: ChannelGraph) -> tuple[Sighted, ...]:
        found = [*self._by_channel.get(graph.name, ()), *self._of_package]
        for name in graph.entries:
            found += self._by_entry.get(name, ())
        return tuple(sighted for _, sighted in sorted(found, key=lambda each: each[0]))
