"""Channels that might have been the new one: each is made once, and walked once under each policy."""

from __future__ import annotations

__all__ = ["Trials"]

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from everpath.compare.differences import Difference, differences, without
from everpath.compare.outcomes import Meeting, Outcome
from everpath.graph import ChannelGraph
from everpath.resolvers import ResolverName


class Trials:
    """The edits between two channels, and what would be of everybody without some of them."""

    def __init__(self, old: ChannelGraph, new: ChannelGraph) -> None:
        self.old = old
        self.new = new
        self._made: dict[frozenset[Difference], ChannelGraph] = {}
        self._met: dict[tuple[ChannelGraph, ResolverName], Meeting] = {}

    @cached_property
    def edits(self) -> Sequence[Difference]:
        return differences(self.old, self.new)

    def without(self, undone: Collection[Difference]) -> ChannelGraph:
        """The new channel as it would be had some edits not been made."""
        key = frozenset(undone)
        if key not in self._made:
            self._made[key] = without(self.old, self.new, undone)
        return self._made[key]

    def meeting(self, meeting: Meeting, graph: ChannelGraph) -> Meeting:
        """The meeting with another channel in the place of the new one."""
        key = graph, meeting.old.policy
        if key not in self._met:
            self._met[key] = Meeting(meeting.old, meeting.new.over(graph))
        return self._met[key]

    def cured(self, meeting: Meeting, graph: ChannelGraph, victims: Mapping[str, Outcome]) -> frozenset[str]:
        """Who of the victims is well in a channel that might have been the new one."""
        trial = self.meeting(meeting, graph)
        return frozenset(name for name, outcome in victims.items() if _is_well(trial, name, outcome))


def _is_well(trial: Meeting, name: str, outcome: Outcome) -> bool:
    if trial.hurts(name):
        return False
    return outcome.hurts or not trial.outcome(name).surprises
