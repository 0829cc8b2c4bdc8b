"""OLM v1: installs the highest version among the successors of the installed one and that one itself.

Mirrors CatalogResolver.Resolve and the successor predicate of operator-controller v1.2.0 (internal/
operator-controller/{resolve,catalogmetadata}), for a ClusterExtension with `channels: [that channel]` and
the upgrade policy CatalogProvided. Skipped entries are candidates like any other; channel heads play no part.
`cluster_extension` adds the failures of a chosen bundle: dependencies, a range that panics.
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

from everpath.graph import ChannelGraph, Edge
from everpath.model import DEPENDENCY_PROPERTIES, Bundle
from everpath.resolvers import CACHED_CHANNELS
from everpath.versions import Version, parse_or_none


@lru_cache(maxsize=CACHED_CHANNELS)
def ranking(graph: ChannelGraph) -> Mapping[str, int]:
    """Return the rank of every entry that has a bundle, the best at 0.

    Deprecated bundles rank after all others; then version and release count.
    """
    deprecated = graph.package.deprecations_by_name("olm.bundle")
    names = list(_version_keys(graph))
    # Two stable sorts: versions descend, and entries of equal versions keep their order.
    names.sort(key=_version_keys(graph).__getitem__, reverse=True)
    if deprecated:
        names.sort(key=lambda n: n in deprecated)
    return {name: i for i, name in enumerate(names)}


@lru_cache(maxsize=CACHED_CHANNELS)
def _version_keys(graph: ChannelGraph) -> Mapping[str, tuple[bool, object, object]]:
    """Return sort keys of version and release for entries with a bundle. Invalid versions are lowest."""
    versions = {name: _strict_version(graph, name) for name in graph.entries if graph.bundle(name)}
    return {
        name: (False, (), ()) if version is None else (True, version.key, release_key(version))
        for name, version in versions.items()
    }


def _strict_version(graph: ChannelGraph, name: str) -> Version | None:
    """Parse strictly, as OLM v1 does; OLM v0 parses tolerantly."""
    bundle = graph.bundle(name)
    assert bundle is not None  # only entries with a bundle are ranked
    return parse_or_none(bundle.version)


def release_key(version: Version) -> tuple[object, ...]:
    """Return the sort key of build metadata read as a release; none is lowest."""
    if not version.build:
        return ()
    return tuple((0, int(p), "") if p.isdecimal() else (1, 0, p) for p in version.build)


def new_install(graph: ChannelGraph) -> str | None:
    """Return what a new ClusterExtension installs: the first of the ranking."""
    return next(iter(ranking(graph)), None)


def new_installs(graph: ChannelGraph) -> tuple[str, ...]:
    """Return all entries that a new ClusterExtension may install: several if their versions are equal."""
    found = sort_keys(graph)
    best = next(iter(found.values()), None)
    return tuple(takewhile(lambda name: found[name] == best, found))


@lru_cache(maxsize=CACHED_CHANNELS)
def sort_keys(graph: ChannelGraph) -> Mapping[str, tuple[bool, bool, object]]:
    """Return (not deprecated, valid, version) of every ranked entry, best first.

    Entries with equal keys tie: operator-controller 1.2.0 takes the one whose file it reads first.
    """
    deprecated = graph.package.deprecations_by_name("olm.bundle")
    keys = _version_keys(graph)
    return {name: (name not in deprecated, *keys[name][:2]) for name in ranking(graph)}


def candidates(graph: ChannelGraph, installed: str, version: Version | None = None) -> Iterator[Edge]:
    """Yield the edges to entries that rank before the installed one, the one that OLM v1 takes first."""
    rank = ranking(graph)
    limit = rank.get(installed, len(rank))
    edges = [e for e in graph.successors(installed, version) if rank.get(e.successor, limit) < limit]
    yield from sorted(edges, key=lambda e: rank[e.successor])


def dependency_property(bundle: Bundle) -> str | None:
    """Return the type of a property that declares a dependency, which OLM v1 does not support."""
    return next((p.type for p in bundle.properties if p.type in DEPENDENCY_PROPERTIES), None)


def rejection_reason(graph: ChannelGraph, installed: str, successor: str) -> str:
    """Return why OLM v1 does not follow an existing edge.

    Of several reasons, a missing bundle comes first, then an invalid version, then deprecation.
    """
    deprecated, bundle = graph.package.deprecations_by_name("olm.bundle"), graph.bundle(successor)
    if bundle is None:
        return f"the catalog has no bundle {successor}"
    if parse_or_none(bundle.version) is None:
        return f"OLM v1 cannot parse the version of {successor} and ranks it last"
    if successor in deprecated and installed not in deprecated:
        return f"{successor} is deprecated and {installed} is not"
    return f"{successor} is not a higher version"


@lru_cache(maxsize=CACHED_CHANNELS)
def next_hops(graph: ChannelGraph) -> Mapping[str, str | None]:
    """Return the next hop of every entry of a channel (None: it stays). O((edges + ranges) · log n)."""
    rank = ranking(graph)
    best = graph.best_successors(rank)
    found: dict[str, str | None] = {}
    for name in graph.entries:
        successor = best.get(name)
        # The installed entry is a candidate itself.
        is_better = successor is not None and rank[successor] < rank.get(name, len(rank))
        found[name] = successor if is_better else None
    return {**found, **_hops_to_equal_versions(graph, found)}


def _hops_to_equal_versions(graph: ChannelGraph, found: Mapping[str, str | None]) -> Mapping[str, str]:
    """Return the hops from deprecated entries to others of the same version that are not deprecated.

    These need no edge. A hop to a higher version takes precedence, and so does one to the same version by an
    edge. Two entries of one version tie unless exactly one is deprecated, and the installed one stays.
    """
    deprecated, rank = graph.package.deprecations_by_name("olm.bundle"), ranking(graph)
    if not deprecated:
        return {}
    versions = {name: _strict_version(graph, name) for name in rank}
    supported = {
        versions[name]: name for name in reversed(list(rank)) if name not in deprecated and versions[name]
    }
    equals = {
        name: supported[versions[name]] for name in rank if name in deprecated and versions[name] in supported
    }
    return {
        name: equal
        for name, equal in equals.items()
        if (target := found[name]) is None
        or (rank[target] > rank[equal] and (target in deprecated or versions[target] != versions[equal]))
    }
