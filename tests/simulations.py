"""Simulations of drawn graphs, and paths as short texts."""

from __future__ import annotations

__all__ = ["answer", "answered", "brief", "simulated", "simulation_of", "sources"]

from collections.abc import Sequence
from typing import Any

from everpath.reporters.simulation import Simulation
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.rules.opm_errors import opm_errors
from everpath.simulate import ChannelResult, Scenario, all_paths, find_installed, simulate_package
from everpath.upgrade_paths import UpgradePath
from graphs import package_graph


def sources(*drawings: str, priorities: Sequence[int] = ()) -> list[ClusterCatalog]:
    """Catalogs `a`, `b`, … each with the package of a drawing."""
    ranks = [*priorities, *([0] * len(drawings))]
    return [
        ClusterCatalog(chr(ord("a") + i), ranks[i], package_graph(text)) for i, text in enumerate(drawings)
    ]


def simulated(
    drawing: str | Sequence[ClusterCatalog], scenario: Scenario | None = None, installed: str | None = None
) -> list[ChannelResult]:
    """The results of a drawing, or of several catalogs."""
    served = sources(drawing) if isinstance(drawing, str) else drawing
    asked = (
        find_installed([s.package for s in served if s.package], installed) if installed is not None else None
    )
    return list(simulate_package(served, scenario or Scenario(), asked, with_catalog_names=len(served) > 1))


def answered(
    drawing: str | Sequence[ClusterCatalog], scenario: Scenario | None = None, installed: str | None = None
) -> list[UpgradePath]:
    """The paths of the same."""
    return list(all_paths(simulated(drawing, scenario, installed)))


def answer(drawing: str, installed: str, policy: str, channel: str = "stable") -> UpgradePath:
    """The one path of an installed version."""
    [row] = (
        r for r in answered(drawing) if (r.installed, r.resolver, r.channel) == (installed, policy, channel)
    )
    return row


def brief(found: Sequence[UpgradePath]) -> list[str]:
    """`v0 b1 → b2 → b3 head`, a line for each path."""
    return [f"{r.resolver} {' → '.join((r.installed or '-', *r.hops))} {r.end}" for r in found]


def simulation_of(results: Sequence[ChannelResult], scenario: Scenario, **options: Any) -> Simulation:
    """The input of the reporters, with the errors of opm in the packages of the results."""
    packages = {(r.catalog, id(r.graph.package)): r.graph.package for r in results if r.graph is not None}
    errors = [(catalog, e) for (catalog, _), package in packages.items() for e in opm_errors(package)]
    return Simulation(results, scenario, opm_errors=tuple(errors), **options)
