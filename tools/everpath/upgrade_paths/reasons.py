"""Why a walk ends where it ends, in a sentence for somebody who never saw OLM's code."""

from __future__ import annotations

__all__ = ["AFRESH", "Reasons", "arriving", "circle", "described", "failing", "installs", "opened"]

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

from everpath.graph import ChannelGraph, Edge, EdgeKind
from everpath.resolvers import ResolverName, olm_v0, olm_v1
from everpath.resolvers.resolution import FailureKind, InstalledBundle, ResolutionFailure
from everpath.versions import Version

#: Edges that are named in a reason; a channel where everything covers everything has n for each of n entries.
_MOST_EDGES: Final = 3

#: Stops that are named of a circle.
_MOST_STOPS: Final = 6

#: Where a walk of OLM v1 may arrive that is no head.
AFRESH: Final = "what it would install afresh"

_SILENT: Final = {
    FailureKind.PANIC: "the skipRange of {names} crashes it",
    FailureKind.UNREADABLE_VERSION: "the version of {names} is not in the catalog, or does not parse",
    FailureKind.NOTHING_INSTALLABLE: "none of {names} may be installed",
    FailureKind.NO_CHANNEL: "the catalog has no such channel",
}

#: What fails in OLM v0 over the channel as such fails for everybody in the namespace.
_FATAL: Final = frozenset((FailureKind.NO_HEAD, FailureKind.SEVERAL_HEADS, FailureKind.CYCLE))


def arriving(what: str, stops: int, opening: str = "") -> str:
    """`is the head`, `reaches the head in 2 hops`, `installs b2, then reaches the head in 1 hop`."""
    hops = stops - bool(opening)
    if opening and what == AFRESH and not hops:
        return opening
    if not hops:
        return f"{opening}, {what}" if opening else f"is {what}"
    then = f"{opening}, then " if opening else ""
    return f"{then}reaches {what} in {hops} hop{'s' if hops > 1 else ''}"


def described(graph: ChannelGraph, arrival: str) -> str:
    """What it is that somebody has arrived at."""
    return "the head" if arrival == graph.head else AFRESH


def opened(opening: str, reason: str) -> str:
    """How a walk begins and why it ends."""
    return f"{opening}; {reason}" if opening else reason


def installs(policy: ResolverName, first: str, starting: str | None = None) -> str:
    """How a walk begins where nothing is installed."""
    if starting is not None:
        return f"startingCSV installs {_shown(first)}"
    return f"a new {'Subscription' if policy == 'v0' else 'ClusterExtension'} installs {_shown(first)}"


def circle(stops: Iterable[str]) -> str:
    """A walk from where it closes to where it closes; of many stops some."""
    shown = list(islice(stops, _MOST_STOPS + 2))
    if shown[-1] != shown[0]:
        shown[_MOST_STOPS:] = ["…", shown[0]]
    return f"goes in a circle: {' → '.join(shown)}"


def failing(policy: ResolverName, failure: ResolutionFailure, at: str | None = None) -> str:
    """A resolver's failure in its own words, or, where those are not stable, in ours."""
    where = f"at {_shown(at)} " if at is not None else ""
    scope = " for the whole namespace" if policy == "v0" and failure.kind in _FATAL else ""
    ours = _SILENT.get(failure.kind, failure.kind.value).format(names=_some(failure.names))
    return f"{where}OLM {policy} fails{scope}: {failure.message or ours}"


class Reasons:
    """Sentences about the stops of one channel. Each is made once. Cost: a few edges a stop."""

    def __init__(self, graph: ChannelGraph, policy: ResolverName) -> None:
        self._graph = graph
        self._policy = policy
        self._made: dict[str, str] = {}

    def stranded(self, stop: str) -> str:
        """Why nothing leads on from an entry that is not the head."""
        if stop not in self._made:
            stays = f"nothing leads on from {_shown(stop)}{self._note(stop)}"
            self._made[stop] = f"{stays}: {self._because(stop)}"
        return self._made[stop]

    def short_of_head(self, stop: str) -> str:
        """Why one who has arrived somewhere else is not led to the head, if there is one."""
        head = self._graph.head
        return "" if head in (None, stop) else f"; not the head {head}: {self._because(stop)}"

    def unaccepted(self, installed: InstalledBundle) -> str:
        """Why nothing leads into the channel from something installed that is not, or not so, in it."""
        name, version = installed
        version = version or self._graph.versions.get(name)
        named = list(self._graph.named_edges(name))
        covering = self._graph.coverage.lowest_covering(version, _MOST_EDGES) if version is not None else ()
        edges = [*named, *(Edge(by, name, EdgeKind.RANGE) for by in covering)]
        refusals = self._refusals(name, version, edges[:_MOST_EDGES], 0)
        return f"nothing leads on from {_shown(name)}: {refusals}"

    def _note(self, stop: str) -> str:
        """That a v1 user runs what others install, and yet not the head."""
        if self._policy == "v0" or stop != olm_v1.new_install(self._graph):
            return ""
        head = f" though the head is {self._graph.head}" if self._graph.head else ""
        return f", which OLM v1 installs{head}"

    def _because(self, stop: str) -> str:
        if self._policy == "v0" and stop in self._chain and any(self._graph.edges_between(stop, stop)):
            return "its own skipRange covers it, so that OLM v0 takes it for its own successor"
        edges, more = self._graph.sample_successors(stop, _MOST_EDGES)
        more += max(0, len(edges) - _MOST_EDGES)
        return self._refusals(stop, self._graph.versions.get(stop), edges[:_MOST_EDGES], more)

    def _refusals(self, stop: str, version: Version | None, edges: Sequence[Edge], more: int) -> str:
        if not edges:
            ranges = f"no skipRange covers {version}" if version else "its version is not in the catalog"
            return f"no entry of {self._graph.name} replaces or skips it, and {ranges}"
        refusal = self._refused_v0 if self._policy == "v0" else self._refused_v1
        shown = [f"{edge}, but {refusal(edge.successor, stop)}" for edge in edges]
        if more:
            shown.append(f"{more:,} more accept{'s' if more == 1 else ''} it and cannot be taken either")
        return "; ".join(shown)

    def _refused_v0(self, successor: str, _stop: str) -> str:
        if skippers := self._graph.skippers.get(successor):
            skip = "skips" if len(skippers) == 1 else "skip"
            return f"{_some(skippers)} {skip} {successor}, and OLM v0 installs nothing that is skipped"
        if obstacle := olm_v0.uninstallable(self._graph).get(successor):
            return f"{successor} {obstacle}, and OLM v0 never installs that"
        return f"{successor} is not on the chain of replaces below the head"

    def _refused_v1(self, successor: str, stop: str) -> str:
        return olm_v1.rejection_reason(self._graph, stop, successor)

    @cached_property
    def _chain(self) -> frozenset[str]:
        return frozenset(olm_v0.sort_channel(self._graph).chain)


def _shown(name: str) -> str:
    """An empty name would not be seen in a sentence."""
    return name or '""'


def _some(names: Sequence[str]) -> str:
    shown = ", ".join(_shown(name) for name in names[:_MOST_EDGES])
    more = len(names) - _MOST_EDGES
    return f"{shown} and {more:,} more" if more > 0 else shown
