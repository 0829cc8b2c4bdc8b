"""Rollback: when an upgrade has failed, and which direction it takes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.api.reasons import Reason
from searchkeeper.api.spec import Rollback
from searchkeeper.kubernetes.operations import Patch
from searchkeeper.opensearch.view import Unreachable
from searchkeeper.planner import NOT_COUNTED, Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot, Pod
from searchkeeper.upgrade.ledger import ABANDONED, ROLLBACK_TO, UPGRADE, UpgradeLedger
from searchkeeper.upgrade.rollback import (
    ROLLBACK_ANNOTATION,
    choose_direction,
    failure,
    forward_hint,
    rollback_hint,
)
from tests.support.searchkeeper.snapshots import NEW, OLD, cluster_snapshot, pod, pool

# Can be reached from OLD, not from NEW.
MIDDLE = "3.3.2"
MANAGERS = pool("managers", 3, roles="cluster_manager")
SINCE = 100  # The snapshot is of second 1000: the deadline has passed.


def upgraded_pod(version: str = NEW, **differences: Any) -> Pod:
    return pod("data-0", engine_version=version, has_started=True, **differences)


def observed_cluster(
    version: str = NEW, first: Pod | None = None, *shards: str, annotation: str | None = None, **policy: Any
) -> ClusterSnapshot:
    """Return a snapshot of a cluster whose spec has this version, with this first data node."""
    data = pool("data", 2, pods=[first or pod("data-0"), pod("data-1")])
    snapshot = cluster_snapshot(data, MANAGERS, shards=shards or ["logs: data-0* data-1"], **policy)
    annotations = () if annotation is None else ((ROLLBACK_ANNOTATION, annotation),)
    spec = replace(snapshot.cluster.spec, version=version)
    return replace(snapshot, cluster=replace(snapshot.cluster, spec=spec, annotations=annotations))


BLOCKING = "logs: data-0*"  # the only copy is on the newer node


def ledger_with(target: str = NEW, *, waits: str | None = None, **entries: Entry) -> UpgradeLedger:
    """Return the ledger of an upgrade that waits for its pods for this reason."""
    waits_entry: dict[str, Entry] = {} if waits is None else {"wait/PodsCurrent": (waits, SINCE)}
    keys = {f"upgrade/{name.replace('_', '-')}": entry for name, entry in entries.items()}
    return UpgradeLedger.of({UPGRADE: (OLD, target), **waits_entry, **keys})


def ledger_changes(result: Result) -> dict[str, Entry | None]:
    return {change.key: change.value for change in result.ledger_changes}


TIMED_OUT = ledger_with(waits="WaitingForPods")


@pytest.mark.parametrize("name", ["PodsCurrent", "PoolsConverged", "EngineHealthy", "UpgradeFinished"])
def test_wait_for_nodes_beyond_the_deadline_is_a_failure(name: str) -> None:
    key = f"wait/{name}"
    assert failure(observed_cluster(), UpgradeLedger.of({key: ("EngineHealthy", SINCE)}))
    assert failure(observed_cluster(), UpgradeLedger.of({key: ("EngineHealthy", SINCE + 1)})) is None


@pytest.mark.parametrize("reason", sorted(NOT_COUNTED | {"NameConflict", "SecretMissing"}))
def test_wait_for_a_reason_that_is_not_counted_is_no_failure(reason: str) -> None:
    assert failure(observed_cluster(), ledger_with(waits=reason)) is None


def test_pause_is_no_failure() -> None:
    assert failure(observed_cluster(paused=True), TIMED_OUT) is None


def test_wait_before_the_operator_started_is_no_failure() -> None:
    assert failure(replace(observed_cluster(), observing_since=SINCE), TIMED_OUT)
    assert failure(replace(observed_cluster(), observing_since=SINCE + 1), TIMED_OUT) is None


def test_rollback_hint_is_given_if_a_user_has_to_request_the_rollback() -> None:
    assert rollback_hint(observed_cluster(rollback=Rollback.MANUAL), TIMED_OUT, OLD)
    assert rollback_hint(observed_cluster(rollback=Rollback.MANUAL), ledger_with(), OLD) is None
    assert rollback_hint(observed_cluster(rollback=Rollback.AUTOMATIC), TIMED_OUT, OLD) is None


def test_no_rollback_hint_is_given_if_the_annotation_has_no_effect() -> None:
    blocked = observed_cluster(NEW, upgraded_pod(), BLOCKING, rollback=Rollback.MANUAL)
    assert rollback_hint(blocked, TIMED_OUT, OLD) is None
    going_back = TIMED_OUT.with_changes({ROLLBACK_TO: OLD})
    assert rollback_hint(observed_cluster(rollback=Rollback.MANUAL), going_back, OLD) is None


def test_forward_hint_says_how_to_continue_when_the_rollback_is_blocked() -> None:
    assert (
        forward_hint(observed_cluster(OLD), ledger_with())
        == f"to continue the upgrade, set spec.version to {NEW}"
    )
    assert forward_hint(observed_cluster(NEW), ledger_with()) == "to continue the upgrade, change the spec"


@pytest.mark.parametrize("rollback", Rollback)
def test_upgrade_that_makes_progress_continues(rollback: Rollback) -> None:
    assert choose_direction(observed_cluster(rollback=rollback), ledger_with()).is_true


@pytest.mark.parametrize(
    ("rollback", "rolls_back"), [(Rollback.AUTOMATIC, True), (Rollback.MANUAL, False), (Rollback.OFF, False)]
)
def test_failed_upgrade_is_rolled_back_only_if_the_policy_is_automatic(
    rollback: Rollback, rolls_back: bool
) -> None:
    result = choose_direction(observed_cluster(rollback=rollback), TIMED_OUT)
    assert ledger_changes(result) == ({ROLLBACK_TO: OLD, ABANDONED: (NEW, 1)} if rolls_back else {})


@pytest.mark.parametrize(
    ("rollback", "annotation", "rolls_back"),
    [
        (Rollback.AUTOMATIC, OLD, True),
        (Rollback.MANUAL, OLD, True),
        (Rollback.OFF, OLD, False),
        (Rollback.MANUAL, MIDDLE, False),
    ],
)
def test_rollback_request_is_followed_if_policy_and_version_match(
    rollback: Rollback, annotation: str, rolls_back: bool
) -> None:
    result = choose_direction(observed_cluster(rollback=rollback, annotation=annotation), ledger_with())
    assert ledger_changes(result) == ({ROLLBACK_TO: OLD, ABANDONED: (NEW, 1)} if rolls_back else {})


@pytest.mark.parametrize("rollback", Rollback)
def test_older_version_in_the_spec_starts_a_rollback_and_abandons_no_version(rollback: Rollback) -> None:
    """The user can return to the newer version without another change of the spec."""
    assert ledger_changes(choose_direction(observed_cluster(OLD, rollback=rollback), ledger_with())) == {
        ROLLBACK_TO: OLD
    }


@pytest.mark.parametrize("version", [OLD, NEW])
def test_upgrade_continues_if_the_rollback_is_blocked(version: str) -> None:
    """I13: half an upgrade would keep the spec lock."""
    result = choose_direction(
        observed_cluster(version, upgraded_pod(), BLOCKING, rollback=Rollback.AUTOMATIC), TIMED_OUT
    )
    assert (result.is_true, result.reason, result.ledger_changes) == (True, Reason.ROLLBACK_BLOCKED, ())


def test_failed_target_is_replaced_if_the_rollback_is_blocked() -> None:
    snapshot = observed_cluster(NEW, upgraded_pod(MIDDLE), BLOCKING, rollback=Rollback.AUTOMATIC)
    result = choose_direction(snapshot, ledger_with(MIDDLE, waits="WaitingForPods"))
    assert ledger_changes(result) == {UPGRADE: (OLD, NEW)}


ROLLING_BACK: dict[str, Entry] = {"return": OLD}


def blocked_rollback(version: str, **options: Any) -> Result:
    """Return the direction of a blocked rollback whose rollout waits for it."""
    entries = {"waits": Reason.ROLLBACK_BLOCKED, **ROLLING_BACK, **options.pop("entries", {})}
    shards = options.pop("shards", BLOCKING)
    return choose_direction(
        observed_cluster(version, upgraded_pod(), shards, **options), ledger_with(**entries)
    )


def test_blocked_rollback_resumes_the_upgrade_if_the_spec_wants_it() -> None:
    """L4."""
    result = blocked_rollback(NEW)
    assert (result.reason, ledger_changes(result)) == (
        "ResumingUpgrade",
        {ROLLBACK_TO: None, ABANDONED: None},
    )


@pytest.mark.parametrize(
    ("version", "options"),
    [
        (OLD, {}),
        ("9.9.9", {}),
        (NEW, {"entries": {"given_up": (NEW, 1)}}),
        (NEW, {"shards": "logs: data-0* data-1"}),
        (NEW, {"entries": {"waits": "WaitingForPods"}}),
        (NEW, {"entries": {"waits": None}}),
    ],
    ids=["not wanted", "refused", "abandoned", "not blocked", "waits for pods", "does not wait"],
)
def test_rollback_continues_otherwise(version: str, options: dict[str, Any]) -> None:
    result = blocked_rollback(version, **options)
    assert (result.is_true, result.ledger_changes, result.operations) == (True, (), ())


def test_rollback_request_is_removed_before_the_upgrade_resumes() -> None:
    """Otherwise it would start a rollback again."""
    [patch] = blocked_rollback(NEW, annotation=OLD).operations
    assert isinstance(patch, Patch)
    assert patch.changes == {"metadata": {"annotations": {ROLLBACK_ANNOTATION: None}}}
    assert patch.resource_version == "1"


def test_refused_target_changes_nothing() -> None:
    result = choose_direction(observed_cluster("9.9.9", upgraded_pod()), TIMED_OUT)
    assert (result.is_true, result.ledger_changes) == (True, ())


def test_newer_target_waits_for_an_upgrade_that_makes_progress() -> None:
    result = choose_direction(observed_cluster(MIDDLE, upgraded_pod()), ledger_with())
    assert (result.reason, result.waits_for_user) == ("TargetQueued", True)


def test_other_target_replaces_one_that_no_node_has_run() -> None:
    assert ledger_changes(choose_direction(observed_cluster(MIDDLE), ledger_with())) == {
        UPGRADE: (OLD, MIDDLE)
    }


DOWN = {"is_ready": False, "problem": "CrashLoopBackOff"}


@pytest.mark.parametrize(
    ("first", "is_failing"),
    [
        (upgraded_pod(MIDDLE, **DOWN), True),
        (upgraded_pod(MIDDLE, is_ready=False), False),
        (upgraded_pod(MIDDLE, problem="CrashLoopBackOff"), False),
    ],
    ids=["down", "only starting", "ready again"],
)
def test_failed_pod_of_the_target_version_is_a_failure_at_once(first: Pod, is_failing: bool) -> None:
    result = choose_direction(observed_cluster(NEW, first), ledger_with(MIDDLE))
    assert ledger_changes(result) == ({UPGRADE: (OLD, NEW)} if is_failing else {})


def test_failed_pod_of_the_older_version_is_no_failure_of_the_target() -> None:
    snapshot = observed_cluster(NEW, upgraded_pod(MIDDLE))
    data = replace(snapshot.pools[0], pods=(snapshot.pools[0].pods[0], pod("data-1", **DOWN)))
    assert (
        choose_direction(replace(snapshot, pools=(data, MANAGERS)), ledger_with(MIDDLE)).reason
        == "TargetQueued"
    )


def test_target_that_is_older_than_a_failing_one_starts_a_rollback() -> None:
    """No version is abandoned: the spec wants neither of the two."""
    result = choose_direction(observed_cluster(MIDDLE, upgraded_pod(), rollback=Rollback.OFF), TIMED_OUT)
    assert (result.reason, ledger_changes(result)) == ("StartingRollback", {ROLLBACK_TO: OLD})


def test_target_that_is_older_than_a_failing_one_waits_if_the_rollback_is_blocked() -> None:
    """I13."""
    result = choose_direction(
        observed_cluster(MIDDLE, upgraded_pod(), BLOCKING, rollback=Rollback.OFF), TIMED_OUT
    )
    assert (result.reason, result.waits_for_user, result.ledger_changes) == (
        Reason.ROLLBACK_BLOCKED,
        True,
        (),
    )


def test_rollback_needs_no_engine_while_no_node_has_run_the_newer_version() -> None:
    """An upgrade that no node has started can always be rolled back."""
    unreachable = replace(observed_cluster(OLD), engine=Unreachable("timed out"))
    assert ledger_changes(choose_direction(unreachable, ledger_with())) == {ROLLBACK_TO: OLD}


def test_target_is_raised_to_the_newest_version_that_a_pod_has_started() -> None:
    """L4: the older target cannot start on the pod's disk."""
    result = choose_direction(observed_cluster(MIDDLE, upgraded_pod()), ledger_with(MIDDLE))
    assert (result.reason, ledger_changes(result)) == ("ChangingTarget", {UPGRADE: (OLD, NEW)})
    assert "data-0 already runs 3.4.0" in result.message


@pytest.mark.parametrize(
    "first",
    [pod("data-0", engine_version=NEW), upgraded_pod(MIDDLE), upgraded_pod("9.9.9"), upgraded_pod("latest")],
    ids=["not started", "runs the target", "refused", "no version"],
)
def test_target_is_not_raised_otherwise(first: Pod) -> None:
    assert choose_direction(observed_cluster(MIDDLE, first), ledger_with(MIDDLE)).is_true


def test_queued_target_that_cannot_read_the_disk_names_both_remedies() -> None:
    result = choose_direction(observed_cluster(MIDDLE, upgraded_pod()), ledger_with())
    assert result.message == (
        "3.3.2 cannot start on the disk of data-0, which 3.4.0 wrote; to continue, set spec.version to 3.4.0;"
        " to roll back, annotate the SearchCluster with search.everpath.dev/rollback=2.19.4"
    )
    blocked = choose_direction(observed_cluster(MIDDLE, upgraded_pod(), BLOCKING), ledger_with())
    assert blocked.message.endswith("; to continue, set spec.version to 3.4.0")
