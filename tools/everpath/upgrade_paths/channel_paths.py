"""The walks of one channel under one policy: of its own entries in bulk, of whoever comes from elsewhere."""

from __future__ import annotations

__all__ = ["Stream"]

from collections.abc import Callable, Mapping
from functools import cached_property
from itertools import chain

from everpath.graph import ChannelGraph, PackageGraph
from everpath.resolvers import PolicyName, subscription
from everpath.upgrade_paths.goals import arrivals
from everpath.resolvers.resolution import Decision, Installed
from everpath.resolvers.catalog_candidates import as_served
from everpath.upgrade_paths.hops import Destination, End, destinations
from everpath.simulate.installed import Asked
from everpath.upgrade_paths.next_hops import Answers, answers_v0, answers_v1, arrival_v1
from everpath.upgrade_paths.reasons import Reasons, arriving, circle, described, failing, installs, opened
from everpath.simulate.results import Row
from everpath.upgrade_paths.lazy_hops import Book, Way, extended, ways

Decide = Callable[[Installed | None, str | None], Decision]


class Stream:
    """One channel as one policy sees it. Every walk but for its first hop is read from answers in bulk.

    The ways of streams that share a book are compared at no cost.
    """

    def __init__(
        self, graph: ChannelGraph, policy: PolicyName, answers: Answers, decide: Decide, book: Book
    ) -> None:
        self._graph = graph
        self._policy = policy
        self._answers = answers
        self._decide = decide
        self._reasons = Reasons(graph, policy)
        self._ways = ways(answers.next, graph.entries, book)

    @staticmethod
    def v0(graph: ChannelGraph, book: Book) -> Stream:
        """A Subscription to the channel."""

        def decide(installed: Installed | None, starting: str | None) -> Decision:
            return subscription.resolve(graph, installed, starting=starting)

        return Stream(graph, "v0", answers_v0(graph), decide, book)

    @staticmethod
    def v1(package: PackageGraph, graph: ChannelGraph, book: Book) -> Stream:
        """A ClusterExtension with `channels: [that channel]`, where one catalog serves."""
        if (served := as_served(package)) is not package:
            package, graph = served, served.by_name[graph.name]
        arrival = arrival_v1(package, graph)

        def decide(installed: Installed | None, _starting: str | None) -> Decision:
            return arrival(installed)

        return Stream(graph, "v1", answers_v1(package, graph), decide, book)

    def row(self, asked: Asked | None, starting: str | None = None) -> Row:
        """The walk from what is installed, None if nothing is. Cost: one question to whom it is outside."""
        if asked is not None and self._holds(asked):
            way = self._ways[asked.name]
            return self._row(asked, way, *self._end(asked.name, way))
        installed = asked.under(self._policy) if asked is not None else None
        decision = self._decide(installed, starting)
        if decision.failure is not None:
            return self._row(asked, (), End.ERROR, failing(self._policy, decision.failure))
        if decision.next is None:
            assert installed is not None  # who has nothing gets something or a failure
            return self._row(asked, (), End.STRANDED, self._reasons.unaccepted(installed))
        way = extended(decision.next, self._ways[decision.next])
        opening = installs(self._policy, decision.next, starting) if asked is None else ""
        return self._row(asked, way, *self._end(decision.next, way, opening))

    def _holds(self, asked: Asked) -> bool:
        """Whether it is an entry of the channel, of the version that the channel gives it."""
        if asked.name not in self._graph.entries:
            return False
        bundle = self._graph.bundle(asked.name)
        return asked.version == (bundle.version if bundle is not None else None)

    def _end(self, first: str, way: Way, opening: str = "") -> tuple[End, str]:
        """Where a walk ends and why, judged from the first entry of the channel that it meets."""
        stop, end = self._ends[first]
        if end is End.LOOP:
            closing = way.last or first
            return end, opened(opening, circle(chain((closing,), self._ways[closing])))
        if (failure := self._answers.failures.get(stop)) is not None:
            return End.ERROR, opened(opening, failing(self._policy, failure, stop if len(way) else None))
        if stop in self._arrivals:
            reason = arriving(described(self._graph, stop), len(way), opening)
            return End.HEAD, reason + self._reasons.short_of_head(stop)
        return end, opened(opening, self._reasons.stranded(stop))

    @cached_property
    def _arrivals(self) -> frozenset[str]:
        return frozenset(arrivals(self._graph, self._policy))

    @cached_property
    def _ends(self) -> Mapping[str, Destination]:
        return destinations(self._answers.next, self._graph.head, self._graph.entries)

    def _row(self, asked: Asked | None, way: Way | tuple[str, ...], end: End, reason: str) -> Row:
        name = asked.name if asked is not None else None
        return Row(self._graph.package.name, self._graph.name, name, self._policy, way, end, reason)
