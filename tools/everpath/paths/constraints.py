"""What a release manager demands of every road: that it passes X, or that it never lands on Y.

Both are questions of reachability: who can come to the goal if X were not there; who can come to Y. A demand
costs the edges, however many roads there are.
"""

from __future__ import annotations

__all__ = ["Demand", "DemandKind", "Offence", "must_pass", "never"]

from collections.abc import Iterable
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple

from everpath.paths.bundle_selector import Subject
from everpath.paths.hop_graph import Network, fresh_v1, newest_first
from everpath.paths.path_counts import distances, shortest_road
from everpath.paths.reachability import comers, nearest, onward
from everpath.resolvers import olm_v0
from everpath.simulate import find_installed


class DemandKind(StrEnum):
    MUST_PASS = "must-pass"
    NEVER = "never"


class Demand(NamedTuple):
    """One demand of the command line."""

    kind: DemandKind
    subject: Subject


class Offence(NamedTuple):
    """A road that breaks a demand, and the hop of it that leads past X or onto Y.

    `road` is one of the shortest. Of a new install that is Y, it is Y alone, and there is no hop.
    `starts` are all who have such a road, lowest first.
    """

    demand: Demand
    road: tuple[str, ...]
    culprit: tuple[str, str] | None
    starts: tuple[str, ...] = ()


def must_pass(network: Network, demand: Demand, goal: str, start: str | None = None) -> Offence | None:
    """The shortest road to the goal that misses X, from `start` or from anybody below X.

    Nobody below X has to pass it who only wants to come to a goal that is itself below X.
    """
    subject = demand.subject
    if goal in subject.names or start in subject.names:
        return None
    left = distances(network, goal, subject.names)
    starts = [start] if start is not None else _below(network, subject, goal)
    guilty = _lowest_first(network, (name for name in starts if name in left and name != goal))
    if not guilty:
        return None
    first = min(guilty, key=left.__getitem__)
    road = shortest_road(network, first, (goal,), subject.names)
    assert road is not None  # it has a distance
    return Offence(demand, road, _passing(network, road, subject), tuple(guilty))


def _below(network: Network, subject: Subject, goal: str) -> Iterable[str]:
    """Those of a lower version; where X has no version, those who could come to it.

    A version that nobody states is the one that the name ends with. Whose version nobody can tell is below X,
    unless one comes there from X.
    """
    version, versions = subject.version, network.versions
    if version is None:
        return nearest(network, subject.names & network.place.keys())
    if goal in versions and versions[goal] < version:
        return ()
    stated = {
        name: versions.get(name) or find_installed((), name)[0].as_bundle("v0").version
        for name in network.place
    }
    unknown = {name for name, its in stated.items() if its is None}
    behind = onward(network, subject.names & network.place.keys()) if unknown else ()
    below = {name for name, its in stated.items() if its is not None and its < version}
    return (name for name in network.place if name in below or (name in unknown and name not in behind))


def _passing(network: Network, road: tuple[str, ...], subject: Subject) -> tuple[str, str]:
    """The hop from below X to above it; if none does that, the one from which X cannot be reached again."""
    hops = list(pairwise(road))
    version, versions = subject.version, network.versions
    for start, end in hops:
        low, high = versions.get(start), versions.get(end)
        if version and low and high and low < version < high:
            return start, end
    near = nearest(network, subject.names & network.place.keys())
    return next((hop for hop in hops if hop[1] not in near), hops[-1])


def never(
    network: Network, demand: Demand, goal: str | None = None, start: str | None = None
) -> Offence | None:
    """The shortest road that lands on Y: from anybody or from `start`, to anywhere or to the goal.

    Without a `start` a new install counts too: it lands without a road.
    """
    leads_on = distances(network, goal) if goal is not None else network.place
    there = newest_first(demand.subject.names & network.place.keys(), network.versions)
    landings = [name for name in there if name in leads_on and name != start]
    if start is not None:
        road = shortest_road(network, start, landings)
        return None if road is None else Offence(demand, road, (road[-2], road[-1]), (start,))
    return _landed(network, demand, landings)


def _landed(network: Network, demand: Demand, landings: list[str]) -> Offence | None:
    """Whoever lands in one hop; of several, the newest is shown, whom it will happen to first."""
    landed = comers(network, landings)
    if landed:
        starts = _lowest_first(network, landed)
        hop = (starts[-1], landed[starts[-1]])
        return Offence(demand, hop, hop, tuple(starts))
    return next((Offence(demand, (y,), None) for y in landings if y in _fresh(network)), None)


def _fresh(network: Network) -> set[str]:
    """What new installs get."""
    found: set[str] = set()
    for graph in network.graphs:
        v0, v1 = olm_v0.new_install(graph), fresh_v1(graph)
        picks = {"v0": [v0], "v1": [v1], "any": [v0, v1]}[network.policy]
        found.update(name for name in picks if name is not None)
    return found


def _lowest_first(network: Network, names: Iterable[str]) -> list[str]:
    return sorted(names, key=lambda name: -network.place[name])
