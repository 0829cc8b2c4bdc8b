"""Where a walk in a channel should end: what every command means by arriving."""

from __future__ import annotations

__all__ = ["path_goals"]

from everpath.graph import ChannelGraph
from everpath.resolvers import ResolverName, olm_v1


def path_goals(graph: ChannelGraph, policy: ResolverName) -> tuple[str, ...]:
    """The head; under v1, which knows no heads, also what it would install afresh, unless that is withdrawn.

    Withdrawn is what an entry replaces or skips that v1 could take, too, were it not lower: v1 installs it,
    and nobody has arrived there. Of equal versions v1 takes either, so that each of them counts.
    Cost: one look at the ranking, which is kept.
    """
    afresh = olm_v1.new_installs(graph) if policy == "v1" else ()
    found = (graph.head, *(name for name in afresh if not _is_withdrawn(graph, name)))
    return tuple(dict.fromkeys(name for name in found if name is not None))


def _is_withdrawn(graph: ChannelGraph, name: str) -> bool:
    standings = olm_v1.sort_keys(graph)
    others = (standings.get(edge.successor) for edge in graph.named_edges(name) if edge.successor != name)
    # Of what v1 installs afresh the others differ by the version alone if they are as little deprecated.
    return any(other is not None and other[:2] == standings[name][:2] for other in others)
