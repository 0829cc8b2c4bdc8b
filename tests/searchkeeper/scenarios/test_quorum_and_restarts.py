"""S23, S26, S29: votes, disruption budgets and clusters of two managers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import pytest

from searchkeeper.kubernetes.api import Rejected, Unavailable
from searchkeeper.kubernetes.operations import EngineCall, Key, Manifest, Patch
from searchkeeper.opensearch.view import ShardState
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.controllers import run_until_stable
from searchkeeper.testing.fake_kubernetes.disruption_budgets import evict
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_kubernetes.manifests import get_value, is_terminating, owner_uids, selects
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    WriteLimitReached,
    copy_cluster,
    edit_spec,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    record_run,
    status,
)
from tests.support.searchkeeper.operator_scenarios import (
    RecordingPorts,
    add_pod_fault,
    pod_versions,
    pods,
    running_cluster,
    unavailable_pods,
)

OLD, NEW = "2.19.4", "3.4.0"
DATA = pool("data", 2, "data")
MANAGERS = {f"managers-{n}" for n in range(3)}


def has_quorum(cluster: FakeCluster) -> bool:
    engine = cluster.state.engine
    return len(engine.voters & engine.names) > len(engine.voters) // 2


@cache
def moving_votes() -> FakeCluster:
    """A cluster whose spec replaces one pool of managers with another."""
    old, new = pool("managers", 3, "cluster_manager"), pool("leaders", 3, "cluster_manager")
    cluster = running_cluster(DATA, old)
    reconcile_until_converged(edit_spec(cluster, pools=[DATA, old, new]))
    return edit_spec(cluster, pools=[DATA, new])


@pytest.mark.exhaustive
def test_restart_while_votes_move_loses_no_voter() -> None:
    """S23: the ledger has each vote before it moves."""
    engine_calls = [
        at
        for at, step in enumerate(record_run(copy_cluster(moving_votes())).transitions)
        if isinstance(step.write, EngineCall)
    ]
    assert len(engine_calls) > 5
    for cut in sorted({*engine_calls[::3], *(at + 1 for at in engine_calls[::3])}):
        cluster = copy_cluster(moving_votes())
        with pytest.raises(WriteLimitReached):
            reconcile_until_converged(cluster, max_writes=cut)
        for _ in range(4):
            cluster.tick()
        for current in reconcile_steps(cluster):
            assert has_quorum(current)
        assert cluster.state.engine.voters == {f"logs-leaders-{n}" for n in range(3)}
        assert not cluster.state.engine.voting_exclusions
        assert not status(cluster)["ledger"]


def budgets(cluster: FakeCluster) -> dict[str, int]:
    """The disruptions that each budget allows."""
    items = cluster.list("policy/v1", "PodDisruptionBudget", CLUSTER.namespace, {})
    return {each["metadata"]["name"]: get_value(each, "status", "disruptionsAllowed") for each in items}


def budgets_of(cluster: FakeCluster, pod: Manifest) -> list[str]:
    """The names of the budgets that select a pod."""
    items = cluster.list("policy/v1", "PodDisruptionBudget", CLUSTER.namespace, {})
    return [each["metadata"]["name"] for each in items if selects(each["spec"]["selector"], pod)]


def pod_key(name: str) -> Key:
    return Key("v1", "Pod", CLUSTER.namespace, f"logs-{name}")


def evict_pods(cluster: FakeCluster, *names: str) -> FakeCluster:
    """Evict these pods one after the other, without a tick between them."""
    store = cluster.state.cluster
    for name in names:
        store = evict(store, pod_key(name), now=cluster.state.now)
    cluster.state = replace(cluster.state, cluster=store)
    return cluster


@pytest.mark.parametrize("replicas", [1, 2, 3])
def test_budgets_of_a_converged_cluster_allow_one_disruption(replicas: int) -> None:
    """S26: also for a pool of one, before an upgrade and after it, so that `kubectl drain` can finish."""
    cluster = running_cluster(DATA, pool("managers", replicas, "cluster_manager"))
    for version in (OLD, NEW):
        reconcile_until_converged(edit_spec(cluster, version=version))
        cluster.tick()
        assert budgets(cluster) == {"logs-data": 1, "logs.voters": 1}


def test_unready_pod_can_be_evicted() -> None:
    """S26: a pool whose only pod has failed does not block `kubectl drain`."""
    cluster = reconcile_for_ticks(
        add_pod_fault(
            running_cluster(pool("all", 1, "data", "cluster_manager")), "logs-all-0", PodFault.CRASH
        ),
        ticks=30,
    )
    assert budgets(cluster) == {"logs.voters": 0}
    assert is_terminating(pods(evict_pods(cluster, "all-0"))["all-0"])


ZONES = [pool(f"zone-{n}", 1, "cluster_manager") for n in range(3)]
VOTERS = [f"zone-{n}-0" for n in range(3)]


def test_one_budget_covers_the_voters_of_all_pools() -> None:
    """S26: draining three machines does not cost three pools of one manager each their quorum."""
    cluster = evict_pods(running_cluster(DATA, *ZONES), "zone-0-0")
    for other in ("zone-1-0", "zone-2-0"):
        with pytest.raises(Unavailable, match=r"logs.voters allows no disruption"):
            evict_pods(cluster, other)


def budgets_by_pod(cluster: FakeCluster, version: str = NEWEST) -> Iterator[dict[str, list[str]]]:
    """Yield the budgets of each pod, after every reconcile and tick until the cluster has converged."""
    for current in reconcile_steps(cluster, version):
        if budgets(current):
            yield {name: budgets_of(current, pod) for name, pod in pods(current).items()}


def managers(cluster: FakeCluster) -> set[str]:
    """The short names of the nodes that have the role cluster_manager."""
    nodes = cluster.state.engine.nodes
    return {node.name.removeprefix("logs-") for node in nodes if "cluster_manager" in node.roles}


EDITS = {
    "a pool gets the manager role": [pool("edge", 2, "ingest", "cluster_manager"), ZONES[0]],
    "a pool loses the manager role": [pool("edge", 2, "ingest"), pool("zone-0", 1, "ingest"), ZONES[1]],
    "a pool is added": [pool("edge", 2, "ingest"), *ZONES],
    "a pool is removed": [ZONES[0]],
}


@pytest.mark.parametrize("pools", EDITS.values(), ids=EDITS)
def test_every_pod_has_a_budget_and_finally_exactly_one(pools: list[dict[str, Any]]) -> None:
    """S26: Kubernetes never evicts a pod with two budgets."""
    cluster = running_cluster(DATA, pool("edge", 2, "ingest"), *ZONES[:2])
    names = None
    for names in budgets_by_pod(edit_spec(cluster, pools=[DATA, *pools])):
        assert all(names.values()), names
        voters = managers(cluster)
        assert all("logs.voters" in names[name] for name in voters & names.keys()), names
    assert names is not None
    assert {len(found) for found in names.values()} == {1}
    assert {name for name, found in names.items() if found == ["logs.voters"]} == voters


def test_pod_has_two_budgets_for_one_reconcile_at_most() -> None:
    """S26: the new budget is created first, and the next reconcile deletes the old one."""
    cluster = running_cluster(DATA, pool("edge", 1, "ingest"), ZONES[0])
    both = [
        each["edge-0"]
        for each in budgets_by_pod(
            edit_spec(cluster, pools=[DATA, pool("edge", 1, "ingest", "cluster_manager"), ZONES[0]])
        )
        if len(each.get("edge-0", ())) > 1
    ]
    assert both == [["logs-edge", "logs.voters"]]


@pytest.mark.exhaustive
def test_orphaned_voters_allow_no_second_eviction() -> None:
    """S26: while the pods of one pool have no StatefulSet, no two voters can be evicted."""
    # Guard: voters without a StatefulSet are counted.
    cluster = running_cluster(DATA, *ZONES, version="0.3.1")
    orphaned = 0
    for current in reconcile_steps(cluster, NEWEST):
        store = run_until_stable(current.state.cluster, now=current.state.now)
        if any(not owner_uids(store.objects[pod_key(name)]) for name in VOTERS):
            orphaned += 1
            assert not [pair for pair in combinations(VOTERS, 2) if can_evict(store, *pair)]
    assert orphaned
    cluster.tick()
    assert budgets(cluster) == {"logs-data": 1, "logs.voters": 1}


def test_voters_are_not_orphaned_while_the_budget_patch_is_denied() -> None:
    """S26: the StatefulSets of voters stay while the budget cannot count their pods itself."""
    # Guard: budget before orphaning.
    cluster = running_cluster(DATA, *ZONES, version="0.3.1")

    class BudgetDenyingPorts(RecordingPorts):
        def patch(self, patch: Patch) -> Manifest:
            if patch.key.name == "logs.voters" and "minAvailable" in patch.changes.get("spec", {}):
                raise Rejected("no permission to patch budgets")
            return super().patch(patch)

    ports = BudgetDenyingPorts(cluster)
    reconcile_for_ticks(cluster, ports, ticks=60)
    assert "no permission to patch budgets" in str(status(cluster)["conditions"])
    assert [key.name for key in ports.deleted if key.kind == "StatefulSet"] == ["logs-data"]


def can_evict(cluster: ObjectStore, *names: str) -> bool:
    """Whether all of these pods can be evicted one after the other."""
    try:
        for name in names:
            cluster = evict(cluster, pod_key(name), now=0)
    except Unavailable:
        return False
    return True


def test_no_manager_is_evicted_while_another_is_replaced() -> None:
    """S26: the budget allows no eviction beside the pod that is being replaced."""
    cluster = edit_spec(running_cluster(), version=NEW)
    reconcile_until(cluster, lambda cluster: len(unavailable_pods(cluster, MANAGERS)) == 1)
    cluster.tick()
    for name in sorted(MANAGERS - unavailable_pods(cluster, MANAGERS)):
        with pytest.raises(Unavailable, match="allows no disruption"):
            evict(cluster.state.cluster, pod_key(name), now=cluster.state.now)


def test_no_pod_is_replaced_while_an_evicted_pod_is_missing() -> None:
    """S26: budgets do not restrain deletes, so a gate waits for the missing pods of every pool."""
    # Guard: the gates of a roll.
    cluster = edit_spec(running_cluster(), version=NEW)
    reconcile_until(cluster, lambda cluster: status(cluster)["upgrade"].get("pool") == "data")
    assert not unavailable_pods(cluster, {"data-0", "data-1"})
    for current in reconcile_steps(evict_pods(cluster, "managers-1")):
        if "managers-1" not in unavailable_pods(current, MANAGERS):
            break
        assert not unavailable_pods(current, {"data-0", "data-1", "managers-0", "managers-2"})
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {NEW}


@pytest.mark.parametrize("target", ["2.19.5", NEW])
@pytest.mark.parametrize("pools", ["both roles", "separate pools"])
def test_cluster_of_two_managers_is_upgraded_and_transfers_leadership(target: str, pools: str) -> None:
    """S29: one node leads and has every document while the other is replaced; then the reverse."""
    # Guard: the only vote moves before its owner restarts.
    both = (pool("all", 2, "data", "cluster_manager"),)
    cluster = running_cluster(
        *(both if pools == "both roles" else (DATA, pool("managers", 2, "cluster_manager")))
    )
    leaders = set()
    for current in reconcile_steps(edit_spec(cluster, version=target)):
        elected = current.state.engine.elected
        assert elected is not None
        leaders.add(elected.name)
        assert all(
            each.state is ShardState.STARTED for each in current.state.engine.copies if each.is_primary
        )
    assert len(leaders) == 2
    assert {node.version for node in cluster.state.engine.nodes} == {target}
    assert not cluster.state.engine.voting_exclusions
    assert not status(cluster)["ledger"]
