"""OLM v1: the highest version among whoever accepts the installed one, and the installed one itself.

Mirrors CatalogResolver.Resolve and the successor predicate of operator-controller v1.2.0 (internal/
operator-controller/{resolve,catalogmetadata}), for a ClusterExtension with `channels: [that channel]` and
the catalog's own upgrade policy. Skipped entries count like any other; heads play no part. What the bundle
itself may then fail by (dependencies, an empty arm of a range) is for `extensions` to say.
"""

from __future__ import annotations

__all__ = [
    "candidates",
    "dependency_property",
    "new_install",
    "new_installs",
    "next_hops",
    "ranking",
    "rejection_reason",
    "release_key",
    "sort_keys",
]

from collections.abc import Iterator, Mapping
from functools import lru_cache
from itertools import takewhile
from typing import Final

from everpath.graph import ChannelGraph, Edge
from everpath.model import Bundle
from everpath.resolvers import MEMORY
from everpath.versions import Version, parse_or_none

#: What operator-controller refuses in a bundle that it has already chosen. It takes no other in its stead.
_DEPENDENCIES: Final = frozenset(("olm.package.required", "olm.gvk.required", "olm.constraint"))


@lru_cache(maxsize=MEMORY)
def ranking(graph: ChannelGraph) -> Mapping[str, int]:
    """Entries that have a bundle, best first: not deprecated before deprecated, then version and release."""
    deprecated = graph.package.deprecations_by_name("olm.bundle")
    names = list(_heights(graph))
    # Two stable sorts, because the version order is descending and names break no tie.
    names.sort(key=_heights(graph).__getitem__, reverse=True)
    if deprecated:
        names.sort(key=lambda n: n in deprecated)
    return {name: i for i, name in enumerate(names)}


@lru_cache(maxsize=MEMORY)
def _heights(graph: ChannelGraph) -> Mapping[str, tuple[bool, object, object]]:
    """Orders entries that have a bundle by version, then by release; an unreadable version is lowest."""
    return {name: _height(_version(graph, name)) for name in graph.entries if graph.bundle(name) is not None}


def _height(version: Version | None) -> tuple[bool, object, object]:
    return (False, (), ()) if version is None else (True, version.key, release_key(version))


def _version(graph: ChannelGraph, name: str) -> Version | None:
    """OLM v1 reads strictly what v0 reads tolerantly."""
    bundle = graph.bundle(name)
    assert bundle is not None  # or the entry would not be ranked
    return parse_or_none(bundle.version)


def release_key(version: Version) -> tuple[object, ...]:
    """Build metadata read as a release: none is lowest, then identifier by identifier as in a pre-release."""
    if not version.build:
        return ()
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in version.build)


def new_install(graph: ChannelGraph) -> str | None:
    """What a new ClusterExtension gets: the first of the ranking."""
    return next(iter(ranking(graph)), None)


def new_installs(graph: ChannelGraph) -> tuple[str, ...]:
    """All that a new ClusterExtension may get: of equal versions operator-controller 1.2.0 takes either."""
    found = sort_keys(graph)
    best = next(iter(found.values()), None)
    return tuple(takewhile(lambda name: found[name] == best, found))


@lru_cache(maxsize=MEMORY)
def sort_keys(graph: ChannelGraph) -> Mapping[str, tuple[bool, bool, object]]:
    """What the ranks depend on but for what only breaks ties, best first. Of equal ones v1 takes either."""
    deprecated = graph.package.deprecations_by_name("olm.bundle")
    heights = _heights(graph)
    return {name: (name not in deprecated, *heights[name][:2]) for name in ranking(graph)}


def candidates(graph: ChannelGraph, installed: str, version: Version | None = None) -> Iterator[Edge]:
    """The edges to entries that rank before the installed one, best first. The first is taken."""
    rank = ranking(graph)
    limit = rank.get(installed, len(rank))
    edges = [e for e in graph.successors(installed, version) if rank.get(e.successor, limit) < limit]
    yield from sorted(edges, key=lambda e: rank[e.successor])


def dependency_property(bundle: Bundle) -> str | None:
    """The property for which a bundle is refused after it was chosen, if it has one. O(properties)."""
    return next((stated.type for stated in bundle.properties if stated.type in _DEPENDENCIES), None)


def rejection_reason(graph: ChannelGraph, installed: str, successor: str) -> str:
    """Why an edge that is there is not followed, in words: the reason that comes first in the ranking."""
    deprecated, bundle = graph.package.deprecations_by_name("olm.bundle"), graph.bundle(successor)
    if bundle is None:
        return f"the catalog has no bundle {successor}"
    if parse_or_none(bundle.version) is None:
        return f"OLM v1 cannot read the version of {successor}, and takes such last"
    if successor in deprecated and installed not in deprecated:
        return f"{successor} is deprecated and {installed} is not"
    return f"{successor} is no higher version"


@lru_cache(maxsize=MEMORY)
def next_hops(graph: ChannelGraph) -> Mapping[str, str | None]:
    """The next hop from every entry at once (None: it stays). O((edges + ranges) · log n)."""
    rank = ranking(graph)
    best = graph.best_successors(rank)
    found = {name: _better(rank, name, best.get(name)) for name in graph.entries}
    return {**found, **_hops_to_twins(graph, found)}


def _hops_to_twins(graph: ChannelGraph, found: Mapping[str, str | None]) -> Mapping[str, str]:
    """Hops from deprecated entries to others of the same version that are not: those need no edge.

    A hop to a higher version stays, and one to that version by an edge. Where neither of two with one
    version is deprecated, they tie, and whoever is installed stays.
    """
    deprecated, rank = graph.package.deprecations_by_name("olm.bundle"), ranking(graph)
    if not deprecated:
        return {}
    versions = {name: _version(graph, name) for name in rank}
    living = {
        versions[name]: name for name in reversed(list(rank)) if name not in deprecated and versions[name]
    }
    twins = {name: living[versions[name]] for name in rank if name in deprecated and versions[name] in living}
    return {
        name: twin
        for name, twin in twins.items()
        if (target := found[name]) is None
        or (rank[target] > rank[twin] and (target in deprecated or versions[target] != versions[twin]))
    }


def _better(rank: Mapping[str, int], installed: str, candidate: str | None) -> str | None:
    """The candidate, unless the installed entry, which is always one itself, ranks before it."""
    if candidate is None or rank[candidate] >= rank.get(installed, len(rank)):
        return None
    return candidate
