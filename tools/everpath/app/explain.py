"""Choose what `everpath why` and `everpath.explain` explain."""

from __future__ import annotations

__all__ = ["default_channel"]

from collections.abc import Sequence

from everpath.graph import PackageGraph


def default_channel(graphs: Sequence[PackageGraph], csv: str | None) -> str:
    """Return the default channel, unless only other channels have the installed CSV."""
    default = next((graph.package.default_channel for graph in graphs if graph.package.default_channel), "")
    having = sorted({channel for graph in graphs for channel in graph.channels_by_entry.get(csv or "", ())})
    if default and (default in having or not having):
        return default
    return next(iter(having or sorted(name for graph in graphs for name in graph.by_name)), default)
