"""`run --once`: leftover Leases, failing engines, slow reconciles."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.kubernetes.api import Conflict, Unavailable
from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.manager.fencing import ShuttingDown
from searchkeeper.manager.leader_election import LeaderLease, NotLeader
from searchkeeper.manager.run_once import ClusterOutcome, RunOnce
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.releases import newest
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    add_index,
    edit_spec,
    new_cluster,
    reconcile_until_converged,
)

Hook = Callable[[], None]

KEY = LeaderLease.lease_key("search")
_TIMEOUT = 60


def lease(cluster: Any, name: str, duration: float = 60) -> LeaderLease:
    return LeaderLease(cluster, KEY, name, duration=duration)


def holder(cluster: FakeCluster) -> str:
    manifest = cluster.get(KEY)
    assert manifest is not None
    return str(manifest["spec"]["holderIdentity"])


class Engine:
    """The engine of a fake cluster, with hooks before reads and calls."""

    def __init__(
        self, cluster: FakeCluster, *, on_call: Hook | None = None, on_read: Hook | None = None
    ) -> None:
        self._cluster, self._on_call = cluster, on_call
        self.on_read = on_read

    def get_state(self) -> EngineView | Unreachable:
        if self.on_read is not None:
            self.on_read()
        return self._cluster.get_state()

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        return self._cluster.get_details(request)

    def execute(self, call: Call) -> None:
        if self._on_call is not None:
            self._on_call()
        self._cluster.execute(call)


def run_once(cluster: FakeCluster, engine: Engine | None = None, *, duration: float = 60) -> RunOnce:
    client, now = engine or Engine(cluster), lambda: cluster.state.now
    return RunOnce(cluster, lambda _: client, newest(), lease(cluster, "once", duration), clock=now)


def outcomes(once: RunOnce) -> list[ClusterOutcome]:
    reported: list[ClusterOutcome] = []
    once.run(("search",), reported.append)
    return reported


def with_another_cluster(cluster: FakeCluster, name: str) -> FakeCluster:
    resource = cluster.get(CLUSTER)
    assert resource is not None
    cluster.create({**resource, "metadata": {"name": name, "namespace": "search"}, "status": {}})
    return cluster


@pytest.mark.exhaustive
def test_leftover_lease_is_awaited_until_it_expires() -> None:
    cluster = new_cluster()
    assert lease(cluster, "killed", duration=1).acquire_or_renew()

    assert [outcome.error for outcome in outcomes(run_once(cluster))] == [None]
    assert holder(cluster) == ""


@pytest.mark.exhaustive
def test_renewed_lease_of_another_operator_is_an_error() -> None:
    cluster, done = new_cluster(), threading.Event()
    alive = lease(cluster, "alive", duration=1)
    assert alive.acquire_or_renew()

    def renew() -> None:
        while not done.wait(0.05):
            alive.acquire_or_renew()

    renewing = threading.Thread(target=renew, daemon=True)
    renewing.start()
    with pytest.raises(NotLeader, match="alive, holds the lease"):
        outcomes(run_once(cluster))
    done.set()
    renewing.join()


def test_waiting_for_the_lease_can_be_stopped() -> None:
    cluster = new_cluster()
    assert lease(cluster, "alive").acquire_or_renew()
    waiting = run_once(cluster)
    waiting.stop()

    with pytest.raises(NotLeader):
        outcomes(waiting)


def test_failing_engine_of_one_cluster_does_not_skip_the_others() -> None:
    cluster = new_cluster()
    reconcile_until_converged(cluster, newest().version)
    with_another_cluster(edit_spec(cluster, version="3.4.0"), "shop")

    def fail() -> None:
        raise CallFailed("500 nope")

    reported = outcomes(run_once(cluster, Engine(cluster, on_call=fail)))

    assert [(outcome.cluster.name, str(outcome.error)) for outcome in reported] == [
        ("logs", "500 nope"),
        ("shop", "None"),
    ]
    assert holder(cluster) == ""


def test_conflict_is_retried(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = new_cluster()
    plain, conflicts = cluster.patch_status, iter(range(3))

    def conflict(patch: Patch) -> Any:
        if next(conflicts, None) is not None:
            raise Conflict("409")
        return plain(patch)

    monkeypatch.setattr(cluster, "patch_status", conflict)
    assert [outcome.error for outcome in outcomes(run_once(cluster))] == [None]


def test_endless_conflict_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = new_cluster()

    def conflict(_: Patch) -> Any:
        raise Conflict("409")

    monkeypatch.setattr(cluster, "patch_status", conflict)
    [outcome] = outcomes(run_once(cluster))

    assert isinstance(outcome.error, Conflict)
    assert holder(cluster) == ""


@pytest.mark.exhaustive
def test_lease_is_renewed_during_a_slow_reconcile(monkeypatch: pytest.MonkeyPatch) -> None:
    """The read of the engine ends after two renewals, which another thread must send."""
    cluster = new_cluster()
    renewals: list[str] = []
    renewed = threading.Event()
    plain = cluster.patch

    def patch(patch: Patch) -> Any:
        if patch.key == KEY:
            renewals.append(str(patch.changes["spec"].get("renewTime")))
            if len(renewals) > 1:
                renewed.set()
        return plain(patch)

    monkeypatch.setattr(cluster, "patch", patch)

    def wait_for_renewals() -> None:
        assert renewed.wait(_TIMEOUT), "the lease is not renewed"

    [outcome] = outcomes(run_once(cluster, Engine(cluster, on_read=wait_for_renewals), duration=3))
    assert outcome.error is None


def test_unexpected_error_releases_the_lease() -> None:
    cluster = new_cluster()

    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        outcomes(run_once(cluster, Engine(cluster, on_read=broken)))
    assert holder(cluster) == ""


def test_stop_during_a_reconcile_writes_nothing_and_releases_the_lease() -> None:
    cluster = new_cluster()
    engine = Engine(cluster)
    once = run_once(cluster, engine)
    engine.on_read = once.stop

    with pytest.raises(ShuttingDown):
        outcomes(once)
    assert holder(cluster) == ""
    assert Key("v1", "Service", "search", "logs") not in cluster.state.cluster.objects


def test_unavailable_api_server_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = new_cluster()

    def fail(*_: Any) -> Any:
        raise Unavailable("no response")

    monkeypatch.setattr(cluster, "list", fail)
    with pytest.raises(Unavailable):
        outcomes(run_once(cluster))
    assert holder(cluster) == ""


def test_hanging_engine_does_not_delay_the_release_of_the_lease() -> None:
    cluster, reading, release = new_cluster(), threading.Event(), threading.Event()

    def hang() -> None:
        reading.set()
        assert release.wait(120)

    once = run_once(cluster, Engine(cluster, on_read=hang))
    working = threading.Thread(target=lambda: expect_shutdown(once), daemon=True)
    working.start()
    assert reading.wait(60)
    once.stop()
    once.shutdown.wait()

    assert holder(cluster) == ""
    release.set()
    working.join(60)
    assert not working.is_alive()


def expect_shutdown(once: RunOnce) -> None:
    with pytest.raises(ShuttingDown):
        outcomes(once)


def test_engine_with_a_new_error_at_every_read_does_not_run_endlessly() -> None:
    cluster = new_cluster()
    reconcile_until_converged(cluster, newest().version)
    reads: list[str] = []

    class Flapping(Engine):
        def get_state(self) -> EngineView | Unreachable:
            reads.append(f"timed out after {len(reads)} ms")
            assert len(reads) < _TIMEOUT
            return Unreachable(reads[-1])

    [outcome] = outcomes(run_once(cluster, Flapping(cluster)))
    assert not outcome.is_done
    assert outcome.error is None


def test_engine_that_flaps_red_does_not_run_endlessly() -> None:
    """Allocation would be disabled and enabled at every reconcile, and no pod replaced."""
    cluster = new_cluster()
    reconcile_until_converged(cluster, newest().version)
    add_index(cluster)
    reads: list[Color] = []

    class Flapping(Engine):
        def get_state(self) -> EngineView | Unreachable:
            view = super().get_state()
            assert isinstance(view, EngineView)
            reads.append(Color.RED if len(reads) % 2 else view.color)
            assert len(reads) < 2 * _TIMEOUT
            return replace(view, color=reads[-1])

    [outcome] = outcomes(run_once(edit_spec(cluster, version="3.4.0"), Flapping(cluster)))
    assert not outcome.is_done
    assert outcome.error is None
