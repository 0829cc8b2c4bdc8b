"""Whatever OLM does to the operator, from any release that anybody may have, the cluster arrives.

The walks are those that `simulate` finds in our own catalog: a new release brings its own cases along.
"""

from __future__ import annotations

from functools import cache
from itertools import pairwise
from pathlib import Path

import pytest

from everpath.formats.reading import read
from everpath.graph import PackageGraph
from everpath.policies import olm_v0, olm_v1
from everpath.policies.walks import walk
from operators_at_work import CutOff, asked_for, copied, edited, settled, status, summary, with_index
from searchkeeper.embedded.world import World
from searchkeeper.releases import release

CATALOG = Path(__file__).resolve().parents[2] / "catalog/searchkeeper/catalog.yaml"


def version(name: str) -> str:
    return name.removeprefix("searchkeeper.v")


@cache
def walks() -> tuple[tuple[str, ...], ...]:
    """Every walk of OLM v0 and v1, from every entry of every channel, each once."""
    [package] = read(str(CATALOG)).catalog.packages
    found = {
        (version(name), *map(version, walk(hops, name)))
        for graph in PackageGraph(package).channels
        for hops in (olm_v0.hops(graph).next, olm_v1.hops(graph))
        for name in graph.entries
    }
    return tuple(sorted(found))


@cache
def hops() -> tuple[tuple[str, str], ...]:
    return tuple(sorted({pair for each in walks() for pair in pairwise(each)}))


@cache
def pairs_of_hops() -> tuple[tuple[str, str, str], ...]:
    """Two hops in a row, told apart by what the releases do: equal procedures do equal work."""
    found = {each[n : n + 3] for each in walks() for n in range(len(each) - 2)}
    work = {tuple(release(one).procedures for one in each): each for each in sorted(found)}
    return tuple(sorted((a, b, c) for a, b, c in work.values()))


@cache
def deployed_by(first: str) -> World:
    """A cluster with documents, as this release leaves it."""
    world = asked_for()
    settled(world, first)
    with_index(world)
    settled(world, first)
    return world


def assert_arrived(world: World, last: str) -> None:
    told = status(world)
    assert told["currentVersion"] == max(release(last).procedures)
    assert told["engineVersion"] == "2.19.4"
    assert told["ready"] == "5/5"
    assert not told["ledger"]


@pytest.mark.parametrize("road", walks(), ids=" → ".join)
def test_a_cluster_follows_its_operator_to_the_end_of_the_road(road: tuple[str, ...]) -> None:
    world = copied(deployed_by(road[0]))
    for each in road[1:]:
        settled(world, each)
    assert_arrived(world, road[-1])


@pytest.mark.parametrize("road", walks(), ids=" → ".join)
def test_an_operator_that_is_replaced_at_once_leaves_nothing_undone(road: tuple[str, ...]) -> None:
    """OLM does not wait: every release but the last is gone before it has done anything."""
    world = copied(deployed_by(road[0]))
    settled(world, road[-1])
    assert_arrived(world, road[-1])


@pytest.mark.parametrize("hop", hops(), ids=" → ".join)
def test_an_operator_may_be_replaced_between_any_two_writes(hop: tuple[str, str]) -> None:
    before, after = hop
    born = asked_for()
    total = settled(copied(born), before)
    for cut in range(total):
        world = copied(born)
        with pytest.raises(CutOff):
            settled(world, before, allowed=cut)
        settled(world, after)
        assert_arrived(world, after)


@pytest.mark.parametrize("hops", pairs_of_hops(), ids=" → ".join)
def test_a_migration_may_be_taken_over_between_any_two_writes(hops: tuple[str, str, str]) -> None:
    first, second, third = hops
    start = deployed_by(first)
    for cut in range(settled(copied(start), second)):
        world = copied(start)
        with pytest.raises(CutOff):
            settled(world, second, allowed=cut)
        settled(world, third)
        assert_arrived(world, third)


@pytest.mark.parametrize("hop", [("0.1.1", "0.2.0"), ("0.3.1", "0.4.0")], ids=" → ".join)
def test_an_operator_may_crash_between_any_two_writes_of_its_own_migration(hop: tuple[str, str]) -> None:
    before, after = hop
    start = deployed_by(before)
    for cut in range(settled(copied(start), after)):
        world = copied(start)
        with pytest.raises(CutOff):
            settled(world, after, allowed=cut)
        settled(world, after)
        assert_arrived(world, after)


def test_an_operator_may_crash_between_any_two_writes_of_an_engine_upgrade() -> None:
    start = edited(copied(deployed_by("0.4.0")), version="3.4.0")
    for cut in range(settled(copied(start), "0.4.0")):
        world = copied(start)
        with pytest.raises(CutOff):
            settled(world, "0.4.0", allowed=cut)
        settled(world, "0.4.0")
        assert status(world)["engineVersion"] == "3.4.0"
        assert not status(world)["ledger"]
        assert {node.version for node in world.state.engine.nodes} == {"3.4.0"}


def test_all_roads_to_one_release_lead_to_one_cluster() -> None:
    ends: dict[str, list[object]] = {}
    for road in walks():
        world = copied(deployed_by(road[0]))
        for each in road[1:]:
            settled(world, each)
        ends.setdefault(road[-1], []).append(summary(world.state))
    for same in ends.values():
        assert all(each == same[0] for each in same)
