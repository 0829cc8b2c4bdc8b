"""Modified copies of the new channel, in which edits are undone or fixes are applied."""

from __future__ import annotations

__all__ = ["ChannelTrials"]

from collections.abc import Collection, Mapping, Sequence
from functools import cached_property

from everpath.comparison.differences import Difference, differences, without_edits
from everpath.comparison.outcomes import ChannelPair, PathOutcome
from everpath.graph import ChannelGraph
from everpath.resolvers import ResolverName


class ChannelTrials:
    """The edits between two versions of a channel, and the effect of undoing some of them.

    Each copy is built once, and resolved once under each resolver.
    """

    def __init__(self, old: ChannelGraph, new: ChannelGraph) -> None:
        self.old = old
        self.new = new
        self._copies: dict[frozenset[Difference], ChannelGraph] = {}
        self._pairs: dict[tuple[ChannelGraph, ResolverName], ChannelPair] = {}

    @cached_property
    def edits(self) -> Sequence[Difference]:
        return differences(self.old, self.new)

    def without(self, undone: Collection[Difference]) -> ChannelGraph:
        """Return the new channel without some of the edits."""
        key = frozenset(undone)
        if key not in self._copies:
            self._copies[key] = without_edits(self.old, self.new, undone)
        return self._copies[key]

    def pair(self, pair: ChannelPair, graph: ChannelGraph) -> ChannelPair:
        """Return the pair with a copy in place of the new channel."""
        key = graph, pair.resolver
        if key not in self._pairs:
            self._pairs[key] = ChannelPair(pair.old, pair.new.in_trial(graph))
        return self._pairs[key]

    def versions_without_problem(
        self, pair: ChannelPair, graph: ChannelGraph, affected: Mapping[str, PathOutcome]
    ) -> frozenset[str]:
        """Return the affected versions that do not have their problem in a copy of the channel."""
        trial = self.pair(pair, graph)
        return frozenset(
            name
            for name, outcome in affected.items()
            if not trial.is_regression(name)
            and (outcome.is_regression or not trial.outcome(name).changes_path)
        )
