"""Draw the channels of one package, with findings and upgrade paths."""

from __future__ import annotations

__all__ = ["GraphDrawing", "draw_graph"]

from collections.abc import Sequence
from typing import NamedTuple

from everpath.app.config.config import today
from everpath.app.inputs.catalog_set import find_installed_by_package, package_count
from everpath.app.inputs.inputs import Inputs, not_found_error
from everpath.errors import UsageError
from everpath.graph import PackageGraph
from everpath.layout.drawing import ChannelDrawing, channel_drawings
from everpath.model import Catalog, Package
from everpath.model.progress import Progress
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.rules.lint import Selection, lint
from everpath.simulate import InstalledVersion


class GraphDrawing(NamedTuple):
    """A drawing for each channel, the default one first, and notes about unknown installed versions."""

    channels: tuple[ChannelDrawing, ...]
    notes: tuple[str, ...] = ()


def draw_graph(
    inputs: Inputs,
    package: str | None = None,
    *,
    channels: Sequence[str] = (),
    installed: Sequence[str] = (),
    progress: Progress | None = None,
) -> GraphDrawing:
    """Load the inputs and draw one package; it must be named if there are several.

    `channels` limits the channels. `installed` are CSV names or versions whose paths are highlighted; of
    several CSVs with the same version the first. Waived findings are left out. Raises an error for an
    unknown name, and if there is no channel to draw.
    """
    catalogs = list(inputs.catalogs(progress))
    inputs.verify_names([package] if package else (), channels)
    catalog, selected = _select_package(inputs, catalogs, package)
    whole = PackageGraph(selected)
    graphs = [graph for graph in whole.channels if not channels or graph.name in channels]
    if not graphs:
        hint = f"{inputs.list_command('bundles', selected.name)} shows what it has"
        raise not_found_error(f"{selected.name} has no channel to draw", hint, inputs.unread)
    graphs.sort(key=lambda graph: (graph.name != selected.default_channel, graph.name))
    versions: list[InstalledVersion] = []
    notes: list[str] = []
    for text in installed:
        matches, more = find_installed_by_package(
            text, {selected.name: [ClusterCatalog("catalog", 0, whole)]}
        )
        versions.append(matches[selected.name][0])
        notes += more
    selection = Selection(packages=frozenset((selected.name,)), channels=frozenset(channels))
    report = lint(catalog, selection, waivers=inputs.config.waivers, today=today())
    own = tuple(finding for finding in report.findings if finding.package == selected.name)
    findings = report._replace(findings=own).with_positions(inputs.locate).findings
    return GraphDrawing(channel_drawings(graphs, findings, versions), tuple(notes))


def _select_package(inputs: Inputs, catalogs: Sequence[Catalog], name: str | None) -> tuple[Catalog, Package]:
    """Return the package of that name, or the only one, and its catalog."""
    found = [
        (catalog, each) for catalog in catalogs for each in catalog.packages if name in (None, each.name)
    ]
    if not found:
        raise inputs.no_package_error()
    if len(found) > 1:
        names = [each.name for _, each in found]
        hint = f"-p NAME; {inputs.list_command('packages')} lists them"
        raise UsageError(f"graph draws one package; the input has {package_count(names)}", hint=hint)
    return found[0]
