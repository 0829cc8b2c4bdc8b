"""Runs of upgrades that fail, or that the user rolls back."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from itertools import groupby
from typing import Any

import pytest

from searchkeeper.images import Images, repository_of
from searchkeeper.kubernetes.operations import Delete
from searchkeeper.opensearch.view import Index
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from searchkeeper.upgrade.rollback import ROLLBACK_ANNOTATION
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    SMALL,
    add_index,
    annotate,
    claim_uids,
    condition,
    copy_cluster,
    deployed_state,
    edit_spec,
    new_cluster,
    node_versions,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    record_run,
    set_pod_faults,
    status,
    unmet_conditions,
)
from tests.support.searchkeeper.operator_scenarios import pods

OLD, NEW = "2.19.4", "3.4.0"
THREE = (pool("data", 3, "data"), pool("managers", 3, "cluster_manager"))
APART = (pool("hot", 1, "data"), pool("warm", 1, "data"), pool("managers", 3, "cluster_manager"))


@cache
def _cached_cluster(rollback: str, names: tuple[str, ...]) -> FakeCluster:
    pools = {"small": SMALL, "three": THREE, "apart": APART}[names[0]]
    cluster = new_cluster(*pools, upgrade={"rollback": rollback, "healthDeadlineSeconds": 60})
    reconcile_until_converged(cluster)
    add_index(cluster)
    reconcile_until_converged(cluster)
    return cluster


def deployed_cluster(rollback: str = "Manual", pools: str = "small") -> FakeCluster:
    """Return a cluster with an index and a health deadline of a minute."""
    return copy_cluster(_cached_cluster(rollback, (pools,)))


def upgrading(cluster: FakeCluster, **faults: PodFault) -> FakeCluster:
    return set_pod_faults(edit_spec(cluster, version=NEW), **faults)


def elect(cluster: FakeCluster, name: str) -> FakeCluster:
    """Elect this node, as after a short loss of connection of the elected one."""
    engine = cluster.state.engine
    nodes = tuple(replace(node, is_elected=node.name == name) for node in engine.nodes)
    cluster.state = replace(cluster.state, engine=replace(engine, nodes=nodes))
    return cluster


def elected_nodes(cluster: FakeCluster) -> list[str]:
    """Return the elected nodes of a run, in order."""
    elected = (current.state.engine.elected for current in reconcile_steps(cluster, NEWEST))
    return [name for name, _ in groupby(node.name for node in elected if node is not None)]


def has_newer_node(cluster: FakeCluster) -> bool:
    return NEW in node_versions(cluster).values()


def with_newer_index(cluster: FakeCluster) -> FakeCluster:
    """Create an index while a newer node is elected."""
    engine = cluster.state.engine
    newer = replace(engine, indices=(*engine.indices, Index("maps", 1, NEW)))
    cluster.state = replace(cluster.state, engine=newer)
    return cluster


def writes_in_an_hour(cluster: FakeCluster) -> int:
    """Return the number of writes in an hour without a change."""
    writes = 0
    for _ in range(360):
        writes += reconcile(cluster, cluster, CLUSTER, release(NEWEST), cluster.state.now).wrote
        cluster.tick()
    return writes


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("fault", [PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING, PodFault.NEVER_READY])
def test_failed_upgrade_is_rolled_back_if_the_policy_is_automatic(fault: PodFault) -> None:
    cluster = deployed_cluster("Automatic")
    before = deployed_state(cluster.state)
    reconcile_for_ticks(upgrading(cluster, v3_4_0=fault), ticks=40)
    assert deployed_state(cluster.state) == before
    assert set(node_versions(cluster).values()) == {OLD}
    assert status(cluster)["engineVersion"] == OLD
    assert "upgrade" not in status(cluster)["ledger"]
    assert "upgrade/lock" not in status(cluster)["ledger"]


@pytest.mark.exhaustive
def test_abandoned_version_is_not_tried_again() -> None:
    cluster = reconcile_for_ticks(upgrading(deployed_cluster("Automatic"), v3_4_0=PodFault.CRASH), ticks=40)
    assert condition(cluster, "UpgradeStarted") == (
        "False VersionAbandoned: 3.4.0 failed and was rolled back; change the spec to try again"
    )
    assert writes_in_an_hour(set_pod_faults(cluster)) == 0


@pytest.mark.exhaustive
def test_abandoned_version_is_tried_again_after_a_change_of_the_spec() -> None:
    cluster = reconcile_for_ticks(upgrading(deployed_cluster("Automatic"), v3_4_0=PodFault.CRASH), ticks=40)
    reconcile_until_converged(edit_spec(set_pod_faults(cluster), upgrade={"maxBatch": 2}))
    assert set(node_versions(cluster).values()) == {NEW}
    assert not status(cluster)["ledger"]


@pytest.mark.exhaustive
def test_failed_upgrade_waits_for_a_rollback_request_and_names_it() -> None:
    cluster = reconcile_for_ticks(upgrading(deployed_cluster("Manual"), v3_4_0=PodFault.CRASH), ticks=40)
    assert status(cluster)["phase"] == "Stalled"
    assert condition(cluster, "RollbackPossible") == (
        "True RollbackAvailable: possible to 2.19.4 until logs-data-1 is replaced: "
        "then books[0] has no copy on a node of the older version; "
        "to roll back, annotate the SearchCluster with search.everpath.dev/rollback=2.19.4"
    )
    assert writes_in_an_hour(cluster) == 0


def test_rollback_request_is_followed_and_removed() -> None:
    cluster = reconcile_for_ticks(upgrading(deployed_cluster("Manual"), v3_4_0=PodFault.CRASH), ticks=40)
    reconcile_for_ticks(annotate(cluster, rollback=OLD), ticks=40)
    assert set(node_versions(cluster).values()) == {OLD}
    manifest = cluster.get(CLUSTER)
    assert manifest is not None
    assert ROLLBACK_ANNOTATION not in manifest["metadata"]["annotations"]


def test_old_rollback_request_does_not_roll_back_the_next_upgrade() -> None:
    cluster = annotate(deployed_cluster("Manual"), rollback=OLD)
    reconcile_until_converged(upgrading(cluster))
    assert set(node_versions(cluster).values()) == {NEW}


def test_rollback_request_for_another_version_is_ignored() -> None:
    cluster = reconcile_for_ticks(upgrading(deployed_cluster("Manual"), v3_4_0=PodFault.CRASH), ticks=40)
    reconcile_for_ticks(annotate(cluster, rollback="2.19.3"), ticks=40)
    assert status(cluster)["phase"] == "Stalled"


def test_only_the_spec_starts_a_rollback_if_the_policy_is_off() -> None:
    cluster = reconcile_for_ticks(upgrading(deployed_cluster("Off"), v3_4_0=PodFault.CRASH), ticks=40)
    reconcile_for_ticks(annotate(cluster, rollback=OLD), ticks=40)
    assert status(cluster)["phase"] == "Stalled"
    reconcile_until_converged(edit_spec(cluster, version=OLD))
    assert set(node_versions(cluster).values()) == {OLD}


def test_paused_upgrade_does_not_fail() -> None:
    cluster = reconcile_until(upgrading(deployed_cluster("Automatic")), has_newer_node)
    reconcile_for_ticks(edit_spec(cluster, upgrade={"paused": True}), ticks=40)
    assert "upgrade/return" not in status(cluster)["ledger"]


def test_error_of_the_operator_stalls_an_upgrade_and_starts_no_rollback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The version is not the cause."""
    cluster = reconcile_until(upgrading(deployed_cluster("Automatic")), has_newer_node)

    def fail(_: Any) -> Any:
        raise KeyError("shard")

    with monkeypatch.context() as patched:
        patched.setattr("searchkeeper.reconcilers.pools.roll_out", fail)
        reconcile_for_ticks(cluster, ticks=40)
        assert status(cluster)["phase"] == "Stalled"
        assert condition(cluster, "PodsCurrent") == "Unknown ActionError: stalled: KeyError: 'shard'"
        assert cluster.state.events[-1].message.startswith("PodsCurrent: KeyError: 'shard'")
    reconcile_until_converged(cluster)
    assert set(node_versions(cluster).values()) == {NEW}


def test_only_nodes_that_ran_the_newer_version_get_an_empty_volume() -> None:
    """S24: an older version cannot start on a disk that a newer one wrote."""
    cluster = reconcile_until(upgrading(deployed_cluster()), has_newer_node)
    before = claim_uids(cluster)
    reconcile_until_converged(edit_spec(cluster, version=OLD))
    after = claim_uids(cluster)
    assert [name for name in before if before[name] != after[name]] == ["data-logs-data-0"]
    assert unmet_conditions(cluster).splitlines()[:-1] == []


@pytest.mark.parametrize(("pools", "upgraded"), [("small", "data-0"), ("apart", "hot-0")])
def test_node_that_is_replaced_for_another_reason_during_a_rollback_keeps_its_volume(
    pools: str, upgraded: str
) -> None:
    """Another operator with another image registry takes over: every pod is replaced.

    Nodes of the older version are last: the rollback needs their copies.
    """
    cluster = reconcile_until(upgrading(deployed_cluster(pools=pools)), has_newer_node)
    before = claim_uids(cluster)
    for _ in reconcile_steps(edit_spec(cluster, version=OLD), images=Images("mirror.example.com/engine", "")):
        pass
    after = claim_uids(cluster)
    assert [name for name in before if before[name] != after[name]] == [f"data-logs-{upgraded}"]
    assert {repository_of(image) for image in images(cluster)} == {"mirror.example.com/engine"}


def images(cluster: FakeCluster) -> list[str]:
    return [pod["spec"]["containers"][0]["image"] for pod in pods(cluster).values()]


def test_volume_is_deleted_before_its_pod() -> None:
    """The invariants of the recorder check that both are recorded first."""
    cluster = edit_spec(reconcile_until(upgrading(deployed_cluster()), has_newer_node), version=OLD)
    steps = record_run(cluster).transitions
    deleted = [step.write.key.name for step in steps if isinstance(step.write, Delete)]
    assert deleted == ["data-logs-data-0", "logs-data-0"]


def test_shards_are_moved_before_the_volume_is_deleted() -> None:
    cluster = reconcile_until(upgrading(deployed_cluster(pools="three")), has_newer_node)
    reconcile_until(cluster, lambda w: "roll/away" not in status(w)["ledger"])
    steps = record_run(edit_spec(cluster, version=OLD)).transitions
    first_delete = next(step for step in steps if isinstance(step.write, Delete))
    assert first_delete.key is not None
    assert first_delete.key.kind == "PersistentVolumeClaim"
    assert all("logs-data-0" not in (copy.node, copy.to) for copy in first_delete.before.engine.copies)


def test_rollback_has_one_election_with_managers_in_several_pools() -> None:
    """Of the two nodes that roll back, the elected one is last: its successor stays elected."""
    zones = [pool(f"zone{n}", count, "cluster_manager", "data") for n, count in enumerate((1, 1, 3))]
    cluster = new_cluster(*zones, upgrade={"healthDeadlineSeconds": 60})
    reconcile_until_converged(cluster)
    reconcile_until_converged(elect(add_index(cluster, replicas=4), "logs-zone2-2"))
    upgraded = {"zone0-0": NEW, "zone1-0": NEW}
    reconcile_until(upgrading(cluster), lambda cluster: upgraded.items() <= node_versions(cluster).items())
    assert elected_nodes(edit_spec(elect(cluster, "logs-zone1-0"), version=OLD)) == [
        "logs-zone1-0",
        "logs-zone0-0",
    ]
    assert set(node_versions(cluster).values()) == {OLD}


def test_nodes_are_rolled_back_in_reverse_order() -> None:
    pools = (pool("data", 4, "data"), pool("managers", 3, "cluster_manager"))
    cluster = new_cluster(*pools, upgrade={"healthDeadlineSeconds": 600})
    reconcile_until_converged(cluster)
    edit_spec(cluster, version=NEW)
    upgraded = reconcile_until(cluster, lambda w: list(node_versions(w).values()).count(NEW) == 2)
    assert [name for name, version in node_versions(upgraded).items() if version == NEW] == [
        "data-0",
        "data-1",
    ]
    steps = record_run(edit_spec(upgraded, version=OLD)).transitions
    deleted = [step.write.key for step in steps if isinstance(step.write, Delete)]
    assert [key.name for key in deleted if key.kind == "Pod"] == ["logs-data-1", "logs-data-0"]


@pytest.mark.parametrize("rollback", ["Automatic", "Manual"])
def test_no_rollback_starts_past_the_point_of_no_return(rollback: str) -> None:
    cluster = upgrading(deployed_cluster(rollback))
    reconcile_until(cluster, lambda w: node_versions(w).get("data-1") == NEW)
    reconcile_for_ticks(set_pod_faults(cluster, logs_managers_2=PodFault.CRASH), ticks=40)
    annotate(cluster, rollback=OLD)
    reconcile_for_ticks(cluster, ticks=40)
    assert status(cluster)["phase"] == "Stalled"
    assert "upgrade/return" not in status(cluster)["ledger"]
    assert condition(cluster, "RollbackPossible") == (
        "False PointOfNoReturnPassed: not possible to 2.19.4:"
        " books[0] has no copy on a node of the older version"
    )


@pytest.mark.parametrize("rollback", ["Automatic", "Manual"])
def test_newer_target_replaces_a_failing_one_past_the_point_of_no_return(
    rollback: str,
) -> None:
    cluster = edit_spec(deployed_cluster(rollback), version="3.2.0")
    reconcile_until(cluster, lambda w: node_versions(w).get("data-1") == "3.2.0")
    reconcile_for_ticks(set_pod_faults(cluster, logs_managers_2=PodFault.CRASH), ticks=40)
    assert status(cluster)["phase"] == "Stalled"
    reconcile_for_ticks(edit_spec(cluster, version=NEW), ticks=3)
    assert status(cluster)["ledger"]["upgrade"] == f'["{OLD}","{NEW}"]'
    reconcile_until_converged(set_pod_faults(cluster))
    assert set(node_versions(cluster).values()) == {NEW}


def test_rollback_stops_when_it_becomes_blocked() -> None:
    cluster = reconcile_until(upgrading(deployed_cluster(pools="three")), has_newer_node)
    reconcile_until(edit_spec(cluster, version=OLD), lambda w: "upgrade/return" in status(w)["ledger"])
    before = claim_uids(with_newer_index(cluster))
    reconcile_for_ticks(cluster, ticks=40)
    assert condition(cluster, "PodsCurrent") == (
        "False RollbackBlocked: stalled: cannot roll back to 2.19.4: index maps was created by 3.4.0; "
        "to continue the upgrade, set spec.version to 3.4.0"
    )
    assert claim_uids(cluster) == before
    assert node_versions(cluster)["data-0"] == NEW


def blocked_rollback(
    start_rollback: Callable[[FakeCluster], FakeCluster], rollback: str = "Manual"
) -> FakeCluster:
    """Return a cluster whose rollback started halfway and is blocked halfway."""
    cluster = reconcile_until(upgrading(deployed_cluster(rollback, pools="three")), has_newer_node)
    reconcile_until(start_rollback(cluster), lambda w: "upgrade/return" in status(w)["ledger"])
    return reconcile_for_ticks(with_newer_index(cluster), ticks=40)


def test_upgrade_resumes_from_a_blocked_rollback_when_the_spec_wants_it() -> None:
    """L4: otherwise the spec lock would never end."""
    cluster = blocked_rollback(lambda w: edit_spec(w, version=OLD))
    reconcile_until_converged(edit_spec(cluster, version=NEW))
    assert set(node_versions(cluster).values()) == {NEW}


def test_request_of_a_blocked_rollback_is_removed_when_the_spec_changes() -> None:
    cluster = blocked_rollback(lambda w: annotate(w, rollback=OLD))
    assert condition(cluster, "PodsCurrent").endswith("; to continue the upgrade, change the spec")
    reconcile_until_converged(edit_spec(cluster, upgrade={"maxBatch": 2}))
    assert set(node_versions(cluster).values()) == {NEW}
    assert not status(cluster)["ledger"]


def test_blocked_rollback_stays_while_the_spec_has_a_refused_version() -> None:
    cluster = blocked_rollback(lambda w: edit_spec(w, version=OLD))
    reconcile_for_ticks(edit_spec(cluster, version="1.3.0"), ticks=40)
    assert "upgrade/return" in status(cluster)["ledger"]


def test_rollback_completes_before_another_upgrade_starts() -> None:
    cluster = edit_spec(
        reconcile_until(upgrading(deployed_cluster(pools="three")), has_newer_node), version=OLD
    )
    reconcile_until(cluster, lambda w: "upgrade/return" in status(w)["ledger"])
    reconcile_until(edit_spec(cluster, version=NEW), lambda w: "upgrade/return" not in status(w)["ledger"])
    assert set(node_versions(cluster).values()) == {OLD}
    reconcile_until_converged(cluster)
    assert set(node_versions(cluster).values()) == {NEW}


@pytest.mark.exhaustive
def test_condition_names_the_point_of_no_return_before_it_is_passed() -> None:
    steps = record_run(upgrading(deployed_cluster())).transitions
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


@pytest.mark.exhaustive
def test_older_version_at_any_time_is_rolled_back_to_or_refused() -> None:
    recorded_run = record_run(upgrading(deployed_cluster()))
    final_versions = set()
    for reconcile_start in recorded_run.starts[::3]:
        cluster = edit_spec(FakeCluster(reconcile_start.state), version=OLD)
        reconcile_for_ticks(cluster, ticks=30)
        [version] = set(node_versions(cluster).values())
        assert "upgrade/lock" not in status(cluster)["ledger"]
        assert version == OLD or condition(cluster, "VersionAccepted").startswith("False Downgrade")
        final_versions.add(version)
    assert final_versions == {OLD, NEW}


def test_no_pod_is_upgraded_in_the_reconcile_that_starts_a_rollback() -> None:
    """I13: a change of the spec just before a delete stops the delete and its ledger entry."""
    recorded_run = record_run(upgrading(deployed_cluster()))
    deletes = [
        number for number, step in enumerate(recorded_run.transitions) if isinstance(step.write, Delete)
    ]
    assert len(deletes) == 5
    for number in deletes:
        cluster = edit_spec(FakeCluster(recorded_run.start_before(number).state), version=OLD)
        before = status(cluster)["ledger"].get("roll/away")
        ports = InvariantRecorder(cluster, CLUSTER, release(NEWEST))
        reconcile(ports, ports, CLUSTER, release(NEWEST), cluster.state.now)
        if "upgrade/return" in status(cluster)["ledger"]:
            assert status(cluster)["ledger"].get("roll/away") == before
            assert not [step for step in ports.steps if isinstance(step.write, Delete)]


def test_edit_during_a_rollback_is_applied_after_it() -> None:
    cluster = edit_spec(reconcile_until(upgrading(deployed_cluster()), has_newer_node), version=OLD)
    pools = [pool("data", 3, "data"), pool("managers", 3, "cluster_manager")]
    reconcile_until_converged(edit_spec(cluster, pools=pools))
    assert node_versions(cluster) == dict.fromkeys(
        ["data-0", "data-1", "data-2", "managers-0", "managers-1", "managers-2"], OLD
    )
