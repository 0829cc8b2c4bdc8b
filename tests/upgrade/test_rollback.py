"""When an upgrade has failed, and where it goes."""

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
from worlds import NEW, OLD, pod, pool, world

# Between the two: the older version can be upgraded to it, the newer one cannot.
MIDDLE = "3.3.2"
MANAGERS = pool("managers", 3, roles="cluster_manager")
SINCE = 100  # in seconds. It is 1000 now, so the deadline of 900 has passed.


def upgraded_pod(version: str = NEW, **differences: Any) -> Pod:
    return pod("data-0", engine_version=version, has_started=True, **differences)


def snapshot_of(
    version: str = NEW, first: Pod | None = None, *shards: str, order: str | None = None, **policy: Any
) -> ClusterSnapshot:
    """A cluster whose spec has this version. `first` is its first data node."""
    data = pool("data", 2, pods=[first or pod("data-0"), pod("data-1")])
    found = world(data, MANAGERS, shards=shards or ["logs: data-0* data-1"], **policy)
    given = () if order is None else ((ROLLBACK_ANNOTATION, order),)
    cluster = replace(found.cluster, spec=replace(found.cluster.spec, version=version), annotations=given)
    return replace(found, cluster=cluster)


CLOSED = "logs: data-0*"  # the only copy is on the newer node


def ledger_of(target: str = NEW, *, waits: str | None = None, **lines: Entry) -> UpgradeLedger:
    """The ledger of an upgrade. `waits` is the reason for which PodsCurrent has waited too long."""
    waited: dict[str, Entry] = {} if waits is None else {"wait/PodsCurrent": (waits, SINCE)}
    named = {f"upgrade/{name.replace('_', '-')}": entry for name, entry in lines.items()}
    return UpgradeLedger.of({UPGRADE: (OLD, target), **waited, **named})


def notes(answer: Result) -> dict[str, Entry | None]:
    return {note.key: note.value for note in answer.ledger_changes}


LATE = ledger_of(waits="WaitingForPods")


@pytest.mark.parametrize("name", ["PodsCurrent", "PoolsConverged", "EngineHealthy", "UpgradeFinished"])
def test_upgrade_fails_if_an_action_waits_too_long_for_nodes(name: str) -> None:
    line = f"wait/{name}"
    assert failure(snapshot_of(), UpgradeLedger.of({line: ("EngineHealthy", SINCE)}))
    assert failure(snapshot_of(), UpgradeLedger.of({line: ("EngineHealthy", SINCE + 1)})) is None


@pytest.mark.parametrize("reason", sorted(NOT_COUNTED))
def test_errors_and_denied_operations_are_no_failure_of_a_version(reason: str) -> None:
    assert failure(snapshot_of(), ledger_of(waits=reason)) is None


def test_paused_upgrade_does_not_fail() -> None:
    assert failure(snapshot_of(paused=True), LATE) is None


def test_process_that_just_started_waits_for_the_whole_deadline() -> None:
    assert failure(replace(snapshot_of(), observing_since=SINCE), LATE)
    assert failure(replace(snapshot_of(), observing_since=SINCE + 1), LATE) is None


def test_hint_says_how_to_roll_back_if_the_policy_is_manual() -> None:
    assert rollback_hint(snapshot_of(rollback=Rollback.MANUAL), LATE, OLD)
    assert rollback_hint(snapshot_of(rollback=Rollback.MANUAL), ledger_of(), OLD) is None
    assert rollback_hint(snapshot_of(rollback=Rollback.AUTOMATIC), LATE, OLD) is None


def test_hint_says_how_to_continue_if_a_rollback_is_blocked() -> None:
    assert (
        forward_hint(snapshot_of(OLD), ledger_of()) == f"to continue the upgrade, set spec.version to {NEW}"
    )
    assert forward_hint(snapshot_of(NEW), ledger_of()) == "to continue the upgrade, change the spec"


@pytest.mark.parametrize("rollback", Rollback)
def test_healthy_upgrade_continues(rollback: Rollback) -> None:
    assert choose_direction(snapshot_of(rollback=rollback), ledger_of()).is_true


@pytest.mark.parametrize(
    ("rollback", "turns"), [(Rollback.AUTOMATIC, True), (Rollback.MANUAL, False), (Rollback.OFF, False)]
)
def test_failed_upgrade_rolls_back_if_the_policy_is_automatic(rollback: Rollback, turns: bool) -> None:
    found = choose_direction(snapshot_of(rollback=rollback), LATE)
    assert notes(found) == ({ROLLBACK_TO: OLD, ABANDONED: (NEW, 1)} if turns else {})


@pytest.mark.parametrize(
    ("rollback", "order", "turns"),
    [
        (Rollback.AUTOMATIC, OLD, True),
        (Rollback.MANUAL, OLD, True),
        (Rollback.OFF, OLD, False),
        (Rollback.MANUAL, MIDDLE, False),
    ],
)
def test_annotation_starts_a_rollback_unless_the_policy_is_off(
    rollback: Rollback, order: str, turns: bool
) -> None:
    found = choose_direction(snapshot_of(rollback=rollback, order=order), ledger_of())
    assert notes(found) == ({ROLLBACK_TO: OLD, ABANDONED: (NEW, 1)} if turns else {})


@pytest.mark.parametrize("rollback", Rollback)
def test_spec_of_the_older_version_starts_a_rollback_and_abandons_nothing(rollback: Rollback) -> None:
    """The user may set the newer version again without another change."""
    assert notes(choose_direction(snapshot_of(OLD, rollback=rollback), ledger_of())) == {ROLLBACK_TO: OLD}


@pytest.mark.parametrize("version", [OLD, NEW])
def test_upgrade_continues_if_a_rollback_is_blocked(version: str) -> None:
    """I13: half an upgrade would hold the lock without end."""
    found = choose_direction(snapshot_of(version, upgraded_pod(), CLOSED, rollback=Rollback.AUTOMATIC), LATE)
    assert (found.is_true, found.reason, found.ledger_changes) == (True, Reason.ROLLBACK_BLOCKED, ())


def test_another_target_is_accepted_if_a_rollback_is_blocked() -> None:
    there = snapshot_of(NEW, upgraded_pod(MIDDLE), CLOSED, rollback=Rollback.AUTOMATIC)
    found = choose_direction(there, ledger_of(MIDDLE, waits="WaitingForPods"))
    assert notes(found) == {UPGRADE: (OLD, NEW)}


BACK: dict[str, Entry] = {"return": OLD}


def direction_of_blocked_rollback(wanted: str, **others: Any) -> Result:
    """The direction of a rollback that is blocked and at which the rollout waits."""
    lines = {"waits": Reason.ROLLBACK_BLOCKED, **BACK, **others.pop("lines", {})}
    shards = others.pop("shards", CLOSED)
    return choose_direction(snapshot_of(wanted, upgraded_pod(), shards, **others), ledger_of(**lines))


def test_blocked_rollback_ends_if_the_spec_wants_another_version() -> None:
    """L4."""
    found = direction_of_blocked_rollback(NEW)
    assert (found.reason, notes(found)) == ("ResumingUpgrade", {ROLLBACK_TO: None, ABANDONED: None})


@pytest.mark.parametrize(
    ("wanted", "others"),
    [
        (OLD, {}),
        ("9.9.9", {}),
        (NEW, {"lines": {"given_up": (NEW, 1)}}),
        (NEW, {"shards": "logs: data-0* data-1"}),
        (NEW, {"lines": {"waits": "WaitingForPods"}}),
        (NEW, {"lines": {"waits": None}}),
    ],
    ids=[
        "the spec wants a rollback",
        "refused",
        "abandoned",
        "possible again",
        "waits for others",
        "does not wait",
    ],
)
def test_rollback_runs_to_its_end_otherwise(wanted: str, others: dict[str, Any]) -> None:
    found = direction_of_blocked_rollback(wanted, **others)
    assert (found.is_true, found.ledger_changes, found.operations) == (True, (), ())


def test_annotation_is_removed_before_the_upgrade_resumes() -> None:
    """Otherwise it would start the rollback again."""
    [patch] = direction_of_blocked_rollback(NEW, order=OLD).operations
    assert isinstance(patch, Patch)
    assert patch.changes == {"metadata": {"annotations": {ROLLBACK_ANNOTATION: None}}}
    assert patch.resource_version == "1"


def test_refused_version_does_not_change_the_target() -> None:
    found = choose_direction(snapshot_of("9.9.9", upgraded_pod()), LATE)
    assert (found.is_true, found.ledger_changes) == (True, ())


def test_version_waits_for_a_healthy_upgrade() -> None:
    found = choose_direction(snapshot_of(MIDDLE, upgraded_pod()), ledger_of())
    assert (found.reason, found.waits_for_user) == ("TargetQueued", True)


def test_version_replaces_a_target_that_no_node_has_run() -> None:
    assert notes(choose_direction(snapshot_of(MIDDLE), ledger_of())) == {UPGRADE: (OLD, MIDDLE)}


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
def test_failed_pod_of_the_target_counts_as_failure_at_once(first: Pod, is_failing: bool) -> None:
    found = choose_direction(snapshot_of(NEW, first), ledger_of(MIDDLE))
    assert notes(found) == ({UPGRADE: (OLD, NEW)} if is_failing else {})


def test_failed_pod_of_the_older_version_is_no_failure_of_the_target() -> None:
    found = snapshot_of(NEW, upgraded_pod(MIDDLE))
    data = replace(found.pools[0], pods=(found.pools[0].pods[0], pod("data-1", **DOWN)))
    assert (
        choose_direction(replace(found, pools=(data, MANAGERS)), ledger_of(MIDDLE)).reason == "TargetQueued"
    )


def test_version_that_the_target_cannot_reach_needs_a_rollback() -> None:
    """Nothing is abandoned: the spec wants neither of the two."""
    found = choose_direction(snapshot_of(MIDDLE, upgraded_pod(), rollback=Rollback.OFF), LATE)
    assert (found.reason, notes(found)) == ("StartingRollback", {ROLLBACK_TO: OLD})


def test_version_that_needs_a_blocked_rollback_waits() -> None:
    """I13."""
    found = choose_direction(snapshot_of(MIDDLE, upgraded_pod(), CLOSED, rollback=Rollback.OFF), LATE)
    assert (found.reason, found.waits_for_user, found.ledger_changes) == (Reason.ROLLBACK_BLOCKED, True, ())


def test_unreachable_engine_blocks_no_rollback_before_a_node_is_upgraded() -> None:
    """No disk has been written by the newer version."""
    silent = replace(snapshot_of(OLD), engine=Unreachable("timed out"))
    assert notes(choose_direction(silent, ledger_of())) == {ROLLBACK_TO: OLD}


def test_target_is_raised_to_the_newest_version_that_a_pod_has_started() -> None:
    """L4: the older target cannot start on the pod's disk."""
    found = choose_direction(snapshot_of(MIDDLE, upgraded_pod()), ledger_of(MIDDLE))
    assert (found.reason, notes(found)) == ("ChangingTarget", {UPGRADE: (OLD, NEW)})
    assert "data-0 already runs 3.4.0" in found.message


@pytest.mark.parametrize(
    "first",
    [pod("data-0", engine_version=NEW), upgraded_pod(MIDDLE), upgraded_pod("9.9.9"), upgraded_pod("latest")],
    ids=["not started", "runs the target", "refused", "no version"],
)
def test_target_is_not_raised_otherwise(first: Pod) -> None:
    assert choose_direction(snapshot_of(MIDDLE, first), ledger_of(MIDDLE)).is_true


def test_queued_target_that_cannot_read_the_disk_names_both_ways_out() -> None:
    found = choose_direction(snapshot_of(MIDDLE, upgraded_pod()), ledger_of())
    assert found.message == (
        "3.3.2 cannot start on the disk of data-0, which 3.4.0 wrote; to continue, set spec.version to 3.4.0;"
        " to roll back, annotate the SearchCluster with search.everpath.dev/rollback=2.19.4"
    )
    blocked = choose_direction(snapshot_of(MIDDLE, upgraded_pod(), CLOSED), ledger_of())
    assert blocked.message.endswith("; to continue, set spec.version to 3.4.0")
