"""Failed pods: which are replaced before the turn of their pool, and which are abandoned."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.opensearch.view import Color
from searchkeeper.planner import Ledger, Records
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import Pod
from searchkeeper.upgrade.failed_pods import needs_early_replacement, replicas_after_abandoning
from searchkeeper.upgrade.gates import Candidate
from searchkeeper.upgrade.ledger import ROLLBACK_TO, UPGRADE, UpgradeLedger
from tests.support.searchkeeper.snapshots import NEW, OLD, cluster_snapshot, engine, pod, pool

ABANDONED = "3.3.2"
TIMED_OUT: Entry = ("PodsReady", 0)


def is_replaced_early(manager: Pod, **entries: Entry) -> bool:
    """Whether a manager is replaced early in an upgrade whose data nodes are upgraded.

    `wait__PodsCurrent` is the ledger key `wait/PodsCurrent`.
    """
    ledger = Ledger.of({name.replace("__", "/"): entry for name, entry in entries.items()})
    data = pool("data", 2, pods=[replace(pod(f"data-{n}"), engine_version=NEW) for n in range(2)])
    managers = pool(
        "managers", 3, roles="cluster_manager", pods=[pod("managers-0"), manager, pod("managers-2")]
    )
    snapshot = cluster_snapshot(data, managers, shards=["books: data-0* data-1"])
    upgraded = tuple((f"data-{n}", "") for n in range(2))
    ledger = ledger.with_changes({"upgrade/crossed": upgraded})
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, records=Records(ledger)))
    return needs_early_replacement(snapshot, UpgradeLedger.of(ledger), Candidate(manager, managers))


def failed_pod(version: str, problem: str | None = "CrashLoopBackOff") -> Pod:
    return pod("managers-1", engine_version=version, is_ready=False, problem=problem)


UPGRADING: dict[str, Entry] = {UPGRADE: (OLD, NEW)}
ROLLING_BACK: dict[str, Entry] = {**UPGRADING, ROLLBACK_TO: OLD}


def test_ready_pod_waits_for_its_turn() -> None:
    assert not is_replaced_early(pod("managers-1", engine_version=ABANDONED), **UPGRADING)


def test_terminating_pod_waits_for_its_turn() -> None:
    assert not is_replaced_early(
        replace(failed_pod(ABANDONED), is_terminating=True), wait__PodsCurrent=TIMED_OUT, **UPGRADING
    )


def test_failed_pod_of_an_abandoned_version_is_replaced_at_once() -> None:
    assert is_replaced_early(failed_pod(ABANDONED), **UPGRADING)


def test_starting_pod_of_an_abandoned_version_waits_for_its_turn() -> None:
    assert not is_replaced_early(failed_pod(ABANDONED, None), **UPGRADING)


@pytest.mark.parametrize("problem", [None, "CrashLoopBackOff"])
def test_late_pod_of_an_abandoned_version_is_replaced_early(problem: str | None) -> None:
    assert is_replaced_early(failed_pod(ABANDONED, problem), wait__PodsCurrent=TIMED_OUT, **UPGRADING)


def test_failed_pod_of_the_older_version_waits_for_its_turn_until_the_deadline() -> None:
    """S15, S22: after the deadline it is replaced early."""
    assert not is_replaced_early(failed_pod(OLD), **UPGRADING)
    assert is_replaced_early(failed_pod(OLD), wait__PodsCurrent=TIMED_OUT, **UPGRADING)


def test_unschedulable_pod_waits_for_its_turn() -> None:
    assert not is_replaced_early(failed_pod(OLD, "Unschedulable"), wait__PodsCurrent=TIMED_OUT, **UPGRADING)


def test_failed_pod_of_the_newer_version_is_replaced_at_once_in_a_rollback() -> None:
    assert is_replaced_early(failed_pod(NEW), **ROLLING_BACK)


def test_only_failed_pods_are_replaced_early_without_an_upgrade() -> None:
    assert is_replaced_early(failed_pod(OLD))
    assert not is_replaced_early(failed_pod(OLD, None), wait__PodsCurrent=TIMED_OUT)


def remaining_replicas(*members: Pod, wanted: int, **changes: object) -> int:
    managers = pool("data", len(members), pods=members)
    snapshot = cluster_snapshot(managers, view=replace(engine([managers]), **changes))  # type: ignore[arg-type]
    return replicas_after_abandoning(snapshot, managers, len(members), wanted)


def unschedulable_pod(ordinal: int) -> Pod:
    return pod(f"data-{ordinal}", is_ready=False, problem="Unschedulable")


def test_failed_pods_at_the_end_are_abandoned_down_to_the_wanted_count() -> None:
    """S22."""
    assert remaining_replicas(pod("data-0"), unschedulable_pod(1), unschedulable_pod(2), wanted=1) == 1
    assert remaining_replicas(pod("data-0"), unschedulable_pod(1), unschedulable_pod(2), wanted=2) == 2


def test_failed_pod_before_a_healthy_one_is_not_abandoned() -> None:
    assert remaining_replicas(pod("data-0"), unschedulable_pod(1), pod("data-2"), wanted=1) == 3


def test_no_pod_is_abandoned_while_the_engine_is_red() -> None:
    assert remaining_replicas(pod("data-0"), unschedulable_pod(1), wanted=1, color=Color.RED) == 2


def test_voter_is_not_abandoned() -> None:
    assert (
        remaining_replicas(
            pod("data-0"), unschedulable_pod(1), wanted=1, voters=frozenset({"data-0", "data-1"})
        )
        == 2
    )


def test_no_pod_is_abandoned_during_a_pause() -> None:
    managers = pool("data", 2, pods=[pod("data-0"), unschedulable_pod(1)])
    assert replicas_after_abandoning(cluster_snapshot(managers, paused=True), managers, 2, 1) == 2
    assert replicas_after_abandoning(cluster_snapshot(managers), managers, 2, 1) == 1
