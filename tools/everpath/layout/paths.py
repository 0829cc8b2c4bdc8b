"""The upgrade paths that a picture shows. `simulate` reports the same paths."""

from __future__ import annotations

__all__ = ["DrawnPaths", "drawn_paths"]

from collections.abc import Mapping

from everpath.graph import PackageGraph
from everpath.layout.diagram import Diagram
from everpath.resolvers import ResolverName, olm_v0
from everpath.resolvers.catalog_candidates import served_channel
from everpath.simulate import InstalledVersion
from everpath.upgrade_path.channel_paths import ChannelPaths
from everpath.upgrade_path.path import UpgradePath


class DrawnPaths:
    """The paths of one channel under one resolver: of entries, new installations, other versions."""

    def __init__(self, resolver: ResolverName, diagram: Diagram) -> None:
        package, graph = PackageGraph(diagram.graph.package), diagram.graph
        if resolver == "v1":
            package, graph = served_channel(package, graph)
        self.resolver: ResolverName = resolver
        self._paths = ChannelPaths(package, graph, resolver)
        self.by_entry: Mapping[str, UpgradePath] = {
            node.name: self.path(InstalledVersion(node.name, node.version))
            for node in diagram.nodes
            if node.entry
        }
        #: Whether OLM v0 cannot sort the channel, so that no cluster gets updates.
        self.is_broken = resolver == "v0" and olm_v0.sort_channel(diagram.graph).failure is not None

    def path(self, installed: InstalledVersion | None) -> UpgradePath:
        """Return the path of any installed version, or of a new installation (None)."""
        return self._paths.path(installed.as_bundle(self.resolver) if installed is not None else None)


def drawn_paths(diagram: Diagram) -> tuple[DrawnPaths, DrawnPaths]:
    """Return the paths under OLM v0 and v1. O((edges + ranges) · log n) in most channels."""
    return DrawnPaths("v0", diagram), DrawnPaths("v1", diagram)
