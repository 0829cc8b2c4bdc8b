"""One channel with everything that a drawing shows: diagram, coordinates, upgrade paths, findings."""

from __future__ import annotations

__all__ = ["ChannelDrawing", "channel_drawings"]

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from everpath.graph import ChannelGraph
from everpath.layout.diagram import Diagram
from everpath.layout.geometry import Layout, compute_layout
from everpath.layout.paths import DrawnPaths, drawn_paths
from everpath.rules.findings import Finding, Severity
from everpath.simulate import InstalledVersion


@dataclass(frozen=True)
class ChannelDrawing:
    """One channel. `installed` are the versions whose paths are highlighted. Everything is computed once."""

    diagram: Diagram
    findings: tuple[Finding, ...] = ()
    installed: tuple[InstalledVersion, ...] = ()

    @cached_property
    def layout(self) -> Layout:
        return compute_layout(self.diagram)

    @cached_property
    def paths(self) -> tuple[DrawnPaths, DrawnPaths]:
        return drawn_paths(self.diagram)

    @cached_property
    def by_entry(self) -> Mapping[str, tuple[Finding, ...]]:
        """Findings by the name of their node."""
        found: dict[str, list[Finding]] = {}
        for finding in self.findings:
            if finding.entry in self.diagram.columns:
                found.setdefault(finding.entry or "", []).append(finding)
        return {name: tuple(each) for name, each in found.items()}

    @cached_property
    def channel_findings(self) -> tuple[Finding, ...]:
        """Findings about the channel, or about a name that is not a node."""
        return tuple(f for f in self.findings if f.entry not in self.diagram.columns)

    def worst_severity(self, name: str) -> Severity | None:
        """Return the severity that marks a node. Notes do not mark it."""
        return max((f.severity for f in self.problems(name)), default=None)

    def problems(self, name: str) -> tuple[Finding, ...]:
        """Return the errors and warnings about a node."""
        return tuple(f for f in self.by_entry.get(name, ()) if f.severity > Severity.NOTE)

    @property
    def installed_entries(self) -> tuple[str, ...]:
        """Installed versions that are in the channel."""
        return tuple(i.name for i in self.installed if i.name in self.diagram.graph.entries)

    @property
    def installed_elsewhere(self) -> tuple[InstalledVersion, ...]:
        """Installed versions that are not in the channel."""
        return tuple(i for i in self.installed if i.name not in self.diagram.graph.entries)

    def hops_of_installed(self, drawn: DrawnPaths) -> tuple[tuple[int, int], ...]:
        """Return the hops, by column, of the paths of everything that is installed."""
        columns = self.diagram.columns
        hops: dict[tuple[int, int], None] = {}
        for installed in self.installed:
            start = (installed.name,) if installed.name in self.diagram.graph.entries else ()
            path = (*start, *drawn.path(installed).hops)
            hops.update({(columns[a], columns[b]): None for a, b in pairwise(path)})
        return tuple(hops)


def channel_drawings(
    graphs: Sequence[ChannelGraph],
    findings: Sequence[Finding],
    installed: Sequence[InstalledVersion] = (),
) -> tuple[ChannelDrawing, ...]:
    """Return a drawing for each channel with its findings in their order. O(entries + findings)."""
    by_channel: dict[str, list[int]] = {}
    by_entry: dict[str, list[int]] = {}
    of_package: list[int] = []
    for index, finding in enumerate(findings):
        if finding.channel is not None:
            by_channel.setdefault(finding.channel, []).append(index)
        elif finding.entry is not None:
            by_entry.setdefault(finding.entry, []).append(index)
        else:
            of_package.append(index)
    drawings = []
    for graph in graphs:
        indices = [*by_channel.get(graph.name, ()), *of_package]
        for name in graph.entries:
            indices += by_entry.get(name, ())
        own = tuple(findings[index] for index in sorted(indices))
        drawings.append(ChannelDrawing(Diagram(graph), own, tuple(installed)))
    return tuple(drawings)
