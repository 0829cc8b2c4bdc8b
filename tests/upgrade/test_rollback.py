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
from snapshots import NEW, OLD, cluster_snapshot, pod, pool

# Between the two: from the older one it can be reached, from the newer one it cannot.
MIDDLE = "3.3.2"
MANAGERS = pool("managers", 3, roles="cluster_manager")
SINCE = 100  # The snapshot is of second 1000: the deadline has passed.


def crossed(version: str = NEW, **differences: Any) -> Pod:
    return pod("data-0", engine_version=version, has_started=True, **differences)


def seen(
    version: str = NEW, first: Pod | None = None, *shards: str, order: str | None = None, **policy: Any
) -> ClusterSnapshot:
    """A cluster of which this version is wanted, with its first data node."""
    data = pool("data", 2, pods=[first or pod("data-0"), pod("data-1")])
    found = cluster_snapshot(data, MANAGERS, shards=shards or ["logs: data-0* data-1"], **policy)
    given = () if order is None else ((ROLLBACK_ANNOTATION, order),)
    cluster = replace(found.cluster, spec=replace(found.cluster.spec, version=version), annotations=given)
    return replace(found, cluster=cluster)


CLOSED = "logs: data-0*"  # all there is of it is on the newer node


def journal(target: str = NEW, *, waits: str | None = None, **lines: Entry) -> UpgradeLedger:
    """An upgrade under way, whose pods have been waited for for this reason."""
    waited: dict[str, Entry] = {} if waits is None else {"wait/PodsCurrent": (waits, SINCE)}
    named = {f"upgrade/{name.replace('_', '-')}": entry for name, entry in lines.items()}
    return UpgradeLedger.of({UPGRADE: (OLD, target), **waited, **named})


def ledger_changes(answer: Result) -> dict[str, Entry | None]:
    return {note.key: note.value for note in answer.ledger_changes}


LATE = journal(waits="WaitingForPods")


@pytest.mark.parametrize("name", ["PodsCurrent", "PoolsConverged", "EngineHealthy", "UpgradeFinished"])
def test_wait_for_nodes_beyond_the_deadline_is_a_failure(name: str) -> None:
    line = f"wait/{name}"
    assert failure(seen(), UpgradeLedger.of({line: ("EngineHealthy", SINCE)}))
    assert failure(seen(), UpgradeLedger.of({line: ("EngineHealthy", SINCE + 1)})) is None


@pytest.mark.parametrize("reason", sorted(NOT_COUNTED))
def test_wait_for_a_reason_that_is_not_counted_is_no_failure(reason: str) -> None:
    assert failure(seen(), journal(waits=reason)) is None


def test_pause_is_no_failure() -> None:
    assert failure(seen(paused=True), LATE) is None


def test_wait_before_the_operator_started_is_no_failure() -> None:
    assert failure(replace(seen(), observing_since=SINCE), LATE)
    assert failure(replace(seen(), observing_since=SINCE + 1), LATE) is None


def test_rollback_hint_is_given_if_a_user_has_to_request_the_rollback() -> None:
    assert rollback_hint(seen(rollback=Rollback.MANUAL), LATE, OLD)
    assert rollback_hint(seen(rollback=Rollback.MANUAL), journal(), OLD) is None
    assert rollback_hint(seen(rollback=Rollback.AUTOMATIC), LATE, OLD) is None


def test_forward_hint_says_how_to_continue_when_the_rollback_is_blocked() -> None:
    assert forward_hint(seen(OLD), journal()) == f"to continue the upgrade, set spec.version to {NEW}"
    assert forward_hint(seen(NEW), journal()) == "to continue the upgrade, change the spec"


@pytest.mark.parametrize("rollback", Rollback)
def test_upgrade_that_makes_progress_continues(rollback: Rollback) -> None:
    assert choose_direction(seen(rollback=rollback), journal()).is_true


@pytest.mark.parametrize(
    ("rollback", "turns"), [(Rollback.AUTOMATIC, True), (Rollback.MANUAL, False), (Rollback.OFF, False)]
)
def test_failed_upgrade_is_rolled_back_only_if_the_policy_is_automatic(
    rollback: Rollback, turns: bool
) -> None:
    found = choose_direction(seen(rollback=rollback), LATE)
    assert ledger_changes(found) == ({ROLLBACK_TO: OLD, ABANDONED: (NEW, 1)} if turns else {})


@pytest.mark.parametrize(
    ("rollback", "order", "turns"),
    [
        (Rollback.AUTOMATIC, OLD, True),
        (Rollback.MANUAL, OLD, True),
        (Rollback.OFF, OLD, False),
        (Rollback.MANUAL, MIDDLE, False),
    ],
)
def test_rollback_request_is_followed_if_policy_and_version_match(
    rollback: Rollback, order: str, turns: bool
) -> None:
    found = choose_direction(seen(rollback=rollback, order=order), journal())
    assert ledger_changes(found) == ({ROLLBACK_TO: OLD, ABANDONED: (NEW, 1)} if turns else {})


@pytest.mark.parametrize("rollback", Rollback)
def test_older_version_in_the_spec_starts_a_rollback_and_abandons_no_version(rollback: Rollback) -> None:
    """Whoever asks for the newer version again is not to change anything else for that."""
    assert ledger_changes(choose_direction(seen(OLD, rollback=rollback), journal())) == {ROLLBACK_TO: OLD}


@pytest.mark.parametrize("version", [OLD, NEW])
def test_upgrade_continues_if_the_rollback_is_blocked(version: str) -> None:
    """I13: half of an upgrade would hold the lock for ever."""
    found = choose_direction(seen(version, crossed(), CLOSED, rollback=Rollback.AUTOMATIC), LATE)
    assert (found.is_true, found.reason, found.ledger_changes) == (True, Reason.ROLLBACK_BLOCKED, ())


def test_failed_target_is_replaced_if_the_rollback_is_blocked() -> None:
    there = seen(NEW, crossed(MIDDLE), CLOSED, rollback=Rollback.AUTOMATIC)
    found = choose_direction(there, journal(MIDDLE, waits="WaitingForPods"))
    assert ledger_changes(found) == {UPGRADE: (OLD, NEW)}


BACK: dict[str, Entry] = {"return": OLD}


def dead_end(wanted: str, **others: Any) -> Result:
    """On the way back, which has closed, and the roll has noticed."""
    lines = {"waits": Reason.ROLLBACK_BLOCKED, **BACK, **others.pop("lines", {})}
    shards = others.pop("shards", CLOSED)
    return choose_direction(seen(wanted, crossed(), shards, **others), journal(**lines))


def test_blocked_rollback_resumes_the_upgrade_if_the_spec_wants_it() -> None:
    """L4."""
    found = dead_end(NEW)
    assert (found.reason, ledger_changes(found)) == ("ResumingUpgrade", {ROLLBACK_TO: None, ABANDONED: None})


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
def test_rollback_continues_otherwise(wanted: str, others: dict[str, Any]) -> None:
    found = dead_end(wanted, **others)
    assert (found.is_true, found.ledger_changes, found.operations) == (True, (), ())


def test_rollback_request_is_removed_before_the_upgrade_resumes() -> None:
    """It would turn it back again."""
    [patch] = dead_end(NEW, order=OLD).operations
    assert isinstance(patch, Patch)
    assert patch.changes == {"metadata": {"annotations": {ROLLBACK_ANNOTATION: None}}}
    assert patch.resource_version == "1"


def test_refused_target_changes_nothing() -> None:
    found = choose_direction(seen("9.9.9", crossed()), LATE)
    assert (found.is_true, found.ledger_changes) == (True, ())


def test_newer_target_waits_for_an_upgrade_that_makes_progress() -> None:
    found = choose_direction(seen(MIDDLE, crossed()), journal())
    assert (found.reason, found.waits_for_user) == ("TargetQueued", True)


def test_other_target_replaces_one_that_no_node_has_run() -> None:
    assert ledger_changes(choose_direction(seen(MIDDLE), journal())) == {UPGRADE: (OLD, MIDDLE)}


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
def test_failed_pod_of_the_target_version_is_a_failure_at_once(first: Pod, is_failing: bool) -> None:
    found = choose_direction(seen(NEW, first), journal(MIDDLE))
    assert ledger_changes(found) == ({UPGRADE: (OLD, NEW)} if is_failing else {})


def test_failed_pod_of_the_older_version_is_no_failure_of_the_target() -> None:
    found = seen(NEW, crossed(MIDDLE))
    data = replace(found.pools[0], pods=(found.pools[0].pods[0], pod("data-1", **DOWN)))
    assert choose_direction(replace(found, pools=(data, MANAGERS)), journal(MIDDLE)).reason == "TargetQueued"


def test_target_that_is_older_than_a_failing_one_starts_a_rollback() -> None:
    """Nothing is given up: neither of the two is what the spec asks for."""
    found = choose_direction(seen(MIDDLE, crossed(), rollback=Rollback.OFF), LATE)
    assert (found.reason, ledger_changes(found)) == ("StartingRollback", {ROLLBACK_TO: OLD})


def test_target_that_is_older_than_a_failing_one_waits_if_the_rollback_is_blocked() -> None:
    """I13."""
    found = choose_direction(seen(MIDDLE, crossed(), CLOSED, rollback=Rollback.OFF), LATE)
    assert (found.reason, found.waits_for_user, found.ledger_changes) == (Reason.ROLLBACK_BLOCKED, True, ())


def test_rollback_needs_no_engine_while_no_node_has_run_the_newer_version() -> None:
    """What has touched nothing can be taken back."""
    silent = replace(seen(OLD), engine=Unreachable("timed out"))
    assert ledger_changes(choose_direction(silent, journal())) == {ROLLBACK_TO: OLD}


def test_target_is_raised_to_the_newest_version_that_a_pod_has_started() -> None:
    """L4: the older target cannot start on the pod's disk."""
    found = choose_direction(seen(MIDDLE, crossed()), journal(MIDDLE))
    assert (found.reason, ledger_changes(found)) == ("ChangingTarget", {UPGRADE: (OLD, NEW)})
    assert "data-0 already runs 3.4.0" in found.message


@pytest.mark.parametrize(
    "first",
    [pod("data-0", engine_version=NEW), crossed(MIDDLE), crossed("9.9.9"), crossed("latest")],
    ids=["not started", "runs the target", "refused", "no version"],
)
def test_target_is_not_raised_otherwise(first: Pod) -> None:
    assert choose_direction(seen(MIDDLE, first), journal(MIDDLE)).is_true


def test_queued_target_that_cannot_read_the_disk_names_both_remedies() -> None:
    found = choose_direction(seen(MIDDLE, crossed()), journal())
    assert found.message == (
        "3.3.2 cannot start on the disk of data-0, which 3.4.0 wrote; to continue, set spec.version to 3.4.0;"
        " to roll back, annotate the SearchCluster with search.everpath.dev/rollback=2.19.4"
    )
    blocked = choose_direction(seen(MIDDLE, crossed(), CLOSED), journal())
    assert blocked.message.endswith("; to continue, set spec.version to 3.4.0")
