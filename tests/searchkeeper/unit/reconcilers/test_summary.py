"""The conditions Ready, Progressing and Degraded of a SearchCluster and of its SearchPools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.api.messages import MAX_MESSAGE
from searchkeeper.api.status import SummaryType
from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Key, Manifest, Patch
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_opensearch import create_index
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    CountingPorts,
    condition,
    edit_spec,
    new_cluster,
    pool,
    reconcile_for_ticks,
    reconcile_once,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    set_pod_faults,
    status,
)
from tests.support.searchkeeper.operator_scenarios import (
    UnreachableEnginePorts,
    add_pod_fault,
    delete_cluster,
    running_cluster,
)

OLD, NEW = "2.19.4", "3.4.0"
TYPES = [str(name) for name in SummaryType]


def summary(found: Mapping[str, Any]) -> list[str]:
    """`Ready=True ClusterReady` and the two others."""
    conditions = [each for each in found.get("conditions", ()) if each["type"] in TYPES]
    return [f"{each['type']}={each['status']} {each['reason']}" for each in conditions]


def pool_status(cluster: FakeCluster, name: str) -> Mapping[str, Any]:
    found = cluster.get(Key("search.everpath.dev/v1alpha1", "SearchPool", CLUSTER.namespace, f"logs-{name}"))
    assert found is not None
    result: Mapping[str, Any] = found["status"]
    return result


def reasons(cluster: FakeCluster, name: str) -> list[str]:
    """The statuses and reasons that a condition has, one after the other, until the cluster converges."""
    found: list[str] = []
    for current in reconcile_steps(cluster):
        for each in status(current).get("conditions", ()):
            state = f"{each['status']} {each['reason']}"
            if each["type"] == name and found[-1:] != [state]:
                found.append(state)
    return found


def test_converged_cluster_is_ready() -> None:
    cluster = running_cluster()
    assert summary(status(cluster)) == [
        "Ready=True ClusterReady",
        "Progressing=False AsExpected",
        "Degraded=False AsExpected",
    ]
    assert condition(cluster, "Ready") == f"True ClusterReady: 5 of 5 nodes run {OLD}; engine is green"


def test_converged_pool_is_ready() -> None:
    assert summary(pool_status(running_cluster(), "data")) == [
        "Ready=True PoolReady",
        "Progressing=False AsExpected",
        "Degraded=False AsExpected",
    ]


def test_summary_conditions_come_first_with_the_generation() -> None:
    cluster = settle_edit(running_cluster(), dashboards={"enabled": True})
    found = cluster.get(CLUSTER)
    assert found is not None
    first = found["status"]["conditions"][:3]
    assert [each["type"] for each in first] == TYPES
    assert {each["observedGeneration"] for each in first} == {found["metadata"]["generation"]}


def settle_edit(cluster: FakeCluster, **spec: Any) -> FakeCluster:
    reconcile_until_converged(edit_spec(cluster, **spec))
    return cluster


def test_new_cluster_becomes_ready_once() -> None:
    cluster = new_cluster()
    assert reasons(cluster, "Ready") == ["False CreatingCluster", "True ClusterReady"]


def test_new_cluster_progresses_until_it_is_ready() -> None:
    assert reasons(new_cluster(dashboards={"enabled": True}), "Progressing") == [
        "True CreatingCluster",
        "False AsExpected",
    ]


def test_new_cluster_is_never_degraded() -> None:
    assert reasons(new_cluster(), "Degraded") == ["False AsExpected"]


def test_upgrade_is_not_ready_until_every_node_runs_the_target() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    for current in reconcile_steps(cluster):
        if condition(current, "Ready").startswith("True"):
            generation = next(each for each in status(current)["conditions"])["observedGeneration"]
            found = current.get(CLUSTER)
            assert found is not None
            if generation == found["metadata"]["generation"]:
                assert {node.version for node in current.state.engine.nodes} == {NEW}
    assert condition(cluster, "Ready") == f"True ClusterReady: 5 of 5 nodes run {NEW}; engine is green"


def test_upgrade_progresses_to_its_end() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    assert reasons(cluster, "Progressing") == ["True UpgradeInProgress", "False AsExpected"]


def test_ready_names_the_nodes_that_are_replaced() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    reconcile_until(cluster, lambda cluster: "being replaced" in condition(cluster, "Ready"))
    assert condition(cluster, "Ready").startswith(
        f"False UpgradeInProgress: upgrade {OLD} → {NEW}; 0 of 5 nodes done; being replaced: logs-data-0; "
    )


def test_pool_is_not_ready_while_it_is_upgraded() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    reconcile_until(cluster, lambda cluster: "pool" in status(cluster)["upgrade"])
    reconcile_until(
        cluster, lambda cluster: summary(pool_status(cluster, "data"))[0].startswith("Ready=False")
    )
    reconcile_until(
        cluster, lambda cluster: "Progressing=True UpgradeInProgress" in summary(pool_status(cluster, "data"))
    )
    assert summary(pool_status(cluster, "managers"))[0] == "Ready=True PoolReady"


def test_paused_upgrade_progresses_and_says_so() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    reconcile_until(cluster, lambda cluster: status(cluster)["upgrade"].get("pool") == "managers")
    reconcile_for_ticks(edit_spec(cluster, upgrade={"paused": True}), ticks=20)
    assert condition(cluster, "Progressing") == (
        f"True UpgradePaused: upgrade {OLD} → {NEW} is paused by spec.upgrade.paused; 2 of 5 nodes done"
    )
    assert condition(cluster, "Ready").startswith("False UpgradePaused: ")
    assert status(cluster)["phase"] == "Upgrading"


def test_upgrade_that_is_paused_before_its_start_is_no_progress() -> None:
    cluster = reconcile_for_ticks(
        edit_spec(running_cluster(), version=NEW, upgrade={"paused": True}), ticks=10
    )
    assert summary(status(cluster)) == [
        "Ready=False UpgradePaused",
        "Progressing=False AsExpected",
        "Degraded=False AsExpected",
    ]


def test_rollback_is_reported_until_it_ends() -> None:
    cluster = edit_spec(
        running_cluster(upgrade={"rollback": "Automatic", "healthDeadlineSeconds": 60}), version=NEW
    )
    set_pod_faults(cluster, v3_4_0=PodFault.IMAGE)
    reconcile_until(cluster, lambda cluster: status(cluster)["phase"] == "RollingBack")
    assert condition(cluster, "Progressing").startswith(f"True RollbackInProgress: rollback {NEW} → {OLD}; ")
    reconcile_for_ticks(cluster, ticks=60)
    assert summary(status(cluster)) == [
        "Ready=False VersionAbandoned",
        "Progressing=False AsExpected",
        "Degraded=False AsExpected",
    ]


def test_stalled_action_degrades_the_cluster_with_its_reason() -> None:
    cluster = edit_spec(
        running_cluster(upgrade={"healthDeadlineSeconds": 60, "rollback": "Off"}), version=NEW
    )
    reconcile_for_ticks(set_pod_faults(cluster, v3_4_0=PodFault.IMAGE), ticks=30)
    found = next(each for each in status(cluster)["conditions"] if each["type"] == "PodsCurrent")
    assert condition(cluster, "Degraded").startswith(f"True {found['reason']}: waiting until logs-data-0")
    assert condition(cluster, "Progressing").startswith("True UpgradeInProgress")


@pytest.mark.parametrize(("rollback", "is_hinted"), [("Manual", True), ("Off", False)])
def test_stall_of_an_upgrade_says_how_to_roll_back(rollback: str, is_hinted: bool) -> None:
    cluster = edit_spec(
        running_cluster(upgrade={"healthDeadlineSeconds": 60, "rollback": rollback}), version=NEW
    )
    reconcile_for_ticks(set_pod_faults(cluster, v3_4_0=PodFault.IMAGE), ticks=30)
    hint = f"; to roll back, annotate the SearchCluster with search.everpath.dev/rollback={OLD}"
    assert condition(cluster, "Degraded").endswith(hint) is is_hinted


def test_refused_version_degrades_the_cluster() -> None:
    cluster = reconcile_for_ticks(edit_spec(running_cluster(), version="9.0.0"), ticks=5)
    assert summary(status(cluster)) == [
        "Ready=False VersionRefused",
        "Progressing=False AsExpected",
        "Degraded=True VersionRefused",
    ]
    assert "SkipsMajor" in condition(cluster, "Degraded")
    assert condition(cluster, "Ready").endswith("engine is green")


def test_new_cluster_of_a_refused_version_does_not_progress() -> None:
    cluster = reconcile_for_ticks(new_cluster(version="9.0.0"), ticks=5)
    assert summary(status(cluster))[:2] == ["Ready=False VersionRefused", "Progressing=False AsExpected"]


def test_invalid_spec_degrades_the_cluster() -> None:
    cluster = running_cluster()
    cluster.patch(Patch(CLUSTER, {"spec": {"pools": "none"}}, ""))
    reconcile_for_ticks(cluster, ticks=5)
    assert summary(status(cluster)) == [
        "Ready=False InvalidSpec",
        "Progressing=False AsExpected",
        "Degraded=True InvalidSpec",
    ]


def test_unsupported_configuration_degrades_the_cluster() -> None:
    cluster = reconcile_for_ticks(running_cluster(), version="0.3.1", ticks=5)
    assert summary(status(cluster)) == [
        "Ready=False UnsupportedConfiguration",
        "Progressing=False AsExpected",
        "Degraded=True UnsupportedConfiguration",
    ]


def test_deletion_is_progress() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    reconcile_until(cluster, lambda cluster: cluster.state.engine.allocation is not None)
    reconcile_until(delete_cluster(cluster), lambda cluster: status(cluster)["phase"] == "Deleting")
    assert summary(status(cluster)) == [
        "Ready=False Deleting",
        "Progressing=True Deleting",
        "Degraded=False AsExpected",
    ]


def test_unreachable_engine_degrades_a_cluster_that_was_ready() -> None:
    cluster = running_cluster()
    reconcile_for_ticks(cluster, UnreachableEnginePorts(cluster), ticks=5)
    assert summary(status(cluster)) == [
        "Ready=False EngineUnreachable",
        "Progressing=False AsExpected",
        "Degraded=True EngineUnreachable",
    ]
    assert condition(cluster, "Ready").endswith("the engine does not answer: timed out")
    assert status(cluster)["phase"] == "Running"


def test_red_engine_degrades_the_cluster() -> None:
    cluster = running_cluster()
    engine = create_index(cluster.state.engine, "lost", replicas=0)
    lost = replace(engine.copies[-1], has_data=True, left_on="nowhere")
    cluster.state = replace(cluster.state, engine=replace(engine, copies=(*engine.copies[:-1], lost)))
    reconcile_for_ticks(cluster, ticks=5)
    assert summary(status(cluster))[::2] == ["Ready=False EngineRed", "Degraded=True EngineRed"]


def test_pod_that_is_not_ready_is_waited_for_without_progress() -> None:
    cluster = reconcile_for_ticks(
        add_pod_fault(running_cluster(), "logs-data-1", PodFault.NEVER_READY), ticks=5
    )
    assert summary(status(cluster))[:2] == ["Ready=False WaitingForPods", "Progressing=False AsExpected"]
    assert "1 of 5 pods are not ready: logs-data-1" in condition(cluster, "Ready")


class MissingNodePorts(CountingPorts):
    """Ports to an engine that one ready pod has left."""

    def get_state(self) -> EngineView | Unreachable:
        view = super().get_state()
        assert isinstance(view, EngineView)
        return replace(view, nodes=tuple(node for node in view.nodes if node.name != "logs-data-1"))


def test_node_that_has_not_joined_is_named() -> None:
    cluster = running_cluster()
    ports = MissingNodePorts(InvariantRecorder(cluster, CLUSTER, release(NEWEST)))
    reconcile_for_ticks(cluster, ports, ticks=3)
    assert condition(cluster, "Ready").startswith(
        "False NodesNotJoined: 1 of 5 nodes have not joined: logs-data-1; "
    )


class UnstableNodePorts(CountingPorts):
    """Ports to an engine that loses a node with every other reconcile, and counts status writes."""

    reconciles = status_writes = 0

    def get_state(self) -> EngineView | Unreachable:
        view = super().get_state()
        assert isinstance(view, EngineView)
        self.reconciles += 1
        nodes = tuple(node for node in view.nodes if node.name != "logs-data-1")
        return replace(view, nodes=nodes) if self.reconciles % 2 else view

    def patch_status(self, patch: Patch) -> Manifest:
        self.status_writes += 1
        return super().patch_status(patch)


@pytest.mark.exhaustive
def test_flapping_readiness_is_damped() -> None:
    """Ready becomes False only when it was True for as long as `settling`."""
    cluster = running_cluster()
    ports = UnstableNodePorts(InvariantRecorder(cluster, CLUSTER, release(NEWEST)))
    for _ in range(100):
        reconcile_once(ports, cluster, NEWEST, settling=30)
        cluster.tick(5)
    assert 0 < ports.status_writes <= 2 * (100 * 5 // 30 + 1)


def test_scale_in_and_scale_out_progress() -> None:
    managers = pool("managers", 3, "cluster_manager")
    cluster = running_cluster(pool("data", 3, "data"), managers)
    assert reasons(edit_spec(cluster, pools=[pool("data", 2, "data"), managers]), "Progressing") == [
        "True ScalingIn",
        "True ApplyingChanges",
        "False AsExpected",
    ]
    found = reasons(edit_spec(cluster, pools=[pool("data", 4, "data"), managers]), "Progressing")
    assert found == ["True ApplyingChanges", "False AsExpected"]
    assert condition(cluster, "Ready").startswith("True ClusterReady: 7 of 7 nodes")


class ServiceDenyingPorts(CountingPorts):
    """Ports behind which no Service may be created."""

    def create(self, manifest: Manifest) -> Manifest:
        if manifest["kind"] == "Service":
            raise Rejected("exceeded quota: small")
        return super().create(manifest)


def test_denied_operation_degrades_the_cluster() -> None:
    cluster = new_cluster()
    ports = ServiceDenyingPorts(InvariantRecorder(cluster, CLUSTER, release(NEWEST)))
    reconcile_for_ticks(cluster, ports, ticks=10)
    found = next(each for each in status(cluster)["conditions"] if each["type"] == "ClientServiceApplied")
    assert condition(cluster, "Degraded").startswith(f"True {found['reason']}: cannot create Service")


def test_messages_are_bounded() -> None:
    cluster = add_pod_fault(
        new_cluster(pool("managers", 3, "cluster_manager"), pool("data", 40, "data")), "", PodFault.IMAGE
    )
    set_pod_faults(cluster, v2_19_4=PodFault.IMAGE)
    reconcile_for_ticks(cluster, ticks=10)
    for each in status(cluster)["conditions"][:3]:
        assert len(each["message"]) <= MAX_MESSAGE


def test_transition_time_changes_only_with_the_status() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    before: dict[str, Any] = {}
    for current in reconcile_steps(cluster):
        for each in status(current)["conditions"][:3]:
            last = before.get(each["type"])
            if last is not None and last["status"] == each["status"]:
                assert last["lastTransitionTime"] == each["lastTransitionTime"]
            before[each["type"]] = each


def test_message_alone_is_no_reason_for_a_write() -> None:
    """A count in a message changes with the next write."""
    cluster = running_cluster()
    conditions = [
        {**each, "message": "an earlier count"} if each["type"] in TYPES else each
        for each in status(cluster)["conditions"]
    ]
    cluster.patch_status(Patch(CLUSTER, {"status": {"conditions": conditions}}, ""))
    assert reconcile_until_converged(cluster) == 0
    assert condition(cluster, "Ready") == "True ClusterReady: an earlier count"


@pytest.mark.parametrize("kind", ["ready", "lost"])
def test_lost_summary_is_written_again(kind: str) -> None:
    cluster = running_cluster()
    kept = [each for each in status(cluster)["conditions"] if kind == "ready" and each["type"] == "Ready"]
    actions = [each for each in status(cluster)["conditions"] if each["type"] not in TYPES]
    cluster.patch_status(Patch(CLUSTER, {"status": {"conditions": [*kept, *actions]}}, ""))
    reconcile_until_converged(cluster)
    assert summary(status(cluster))[0] == "Ready=True ClusterReady"
