"""What a rollout prepares before it deletes a pod."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rolls import calls, deleted_object, next_step, notes, with_claims
from searchkeeper.opensearch.calls import (
    ClearVotingExclusions,
    Exclude,
    ExcludeFromVoting,
    Flush,
    SetAllocation,
)
from searchkeeper.opensearch.view import Allocation, Index, Unreachable
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.ledger import (
    ALLOCATION,
    BATCH_FAILED,
    EXCLUDED,
    FLUSHED,
    PENDING_DELETE,
    REPLACED_PODS,
    WIPED_VOLUME,
)
from worlds import NEW, OLD, engine, pod, pool, world

MANAGERS = pool("managers", 3, roles="cluster_manager")
CURRENT = pool(
    "managers",
    3,
    roles="cluster_manager",
    pods=[pod(f"managers-{n}", template="new", engine_version=NEW) for n in range(3)],
)
HELD: dict[str, Entry] = {"engine__allocation": "all"}


def snapshot_of(allocation: Allocation = Allocation.ALL, **policy: Any) -> ClusterSnapshot:
    """Two outdated data nodes with one copy each."""
    data = pool("data", 2)
    view = engine((data, CURRENT), ["logs: data-0* data-1"], allocation=allocation)
    return world(data, CURRENT, snapshot=view, **policy)


def test_replica_allocation_is_disabled_before_a_data_node_restarts() -> None:
    found = next_step(snapshot_of())
    assert calls(found) == [SetAllocation(Allocation.PRIMARIES)]
    assert notes(found) == {ALLOCATION: "all", f"{ALLOCATION}/taken-back": None}


def test_setting_that_is_made_again_is_undone_again() -> None:
    """I9: the undo of the first time does not count for the second."""
    again: dict[str, Entry] = {**HELD, "engine__allocation/taken-back": True}
    assert notes(next_step(snapshot_of(), **again)) == {ALLOCATION: "all", f"{ALLOCATION}/taken-back": None}


def test_allocation_of_a_user_is_recorded() -> None:
    """I9: even if it is the value that the operator would set."""
    assert notes(next_step(snapshot_of(Allocation.PRIMARIES)))[ALLOCATION] == "primaries"
    assert notes(next_step(snapshot_of(Allocation.NONE)))[ALLOCATION] == "none"


def test_first_recorded_allocation_is_kept() -> None:
    assert notes(next_step(snapshot_of(Allocation.NONE), **HELD))[ALLOCATION] == "all"


def test_indices_are_flushed_after_allocation_is_disabled() -> None:
    found = next_step(snapshot_of(Allocation.PRIMARIES), **HELD)
    assert calls(found) == [Flush()]
    assert notes(found) == {FLUSHED: "uid-data-0"}
    # A flush for another pod does not count.
    assert calls(next_step(snapshot_of(Allocation.PRIMARIES), **HELD, roll__flushed="uid-data-1")) == [
        Flush()
    ]


def test_delete_is_recorded_with_the_pods_resource_version() -> None:
    found = next_step(snapshot_of(Allocation.PRIMARIES), **HELD, roll__flushed="uid-data-0")
    assert deleted_object(found) == "data-0"
    assert notes(found) == {REPLACED_PODS: (("data-0", "uid-data-0"),), PENDING_DELETE: "1"}


def test_node_without_data_needs_no_preparation() -> None:
    assert deleted_object(next_step(world(MANAGERS))) == "managers-0"


def test_pod_that_is_not_in_the_cluster_needs_no_preparation() -> None:
    """The engine may be unreachable."""
    lost = pool("data", 2, pods=[pod("data-0", is_ready=False, problem="CrashLoopBackOff"), pod("data-1")])
    assert deleted_object(next_step(world(lost, CURRENT))) == "data-0"
    assert deleted_object(next_step(world(lost, CURRENT, snapshot=Unreachable("timed out")))) == "data-0"


def test_pod_that_failed_before_the_rollout_does_not_halve_the_batch() -> None:
    """I12."""
    lost = pool("data", 4, pods=[pod("data-0", is_ready=False), *(pod(f"data-{n}") for n in range(1, 4))])
    found = next_step(world(lost, CURRENT, max_batch=4), roll__size=("data", 4))
    assert (deleted_object(found), BATCH_FAILED in notes(found)) == ("data-0", False)


def test_only_vote_moves_first() -> None:
    """S29."""
    home = pool("both", 2, roles="data cluster_manager")
    view = engine([home], ["logs: both-0* both-1"], voters=frozenset({"both-0"}))
    assert calls(next_step(world(home, snapshot=view))) == [ExcludeFromVoting("both-0")]


def test_ephemeral_node_is_drained_and_allocation_stays() -> None:
    data = pool("data", 2, ephemeral=True)
    found = next_step(world(data, CURRENT, shards=["logs: data-0* data-1"]))
    assert calls(found) == [Exclude(frozenset({"data-0"}))]
    assert notes(found) == {EXCLUDED: ("data-0",), f"{EXCLUDED}/taken-back": None}


@pytest.mark.parametrize("accepts", [False, True])
def test_last_copies_move_even_if_their_loss_is_accepted(accepts: bool) -> None:
    """I7: an accepted loss is still avoided."""
    data = pool("data", 2)
    view = engine((data, CURRENT), ["logs: data-0*"], indices=(Index("logs", 0, OLD),))
    found = next_step(world(data, CURRENT, snapshot=view, accept_single_copy_loss=accepts))
    assert calls(found) == [Exclude(frozenset({"data-0"}))]


def test_node_without_target_restarts_with_its_shards_if_the_loss_is_accepted() -> None:
    data = pool("data", 2)
    view = engine((data, CURRENT), ["logs: data-0*"], indices=(Index("logs", 0, OLD),))
    there = world(
        data, CURRENT, snapshot=replace(view, excluded=frozenset({"data-1"})), accept_single_copy_loss=True
    )
    assert calls(next_step(there)) == [SetAllocation(Allocation.PRIMARIES)]


def test_settings_are_restored_while_a_gate_is_closed() -> None:
    """I9, S21."""
    pods = (*MANAGERS.pods[:2], pod("managers-2", is_ready=False, template="new", engine_version=NEW))
    data = pool("data", 2)
    pools = (data, replace(CURRENT, pods=pods))
    view = engine(pools, ["logs: data-0* data-1"], allocation=Allocation.PRIMARIES)
    closed = world(*pools, snapshot=view)
    assert calls(next_step(closed, "managers", **HELD)) == [SetAllocation(None)]
    assert next_step(closed, "managers").reason == "WaitingForPods"


# What was set for another pod.


def first_is_current(*shards: str, ephemeral: bool = False, **differences: Any) -> ClusterSnapshot:
    """Two data nodes. The first one was replaced while no operator ran."""
    current = pod("data-0", template="new", engine_version=NEW)
    data = pool("data", 2, ephemeral=ephemeral, pods=[current, pod("data-1")])
    view = engine((data, CURRENT), shards or ["logs: data-0* data-1"], **differences)
    return world(data, CURRENT, snapshot=view)


def test_exclusion_of_another_pod_is_undone_before_a_drain_starts() -> None:
    """I7: both data nodes would be excluded."""
    there = first_is_current(ephemeral=True, excluded=frozenset({"data-0"}))
    assert calls(next_step(there, engine__excluded=("data-0",))) == [Exclude(frozenset())]
    sent: dict[str, Entry] = {"engine__excluded": ("data-0",), "engine__excluded/taken-back": True}
    restored = next_step(first_is_current(ephemeral=True), **sent)
    assert (restored.reason, notes(restored)[EXCLUDED]) == ("SettingsRestored", None)
    assert calls(next_step(first_is_current(ephemeral=True))) == [Exclude(frozenset({"data-1"}))]


def test_exclusion_of_another_pod_is_undone_before_allocation_is_disabled() -> None:
    there = first_is_current(excluded=frozenset({"data-0"}))
    assert calls(next_step(there, engine__excluded=("data-0",))) == [Exclude(frozenset())]


def test_allocation_is_restored_before_a_drain_starts() -> None:
    """Replicas cannot move while only primaries may be allocated."""
    there = first_is_current(ephemeral=True, allocation=Allocation.PRIMARIES)
    assert calls(next_step(there, **HELD)) == [SetAllocation(None)]


def test_allocation_is_restored_before_a_node_without_data_restarts() -> None:
    data = pool("data", 1, pods=[pod("data-0", template="new", engine_version=NEW)])
    view = engine((data, MANAGERS), allocation=Allocation.PRIMARIES)
    assert calls(next_step(world(data, MANAGERS, snapshot=view), **HELD)) == [SetAllocation(None)]


def test_allocation_stays_disabled_for_the_next_node_that_restarts_with_its_shards() -> None:
    there = first_is_current(allocation=Allocation.PRIMARIES)
    assert calls(next_step(there, **HELD)) == [Flush()]


def test_voting_exclusion_of_another_manager_is_cleared_before_the_next_vote_moves() -> None:
    """I9: the ledger has room for one. The other would be taken for an exclusion of a user."""
    pods = [pod("both-0", template="new", engine_version=NEW), pod("both-1")]
    home = pool("both", 2, roles="data cluster_manager", pods=pods)
    view = engine(
        [home],
        ["logs: both-0* both-1"],
        voters=frozenset({"both-1"}),
        voting_exclusions=frozenset({"both-0"}),
    )
    assert calls(next_step(world(home, snapshot=view), engine__voting="both-0")) == [ClearVotingExclusions()]


def test_failure_of_an_abandoned_batch_does_not_count_for_the_next() -> None:
    """I12: a second failure would not halve the batch again."""
    lines: dict[str, Entry] = {**HELD, "roll__flushed": "uid-data-0", "roll__trouble": True}
    found = next_step(snapshot_of(Allocation.PRIMARIES), **lines)
    assert (deleted_object(found), notes(found)[BATCH_FAILED]) == ("data-0", None)


# Rollback.


BACK: dict[str, Entry] = {"upgrade": (OLD, NEW), "upgrade__return": OLD}


def older(home: PoolView) -> PoolView:
    """Return the pool with the older version in its StatefulSet."""
    assert home.stateful_set is not None
    return replace(home, stateful_set=replace(home.stateful_set, engine_version=OLD))


def rollback_snapshot(newer: Pod, *shards: str, roles: str = "data", **policy: Any) -> ClusterSnapshot:
    """A rollback: a node that ran the newer version, with a volume, and two that did not."""
    others = [pod(f"data-{n}", template="new") for n in (1, 2)]
    managers = [pod(f"managers-{n}", template="new") for n in range(3)]
    pools = (
        older(pool("data", 3, roles=roles, pods=[newer, *others])),
        older(pool("managers", 3, roles="cluster_manager", pods=managers)),
    )
    return with_claims(world(*pools, shards=shards, **policy), data_0={})


NEWER = pod("data-0", engine_version=NEW, has_started=True)
SAFE = "logs: data-0* data-1"
GONE = "logs: data-0*"


def test_rollback_drains_the_node_then_deletes_its_volume_then_its_pod() -> None:
    """I7."""
    assert calls(next_step(rollback_snapshot(NEWER, SAFE), **BACK)) == [Exclude(frozenset({"data-0"}))]
    empty = next_step(rollback_snapshot(NEWER, "logs: data-1* data-2"), **BACK, engine__excluded=("data-0",))
    assert calls(empty) == [Exclude(frozenset({"data-0"}))]
    told = rollback_snapshot(NEWER, "logs: data-1* data-2")
    assert not isinstance(told.engine, Unreachable)
    told = replace(told, engine=replace(told.engine, excluded=frozenset({"data-0"})))
    found = next_step(told, **BACK, engine__excluded=("data-0",))
    assert (deleted_object(found), notes(found)) == (
        "data-data-0",
        {WIPED_VOLUME: ("data-data-0", "uid-data-data-0")},
    )
    leaving = with_claims(told, data_0={"deletionTimestamp": "now"})
    assert deleted_object(next_step(leaving, **BACK, engine__excluded=("data-0",))) == "data-0"


def test_blocked_rollback_replaces_no_pod() -> None:
    """I13: settings are restored."""
    assert next_step(rollback_snapshot(NEWER, GONE), **BACK).reason == "RollbackBlocked"
    assert calls(next_step(rollback_snapshot(NEWER, GONE), **BACK, engine__allocation="all")) == [
        SetAllocation(None)
    ]


def test_blocked_rollback_is_not_reported_while_paused() -> None:
    """A pause has no deadline."""
    assert next_step(rollback_snapshot(NEWER, GONE, paused=True), **BACK).reason == "UpgradePaused"


def test_blocked_rollback_is_not_reported_while_the_engine_is_unreachable() -> None:
    silent = replace(rollback_snapshot(NEWER, SAFE), engine=Unreachable("timed out"))
    assert next_step(silent, **BACK).reason == "EngineUnreachable"


def test_blocked_rollback_replaces_pods_that_are_not_in_the_cluster() -> None:
    """It has nothing to lose."""
    broken = replace(NEWER, is_ready=False, problem="CrashLoopBackOff")
    assert deleted_object(next_step(rollback_snapshot(broken, "logs: ?*"), **BACK)) == "data-0"


def test_upgrade_continues_past_the_point_of_no_return() -> None:
    crossed = pool("data", 2, pods=[pod("data-0", engine_version="3.3.2", has_started=True), pod("data-1")])
    there = world(crossed, CURRENT, shards=["logs: data-0* data-1"])
    assert (
        next_step(there, upgrade=("3.3.2", NEW), upgrade__crossed=(("data-0", ""),)).reason
        == "DisablingReplicaAllocation"
    )


DOWN = pod("data-0", template="new", is_ready=False, has_started=True, problem="CrashLoopBackOff")
RAN: dict[str, Entry] = {**BACK, "upgrade__crossed": (("data-0", "uid-data-data-0"),)}
LATE: dict[str, Entry] = {"wait__PodsCurrent": ("WaitingForPods", 100)}
WHOLE = "logs: data-1* data-2"


def test_volume_of_a_pod_that_cannot_start_is_deleted_after_the_deadline() -> None:
    assert deleted_object(next_step(rollback_snapshot(DOWN, WHOLE), **RAN, **LATE)) == "data-data-0"
    leaving = with_claims(rollback_snapshot(DOWN, WHOLE), data_0={"deletionTimestamp": "now"})
    assert deleted_object(next_step(leaving, **RAN)) == "data-0"


@pytest.mark.parametrize(
    ("lines", "policy"),
    [
        (RAN, {}),
        ({**RAN, **LATE}, {"paused": True}),
        ({"upgrade": (OLD, NEW), "upgrade__crossed": RAN["upgrade__crossed"], **LATE}, {}),
        ({**BACK, **LATE}, {}),
    ],
    ids=["not late", "paused", "no rollback", "never ran"],
)
def test_volume_of_a_pod_that_cannot_start_stays_otherwise(
    lines: dict[str, Entry], policy: dict[str, Any]
) -> None:
    """I7."""
    assert deleted_object(next_step(rollback_snapshot(DOWN, WHOLE, **policy), **lines)) is None


def test_volume_of_a_pod_without_data_and_vote_is_deleted_at_once() -> None:
    assert deleted_object(next_step(rollback_snapshot(DOWN, roles="ingest"), **RAN)) == "data-data-0"
    assert deleted_object(next_step(rollback_snapshot(DOWN, roles="ingest", paused=True), **RAN)) is None


def test_pod_without_a_volume_loses_none() -> None:
    there = replace(rollback_snapshot(DOWN, WHOLE), objects={})
    assert deleted_object(next_step(there, **RAN, **LATE)) is None
