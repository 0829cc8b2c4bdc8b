"""The manager on the fake API server: clusters are created, upgraded, handed over and deleted."""

from __future__ import annotations

import threading
import time
from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.desired.names import ENGINE_VERSION, FINALIZER
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.testing.fake_kubernetes.api_server import FakeApiServer, expired_line
from searchkeeper.testing.fake_kubernetes.watch_history import Compacted
from tests.support.searchkeeper.managers import (
    SHORT_LEASE,
    ApiServerAccess,
    DisconnectingApi,
    RunningManager,
    run_manager,
    serve_api,
    wait_until,
)
from tests.support.searchkeeper.operator_runs import CLUSTER, edit_spec, new_cluster, status


def is_running(api: FakeApiServer, version: str = "2.19.4") -> bool:
    cluster = status(api.world)
    return cluster.get("phase") == "Running" and cluster.get("engineVersion") == version


def is_upgraded(api: FakeApiServer, version: str) -> bool:
    """True when the cluster runs and the ledger has no upgrade any more."""
    return is_running(api, version) and "upgrade" not in status(api.world).get("ledger", {})


def request_version(access: ApiServerAccess, version: str = "3.4.0") -> None:
    with access.api.alone() as cluster:
        edit_spec(cluster, version=version)


def operations(running: RunningManager) -> float:
    return running.metric("searchkeeper_operations_total")


def converged_reconciles(running: RunningManager) -> float:
    return running.metric("searchkeeper_reconcile_total", result="converged")


def errors(running: RunningManager, error: str) -> float:
    return running.metric("searchkeeper_reconcile_errors_total", error=error)


def test_new_cluster_is_created() -> None:
    with serve_api(new_cluster()) as access, run_manager(access) as running:
        wait_until(access.api, lambda: is_running(access.api), what="a running cluster")
        wait_until(access.api, lambda: running.manager.health.is_ready)

        assert {node.version for node in access.api.world.state.engine.nodes} == {"2.19.4"}
        created = running.metric("searchkeeper_operations_total", kind="StatefulSet", operation="create")
        assert created == 2
        wait_until(access.api, lambda: running.metric("searchkeeper_cluster_phase", phase="Running") == 1)


def test_watches_leave_nothing_on_resources() -> None:
    with serve_api(new_cluster()) as access, run_manager(access):
        wait_until(access.api, lambda: is_running(access.api))

        metadata = (access.kube.get(CLUSTER) or {})["metadata"]

    assert metadata["finalizers"] == [FINALIZER]
    assert set(metadata["annotations"]) <= {ENGINE_VERSION}


@pytest.mark.exhaustive
def test_converged_cluster_is_not_written_to() -> None:
    with serve_api(new_cluster()) as access, run_manager(access) as running:
        wait_until(access.api, lambda: is_running(access.api) and converged_reconciles(running) > 0)
        operations_before, reconciles = operations(running), converged_reconciles(running)

        wait_until(access.api, lambda: converged_reconciles(running) >= reconciles + 3)

        assert operations(running) == operations_before


@pytest.mark.exhaustive
def test_upgrade_completes() -> None:
    with serve_api(new_cluster()) as access, run_manager(access) as running:
        wait_until(access.api, lambda: is_running(access.api))
        request_version(access)
        progress = "searchkeeper_upgrade_progress_ratio"
        wait_until(access.api, lambda: 0 < running.metric(progress) < 1, what="partial progress")

        wait_until(access.api, lambda: is_upgraded(access.api, "3.4.0"), what="3.4.0")

        wait_until(access.api, lambda: running.metric(progress) == 1, what="full progress")
        assert {node.version for node in access.api.world.state.engine.nodes} == {"3.4.0"}
        assert access.api.world.state.engine.allocation is None


def test_refused_version_emits_one_event_and_replaces_no_pod() -> None:
    with serve_api(new_cluster()) as access, run_manager(access):
        wait_until(access.api, lambda: is_running(access.api))
        pods = pod_uids(access)
        request_version(access, "1.3.0")

        wait_until(access.api, lambda: bool(access.kube.list("v1", "Event", "search", {})), what="an event")
        events = access.kube.list("v1", "Event", "search", {})

        assert [(event["reason"], event["type"], event["count"]) for event in events] == [
            ("VersionRefused", "Warning", 1)
        ]
        assert pod_uids(access) == pods


def pod_uids(access: ApiServerAccess) -> list[str]:
    return [pod["metadata"]["uid"] for pod in access.kube.list("v1", "Pod", "search", {})]


@pytest.mark.exhaustive
def test_only_the_leader_of_two_operators_writes() -> None:
    with serve_api(new_cluster()) as access, run_manager(access, "one") as one:
        wait_until(access.api, lambda: one.manager.lease.is_leader)
        with run_manager(access, "two") as two:
            wait_until(access.api, lambda: two.manager.health.is_ready and is_running(access.api))
            request_version(access)
            wait_until(access.api, lambda: is_upgraded(access.api, "3.4.0"))

            assert operations(one) > 0
            assert operations(two) == 0
            assert (one.metric("searchkeeper_leader"), two.metric("searchkeeper_leader")) == (1, 0)


@pytest.mark.exhaustive
def test_standby_takes_over_when_the_leader_stops() -> None:
    with (
        serve_api(new_cluster()) as access,
        run_manager(access, "one", lease=SHORT_LEASE) as one,
        run_manager(access, "two", lease=SHORT_LEASE) as two,
    ):
        wait_until(access.api, lambda: one.manager.lease.is_leader or two.manager.lease.is_leader)
        leader, standby = (one, two) if one.manager.lease.is_leader else (two, one)
        leader.stop()

        wait_until(access.api, lambda: (standby.manager.lease.epoch or 0) > 0 and is_running(access.api))


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("operations", [3, 17, 31])
def test_next_operator_completes_the_upgrade_of_a_killed_one(operations: int) -> None:
    with serve_api(new_cluster()) as access:
        kube = DisconnectingApi(access.kube, operations_left=None)
        with run_manager(access, "killed", kube=kube, lease=SHORT_LEASE):
            wait_until(access.api, lambda: is_running(access.api))
            kube.operations_left = len(kube.operations) + operations
            request_version(access)
            wait_until(access.api, lambda: kube.is_disconnected, what="the disconnect")
        assert not is_upgraded(access.api, "3.4.0")

        with run_manager(access, "next", lease=SHORT_LEASE):
            wait_until(access.api, lambda: is_upgraded(access.api, "3.4.0"), what="3.4.0")

        assert access.api.world.state.engine.allocation is None


def test_stopped_operator_writes_nothing_and_releases_the_lease() -> None:
    with serve_api(new_cluster()) as access, run_manager(access) as running:
        wait_until(access.api, lambda: operations(running) > 5)
        running.stop()
        revision = access.api.revision

        lease = access.kube.get(Key("coordination.k8s.io/v1", "Lease", "search", "searchkeeper"))

        assert access.api.revision == revision
        assert lease is not None
        assert lease["spec"]["holderIdentity"] == ""


def is_list_of_a_reconcile(_: str, __: str, ___: str, labels: Any) -> bool:
    """Only reconciles list by labels; the manager lists all SearchClusters."""
    return bool(labels)


class HangingLists:
    """Blocks the lists of reconciles until it is released."""

    def __init__(self, kube: DisconnectingApi, monkeypatch: pytest.MonkeyPatch) -> None:
        self.started, self.released = threading.Event(), threading.Event()
        plain = kube.list

        def list_and_hang(*arguments: Any) -> Any:
            manifests = plain(*arguments)
            if is_list_of_a_reconcile(*arguments):
                self.started.set()
                assert self.released.wait(120)
            return manifests

        monkeypatch.setattr(kube, "list", list_and_hang)


@pytest.mark.exhaustive
def test_operator_that_loses_the_lease_during_a_reconcile_writes_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serve_api(new_cluster()) as access:
        kube = DisconnectingApi(access.kube)
        hanging = HangingLists(kube, monkeypatch)
        with run_manager(access, "suspended", kube=kube, lease=SHORT_LEASE) as suspended:
            wait_until(access.api, hanging.started.is_set)
            monkeypatch.setattr(suspended.manager.lease, "acquire_or_renew", lambda: False)
            with run_manager(access, "other", lease=SHORT_LEASE) as other:
                wait_until(access.api, lambda: other.manager.lease.is_leader, what="another leader")
                hanging.released.set()
                wait_until(access.api, lambda: errors(suspended, "NotLeader") > 0, what="NotLeader")
                wait_until(access.api, lambda: is_running(access.api))
        assert kube.operations == []


def test_operator_that_is_stopped_during_a_reconcile_writes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_api(new_cluster()) as access:
        kube = DisconnectingApi(access.kube)
        hanging = HangingLists(kube, monkeypatch)
        with run_manager(access, kube=kube) as running:
            wait_until(access.api, hanging.started.is_set)
            running.manager.stop()
            hanging.released.set()
        assert kube.operations == []


@pytest.mark.exhaustive
def test_loop_continues_after_an_unexpected_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_api(new_cluster()) as access:
        kube = DisconnectingApi(access.kube)
        faults = iter([ValueError("unexpected")] * 3)
        plain = kube.list

        def fail_thrice(*arguments: Any) -> Any:
            fault = next(faults, None) if is_list_of_a_reconcile(*arguments) else None
            if fault is not None:
                raise fault
            return plain(*arguments)

        monkeypatch.setattr(kube, "list", fail_thrice)
        with run_manager(access, kube=kube) as running:
            wait_until(access.api, lambda: is_running(access.api))

            assert errors(running, "ValueError") == 3


class FlappingEngine:
    """An engine that is unreachable at every other read, once it flaps."""

    def __init__(self, engine: EngineClient) -> None:
        self.engine = engine
        self.is_flapping = False
        self.reads = 0

    def get_state(self) -> EngineView | Unreachable:
        self.reads += self.is_flapping
        return Unreachable("timed out") if self.reads % 2 else self.engine.get_state()

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        return self.engine.get_details(request)

    def execute(self, call: Call) -> None:
        self.engine.execute(call)


@pytest.mark.exhaustive
def test_cosmetic_status_change_is_not_followed_by_an_immediate_reconcile() -> None:
    with serve_api(new_cluster()) as access:
        engine = FlappingEngine(access.api)
        with run_manager(access, engine=engine) as running:
            wait_until(access.api, lambda: is_running(access.api))
            running.manager.intervals = replace(running.manager.intervals, waiting=60)
            engine.is_flapping = True
            wait_until(access.api, lambda: engine.reads > 0, what="a reconcile")
            time.sleep(2)
            # Watches may wake the loop too; without the interval there would be dozens of reads.
            assert engine.reads < 5


@pytest.mark.exhaustive
def test_status_of_a_flapping_engine_is_damped() -> None:
    """Within the resync interval a condition that was True does not turn back in the status."""
    with serve_api(new_cluster()) as access:
        engine = FlappingEngine(access.api)
        with run_manager(access, engine=engine) as running:
            wait_until(access.api, lambda: is_running(access.api) and converged_reconciles(running) > 0)
            running.manager.intervals = replace(running.manager.intervals, resync=3600)
            patches = status_patches(running)
            engine.is_flapping = True
            # The cluster's clock stands still, so that no damping interval ends.
            deadline = time.monotonic() + 60
            while engine.reads < 30:
                assert time.monotonic() < deadline, "the loop does not reconcile"
                wake_all(running)
                time.sleep(0.02)

            assert status_patches(running) - patches < 10


def status_patches(running: RunningManager) -> float:
    return running.metric("searchkeeper_operations_total", operation="patch_status", kind="SearchCluster")


def wake_all(running: RunningManager) -> None:
    for loop in list(running.manager._loops.values()):
        loop.task.get_loop().call_soon_threadsafe(loop.wake)


@pytest.mark.exhaustive
def test_hanging_loop_fails_the_liveness_probe(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_api(new_cluster()) as access:
        kube = DisconnectingApi(access.kube)
        hanging = HangingLists(kube, monkeypatch)
        with run_manager(access, kube=kube, lease=SHORT_LEASE) as running:
            health = running.manager.health
            health._tolerance = 1.2
            wait_until(access.api, hanging.started.is_set)
            wait_until(
                access.api,
                lambda: "search/logs: heartbeat overdue" in str(health.overdue_loops()),
                what="500",
            )
            hanging.released.set()

            wait_until(access.api, lambda: health.is_alive, what="recovery")


def test_deleted_cluster_ends_its_loop_and_its_series() -> None:
    with serve_api(new_cluster()) as access, run_manager(access) as running:
        wait_until(access.api, lambda: is_running(access.api))
        with access.api.alone() as cluster:
            resource = cluster.get(CLUSTER)
            assert resource is not None
            cluster.patch(Patch(CLUSTER, {"metadata": {"finalizers": None}}, ""))
            cluster.delete(Delete(CLUSTER, resource["metadata"]["uid"], ""))

        wait_until(access.api, lambda: not running.manager._loops, what="the end of the loop")
        wait_until(
            access.api, lambda: b'name="logs"' not in running.manager.metrics.render(), what="no series"
        )


@pytest.mark.exhaustive
def test_operator_condition_blocks_olm_while_a_pod_is_replaced() -> None:
    key = Key("operators.coreos.com/v2", "OperatorCondition", "search", "searchkeeper")
    with serve_api(new_cluster()) as access, run_manager(access, operator_condition=key):
        metadata = {"name": key.name, "namespace": key.namespace}
        access.kube.create({"apiVersion": key.api, "kind": key.kind, "metadata": metadata, "spec": {}})
        wait_until(access.api, lambda: is_running(access.api))
        request_version(access)

        wait_until(access.api, lambda: upgradeable(access, key) == "False", what="Upgradeable=False")
        wait_until(
            access.api, lambda: is_upgraded(access.api, "3.4.0") and upgradeable(access, key) == "True"
        )


def upgradeable(access: ApiServerAccess, key: Key) -> str | None:
    conditions = (access.kube.get(key) or {})["spec"].get("conditions") or ()
    return next((each["status"] for each in conditions if each["type"] == "Upgradeable"), None)


@pytest.mark.exhaustive
def test_compacted_watch_lists_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """The watch history is too short for the watches; nothing else wakes a converged cluster."""
    expirations: list[bytes] = []

    def expire(error: Compacted) -> bytes:
        expirations.append(expired_line(error))
        return expirations[-1]

    monkeypatch.setattr("searchkeeper.testing.fake_kubernetes.http_server.expired_line", expire)
    with serve_api(new_cluster(), remembers=3) as access, run_manager(access) as running:
        running.manager.intervals = replace(running.manager.intervals, resync=3600)
        wait_until(access.api, lambda: is_running(access.api) and converged_reconciles(running) > 0)
        request_version(access)
        wait_until(access.api, lambda: is_upgraded(access.api, "3.4.0"), what="3.4.0")
    assert expirations
