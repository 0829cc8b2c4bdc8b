"""OLM v1 where no channel can be taken by itself: several catalogs, several channels, a range of versions."""

from __future__ import annotations

__all__ = ["Spanning"]

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from everpath.graph import ChannelGraph
from everpath.resolvers import cluster_extension
from everpath.upgrade_paths.goals import arrivals
from everpath.resolvers.resolution import Decision, Installed, Remark, Verdict
from everpath.resolvers.cluster_extension import Extension, Source
from everpath.upgrade_paths.hops import End
from everpath.simulate.installed import Asked
from everpath.simulate.follow import Trail, follow
from everpath.upgrade_paths.reasons import AFRESH, arriving, circle, described, failing, installs, opened
from everpath.simulate.results import Row
from everpath.versions import parse_or_none

_MOST_REMARKS = 3


def _spoken(reason: str) -> str:
    """A reason as a clause: most speak of the bundle and begin with a verb, some of the catalogs."""
    return reason if reason.startswith(("catalog ", "several catalogs ")) else f"it {reason}"


class Spanning:
    """The walks of one ClusterExtension. Each stop is asked for once, and each walk is gone once."""

    def __init__(self, sources: Sequence[Source], extension: Extension, channel: str) -> None:
        self._sources = sources
        self._extension = extension
        self._channel = channel
        self._decided: dict[Installed | None, Decision] = {}
        self._walked: dict[Installed | None, Trail] = {}
        self._known_goals: dict[tuple[str, str | None], Mapping[str, str]] = {}

    def row(self, asked: Asked | None) -> Row:
        """The walk from what is installed, None if nothing is."""
        start = asked.under("v1") if asked is not None else None
        trail = follow(start, self._decide, self._arrived, self._walked)
        end, reason = self._end(asked, trail)
        name = asked.name if asked is not None else None
        return Row(
            self._extension.package, self._channel, name, "v1", trail.path, end, reason, None, trail.sources
        )

    def _decide(self, installed: Installed | None) -> Decision:
        if installed not in self._decided:
            wanted = self._extension._replace(installed=installed)
            self._decided[installed] = cluster_extension.resolve(self._sources, wanted)
        return self._decided[installed]

    def _arrived(self, decision: Decision) -> Installed:
        """What runs after a decision: the bundle of the catalog that it was taken from."""
        assert decision.next is not None  # it was a move
        source = next(source for source in self._sources if source.name == decision.catalog)
        assert source.package is not None  # it had an offer
        return Installed(decision.next, parse_or_none(source.package.package.by_name[decision.next].version))

    def _end(self, asked: Asked | None, trail: Trail) -> tuple[End, str]:
        opening = installs("v1", trail.path[0]) if asked is None and trail.path else ""
        installed = asked.name if asked is not None else None
        if trail.failure is not None:
            at = trail.path[-1] if trail.path else None
            return End.ERROR, opened(opening, failing("v1", trail.failure, at))
        stops = [*([installed] if installed is not None else []), *trail.path]
        if trail.is_loop:
            return End.LOOP, opened(opening, circle(stops[stops.index(stops[-1]) :]))
        here = trail.last
        assert here is not None  # who has nothing gets something or a failure
        what = self._goals(here).get(here.name)
        if what is None and self._is_particular and here == self._afresh:
            what = AFRESH
        if what is not None:
            return End.HEAD, arriving(what, len(trail.path), opening)
        return End.STRANDED, opened(opening, self._stranded(here))

    @cached_property
    def _is_particular(self) -> bool:
        """Whether it asks for more than one channel, so that the head need not be what it wants."""
        names = {graph.name for source in self._sources for graph in self._channels(source)}
        return bool(self._extension.version_range) or self._extension.self_certified or len(names) > 1

    @cached_property
    def _afresh(self) -> Installed | None:
        decision = self._decide(None)
        return self._arrived(decision) if decision.next is not None else None

    def _goals(self, stop: Installed) -> Mapping[str, str]:
        """Where one arrives in those channels that hold what it would install afresh, and what that is.

        The channels are those of the catalog it comes from. Where a fresh install fails there is no saying
        what is best, and they are those of the stop itself, in the catalog that it is kept by.
        """
        goal, followed = self._afresh, self._decide(None).catalog
        if goal is None:
            goal, followed = stop, self._decide(stop).catalog
        if (goal.name, followed) not in self._known_goals:
            channels = (g for s in self._sources if s.name == followed for g in self._channels(s))
            self._known_goals[goal.name, followed] = {
                name: described(g, name)
                for g in channels
                if goal.name in g.entries
                for name in arrivals(g, "v1")
            }
        return self._known_goals[goal.name, followed]

    def _channels(self, source: Source) -> Iterator[ChannelGraph]:
        chosen = self._extension.channels
        for graph in source.package.channels if source.package is not None else ():
            if not chosen or graph.name in chosen:
                yield graph

    def _stranded(self, here: Installed) -> str:
        """What the resolver says of whoever accepts the last stop."""
        heard: list[Remark] = []
        cluster_extension.resolve(self._sources, self._extension._replace(installed=here), heard.append)
        shown = [
            f"{remark.edge}, but {_spoken(remark.reason)}"
            for remark in heard
            if remark.verdict is not Verdict.TAKEN and remark.entry != here.name and remark.edge is not None
        ]
        nobody = "nobody of the channels that it may use accepts it"
        return f"nothing leads on from {here.name}: {'; '.join(shown[:_MOST_REMARKS]) or nobody}"
