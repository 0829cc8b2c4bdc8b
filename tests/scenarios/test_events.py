"""S28, S31, S33: what stops an upgrade is said, each time; success is said only of what has succeeded."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from operators_at_work import (
    CLUSTER,
    Ports,
    annotated,
    asked_for,
    edited,
    settled,
    status,
    with_faults,
    worked,
)
from searchkeeper.opensearch.calls import SetAllocation
from searchkeeper.opensearch.view import Allocation, EngineView, Unreachable
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_opensearch import create_index
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tales import NEWEST, Silent, at_work, broken, running, unfolding, until, versions

OLD, NEW = "2.19.4", "3.4.0"


def impatient(**upgrade: object) -> FakeCluster:
    return running(upgrade={"healthDeadlineSeconds": 60, **upgrade})


def red(world: FakeCluster) -> FakeCluster:
    lost = create_index(world.state.engine, "lost", replicas=0)
    primary = replace(lost.copies[-1], has_data=True, left_on="nowhere")
    world.state = replace(world.state, engine=replace(lost, copies=(*lost.copies[:-1], primary)))
    return world


def yellow(world: FakeCluster) -> FakeCluster:
    world.execute(SetAllocation(Allocation.PRIMARIES))
    world.state = replace(world.state, engine=create_index(world.state.engine, "films", replicas=1))
    return world


def paused(world: FakeCluster) -> FakeCluster:
    return edited(world, upgrade={"paused": True})


def with_a_slow_pod(world: FakeCluster) -> FakeCluster:
    return broken(world, "logs-managers-2", PodFault.NEVER_READY)


def with_a_bad_image(world: FakeCluster) -> FakeCluster:
    return with_faults(world, v3_4_0=PodFault.IMAGE)


OBSTACLES: dict[str, tuple[Callable[[FakeCluster], FakeCluster], str]] = {
    "spec.upgrade.paused is set": (paused, "Running"),
    "a primary is missing": (red, "Stalled"),
    "the cluster is yellow while cluster.routing.allocation.enable is primaries": (yellow, "Stalled"),
    "logs-managers-2 of pool managers is not ready": (with_a_slow_pod, "Stalled"),
    "waiting until logs-data-0 (ImagePullBackOff) is ready and has joined": (with_a_bad_image, "Stalled"),
}


def open_ends(world: FakeCluster) -> list[str]:
    """What the conditions that are False say."""
    return [each["message"] for each in status(world)["conditions"] if each["status"] == "False"]


@pytest.mark.parametrize(("words", "obstacle"), OBSTACLES.items())
def test_condition_names_what_blocks_the_upgrade(
    words: str, obstacle: tuple[Callable[[FakeCluster], FakeCluster], str]
) -> None:
    """S28: nobody has to read a log to learn why nothing happens."""
    hinder, phase = obstacle
    world = at_work(hinder(edited(impatient(), version=NEW)), ticks=30)
    assert any(words in each for each in open_ends(world)), open_ends(world)
    assert status(world)["phase"] == phase


def test_condition_names_the_unreachable_engine() -> None:
    """S28: nor where there is nobody to ask."""
    world = edited(impatient(), version=NEW)
    at_work(world, Silent(world), ticks=30)
    assert any("timed out" in each for each in open_ends(world))
    assert status(world)["phase"] == "Stalled"


class Fitful(Ports):
    """Ports behind which the engine answers every other tick."""

    def get_state(self) -> EngineView | Unreachable:
        assert isinstance(self.world, InvariantRecorder)
        return Unreachable("timed out") if self.world.world.state.now // 10 % 2 else super().get_state()


@pytest.mark.parametrize("policy", ["Automatic", "Off"])
def test_upgrade_stalls_when_the_engine_answers_every_other_time(policy: str) -> None:
    """S28, L5: what is said changes with every look, and nothing else does."""
    # Guard: a change of reasons is no progress.
    world = edited(impatient(rollback=policy), version=NEW)
    until(lambda world: versions(world)["data-0"] == NEW and status(world)["ready"] == "5/5", world)
    ports = Fitful(InvariantRecorder(with_a_slow_pod(world), CLUSTER, release(NEWEST)))
    at_work(world, ports, ticks=60)
    told = [each.reason for each in world.state.events]
    assert told.count("Stalled") <= 2
    assert told[:2] == ["UpgradeStarted", "Stalled"]
    assert ("RollbackStarted" in told) == (policy == "Automatic")
    assert status(world)["phase"] == "Stalled"


def test_condition_is_not_true_until_every_pod_is_upgraded() -> None:
    """S28: until every node runs what is wanted, some condition says what is missing."""
    world = edited(running(), version=NEW)
    for moment in unfolding(world):
        if set(versions(moment).values()) != {NEW}:
            said = [each for each in status(moment)["conditions"] if each["status"] != "True"]
            assert said
            assert all(each["reason"] and each["message"] for each in said)


def test_version_refused_again_after_another_edit_emits_another_warning() -> None:
    """S31: word for word the same, and said again."""
    # Guard: a refusal is noted with its generation.
    world = at_work(edited(running(), version="9.0.0"), ticks=5)
    at_work(edited(world, version=OLD), ticks=5)
    at_work(edited(world, version="9.0.0"), ticks=5)
    first, second = world.state.events
    assert first == second


FAILED = "PodsCurrent has been waiting for 60 seconds (WaitingForPods)"
TURNED = f"Warning RollbackStarted: {NEW} has failed: rolling back to {OLD}: {FAILED}"
STARTED = f"Normal UpgradeStarted: upgrade {OLD} → {NEW}; pools in order: data, managers"
ENDED = f"Normal RollbackFinished: every node runs {OLD}"


def told(world: FakeCluster) -> list[str]:
    """Every event, in the order in which they were sent."""
    return [f"{each.type} {each.reason}: {each.message}" for each in world.state.events]


def failing(**upgrade: object) -> FakeCluster:
    """An upgrade that has been waiting for an image that nobody has, for far longer than it may."""
    world = edited(impatient(**upgrade), version=NEW)
    return worked(with_faults(world, v3_4_0=PodFault.IMAGE), NEWEST, ticks=60)


def test_upgrade_that_fails_again_emits_its_events_again() -> None:
    """S31: the second failure is not taken for the first."""
    # Guard: what was told is forgotten when it is over.
    world = failing(rollback="Automatic")
    assert told(world) == [STARTED, TURNED, ENDED]
    worked(edited(world, upgrade={"maxBatch": 2}), NEWEST, ticks=60)
    assert told(world) == [STARTED, TURNED, ENDED] * 2
    assert f"{NEW} failed and was rolled back; change the spec to try again" in open_ends(world)
    first, second = status(world)["upgrade"]["history"]
    assert first["result"] == second["result"] == "RolledBack"
    assert first["finishedAt"] < second["startedAt"]


ADVICE = f"; to roll back, annotate the SearchCluster with search.everpath.dev/rollback={OLD}"


@pytest.mark.parametrize(("policy", "advice"), [("Manual", ADVICE), ("Off", "")])
def test_stalled_upgrade_emits_one_warning(policy: str, advice: str) -> None:
    """S31: and says what can be done about it."""
    # Guard: what was told is noted.
    assert told(failing(rollback=policy)) == [
        STARTED,
        (
            "Warning Stalled: PodsCurrent: "
            f"waiting until logs-data-0 (ImagePullBackOff) is ready and has joined{advice}"
        ),
    ]


def test_requested_rollback_is_a_normal_event() -> None:
    world = annotated(failing(rollback="Manual"), rollback=OLD)
    worked(world, NEWEST)
    assert told(world)[2:] == [
        (
            f"Normal RollbackStarted: rolling back to {OLD}: "
            "the annotation search.everpath.dev/rollback requests it"
        ),
        ENDED,
    ]


def test_second_stall_of_an_upgrade_emits_another_warning() -> None:
    """S31: also of one and the same upgrade."""
    world = worked(red(edited(impatient(), version=NEW)), NEWEST, ticks=20)
    healthy = world.state.engine.copies[:-1]
    assert len(told(world)) == 1
    world.state = replace(world.state, engine=replace(world.state.engine, copies=healthy))
    until(lambda world: status(world)["upgrade"].get("pool") == "data", world)
    worked(red(world), NEWEST, ticks=20)
    told_of = [each.partition(":")[0] for each in told(world)]
    assert told_of == ["Warning Stalled", "Normal UpgradeStarted", "Warning Stalled"]


def test_new_cluster_that_never_becomes_ready_emits_a_warning() -> None:
    world = with_faults(asked_for(upgrade={"healthDeadlineSeconds": 60}), v2_19_4=PodFault.IMAGE)
    worked(world, NEWEST, ticks=60)
    [only] = told(world)
    assert only.startswith("Warning Stalled: ")
    assert "PoolsConverged" in only


class Behind(Ports):
    """Ports to an engine one of whose nodes runs what it ran before, whatever its pod was made from."""

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
    """S33: every node is asked for its own version; what its pod was made from does not count."""
    # Guards: a pod is back when its node says that it runs the new version; a version is told by nodes (I4).
    world = edited(impatient(), version=NEW)
    ports = Behind(InvariantRecorder(world, CLUSTER, release(NEWEST)))
    ports.node = node
    at_work(world, ports, ticks=60)
    assert status(world)["engineVersion"] == OLD
    assert status(world)["phase"] == "Stalled"
    assert not status(world)["upgrade"].get("history")
    settled(world, NEWEST)
    assert status(world)["engineVersion"] == NEW
    assert [each["result"] for each in status(world)["upgrade"]["history"]] == ["Finished"]
