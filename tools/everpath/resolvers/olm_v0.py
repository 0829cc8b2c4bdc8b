"""OLM v0: installs the entry nearest to the channel head that accepts the installed one and is not skipped.

Mirrors sortChannel and getSubscriptionVariables of operator-lifecycle-manager v0.46.0
(pkg/controller/registry/resolver/resolver.go), for one Subscription without dependencies.
`next_hop` picks the next hop of one installed version, `next_hops` those of a whole channel.
"""

from __future__ import annotations

__all__ = [
    "ChannelHops",
    "SortedChannel",
    "candidates",
    "is_deprecated",
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

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from operator import itemgetter
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from everpath.graph import ChannelGraph, Edge
from everpath.model import Bundle, Gvk, Property
from everpath.ranges import Coverage
from everpath.resolvers import CACHED_CHANNELS
from everpath.resolvers.go_quote import go_quote
from everpath.resolvers.resolution import FailureKind, ResolutionFailure
from everpath.versions import Version

_GVK_VALUES: Final = itemgetter("group", "version", "kind")


class SortedChannel(NamedTuple):
    """The entries that OLM v0 chooses from, head first, without skipped ones; or why it cannot sort them."""

    chain: tuple[str, ...] = ()
    failure: ResolutionFailure | None = None


@lru_cache(maxsize=CACHED_CHANNELS)
def sort_channel(graph: ChannelGraph) -> SortedChannel:
    """Follow the replaces chain of each head, as sortChannel does. O(entries + edges).

    Unlike opm, OLM v0 follows the chain *through* skipped entries, and fails on a cycle among them.
    """
    if not graph.heads:
        return SortedChannel(failure=no_head_failure(graph, tuple(sorted(graph.entries))))
    # For each entry on a chain: the last entry below it, or itself, that is not skipped.
    last_unskipped: dict[str, str | None] = {}
    for head in graph.heads:
        chain, on_chain = [head], {head}
        # Below an entry that another chain contains, the chain is known.
        while (below := graph.entries[chain[-1]].replaces) in graph.entries and below not in last_unskipped:
            assert below is not None  # the name of an entry
            if below in on_chain:
                message = (
                    f"a cycle exists in the chain of replacement beginning with {go_quote(head)} "
                    f"in {_go_channel(graph)}"
                )
                cycle = (*chain[chain.index(below) :], below)
                return SortedChannel(failure=ResolutionFailure(FailureKind.CYCLE, cycle, message))
            chain.append(below)
            on_chain.add(below)
        last = last_unskipped.get(graph.entries[chain[-1]].replaces or "")
        for name in reversed(chain):
            last = last or (None if name in graph.skippers else name)
            last_unskipped[name] = last
    if len(graph.heads) > 1:
        chains = [
            head if last_unskipped[head] == head else f"{head}...{last_unskipped[head]}"
            for head in graph.heads
        ]
        message = (
            "a unique replacement chain within a channel is required to determine the relative order between "
            f"channel entries, but {len(chains)} replacement chains were found in {_go_channel(graph)}: "
            f"{', '.join(chains)}"
        )
        return SortedChannel(failure=ResolutionFailure(FailureKind.SEVERAL_HEADS, graph.heads, message))
    return SortedChannel(tuple(name for name in chain if name not in graph.skippers))


def no_head_failure(graph: ChannelGraph, names: tuple[str, ...]) -> ResolutionFailure:
    """Return OLM's failure for entries of which each is replaced or skipped by another one."""
    message = f"no channel heads (entries not replaced by another entry) found in {_go_channel(graph)}"
    return ResolutionFailure(FailureKind.NO_HEAD, names, message)


def _go_channel(graph: ChannelGraph) -> str:
    return f"channel {go_quote(graph.name)} of package {go_quote(graph.package.name)}"


def new_install(graph: ChannelGraph) -> str | None:
    """Return what a new Subscription installs: the first installable entry from the head down."""
    return next((n for n in sort_channel(graph).chain if n not in uninstallable(graph)), None)


@lru_cache(maxsize=CACHED_CHANNELS)
def uninstallable(graph: ChannelGraph) -> Mapping[str, str]:
    """Return the entries whose bundle OLM v0 never installs, with the reason (`carries olm.deprecated`)."""
    found: dict[str, str] = {}
    for name in graph.entries:
        bundle = graph.bundle(name)
        if bundle is None:
            continue
        if is_deprecated(bundle):
            found[name] = "carries olm.deprecated"
        elif (repeated := next(repeated_apis(bundle), None)) is not None:
            group, version, kind = repeated[0]
            found[name] = f"provides {group}/{version} {kind} twice"
    return found


def is_deprecated(bundle: Bundle) -> bool:
    """Whether a bundle has the property olm.deprecated; OLM v0 never installs it."""
    return any(p.type == "olm.deprecated" for p in bundle.properties)


def repeated_apis(bundle: Bundle) -> Iterator[tuple[Gvk, Property]]:
    """Yield repeated olm.gvk properties. OLM counts such a bundle as two providers of one API."""
    provided = [p for p in bundle.properties if p.type == "olm.gvk"]
    if len(provided) < 2 or _are_distinct([p.value for p in provided]):
        return
    seen: set[Gvk] = set()
    for p in provided:
        api = parse_gvk(p.value)
        if api is None:
            continue
        if api in seen:
            yield api, p
        seen.add(api)


def _are_distinct(values: Sequence[Any]) -> bool:
    """Return True if all values are mappings of group, version and kind to strings and no two are equal.

    A fast check for the usual case; False means unknown. Joining raises TypeError for anything but strings.
    """
    try:
        apis = set(map(_GVK_VALUES, values))
        "".join(itertools.chain.from_iterable(apis))
    except (KeyError, TypeError):
        return False
    return len(apis) == len(values) and set(map(len, values)) <= {3}


def parse_gvk(value: object) -> Gvk | None:
    """Return group, version and kind as Go decodes them (keys in any case); None if Go refuses the value."""
    if not isinstance(value, dict):
        return None if value is not None else Gvk("", "", "")
    plain: tuple[Any, Any, Any] = (value.get("group"), value.get("version"), value.get("kind"))
    if len(value) == 3 and type(plain[0]) is type(plain[1]) is type(plain[2]) is str:
        return Gvk(*plain)
    folded = {key.casefold(): value[key] for key in sorted(value)}
    parts = ["" if (part := folded.get(key)) is None else part for key in ("group", "version", "kind")]
    return Gvk(*parts) if all(isinstance(part, str) for part in parts) else None


def candidates(graph: ChannelGraph, installed: str, version: Version | None = None) -> Iterator[Edge]:
    """Yield the edges that OLM v0 considers for one installed version, the one that it takes first.

    An edge to the installed entry itself (its own range covers it) means that OLM considers it up to date.
    """
    rank = _rank(graph)
    edges = [e for e in graph.successors(installed, version) if e.successor in rank]
    yield from sorted(edges, key=lambda e: rank[e.successor])


def next_hop(graph: ChannelGraph, installed: str, version: Version | None = None) -> str | None:
    """Return the next hop, the entry that OLM v0 installs on a cluster with `installed`; None: it stays.

    This is the first of `candidates`, in O(log n) and the edges by name. Ranges that panic are not evaluated.
    """
    rank = _rank(graph)
    version = version or graph.versions.get(installed)
    successors = [edge.successor for edge in graph.named_edges(installed)]
    if version is not None and (covering := _best_covering(graph)(version)) is not None:
        successors.append(covering)
    best = min((name for name in successors if name in rank), key=rank.__getitem__, default=None)
    return None if best == installed else best


@lru_cache(maxsize=CACHED_CHANNELS)
def _best_covering(graph: ChannelGraph) -> Callable[[Version], str | None]:
    """Find, of the entries whose range contains a version, the nearest to the head."""
    return graph.coverage.chooser(_rank(graph))


@lru_cache(maxsize=CACHED_CHANNELS)
def _rank(graph: ChannelGraph) -> Mapping[str, int]:
    """Return the distance to the head of every entry that OLM may install."""
    refused = uninstallable(graph)
    return {name: i for i, name in enumerate(sort_channel(graph).chain) if name not in refused}


class ChannelHops(NamedTuple):
    """The next hop of every entry (None: it stays), failures by entry, or the failure of the channel."""

    next: Mapping[str, str | None] = MappingProxyType({})
    failures: Mapping[str, ResolutionFailure] = MappingProxyType({})
    failure: ResolutionFailure | None = None


@lru_cache(maxsize=CACHED_CHANNELS)
def next_hops(graph: ChannelGraph) -> ChannelHops:
    """Return the next hop of every entry of a channel. O((edges + ranges) · log n)."""
    ordered = sort_channel(graph)
    if ordered.failure is not None:
        return ChannelHops(failure=ordered.failure)
    best = graph.best_successors(_rank(graph))
    following = {name: None if best.get(name) == name else best.get(name) for name in graph.entries}
    return ChannelHops(following, _panics_by_entry(graph, ordered.chain))


def _panics_by_entry(graph: ChannelGraph, chain: tuple[str, ...]) -> Mapping[str, ResolutionFailure]:
    """Return the failures of entries whose version makes the range of a candidate panic.

    OLM evaluates the range of every candidate from the head down before it chooses; the first panic counts.
    """
    panicking = frozenset(graph.panicking_entries)
    rank = {name: i for i, name in enumerate(chain) if name in panicking}
    if not rank:
        return {}
    first_panicking = Coverage({name: ~graph.ranges[name].intervals for name in rank}).chooser(rank)
    found = ((installed, first_panicking(version)) for installed, version in graph.versions.items())
    return {installed: panic_failure(name) for installed, name in found if name is not None}


def panic_failure(name: str) -> ResolutionFailure:
    """Return the crash of the catalog operator on the range of an entry."""
    message = "runtime error: invalid memory address or nil pointer dereference"
    return ResolutionFailure(FailureKind.PANIC, (name,), message)
