"""Entries at which an upgrade path ends well, for all commands and rules."""

from __future__ import annotations

__all__ = ["GoalKind", "goal_kind", "path_goals"]

from enum import StrEnum

from everpath.graph import ChannelGraph
from everpath.resolvers import ResolverName, olm_v1


class GoalKind(StrEnum):
    """What an entry is at which a path ends well; the value is its name in messages."""

    HEAD = "the head"
    #: Only under OLM v1: an entry that is not the channel head.
    NEW_INSTALL = "what a new ClusterExtension installs"


def goal_kind(graph: ChannelGraph, goal: str) -> GoalKind:
    """Return the kind of a goal of a channel."""
    return GoalKind.HEAD if goal == graph.head else GoalKind.NEW_INSTALL


def path_goals(graph: ChannelGraph, resolver: ResolverName) -> tuple[str, ...]:
    """Return the channel head; under v1, which ignores heads, also what a new ClusterExtension installs.

    The latter does not count if it is superseded. Of equal versions OLM v1 installs either, so each of them
    counts.
    """
    installed = olm_v1.new_installs(graph) if resolver == "v1" else ()
    found = (graph.head, *(name for name in installed if not _is_superseded(graph, name)))
    return tuple(dict.fromkeys(name for name in found if name is not None))


def _is_superseded(graph: ChannelGraph, name: str) -> bool:
    """Whether another entry replaces or skips this one and ranks below it only because of its version."""
    keys = olm_v1.sort_keys(graph)
    others = (keys.get(edge.successor) for edge in graph.named_edges(name) if edge.successor != name)
    # Equal but for the version: neither is more deprecated, and both versions parse.
    return any(other is not None and other[:2] == keys[name][:2] for other in others)
