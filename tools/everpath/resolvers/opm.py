"""opm's opinion of a channel: what `opm validate` (operator-registry v1.73.0) accepts.

Mirrors Channel.Head and Channel.validateReplacesChain of alpha/model/model.go. Ranges and versions play
no part in it.
"""

from __future__ import annotations

__all__ = ["ChannelValidation", "validate_channel"]

from functools import lru_cache
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.resolvers import MEMORY


class ChannelValidation(NamedTuple):
    """What opm says of a channel's graph; at most one of the complaints is set."""

    heads: tuple[str, ...]
    chain: tuple[str, ...] = ()
    cycle: tuple[str, ...] = ()
    stranded: tuple[str, ...] = ()
    is_empty: bool = False

    @property
    def is_valid(self) -> bool:
        return len(self.heads) == 1 and not self.cycle and not self.stranded

    @property
    def error(self) -> str | None:
        """What `opm validate` says of the graph, in its own words; None if it accepts it."""
        if self.is_empty:
            return "channel must contain at least one bundle"
        if not self.heads:
            return "no channel head found in graph"
        if len(self.heads) > 1:
            return f"multiple channel heads found in graph: {', '.join(self.heads)}"
        if self.cycle:
            return f"detected cycle in replaces chain of upgrade graph: {' -> '.join(self.cycle)}"
        if self.stranded:
            return f"channel contains one or more stranded bundles: {', '.join(self.stranded)}"
        return None


@lru_cache(maxsize=MEMORY)
def validate_channel(graph: ChannelGraph) -> ChannelValidation:
    """One walk down the replaces chain from the head. O(entries + edges).

    The walk halts at the first name that anybody skips (since v1.58), so a cycle behind one passes.
    """
    if graph.head is None:
        return ChannelValidation(graph.heads, is_empty=not graph.entries)
    chain = [graph.head]
    seen = {graph.head}
    while (entry := graph.entries.get(chain[-1])) is not None:
        below = entry.replaces
        if not below or below in graph.skippers:
            break
        if below in seen:
            return ChannelValidation(graph.heads, tuple(chain), cycle=(*chain[chain.index(below) :], below))
        seen.add(below)
        chain.append(below)
    stranded = sorted(n for n in graph.entries if n not in seen and n not in graph.skippers)
    return ChannelValidation(graph.heads, tuple(chain), stranded=tuple(stranded))
