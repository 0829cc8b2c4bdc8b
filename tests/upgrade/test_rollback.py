"""When an upgrade counts as failed, and where it goes, as single decisions."""

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

# Between the two: from the older one it can be reached, from the newer one it cannot.
MIDDLE = "3.3.2"
MANAGERS = pool("managers", 3, roles="cluster_manager")
SINCE = 100  # seconds of the world's 1000: the deadline is over


def crossed(version: str = NEW, **differences: Any) -> Pod:
    return pod("data-0", engine_version=version, has_started=True, **differences)


def seen(
    version: str = NEW, first: Pod | None = None, *shards: str, order: str | None = None, **policy: Any
) -> ClusterSnapshot:
    """A cluster of which this version is wanted, with its first data node."""
    data = pool("data", 2, pods=[first or pod("data-0"), pod("data-1")])
    found = world(data, MANAGERS, shards=shards or ["logs: data-0* data-1"], **policy)
    given = () if order is None else ((ROLLBACK_ANNOTATION, order),)
    cluster = replace(found.cluster, spec=replace(found.cluster.spec, version=version), annotations=given)
    return replace(found, cluster=cluster)


CLOSED = "logs: data-0*"  # all there is of it is on the newer node


def journal(target: str = NEW, *, waits: str | None = None, **lines: Entry) -> UpgradeLedger:
    """An upgrade under way, whose pods have been waited for for this reason."""
    waited: dict[str, Entry] = {} if waits is None else {"wait/PodsCurrent": (waits, SINCE)}
    named = {f"upgrade/{name.replace('_', '-')}": entry for name, entry in lines.items()}
    return UpgradeLedger.of({UPGRADE: (OLD, target), **waited, **named})


def notes(answer: Result) -> dict[str, Entry | None]:
    return {note.key: note.value for note in answer.ledger_changes}


LATE = journal(waits="WaitingForPods")


@pytest.mark.parametrize("name", ["PodsCurrent", "PoolsConverged", "EngineHealthy", "UpgradeFinished"])
def test_upgrade_fails_if_an_action_waits_too_long_for_nodes(name: str) -> None:
    line = f"wait/{name}"
    assert failure(seen(), UpgradeLedger.of({line: ("EngineHealthy", SINCE)}))
    assert failure(seen(), UpgradeLedger.of({line: ("EngineHealthy", SINCE + 1)})) is None


@pytest.mark.parametrize("reason", sorted(NOT_COUNTED))
def test_errors_and_denied_operations_are_no_failure_of_a_version(reason: str) -> None:
    assert failure(seen(), journal(waits=reason)) is None


def test_paused_upgrade_does_not_fail() -> None:
    assert failure(seen(paused=True), LATE) is None


def test_process_that_just_started_waits_for_the_whole_deadline() -> None:
    assert failure(replace(seen(), observing_since=SINCE), LATE)
    assert failure(replace(seen(), observing_since=SINCE + 1), LATE) is None


def test_hint_says_how_to_roll_back_if_the_policy_is_manual() -> None:
    assert rollback_hint(seen(rollback=Rollback.MANUAL), LATE, OLD)
    assert rollback_hint(seen(rollback=Rollback.MANUAL), journal(), OLD) is None
    assert rollback_hint(seen(rollback=Rollback.AUTOMATIC), LATE, OLD) is None


def test_hint_says_how_to_continue_if_a_rollback_is_blocked() -> None:
    assert forward_hint(seen(OLD), journal()) == f"to continue the upgrade, set spec.version to {NEW}"
    assert forward_hint(seen(NEW), journal()) == "to continue the upgrade, change the spec"


@pytest.mark.parametrize("rollback", Rollback)
def test_healthy_upgrade_continues(rollback: Rollback) -> None:
    assert choose_direction(seen(rollback=rollback), journal()).is_true


@pytest.mark.parametrize(
    ("rollback", "turns"), [(Rollback.AUTOMATIC, True), (Rollback.MANUAL, False), (Rollback.OFF, False)]
)
def test_failed_upgrade_rolls_back_if_the_policy_is_automatic(rollback: Rollback, turns: bool) -> None:
    found = choose_direction(seen(rollback=rollback), LATE)
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
    found = choose_direction(seen(rollback=rollback, order=order), journal())
    assert notes(found) == ({ROLLBACK_TO: OLD, ABANDONED: (NEW, 1)} if turns else {})


@pytest.mark.parametrize("rollback", Rollback)
def test_spec_of_the_older_version_starts_a_rollback_and_abandons_nothing(rollback: Rollback) -> None:
    """Whoever asks for the newer version again is not to change anything else for that."""
    assert notes(choose_direction(seen(OLD, rollback=rollback), journal())) == {ROLLBACK_TO: OLD}


@pytest.mark.parametrize("version", [OLD, NEW])
def test_upgrade_continues_if_a_rollback_is_blocked(version: str) -> None:
    """I13: half of an upgrade would hold the lock for ever."""
    found = choose_direction(seen(version, crossed(), CLOSED, rollback=Rollback.AUTOMATIC), LATE)
    assert (found.is_true, found.reason, found.ledger_changes) == (True, Reason.ROLLBACK_BLOCKED, ())


def test_another_target_is_accepted_if_a_rollback_is_blocked() -> None:
    there = seen(NEW, crossed(MIDDLE), CLOSED, rollback=Rollback.AUTOMATIC)
    found = choose_direction(there, journal(MIDDLE, waits="WaitingForPods"))
    assert notes(found) == {UPGRADE: (OLD, NEW)}


BACK: dict[str, Entry] = {"return": OLD}


def dead_end(wanted: str, **others: Any) -> Result:
    """On the way back, which has closed, and the roll has noticed."""
    lines = {"waits": Reason.ROLLBACK_BLOCKED, **BACK, **others.pop("lines", {})}
    shards = others.pop("shards", CLOSED)
    return choose_direction(seen(wanted, crossed(), shards, **others), journal(**lines))


def test_blocked_rollback_ends_if_the_spec_wants_another_version() -> None:
    """L4."""
    found = dead_end(NEW)
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
    ids=["nobody asks", "refused", "given up", "open again", "waits for others", "does not wait"],
)
def test_rollback_runs_to_its_end_otherwise(wanted: str, others: dict[str, Any]) -> None:
    found = dead_end(wanted, **others)
    assert (found.is_true, found.ledger_changes, found.operations) == (True, (), ())


def test_annotation_is_removed_before_the_upgrade_resumes() -> None:
    """It would turn it back again."""
    [patch] = dead_end(NEW, order=OLD).operations
    assert isinstance(patch, Patch)
    assert patch.changes == {"metadata": {"annotations": {ROLLBACK_ANNOTATION: None}}}
    assert patch.resource_version == "1"


def test_refused_version_does_not_change_the_target() -> None:
    found = choose_direction(seen("9.9.9", crossed()), LATE)
    assert (found.is_true, found.ledger_changes) == (True, ())


def test_version_waits_for_a_healthy_upgrade() -> None:
    found = choose_direction(seen(MIDDLE, crossed()), journal())
    assert (found.reason, found.waits_for_user) == ("TargetQueued", True)


def test_version_replaces_a_target_that_no_node_has_run() -> None:
    assert notes(choose_direction(seen(MIDDLE), journal())) == {UPGRADE: (OLD, MIDDLE)}


DOWN = {"is_ready": False, "problem": "CrashLoopBackOff"}


@pytest.mark.parametrize(
    ("first", "is_failing"),
    [
        (crossed(MIDDLE, **DOWN), True),
        (crossed(MIDDLE, is_ready=False), False),
        (crossed(MIDDLE, problem="CrashLoopBackOff"), False),
    ],
    ids=["down", "only starting", "ready again"],
)
def test_failed_pod_of_the_target_counts_as_failure_at_once(first: Pod, is_failing: bool) -> None:
    found = choose_direction(seen(NEW, first), journal(MIDDLE))
    assert notes(found) == ({UPGRADE: (OLD, NEW)} if is_failing else {})


def test_failed_pod_of_the_older_version_is_no_failure_of_the_target() -> None:
    found = seen(NEW, crossed(MIDDLE))
    data = replace(found.pools[0], pods=(found.pools[0].pods[0], pod("data-1", **DOWN)))
    assert choose_direction(replace(found, pools=(data, MANAGERS)), journal(MIDDLE)).reason == "TargetQueued"


def test_version_that_the_target_cannot_reach_needs_a_rollback() -> None:
    """Nothing is given up: neither of the two is what the spec asks for."""
    found = choose_direction(seen(MIDDLE, crossed(), rollback=Rollback.OFF), LATE)
    assert (found.reason, notes(found)) == ("StartingRollback", {ROLLBACK_TO: OLD})


def test_version_that_needs_a_blocked_rollback_waits() -> None:
    """I13."""
    found = choose_direction(seen(MIDDLE, crossed(), CLOSED, rollback=Rollback.OFF), LATE)
    assert (found.reason, found.waits_for_user, found.ledger_changes) == (Reason.ROLLBACK_BLOCKED, True, ())


def test_unreachable_engine_blocks_no_rollback_before_a_node_is_upgraded() -> None:
    """What has touched nothing can be taken back."""
    silent = replace(seen(OLD), engine=Unreachable("timed out"))
    assert notes(choose_direction(silent, journal())) == {ROLLBACK_TO: OLD}


def test_target_is_raised_to_the_newest_version_that_a_pod_has_started() -> None:
    """L4: the older target cannot start on the pod's disk."""
    found = choose_direction(seen(MIDDLE, crossed()), journal(MIDDLE))
    assert (found.reason, notes(found)) == ("ChangingTarget", {UPGRADE: (OLD, NEW)})
    assert "data-0 already runs 3.4.0" in found.message


@pytest.mark.parametrize(
    "first",
    [pod("data-0", engine_version=NEW), crossed(MIDDLE), crossed("9.9.9"), crossed("latest")],
    ids=["not started", "runs the target", "refused", "no version"],
)
def test_target_is_not_raised_otherwise(first: Pod) -> None:
    assert choose_direction(seen(MIDDLE, first), journal(MIDDLE)).is_true


def test_queued_target_that_cannot_read_the_disk_names_both_ways_out() -> None:
    found = choose_direction(seen(MIDDLE, crossed()), journal())
    assert found.message == (
        "3.3.2 cannot start on the disk of data-0, which 3.4.0 wrote; to continue, set spec.version to 3.4.0;"
        " to roll back, annotate the SearchCluster with search.everpath.dev/rollback=2.19.4"
    )
    blocked = choose_direction(seen(MIDDLE, crossed(), CLOSED), journal())
    assert blocked.message.endswith("; to continue, set spec.version to 3.4.0")
