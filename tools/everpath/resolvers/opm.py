"""opm: whether `opm validate` (operator-registry v1.73.0) accepts the graph of a channel.

Mirrors Channel.Head and Channel.validateReplacesChain of alpha/model/model.go, which ignore ranges and
versions.
"""

from __future__ import annotations

__all__ = ["ChannelValidation", "validate_channel"]

from functools import lru_cache
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.resolvers import CACHED_CHANNELS


class ChannelValidation(NamedTuple):
    """The heads and the replaces chain that opm finds, and at most one defect: cycle, stranded, is_empty."""

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
        """The error of `opm validate`; None if it accepts the channel."""
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


@lru_cache(maxsize=CACHED_CHANNELS)
def validate_channel(graph: ChannelGraph) -> ChannelValidation:
    """Follow the replaces chain from the head, as opm does. O(entries + edges).

    Since v1.58 opm stops at the first skipped name, so it accepts a cycle below one.
    """
    if graph.head is None:
        return ChannelValidation(graph.heads, is_empty=not graph.entries)
    chain = [graph.head]
    met = {graph.head}
    while (entry := graph.entries.get(chain[-1])) is not None:
        below = entry.replaces
        if not below or below in graph.skippers:
            break
        if below in met:
            cycle = (*chain[chain.index(below) :], below)
            return ChannelValidation(graph.heads, tuple(chain), cycle=cycle)
        met.add(below)
        chain.append(below)
    stranded = sorted(n for n in graph.entries if n not in met and n not in graph.skippers)
    return ChannelValidation(graph.heads, tuple(chain), stranded=tuple(stranded))
