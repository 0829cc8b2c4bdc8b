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
from worlds import NEW, OLD, engine, pod, pool, world

BAD = "3.3.2"
LONG: Entry = ("PodsReady", 0)


def awaits(patient: Pod, **lines: Entry) -> bool:
    """In an upgrade whose data nodes have arrived; `wait__PodsCurrent` is that line of the ledger."""
    ledger = Ledger.of({name.replace("__", "/"): entry for name, entry in lines.items()})
    data = pool("data", 2, pods=[replace(pod(f"data-{n}"), engine_version=NEW) for n in range(2)])
    home = pool("managers", 3, roles="cluster_manager", pods=[pod("managers-0"), patient, pod("managers-2")])
    snapshot = world(data, home, shards=["books: data-0* data-1"])
    crossed = tuple((f"data-{n}", "") for n in range(2))
    ledger = ledger.with_changes({"upgrade/crossed": crossed})
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, records=Records(ledger)))
    return needs_early_replacement(snapshot, UpgradeLedger.of(ledger), Candidate(patient, home))


def down(version: str, problem: str | None = "CrashLoopBackOff") -> Pod:
    return pod("managers-1", engine_version=version, is_ready=False, problem=problem)


FORWARDS: dict[str, Entry] = {UPGRADE: (OLD, NEW)}
BACK: dict[str, Entry] = {**FORWARDS, ROLLBACK_TO: OLD}


def test_nobody_who_is_ready_awaits_a_cure() -> None:
    assert not awaits(pod("managers-1", engine_version=BAD), **FORWARDS)


def test_nor_does_who_is_on_its_way_out() -> None:
    assert not awaits(replace(down(BAD), is_terminating=True), wait__PodsCurrent=LONG, **FORWARDS)


def test_a_version_that_was_given_up_is_left_at_once() -> None:
    assert awaits(down(BAD), **FORWARDS)


def test_a_pod_that_is_only_starting_is_not_down() -> None:
    assert not awaits(down(BAD, None), **FORWARDS)


@pytest.mark.parametrize("problem", [None, "CrashLoopBackOff"])
def test_of_a_version_that_was_given_up_also_who_starts_for_too_long_is_down(problem: str | None) -> None:
    assert awaits(down(BAD, problem), wait__PodsCurrent=LONG, **FORWARDS)


def test_a_pod_of_the_version_that_is_left_waits_for_its_turn() -> None:
    """S15, S22: until that has not helped."""
    assert not awaits(down(OLD), **FORWARDS)
    assert awaits(down(OLD), wait__PodsCurrent=LONG, **FORWARDS)


def test_no_version_makes_room_on_a_machine() -> None:
    assert not awaits(down(OLD, "Unschedulable"), wait__PodsCurrent=LONG, **FORWARDS)


def test_on_the_way_back_the_newer_version_is_one_that_was_given_up() -> None:
    assert awaits(down(NEW), **BACK)


def test_without_an_upgrade_only_the_template_is_another_one() -> None:
    assert awaits(down(OLD))
    assert not awaits(down(OLD, None), wait__PodsCurrent=LONG)


def shrinking(*members: Pod, wanted: int, **differences: object) -> int:
    home = pool("data", len(members), pods=members)
    snapshot = world(home, snapshot=replace(engine([home]), **differences))  # type: ignore[arg-type]
    return replicas_after_abandoning(snapshot, home, len(members), wanted)


def lost(ordinal: int) -> Pod:
    return pod(f"data-{ordinal}", is_ready=False, problem="Unschedulable")


def test_those_at_the_end_who_are_down_are_given_up_and_no_more_than_asked() -> None:
    """S22."""
    assert shrinking(pod("data-0"), lost(1), lost(2), wanted=1) == 1
    assert shrinking(pod("data-0"), lost(1), lost(2), wanted=2) == 2


def test_whoever_stands_behind_somebody_well_is_not_given_up() -> None:
    assert shrinking(pod("data-0"), lost(1), pod("data-2"), wanted=1) == 3


def test_nobody_is_given_up_who_may_have_what_is_missing() -> None:
    assert shrinking(pod("data-0"), lost(1), wanted=1, color=Color.RED) == 2


def test_whoever_votes_is_not_given_up() -> None:
    assert shrinking(pod("data-0"), lost(1), wanted=1, voters=frozenset({"data-0", "data-1"})) == 2


def test_nobody_is_given_up_while_it_is_paused() -> None:
    home = pool("data", 2, pods=[pod("data-0"), lost(1)])
    assert replicas_after_abandoning(world(home, paused=True), home, 2, 1) == 2
    assert replicas_after_abandoning(world(home), home, 2, 1) == 1
