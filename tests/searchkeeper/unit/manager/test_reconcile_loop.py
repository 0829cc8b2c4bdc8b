"""The reconcile loop of one cluster: requeue intervals, backoff, denied operations, oscillations."""

from __future__ import annotations

import time
from dataclasses import replace

import pytest

from searchkeeper.executor import DeniedOperation
from searchkeeper.kubernetes.api import Conflict, NotFound, Rejected, Unavailable
from searchkeeper.kubernetes.operations import Delete, EmitEvent
from searchkeeper.manager.reconcile_loop import RequeueIntervals
from searchkeeper.reconcile import ReconcileOutcome
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.managers import run_manager, serve_api, wait_until
from tests.support.searchkeeper.operator_runs import CLUSTER, new_cluster


def test_backoff_doubles_up_to_its_upper_bound() -> None:
    intervals = RequeueIntervals(min_backoff=0.2, max_backoff=60)

    assert [intervals.backoff(failures) for failures in (1, 2, 3, 9, 10)] == [0.2, 0.4, 0.8, 51.2, 60]
    assert max(intervals.backoff(failures) for failures in range(1, 5000)) == 60


@pytest.mark.parametrize(
    ("limit", "is_oscillating"),
    [("_CHANGE_LIMIT", False), ("OSCILLATION_LIMIT", True)],
    ids=["endless changes", "oscillation"],
)
def test_endless_operations_are_slowed_down_and_logged(
    limit: str, is_oscillating: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(f"searchkeeper.manager.reconcile_loop.{limit}", 10)
    changed = ReconcileOutcome(wrote=True, converged=False, is_oscillating=is_oscillating)
    monkeypatch.setattr("searchkeeper.manager.manager.reconcile", lambda *_, **__: changed)
    caplog.set_level("WARNING", "searchkeeper")
    with serve_api(FakeCluster()) as access, run_manager(access) as running:
        running.manager.intervals = replace(running.manager.intervals, waiting=60)
        with access.api.alone() as cluster:
            cluster.state = new_cluster().state
        wait_until(
            access.api, lambda: "oscillating operations; slowing down" in caplog.text, what="a warning"
        )

        wait_until(access.api, lambda: running.metric("searchkeeper_reconcile_total") == 10)


@pytest.mark.exhaustive
def test_denied_operation_is_logged_and_retried_with_backoff(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    denial = DeniedOperation("DisruptionBudgetsApplied", Delete(CLUSTER, "", ""), Rejected("exceeded quota"))
    denied = ReconcileOutcome(wrote=False, converged=False, denied=(denial,))
    monkeypatch.setattr("searchkeeper.manager.manager.reconcile", lambda *_, **__: denied)
    caplog.set_level("WARNING", "searchkeeper")
    with serve_api(new_cluster()) as access, run_manager(access) as running:
        running.manager.intervals = replace(
            running.manager.intervals, min_backoff=0.01, max_backoff=600, resync=60
        )
        errors = "searchkeeper_reconcile_errors_total"
        wait_until(access.api, lambda: running.metric(errors, error="Rejected") > 3)
        time.sleep(2)
        assert running.metric("searchkeeper_reconcile_total", result="denied") < 12
        assert "operation denied; retrying" in caplog.text


def test_denied_event_is_logged_when_another_operation_succeeded(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The ledger has the event before it is sent, so it is not retried."""
    denial = DeniedOperation(
        "EventsEmitted", EmitEvent(CLUSTER, "Stalled", "no image"), Rejected("not permitted")
    )
    outcomes = iter([ReconcileOutcome(wrote=True, converged=False, denied=(denial,))])
    converged = ReconcileOutcome(wrote=False, converged=True)
    monkeypatch.setattr("searchkeeper.manager.manager.reconcile", lambda *_, **__: next(outcomes, converged))
    caplog.set_level("WARNING", "searchkeeper")
    with serve_api(new_cluster()) as access, run_manager(access) as running:
        wait_until(access.api, lambda: running.metric("searchkeeper_reconcile_total", result="converged") > 0)
        assert running.metric("searchkeeper_reconcile_errors_total", error="Rejected") == 1
        assert "event denied; not retried" in caplog.text


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (Conflict("409"), "conflict on get of SearchCluster search/logs; requeued"),
        (NotFound("404"), "not found on get of SearchCluster search/logs; requeued"),
        (Unavailable("503"), "reconcile failed; retrying"),
        (ZeroDivisionError(), "reconcile failed unexpectedly; retrying"),
    ],
    ids=["conflict", "not-found", "unavailable", "unexpected"],
)
def test_failed_reconcile_is_logged_and_retried(
    error: Exception, message: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    failures = iter([error])

    def fail_once(kube: object, *_: object, **__: object) -> ReconcileOutcome:
        kube.get(CLUSTER)  # type: ignore[attr-defined]
        failure = next(failures, None)
        if failure is not None:
            raise failure
        return ReconcileOutcome(wrote=False, converged=True)

    monkeypatch.setattr("searchkeeper.manager.manager.reconcile", fail_once)
    caplog.set_level("INFO", "searchkeeper")
    with serve_api(new_cluster()) as access, run_manager(access) as running:
        wait_until(access.api, lambda: running.metric("searchkeeper_reconcile_total", result="converged") > 0)
    assert message in [record.getMessage() for record in caplog.records]
