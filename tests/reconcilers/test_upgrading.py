"""When an upgrade is accepted, begun and finished, and what is said of its way back, as single decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from few_pools import scene
from rolls import notes
from searchkeeper.api.spec import Rollback
from searchkeeper.kubernetes.operations import EmitEvent, Patch
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.planner import Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.reconcilers.rollback import rollback_possible
from searchkeeper.reconcilers.upgrade import (
    engine_healthy,
    upgrade_finished,
    upgrade_started,
    version_accepted,
)
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.ledger import ABANDONED, LOCK, REFUSED, ROLLBACK_TO, UPGRADE, UPGRADED_NODES
from searchkeeper.upgrade.rollback import ROLLBACK_ANNOTATION
from worlds import NEW, OLD, engine, pod, pool, world

SILENT = Unreachable("timed out")
DOWN: dict[str, Any] = {"is_ready": False, "problem": "CrashLoopBackOff"}


def home(name: str, *pods: Pod, roles: str = "data", replicas: int | None = None) -> PoolView:
    size = len(pods) if replicas is None else replicas
    return replace(pool(name, size, roles=roles, pods=pods), allotted_replicas=size)


DATA = home("data", pod("data-0"), pod("data-1"))
MANAGERS = home("managers", *(pod(f"managers-{n}") for n in range(3)), roles="cluster_manager")


def seen(
    *pools: PoolView, order: str | None = None, generation: int = 1, **differences: Any
) -> ClusterSnapshot:
    policy = {name: differences.pop(name) for name in ("paused", "rollback") if name in differences}
    given = pools or (DATA, MANAGERS)
    there = world(*given, snapshot=engine(given, ["logs: data-0* data-1"], **differences), **policy)
    annotations = () if order is None else ((ROLLBACK_ANNOTATION, order),)
    return replace(there, cluster=replace(there.cluster, annotations=annotations, generation=generation))


def silent(*pools: PoolView) -> ClusterSnapshot:
    return replace(seen(*pools), engine=SILENT)


def accepted(there: ClusterSnapshot, version: str, **lines: Any) -> Result:
    return version_accepted.run(scene(there, version=version, runs=OLD, **lines))


def test_a_refusal_is_told_once_a_generation() -> None:
    """I10."""
    first = accepted(seen(), "9.9.9")
    [event] = first.operations
    assert isinstance(event, EmitEvent)
    assert notes(first) == {REFUSED: 1}
    again = accepted(seen(), "9.9.9", refused=1)
    assert (again.operations, again.ledger_changes, again.waits_for_user) == ((), (), True)
    assert accepted(seen(generation=2), "9.9.9", refused=1).operations


def test_what_was_refused_is_forgotten_when_it_is_not() -> None:
    assert notes(accepted(seen(), NEW, refused=1)) == {REFUSED: None}
    assert accepted(seen(), NEW).ledger_changes == ()


def test_an_engine_is_healthy_when_it_answers_and_no_primary_is_missing() -> None:
    assert engine_healthy.run(scene(seen())).is_true
    assert engine_healthy.run(scene(seen(color=Color.YELLOW))).is_true
    assert engine_healthy.run(scene(seen(color=Color.RED))).reason == "Red"
    assert engine_healthy.run(scene(silent())).reason == "EngineUnreachable"


def test_nobody_is_late_where_a_version_is_refused_before_there_are_nodes() -> None:
    empty = home("data", replicas=2)
    for there, version, is_late in (
        (silent(empty), "9.9.9", False),
        (silent(), "9.9.9", True),
        (silent(empty), NEW, True),
    ):
        found = engine_healthy.run(scene(there, version=version, runs=None))
        assert found.waits_for_user is not is_late


def begun(there: ClusterSnapshot, version: str = NEW, runs: str | None = OLD, **lines: Any) -> Result:
    return upgrade_started.run(scene(there, version=version, runs=runs, **lines))


def test_an_upgrade_begins_with_a_lock() -> None:
    found = begun(seen())
    assert notes(found)[UPGRADE] == (OLD, NEW)
    assert notes(found)[LOCK]
    assert ABANDONED not in notes(found)


@pytest.mark.parametrize(("runs", "version"), [(None, NEW), (NEW, NEW)])
def test_where_none_is_wanted_none_begins(runs: str | None, version: str) -> None:
    assert begun(seen(), version, runs).is_true


@pytest.mark.parametrize(
    ("there", "lines", "reason"),
    [
        (seen(paused=True), {}, "NotPaused"),
        (seen(order=OLD), {}, "ForgettingOrder"),
        (seen(), {"upgrade__given-up": (NEW, 1)}, "GivenUp"),
        (silent(), {}, "NotHealthy"),
        (seen(color=Color.RED), {}, "NotHealthy"),
    ],
    ids=["paused", "an earlier order", "given up", "silent", "red"],
)
def test_nor_does_it_begin_where_it_must_not(
    there: ClusterSnapshot, lines: dict[str, Any], reason: str
) -> None:
    found = begun(there, **lines)
    assert (found.reason, found.ledger_changes) == (reason, ())


def test_a_version_that_is_refused_is_not_begun() -> None:
    assert begun(seen(), "9.9.9").reason == "Refused"


def test_what_was_given_up_is_forgotten_when_the_spec_changes() -> None:
    lines: dict[str, Any] = {"upgrade__given-up": (NEW, 1)}
    assert notes(begun(seen(generation=2), **lines))[ABANDONED] is None
    assert notes(begun(seen(generation=2), OLD, OLD, **lines)) == {ABANDONED: None}
    assert begun(seen(), NEW, NEW, **lines).ledger_changes == ()


@pytest.mark.parametrize(
    "pools",
    [
        (home("data", pod("data-0"), replicas=2), MANAGERS),
        (home("data", pod("data-0"), pod("data-1", is_ready=False)), MANAGERS),
        (home("data", pod("data-0"), pod("data-1", is_terminating=True)), MANAGERS),
        (DATA, home("managers", *MANAGERS.pods[:2], pod("managers-2", **DOWN), roles="cluster_manager")),
        (replace(DATA, allotted_replicas=None), MANAGERS),
        (replace(DATA, allotted_replicas=None, stateful_set=None), MANAGERS),
        (DATA, MANAGERS, replace(home("more", replicas=0), allotted_replicas=None)),
        (replace(DATA, allotted_replicas=3), MANAGERS),
        (home("data", pod("data-0"), pod("data-1", **DOWN), replicas=1), MANAGERS),
    ],
    ids=[
        "too few pods",
        "one only starts",
        "one goes",
        "one is down in a later pool",
        "no SearchPool",
        "nor a StatefulSet",
        "a StatefulSet of nobody",
        "a StatefulSet that is too small",
        "one who leaves is down",
    ],
)
def test_it_begins_where_everybody_is_there(pools: tuple[PoolView, ...]) -> None:
    """I3: whoever is not part of the lock would be left behind."""
    assert begun(seen(*pools)).reason == "NotHealthy"


def test_it_may_mend_who_is_down_in_the_pool_that_goes_first() -> None:
    sick = home("data", pod("data-0"), pod("data-1", **DOWN))
    assert begun(seen(sick, MANAGERS)).reason == "Beginning"


def test_a_pool_of_which_nothing_is_there_yet_stops_nobody() -> None:
    new = replace(home("more", replicas=2), allotted_replicas=None, stateful_set=None)
    for each in (new, replace(new, allotted_replicas=2)):
        assert begun(seen(DATA, MANAGERS, each)).reason == "Beginning"


def test_one_that_is_under_way_does_not_begin_again() -> None:
    assert begun(seen(), **UP).is_true


UP: dict[str, Any] = {"upgrade": (OLD, NEW)}
CURRENT = tuple(pod(f"data-{n}", template="new", engine_version=NEW) for n in range(2))


def finished(there: ClusterSnapshot, runs: str = NEW, version: str = NEW, **lines: Any) -> Result:
    return upgrade_finished.run(scene(there, version=version, runs=runs, **{**UP, **lines}))


def test_an_upgrade_is_over_when_every_node_has_arrived() -> None:
    found = finished(seen())
    assert notes(found) == dict.fromkeys((UPGRADE, LOCK, ROLLBACK_TO, UPGRADED_NODES))
    assert finished(seen(), OLD).reason == "Arriving"
    assert upgrade_finished.run(scene(seen())).is_true


def test_its_order_is_forgotten_first() -> None:
    [patch] = finished(seen(order=OLD)).operations
    assert isinstance(patch, Patch)


def test_and_what_is_still_noted_of_it_is_noted() -> None:
    """One line has one author."""
    crossed = home("data", *(replace(each, has_started=True) for each in CURRENT))
    assert finished(seen(crossed, MANAGERS)).reason == "LastNotes"
    # Another version takes its place at the last moment.
    assert finished(seen(), version="3.3.2").reason == "LastNotes"


def test_who_is_down_for_another_reason_is_named() -> None:
    sick = home("data", pod("data-0"), pod("data-1", **DOWN))
    assert "but for data-1" in finished(seen(sick, MANAGERS)).message
    assert "but for" not in finished(seen()).message


def way_back(there: ClusterSnapshot, **lines: Any) -> Result:
    return rollback_possible.run(scene(there, runs=OLD, **lines))


NEWER = pod("data-0", engine_version=NEW, has_started=True)


def test_a_way_back_is_open_as_long_as_every_shard_has_an_older_copy() -> None:
    """I13: and the pod with which it closes is named."""
    assert way_back(seen()).reason == "NoUpgrade"
    found = way_back(seen(home("data", NEWER, pod("data-1")), MANAGERS), **UP)
    assert (found.is_true, notes(found)) == (True, {UPGRADED_NODES: (("data-0", ""),)})
    assert "until data-1 is replaced" in found.message
    back = way_back(seen(home("data", NEWER, pod("data-1")), MANAGERS), **UP, upgrade__return=OLD)
    assert "until" not in back.message


def test_a_pod_that_is_about_to_come_back_does_not_close_the_way() -> None:
    """The engine has its node as it was until then."""
    coming = pod("data-0", engine_version=NEW, is_ready=False)
    there = replace(
        seen(home("data", coming, pod("data-1")), MANAGERS),
        engine=engine((DATA, MANAGERS), ["logs: data-0*"]),
    )
    assert "data-0" not in way_back(there, **UP).message
    assert way_back(there, **UP, upgrade__return=OLD).message == f"back to {OLD}"


def test_who_has_crossed_is_noted_once() -> None:
    known: Entry = (("data-0", ""),)
    there = seen(home("data", NEWER, pod("data-1")), MANAGERS)
    assert way_back(there, **UP, upgrade__crossed=known).ledger_changes == ()


def test_a_way_back_that_has_closed_says_why_and_keeps_noting() -> None:
    both = home("data", NEWER, pod("data-1", engine_version=NEW, has_started=True))
    found = way_back(seen(both, MANAGERS), **UP)
    assert (found.reason, found.waits_for_user) == ("Closed", True)
    assert UPGRADED_NODES in notes(found)
    assert "more" not in found.message


def test_of_many_reasons_some_are_shown() -> None:
    both = home("data", NEWER, pod("data-1", engine_version=NEW, has_started=True))
    there = seen(both, MANAGERS)
    view = engine((both, MANAGERS), [f"logs{n}: data-0* data-1" for n in range(7)])
    assert way_back(replace(there, engine=view), **UP).message.endswith("; and 2 more")


def test_the_elected_manager_is_counted_on_to_the_last() -> None:
    """Of the voters the second to go closes the way; who leads goes last."""
    there = seen(home("data", *CURRENT), MANAGERS)
    view = there.engine
    assert isinstance(view, EngineView)
    nodes = tuple(replace(each, is_elected=each.name == "managers-0") for each in view.nodes)
    found = way_back(replace(there, engine=replace(view, nodes=nodes, shards=())), **UP)
    assert "until managers-2 is replaced" in found.message


def test_people_are_told_how_to_turn_back_where_that_is_theirs_to_say() -> None:
    late: Entry = ("WaitingForPods", 0)
    there = seen(rollback=Rollback.MANUAL)
    assert ROLLBACK_ANNOTATION in way_back(there, **UP, wait__PodsCurrent=late).message
    assert ROLLBACK_ANNOTATION not in way_back(there, **UP).message
    assert way_back(silent(), **UP).message == f"back to {OLD}"
