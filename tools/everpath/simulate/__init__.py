"""Simulation: what OLM v0 and v1 do to clusters on every version of a package.

`simulate_package` yields a `ChannelResult` for each channel: the upgrade path of every installed version
under both resolvers. A `Scenario` selects new installations, channel switches and resolvers.
"""

from __future__ import annotations

__all__ = [
    "ChannelResult",
    "ClusterExtensionOptions",
    "InstalledResult",
    "InstalledVersion",
    "Scenario",
    "all_paths",
    "find_installed",
    "simulate_package",
]

from everpath.simulate.installed import InstalledVersion, find_installed
from everpath.simulate.results import ChannelResult, InstalledResult, all_paths
from everpath.simulate.scenario import ClusterExtensionOptions, Scenario, simulate_package
