"""When an upgrade counts as failed, and where it goes, as single decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.engine.view import Unreachable
from searchkeeper.kernel import NOBODYS, Answer, Ledger
from searchkeeper.kernel.ledger import Entry
from searchkeeper.observed import Observed, Pod
from searchkeeper.resources.specs import Rollback
from searchkeeper.upgrade.failing import (
    NO_WAY_BACK,
    ORDER,
    course,
    failure,
    how_to_go_on,
    how_to_turn_back,
)
from searchkeeper.upgrade.journal import GIVEN_UP, RETURN, UNDER_WAY, Journal
from searchkeeper.writes import Patch
from worlds import NEW, OLD, pod, pool, world

# Between the two: from the older one it can be reached, from the newer one it cannot.
MIDDLE = "3.3.2"
MANAGERS = pool("managers", 3, roles="cluster_manager")
SINCE = 100  # seconds of the world's 1000: the deadline is over


def crossed(version: str = NEW, **differences: Any) -> Pod:
    return pod("data-0", engine_version=version, has_started=True, **differences)


def seen(
    version: str = NEW, first: Pod | None = None, *shards: str, order: str | None = None, **policy: Any
) -> Observed:
    """A cluster of which this version is wanted, with its first data node."""
    data = pool("data", 2, pods=[first or pod("data-0"), pod("data-1")])
    found = world(data, MANAGERS, shards=shards or ["logs: data-0* data-1"], **policy)
    given = () if order is None else ((ORDER, order),)
    cluster = replace(found.cluster, spec=replace(found.cluster.spec, version=version), annotations=given)
    return replace(found, cluster=cluster)


CLOSED = "logs: data-0*"  # all there is of it is on the newer node


def journal(target: str = NEW, *, waits: str | None = None, **lines: Entry) -> Journal:
    """An upgrade under way, whose pods have been waited for for this reason."""
    waited: dict[str, Entry] = {} if waits is None else {"wait/PodsAreCurrent": (waits, SINCE)}
    named = {f"upgrade/{name.replace('_', '-')}": entry for name, entry in lines.items()}
    return Journal(Ledger.of({UNDER_WAY: (OLD, target), **waited, **named}))


def notes(answer: Answer) -> dict[str, Entry | None]:
    return {note.key: note.value for note in answer.notes}


LATE = journal(waits="PodsComeBack")


@pytest.mark.parametrize(
    "name", ["PodsAreCurrent", "PoolsAreSettled", "EngineIsHealthy", "UpgradeIsFinished"]
)
def test_whoever_waits_for_nodes_for_too_long_has_failed(name: str) -> None:
    line = f"wait/{name}"
    assert failure(seen(), Journal(Ledger.of({line: ("Healthy", SINCE)})))
    assert failure(seen(), Journal(Ledger.of({line: ("Healthy", SINCE + 1)}))) is None


@pytest.mark.parametrize("reason", sorted(NOBODYS))
def test_what_is_nobodys_doing_is_no_failure_of_a_version(reason: str) -> None:
    assert failure(seen(), journal(waits=reason)) is None


def test_nobody_is_late_while_a_person_says_so() -> None:
    assert failure(seen(paused=True), LATE) is None


def test_whoever_has_just_begun_to_look_is_patient() -> None:
    assert failure(replace(seen(), looking_since=SINCE), LATE)
    assert failure(replace(seen(), looking_since=SINCE + 1), LATE) is None


def test_people_are_told_how_to_turn_back_where_it_takes_them() -> None:
    assert how_to_turn_back(seen(rollback=Rollback.MANUAL), LATE, OLD)
    assert how_to_turn_back(seen(rollback=Rollback.MANUAL), journal(), OLD) is None
    assert how_to_turn_back(seen(rollback=Rollback.AUTOMATIC), LATE, OLD) is None


def test_people_are_told_how_to_go_on_where_the_way_back_has_closed() -> None:
    assert how_to_go_on(seen(OLD), journal()) == f"to go on, set spec.version to {NEW}"
    assert how_to_go_on(seen(NEW), journal()) == "to go on, change the spec"


@pytest.mark.parametrize("rollback", Rollback)
def test_an_upgrade_that_goes_well_goes_on(rollback: Rollback) -> None:
    assert course(seen(rollback=rollback), journal()).is_true


@pytest.mark.parametrize(
    ("rollback", "turns"), [(Rollback.AUTOMATIC, True), (Rollback.MANUAL, False), (Rollback.OFF, False)]
)
def test_one_that_fails_turns_back_by_itself_where_that_is_wanted(rollback: Rollback, turns: bool) -> None:
    found = course(seen(rollback=rollback), LATE)
    assert notes(found) == ({RETURN: OLD, GIVEN_UP: (NEW, 1)} if turns else {})


@pytest.mark.parametrize(
    ("rollback", "order", "turns"),
    [
        (Rollback.AUTOMATIC, OLD, True),
        (Rollback.MANUAL, OLD, True),
        (Rollback.OFF, OLD, False),
        (Rollback.MANUAL, MIDDLE, False),
    ],
)
def test_an_order_turns_it_back_where_that_is_wanted(rollback: Rollback, order: str, turns: bool) -> None:
    found = course(seen(rollback=rollback, order=order), journal())
    assert notes(found) == ({RETURN: OLD, GIVEN_UP: (NEW, 1)} if turns else {})


@pytest.mark.parametrize("rollback", Rollback)
def test_a_spec_that_asks_for_it_turns_it_back_and_gives_nothing_up(rollback: Rollback) -> None:
    """Whoever asks for the newer version again is not to change anything else for that."""
    assert notes(course(seen(OLD, rollback=rollback), journal())) == {RETURN: OLD}


@pytest.mark.parametrize("version", [OLD, NEW])
def test_where_there_is_no_way_back_it_goes_on(version: str) -> None:
    """I13: half of an upgrade would hold the lock for ever."""
    found = course(seen(version, crossed(), CLOSED, rollback=Rollback.AUTOMATIC), LATE)
    assert (found.is_true, found.reason, found.notes) == (True, NO_WAY_BACK, ())


def test_where_there_is_no_way_back_another_version_may_be_the_cure() -> None:
    there = seen(NEW, crossed(MIDDLE), CLOSED, rollback=Rollback.AUTOMATIC)
    found = course(there, journal(MIDDLE, waits="PodsComeBack"))
    assert notes(found) == {UNDER_WAY: (OLD, NEW)}


BACK: dict[str, Entry] = {"return": OLD}


def dead_end(wanted: str, **others: Any) -> Answer:
    """On the way back, which has closed, and the roll has noticed."""
    lines = {"waits": NO_WAY_BACK, **BACK, **others.pop("lines", {})}
    shards = others.pop("shards", CLOSED)
    return course(seen(wanted, crossed(), shards, **others), journal(**lines))


def test_from_a_dead_end_it_goes_on_when_that_is_asked_for() -> None:
    """L4."""
    found = dead_end(NEW)
    assert (found.reason, notes(found)) == ("GoingOn", {RETURN: None, GIVEN_UP: None})


@pytest.mark.parametrize(
    ("wanted", "others"),
    [
        (OLD, {}),
        ("9.9.9", {}),
        (NEW, {"lines": {"given_up": (NEW, 1)}}),
        (NEW, {"shards": "logs: data-0* data-1"}),
        (NEW, {"lines": {"waits": "PodsComeBack"}}),
        (NEW, {"lines": {"waits": None}}),
    ],
    ids=["nobody asks", "refused", "given up", "open again", "waits for others", "does not wait"],
)
def test_otherwise_a_way_back_is_gone_to_its_end(wanted: str, others: dict[str, Any]) -> None:
    found = dead_end(wanted, **others)
    assert (found.is_true, found.notes, found.writes) == (True, (), ())


def test_an_order_that_cannot_be_carried_out_is_forgotten_before_it_goes_on() -> None:
    """It would turn it back again."""
    [patch] = dead_end(NEW, order=OLD).writes
    assert isinstance(patch, Patch)
    assert patch.changes == {"metadata": {"annotations": {ORDER: None}}}
    assert patch.resource_version == "1"


def test_a_newer_wish_that_is_refused_changes_nothing() -> None:
    found = course(seen("9.9.9", crossed()), LATE)
    assert (found.is_true, found.notes) == (True, ())


def test_a_newer_wish_waits_for_an_upgrade_that_goes_well() -> None:
    found = course(seen(MIDDLE, crossed()), journal())
    assert (found.reason, found.is_stopped) == ("Later", True)


def test_and_takes_its_place_where_no_node_has_run_the_newer_version() -> None:
    assert notes(course(seen(MIDDLE), journal())) == {UNDER_WAY: (OLD, MIDDLE)}


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
def test_a_pod_of_the_version_that_is_down_for_good_is_a_failure_at_once(
    first: Pod, is_failing: bool
) -> None:
    found = course(seen(NEW, first), journal(MIDDLE))
    assert notes(found) == ({UNDER_WAY: (OLD, NEW)} if is_failing else {})


def test_a_pod_of_the_older_version_that_is_down_is_no_failure_of_the_newer() -> None:
    found = seen(NEW, crossed(MIDDLE))
    data = replace(found.pools[0], pods=(found.pools[0].pods[0], pod("data-1", **DOWN)))
    assert course(replace(found, pools=(data, MANAGERS)), journal(MIDDLE)).reason == "Later"


def test_what_cannot_be_reached_from_one_that_fails_is_gone_back_for() -> None:
    """Nothing is given up: neither of the two is what the spec asks for."""
    found = course(seen(MIDDLE, crossed(), rollback=Rollback.OFF), LATE)
    assert (found.reason, notes(found)) == ("TurningBack", {RETURN: OLD})


def test_or_waited_for_where_there_is_no_way_back() -> None:
    """I13."""
    found = course(seen(MIDDLE, crossed(), CLOSED, rollback=Rollback.OFF), LATE)
    assert (found.reason, found.is_stopped, found.notes) == (NO_WAY_BACK, True, ())


def test_a_silent_engine_is_not_asked_for_as_long_as_nobody_has_crossed() -> None:
    """What has touched nothing can be taken back."""
    silent = replace(seen(OLD), engine=Unreachable("timed out"))
    assert notes(course(silent, journal())) == {RETURN: OLD}
