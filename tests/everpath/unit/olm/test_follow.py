"""Following an operator: what is logged, when it ends, and retries."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.errors import Unreachable
from everpath.olm.chain import operator_status
from everpath.olm.follow import GRACE_PERIOD, FollowResult, Outcome, follow, status_changes
from everpath.olm.objects import SUBSCRIPTION, RequestDenied
from everpath.olm.snapshot import OperatorSnapshot, observe
from everpath.olm.status import OperatorStatus
from everpath.olm.subscription import trigger_resolution
from tests.support.everpath.fake_cluster import (
    NS,
    FakeClock,
    FakeCluster,
    catalog_source,
    csv,
    deployment,
    install_plan,
    make_cluster,
    operator_group,
    pod,
    subscription,
)
from tests.support.everpath.fake_olm import resolution_failed, set_conditions, wait

PHASES = ["", "Pending", "InstallReady", "Installing", "Succeeded", "Failed", "Replacing", "Deleting"]


def never(_snapshot: OperatorSnapshot, _status: OperatorStatus) -> Outcome | None:
    return None


def unresolvable_cluster() -> FakeCluster:
    return make_cluster(
        catalog_source=catalog_source(),
        operator_group=operator_group(),
        subscription=subscription("", "", resolution_failed("no")),
    )


def run_follow(
    cluster: FakeCluster, clock: FakeClock, unblock: Callable[[OperatorSnapshot], bool] = lambda _: False
) -> tuple[FollowResult, list[str]]:
    log: list[str] = []
    result = follow(lambda: observe(cluster, "op", NS), never, clock.clock, log.append, unblock)
    return result, log


def test_unchanged_status_is_logged_once() -> None:
    cluster = make_cluster(
        catalog_source=catalog_source(), operator_group=operator_group(), subscription=subscription()
    )
    result, log = run_follow(cluster, FakeClock(timeout=60))
    assert result.outcome is Outcome.DEADLINE
    assert len(log) == len(set(log)) == 3


def test_final_wait_ends_following_after_the_grace_period() -> None:
    clock = FakeClock(timeout=3600)
    result, _ = run_follow(unresolvable_cluster(), clock)
    assert (result.outcome, clock.now) == (Outcome.STUCK, GRACE_PERIOD)


def test_resolution_is_triggered_once_if_constraints_are_not_satisfiable() -> None:
    cluster, clock = unresolvable_cluster(), FakeClock(timeout=3600)
    result, _ = run_follow(cluster, clock, lambda snapshot: trigger_resolution(cluster, snapshot))
    assert cluster.log == ["patch Subscription op"]
    assert (result.outcome, clock.now) == (Outcome.STUCK, GRACE_PERIOD * 1.5)


def test_stale_resolution_failure_is_unblocked_after_three_seconds() -> None:
    cluster, clock = unresolvable_cluster(), FakeClock(timeout=3600)
    set_conditions(cluster, resolution_failed("@existing/ns//op.v0.9.0 exists"))()
    times: list[float] = []

    def unblock(snapshot: OperatorSnapshot) -> bool:
        times.append(clock.now)
        return trigger_resolution(cluster, snapshot)

    run_follow(cluster, clock, unblock)
    assert times == [3]


def test_resolution_is_not_triggered_for_other_waits() -> None:
    cluster = make_cluster(operator_group=operator_group(), subscription=subscription())
    run_follow(cluster, FakeClock(timeout=60), lambda snapshot: trigger_resolution(cluster, snapshot))
    assert cluster.log == []


def test_wait_that_ends_within_the_grace_period_is_not_stuck() -> None:
    cluster = unresolvable_cluster()
    steps = (*[wait] * 15, lambda: cluster.put(SUBSCRIPTION, subscription()))
    clock = FakeClock(*steps, timeout=60)
    result, _ = run_follow(cluster, clock)
    assert (result.outcome, clock.now) == (Outcome.DEADLINE, 60)


def test_unreachable_cluster_is_retried() -> None:
    cluster, clock, log = unresolvable_cluster(), FakeClock(timeout=60), list[str]()
    failures = iter([False, True, True, False])

    def read_snapshot() -> OperatorSnapshot:
        if next(failures, False):
            raise Unreachable("the cluster does not respond")
        return observe(cluster, "op", NS)

    result = follow(read_snapshot, never, clock.clock, log.append)
    assert result.outcome is Outcome.STUCK
    assert log.count("the cluster does not respond; retrying") == 1


@pytest.mark.parametrize("error", [RequestDenied("denied", code=403), Unreachable("no response")])
def test_error_of_the_first_request_is_not_retried(error: Exception) -> None:
    def read_snapshot() -> OperatorSnapshot:
        raise error

    clock = FakeClock(timeout=60)
    with pytest.raises(type(error)):
        follow(read_snapshot, never, clock.clock, lambda _: None)
    assert clock.now == 0


def test_denied_request_is_not_retried() -> None:
    snapshots = iter([observe(unresolvable_cluster(), "op", NS)])

    def read_snapshot() -> OperatorSnapshot:
        for snapshot in snapshots:
            return snapshot
        raise RequestDenied("token expired", code=401)

    with pytest.raises(RequestDenied):
        follow(read_snapshot, never, FakeClock(timeout=60).clock, lambda _: None)


NAMES = st.sampled_from(["op.v1.0.0", "op.v1.1.0"])
OPTIONAL_NAMES = st.just("") | NAMES

#: Any state of an operator, including ones that OLM does not reach.
SNAPSHOTS = st.builds(
    OperatorSnapshot,
    st.just("op"),
    st.just(NS),
    operator_groups=st.lists(st.sampled_from(["a", "b"]).map(operator_group), max_size=2).map(tuple),
    catalog_source=st.none()
    | st.sampled_from(["READY", "CONNECTING", "", "TRANSIENT_FAILURE"]).map(catalog_source),
    subscriptions=st.lists(
        st.builds(
            subscription,
            OPTIONAL_NAMES,
            OPTIONAL_NAMES,
            state=st.sampled_from(["", "AtLatestKnown", "UpgradePending", "UpgradeFailed"]),
            plan=st.sampled_from(["", "install-1"]),
        ),
        max_size=2,
    ).map(tuple),
    install_plans=st.lists(
        st.builds(
            install_plan,
            st.sampled_from(["", "Installing", "RequiresApproval", "Complete", "Failed"]),
            NAMES,
            approved=st.booleans(),
        ),
        max_size=1,
    ).map(tuple),
    csvs=st.lists(st.builds(csv, NAMES, st.sampled_from(PHASES), replaces=OPTIONAL_NAMES), max_size=2).map(
        tuple
    ),
    deployments=st.lists(st.builds(deployment, st.integers(0, 2), st.integers(0, 2)), max_size=1).map(tuple),
    pods=st.lists(
        st.builds(pod, phase=st.sampled_from(["", "Pending", "Running", "Failed"])), max_size=1
    ).map(tuple),
)
STATUSES = SNAPSHOTS.map(operator_status)


@given(STATUSES)
def test_same_status_has_no_changes(status: OperatorStatus) -> None:
    assert list(status_changes(status, status)) == []


@given(STATUSES)
def test_status_is_settled_or_has_waits(status: OperatorStatus) -> None:
    assert status.is_settled or status.waits
    assert all(wait.message.strip() and "\n" not in wait.message for wait in status.waits)


@given(STATUSES)
def test_running_csv_is_not_the_next_csv(status: OperatorStatus) -> None:
    assert (status.running_csv == "") or status.running_csv.startswith("op.v")
    assert status.running_csv == "" or status.running_csv != status.next_csv
