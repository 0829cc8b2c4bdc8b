"""What a new catalog makes of one installed version."""

from __future__ import annotations

__all__ = ["Meeting", "Outcome", "Row"]

from collections.abc import Callable
from enum import StrEnum
from functools import cached_property
from typing import NamedTuple

from everpath.compare.channel_paths import Road, Roads
from everpath.resolvers import ResolverName
from everpath.resolvers.resolution import FailureKind
from everpath.upgrade_paths.hops import PathEnd
from everpath.versions import Version


class Outcome(StrEnum):
    """From the worst to the best; `hurts` says which are the new catalog's fault."""

    FAILING = "failing"
    STRANDED = "stranded"
    DOWNGRADED = "downgraded"
    ROAD = "road"
    BEFORE = "before"
    MENDED = "mended"
    FURTHER = "further"
    SAME = "same"

    @property
    def hurts(self) -> bool:
        """Whether somebody who could go on before is cut off now."""
        return self in (Outcome.FAILING, Outcome.STRANDED)

    @property
    def surprises(self) -> bool:
        """Whether somebody arrives, and by another way than before."""
        return self in (Outcome.DOWNGRADED, Outcome.ROAD)


class Row(NamedTuple):
    """One installed version under one policy: its road in either catalog, and what came of it.

    `channel` None: whoever has it follows every channel of the package.
    """

    package: str
    channel: str | None
    installed: str
    version: Version | None
    policy: ResolverName
    outcome: Outcome
    old: Road
    new: Road

    @property
    def gained(self) -> int:
        """How many hops more than before; negative for fewer."""
        return self.new.hops - self.old.hops


class Meeting:
    """The roads of one channel in both catalogs, for the same installed versions and the same policy."""

    def __init__(self, old: Roads, new: Roads) -> None:
        self.old = old
        self.new = new

    def outcome(self, name: str) -> Outcome:
        """The outcome for one installed version. O(1) once all have been asked for."""
        old, new = self.old.road(name), self.new.road(name)
        if (harm := self._harm(old, new)) is not None:
            return harm
        if not old.arrives:
            return Outcome.MENDED if new.arrives else Outcome.BEFORE
        if self._falls_now(name):
            return Outcome.DOWNGRADED
        if not self._keeps(name):
            return Outcome.ROAD
        return Outcome.SAME if old.hops == new.hops else Outcome.FURTHER

    def hurts(self, name: str) -> bool:
        """Whether the outcome does, without a look at how the road goes."""
        return self._harm(self.old.road(name), self.new.road(name)) is not None

    def _harm(self, old: Road, new: Road) -> Outcome | None:
        if _fails(self.new, new) and not _fails(self.old, old):
            return Outcome.FAILING
        if old.end is PathEnd.HEAD and (new.end is not PathEnd.HEAD or self._stops_short(old, new)):
            return Outcome.STRANDED
        return None

    def falls_behind(self, name: str) -> bool:
        """Whether a road that did not arrive, and does not, ends at a lower version than before."""
        old, new = self.old.road(name), self.new.road(name)
        return _is_lower(self.new.version(new.stop), self.old.version(old.stop))

    def _stops_short(self, old: Road, new: Road) -> bool:
        """Whether the road now ends on the way, before the head, because nothing there can be taken."""
        roads, here = self.new, self.new.version(new.stop)
        if not roads.summits or new.stop in roads.summits or new.stop == old.stop:
            return False
        # Whoever is above the head is not on the way to it.
        if not roads.spans and all(_is_lower(roads.version(summit), here) for summit in roads.summits):
            return False
        return _is_lower(here, self.old.version(old.stop))

    def row(self, name: str, where: tuple[str, str | None]) -> Row:
        roads = self.old.road(name), self.new.road(name)
        return Row(*where, name, self.old.version(name), self.old.policy, self.outcome(name), *roads)

    def _keeps(self, name: str) -> bool:
        """Whether the old road is the beginning of the new one."""
        first = self.old.road(name).next
        return first is None or (first == self.new.road(name).next and self._kept[first])

    @cached_property
    def _kept(self) -> _Along:
        return _Along(self.old.following, lambda here, there: self.new.following(here) != there)

    def _falls_now(self, name: str) -> bool:
        """Whether the new road goes down somewhere, and the old one did not."""
        falls = self._falls(self.new, self._new_ways_up, name)
        return falls and not self._falls(self.old, self._old_ways_up, name)

    def _falls(self, roads: Roads, along: _Along, name: str) -> bool:
        """Whether a road goes to a lower version somewhere; the first hop leaves what is installed."""
        first = roads.road(name).next
        if first is None:
            return False
        return _is_lower(roads.version(first), roads.installed.get(name)) or not along[first]

    @cached_property
    def _old_ways_up(self) -> _Along:
        return _ways_up(self.old)

    @cached_property
    def _new_ways_up(self) -> _Along:
        return _ways_up(self.new)


class _Along(dict[str, bool]):
    """Whether the road from an entry is free of a kind of hop, up to its end. Each hop is looked at once."""

    def __init__(self, following: Callable[[str], str | None], is_met: Callable[[str, str], bool]) -> None:
        self._following = following
        self._is_met = is_met

    def __missing__(self, name: str) -> bool:
        trail, here = list[str](), name
        while here not in self:
            trail.append(here)
            there = self._following(here)
            if there is None or self._is_met(here, there):
                self[here] = there is None
                break
            here = there
        answer = self[here]
        self.update(dict.fromkeys(trail, answer))
        return answer


def _ways_up(roads: Roads) -> _Along:
    return _Along(roads.following, lambda here, there: _is_lower(roads.version(there), roads.version(here)))


def _is_lower(there: Version | None, here: Version | None) -> bool:
    return there is not None and here is not None and there < here


def _fails(roads: Roads, road: Road) -> bool:
    """Whether the resolver has no answer. To v1 it is one that nothing accepts what a channel lacks."""
    failure = road.failure
    if failure is None or roads.policy == "v0" or roads.graph is None:
        return failure is not None
    return failure.kind is not FailureKind.NO_BUNDLES or roads.knows(road.stop)
