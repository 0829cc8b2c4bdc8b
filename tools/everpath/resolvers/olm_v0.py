"""OLM v0: the nearest-to-head, non-skipped entry that accepts the installed one.

Mirrors sortChannel and getSubscriptionVariables of operator-lifecycle-manager v0.46.0
(pkg/controller/registry/resolver/resolver.go), for one subscription without dependencies.
"""

from __future__ import annotations

__all__ = [
    "DEPRECATED_REASON",
    "ChannelHops",
    "SortedChannel",
    "candidates",
    "new_install",
    "next_hop",
    "next_hops",
    "no_head_failure",
    "panic_failure",
    "parse_gvk",
    "repeated_apis",
    "sort_channel",
    "uninstallable",
]

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import lru_cache
from itertools import chain
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from everpath.graph import ChannelGraph, Edge
from everpath.model import Bundle, Gvk, Property
from everpath.ranges import Coverage
from everpath.resolvers import MEMORY
from everpath.resolvers.go_quote import go_quote
from everpath.resolvers.resolution import FailureKind, ResolutionFailure
from everpath.versions import Version

#: Why OLM v0 does not install a bundle that the catalog has withdrawn.
DEPRECATED_REASON: Final = "carries olm.deprecated"


class SortedChannel(NamedTuple):
    """The entries OLM may choose from, head first; skipped ones are never among them."""

    chain: tuple[str, ...] = ()
    failure: ResolutionFailure | None = None


_TRIPLE: Final = itemgetter("group", "version", "kind")


@lru_cache(maxsize=MEMORY)
def sort_channel(graph: ChannelGraph) -> SortedChannel:
    """One walk down the replaces chain of each head. O(entries + edges).

    Unlike opm's, the walk goes on *through* skipped entries, and a cycle among them is fatal.
    """
    if not graph.heads:
        return SortedChannel(failure=no_head_failure(graph, tuple(sorted(graph.entries))))
    lowest: dict[str, str | None] = {}
    for head in graph.heads:
        line, cycle = _line(graph, head, lowest)
        if cycle:
            return SortedChannel(failure=ResolutionFailure(FailureKind.CYCLE, cycle, _cyclic(graph, head)))
        _note_lowest(graph, line, lowest)
    if len(graph.heads) > 1:
        words = _several(graph, [_ends(head, lowest[head]) for head in graph.heads])
        return SortedChannel(failure=ResolutionFailure(FailureKind.SEVERAL_HEADS, graph.heads, words))
    return SortedChannel(tuple(name for name in line if name not in graph.skippers))


def _line(graph: ChannelGraph, head: str, walked: Container[str]) -> tuple[list[str], tuple[str, ...]]:
    """The replaces chain below a head, down to where another walk has been, and its cycle, if any."""
    line, seen = [head], {head}
    while (below := graph.entries[line[-1]].replaces) in graph.entries and below not in walked:
        assert below is not None  # an entry's name
        if below in seen:
            return line, (*line[line.index(below) :], below)
        line.append(below)
        seen.add(below)
    return line, ()


def _note_lowest(graph: ChannelGraph, line: list[str], lowest: dict[str, str | None]) -> None:
    """For each entry of a line: the last below it, or itself, that is not skipped."""
    last = lowest.get(graph.entries[line[-1]].replaces or "")
    for name in reversed(line):
        last = last or (None if name in graph.skippers else name)
        lowest[name] = last


def no_head_failure(graph: ChannelGraph, names: tuple[str, ...]) -> ResolutionFailure:
    """OLM's failure over entries each of which is replaced or skipped by one of them."""
    words = f"no channel heads (entries not replaced by another entry) found in {_channel(graph)}"
    return ResolutionFailure(FailureKind.NO_HEAD, names, words)


def _cyclic(graph: ChannelGraph, head: str) -> str:
    return f"a cycle exists in the chain of replacement beginning with {go_quote(head)} in {_channel(graph)}"


def _several(graph: ChannelGraph, chains: list[str]) -> str:
    return (
        "a unique replacement chain within a channel is required to determine the relative order between "
        f"channel entries, but {len(chains)} replacement chains were found in {_channel(graph)}: "
        f"{', '.join(chains)}"
    )


def _ends(head: str, last: str | None) -> str:
    return head if last == head else f"{head}...{last}"


def _channel(graph: ChannelGraph) -> str:
    return f"channel {go_quote(graph.name)} of package {go_quote(graph.package.name)}"


def new_install(graph: ChannelGraph) -> str | None:
    """What a new Subscription gets: the first entry from the head down that is not prohibited."""
    return next((n for n in sort_channel(graph).chain if n not in uninstallable(graph)), None)


@lru_cache(maxsize=MEMORY)
def uninstallable(graph: ChannelGraph) -> Mapping[str, str]:
    """Entries whose bundle OLM v0 never installs, each with the reason: `carries olm.deprecated`."""
    bundles = ((name, graph.bundle(name)) for name in graph.entries)
    reasons = ((name, _obstacle(bundle)) for name, bundle in bundles if bundle is not None)
    return {name: reason for name, reason in reasons if reason is not None}


def _obstacle(bundle: Bundle) -> str | None:
    if "olm.deprecated" in {stated.type for stated in bundle.properties}:
        return DEPRECATED_REASON
    return next((f"provides {'{}/{} {}'.format(*api)} twice" for api, _ in repeated_apis(bundle)), None)


def repeated_apis(bundle: Bundle) -> Iterator[tuple[Gvk, Property]]:
    """Repeated olm.gvk properties. An API may have one provider, and OLM counts this bundle twice."""
    provided = [stated for stated in bundle.properties if stated.type == "olm.gvk"]
    if len(provided) < 2 or _are_plainly_distinct([stated.value for stated in provided]):
        return
    seen: set[Gvk] = set()
    for stated in provided:
        api = parse_gvk(stated.value)
        if api is None:
            continue
        if api in seen:
            yield api, stated
        seen.add(api)


def _are_plainly_distinct(values: Sequence[Any]) -> bool:
    """Whether all are mappings of group, version and kind to text and no two are equal, as nearly always.

    Equal mappings of text have equal triples, whatever else is in them; joining tells text from all the rest.
    False says nothing.
    """
    try:
        apis = set(map(_TRIPLE, values))
        "".join(chain.from_iterable(apis))
    except (KeyError, TypeError):
        return False
    return len(apis) == len(values) and set(map(len, values)) <= {3}


def parse_gvk(value: object) -> Gvk | None:
    """Group, version and kind as Go reads them, whatever the case of the keys; None if it refuses them."""
    if not isinstance(value, dict):
        return None if value is not None else Gvk("", "", "")
    plain: tuple[Any, Any, Any] = (value.get("group"), value.get("version"), value.get("kind"))
    if len(value) == 3 and type(plain[0]) is type(plain[1]) is type(plain[2]) is str:
        return Gvk(*plain)
    folded = {key.casefold(): value[key] for key in sorted(value)}
    parts = ["" if (part := folded.get(key)) is None else part for key in ("group", "version", "kind")]
    return Gvk(*parts) if all(isinstance(part, str) for part in parts) else None


def candidates(graph: ChannelGraph, installed: str, version: Version | None = None) -> Iterator[Edge]:
    """The edges OLM weighs for one installed version, best first. The first is taken.

    A candidate that is the installed entry itself (its own range covers it) means "up to date".
    """
    rank = _rank(graph)
    edges = [e for e in graph.successors(installed, version) if e.successor in rank]
    yield from sorted(edges, key=lambda e: rank[e.successor])


def next_hop(graph: ChannelGraph, installed: str, version: Version | None = None) -> str | None:
    """Return the entry that OLM v0 installs next on a cluster that has `installed`; None: it stays.

    The first of `candidates`, in O(log n) and the edges by name. Ranges that panic are not evaluated.
    """
    rank = _rank(graph)
    version = version or graph.versions.get(installed)
    successors = [edge.successor for edge in graph.named_edges(installed)]
    if version is not None and (covering := _best_covering(graph)(version)) is not None:
        successors.append(covering)
    best = min((name for name in successors if name in rank), key=rank.__getitem__, default=None)
    return None if best == installed else best


@lru_cache(maxsize=MEMORY)
def _best_covering(graph: ChannelGraph) -> Callable[[Version], str | None]:
    """Find, of the entries whose range contains a version, the nearest to the head."""
    return graph.coverage.chooser(_rank(graph))


@lru_cache(maxsize=MEMORY)
def _rank(graph: ChannelGraph) -> Mapping[str, int]:
    """The entries OLM may choose and may install, the head at 0."""
    refused = uninstallable(graph)
    return {name: i for i, name in enumerate(sort_channel(graph).chain) if name not in refused}


class ChannelHops(NamedTuple):
    """The next hop of every entry of a channel (None: it stays), or why there is none at all."""

    next: Mapping[str, str | None] = MappingProxyType({})
    failures: Mapping[str, ResolutionFailure] = MappingProxyType({})
    failure: ResolutionFailure | None = None


@lru_cache(maxsize=MEMORY)
def next_hops(graph: ChannelGraph) -> ChannelHops:
    """The next hop from every entry at once. O((edges + ranges) · log n)."""
    ordered = sort_channel(graph)
    if ordered.failure is not None:
        return ChannelHops(failure=ordered.failure)
    best = graph.best_successors(_rank(graph))
    following = {name: None if best.get(name) == name else best.get(name) for name in graph.entries}
    return ChannelHops(following, _panics(graph, ordered.chain))


def _panics(graph: ChannelGraph, chain: tuple[str, ...]) -> Mapping[str, ResolutionFailure]:
    """Entries for which some candidate's range panics: every candidate is asked before one is chosen.

    The first from the head is named; behind it nobody is asked any more.
    """
    panicking = frozenset(graph.panicking_entries)
    guilty = {name: i for i, name in enumerate(chain) if name in panicking}
    if not guilty:
        return {}
    culprit = Coverage({name: ~graph.ranges[name].intervals for name in guilty}).chooser(guilty)
    asked = ((installed, culprit(version)) for installed, version in graph.versions.items())
    return {installed: panic_failure(name) for installed, name in asked if name is not None}


def panic_failure(name: str) -> ResolutionFailure:
    """The catalog operator crashes over the range of this entry, in Go's words."""
    words = "runtime error: invalid memory address or nil pointer dereference"
    return ResolutionFailure(FailureKind.PANIC, (name,), words)
