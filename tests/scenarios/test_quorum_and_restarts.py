"""S23, S26, S29: votes, budgets and clusters of two, while nodes go and operators end."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import pytest

from operators_at_work import CLUSTER, CutOff, copied, edited, pool, score, settled, status
from searchkeeper.kubernetes.api import Rejected, Unavailable
from searchkeeper.kubernetes.operations import EngineCall, Key, Manifest, Patch
from searchkeeper.opensearch.view import ShardState
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.controllers import run_until_stable
from searchkeeper.testing.fake_kubernetes.disruption_budgets import evict
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_kubernetes.manifests import get_value, is_terminating, owner_uids, selects
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore
from tales import NEWEST, Telling, at_work, away, broken, pods, running, unfolding, until, versions

OLD, NEW = "2.19.4", "3.4.0"
DATA = pool("data", 2, "data")
MANAGERS = {f"managers-{n}" for n in range(3)}


def has_quorum(world: FakeCluster) -> bool:
    engine = world.state.engine
    return len(engine.voters & engine.names) > len(engine.voters) // 2


@cache
def _moving() -> FakeCluster:
    """One pool of managers is there, and the other one is wanted in its place."""
    old, new = pool("managers", 3, "cluster_manager"), pool("leaders", 3, "cluster_manager")
    world = running(DATA, old)
    settled(edited(world, pools=[DATA, old, new]), NEWEST)
    return edited(world, pools=[DATA, new])


def test_restart_while_votes_move_loses_no_voter() -> None:
    """S23: which votes are on their way is written down before they go."""
    # Guards: settings are noted before they change; whoever leaves has no vote.
    told = [
        at
        for at, step in enumerate(score(copied(_moving()), NEWEST).steps)
        if isinstance(step.write, EngineCall)
    ]
    assert len(told) > 5
    for cut in sorted({*told[::3], *(at + 1 for at in told[::3])}):
        world = copied(_moving())
        with pytest.raises(CutOff):
            settled(world, NEWEST, allowed=cut)
        for _ in range(4):
            world.tick()
        for moment in unfolding(world):
            assert has_quorum(moment)
        assert world.state.engine.voters == {f"logs-leaders-{n}" for n in range(3)}
        assert not world.state.engine.voting_exclusions
        assert not status(world)["ledger"]


def budgets(world: FakeCluster) -> dict[str, int]:
    """How many each budget lets go."""
    found = world.list("policy/v1", "PodDisruptionBudget", CLUSTER.namespace, {})
    return {each["metadata"]["name"]: get_value(each, "status", "disruptionsAllowed") for each in found}


def budgets_over(world: FakeCluster, pod: Manifest) -> list[str]:
    found = world.list("policy/v1", "PodDisruptionBudget", CLUSTER.namespace, {})
    return [each["metadata"]["name"] for each in found if selects(each["spec"]["selector"], pod)]


def key(name: str) -> Key:
    return Key("v1", "Pod", CLUSTER.namespace, f"logs-{name}")


def drained(world: FakeCluster, *names: str) -> FakeCluster:
    """Somebody evicts these pods, one right after the other."""
    cluster = world.state.cluster
    for name in names:
        cluster = evict(cluster, key(name), now=world.state.now)
    world.state = replace(world.state, cluster=cluster)
    return world


@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_budgets_of_a_converged_cluster_allow_one_disruption(replicas: int) -> None:
    """S26: at rest one of each budget may go, also of a pool of one, before an upgrade and after it."""
    world = running(DATA, pool("managers", replicas, "cluster_manager"))
    for version in (OLD, NEW):
        settled(edited(world, version=version), NEWEST)
        world.tick()
        assert budgets(world) == {"logs-data": 1, "logs.voters": 1}


def test_unready_pod_can_be_evicted() -> None:
    """S26: nor does a pool whose only pod is broken block a drain."""
    world = at_work(broken(running(pool("all", 1, "data", "cluster_manager")), "logs-all-0", PodFault.CRASH))
    assert budgets(world) == {"logs.voters": 0}
    assert is_terminating(pods(drained(world, "all-0"))["all-0"])


ZONES = [pool(f"zone-{n}", 1, "cluster_manager") for n in range(3)]
VOTERS = [f"zone-{n}-0" for n in range(3)]


def test_one_budget_covers_the_voters_of_all_pools() -> None:
    """S26: three pools of one manager each do not lose their quorum to who drains three machines."""
    world = drained(running(DATA, *ZONES), "zone-0-0")
    for other in ("zone-1-0", "zone-2-0"):
        with pytest.raises(Unavailable, match=r"logs.voters allows no disruption"):
            drained(world, other)


def watched(world: FakeCluster, version: str = NEWEST) -> Iterator[dict[str, list[str]]]:
    """The budgets over each pod, at every moment until the operator is done."""
    for moment in unfolding(world, version):
        if budgets(moment):
            yield {name: budgets_over(moment, pod) for name, pod in pods(moment).items()}


def managers(world: FakeCluster) -> set[str]:
    nodes = world.state.engine.nodes
    return {node.name.removeprefix("logs-") for node in nodes if "cluster_manager" in node.roles}


ROLES = {
    "a pool gets a vote": [pool("edge", 2, "ingest", "cluster_manager"), ZONES[0]],
    "a pool loses its vote": [pool("edge", 2, "ingest"), pool("zone-0", 1, "ingest"), ZONES[1]],
    "a pool comes": [pool("edge", 2, "ingest"), *ZONES],
    "a pool goes": [ZONES[0]],
}


@pytest.mark.parametrize("pools", ROLES.values(), ids=ROLES)
def test_every_pod_has_a_budget_and_finally_exactly_one(pools: list[dict[str, Any]]) -> None:
    """S26: of two budgets over one pod Kubernetes makes that it is never evicted."""
    world = running(DATA, pool("edge", 2, "ingest"), *ZONES[:2])
    last = None
    for last in watched(edited(world, pools=[DATA, *pools])):
        assert all(last.values()), last
        voters = managers(world)
        assert all("logs.voters" in last[name] for name in voters & last.keys()), last
    assert last is not None
    assert {len(found) for found in last.values()} == {1}
    assert {name for name, found in last.items() if found == ["logs.voters"]} == voters


def test_pod_has_two_budgets_for_one_reconcile_at_most() -> None:
    """S26: the budget that takes a pod over is there first, and the one that had it goes next."""
    world = running(DATA, pool("edge", 1, "ingest"), ZONES[0])
    both = [
        each["edge-0"]
        for each in watched(
            edited(world, pools=[DATA, pool("edge", 1, "ingest", "cluster_manager"), ZONES[0]])
        )
        if len(each.get("edge-0", ())) > 1
    ]
    assert both == [["logs-edge", "logs.voters"]]


def test_orphaned_voters_allow_no_second_eviction() -> None:
    """S26: while one pool of voters is between two StatefulSets, no two of all of them may be evicted."""
    # Guard: voters are counted by the operator before a StatefulSet lets its pods go.
    world = running(DATA, *ZONES, version="0.3.1")
    orphaned = 0
    for moment in unfolding(world, NEWEST):
        cluster = run_until_stable(moment.state.cluster, now=moment.state.now)
        if any(not owner_uids(cluster.objects[key(name)]) for name in VOTERS):
            orphaned += 1
            assert not [pair for pair in combinations(VOTERS, 2) if may_go(cluster, *pair)]
    assert orphaned
    world.tick()
    assert budgets(world) == {"logs-data": 1, "logs.voters": 1}


def test_voters_are_not_orphaned_while_the_budget_patch_is_denied() -> None:
    """S26: whoever may not change a budget leaves the StatefulSets that it counts by."""
    # Guard: a set of voters is let go when its pods are counted.
    world = running(DATA, *ZONES, version="0.3.1")

    class Strict(Telling):
        def patch(self, patch: Patch) -> Manifest:
            if patch.key.name == "logs.voters" and "minAvailable" in patch.changes.get("spec", {}):
                raise Rejected("budgets are somebody else's affair")
            return super().patch(patch)

    ports = Strict(world)
    at_work(world, ports, ticks=60)
    assert "budgets are somebody else's affair" in str(status(world)["conditions"])
    assert [each.name for each in ports.deleted if each.kind == "StatefulSet"] == ["logs-data"]


def may_go(cluster: ObjectStore, *names: str) -> bool:
    try:
        for name in names:
            cluster = evict(cluster, key(name), now=0)
    except Unavailable:
        return False
    return True


def test_no_manager_is_evicted_while_another_is_replaced() -> None:
    """S26: a budget restrains those who drain machines."""
    world = edited(running(), version=NEW)
    until(lambda world: len(away(world, MANAGERS)) == 1, world)
    world.tick()
    for name in sorted(MANAGERS - away(world, MANAGERS)):
        with pytest.raises(Unavailable, match="allows no disruption"):
            evict(world.state.cluster, key(name), now=world.state.now)


def test_no_pod_is_replaced_while_an_evicted_pod_is_missing() -> None:
    """S26: no budget restrains a deletion, so the operator looks for itself, in every pool."""
    # Guard: PodsReady.
    world = edited(running(), version=NEW)
    until(lambda world: status(world)["upgrade"].get("pool") == "data", world)
    until(lambda world: not away(world, {"data-0", "data-1"}), world)
    for moment in unfolding(drained(world, "managers-1")):
        if "managers-1" not in away(moment, MANAGERS):
            break
        assert not away(moment, {"data-0", "data-1", "managers-0", "managers-2"})
    settled(world, NEWEST)
    assert set(versions(world).values()) == {NEW}


@pytest.mark.parametrize("target", ["2.19.5", NEW])
@pytest.mark.parametrize("pools", ["both roles", "apart"])
def test_cluster_of_two_managers_is_upgraded_and_transfers_leadership(target: str, pools: str) -> None:
    """S29: one goes, the other one leads and has every document; then they change places."""
    # Guard: the only vote moves to the other manager before its owner goes.
    both = (pool("all", 2, "data", "cluster_manager"),)
    world = running(*(both if pools == "both roles" else (DATA, pool("managers", 2, "cluster_manager"))))
    leaders = set()
    for moment in unfolding(edited(world, version=target)):
        elected = moment.state.engine.elected
        assert elected is not None
        leaders.add(elected.name)
        assert all(each.state is ShardState.STARTED for each in moment.state.engine.copies if each.is_primary)
    assert len(leaders) == 2
    assert {node.version for node in world.state.engine.nodes} == {target}
    assert not world.state.engine.voting_exclusions
    assert not status(world)["ledger"]
