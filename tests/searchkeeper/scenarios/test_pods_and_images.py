"""S14, S16, S17, S22, S25, S32: pods that do not start cost no other pod and no document."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.images import image_version
from searchkeeper.kubernetes.operations import Delete, Key, Manifest
from searchkeeper.opensearch.view import Color, ShardState
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_kubernetes.manifests import with_value
from searchkeeper.testing.fake_opensearch.membership import elect_manager
from searchkeeper.testing.faults import kill_pod
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    CountingPorts,
    add_index,
    annotate,
    claim_uids,
    condition,
    edit_spec,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    set_pod_faults,
    status,
)
from tests.support.searchkeeper.operator_scenarios import (
    add_pod_fault,
    color,
    pod_versions,
    running_cluster,
    stateful_set,
    unavailable_pods,
)

OLD, BAD, NEW = "2.19.4", "3.3.2", "3.4.0"
FAULTS = (PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING, PodFault.NEVER_READY)
MANAGERS = {f"managers-{n}" for n in range(3)}


def with_short_deadline(**upgrade: Any) -> FakeCluster:
    """A converged cluster with a health deadline of one minute."""
    return running_cluster(upgrade={"healthDeadlineSeconds": 60, **upgrade})


def pod_key(name: str) -> Key:
    return Key("v1", "Pod", CLUSTER.namespace, f"logs-{name}")


def pools_with(count: int) -> list[dict[str, Any]]:
    """A pool of `count` data nodes and one of three managers."""
    return [pool("data", count, "data"), pool("managers", 3, "cluster_manager")]


def with_copies_on(state: FakeClusterState, index: str, node: str) -> FakeClusterState:
    """The state with all copies of an index on one node."""
    copies = (replace(copy, node=node) if copy.index == index else copy for copy in state.engine.copies)
    return replace(state, engine=replace(state.engine, copies=tuple(copies)))


def without_index(state: FakeClusterState, name: str) -> FakeClusterState:
    """The state after the deletion of an index."""
    engine = state.engine
    indices = tuple(index for index in engine.indices if index.name != name)
    copies = tuple(copy for copy in engine.copies if copy.index != name)
    return replace(state, engine=replace(engine, indices=indices, copies=copies))


def with_failed_manager(fault: PodFault, version: str = NEW) -> tuple[FakeCluster, str]:
    """An upgrade whose first manager does not start after the data nodes are done, and its name."""
    cluster = edit_spec(with_short_deadline(), version=version)
    reconcile_until(cluster, lambda cluster: bool(unavailable_pods(cluster, MANAGERS)))
    [name] = unavailable_pods(cluster, MANAGERS)
    return reconcile_for_ticks(add_pod_fault(cluster, f"logs-{name}", fault), ticks=20), name


@pytest.mark.parametrize("fault", [PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING])
def test_no_other_manager_is_replaced_while_one_cannot_join(fault: PodFault) -> None:
    """S14: the cluster keeps its quorum, names the missing pod, and continues when it has joined."""
    cluster, name = with_failed_manager(fault)
    assert unavailable_pods(cluster, MANAGERS) == {name}
    assert cluster.state.engine.elected is not None
    assert status(cluster)["phase"] == "Stalled"
    assert f"waiting until logs-{name} (" in condition(cluster, "PodsCurrent")
    reconcile_until_converged(set_pod_faults(cluster))
    assert set(pod_versions(cluster).values()) == {NEW}


def test_deleting_the_pod_of_a_failed_manager_removes_no_other_manager() -> None:
    """S14: users try this first."""
    cluster, name = with_failed_manager(PodFault.CRASH)
    for _ in range(3):
        cluster.delete(Delete(pod_key(name), "", ""))
        reconcile_for_ticks(cluster, ticks=5)
        assert unavailable_pods(cluster, MANAGERS) == {name}
    reconcile_until_converged(set_pod_faults(cluster))
    assert set(pod_versions(cluster).values()) == {NEW}


def assert_fixed_by(cluster: FakeCluster, name: str, version: str) -> None:
    """Upgrade to a version that fixes the pod: until then no other manager is replaced."""
    for current in reconcile_steps(edit_spec(cluster, version=version)):
        if current.state.faults:
            assert unavailable_pods(current, MANAGERS) == {name}
            assert {pod_versions(current)[each] for each in MANAGERS - {name}} == {OLD}
        if pod_versions(current).get(name) == version:
            set_pod_faults(current)
    assert set(pod_versions(cluster).values()) == {version}
    assert not status(cluster)["ledger"]


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("fault", FAULTS)
def test_failed_manager_is_fixed_by_another_version_after_the_point_of_no_return(fault: PodFault) -> None:
    """S14, S17: the failed manager is replaced first, whatever pool is active."""
    # Guard: a failed pod does not wait for its pool.
    cluster, name = with_failed_manager(fault, BAD)
    assert condition(cluster, "RollbackPossible").startswith("False PointOfNoReturnPassed")
    assert_fixed_by(cluster, name, NEW)


def template_version(cluster: FakeCluster, name: str) -> str:
    """The version in the template of a pool."""
    workload = stateful_set(cluster, name)
    assert workload is not None
    return image_version(workload["spec"]["template"]["spec"]["containers"][0]["image"])


def test_early_replacement_of_a_failed_pod_does_not_upgrade_its_pool() -> None:
    """S14, I3: also when the pod recovers before the first pool has its new template."""
    cluster = running_cluster(
        pool("store", 2, "data"), *pools_with(0)[1:], upgrade={"healthDeadlineSeconds": 60}
    )
    reconcile_until(
        edit_spec(cluster, version=BAD), lambda cluster: bool(unavailable_pods(cluster, MANAGERS))
    )
    [name] = unavailable_pods(cluster, MANAGERS)
    reconcile_for_ticks(add_pod_fault(cluster, f"logs-{name}", PodFault.CRASH), ticks=20)
    reconcile_until(
        edit_spec(cluster, version=NEW), lambda cluster: template_version(cluster, "managers") == NEW
    )
    assert template_version(cluster, "store") == BAD
    for _ in range(3):
        set_pod_faults(cluster).tick()
    for current in reconcile_steps(cluster):
        running_versions = pod_versions(current)
        if {running_versions.get("store-0"), running_versions.get("store-1")} != {NEW}:
            assert NEW not in {running_versions.get(each) for each in MANAGERS}
    assert set(pod_versions(cluster).values()) == {NEW}


@pytest.mark.exhaustive
@pytest.mark.parametrize("fault", [PodFault.PENDING, PodFault.IMAGE])
def test_manager_that_recovers_after_a_change_of_version_is_upgraded(
    fault: PodFault,
) -> None:
    """S14: the manager rejoins with a version that the spec no longer has."""
    cluster, name = with_failed_manager(fault, BAD)
    edit_spec(cluster, version=NEW)
    reconcile_for_ticks(cluster, ticks=1)
    reconcile_until_converged(set_pod_faults(cluster))
    assert set(pod_versions(cluster).values()) == {NEW}
    assert name in MANAGERS


def test_failed_manager_of_a_later_pool_gets_the_new_version_after_the_deadline() -> None:
    """S22: its pool waits for others, which wait for this pod, and a rollback is impossible."""
    cluster = edit_spec(running_cluster(*pools_with(3), upgrade={"healthDeadlineSeconds": 60}), version=NEW)
    reconcile_until(cluster, lambda cluster: pod_versions(cluster).get("data-1") == NEW)
    cluster.delete(Delete(pod_key("managers-1"), "", ""))
    add_pod_fault(cluster, "logs-managers-1", PodFault.IMAGE)
    reconcile_for_ticks(cluster, ticks=5)
    assert pod_versions(cluster)["managers-1"] == OLD
    assert condition(cluster, "RollbackPossible").startswith("False PointOfNoReturnPassed")
    for current in reconcile_steps(cluster):
        running_versions = pod_versions(current)
        if running_versions.get("managers-1") == NEW:
            set_pod_faults(current)
        elif current.state.faults:
            assert {running_versions["managers-0"], running_versions["managers-2"]} == {OLD}
    assert set(pod_versions(cluster).values()) == {NEW}


def test_failed_pod_of_a_later_pool_keeps_its_version_while_rollback_is_possible() -> None:
    """S15, S22: with a new template, evicted pods of the pool would return with the new version."""
    cluster = edit_spec(with_short_deadline(), version=NEW)
    reconcile_until(cluster, lambda cluster: pod_versions(cluster).get("data-0") == NEW)
    cluster.delete(Delete(pod_key("managers-1"), "", ""))
    reconcile_for_ticks(add_pod_fault(cluster, "logs-managers-1", PodFault.IMAGE), ticks=60)
    assert {pod_versions(cluster)[each] for each in MANAGERS} == {OLD}
    assert condition(cluster, "RollbackPossible").startswith("True RollbackAvailable")


@pytest.mark.parametrize("fault", FAULTS)
def test_failing_image_stops_one_pod_and_loses_no_document(fault: PodFault) -> None:
    """S16: a plugin of another version stops the first pod, and no further pod is replaced."""
    cluster = reconcile_for_ticks(
        set_pod_faults(edit_spec(with_short_deadline(), version=NEW), v3_4_0=fault), ticks=40
    )
    assert sorted(pod_versions(cluster).values()) == [OLD] * 4 + [NEW]
    assert status(cluster)["phase"] == "Stalled"
    assert all(each.state is ShardState.STARTED for each in cluster.state.engine.copies if each.is_primary)
    assert condition(cluster, "RollbackPossible").startswith("True RollbackAvailable")


@pytest.mark.parametrize("fault", FAULTS)
def test_revert_undoes_an_upgrade_to_a_failing_image(fault: PodFault) -> None:
    """S16: a revert ends every intermediate state."""
    cluster = reconcile_for_ticks(
        set_pod_faults(edit_spec(with_short_deadline(), version=NEW), v3_4_0=fault), ticks=40
    )
    reconcile_until_converged(edit_spec(cluster, version=OLD))
    assert set(pod_versions(cluster).values()) == {OLD}
    assert not status(cluster)["ledger"]


@pytest.mark.parametrize("fault", [PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING])
def test_failed_pod_is_upgraded_before_all_others(fault: PodFault) -> None:
    """S22: the fix of a failed pod does not wait for that pod, and no other pod is replaced meanwhile."""
    cluster = reconcile_for_ticks(add_pod_fault(with_short_deadline(), "logs-data-1", fault), ticks=5)
    edit_spec(cluster, version=NEW)
    for current in reconcile_steps(cluster):
        if pod_versions(current).get("data-1") == NEW:
            set_pod_faults(current)
        elif current.state.faults:
            assert unavailable_pods(current, {*MANAGERS, "data-0", "data-1"}) == {"data-1"}
    assert set(pod_versions(cluster).values()) == {NEW}


def test_statefulset_rollout_continues_past_a_failed_pod() -> None:
    """S22: Kubernetes replaces pods from the highest ordinal down, and the failed one in its order."""
    cluster = running_cluster(
        *pools_with(2), pool("routers", 3, "coordinating"), upgrade={"healthDeadlineSeconds": 60}
    )
    reconcile_until(
        edit_spec(cluster, version=NEW), lambda cluster: status(cluster)["upgrade"].get("pool") == "routers"
    )
    add_pod_fault(cluster, "logs-routers-0", PodFault.CRASH)
    for current in reconcile_steps(cluster):
        if pod_versions(current).get("routers-0") == NEW:
            set_pod_faults(current)
    assert set(pod_versions(cluster).values()) == {NEW}


def pool_replicas(cluster: FakeCluster, pool: str) -> int:
    """The replicas in the spec of a SearchPool."""
    child = cluster.get(Key(CLUSTER.api, "SearchPool", CLUSTER.namespace, f"logs-{pool}"))
    assert child is not None
    return int(child["spec"]["replicas"])


def test_failed_manager_is_abandoned_only_after_it_lost_its_vote() -> None:
    """S22, I1: the engine would count the vote forever. The vote of an absent node is removed by node ID."""
    cluster = reconcile_for_ticks(
        add_pod_fault(with_short_deadline(), "logs-managers-2", PodFault.PENDING), ticks=5
    )
    assert "logs-managers-2" in cluster.state.engine.voters
    edit_spec(cluster, pools=[pool("data", 2, "data"), pool("managers", 2, "cluster_manager")])
    for current in reconcile_steps(cluster):
        if pool_replicas(current, "managers") < 3:
            assert "logs-managers-2" not in current.state.engine.voters
    assert cluster.state.engine.voters <= cluster.state.engine.names
    assert not cluster.state.engine.voting_exclusions


def test_absent_vote_is_kept_while_a_remaining_manager_has_not_joined() -> None:
    """I1: the engine does not know the name of an absent voter."""
    cluster = running_cluster(pool("data", 2, "data"), pool("managers", 5, "cluster_manager"))
    cluster.state = kill_pod(
        add_pod_fault(cluster, "logs-managers-4", PodFault.PENDING).state, pod_key("managers-4")
    )
    reconcile_for_ticks(cluster, ticks=3)
    engine, absent = cluster.state.engine, {"logs-managers-0", "logs-managers-4"}
    partitioned = replace(engine, nodes=tuple(n for n in engine.nodes if n.name not in absent))
    partitioned = replace(partitioned, voters=frozenset(f"logs-managers-{number}" for number in range(5)))
    cluster.state = replace(cluster.state, engine=elect_manager(partitioned))
    edit_spec(cluster, pools=[pool("data", 2, "data"), pool("managers", 4, "cluster_manager")])
    for _ in range(20):
        reconcile(cluster, cluster, CLUSTER, release(NEWEST), cluster.state.now)
    assert not cluster.state.engine.voting_exclusions
    assert condition(cluster, "ScaleInComplete") == (
        "False WaitingForVote: "
        "the absent vote may be of logs-managers-4 or of logs-managers-0, which has not joined"
    )


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("fault", FAULTS)
def test_upgrade_does_not_start_while_a_pod_of_a_later_pool_is_down(fault: PodFault) -> None:
    """S22: the first pool would wait for the failed pod, and its pool for the first pool."""
    cluster = reconcile_for_ticks(add_pod_fault(with_short_deadline(), "logs-managers-1", fault), ticks=5)
    reconcile_for_ticks(edit_spec(cluster, version=NEW), ticks=40)
    assert condition(cluster, "UpgradeStarted").endswith(
        "an upgrade starts only in a healthy cluster: logs-managers-1 is not ready"
    )
    assert set(pod_versions(cluster).values()) == {OLD}
    assert "upgrade/lock" not in status(cluster)["ledger"]
    reconcile_until_converged(set_pod_faults(cluster))
    assert set(pod_versions(cluster).values()) == {NEW}


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("fault", [PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING])
def test_revert_releases_the_lock_although_an_unrelated_pod_is_down(fault: PodFault) -> None:
    """S22, L4: the failure is unrelated to the upgrade, and later edits are applied."""
    # Guard: unrelated failures release the lock.
    cluster = edit_spec(with_short_deadline(), version=NEW)
    reconcile_until(cluster, lambda cluster: pod_versions(cluster).get("data-0") == NEW)
    reconcile_for_ticks(add_pod_fault(cluster, "logs-managers-2", fault), ticks=20)
    assert status(cluster)["phase"] == "Stalled"
    reconcile_for_ticks(edit_spec(cluster, version=OLD), ticks=60)
    assert set(pod_versions(cluster).values()) == {OLD}
    assert not [key for key in status(cluster)["ledger"] if key.startswith("upgrade")]
    assert status(cluster)["upgrade"]["history"][-1]["result"] == "RolledBack"
    assert unavailable_pods(cluster, MANAGERS) == {"managers-2"}
    reconcile_until_converged(set_pod_faults(cluster))


def with_failed_data_node(count: int = 3, fault: PodFault = PodFault.PENDING) -> FakeCluster:
    """A cluster whose last data node never starts."""
    cluster = running_cluster(*pools_with(count), upgrade={"healthDeadlineSeconds": 60})
    return reconcile_for_ticks(add_pod_fault(cluster, f"logs-data-{count - 1}", fault), ticks=5)


@pytest.mark.parametrize("fault", [PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING])
def test_failed_node_is_removed_before_the_upgrade_starts(fault: PodFault) -> None:
    """S22, L4: one edit removes the failed node and changes the version."""
    cluster = edit_spec(with_failed_data_node(fault=fault), version=NEW, pools=pools_with(2))
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster)) == {*MANAGERS, "data-0", "data-1"}
    assert set(pod_versions(cluster).values()) == {NEW}


@pytest.mark.parametrize("version", [OLD, NEW])
def test_failed_node_can_be_removed_during_an_upgrade(version: str) -> None:
    """S22, L4: in an upgrade and in a rollback; the lock is released at the end."""
    # Guard: abandoned nodes leave the lock.
    cluster = reconcile_for_ticks(edit_spec(with_failed_data_node(), version=NEW), ticks=40)
    assert status(cluster)["phase"] == "Stalled"
    reconcile_until_converged(edit_spec(cluster, version=version, pools=pools_with(2)))
    assert set(pod_versions(cluster)) == {*MANAGERS, "data-0", "data-1"}
    assert set(pod_versions(cluster).values()) == {version}
    assert not status(cluster)["ledger"]


def test_failed_node_can_be_removed_when_a_reverted_upgrade_ends() -> None:
    """S22: the lock loses the node first, and is released in a later reconcile."""
    # Guard: lock released after other ledger changes.
    cluster = add_index(
        running_cluster(*pools_with(3), upgrade={"healthDeadlineSeconds": 60}), "solo", replicas=0
    )
    cluster.state = with_copies_on(cluster.state, "solo", "logs-data-2")
    reconcile_until(edit_spec(cluster, version=NEW), lambda cluster: status(cluster)["phase"] == "Upgrading")
    add_pod_fault(cluster, "logs-data-2", PodFault.CRASH)
    cluster.tick()
    cluster.tick()
    reconcile_for_ticks(edit_spec(cluster, version=OLD, pools=pools_with(2)), ticks=10)
    assert color(cluster) is Color.RED
    cluster.state = without_index(cluster.state, "solo")
    for _ in reconcile_steps(cluster):
        assert "ActionError" not in {each["reason"] for each in status(cluster)["conditions"]}
    assert set(pod_versions(cluster)) == {*MANAGERS, "data-0", "data-1"}
    assert not status(cluster)["ledger"]


def test_ready_node_is_not_removed_during_an_upgrade() -> None:
    """I11: of two nodes to remove, the failed one leaves during the upgrade, the ready one after it."""
    cluster = reconcile_for_ticks(edit_spec(with_failed_data_node(4), version=NEW), ticks=40)
    reconcile_for_ticks(edit_spec(cluster, pools=pools_with(2)), ticks=10)
    workload = stateful_set(cluster, "data")
    assert workload is not None
    assert workload["spec"]["replicas"] == 3
    for current in reconcile_steps(cluster):
        if set(pod_versions(current).values()) != {NEW}:
            assert "data-2" in pod_versions(current)
    assert set(pod_versions(cluster)) == {*MANAGERS, "data-0", "data-1"}


def test_scale_in_precedes_the_upgrade_when_a_node_to_remove_is_down() -> None:
    """S19, S22: the failed node blocks the upgrade, and leaves after the nodes with higher ordinals."""
    cluster = running_cluster(*pools_with(4), upgrade={"healthDeadlineSeconds": 60})
    reconcile_for_ticks(add_pod_fault(cluster, "logs-data-2", PodFault.PENDING), ticks=2)
    cluster.delete(Delete(pod_key("data-2"), "", ""))
    reconcile_for_ticks(cluster, ticks=3)
    reconcile_until_converged(edit_spec(cluster, version=NEW, pools=pools_with(2)))
    assert set(pod_versions(cluster)) == {*MANAGERS, "data-0", "data-1"}
    assert set(pod_versions(cluster).values()) == {NEW}


def test_failed_node_is_not_removed_while_a_primary_is_missing() -> None:
    """S22: the primary may be on the volume of that node."""
    cluster = running_cluster(*pools_with(3), upgrade={"healthDeadlineSeconds": 60})
    add_index(cluster, "lonely", replicas=0)
    [node] = [copy.node for copy in cluster.state.engine.copies if copy.index == "lonely"]
    assert node is not None
    ordinal = int(node.rpartition("-")[2])
    reconcile_for_ticks(add_pod_fault(cluster, node, PodFault.CRASH), ticks=5)
    reconcile_for_ticks(edit_spec(cluster, pools=pools_with(ordinal)), ticks=20)
    assert node.removeprefix("logs-") in pod_versions(cluster)


def lasting_objects(cluster: FakeCluster) -> dict[Key, str]:
    """The UIDs of all objects except pods and their revisions."""
    objects = cluster.state.cluster.objects
    replaced = ("Pod", "ControllerRevision")
    return {key: str(each["metadata"]["uid"]) for key, each in objects.items() if key.kind not in replaced}


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("rollback", ["Automatic", "Manual", "Off"])
@pytest.mark.parametrize("fault", FAULTS)
def test_failed_upgrade_deletes_nothing_but_pods(fault: PodFault, rollback: str) -> None:
    """S25: the cluster, its pools and its volumes stay, and every primary is available."""
    # In a rollback a node that has joined with the newer version needs an empty volume.
    cluster = with_short_deadline(rollback=rollback)
    before = lasting_objects(cluster)
    reconcile_for_ticks(set_pod_faults(edit_spec(cluster, version=NEW), v3_4_0=fault), ticks=60)
    lost = {key.name for key, uid in before.items() if lasting_objects(cluster).get(key) != uid}
    needs_empty_volume = fault is PodFault.NEVER_READY and rollback == "Automatic"
    assert lost == ({"data-logs-data-0"} if needs_empty_volume else set())
    assert all(each.state is ShardState.STARTED for each in cluster.state.engine.copies if each.is_primary)


@pytest.mark.exhaustive
def test_repeated_failures_and_rollbacks_delete_no_volume() -> None:
    """S25: the upgrade fails twice, and each time a user requests the rollback."""
    cluster = with_short_deadline()
    before = claim_uids(cluster)
    for _ in range(2):
        reconcile_for_ticks(set_pod_faults(edit_spec(cluster, version=NEW), v3_4_0=PodFault.CRASH), ticks=40)
        reconcile_for_ticks(annotate(cluster, rollback=OLD), ticks=40)
        reconcile_until_converged(set_pod_faults(edit_spec(cluster, version=OLD)))
    assert claim_uids(cluster) == before
    assert len(cluster.state.engine.nodes) == 5


class MiscountingPorts(CountingPorts):
    """Ports with StatefulSets whose status never counts a pod as updated."""

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        objects = super().list(api, kind, namespace, labels)
        if kind != "StatefulSet":
            return objects
        wrong = {"updatedReplicas": 0, "currentRevision": "logs-a", "updateRevision": "logs-b"}
        return [with_value(each, "status", to={**each.get("status", {}), **wrong}) for each in objects]


def test_upgrade_finishes_with_a_wrong_count_of_updated_replicas() -> None:
    """S32: the template digest on the pod shows whether it is outdated."""
    cluster = edit_spec(running_cluster(), version=NEW)
    ports = MiscountingPorts(InvariantRecorder(cluster, CLUSTER, release(NEWEST)))
    for _ in reconcile_steps(cluster, ports=ports):
        pass
    assert status(cluster)["engineVersion"] == NEW
    assert status(cluster)["phase"] == "Running"


@pytest.mark.exhaustive
def test_converged_cluster_ignores_the_count_of_updated_replicas() -> None:
    """S32: after a rollout by deletes Kubernetes keeps the old revision as the current one."""
    cluster = edit_spec(running_cluster(), version=NEW)
    reconcile_until_converged(cluster)
    workload = stateful_set(cluster, "data")
    assert workload is not None
    assert workload["status"]["currentRevision"] != workload["status"]["updateRevision"]
    ports = MiscountingPorts(InvariantRecorder(cluster, CLUSTER, release(NEWEST)))
    reconcile_for_ticks(cluster, ports, ticks=50)
    assert ports.writes == 0
