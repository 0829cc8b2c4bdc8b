"""Whether opm still accepts a channel after an edit, without validating the whole channel again."""

from __future__ import annotations

__all__ = ["is_valid_after"]

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from everpath.graph import ChannelGraph
from everpath.model import Entry
from everpath.resolvers import CACHED_CHANNELS, opm


def is_valid_after(graph: ChannelGraph, changed: Iterable[Entry]) -> bool:
    """Return whether opm accepts a valid channel after some entries are changed or added.

    Cost: the edges of those entries. Unchanged parts of the replaces chain are passed in one step.
    """
    edited = _EditedChannel(graph, {entry.name: entry for entry in changed})
    heads = edited.heads()
    return len(heads) == 1 and edited.follow_chain(heads.pop()) and edited.has_visited_all()


@lru_cache(maxsize=CACHED_CHANNELS)
def _chain_positions(graph: ChannelGraph) -> Mapping[str, int]:
    return {name: position for position, name in enumerate(opm.validate_channel(graph).chain)}


class _EditedChannel:
    """A channel with some entries changed: how often each name is replaced and skipped more or less.

    The chain is not followed entry by entry: between two breaks it is as before, and one step visits the run.
    """

    def __init__(self, graph: ChannelGraph, changed: Mapping[str, Entry]) -> None:
        self._graph = graph
        self._changed = changed
        self._chain = opm.validate_channel(graph).chain
        self._positions = _chain_positions(graph)
        self._replaced: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        for name, entry in changed.items():
            before = graph.entries.get(name)
            old, new = graph.skips.get(name, frozenset()), frozenset(entry.skips)
            self._skipped.update(new - old)
            self._skipped.subtract(old - new)
            self._replaced.update([entry.replaces] if entry.replaces else [])
            self._replaced.subtract([before.replaces] if before and before.replaces else [])
        # Positions in the old chain after which the new one may differ: a changed entry can replace another
        # name, and opm stops before a skipped entry.
        breaks = {self._positions[name] for name in changed if name in self._positions}
        breaks |= {self._positions[name] - 1 for name in self._skipped if self._positions.get(name)}
        self._breaks = sorted({len(self._chain) - 1, *breaks})
        self._visited_runs: list[tuple[int, int]] = []
        self._visited_names: set[str] = set()

    def _entry(self, name: str) -> Entry | None:
        return self._changed.get(name) or self._graph.entries.get(name)

    def _is_skipped(self, name: str) -> bool:
        return len(self._graph.skippers.get(name, ())) + self._skipped[name] > 0

    def _is_replaced(self, name: str) -> bool:
        return len(self._graph.replacers.get(name, ())) + self._replaced[name] > 0

    def heads(self) -> set[str]:
        """Return the heads after the edit. Only names whose edges changed can differ from before."""
        affected = {*self._graph.heads, *self._changed, *self._replaced, *self._skipped}
        return {
            name
            for name in affected
            if self._entry(name) and not self._is_replaced(name) and not self._is_skipped(name)
        }

    def follow_chain(self, head: str) -> bool:
        """Follow the replaces chain as opm does; return whether it ends without a cycle."""
        below: str | None = head
        while below and not self._is_skipped(below):
            if not self._visit(below):
                return False
            last = self._chain[self._visited_runs[-1][1] - 1] if below in self._positions else below
            entry = self._entry(last)
            below = entry.replaces if entry else None
        return True

    def _visit(self, name: str) -> bool:
        """Record the run of the old chain from a name to its next break, or a name beside it.

        Return whether none of it was visited before: else the chain is a cycle.
        """
        position = self._positions.get(name)
        if position is None:
            is_new = name not in self._visited_names
            self._visited_names.add(name)
            return is_new
        end = self._breaks[bisect_left(self._breaks, position)] + 1
        is_new = all(position >= other_end or end <= start for start, other_end in self._visited_runs)
        self._visited_runs.append((position, end))
        return is_new

    def _is_visited(self, name: str) -> bool:
        position = self._positions.get(name)
        if position is None:
            return name in self._visited_names
        return any(start <= position < end for start, end in self._visited_runs)

    def has_visited_all(self) -> bool:
        """Return whether every entry is on the chain or skipped."""
        # The last entry may replace a name that is no entry, which is on the chain as well.
        length = len(self._chain) - (self._chain[-1] not in self._graph.entries)
        missed = length - sum(min(end, length) - start for start, end in self._visited_runs)
        affected = {*self._changed, *self._skipped}
        unvisited = [name for name in affected if self._entry(name) and not self._is_visited(name)]
        # An entry of the old chain was not skipped before, so one that is missed must be skipped by the edit.
        missed_affected = sum(self._positions.get(name, length) < length for name in unvisited)
        return missed == missed_affected and all(map(self._is_skipped, unvisited))
