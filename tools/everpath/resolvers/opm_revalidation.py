"""What opm would say of a channel after an edit, without walking all of it again."""

from __future__ import annotations

__all__ = ["is_valid_after"]

from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

from everpath.graph import ChannelGraph
from everpath.model import Entry
from everpath.resolvers import MEMORY, opm


def is_valid_after(graph: ChannelGraph, changed: Iterable[Entry]) -> bool:
    """Whether opm accepts a channel, which it accepts now, with some entries changed or added.

    Cost: the edges of those entries. What they leave of the replaces chain is passed over at one step.
    """
    trial = _Trial(graph, {entry.name: entry for entry in changed})
    heads = trial.heads()
    return len(heads) == 1 and trial.can_walk(heads.pop()) and trial.has_met_all()


@lru_cache(maxsize=MEMORY)
def _places(graph: ChannelGraph) -> Mapping[str, int]:
    """How far down the replaces chain each name on it stands."""
    return {name: place for place, name in enumerate(opm.validate_channel(graph).chain)}


class _Trial:
    """A channel with some entries changed: by how much that changes who is replaced and skipped how often."""

    def __init__(self, graph: ChannelGraph, changed: Mapping[str, Entry]) -> None:
        self._graph = graph
        self._changed = changed
        self._chain = opm.validate_channel(graph).chain
        self._places = _places(graph)
        self._replaced: Counter[str] = Counter()
        self._skipped: Counter[str] = Counter()
        for name, entry in changed.items():
            self._count(graph.entries.get(name), entry)
        self._stops = sorted({len(self._chain) - 1, *self._turns()})
        self._runs: list[tuple[int, int]] = []
        self._beside: set[str] = set()

    def _count(self, before: Entry | None, after: Entry) -> None:
        old, new = self._graph.skips.get(after.name, frozenset()), frozenset(after.skips)
        self._skipped.update(new - old)
        self._skipped.subtract(old - new)
        self._replaced.update([after.replaces] if after.replaces else [])
        self._replaced.subtract([before.replaces] if before and before.replaces else [])

    def _turns(self) -> Iterable[int]:
        """Places of the chain behind which the way may be another one than before."""
        yield from (self._places[name] for name in self._changed if name in self._places)
        yield from (self._places[name] - 1 for name in self._skipped if self._places.get(name))

    def _entry(self, name: str) -> Entry | None:
        return self._changed.get(name) or self._graph.entries.get(name)

    def _is_skipped(self, name: str) -> bool:
        return len(self._graph.skippers.get(name, ())) + self._skipped[name] > 0

    def _is_replaced(self, name: str) -> bool:
        return len(self._graph.replacers.get(name, ())) + self._replaced[name] > 0

    def heads(self) -> set[str]:
        """Only whose edges have changed can have become a head, or ceased to be the one."""
        suspects = {*self._graph.heads, *self._changed, *self._replaced, *self._skipped}
        return {
            name
            for name in suspects
            if self._entry(name) and not self._is_replaced(name) and not self._is_skipped(name)
        }

    def can_walk(self, head: str) -> bool:
        """Walks down from the head as opm does; whether that ends without a circle."""
        below: str | None = head
        while below and not self._is_skipped(below):
            if not self._enters(below):
                return False
            last = self._chain[self._runs[-1][1] - 1] if below in self._places else below
            entry = self._entry(last)
            below = entry.replaces if entry else None
        return True

    def _enters(self, name: str) -> bool:
        """Passes over the chain up to its next turn, or over one name beside it; whether all of it is new."""
        place = self._places.get(name)
        if place is None:
            is_new = name not in self._beside
            self._beside.add(name)
            return is_new
        end = self._stops[bisect_left(self._stops, place)] + 1
        is_new = all(place >= other_end or end <= start for start, other_end in self._runs)
        self._runs.append((place, end))
        return is_new

    def _has_met(self, name: str) -> bool:
        place = self._places.get(name)
        if place is None:
            return name in self._beside
        return any(start <= place < end for start, end in self._runs)

    def has_met_all(self) -> bool:
        """Whether every entry was met on the walk or is skipped."""
        length = len(self._chain) - (self._chain[-1] not in self._graph.entries)
        missed = length - sum(min(end, length) - start for start, end in self._runs)
        suspects = {*self._changed, *self._skipped}
        unmet = [name for name in suspects if self._entry(name) and not self._has_met(name)]
        on_chain = sum(self._places.get(name, length) < length for name in unmet)
        return missed == on_chain and all(map(self._is_skipped, unmet))
