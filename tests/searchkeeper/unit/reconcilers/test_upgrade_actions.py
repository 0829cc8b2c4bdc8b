"""Single decisions of an upgrade: accept the version, start, finish, and report the rollback."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.api.reasons import Reason
from searchkeeper.api.spec import Rollback
from searchkeeper.desired.names import ENGINE_VERSION
from searchkeeper.kubernetes.operations import EmitEvent, Patch
from searchkeeper.opensearch.view import Allocation, Color, EngineView, Unreachable
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
from searchkeeper.upgrade.ledger import (
    ABANDONED,
    LOCK,
    REFUSED,
    ROLLBACK_TO,
    SNAPSHOT,
    UPGRADE,
    UPGRADED_NODES,
)
from searchkeeper.upgrade.rollback import ROLLBACK_ANNOTATION
from tests.support.searchkeeper.action_contexts import context
from tests.support.searchkeeper.rollouts import ledger_changes
from tests.support.searchkeeper.snapshots import NEW, OLD, cluster_snapshot, engine, pod, pool

UNREACHABLE = Unreachable("timed out")
FAILED: dict[str, Any] = {"is_ready": False, "problem": "CrashLoopBackOff"}


def pool_of(name: str, *pods: Pod, roles: str = "data", replicas: int | None = None) -> PoolView:
    size = len(pods) if replicas is None else replicas
    return replace(pool(name, size, roles=roles, pods=pods), allotted_replicas=size)


DATA = pool_of("data", pod("data-0"), pod("data-1"))
MANAGERS = pool_of("managers", *(pod(f"managers-{n}") for n in range(3)), roles="cluster_manager")


def snapshot_with(
    *pools: PoolView, order: str | None = None, generation: int = 1, **differences: Any
) -> ClusterSnapshot:
    policy = {name: differences.pop(name) for name in ("paused", "rollback") if name in differences}
    given = pools or (DATA, MANAGERS)
    snapshot = cluster_snapshot(*given, view=engine(given, ["logs: data-0* data-1"], **differences), **policy)
    annotations = () if order is None else ((ROLLBACK_ANNOTATION, order),)
    return replace(
        snapshot, cluster=replace(snapshot.cluster, annotations=annotations, generation=generation)
    )


def unreachable(*pools: PoolView) -> ClusterSnapshot:
    return replace(snapshot_with(*pools), engine=UNREACHABLE)


def accept(snapshot: ClusterSnapshot, version: str, **lines: Any) -> Result:
    return version_accepted.run(context(snapshot, version=version, runs=OLD, **lines))


def test_refused_version_emits_one_event_a_generation() -> None:
    """I10."""
    first = accept(snapshot_with(), "9.9.9")
    [event] = first.operations
    assert isinstance(event, EmitEvent)
    assert ledger_changes(first) == {REFUSED: 1}
    again = accept(snapshot_with(), "9.9.9", refused=1)
    assert (again.operations, again.ledger_changes, again.waits_for_user) == ((), (), True)
    assert accept(snapshot_with(generation=2), "9.9.9", refused=1).operations


def test_accepted_version_clears_the_recorded_refusal() -> None:
    assert ledger_changes(accept(snapshot_with(), NEW, refused=1)) == {REFUSED: None}
    assert accept(snapshot_with(), NEW).ledger_changes == ()


def test_engine_is_healthy_when_reachable_and_not_red() -> None:
    assert engine_healthy.run(context(snapshot_with())).is_true
    assert engine_healthy.run(context(snapshot_with(color=Color.YELLOW))).is_true
    assert engine_healthy.run(context(snapshot_with(color=Color.RED))).reason == Reason.ENGINE_RED
    assert engine_healthy.run(context(unreachable())).reason == Reason.ENGINE_UNREACHABLE


def test_refused_version_without_nodes_has_no_deadline() -> None:
    empty = pool_of("data", replicas=2)
    for snapshot, version, has_deadline in (
        (unreachable(empty), "9.9.9", False),
        (unreachable(), "9.9.9", True),
        (unreachable(empty), NEW, True),
    ):
        found = engine_healthy.run(context(snapshot, version=version, runs=None))
        assert found.waits_for_user is not has_deadline


def start(snapshot: ClusterSnapshot, version: str = NEW, runs: str | None = OLD, **lines: Any) -> Result:
    return upgrade_started.run(context(snapshot, version=version, runs=runs, **lines))


def test_upgrade_starts_with_a_spec_lock() -> None:
    found = start(snapshot_with())
    assert ledger_changes(found)[UPGRADE] == (OLD, NEW)
    assert ledger_changes(found)[LOCK]
    assert ABANDONED not in ledger_changes(found)


@pytest.mark.parametrize(("runs", "version"), [(None, NEW), (NEW, NEW)])
def test_no_upgrade_starts_without_a_request(runs: str | None, version: str) -> None:
    assert start(snapshot_with(), version, runs).is_true


@pytest.mark.parametrize(
    ("snapshot", "lines", "reason"),
    [
        (snapshot_with(paused=True), {}, Reason.UPGRADE_PAUSED),
        (snapshot_with(order=OLD), {}, Reason.REMOVING_ROLLBACK_ANNOTATION),
        (snapshot_with(), {"upgrade__given-up": (NEW, 1)}, Reason.VERSION_ABANDONED),
        (unreachable(), {}, Reason.CLUSTER_UNHEALTHY),
        (snapshot_with(color=Color.RED), {}, Reason.CLUSTER_UNHEALTHY),
    ],
    ids=["paused", "an earlier annotation", "abandoned", "unreachable", "red"],
)
def test_upgrade_does_not_start_while_blocked(
    snapshot: ClusterSnapshot, lines: dict[str, Any], reason: str
) -> None:
    found = start(snapshot, **lines)
    assert (found.reason, found.ledger_changes) == (reason, ())


def yellow(copies: str, **differences: Any) -> ClusterSnapshot:
    return replace(snapshot_with(), engine=engine((DATA, MANAGERS), [copies], **differences))


@pytest.mark.parametrize(
    "snapshot",
    [
        yellow("logs: data-0* ?"),
        yellow("logs: data-0* ?throttling"),
        yellow("logs: data-0* ?same_shard+enable"),
        yellow("logs: data-0* ?same_shard", allocation=Allocation.PRIMARIES),
        yellow("logs: data-0>data-1* ?same_shard"),
    ],
    ids=["no reason known", "throttled", "one reason may pass", "allocation is disabled", "shards move"],
)
def test_upgrade_waits_for_yellow_that_may_turn_green(snapshot: ClusterSnapshot) -> None:
    found = start(snapshot)
    assert (found.reason, found.ledger_changes) == (Reason.CLUSTER_UNHEALTHY, ())


def test_upgrade_starts_while_yellow_cannot_turn_green() -> None:
    """A single data node never has a place for a second copy."""
    assert start(yellow("logs: data-0* ?same_shard")).reason == Reason.STARTING_UPGRADE
    single = pool_of("data", pod("data-0"))
    view = engine((single, MANAGERS), ["logs: data-0* ?"])
    assert start(replace(snapshot_with(single, MANAGERS), engine=view)).reason == Reason.STARTING_UPGRADE


def test_upgrade_to_a_refused_version_does_not_start() -> None:
    assert start(snapshot_with(), "9.9.9").reason == Reason.VERSION_REFUSED


def test_edited_spec_clears_the_abandoned_version() -> None:
    lines: dict[str, Any] = {"upgrade__given-up": (NEW, 1)}
    assert ledger_changes(start(snapshot_with(generation=2), **lines))[ABANDONED] is None
    assert ledger_changes(start(snapshot_with(generation=2), OLD, OLD, **lines)) == {ABANDONED: None}
    assert start(snapshot_with(), NEW, NEW, **lines).ledger_changes == ()


@pytest.mark.parametrize(
    "pools",
    [
        (pool_of("data", pod("data-0"), replicas=2), MANAGERS),
        (pool_of("data", pod("data-0"), pod("data-1", is_ready=False)), MANAGERS),
        (pool_of("data", pod("data-0"), pod("data-1", is_terminating=True)), MANAGERS),
        (DATA, pool_of("managers", *MANAGERS.pods[:2], pod("managers-2", **FAILED), roles="cluster_manager")),
        (replace(DATA, allotted_replicas=None), MANAGERS),
        (replace(DATA, allotted_replicas=None, stateful_set=None), MANAGERS),
        (DATA, MANAGERS, replace(pool_of("more", replicas=0), allotted_replicas=None)),
        (replace(DATA, allotted_replicas=3), MANAGERS),
        (pool_of("data", pod("data-0"), pod("data-1", **FAILED), replicas=1), MANAGERS),
    ],
    ids=[
        "too few pods",
        "one is starting",
        "one is terminating",
        "one has failed in a later pool",
        "no SearchPool",
        "nor a StatefulSet",
        "a StatefulSet without SearchPool",
        "a StatefulSet with too few replicas",
        "a surplus pod has failed",
    ],
)
def test_upgrade_does_not_start_with_missing_or_failed_pods(pools: tuple[PoolView, ...]) -> None:
    """I3: a node that is not part of the lock would keep its version."""
    assert start(snapshot_with(*pools)).reason == Reason.CLUSTER_UNHEALTHY


def test_upgrade_starts_with_a_failed_pod_in_the_first_pool() -> None:
    failed = pool_of("data", pod("data-0"), pod("data-1", **FAILED))
    assert start(snapshot_with(failed, MANAGERS)).reason == Reason.STARTING_UPGRADE


def test_pool_without_any_object_does_not_block_the_start() -> None:
    new = replace(pool_of("more", replicas=2), allotted_replicas=None, stateful_set=None)
    for each in (new, replace(new, allotted_replicas=2)):
        assert start(snapshot_with(DATA, MANAGERS, each)).reason == Reason.STARTING_UPGRADE


def test_upgrade_in_progress_does_not_start_again() -> None:
    assert start(snapshot_with(), **UPGRADING).is_true


UPGRADING: dict[str, Any] = {"upgrade": (OLD, NEW)}
CURRENT = tuple(pod(f"data-{n}", template="new", engine_version=NEW) for n in range(2))


def finish(snapshot: ClusterSnapshot, runs: str = NEW, version: str = NEW, **lines: Any) -> Result:
    cluster = snapshot.cluster
    annotations = (*cluster.annotations, (ENGINE_VERSION, f"{cluster.uid}/{runs}"))
    snapshot = replace(snapshot, cluster=replace(cluster, annotations=annotations))
    return upgrade_finished.run(context(snapshot, version=version, runs=runs, **{**UPGRADING, **lines}))


def test_upgrade_finishes_when_every_node_runs_the_target() -> None:
    found = finish(snapshot_with())
    assert ledger_changes(found) == dict.fromkeys((UPGRADE, LOCK, ROLLBACK_TO, UPGRADED_NODES, SNAPSHOT))
    assert finish(snapshot_with(), OLD).reason == Reason.WAITING_FOR_NODES
    assert upgrade_finished.run(context(snapshot_with())).is_true


def test_upgrade_finishes_after_its_version_is_recorded() -> None:
    """A status that is lost then does not start the upgrade again."""
    found = upgrade_finished.run(context(snapshot_with(), version=NEW, runs=NEW, **UPGRADING))
    assert found.reason == Reason.RECORDING_VERSION
    assert not found.ledger_changes


def test_rollback_annotation_is_removed_before_the_end() -> None:
    [patch] = finish(snapshot_with(order=OLD)).operations
    assert isinstance(patch, Patch)


def test_upgrade_finishes_after_other_ledger_changes() -> None:
    """One action changes a ledger line."""
    upgraded = pool_of("data", *(replace(each, has_started=True) for each in CURRENT))
    assert finish(snapshot_with(upgraded, MANAGERS)).reason == Reason.WAITING_FOR_LEDGER
    # The target changes at the last moment.
    assert finish(snapshot_with(), version="3.3.2").reason == Reason.WAITING_FOR_LEDGER


def test_finish_names_pods_down_for_another_reason() -> None:
    failed = pool_of("data", pod("data-0"), pod("data-1", **FAILED))
    assert "except data-1" in finish(snapshot_with(failed, MANAGERS)).message
    assert "except" not in finish(snapshot_with()).message


def rollback(snapshot: ClusterSnapshot, **lines: Any) -> Result:
    return rollback_possible.run(context(snapshot, runs=OLD, **lines))


NEWER = pod("data-0", engine_version=NEW, has_started=True)


def test_rollback_is_possible_while_every_shard_has_an_older_copy() -> None:
    """I13: the message names the pod whose replacement is the point of no return."""
    assert rollback(snapshot_with()).reason == Reason.NO_UPGRADE
    found = rollback(snapshot_with(pool_of("data", NEWER, pod("data-1")), MANAGERS), **UPGRADING)
    assert (found.is_true, ledger_changes(found)) == (True, {UPGRADED_NODES: (("data-0", ""),)})
    assert "until data-1 is replaced" in found.message
    result = rollback(
        snapshot_with(pool_of("data", NEWER, pod("data-1")), MANAGERS), **UPGRADING, upgrade__return=OLD
    )
    assert "until" not in result.message


def test_pod_being_replaced_is_not_the_point_of_no_return() -> None:
    """The engine reports its node with the older version until then."""
    coming = pod("data-0", engine_version=NEW, is_ready=False)
    snapshot = replace(
        snapshot_with(pool_of("data", coming, pod("data-1")), MANAGERS),
        engine=engine((DATA, MANAGERS), ["logs: data-0*"]),
    )
    assert "data-0" not in rollback(snapshot, **UPGRADING).message
    assert rollback(snapshot, **UPGRADING, upgrade__return=OLD).message == f"possible to {OLD}"


def test_upgraded_nodes_are_recorded_once() -> None:
    known: Entry = (("data-0", ""),)
    snapshot = snapshot_with(pool_of("data", NEWER, pod("data-1")), MANAGERS)
    assert rollback(snapshot, **UPGRADING, upgrade__crossed=known).ledger_changes == ()


def test_passed_point_of_no_return_names_the_blockers() -> None:
    both = pool_of("data", NEWER, pod("data-1", engine_version=NEW, has_started=True))
    found = rollback(snapshot_with(both, MANAGERS), **UPGRADING)
    assert (found.reason, found.waits_for_user) == (Reason.POINT_OF_NO_RETURN_PASSED, True)
    assert UPGRADED_NODES in ledger_changes(found)
    assert "more" not in found.message


def test_long_list_of_blockers_is_shortened() -> None:
    both = pool_of("data", NEWER, pod("data-1", engine_version=NEW, has_started=True))
    snapshot = snapshot_with(both, MANAGERS)
    view = engine((both, MANAGERS), [f"logs{n}: data-0* data-1" for n in range(7)])
    assert rollback(replace(snapshot, engine=view), **UPGRADING).message.endswith("; and 2 more")


def test_elected_manager_is_replaced_last() -> None:
    """The second voter that is replaced is the point of no return."""
    snapshot = snapshot_with(pool_of("data", *CURRENT), MANAGERS)
    view = snapshot.engine
    assert isinstance(view, EngineView)
    nodes = tuple(replace(each, is_elected=each.name == "managers-0") for each in view.nodes)
    found = rollback(replace(snapshot, engine=replace(view, nodes=nodes, shards=())), **UPGRADING)
    assert "until managers-2 is replaced" in found.message


def test_manual_rollback_is_explained_after_a_failure() -> None:
    late: Entry = ("PodsComeBack", 0)
    snapshot = snapshot_with(rollback=Rollback.MANUAL)
    assert ROLLBACK_ANNOTATION in rollback(snapshot, **UPGRADING, wait__PodsCurrent=late).message
    assert ROLLBACK_ANNOTATION not in rollback(snapshot, **UPGRADING).message
    assert rollback(unreachable(), **UPGRADING).message == f"possible to {OLD}"
