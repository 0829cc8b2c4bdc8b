"""OLM v1 where no channel can be taken by itself: several catalogs, several channels, a range of versions."""

from __future__ import annotations

__all__ = ["Spanning"]

from collections.abc import Iterator, Sequence
from functools import cached_property

from everpath.graph import ChannelGraph
from everpath.policies import extensions
from everpath.policies.decisions import Decision, Installed, Remark, Verdict
from everpath.policies.extensions import Extension, Source
from everpath.policies.walks import End
from everpath.simulation.asked import Asked
from everpath.simulation.follow import Trail, follow
from everpath.simulation.reasons import arriving, circle, failing, installs, opened
from everpath.simulation.rows import Row
from everpath.versions import maybe

_MOST_REMARKS = 3


class Spanning:
    """The walks of one ClusterExtension. Each stop is asked for once.

    Cost of a stop: the bundles of the package in all catalogs.
    """

    def __init__(self, sources: Sequence[Source], extension: Extension, channel: str) -> None:
        self._sources = sources
        self._extension = extension
        self._channel = channel
        self._decided: dict[Installed | None, Decision] = {}

    def row(self, asked: Asked | None) -> Row:
        """The walk from what is installed, None if nothing is."""
        trail = follow(asked.under("v1") if asked is not None else None, self._decide, self._arrived)
        end, reason = self._end(asked, trail)
        name = asked.name if asked is not None else None
        return Row(
            self._extension.package, self._channel, name, "v1", trail.path, end, reason, None, trail.sources
        )

    def _decide(self, installed: Installed | None) -> Decision:
        if installed not in self._decided:
            wanted = self._extension._replace(installed=installed)
            self._decided[installed] = extensions.resolve(self._sources, wanted)
        return self._decided[installed]

    def _arrived(self, decision: Decision) -> Installed:
        """What runs after a decision: the bundle of the catalog that it was taken from."""
        assert decision.next is not None  # it was a move
        source = next(source for source in self._sources if source.name == decision.catalog)
        assert source.package is not None  # it had an offer
        return Installed(decision.next, maybe(source.package.package.by_name[decision.next].version))

    def _end(self, asked: Asked | None, trail: Trail) -> tuple[End, str]:
        opening = installs("v1", trail.path[0]) if asked is None and trail.path else ""
        installed = asked.name if asked is not None else None
        if trail.failure is not None:
            at = trail.path[-1] if trail.path else None
            return End.ERROR, opened(opening, failing("v1", trail.failure, at))
        stops = [*([installed] if installed is not None else []), *trail.path]
        if trail.is_loop:
            return End.LOOP, opened(opening, circle(stops[stops.index(stops[-1]) :]))
        stop = stops[-1]
        if stop in self._heads:
            return End.HEAD, arriving("the head", len(trail.path), opening)
        if stop == self._decide(None).next:
            return End.HEAD, arriving("what it would install afresh", len(trail.path), opening)
        return End.STRANDED, opened(opening, self._stranded(asked, trail))

    @cached_property
    def _heads(self) -> frozenset[str]:
        """The heads of the channels that it may use."""
        return frozenset(graph.head for graph in self._channels() if graph.head is not None)

    def _channels(self) -> Iterator[ChannelGraph]:
        chosen = self._extension.channels
        for source in self._sources:
            for graph in source.package.channels if source.package is not None else ():
                if not chosen or graph.name in chosen:
                    yield graph

    def _stranded(self, asked: Asked | None, trail: Trail) -> str:
        """What the resolver says of whoever accepts the last stop."""
        here = asked.under("v1") if asked is not None else None
        for _ in trail.path:
            here = self._arrived(self._decide(here))
        assert here is not None  # the walk has a stop, or started at one
        heard: list[Remark] = []
        extensions.resolve(self._sources, self._extension._replace(installed=here), heard.append)
        shown = [
            f"{remark.edge}, but it {remark.reason}"
            for remark in heard
            if remark.verdict is not Verdict.TAKEN and remark.entry != here.name and remark.edge is not None
        ]
        nobody = "nobody of the channels that it may use accepts it"
        return f"nothing leads on from {here.name}: {'; '.join(shown[:_MOST_REMARKS]) or nobody}"
