"""The smallest mirror for OLM v0: the shortest run of each channel's chain that serves everybody.

OLM v0 wants the entries of a channel to be one chain of replaces: an entry whose replacer is missing is a
second head, and then nothing is resolved at all. So those that can be chosen are a run of that chain from the
head down, skipped ones included, and the run must reach down to whoever accepts the last user. Entries beside
the chain are never chosen; one may still be needed, because it skips an entry of the run that would otherwise
lead somebody astray.
"""

from __future__ import annotations

__all__ = ["MOST_TRIALS", "mirror_v0"]

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final, NamedTuple

from everpath.graph import ChannelGraph
from everpath.paths.hop_graph import hops_of, newest_first
from everpath.paths.mirror import Kept, Mirror, arriving, kept_in, wanted, whole
from everpath.resolvers import olm_v0
from everpath.upgrade_paths.next_hops import next_hops_v0
from everpath.versions import Version

#: Mirrors with entries beside the chain that are tried before the search settles for what it has.
MOST_TRIALS: Final = 500


class _Found(NamedTuple):
    """What is kept of a channel, what no mirror can do without, and how many entries none has fewer than."""

    kept: Kept
    indispensable: frozenset[str] = frozenset()
    at_least: int = 0


def mirror_v0(graphs: Sequence[ChannelGraph], since: Version | None = None) -> Mirror:
    """The smallest mirror of some channels, for everybody or for those from a version on.

    Cost: one simulation a channel where the run that accepts everybody also serves everybody, as it nearly
    always does.
    """
    found = [_channel(graph, since) for graph in graphs]
    versions = {name: version for graph in graphs for name, version in graph.versions.items()}
    bundles = newest_first({name for each in found for name in each.kept.entries}, versions)
    indispensable = {name for each in found for name in each.indispensable}
    at_least = max([len(indispensable), *(each.at_least for each in found)], default=0)
    total = len({name for graph in graphs for name in graph.entries})
    return Mirror("v0", tuple(each.kept for each in found), tuple(bundles), total, at_least)


def _channel(graph: ChannelGraph, since: Version | None) -> _Found:
    goal, total = graph.head, len(graph.entries)
    if goal is None or next_hops_v0(graph).failures or goal in olm_v0.uninstallable(graph):
        return _Found(whole(graph, wanted(graph, since)), frozenset(graph.entries))
    search = _Search(graph, goal, since)
    names, at_least = search.smallest()
    ordered = set(olm_v0.sort_channel(graph).chain)
    offered = [name for name in olm_v0.sort_channel(kept_in(graph, names)).chain if name not in ordered]
    kept = Kept(
        graph.name,
        (goal,),
        total,
        entries=_newest(graph, names),
        served=_newest(graph, search.served),
        cut_off=_newest(graph, wanted(graph, since) - search.served),
        needed_by={name: _newest(graph, search.missed(names - {name})) for name in search.removable(names)},
        offered=tuple(offered),
    )
    return _Found(kept, search.indispensable, at_least)


def _newest(graph: ChannelGraph, names: Collection[str]) -> tuple[str, ...]:
    return tuple(newest_first(names, graph.versions))


class _Search:
    """The search for the shortest run of a chain, and for what must be kept beside it."""

    def __init__(self, graph: ChannelGraph, goal: str, since: Version | None) -> None:
        self._graph, self._goal = graph, goal
        self._everyone = {name: graph.versions.get(name) for name in graph.entries}
        self.served = arriving(hops_of(graph, "v0", self._everyone), (goal,)) & wanted(graph, since)
        self._line = tuple(_line(graph, goal))
        self._least = self._reach()

    @property
    def indispensable(self) -> frozenset[str]:
        """The run without which somebody is accepted by no one that can be chosen."""
        return frozenset(self._line[: self._least])

    def missed(self, kept: Collection[str]) -> set[str]:
        """Who has no road any more when only these are kept."""
        hops = hops_of(kept_in(self._graph, kept), "v0", self._everyone)
        return self.served - (arriving(hops, (self._goal,)) if self._goal in kept else set())

    def removable(self, kept: frozenset[str]) -> Iterator[str]:
        """What can be left out of a set without tearing the chain: the end of the run, and all beside it."""
        line = frozenset(self._line)
        run = [name for name in self._line if name in kept]
        yield from run[1:][-1:]
        yield from (name for name in _newest(self._graph, kept) if name not in line)

    def smallest(self) -> tuple[frozenset[str], int]:
        """The smallest set, and its size; or the smallest that was found, and what none is smaller than."""
        beside, trials = self._beside(), MOST_TRIALS
        for size in range(self._least, len(self._graph.entries) + 1):
            for kept in self._of_size(size, beside):
                if not self.missed(kept):
                    return kept, size
                trials -= len(beside) > 0
                if trials <= 0:
                    return self._settled(size), size
        raise AssertionError("the whole channel serves whom it serves")

    def _of_size(self, size: int, beside: Sequence[str]) -> Iterator[frozenset[str]]:
        for run in range(min(size, len(self._line)), self._least - 1, -1):
            for others in combinations(beside, size - run):
                yield frozenset((*self._line[:run], *others))

    def _settled(self, size: int) -> frozenset[str]:
        """The shortest run with nothing beside it; where none serves everybody, the whole channel."""
        runs = (frozenset(self._line[:run]) for run in range(size, len(self._line) + 1))
        return next((run for run in runs if not self.missed(run)), frozenset(self._graph.entries))

    def _reach(self) -> int:
        """How long a run is at least that has somebody for everyone. O((edges + ranges) · log)."""
        place = {name: i for i, name in enumerate(self._line)}
        nearest = self._graph.best_successors(place)
        others = self.served - {self._goal}
        return max((1 + self._accepted_at(name, nearest[name], place) for name in others), default=1)

    def _accepted_at(self, name: str, nearest: str, place: Mapping[str, int]) -> int:
        """The place of the first on the chain that accepts an entry and is another one."""
        if nearest != name:
            return place[nearest]
        accepting = (edge.successor for edge in self._graph.successors(name))
        return min(place[by] for by in accepting if by in place and by != name)

    def _beside(self) -> tuple[str, ...]:
        """Entries off the chain that skip one of it, and those that keep such a one from being a head."""
        graph, line = self._graph, frozenset(self._line)
        useful = {name for name, skips in graph.skips.items() if name not in line and skips & line}
        waiting = list(useful)
        while waiting:
            name = waiting.pop()
            for above in (*graph.replacers.get(name, ()), *graph.skippers.get(name, ())):
                if above not in line and above not in useful:
                    useful.add(above)
                    waiting.append(above)
        return _newest(graph, useful)


def _line(graph: ChannelGraph, head: str) -> Iterator[str]:
    """The chain of replaces below the head, skipped entries included. OLM has found no circle in it."""
    name: str | None = head
    while name is not None and name in graph.entries:
        yield name
        name = graph.entries[name].replaces
