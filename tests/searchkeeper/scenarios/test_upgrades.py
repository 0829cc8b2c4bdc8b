"""Engine upgrades: order of pools, spec lock, pauses, changes of the target, batches."""

from __future__ import annotations

from itertools import islice, pairwise
from typing import Any

import pytest

from searchkeeper.kubernetes.operations import Delete, EventType, Key, Patch
from searchkeeper.opensearch.view import Allocation
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.faults import kill_pod
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    add_index,
    condition,
    edit_spec,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import (
    UnreachableEnginePorts,
    pod_templates,
    pod_versions,
    pods,
    running_cluster,
    stateful_set,
    unavailable_pods,
)

POOLS = (
    pool("managers", 3, "cluster_manager"),
    pool("routers", 2, "coordinating"),
    pool("both", 3, "data", "cluster_manager"),
    pool("data", 2, "data"),
)


def upgraded_pods(cluster: FakeCluster, target: str) -> list[str]:
    """Return the pods in the order in which they first run the target."""
    names: list[str] = []
    for current in reconcile_steps(cluster):
        names += [
            name for name, each in pod_versions(current).items() if each == target and name not in names
        ]
    return names


def pools_of(names: list[str]) -> list[str]:
    return list(dict.fromkeys(name.rpartition("-")[0] for name in names))


@pytest.mark.exhaustive
def test_minor_upgrade_order_is_data_then_voting_data_then_others_then_managers() -> None:
    cluster = edit_spec(running_cluster(*POOLS, engine="2.19.0"), version="2.19.4")
    assert pools_of(upgraded_pods(cluster, "2.19.4")) == ["data", "both", "routers", "managers"]


def test_no_pool_gets_a_target_that_is_being_replaced() -> None:
    """I5: operations of the reconcile that changes the target are for the old target."""
    cluster = edit_spec(running_cluster(), version="3.2.0")
    reconcile_until(cluster, lambda cluster: "upgrade" in status(cluster)["ledger"])
    reconcile_until_converged(edit_spec(cluster, version="3.4.0"))
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


@pytest.mark.exhaustive
def test_major_upgrade_replaces_voters_last() -> None:
    """A node of the old major cannot join a cluster whose managers all run the new one."""
    cluster = edit_spec(running_cluster(*POOLS), version="3.4.0")
    assert pools_of(upgraded_pods(cluster, "3.4.0")) == ["data", "routers", "both", "managers"]


def test_elected_manager_is_upgraded_last() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    elected = cluster.state.engine.elected
    assert elected is not None
    assert f"logs-{upgraded_pods(cluster, '3.4.0')[-1]}" == elected.name


@pytest.mark.exhaustive
def test_pools_are_upgraded_one_after_the_other() -> None:
    order = [
        name.rpartition("-")[0]
        for name in upgraded_pods(edit_spec(running_cluster(*POOLS), version="3.4.0"), "3.4.0")
    ]
    assert order == sorted(order, key=pools_of([f"{each}-0" for each in order]).index)


@pytest.mark.parametrize("turn", ["data", "managers"])
def test_evicted_pod_of_a_later_pool_keeps_its_version(turn: str) -> None:
    """S15: no pod runs the new version before the turn of its pool."""
    cluster = edit_spec(running_cluster(*POOLS[:1], POOLS[3], POOLS[1]), version="3.4.0")
    reconcile_until(cluster, lambda cluster: status(cluster)["upgrade"].get("pool") == "data")
    later = "managers-1" if turn == "data" else "routers-1"
    cluster.delete(Delete(Key("v1", "Pod", "search", f"logs-{later}"), "", ""))
    cluster.tick()
    cluster.tick()
    cluster.tick()
    assert pod_versions(cluster)[later] == "2.19.4"
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def upgrading(**spec: Any) -> FakeCluster:
    """Return a cluster in an upgrade whose data nodes are done."""
    cluster = edit_spec(running_cluster(**spec), version="3.4.0")
    return reconcile_until(cluster, lambda cluster: status(cluster)["upgrade"].get("pool") == "managers")


EDITS: dict[str, dict[str, Any]] = {
    "more nodes": {"pools": [pool("data", 3, "data"), pool("managers", 3, "cluster_manager")]},
    "fewer nodes": {"pools": [pool("data", 2, "data"), pool("managers", 1, "cluster_manager")]},
    "another pool": {
        "pools": [
            pool("data", 2, "data"),
            pool("managers", 3, "cluster_manager"),
            pool("routers", 1, "coordinating"),
        ]
    },
    "other roles": {"pools": [pool("data", 2, "data", "ingest"), pool("managers", 3, "cluster_manager")]},
    "dashboards": {"dashboards": {"enabled": True}},
}


def deployed_objects(cluster: FakeCluster) -> tuple[dict[str, Any], set[str]]:
    sizes = {
        key.name: each["spec"].get("replicas")
        for key, each in cluster.state.cluster.objects.items()
        if key.kind in ("StatefulSet", "SearchPool", "Deployment")
    }
    roles = {str(each["spec"]["containers"][0]["env"]) for each in pod_templates(cluster).values()}
    return sizes, roles


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_other_edits_are_applied_after_the_upgrade(edit: dict[str, Any]) -> None:
    """I11: no edit changes the workload during the upgrade, and none is lost."""
    cluster = upgrading()
    before = deployed_objects(cluster)
    edit_spec(cluster, **edit)
    for current in reconcile_steps(cluster):
        if "upgrade/lock" in status(current)["ledger"]:
            assert deployed_objects(current) == before
    assert deployed_objects(cluster) != before
    assert status(cluster)["engineVersion"] == "3.4.0"
    assert status(cluster)["phase"] == "Running"


def test_pause_takes_effect_during_an_upgrade() -> None:
    """The spec lock does not contain the upgrade policy."""
    cluster = edit_spec(upgrading(), upgrade={"paused": True})
    before = pod_versions(cluster)
    reconcile_for_ticks(cluster, ticks=40)
    assert pod_versions(cluster) == before
    assert condition(cluster, "PoolsConverged") == "False UpgradePaused: spec.upgrade.paused is set"
    assert status(cluster)["phase"] == "Upgrading"
    reconcile_until_converged(edit_spec(cluster, upgrade={"paused": False}))
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def test_paused_upgrade_does_not_start() -> None:
    # Guard: a pause comes before the first step.
    cluster = edit_spec(
        running_cluster(), version="3.4.0", upgrade={"paused": True, "healthDeadlineSeconds": 60}
    )
    reconcile_for_ticks(cluster, ticks=20)
    assert condition(cluster, "UpgradeStarted") == "False UpgradePaused: spec.upgrade.paused is set"
    assert not any(line.startswith("upgrade") for line in status(cluster)["ledger"])
    reconcile_until_converged(edit_spec(cluster, upgrade={"paused": False}))
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


@pytest.mark.exhaustive
def test_evicted_pod_keeps_its_version_while_paused() -> None:
    # Guard: a pause keeps templates as they are.
    cluster = edit_spec(running_cluster(upgrade={"healthDeadlineSeconds": 60}), version="3.4.0")
    data, managers = {"data-0", "data-1"}, {"managers-0", "managers-1", "managers-2"}
    reconcile_until(cluster, lambda cluster: {pod_versions(cluster)[name] for name in data} == {"3.4.0"})
    edit_spec(cluster, upgrade={"paused": True})
    reconcile_for_ticks(cluster, ticks=20)
    for name in managers:
        cluster.state = kill_pod(cluster.state, Key("v1", "Pod", "search", f"logs-{name}"))
        reconcile_for_ticks(cluster, ticks=10)
    assert {pod_versions(cluster)[name] for name in managers} == {"2.19.4"}
    assert status(cluster)["phase"] == "Upgrading"
    reconcile_until_converged(edit_spec(cluster, upgrade={"paused": False}))
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def test_pause_does_not_stop_a_migration_without_restarts() -> None:
    """The deployed configuration is migrated where no pod restarts for it."""
    cluster = running_cluster(version="0.2.2", engine="2.17.0", upgrade={"paused": True})
    before = {name: each["metadata"]["uid"] for name, each in pods(cluster).items()}
    reconcile_until_converged(cluster, "0.3.1")
    assert {name: each["metadata"]["uid"] for name, each in pods(cluster).items()} == before
    assert status(cluster)["currentVersion"] == 3


def test_pause_restores_engine_settings() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    reconcile_until(cluster, lambda cluster: cluster.state.engine.allocation is not None)
    reconcile_for_ticks(edit_spec(cluster, upgrade={"paused": True}), ticks=10)
    assert cluster.state.engine.allocation is None


def test_replica_allocation_is_disabled_while_a_node_restarts() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    replaced = set()
    for current in reconcile_steps(cluster):
        for name in unavailable_pods(current, {"data-0", "data-1"}):
            replaced.add(name)
            assert current.state.engine.allocation is Allocation.PRIMARIES
    assert replaced == {"data-0", "data-1"}


def test_upgrade_does_not_finish_while_the_engine_is_unreachable() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    reconcile_until(cluster, lambda cluster: status(cluster)["engineVersion"] == "3.4.0")
    assert "upgrade" in status(cluster)["ledger"]
    reconcile_for_ticks(cluster, UnreachableEnginePorts(cluster), ticks=10)
    assert "upgrade" in status(cluster)["ledger"]
    reconcile_until_converged(cluster)
    assert "upgrade" not in status(cluster)["ledger"]


def test_pause_lets_a_started_replacement_finish() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    reconcile_until(cluster, lambda cluster: bool(unavailable_pods(cluster, {"data-0", "data-1"})))
    reconcile_for_ticks(edit_spec(cluster, upgrade={"paused": True}), ticks=20)
    assert not unavailable_pods(cluster, {"data-0", "data-1"})
    assert sorted(pod_versions(cluster).values()) == ["2.19.4"] * 4 + ["3.4.0"]


def test_new_target_waits_until_the_first_is_reached() -> None:
    cluster = edit_spec(running_cluster(engine="2.19.0"), version="2.19.4")
    reconcile_until(cluster, lambda cluster: status(cluster)["upgrade"].get("pool") == "managers")
    edit_spec(cluster, version="3.4.0")
    for current in reconcile_steps(cluster):
        if status(current)["engineVersion"] == "2.19.0":
            assert "3.4.0" not in pod_versions(current).values()
    history = [(each["from"], each["target"]) for each in status(cluster)["upgrade"]["history"]]
    assert history == [("2.19.0", "2.19.4"), ("2.19.4", "3.4.0")]


def test_refused_target_during_an_upgrade_does_not_hold_the_lock() -> None:
    """L4: the upgrade finishes, and the version is refused with one event."""
    cluster = edit_spec(upgrading(), version="nonsense")
    reconcile_for_ticks(cluster, ticks=60)
    assert status(cluster)["engineVersion"] == "3.4.0"
    assert "upgrade/lock" not in status(cluster)["ledger"]
    assert [each.reason for each in cluster.state.events if each.type is EventType.WARNING] == [
        "VersionRefused"
    ]
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


@pytest.mark.exhaustive
def test_target_changed_at_the_end_of_an_upgrade_is_reached() -> None:
    """One reconcile does not both remove and write a ledger key."""
    cluster = edit_spec(running_cluster(engine="2.19.0"), version="2.19.4")
    reconcile_until(cluster, lambda cluster: status(cluster)["engineVersion"] == "2.19.4")
    ledger = {"wait/EngineHealthy": '["EngineRed",0]'}
    cluster.patch_status(Patch(CLUSTER, {"status": {"ledger": ledger}}, ""))
    reconcile_until_converged(edit_spec(cluster, version="3.4.0"))
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def test_version_reachable_only_from_the_target_is_accepted_after_it() -> None:
    cluster = edit_spec(running_cluster(engine="2.19.0"), version="2.19.4")
    reconcile_until(cluster, lambda cluster: status(cluster)["upgrade"].get("pool") == "managers")
    reconcile_until_converged(edit_spec(cluster, version="3.4.0"))
    assert status(cluster)["engineVersion"] == "3.4.0"


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("steps", [1, 4, 7, 10])
def test_order_of_a_major_upgrade_uses_deployed_roles(steps: int) -> None:
    """I3: nodes that get the manager role with this edit have no vote yet, and do not go last."""
    both = pool("both", 3, "data", "cluster_manager")
    cluster = running_cluster(both, pool("routers", 2, "coordinating"))
    edit_spec(cluster, pools=[both, pool("routers", 2, "coordinating", "cluster_manager")])
    next(islice(reconcile_steps(cluster), steps, None))
    reconcile_until_converged(edit_spec(cluster, version="3.4.0"))
    assert set(pod_versions(cluster).values()) == {"3.4.0"}


def test_upgrade_does_not_start_while_a_pod_is_not_ready() -> None:
    cluster = running_cluster()
    cluster.delete(Delete(Key("v1", "Pod", "search", "logs-data-1"), "", ""))
    edit_spec(cluster, version="3.4.0")
    for current in reconcile_steps(cluster):
        if "upgrade" not in status(current)["ledger"]:
            continue
        assert not unavailable_pods(current, {"data-0", "data-1", "managers-0", "managers-1", "managers-2"})
        break


def eight_data_nodes(**policy: Any) -> FakeCluster:
    """Return a cluster of eight data nodes, two of which share a shard, at the start of an upgrade."""
    cluster = running_cluster(pool("data", 8, "data"), pool("managers", 3, "cluster_manager"), upgrade=policy)
    return edit_spec(cluster, version="3.4.0")


def batches(cluster: FakeCluster, prefix: str) -> list[int]:
    """Return the largest number of pods of each batch that were not ready together."""
    names = {name for name in pods(cluster) if name.startswith(prefix)}
    sizes, largest = [], 0
    for current in reconcile_steps(cluster):
        unready = len(unavailable_pods(current, names))
        if not unready and largest:
            sizes.append(largest)
            largest = 0
        largest = max(largest, unready)
    return sizes


def test_batches_of_data_nodes_double_up_to_max_batch() -> None:
    """I12: 1, 2, 4."""
    assert batches(eight_data_nodes(maxBatch=4), "data") == [1, 2, 4, 1]


@pytest.mark.exhaustive
def test_batches_do_not_exceed_max_batch() -> None:
    assert max(batches(eight_data_nodes(maxBatch=2), "data")) == 2


@pytest.mark.exhaustive
def test_default_batch_is_one_pod() -> None:
    assert set(batches(eight_data_nodes(), "data")) == {1}


def test_voters_are_replaced_one_at_a_time() -> None:
    assert batches(eight_data_nodes(maxBatch=4), "managers") == [1, 1, 1]


def test_nodes_that_share_a_shard_are_in_different_batches() -> None:
    cluster = eight_data_nodes(maxBatch=8)
    for n in range(4):
        add_index(cluster, f"more{n}")
    for current in reconcile_steps(cluster):
        unready = {f"logs-{each}" for each in unavailable_pods(current, {f"data-{n}" for n in range(8)})}
        shards = [
            copy.id for copy in current.state.engine.copies if copy.node is None or copy.node in unready
        ]
        assert len(shards) == len(set(shards))


def test_batch_size_survives_a_restart_of_the_operator() -> None:
    cluster = eight_data_nodes(maxBatch=4)
    reconcile_until(cluster, lambda cluster: status(cluster)["ledger"].get("roll/size") == '["data",2]')
    assert batches(cluster, "data") == [2, 4, 1]


def test_next_pool_starts_with_a_batch_of_one() -> None:
    cluster = running_cluster(
        pool("hot", 4, "data"),
        pool("cold", 4, "data"),
        pool("managers", 1, "cluster_manager"),
        upgrade={"maxBatch": 4},
    )
    assert batches(edit_spec(cluster, version="3.4.0"), "cold")[0] == 1


def test_finished_rollout_leaves_the_ledger_empty() -> None:
    cluster = eight_data_nodes(maxBatch=4)
    reconcile_until_converged(cluster)
    assert not status(cluster)["ledger"]


def test_template_of_a_later_pool_is_unchanged_before_its_turn() -> None:
    cluster = edit_spec(running_cluster(), version="3.4.0")
    managers = stateful_set(cluster, "managers")
    assert managers is not None
    before = managers["spec"]["template"]
    for current in reconcile_steps(cluster):
        if status(current)["upgrade"].get("pool") == "data":
            later = stateful_set(current, "managers")
            assert later is not None
            assert later["spec"]["template"] == before


def with_routers(routers: int = 7, **policy: Any) -> FakeCluster:
    """Return a cluster with a pool that its StatefulSet replaces: it has no votes and no data."""
    others = (pool("data", 2, "data"), pool("managers", 3, "cluster_manager"))
    return running_cluster(*others, pool("routers", routers, "coordinating"), upgrade=policy)


def partition_steps(cluster: FakeCluster) -> list[int]:
    """Return by how many pods each patch lowers the partition of the pool."""
    partitions: list[int] = []
    for current in reconcile_steps(cluster):
        spec = (stateful_set(current, "routers") or {})["spec"]
        partition = spec["updateStrategy"]["rollingUpdate"]["partition"]
        image = spec["template"]["spec"]["containers"][0]["image"]
        if image.endswith(":3.4.0") and [partition] != partitions[-1:]:
            partitions.append(partition)
    return [before - after for before, after in pairwise(partitions)]


@pytest.mark.exhaustive
def test_statefulset_batches_double_up_to_max_batch() -> None:
    assert partition_steps(edit_spec(with_routers(maxBatch=4), version="3.4.0")) == [1, 2, 4]


@pytest.mark.exhaustive
def test_default_statefulset_batch_is_one_pod() -> None:
    assert partition_steps(edit_spec(with_routers(), version="3.4.0")) == [1] * 7


@pytest.mark.exhaustive
def test_statefulset_replaces_no_pod_before_the_gates_open() -> None:
    """Every batch of a StatefulSet passes the gates first; here a pause closes one."""
    cluster = edit_spec(with_routers(3), version="3.4.0")
    reconcile_until(cluster, lambda cluster: "3.4.0" in str(pod_templates(cluster)["logs-routers"]))
    reconcile_for_ticks(edit_spec(cluster, upgrade={"paused": True}), ticks=30)
    assert {pod_versions(cluster)[f"routers-{n}"] for n in range(3)} == {"2.19.4"}
    reconcile_until_converged(edit_spec(cluster, upgrade={"paused": False}))
    assert set(pod_versions(cluster).values()) == {"3.4.0"}
    assert not status(cluster)["ledger"]
