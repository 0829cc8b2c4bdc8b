"""Why an upgrade path ends where it ends, in one sentence."""

from __future__ import annotations

__all__ = [
    "ChannelReasons",
    "failure_reason",
    "goal_reason",
    "loop_reason",
    "new_install_opening",
    "stranded_reason",
    "with_opening",
]

from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import islice
from typing import Final

from everpath.graph import ChannelGraph, Edge, EdgeKind
from everpath.resolvers import ResolverName, olm_v0, olm_v1
from everpath.resolvers.resolution import FailureKind, InstalledBundle, ResolutionFailure
from everpath.upgrade_path.goals import GoalKind
from everpath.versions import Version
from everpath.wording import quote_empty

#: Limits of what a reason lists: a channel may have n edges for each of n entries.
_MAX_EDGES: Final = 3
_MAX_LOOP_ENTRIES: Final = 6

#: For failures without a stable message of OLM.
_FAILURE_TEXTS: Final = {
    FailureKind.PANIC: "the skipRange of {names} crashes it",
    FailureKind.UNREADABLE_VERSION: "the version of {names} is not in the catalog, or does not parse",
    FailureKind.NOTHING_INSTALLABLE: "none of {names} can be installed",
    FailureKind.NO_CHANNEL: "the catalog has no such channel",
}

#: Failures of OLM v0 to sort the channel. The reason names the namespace only for these, although
#: every failure stops all updates in it.
_SORT_FAILURES: Final = frozenset((FailureKind.NO_HEAD, FailureKind.SEVERAL_HEADS, FailureKind.CYCLE))


def goal_reason(goal: GoalKind, hop_count: int, opening: str = "") -> str:
    """Return `is the head`, `reaches the head in 2 hops`, `installs b2, then reaches the head in 1 hop`."""
    updates = hop_count - bool(opening)
    if updates:
        then = f"{opening}, then " if opening else ""
        return f"{then}reaches {goal} in {updates} hop{'s' if updates > 1 else ''}"
    if opening and goal is GoalKind.NEW_INSTALL:
        return opening
    return f"{opening}, {goal}" if opening else f"is {goal}"


def new_install_opening(resolver: ResolverName, first: str, starting_csv: str | None = None) -> str:
    """Return how the path of a new installation begins: `a new Subscription installs b2`."""
    if starting_csv is not None:
        return f"startingCSV installs {quote_empty(first)}"
    kind = "Subscription" if resolver == "v0" else "ClusterExtension"
    return f"a new {kind} installs {quote_empty(first)}"


def with_opening(opening: str, reason: str) -> str:
    return f"{opening}; {reason}" if opening else reason


def loop_reason(entries: Iterable[str]) -> str:
    """Return the reason for a loop, given its entries with the first one repeated at the end."""
    shown = list(islice(entries, _MAX_LOOP_ENTRIES + 2))
    if shown[-1] != shown[0]:
        shown[_MAX_LOOP_ENTRIES:] = ["…", shown[0]]
    return f"updates in a cycle: {' → '.join(shown)}"


def failure_reason(resolver: ResolverName, failure: ResolutionFailure, at: str | None = None) -> str:
    """Return the failure of a resolver, with OLM's message if that is stable. `at`: the last hop before."""
    where = f"at {quote_empty(at)} " if at is not None else ""
    is_namespaced = resolver == "v0" and failure.kind in _SORT_FAILURES
    scope = " for the whole namespace" if is_namespaced else ""
    text = _FAILURE_TEXTS.get(failure.kind, failure.kind.value).format(names=_join_some(failure.names))
    return f"{where}OLM {resolver} fails{scope}: {failure.message or text}"


def stranded_reason(entry: str, cause: str, note: str = "") -> str:
    return f"clusters on {quote_empty(entry)}{note} get no further updates: {cause}"


class ChannelReasons:
    """Reasons for paths in one channel under one resolver. Each is built once, from a few edges."""

    def __init__(self, graph: ChannelGraph, resolver: ResolverName) -> None:
        self._graph = graph
        self._resolver = resolver
        self._stranded: dict[str, str] = {}

    def stranded_entry_reason(self, entry: str) -> str:
        """Return why an entry that is not a goal has no next hop."""
        if entry not in self._stranded:
            note = ""
            if self._resolver == "v1" and entry == olm_v1.new_install(self._graph):
                head = self._graph.head
                although = f" although {head} is the head" if head else ""
                note = f", which a new ClusterExtension installs{although},"
            self._stranded[entry] = stranded_reason(entry, self._cause(entry), note)
        return self._stranded[entry]

    def head_not_reached(self, entry: str) -> str:
        """Return why a path that ends well elsewhere does not reach the head; empty if it does."""
        head = self._graph.head
        return "" if head in (None, entry) else f"; does not reach the head {head}: {self._cause(entry)}"

    def not_accepted(self, installed: InstalledBundle) -> str:
        """Return why a version that is not in the channel has no next hop."""
        name, version = installed
        version = version or self._graph.versions.get(name)
        named = list(self._graph.named_edges(name))
        covering = self._graph.coverage.lowest_covering(version, _MAX_EDGES) if version is not None else ()
        edges = [*named, *(Edge(by, name, EdgeKind.RANGE) for by in covering)]
        return stranded_reason(name, self._rejections(name, version, edges[:_MAX_EDGES], 0))

    def _cause(self, entry: str) -> str:
        if self._resolver == "v0" and entry in self._chain and any(self._graph.edges_between(entry, entry)):
            return "its own skipRange covers it, so OLM v0 considers it up to date"
        edges, more = self._graph.sample_successors(entry, _MAX_EDGES)
        more += max(0, len(edges) - _MAX_EDGES)
        return self._rejections(entry, self._graph.versions.get(entry), edges[:_MAX_EDGES], more)

    def _rejections(self, entry: str, version: Version | None, edges: Sequence[Edge], more: int) -> str:
        if not edges:
            ranges = f"no skipRange covers {version}" if version else "its version is not in the catalog"
            return f"no entry of {self._graph.name} replaces or skips it, and {ranges}"
        shown = [f"{edge}, but {self._rejection(edge.successor, entry)}" for edge in edges]
        if more:
            entries = "entry accepts" if more == 1 else "entries accept"
            shown.append(f"{more:,} more {entries} it and cannot be installed either")
        return "; ".join(shown)

    def _rejection(self, successor: str, entry: str) -> str:
        if self._resolver == "v1":
            return olm_v1.rejection_reason(self._graph, entry, successor)
        if skippers := self._graph.skippers.get(successor):
            skip = "skips" if len(skippers) == 1 else "skip"
            return f"{_join_some(skippers)} {skip} {successor}, and OLM v0 never installs a skipped entry"
        if reason := olm_v0.uninstallable(self._graph).get(successor):
            return f"{successor} {reason}, so OLM v0 never installs it"
        return f"{successor} is not on the chain of replaces below the head"

    @cached_property
    def _chain(self) -> frozenset[str]:
        return frozenset(olm_v0.sort_channel(self._graph).chain)


def _join_some(names: Sequence[str]) -> str:
    shown = ", ".join(quote_empty(name) for name in names[:_MAX_EDGES])
    more = len(names) - _MAX_EDGES
    return f"{shown} and {more:,} more" if more > 0 else shown
