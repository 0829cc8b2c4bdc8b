"""Simulations of drawn graphs, and paths as short texts."""

from __future__ import annotations

__all__ = ["channel_results", "short_texts", "simulation_report", "sources", "upgrade_path", "upgrade_paths"]

from collections.abc import Sequence
from typing import Any

from everpath.reporters.simulation.report import SimulationReport
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.rules.opm_errors import opm_errors
from everpath.simulate import ChannelResult, Scenario, all_paths, find_installed, simulate_package
from everpath.upgrade_path.path import UpgradePath
from tests.support.everpath.graphs import package_graph


def sources(*drawings: str, priorities: Sequence[int] = ()) -> list[ClusterCatalog]:
    """Return catalogs `a`, `b`, … each with the package of a drawing."""
    ranks = [*priorities, *([0] * len(drawings))]
    return [
        ClusterCatalog(chr(ord("a") + i), ranks[i], package_graph(text)) for i, text in enumerate(drawings)
    ]


def channel_results(
    drawing: str | Sequence[ClusterCatalog], scenario: Scenario | None = None, installed: str | None = None
) -> list[ChannelResult]:
    """Return the results of a drawing, or of several catalogs."""
    served = sources(drawing) if isinstance(drawing, str) else drawing
    asked = (
        find_installed([s.package for s in served if s.package], installed) if installed is not None else None
    )
    return list(simulate_package(served, scenario or Scenario(), asked, with_catalog_names=len(served) > 1))


def upgrade_paths(
    drawing: str | Sequence[ClusterCatalog], scenario: Scenario | None = None, installed: str | None = None
) -> list[UpgradePath]:
    """Return every path of a drawing, or of several catalogs."""
    return list(all_paths(channel_results(drawing, scenario, installed)))


def upgrade_path(drawing: str, installed: str, resolver: str, channel: str = "stable") -> UpgradePath:
    """Return the path of one installed version."""
    [row] = (
        r
        for r in upgrade_paths(drawing)
        if (r.installed, r.resolver, r.channel) == (installed, resolver, channel)
    )
    return row


def short_texts(found: Sequence[UpgradePath]) -> list[str]:
    """Return `v0 b1 → b2 → b3 head` for each path."""
    return [f"{r.resolver} {' → '.join((r.installed or '-', *r.hops))} {r.end}" for r in found]


def simulation_report(
    results: Sequence[ChannelResult], scenario: Scenario, **options: Any
) -> SimulationReport:
    """Return the input of the reporters, with the errors of opm in the packages of the results."""
    packages = {(r.catalog, id(r.graph.package)): r.graph.package for r in results if r.graph is not None}
    errors = [(catalog, e) for (catalog, _), package in packages.items() for e in opm_errors(package)]
    return SimulationReport(results, scenario, opm_errors=tuple(errors), **options)
