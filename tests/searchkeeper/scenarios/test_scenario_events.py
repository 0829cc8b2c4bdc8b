"""S28, S31, S33: conditions and events name what blocks an upgrade, and report its real end."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from searchkeeper.opensearch.calls import SetAllocation
from searchkeeper.opensearch.view import Allocation, EngineView, Unreachable
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_opensearch import create_index
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    CountingPorts,
    annotate,
    edit_spec,
    new_cluster,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    set_pod_faults,
    status,
)
from tests.support.searchkeeper.operator_scenarios import (
    UnreachableEnginePorts,
    add_pod_fault,
    pod_versions,
    running_cluster,
)

OLD, NEW = "2.19.4", "3.4.0"


def with_short_deadline(**upgrade: object) -> FakeCluster:
    """A converged cluster with a health deadline of one minute."""
    return running_cluster(upgrade={"healthDeadlineSeconds": 60, **upgrade})


def lose_primary(cluster: FakeCluster) -> FakeCluster:
    """The cluster with an index whose only primary is lost."""
    lost = create_index(cluster.state.engine, "lost", replicas=0)
    primary = replace(lost.copies[-1], has_data=True, left_on="nowhere")
    cluster.state = replace(cluster.state, engine=replace(lost, copies=(*lost.copies[:-1], primary)))
    return cluster


def yellow(cluster: FakeCluster) -> FakeCluster:
    cluster.execute(SetAllocation(Allocation.PRIMARIES))
    cluster.state = replace(cluster.state, engine=create_index(cluster.state.engine, "films", replicas=1))
    return cluster


def pause_upgrade(cluster: FakeCluster) -> FakeCluster:
    return edit_spec(cluster, upgrade={"paused": True})


def with_unready_pod(cluster: FakeCluster) -> FakeCluster:
    return add_pod_fault(cluster, "logs-managers-2", PodFault.NEVER_READY)


def with_missing_image(cluster: FakeCluster) -> FakeCluster:
    return set_pod_faults(cluster, v3_4_0=PodFault.IMAGE)


OBSTACLES: dict[str, tuple[Callable[[FakeCluster], FakeCluster], str]] = {
    "spec.upgrade.paused is set": (pause_upgrade, "Running"),
    "a primary is missing": (lose_primary, "Stalled"),
    "the cluster is yellow while cluster.routing.allocation.enable is primaries": (yellow, "Stalled"),
    "logs-managers-2 of pool managers is not ready": (with_unready_pod, "Stalled"),
    "waiting until logs-data-0 (ImagePullBackOff) is ready and has joined": (with_missing_image, "Stalled"),
}


def false_messages(cluster: FakeCluster) -> list[str]:
    """The messages of the conditions that are False."""
    conditions = status(cluster)["conditions"]
    return [condition["message"] for condition in conditions if condition["status"] == "False"]


@pytest.mark.parametrize(("message", "obstacle"), OBSTACLES.items())
def test_condition_names_what_blocks_the_upgrade(
    message: str, obstacle: tuple[Callable[[FakeCluster], FakeCluster], str]
) -> None:
    """S28: the status names the blocker, and the phase is Stalled after the deadline."""
    block, phase = obstacle
    cluster = reconcile_for_ticks(block(edit_spec(with_short_deadline(), version=NEW)), ticks=30)
    assert any(message in text for text in false_messages(cluster)), false_messages(cluster)
    assert status(cluster)["phase"] == phase


def test_condition_names_the_unreachable_engine() -> None:
    """S28: an unreachable engine is a blocker, too."""
    cluster = edit_spec(with_short_deadline(), version=NEW)
    reconcile_for_ticks(cluster, UnreachableEnginePorts(cluster), ticks=30)
    assert any("timed out" in text for text in false_messages(cluster))
    assert status(cluster)["phase"] == "Stalled"


class IntermittentEnginePorts(CountingPorts):
    """Ports to an engine that answers every other tick."""

    def get_state(self) -> EngineView | Unreachable:
        assert isinstance(self.ports, InvariantRecorder)
        return Unreachable("timed out") if self.ports.world.state.now // 10 % 2 else super().get_state()


@pytest.mark.parametrize("policy", ["Automatic", "Off"])
def test_upgrade_stalls_when_the_engine_answers_every_other_time(policy: str) -> None:
    """S28, L5: the reason changes with every reconcile, and nothing else does."""
    # Guard: a change of reason is no progress.
    cluster = edit_spec(with_short_deadline(rollback=policy), version=NEW)
    reconcile_until(
        cluster, lambda cluster: pod_versions(cluster)["data-0"] == NEW and status(cluster)["ready"] == "5/5"
    )
    ports = IntermittentEnginePorts(InvariantRecorder(with_unready_pod(cluster), CLUSTER, release(NEWEST)))
    reconcile_for_ticks(cluster, ports, ticks=60)
    reasons = [event.reason for event in cluster.state.events]
    assert reasons.count("Stalled") <= 2
    assert reasons[:2] == ["UpgradeStarted", "Stalled"]
    assert ("RollbackStarted" in reasons) == (policy == "Automatic")
    assert status(cluster)["phase"] == "Stalled"


def test_condition_is_not_true_until_every_pod_is_upgraded() -> None:
    """S28: each condition that is not True has a reason and a message."""
    cluster = edit_spec(running_cluster(), version=NEW)
    for current in reconcile_steps(cluster):
        if set(pod_versions(current).values()) != {NEW}:
            pending = [each for each in status(current)["conditions"] if each["status"] != "True"]
            assert pending
            assert all(each["reason"] and each["message"] for each in pending)


def test_version_refused_again_after_another_edit_emits_another_warning() -> None:
    """S31: the ledger has the generation of a refused spec."""
    cluster = reconcile_for_ticks(edit_spec(running_cluster(), version="9.0.0"), ticks=5)
    reconcile_for_ticks(edit_spec(cluster, version=OLD), ticks=5)
    reconcile_for_ticks(edit_spec(cluster, version="9.0.0"), ticks=5)
    first, second = cluster.state.events
    assert first == second


CAUSE = "PodsCurrent has been waiting for 60 seconds (WaitingForPods)"
ROLLED_BACK = f"Warning RollbackStarted: {NEW} has failed: rolling back to {OLD}: {CAUSE}"
STARTED = f"Normal UpgradeStarted: upgrade {OLD} → {NEW}; pools in order: data, managers"
FINISHED = f"Normal RollbackFinished: every node runs {OLD}"


def event_lines(cluster: FakeCluster) -> list[str]:
    """Every event, oldest first."""
    return [f"{event.type} {event.reason}: {event.message}" for event in cluster.state.events]


def failing(**upgrade: object) -> FakeCluster:
    """An upgrade to an image that does not exist, after ten minutes; its deadline is one minute."""
    cluster = edit_spec(with_short_deadline(**upgrade), version=NEW)
    return reconcile_for_ticks(set_pod_faults(cluster, v3_4_0=PodFault.IMAGE), ticks=60)


def test_upgrade_that_fails_again_emits_its_events_again() -> None:
    """S31: the ledger entry of an event ends with the failure that the event reports."""
    cluster = failing(rollback="Automatic")
    assert event_lines(cluster) == [STARTED, ROLLED_BACK, FINISHED]
    reconcile_for_ticks(edit_spec(cluster, upgrade={"maxBatch": 2}), ticks=60)
    assert event_lines(cluster) == [STARTED, ROLLED_BACK, FINISHED] * 2
    assert f"{NEW} failed and was rolled back; change the spec to try again" in false_messages(cluster)
    first, second = status(cluster)["upgrade"]["history"]
    assert first["result"] == second["result"] == "RolledBack"
    assert first["finishedAt"] < second["startedAt"]


ADVICE = f"; to roll back, annotate the SearchCluster with search.everpath.dev/rollback={OLD}"


@pytest.mark.parametrize(("policy", "advice"), [("Manual", ADVICE), ("Off", "")])
def test_stalled_upgrade_emits_one_warning(policy: str, advice: str) -> None:
    """S31: the warning names the annotation that requests a rollback."""
    # Guard: emitted events are in the ledger.
    assert event_lines(failing(rollback=policy)) == [
        STARTED,
        (
            "Warning Stalled: PodsCurrent: "
            f"waiting until logs-data-0 (ImagePullBackOff) is ready and has joined{advice}"
        ),
    ]


def test_requested_rollback_is_a_normal_event() -> None:
    cluster = annotate(failing(rollback="Manual"), rollback=OLD)
    reconcile_for_ticks(cluster, ticks=40)
    assert event_lines(cluster)[2:] == [
        (
            f"Normal RollbackStarted: rolling back to {OLD}: "
            "the annotation search.everpath.dev/rollback requests it"
        ),
        FINISHED,
    ]


def test_second_stall_of_an_upgrade_emits_another_warning() -> None:
    """S31: the first stall delays the start of the upgrade, the second one its first pool."""
    cluster = reconcile_for_ticks(lose_primary(edit_spec(with_short_deadline(), version=NEW)), ticks=20)
    healthy = cluster.state.engine.copies[:-1]
    assert len(event_lines(cluster)) == 1
    cluster.state = replace(cluster.state, engine=replace(cluster.state.engine, copies=healthy))
    reconcile_until(cluster, lambda cluster: status(cluster)["upgrade"].get("pool") == "data")
    reconcile_for_ticks(lose_primary(cluster), ticks=20)
    assert [line.partition(":")[0] for line in event_lines(cluster)] == [
        "Warning Stalled",
        "Normal UpgradeStarted",
        "Warning Stalled",
    ]


def test_new_cluster_that_never_becomes_ready_emits_a_warning() -> None:
    cluster = set_pod_faults(new_cluster(upgrade={"healthDeadlineSeconds": 60}), v2_19_4=PodFault.IMAGE)
    reconcile_for_ticks(cluster, ticks=60)
    [line] = event_lines(cluster)
    assert line.startswith("Warning Stalled: ")
    assert "PoolsConverged" in line


class OutdatedNodePorts(CountingPorts):
    """Ports to an engine with a node that reports the old version, whatever the image of its pod."""

    node = "logs-data-1"

    def get_state(self) -> EngineView | Unreachable:
        snapshot = super().get_state()
        if isinstance(snapshot, Unreachable):
            return snapshot
        return replace(
            snapshot,
            nodes=tuple(replace(n, version=OLD) if n.name == self.node else n for n in snapshot.nodes),
        )


@pytest.mark.parametrize("node", ["logs-data-1", "logs-managers-1"])
def test_upgrade_is_not_finished_while_one_node_reports_the_old_version(node: str) -> None:
    """S33, I4: the version that each node reports counts, not the image of its pod."""
    cluster = edit_spec(with_short_deadline(), version=NEW)
    ports = OutdatedNodePorts(InvariantRecorder(cluster, CLUSTER, release(NEWEST)))
    ports.node = node
    reconcile_for_ticks(cluster, ports, ticks=60)
    assert status(cluster)["engineVersion"] == OLD
    assert status(cluster)["phase"] == "Stalled"
    assert not status(cluster)["upgrade"].get("history")
    reconcile_until_converged(cluster)
    assert status(cluster)["engineVersion"] == NEW
    assert [each["result"] for each in status(cluster)["upgrade"]["history"]] == ["Finished"]
