"""Constraints on upgrade paths: every path passes a version, or no path lands on one.

Both are decided by reachability, so they cost the edges, however many paths there are.
"""

from __future__ import annotations

__all__ = ["ConstraintKind", "ConstraintViolation", "PathConstraint", "check_must_pass", "check_never"]

from collections.abc import Iterable
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from everpath.paths.bundle_selector import SelectedBundles
from everpath.paths.hop_graph import HopGraph
from everpath.paths.reachability import distances, hops_onto, reachable_from, shortest_path
from everpath.paths.resolver_hops import new_install_v1, newest_first
from everpath.resolvers import olm_v0
from everpath.simulate import find_installed


class ConstraintKind(StrEnum):
    """The option that states the constraint."""

    MUST_PASS = "must-pass"
    NEVER = "never"


class PathConstraint(NamedTuple):
    """One `--must-pass` or `--never`, and the bundles that it names."""

    kind: ConstraintKind
    subject: SelectedBundles


class ConstraintViolation(NamedTuple):
    """A shortest path that violates a constraint, the hop that does, and all versions with such a path.

    `starts` are sorted, lowest first. A new installation of a forbidden version has a path of one entry and
    no hop.
    """

    constraint: PathConstraint
    path: tuple[str, ...]
    hop: tuple[str, str] | None
    starts: tuple[str, ...] = ()


def check_must_pass(
    hop_graph: HopGraph, constraint: PathConstraint, goal: str, start: str | None = None
) -> ConstraintViolation | None:
    """Return the shortest path to the goal that misses the version, from `start` or any lower version.

    A goal below the version needs no path through it.
    """
    subject = constraint.subject
    if goal in subject.names or start in subject.names:
        return None
    found = distances(hop_graph, (goal,), subject.names)
    starts = [start] if start is not None else _versions_below(hop_graph, subject, goal)
    violating = _lowest_first(hop_graph, (name for name in starts if name in found and name != goal))
    if not violating:
        return None
    nearest = min(violating, key=lambda name: found[name].hops)
    path = shortest_path(hop_graph, nearest, (goal,), subject.names)
    assert path is not None  # it has a distance
    return ConstraintViolation(constraint, path, _bypassing_hop(hop_graph, path, subject), tuple(violating))


def _versions_below(hop_graph: HopGraph, subject: SelectedBundles, goal: str) -> Iterable[str]:
    """Return the installed versions below the subject; without a version, those that can reach it.

    A bundle without a version has the one that its name ends with. If there is none, it counts as lower
    unless it can be reached from the subject.
    """
    version, versions = subject.version, hop_graph.versions
    if version is None:
        return distances(hop_graph, subject.names & hop_graph.rank.keys())
    if goal in versions and versions[goal] < version:
        return ()
    stated = {n: versions.get(n) or find_installed((), n)[0].as_bundle("v0").version for n in hop_graph.rank}
    unknown = {name for name, its in stated.items() if its is None}
    after = reachable_from(hop_graph, subject.names & hop_graph.rank.keys()) if unknown else ()
    below = {name for name, its in stated.items() if its is not None and its < version}
    return (name for name in hop_graph.rank if name in below or (name in unknown and name not in after))


def _bypassing_hop(hop_graph: HopGraph, path: tuple[str, ...], subject: SelectedBundles) -> tuple[str, str]:
    """Return the hop from below the subject to above it, else the first after which it is unreachable."""
    hops = list(pairwise(path))
    version, versions = subject.version, hop_graph.versions
    for start, end in hops:
        low, high = versions.get(start), versions.get(end)
        if version and low and high and low < version < high:
            return start, end
    reaching = distances(hop_graph, subject.names & hop_graph.rank.keys())
    return next((hop for hop in hops if hop[1] not in reaching), hops[-1])


def check_never(
    hop_graph: HopGraph, constraint: PathConstraint, goal: str | None = None, start: str | None = None
) -> ConstraintViolation | None:
    """Return the shortest path that lands on the version, from `start` or anywhere, to the goal or anywhere.

    Without `start` a new installation of the version is a violation, too. Of several versions with a hop onto
    it, the newest is shown: its users are affected first.
    """
    before_goal = distances(hop_graph, (goal,)) if goal is not None else hop_graph.rank
    forbidden = newest_first(constraint.subject.names & hop_graph.rank.keys(), hop_graph.versions)
    forbidden = [name for name in forbidden if name in before_goal and name != start]
    if start is not None:
        path = shortest_path(hop_graph, start, forbidden)
        return None if path is None else ConstraintViolation(constraint, path, (path[-2], path[-1]), (start,))
    if landing := hops_onto(hop_graph, forbidden):
        starts = _lowest_first(hop_graph, landing)
        hop = (starts[-1], landing[starts[-1]])
        return ConstraintViolation(constraint, hop, hop, tuple(starts))
    installed = (name for name in forbidden if name in _new_installs(hop_graph))
    return next((ConstraintViolation(constraint, (name,), None) for name in installed), None)


def _new_installs(hop_graph: HopGraph) -> set[str]:
    found: set[str | None] = set()
    for graph in hop_graph.graphs:
        if hop_graph.resolver != "v1":
            found.add(olm_v0.new_install(graph))
        if hop_graph.resolver != "v0":
            found.add(new_install_v1(graph))
    return {name for name in found if name is not None}


def _lowest_first(hop_graph: HopGraph, names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: -hop_graph.rank[name])
