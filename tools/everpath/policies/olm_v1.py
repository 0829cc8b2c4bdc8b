"""OLM v1: the highest version among whoever accepts the installed one, and the installed one itself.

Mirrors CatalogResolver.Resolve and the successor predicate of operator-controller (internal/
operator-controller/{resolve,catalogmetadata}), for a ClusterExtension with `channels: [that channel]` and
the catalog's own upgrade policy. Skipped entries count like any other; heads play no part.
"""

from __future__ import annotations

__all__ = ["candidates", "fresh_install", "hops", "ranking", "release_key"]

from collections.abc import Iterator, Mapping
from functools import lru_cache

from everpath.graph import ChannelGraph, Edge
from everpath.policies import MEMORY
from everpath.versions import Version


@lru_cache(maxsize=MEMORY)
def ranking(graph: ChannelGraph) -> Mapping[str, int]:
    """Entries that have a bundle, best first: not deprecated before deprecated, then version and release."""
    deprecated = graph.package.deprecated("olm.bundle")
    names = [name for name in graph.entries if graph.bundle(name) is not None]
    # Two stable sorts, because the version order is descending and names break no tie.
    names.sort(key=lambda n: _height(graph, n), reverse=True)
    names.sort(key=lambda n: n in deprecated)
    return {name: i for i, name in enumerate(names)}


def _height(graph: ChannelGraph, name: str) -> tuple[bool, object, object]:
    """Orders by version, then by release; an unreadable version is lowest."""
    version = graph.versions.get(name)
    if version is None:
        return (False, (), ())
    return (True, version.key, release_key(version))


def release_key(version: Version) -> tuple[object, ...]:
    """Build metadata read as a release: none is lowest, then identifier by identifier as in a pre-release."""
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in version.build)


def fresh_install(graph: ChannelGraph) -> str | None:
    """What a new ClusterExtension gets: the first of the ranking."""
    return next(iter(ranking(graph)), None)


def candidates(graph: ChannelGraph, installed: str, version: Version | None = None) -> Iterator[Edge]:
    """The edges to entries that rank before the installed one, best first. The first is taken."""
    rank = ranking(graph)
    limit = rank.get(installed, len(rank))
    edges = [e for e in graph.successors(installed, version) if rank.get(e.successor, limit) < limit]
    yield from sorted(edges, key=lambda e: rank[e.successor])


@lru_cache(maxsize=MEMORY)
def hops(graph: ChannelGraph) -> Mapping[str, str | None]:
    """The next hop from every entry at once (None: it stays). O((edges + ranges) · log n)."""
    rank = ranking(graph)
    best = graph.nearest(rank)
    return {name: _better(rank, name, best.get(name)) for name in graph.entries}


def _better(rank: Mapping[str, int], installed: str, candidate: str | None) -> str | None:
    """The candidate, unless the installed entry, which is always one itself, ranks before it."""
    if candidate is None or rank[candidate] >= rank.get(installed, len(rank)):
        return None
    return candidate
