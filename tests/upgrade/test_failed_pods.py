"""Who does not wait for the turn of its pool, and who is given up."""

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
from snapshots import NEW, OLD, cluster_snapshot, engine, pod, pool

BAD = "3.3.2"
LONG: Entry = ("PodsReady", 0)


def awaits(patient: Pod, **lines: Entry) -> bool:
    """In an upgrade whose data nodes have arrived; `wait__PodsCurrent` is that line of the ledger."""
    ledger = Ledger.of({name.replace("__", "/"): entry for name, entry in lines.items()})
    data = pool("data", 2, pods=[replace(pod(f"data-{n}"), engine_version=NEW) for n in range(2)])
    home = pool("managers", 3, roles="cluster_manager", pods=[pod("managers-0"), patient, pod("managers-2")])
    snapshot = cluster_snapshot(data, home, shards=["books: data-0* data-1"])
    crossed = tuple((f"data-{n}", "") for n in range(2))
    ledger = ledger.with_changes({"upgrade/crossed": crossed})
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, records=Records(ledger)))
    return needs_early_replacement(snapshot, UpgradeLedger.of(ledger), Candidate(patient, home))


def down(version: str, problem: str | None = "CrashLoopBackOff") -> Pod:
    return pod("managers-1", engine_version=version, is_ready=False, problem=problem)


FORWARDS: dict[str, Entry] = {UPGRADE: (OLD, NEW)}
BACK: dict[str, Entry] = {**FORWARDS, ROLLBACK_TO: OLD}


def test_ready_pod_waits_for_its_turn() -> None:
    assert not awaits(pod("managers-1", engine_version=BAD), **FORWARDS)


def test_terminating_pod_waits_for_its_turn() -> None:
    assert not awaits(replace(down(BAD), is_terminating=True), wait__PodsCurrent=LONG, **FORWARDS)


def test_failed_pod_of_an_abandoned_version_is_replaced_at_once() -> None:
    assert awaits(down(BAD), **FORWARDS)


def test_starting_pod_of_an_abandoned_version_waits_for_its_turn() -> None:
    assert not awaits(down(BAD, None), **FORWARDS)


@pytest.mark.parametrize("problem", [None, "CrashLoopBackOff"])
def test_late_pod_of_an_abandoned_version_is_replaced_early(problem: str | None) -> None:
    assert awaits(down(BAD, problem), wait__PodsCurrent=LONG, **FORWARDS)


def test_failed_pod_of_the_older_version_waits_for_its_turn_until_the_deadline() -> None:
    """S15, S22: until that has not helped."""
    assert not awaits(down(OLD), **FORWARDS)
    assert awaits(down(OLD), wait__PodsCurrent=LONG, **FORWARDS)


def test_unschedulable_pod_waits_for_its_turn() -> None:
    assert not awaits(down(OLD, "Unschedulable"), wait__PodsCurrent=LONG, **FORWARDS)


def test_failed_pod_of_the_newer_version_is_replaced_at_once_in_a_rollback() -> None:
    assert awaits(down(NEW), **BACK)


def test_only_failed_pods_are_replaced_early_without_an_upgrade() -> None:
    assert awaits(down(OLD))
    assert not awaits(down(OLD, None), wait__PodsCurrent=LONG)


def shrinking(*members: Pod, wanted: int, **differences: object) -> int:
    home = pool("data", len(members), pods=members)
    snapshot = cluster_snapshot(home, view=replace(engine([home]), **differences))  # type: ignore[arg-type]
    return replicas_after_abandoning(snapshot, home, len(members), wanted)


def lost(ordinal: int) -> Pod:
    return pod(f"data-{ordinal}", is_ready=False, problem="Unschedulable")


def test_failed_pods_at_the_end_are_abandoned_down_to_the_wanted_count() -> None:
    """S22."""
    assert shrinking(pod("data-0"), lost(1), lost(2), wanted=1) == 1
    assert shrinking(pod("data-0"), lost(1), lost(2), wanted=2) == 2


def test_failed_pod_before_a_healthy_one_is_not_abandoned() -> None:
    assert shrinking(pod("data-0"), lost(1), pod("data-2"), wanted=1) == 3


def test_no_pod_is_abandoned_while_the_engine_is_red() -> None:
    assert shrinking(pod("data-0"), lost(1), wanted=1, color=Color.RED) == 2


def test_voter_is_not_abandoned() -> None:
    assert shrinking(pod("data-0"), lost(1), wanted=1, voters=frozenset({"data-0", "data-1"})) == 2


def test_no_pod_is_abandoned_during_a_pause() -> None:
    home = pool("data", 2, pods=[pod("data-0"), lost(1)])
    assert replicas_after_abandoning(cluster_snapshot(home, paused=True), home, 2, 1) == 2
    assert replicas_after_abandoning(cluster_snapshot(home), home, 2, 1) == 1
