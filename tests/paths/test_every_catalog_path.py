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
from operators_at_work import (
    SMALL,
    Known,
    Score,
    asked_for,
    copied,
    edited,
    followed,
    pool,
    score,
    settled,
    status,
    summary,
    with_index,
)
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster

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
    work = {tuple(release(one).configurations for one in each): each for each in sorted(found)}
    return tuple(sorted((a, b, c) for a, b, c in work.values()))


@cache
def deployed_by(first: str) -> FakeCluster:
    """A cluster with documents, as this release leaves it."""
    world = asked_for()
    settled(world, first)
    with_index(world)
    settled(world, first)
    return world


@cache
def known_to(last: str) -> Known:
    """What is known of the ways of a release: all of them have one end, whoever deployed the cluster."""
    return Known()


@cache
def alone(last: str) -> Known:
    """The same for a cluster that has no documents yet."""
    return Known()


def assert_arrived(world: FakeCluster, last: str) -> None:
    told = status(world)
    assert told["currentVersion"] == max(release(last).configurations)
    assert told["engineVersion"] == "2.19.4"
    assert told["ready"] == "5/5"
    assert not told["ledger"]


@pytest.mark.parametrize("road", walks(), ids=" → ".join)
def test_cluster_is_migrated_along_every_upgrade_path(road: tuple[str, ...]) -> None:
    world = copied(deployed_by(road[0]))
    for each in road[1:]:
        settled(world, each)
    assert_arrived(world, road[-1])


@pytest.mark.parametrize("road", walks(), ids=" → ".join)
def test_last_release_migrates_a_cluster_that_intermediate_releases_left_untouched(
    road: tuple[str, ...],
) -> None:
    """OLM does not wait: every release but the last is gone before it has done anything."""
    world = copied(deployed_by(road[0]))
    settled(world, road[-1])
    assert_arrived(world, road[-1])


def taken_over(before: Score, after: str, known: Known) -> None:
    """Whichever write of the one release is its last, the other comes to the end that it always comes to."""
    for step in before.steps:
        followed(FakeCluster(step.before.state), after, known)


@pytest.mark.parametrize("hop", hops(), ids=" → ".join)
def test_operator_can_be_replaced_between_any_two_operations(hop: tuple[str, str]) -> None:
    before, after = hop
    whole = asked_for()
    settled(whole, after)
    score(whole, after, alone(after))
    assert_arrived(whole, after)
    taken_over(score(asked_for(), before), after, alone(after))


@pytest.mark.parametrize("hops", pairs_of_hops(), ids=" → ".join)
def test_next_release_can_take_over_a_migration_between_any_two_operations(
    hops: tuple[str, str, str],
) -> None:
    first, second, third = hops
    whole = copied(deployed_by(first))
    score(whole, third, known_to(third))
    assert_arrived(whole, third)
    taken_over(score(copied(deployed_by(first)), second), third, known_to(third))


@pytest.mark.parametrize("hop", [("0.1.1", "0.2.0"), ("0.3.1", "0.4.0")], ids=" → ".join)
def test_operator_can_crash_between_any_two_operations_of_a_migration(hop: tuple[str, str]) -> None:
    before, after = hop
    taken_over(score(copied(deployed_by(before)), after), after, known_to(after))


def test_operator_can_crash_between_any_two_operations_of_an_engine_upgrade() -> None:
    world = edited(copied(deployed_by("0.4.0")), version="3.4.0")
    whole = score(world, "0.4.0")
    taken_over(whole, "0.4.0", whole.known)
    assert status(world)["engineVersion"] == "3.4.0"
    assert not status(world)["ledger"]
    assert {node.version for node in world.state.engine.nodes} == {"3.4.0"}


@cache
def losing_a_pool(version: str) -> FakeCluster:
    """A cluster with documents on every node, one of whose pools was just taken out of the spec."""
    world = asked_for(*SMALL, pool("more", 1, "data"))
    settled(world, version)
    for name in ("books", "films", "songs"):
        with_index(world, name, replicas=0)
    settled(world, version)
    return edited(world, pools=list(SMALL))


@pytest.mark.parametrize("hop", [("0.2.2", "0.3.1"), ("0.3.1", "0.4.0")], ids=" → ".join)
def test_operator_can_be_replaced_at_any_operation_of_a_scale_in(
    hop: tuple[str, str],
) -> None:
    before, after = hop
    world = copied(losing_a_pool(before))
    whole = score(world, after)
    assert_arrived(world, after)
    taken_over(whole, after, whole.known)
    taken_over(score(copied(losing_a_pool(before)), before), after, whole.known)


def test_upgrade_paths_to_the_same_release_end_in_the_same_state() -> None:
    ends: dict[str, list[object]] = {}
    for road in walks():
        world = copied(deployed_by(road[0]))
        for each in road[1:]:
            settled(world, each)
        ends.setdefault(road[-1], []).append(summary(world.state))
    for same in ends.values():
        assert all(each == same[0] for each in same)
