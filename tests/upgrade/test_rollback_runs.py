"""Runs of upgrades that fail, or that the user rolls back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import Any

import pytest

from operators_at_work import (
    CLUSTER,
    SMALL,
    annotated,
    asked_for,
    claims,
    condition,
    copied,
    edited,
    pool,
    running,
    score,
    settled,
    status,
    summary,
    told,
    with_faults,
    with_index,
    worked,
    worked_until,
)
from searchkeeper.images import Images, repository_of
from searchkeeper.kubernetes.operations import Delete
from searchkeeper.opensearch.view import Index
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from searchkeeper.upgrade.rollback import ROLLBACK_ANNOTATION
from tales import pods, unfolding

RELEASE = "0.5.0"
OLD, NEW = "2.19.4", "3.4.0"
THREE = (pool("data", 3, "data"), pool("managers", 3, "cluster_manager"))
APART = (pool("hot", 1, "data"), pool("warm", 1, "data"), pool("managers", 3, "cluster_manager"))


@cache
def _deployed(rollback: str, names: tuple[str, ...]) -> FakeCluster:
    pools = {"small": SMALL, "three": THREE, "apart": APART}[names[0]]
    world = asked_for(*pools, upgrade={"rollback": rollback, "healthDeadlineSeconds": 60})
    settled(world, RELEASE)
    with_index(world)
    settled(world, RELEASE)
    return world


def deployed(rollback: str = "Manual", pools: str = "small") -> FakeCluster:
    """Return a cluster with an index and a health deadline of a minute."""
    return copied(_deployed(rollback, (pools,)))


def upgrading(world: FakeCluster, **faults: PodFault) -> FakeCluster:
    return with_faults(edited(world, version=NEW), **faults)


def elect(world: FakeCluster, name: str) -> FakeCluster:
    """Elect this node, as after a short loss of connection of the elected one."""
    engine = world.state.engine
    nodes = tuple(replace(node, is_elected=node.name == name) for node in engine.nodes)
    world.state = replace(world.state, engine=replace(engine, nodes=nodes))
    return world


def elected_nodes(world: FakeCluster) -> list[str]:
    """Return the elected nodes of a run, in order."""
    elected = (current.state.engine.elected for current in unfolding(world, RELEASE))
    return [name for name, _ in groupby(node.name for node in elected if node is not None)]


def has_newer_node(world: FakeCluster) -> bool:
    return NEW in running(world).values()


def with_newer_index(world: FakeCluster) -> FakeCluster:
    """Create an index while a newer node is elected."""
    engine = world.state.engine
    newer = replace(engine, indices=(*engine.indices, Index("maps", 1, NEW)))
    world.state = replace(world.state, engine=newer)
    return world


def writes_in_an_hour(world: FakeCluster) -> int:
    """Return the number of writes in an hour without a change."""
    writes = 0
    for _ in range(360):
        writes += reconcile(world, world, CLUSTER, release(RELEASE), world.state.now).wrote
        world.tick()
    return writes


@pytest.mark.parametrize("fault", [PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING, PodFault.NEVER_READY])
def test_failed_upgrade_is_rolled_back_if_the_policy_is_automatic(fault: PodFault) -> None:
    world = deployed("Automatic")
    before = summary(world.state)
    worked(upgrading(world, v3_4_0=fault), RELEASE)
    assert summary(world.state) == before
    assert set(running(world).values()) == {OLD}
    assert status(world)["engineVersion"] == OLD
    assert "upgrade" not in status(world)["ledger"]
    assert "upgrade/lock" not in status(world)["ledger"]


def test_abandoned_version_is_not_tried_again() -> None:
    world = worked(upgrading(deployed("Automatic"), v3_4_0=PodFault.CRASH), RELEASE)
    assert condition(world, "UpgradeStarted") == (
        "False VersionAbandoned: 3.4.0 failed and was rolled back; change the spec to try again"
    )
    assert writes_in_an_hour(with_faults(world)) == 0


def test_abandoned_version_is_tried_again_after_a_change_of_the_spec() -> None:
    world = worked(upgrading(deployed("Automatic"), v3_4_0=PodFault.CRASH), RELEASE)
    settled(edited(with_faults(world), upgrade={"maxBatch": 2}), RELEASE)
    assert set(running(world).values()) == {NEW}
    assert not status(world)["ledger"]


def test_failed_upgrade_waits_for_a_rollback_request_and_names_it() -> None:
    world = worked(upgrading(deployed("Manual"), v3_4_0=PodFault.CRASH), RELEASE)
    assert status(world)["phase"] == "Stalled"
    assert condition(world, "RollbackPossible") == (
        "True RollbackAvailable: possible to 2.19.4 until logs-data-1 is replaced: "
        "then books[0] has no copy on a node of the older version; "
        "to roll back, annotate the SearchCluster with search.everpath.dev/rollback=2.19.4"
    )
    assert writes_in_an_hour(world) == 0


def test_rollback_request_is_followed_and_removed() -> None:
    world = worked(upgrading(deployed("Manual"), v3_4_0=PodFault.CRASH), RELEASE)
    worked(annotated(world, rollback=OLD), RELEASE)
    assert set(running(world).values()) == {OLD}
    manifest = world.get(CLUSTER)
    assert manifest is not None
    assert ROLLBACK_ANNOTATION not in manifest["metadata"]["annotations"]


def test_old_rollback_request_does_not_roll_back_the_next_upgrade() -> None:
    world = annotated(deployed("Manual"), rollback=OLD)
    settled(upgrading(world), RELEASE)
    assert set(running(world).values()) == {NEW}


def test_rollback_request_for_another_version_is_ignored() -> None:
    world = worked(upgrading(deployed("Manual"), v3_4_0=PodFault.CRASH), RELEASE)
    worked(annotated(world, rollback="2.19.3"), RELEASE)
    assert status(world)["phase"] == "Stalled"


def test_only_the_spec_starts_a_rollback_if_the_policy_is_off() -> None:
    world = worked(upgrading(deployed("Off"), v3_4_0=PodFault.CRASH), RELEASE)
    worked(annotated(world, rollback=OLD), RELEASE)
    assert status(world)["phase"] == "Stalled"
    settled(edited(world, version=OLD), RELEASE)
    assert set(running(world).values()) == {OLD}


def test_paused_upgrade_does_not_fail() -> None:
    world = worked_until(upgrading(deployed("Automatic")), RELEASE, has_newer_node)
    worked(edited(world, upgrade={"paused": True}), RELEASE)
    assert "upgrade/return" not in status(world)["ledger"]


def test_error_of_the_operator_stalls_an_upgrade_and_starts_no_rollback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The version is not the cause."""
    world = worked_until(upgrading(deployed("Automatic")), RELEASE, has_newer_node)

    def fail(_: Any) -> Any:
        raise KeyError("shard")

    with monkeypatch.context() as patched:
        patched.setattr("searchkeeper.reconcilers.pools.roll_out", fail)
        worked(world, RELEASE)
        assert status(world)["phase"] == "Stalled"
        assert condition(world, "PodsCurrent") == "Unknown ActionError: stalled: KeyError: 'shard'"
        assert world.state.events[-1].message.startswith("PodsCurrent: KeyError: 'shard'")
    settled(world, RELEASE)
    assert set(running(world).values()) == {NEW}


def test_only_nodes_that_ran_the_newer_version_get_an_empty_volume() -> None:
    """S24: an older version cannot start on a disk that a newer one wrote."""
    world = worked_until(upgrading(deployed()), RELEASE, has_newer_node)
    before = claims(world)
    settled(edited(world, version=OLD), RELEASE)
    after = claims(world)
    assert [name for name in before if before[name] != after[name]] == ["data-logs-data-0"]
    assert told(world).splitlines()[:-1] == []


@pytest.mark.parametrize(("pools", "upgraded"), [("small", "data-0"), ("apart", "hot-0")])
def test_node_that_is_replaced_for_another_reason_during_a_rollback_keeps_its_volume(
    pools: str, upgraded: str
) -> None:
    """Another operator with another image registry takes over: every pod is replaced.

    Nodes of the older version are last: the rollback needs their copies.
    """
    world = worked_until(upgrading(deployed(pools=pools)), RELEASE, has_newer_node)
    before = claims(world)
    for _ in unfolding(edited(world, version=OLD), images=Images("mirror.example.com/engine", "")):
        pass
    after = claims(world)
    assert [name for name in before if before[name] != after[name]] == [f"data-logs-{upgraded}"]
    assert {repository_of(image) for image in images(world)} == {"mirror.example.com/engine"}


def images(world: FakeCluster) -> list[str]:
    return [pod["spec"]["containers"][0]["image"] for pod in pods(world).values()]


def test_volume_is_deleted_before_its_pod() -> None:
    """The invariants of the recorder check that both are recorded first."""
    world = edited(worked_until(upgrading(deployed()), RELEASE, has_newer_node), version=OLD)
    steps = score(world, RELEASE).steps
    deleted = [step.write.key.name for step in steps if isinstance(step.write, Delete)]
    assert deleted == ["data-logs-data-0", "logs-data-0"]


def test_shards_are_moved_before_the_volume_is_deleted() -> None:
    world = worked_until(upgrading(deployed(pools="three")), RELEASE, has_newer_node)
    worked_until(world, RELEASE, lambda w: "roll/away" not in status(w)["ledger"])
    steps = score(edited(world, version=OLD), RELEASE).steps
    first_delete = next(step for step in steps if isinstance(step.write, Delete))
    assert first_delete.key is not None
    assert first_delete.key.kind == "PersistentVolumeClaim"
    assert all("logs-data-0" not in (copy.node, copy.to) for copy in first_delete.before.engine.copies)


def test_rollback_has_one_election_with_managers_in_several_pools() -> None:
    """Of the two nodes that roll back, the elected one is last: its successor stays elected."""
    zones = [pool(f"zone{n}", count, "cluster_manager", "data") for n, count in enumerate((1, 1, 3))]
    world = asked_for(*zones, upgrade={"healthDeadlineSeconds": 60})
    settled(world, RELEASE)
    settled(elect(with_index(world, replicas=4), "logs-zone2-2"), RELEASE)
    upgraded = {"zone0-0": NEW, "zone1-0": NEW}
    worked_until(upgrading(world), RELEASE, lambda world: upgraded.items() <= running(world).items())
    assert elected_nodes(edited(elect(world, "logs-zone1-0"), version=OLD)) == [
        "logs-zone1-0",
        "logs-zone0-0",
    ]
    assert set(running(world).values()) == {OLD}


def test_nodes_are_rolled_back_in_reverse_order() -> None:
    pools = (pool("data", 4, "data"), pool("managers", 3, "cluster_manager"))
    world = asked_for(*pools, upgrade={"healthDeadlineSeconds": 600})
    settled(world, RELEASE)
    edited(world, version=NEW)
    upgraded = worked_until(world, RELEASE, lambda w: list(running(w).values()).count(NEW) == 2)
    assert [name for name, version in running(upgraded).items() if version == NEW] == ["data-0", "data-1"]
    steps = score(edited(upgraded, version=OLD), RELEASE).steps
    deleted = [step.write.key for step in steps if isinstance(step.write, Delete)]
    assert [key.name for key in deleted if key.kind == "Pod"] == ["logs-data-1", "logs-data-0"]


@pytest.mark.parametrize("rollback", ["Automatic", "Manual"])
def test_no_rollback_starts_past_the_point_of_no_return(rollback: str) -> None:
    world = upgrading(deployed(rollback))
    worked_until(world, RELEASE, lambda w: running(w).get("data-1") == NEW)
    worked(with_faults(world, logs_managers_2=PodFault.CRASH), RELEASE)
    annotated(world, rollback=OLD)
    worked(world, RELEASE)
    assert status(world)["phase"] == "Stalled"
    assert "upgrade/return" not in status(world)["ledger"]
    assert condition(world, "RollbackPossible") == (
        "False PointOfNoReturnPassed: not possible to 2.19.4:"
        " books[0] has no copy on a node of the older version"
    )


@pytest.mark.parametrize("rollback", ["Automatic", "Manual"])
def test_newer_target_replaces_a_failing_one_past_the_point_of_no_return(
    rollback: str,
) -> None:
    world = edited(deployed(rollback), version="3.2.0")
    worked_until(world, RELEASE, lambda w: running(w).get("data-1") == "3.2.0")
    worked(with_faults(world, logs_managers_2=PodFault.CRASH), RELEASE)
    assert status(world)["phase"] == "Stalled"
    worked(edited(world, version=NEW), RELEASE, ticks=3)
    assert status(world)["ledger"]["upgrade"] == f'["{OLD}","{NEW}"]'
    settled(with_faults(world), RELEASE)
    assert set(running(world).values()) == {NEW}


def test_rollback_stops_when_it_becomes_blocked() -> None:
    world = worked_until(upgrading(deployed(pools="three")), RELEASE, has_newer_node)
    worked_until(edited(world, version=OLD), RELEASE, lambda w: "upgrade/return" in status(w)["ledger"])
    before = claims(with_newer_index(world))
    worked(world, RELEASE)
    assert condition(world, "PodsCurrent") == (
        "False RollbackBlocked: stalled: cannot roll back to 2.19.4: index maps was created by 3.4.0; "
        "to continue the upgrade, set spec.version to 3.4.0"
    )
    assert claims(world) == before
    assert running(world)["data-0"] == NEW


def blocked_rollback(
    start_rollback: Callable[[FakeCluster], FakeCluster], rollback: str = "Manual"
) -> FakeCluster:
    """Return a cluster whose rollback started halfway and is blocked halfway."""
    world = worked_until(upgrading(deployed(rollback, pools="three")), RELEASE, has_newer_node)
    worked_until(start_rollback(world), RELEASE, lambda w: "upgrade/return" in status(w)["ledger"])
    return worked(with_newer_index(world), RELEASE)


def test_upgrade_resumes_from_a_blocked_rollback_when_the_spec_wants_it() -> None:
    """L4: otherwise the spec lock would never end."""
    world = blocked_rollback(lambda w: edited(w, version=OLD))
    settled(edited(world, version=NEW), RELEASE)
    assert set(running(world).values()) == {NEW}


def test_request_of_a_blocked_rollback_is_removed_when_the_spec_changes() -> None:
    world = blocked_rollback(lambda w: annotated(w, rollback=OLD))
    assert condition(world, "PodsCurrent").endswith("; to continue the upgrade, change the spec")
    settled(edited(world, upgrade={"maxBatch": 2}), RELEASE)
    assert set(running(world).values()) == {NEW}
    assert not status(world)["ledger"]


def test_blocked_rollback_stays_while_the_spec_has_a_refused_version() -> None:
    world = blocked_rollback(lambda w: edited(w, version=OLD))
    worked(edited(world, version="1.3.0"), RELEASE)
    assert "upgrade/return" in status(world)["ledger"]


def test_rollback_completes_before_another_upgrade_starts() -> None:
    world = edited(worked_until(upgrading(deployed(pools="three")), RELEASE, has_newer_node), version=OLD)
    worked_until(world, RELEASE, lambda w: "upgrade/return" in status(w)["ledger"])
    worked_until(edited(world, version=NEW), RELEASE, lambda w: "upgrade/return" not in status(w)["ledger"])
    assert set(running(world).values()) == {OLD}
    settled(world, RELEASE)
    assert set(running(world).values()) == {NEW}


def test_condition_names_the_point_of_no_return_before_it_is_passed() -> None:
    steps = score(upgrading(deployed()), RELEASE).steps
    message, last_deleted = "", ""
    for step in steps:
        if isinstance(step.write, Delete):
            last_deleted = step.write.key.name
        conditions = {condition["type"]: condition for condition in step.after.status.get("conditions", ())}
        rollback: dict[str, Any] = conditions.get("RollbackPossible", {})
        if rollback.get("status") == "False":
            break
        message = rollback.get("message", "")
    assert last_deleted == "logs-data-1"
    assert message.startswith("possible to 2.19.4 until logs-data-1 is replaced")


def test_older_version_at_any_time_is_rolled_back_to_or_refused() -> None:
    recorded_run = score(upgrading(deployed()), RELEASE)
    final_versions = set()
    for reconcile_start in recorded_run.beats[::3]:
        world = edited(FakeCluster(reconcile_start.state), version=OLD)
        worked(world, RELEASE, ticks=30)
        [version] = set(running(world).values())
        assert "upgrade/lock" not in status(world)["ledger"]
        assert version == OLD or condition(world, "VersionAccepted").startswith("False Downgrade")
        final_versions.add(version)
    assert final_versions == {OLD, NEW}


def test_no_pod_is_upgraded_in_the_reconcile_that_starts_a_rollback() -> None:
    """I13: a change of the spec just before a delete stops the delete and its ledger entry."""
    recorded_run = score(upgrading(deployed()), RELEASE)
    deletes = [number for number, step in enumerate(recorded_run.steps) if isinstance(step.write, Delete)]
    assert len(deletes) == 5
    for number in deletes:
        world = edited(FakeCluster(recorded_run.beat_of(number).state), version=OLD)
        before = status(world)["ledger"].get("roll/away")
        ports = InvariantRecorder(world, CLUSTER, release(RELEASE))
        reconcile(ports, ports, CLUSTER, release(RELEASE), world.state.now)
        if "upgrade/return" in status(world)["ledger"]:
            assert status(world)["ledger"].get("roll/away") == before
            assert not [step for step in ports.steps if isinstance(step.write, Delete)]


def test_edit_during_a_rollback_is_applied_after_it() -> None:
    world = edited(worked_until(upgrading(deployed()), RELEASE, has_newer_node), version=OLD)
    pools = [pool("data", 3, "data"), pool("managers", 3, "cluster_manager")]
    settled(edited(world, pools=pools), RELEASE)
    assert running(world) == dict.fromkeys(
        ["data-0", "data-1", "data-2", "managers-0", "managers-1", "managers-2"], OLD
    )
