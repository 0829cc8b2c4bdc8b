"""The status is lost at any moment: the cluster converges to the same state, and nothing is left behind."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from random import Random
from typing import Any

import pytest

from searchkeeper.desired.names import ENGINE_VERSION
from searchkeeper.kubernetes.operations import Delete, EngineCall, Key, Patch
from searchkeeper.opensearch.calls import Call, Exclude, ExcludeFromVoting, Flush
from searchkeeper.opensearch.client import CallRejected
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.faults import Fault, FaultInjection, kill_pod, lose_status
from searchkeeper.testing.invariants.checks import leftovers
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tests.support.searchkeeper import fault_runs as runs
from tests.support.searchkeeper.fault_runs import NEW, OLD, ROLLBACK, RUNS, UPGRADE, deployed_by
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    SMALL,
    CountingPorts,
    RecordedRun,
    add_index,
    edit_spec,
    new_cluster,
    pool,
    reconcile_for_ticks,
    reconcile_once,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    reconcile_until_deleted,
    record_run,
    run_to_known_end,
    run_with_faults,
    set_pod_faults,
    status,
    unmet_conditions,
)
from tests.support.searchkeeper.operator_runs import node_versions as versions
from tests.support.searchkeeper.operator_scenarios import pods, running_cluster
from tests.support.searchkeeper.scale_in_clusters import cluster_before_scale_in


@dataclass
class RejectingPorts(CountingPorts):
    """The engine answers, but rejects every call."""

    def execute(self, call: Call) -> None:
        raise CallRejected(f"rejected: {call}")


MANAGERS = pool("managers", 3, "cluster_manager")


def fewer_managers() -> FakeCluster:
    """Five managers, of which two lose their votes."""
    cluster = running_cluster(pool("data", 2, "data"), pool("managers", 5, "cluster_manager"))
    return edit_spec(cluster, pools=list(SMALL))


def fewer_pools() -> FakeCluster:
    cluster = running_cluster(pool("data", 2, "data"), pool("more", 2, "data"), MANAGERS)
    return edit_spec(add_index(add_index(cluster, "films"), "songs"), pools=list(SMALL))


def drained_upgrade() -> FakeCluster:
    """An index without replicas, whose node is drained; a user excludes another node."""
    cluster = add_index(running_cluster(pool("data", 3, "data"), MANAGERS), "single", replicas=0)
    cluster.execute(Exclude(frozenset({"of-a-user"})))
    return edit_spec(cluster, version=NEW)


def single_voter_upgrade() -> FakeCluster:
    """Two managers, of which one has the only vote."""
    return edit_spec(running_cluster(pool("both", 2, "data", "cluster_manager")), version=NEW)


OTHER_RUNS: dict[str, Callable[[], FakeCluster]] = {
    each.__name__: each
    for each in (
        new_cluster,
        cluster_before_scale_in,
        fewer_managers,
        fewer_pools,
        drained_upgrade,
        single_voter_upgrade,
    )
}
EVERY_RUN = (*RUNS, *OTHER_RUNS)


@cache
def run(name: str) -> RecordedRun:
    return runs.run(name) if name in RUNS else record_run(OTHER_RUNS[name]())


def losing_status(state: FakeClusterState) -> FakeCluster:
    return FakeCluster(lose_status(state))


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("name", EVERY_RUN)
def test_lost_status_at_any_write_does_not_change_the_result(name: str) -> None:
    for at in range(len(run(name).transitions)):
        run_with_faults(run(name), FaultInjection(at, Fault.STATUS_LOST))


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("name", [UPGRADE, ROLLBACK, "cluster_before_scale_in", "fewer_managers"])
def test_lost_status_and_another_fault_do_not_change_the_result(name: str) -> None:
    random, last = Random(name), len(run(name).transitions) - 1
    for _ in range(25):
        at = random.randrange(last)
        other = FaultInjection(min(at + random.randrange(1, 12), last), random.choice(list(Fault)), "Pod", 2)
        run_with_faults(run(name), FaultInjection(at, Fault.STATUS_LOST), other)


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", [UPGRADE, ROLLBACK])
def test_cluster_of_an_earlier_release_converges_too(name: str) -> None:
    """It has no annotation with its engine version."""
    for start in run(name).starts:
        cluster = losing_status(start.state)
        cluster.patch(Patch(CLUSTER, {"metadata": {"annotations": {ENGINE_VERSION: None}}}, ""))
        run_to_known_end(cluster, NEWEST, run(name).known)


@pytest.mark.parametrize(
    "name", [UPGRADE, ROLLBACK, "cluster_before_scale_in", "fewer_managers", "drained_upgrade"]
)
def test_engine_call_that_arrives_after_the_end_is_undone(name: str) -> None:
    calls = {step.write.call for step in run(name).transitions if isinstance(step.write, EngineCall)}
    assert len(calls) >= 2
    for call in sorted(calls - {Flush()}, key=str):
        cluster = FakeCluster(run(name).starts[-1].state)
        cluster.execute(call)
        run_to_known_end(cluster, NEWEST, run(name).known)


@pytest.mark.parametrize("name", [UPGRADE, ROLLBACK, "drained_upgrade"])
def test_deletion_after_a_lost_status_leaves_no_setting(name: str) -> None:
    for step in run(name).transitions[::2]:
        cluster = losing_status(step.before.state)
        cluster.delete(Delete(CLUSTER, "", ""))
        ports = InvariantRecorder(cluster, CLUSTER, release(NEWEST))
        reconcile_until_deleted(ports, cluster, NEWEST)
        engine = cluster.state.engine
        assert cluster.get(CLUSTER) is None
        assert (engine.allocation, engine.excluded - {"of-a-user"}, engine.record) == (None, frozenset(), ())


def test_deletion_ends_when_the_engine_rejects_the_restore() -> None:
    """The record in the engine does not start the restore again and again."""
    cluster = reconcile_until(
        edit_spec(running_cluster(), version=NEW), lambda w: bool(w.state.engine.record)
    )
    cluster.delete(Delete(CLUSTER, "", ""))
    ports = RejectingPorts(cluster)
    reconcile_until_deleted(ports, cluster, NEWEST, ticks=1000)
    assert cluster.get(CLUSTER) is None
    assert [event.reason for event in cluster.state.events][-1] == "EngineSettingsNotRestored"


def failing_upgrade() -> Iterator[FakeClusterState]:
    """Yield the states of an upgrade that fails and is rolled back by itself."""
    cluster = new_cluster(upgrade={"healthDeadlineSeconds": 600, "rollback": "Automatic"})
    reconcile_until_converged(cluster)
    reconcile_until_converged(add_index(cluster))
    set_pod_faults(edit_spec(cluster, version=NEW), v3_4_0=PodFault.CRASH)
    for _ in range(400):
        yield cluster.state
        if "VersionAbandoned" in unmet_conditions(cluster):
            return
        if not reconcile_once(cluster, cluster, NEWEST).wrote:
            cluster.tick()
    raise AssertionError(unmet_conditions(cluster))


@pytest.mark.exhaustive
def test_failed_upgrade_is_rolled_back_again() -> None:
    """That the version has failed is lost: it is tried once more."""
    states = list(failing_upgrade())
    for state in (*states[::20], states[-1]):
        cluster = reconcile_for_ticks(losing_status(state), ticks=120)
        assert set(versions(cluster).values()) == {OLD}
        assert len(versions(cluster)) == len(runs.PODS)
        assert "VersionAbandoned" in unmet_conditions(cluster)
        assert leftovers(cluster.state, CLUSTER) is None


def with_missing_manager() -> FakeCluster:
    """A cluster whose second manager is gone and does not come back."""
    cluster = set_pod_faults(FakeCluster(deployed_by(NEWEST).state), logs_managers_1=PodFault.NEVER_READY)
    cluster.state = kill_pod(cluster.state, Key("v1", "Pod", CLUSTER.namespace, "logs-managers-1"))
    cluster.tick()
    return cluster


def deployed_versions(cluster: FakeCluster) -> set[str]:
    pools = cluster.list(CLUSTER.api, "SearchPool", CLUSTER.namespace, {})
    return {each["spec"]["engineVersion"] for each in pools}


@pytest.mark.parametrize("version", [NEW, "1.3.0"])
def test_unhealthy_cluster_without_status_is_not_new(version: str) -> None:
    """A new cluster would get the version at once: without lock, and without a check of the version."""
    cluster = losing_status(edit_spec(with_missing_manager(), version=version).state)
    reconcile_for_ticks(cluster, ticks=10)
    assert deployed_versions(cluster) == {OLD}


def test_copied_resource_is_a_new_cluster() -> None:
    """Its annotation has the UID of the original."""
    cluster = new_cluster(version=NEW)
    cluster.patch(Patch(CLUSTER, {"metadata": {"annotations": {ENGINE_VERSION: "uid-of-another/1.3.0"}}}, ""))
    reconcile_until_converged(cluster)
    assert set(versions(cluster).values()) == {NEW}
    assert [event.reason for event in cluster.state.events] == []


def is_mixed(cluster: FakeCluster) -> bool:
    return {OLD, NEW} <= set(versions(cluster).values())


@pytest.mark.exhaustive
def test_edits_wait_for_a_recovered_upgrade() -> None:
    """The lock is what is deployed, not what the spec wants meanwhile."""
    starts = [start for start in run(UPGRADE).starts if is_mixed(FakeCluster(start.state))]
    for start in starts[::7]:
        cluster = edit_spec(losing_status(start.state), pools=[pool("data", 3, "data"), MANAGERS])
        for each in reconcile_steps(cluster):
            assert len(pods(each)) == len(runs.PODS) or not is_mixed(each)
        assert versions(cluster)["data-2"] == NEW


def test_lock_waits_for_a_missing_search_pool() -> None:
    """Without it the lock would lack a pool, and scale-in would remove its nodes."""
    cluster = reconcile_until(
        edit_spec(running_cluster(), version=NEW), lambda w: NEW in versions(w).values()
    )
    cluster.delete(Delete(Key(CLUSTER.api, "SearchPool", CLUSTER.namespace, "logs-managers"), "", ""))
    reconcile_until_converged(losing_status(cluster.state))


def test_user_exclusions_survive() -> None:
    cluster = reconcile_until(cluster_before_scale_in(), lambda w: bool(w.state.engine.excluded))
    cluster.execute(Exclude(cluster.state.engine.excluded | {"of-a-user"}))
    cluster.execute(ExcludeFromVoting("vote-of-a-user"))
    cluster = losing_status(cluster.state)
    reconcile_until_converged(cluster)
    assert cluster.state.engine.excluded == {"of-a-user"}
    assert cluster.state.engine.voting_exclusions == {"vote-of-a-user"}
    assert not cluster.state.engine.record


def test_invalid_spec_keeps_no_setting() -> None:
    cluster = reconcile_until(
        edit_spec(running_cluster(), version=NEW), lambda w: bool(w.state.engine.record)
    )
    state = lose_status(cluster.state)
    resource: Any = state.cluster.objects[CLUSTER]
    invalid = {**resource, "spec": {**resource["spec"], "pools": "none"}}
    objects = {**state.cluster.objects, CLUSTER: invalid}
    cluster = FakeCluster(replace(state, cluster=replace(state.cluster, objects=objects)))
    reconcile_for_ticks(cluster, ticks=5)
    assert cluster.state.engine.allocation is None
    assert not cluster.state.engine.record
    assert "InvalidSpec" in str(status(cluster)["conditions"])
