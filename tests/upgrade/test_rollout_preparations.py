"""What is done before a pod goes, and in which order, as single decisions of a roll."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from rollouts import deleted_object, engine_calls, ledger_changes, rollout_step, with_claims
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
from snapshots import NEW, OLD, cluster_snapshot, engine, pod, pool

MANAGERS = pool("managers", 3, roles="cluster_manager")
CURRENT = pool(
    "managers",
    3,
    roles="cluster_manager",
    pods=[pod(f"managers-{n}", template="new", engine_version=NEW) for n in range(3)],
)
HELD: dict[str, Entry] = {"engine__allocation": "all"}


def seen(allocation: Allocation = Allocation.ALL, **policy: Any) -> ClusterSnapshot:
    """Two data nodes that have to be replaced, with a copy each."""
    data = pool("data", 2)
    view = engine((data, CURRENT), ["logs: data-0* data-1"], allocation=allocation)
    return cluster_snapshot(data, CURRENT, view=view, **policy)


def test_replica_allocation_is_disabled_before_a_data_node_restarts() -> None:
    found = rollout_step(seen())
    assert engine_calls(found) == [SetAllocation(Allocation.PRIMARIES)]
    assert ledger_changes(found) == {ALLOCATION: "all", f"{ALLOCATION}/taken-back": None}


def test_setting_that_is_made_again_is_restored_again() -> None:
    """I9: what was said of the first time does not count for the second."""
    again: dict[str, Entry] = {**HELD, "engine__allocation/taken-back": True}
    assert ledger_changes(rollout_step(seen(), **again)) == {
        ALLOCATION: "all",
        f"{ALLOCATION}/taken-back": None,
    }


def test_allocation_of_a_user_is_recorded() -> None:
    """I9: also where that is what we would have set."""
    assert ledger_changes(rollout_step(seen(Allocation.PRIMARIES)))[ALLOCATION] == "primaries"
    assert ledger_changes(rollout_step(seen(Allocation.NONE)))[ALLOCATION] == "none"


def test_recorded_allocation_is_not_overwritten() -> None:
    assert ledger_changes(rollout_step(seen(Allocation.NONE), **HELD))[ALLOCATION] == "all"


def test_flush_follows_after_replica_allocation_is_disabled() -> None:
    found = rollout_step(seen(Allocation.PRIMARIES), **HELD)
    assert engine_calls(found) == [Flush()]
    assert ledger_changes(found) == {FLUSHED: "uid-data-0"}
    # What was flushed for another pod is long past.
    assert engine_calls(rollout_step(seen(Allocation.PRIMARIES), **HELD, roll__flushed="uid-data-1")) == [
        Flush()
    ]


def test_pod_is_deleted_after_the_flush_and_recorded_with_its_uid_and_version() -> None:
    found = rollout_step(seen(Allocation.PRIMARIES), **HELD, roll__flushed="uid-data-0")
    assert deleted_object(found) == "data-0"
    assert ledger_changes(found) == {REPLACED_PODS: (("data-0", "uid-data-0"),), PENDING_DELETE: "1"}


def test_node_without_data_needs_no_preparation() -> None:
    assert deleted_object(rollout_step(cluster_snapshot(MANAGERS))) == "managers-0"


def test_node_that_has_not_joined_needs_no_preparation() -> None:
    """There may be nobody to tell."""
    lost = pool("data", 2, pods=[pod("data-0", is_ready=False, problem="CrashLoopBackOff"), pod("data-1")])
    assert deleted_object(rollout_step(cluster_snapshot(lost, CURRENT))) == "data-0"
    assert (
        deleted_object(rollout_step(cluster_snapshot(lost, CURRENT, view=Unreachable("timed out"))))
        == "data-0"
    )


def test_pod_that_failed_before_the_rollout_is_no_failure_of_a_batch() -> None:
    """I12: the batch is as large as it was."""
    lost = pool("data", 4, pods=[pod("data-0", is_ready=False), *(pod(f"data-{n}") for n in range(1, 4))])
    found = rollout_step(cluster_snapshot(lost, CURRENT, max_batch=4), roll__size=("data", 4))
    assert (deleted_object(found), BATCH_FAILED in ledger_changes(found)) == ("data-0", False)


def test_only_vote_moves_first() -> None:
    """S29."""
    home = pool("both", 2, roles="data cluster_manager")
    view = engine([home], ["logs: both-0* both-1"], voters=frozenset({"both-0"}))
    assert engine_calls(rollout_step(cluster_snapshot(home, view=view))) == [ExcludeFromVoting("both-0")]


def test_ephemeral_node_is_drained_and_allocation_stays_enabled() -> None:
    data = pool("data", 2, ephemeral=True)
    found = rollout_step(cluster_snapshot(data, CURRENT, shards=["logs: data-0* data-1"]))
    assert engine_calls(found) == [Exclude(frozenset({"data-0"}))]
    assert ledger_changes(found) == {EXCLUDED: ("data-0",), f"{EXCLUDED}/taken-back": None}


@pytest.mark.parametrize("accepts", [False, True])
def test_last_copies_move_to_a_target_although_their_loss_is_accepted(accepts: bool) -> None:
    """I7: what may be lost need not be."""
    data = pool("data", 2)
    view = engine((data, CURRENT), ["logs: data-0*"], indices=(Index("logs", 0, OLD),))
    found = rollout_step(cluster_snapshot(data, CURRENT, view=view, accept_single_copy_loss=accepts))
    assert engine_calls(found) == [Exclude(frozenset({"data-0"}))]


def test_unmovable_last_copies_stay_if_their_loss_is_accepted() -> None:
    data = pool("data", 2)
    view = engine((data, CURRENT), ["logs: data-0*"], indices=(Index("logs", 0, OLD),))
    there = cluster_snapshot(
        data, CURRENT, view=replace(view, excluded=frozenset({"data-1"})), accept_single_copy_loss=True
    )
    assert engine_calls(rollout_step(there)) == [SetAllocation(Allocation.PRIMARIES)]


def test_settings_are_restored_while_a_gate_is_closed() -> None:
    """I9, S21."""
    pods = (*MANAGERS.pods[:2], pod("managers-2", is_ready=False, template="new", engine_version=NEW))
    data = pool("data", 2)
    pools = (data, replace(CURRENT, pods=pods))
    view = engine(pools, ["logs: data-0* data-1"], allocation=Allocation.PRIMARIES)
    closed = cluster_snapshot(*pools, view=view)
    assert engine_calls(rollout_step(closed, "managers", **HELD)) == [SetAllocation(None)]
    assert rollout_step(closed, "managers").reason == "WaitingForPods"


# What was set for another pod.


def first_is_current(*shards: str, ephemeral: bool = False, **differences: Any) -> ClusterSnapshot:
    """Two data nodes. The first one was replaced while no operator ran."""
    current = pod("data-0", template="new", engine_version=NEW)
    data = pool("data", 2, ephemeral=ephemeral, pods=[current, pod("data-1")])
    view = engine((data, CURRENT), shards or ["logs: data-0* data-1"], **differences)
    return cluster_snapshot(data, CURRENT, view=view)


def test_exclusion_of_another_pod_is_undone_before_a_drain_starts() -> None:
    """I7: both data nodes would be excluded."""
    there = first_is_current(ephemeral=True, excluded=frozenset({"data-0"}))
    assert engine_calls(rollout_step(there, engine__excluded=("data-0",))) == [Exclude(frozenset())]
    sent: dict[str, Entry] = {"engine__excluded": ("data-0",), "engine__excluded/taken-back": True}
    restored = rollout_step(first_is_current(ephemeral=True), **sent)
    assert (restored.reason, ledger_changes(restored)[EXCLUDED]) == ("SettingsRestored", None)
    assert engine_calls(rollout_step(first_is_current(ephemeral=True))) == [Exclude(frozenset({"data-1"}))]


def test_exclusion_of_another_pod_is_undone_before_allocation_is_disabled() -> None:
    there = first_is_current(excluded=frozenset({"data-0"}))
    assert engine_calls(rollout_step(there, engine__excluded=("data-0",))) == [Exclude(frozenset())]


def test_allocation_is_restored_before_a_drain_starts() -> None:
    """Replicas cannot move while only primaries may be allocated."""
    there = first_is_current(ephemeral=True, allocation=Allocation.PRIMARIES)
    assert engine_calls(rollout_step(there, **HELD)) == [SetAllocation(None)]


def test_allocation_is_restored_before_a_node_without_data_restarts() -> None:
    data = pool("data", 1, pods=[pod("data-0", template="new", engine_version=NEW)])
    view = engine((data, MANAGERS), allocation=Allocation.PRIMARIES)
    assert engine_calls(rollout_step(cluster_snapshot(data, MANAGERS, view=view), **HELD)) == [
        SetAllocation(None)
    ]


def test_allocation_stays_disabled_for_the_next_node_that_restarts_with_its_shards() -> None:
    there = first_is_current(allocation=Allocation.PRIMARIES)
    assert engine_calls(rollout_step(there, **HELD)) == [Flush()]


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
    assert engine_calls(rollout_step(cluster_snapshot(home, view=view), engine__voting="both-0")) == [
        ClearVotingExclusions()
    ]


def test_failure_of_an_abandoned_batch_does_not_count_for_the_next() -> None:
    """I12: a second failure would not halve the batch again."""
    lines: dict[str, Entry] = {**HELD, "roll__flushed": "uid-data-0", "roll__trouble": True}
    found = rollout_step(seen(Allocation.PRIMARIES), **lines)
    assert (deleted_object(found), ledger_changes(found)[BATCH_FAILED]) == ("data-0", None)


# On the way back.


BACK: dict[str, Entry] = {"upgrade": (OLD, NEW), "upgrade__return": OLD}


def older(home: PoolView) -> PoolView:
    """Of which the older version is wanted again."""
    assert home.stateful_set is not None
    return replace(home, stateful_set=replace(home.stateful_set, engine_version=OLD))


def backwards(newer: Pod, *shards: str, roles: str = "data", **policy: Any) -> ClusterSnapshot:
    """A node that has run the newer version, with a volume, beside two that have not."""
    others = [pod(f"data-{n}", template="new") for n in (1, 2)]
    managers = [pod(f"managers-{n}", template="new") for n in range(3)]
    pools = (
        older(pool("data", 3, roles=roles, pods=[newer, *others])),
        older(pool("managers", 3, roles="cluster_manager", pods=managers)),
    )
    return with_claims(cluster_snapshot(*pools, shards=shards, **policy), data_0={})


NEWER = pod("data-0", engine_version=NEW, has_started=True)
SAFE = "logs: data-0* data-1"
GONE = "logs: data-0*"


def test_node_of_the_newer_version_is_drained_then_its_volume_then_its_pod_is_deleted() -> None:
    """I7."""
    assert engine_calls(rollout_step(backwards(NEWER, SAFE), **BACK)) == [Exclude(frozenset({"data-0"}))]
    empty = rollout_step(backwards(NEWER, "logs: data-1* data-2"), **BACK, engine__excluded=("data-0",))
    assert engine_calls(empty) == [Exclude(frozenset({"data-0"}))]
    told = backwards(NEWER, "logs: data-1* data-2")
    assert not isinstance(told.engine, Unreachable)
    told = replace(told, engine=replace(told.engine, excluded=frozenset({"data-0"})))
    found = rollout_step(told, **BACK, engine__excluded=("data-0",))
    assert (deleted_object(found), ledger_changes(found)) == (
        "data-data-0",
        {WIPED_VOLUME: ("data-data-0", "uid-data-data-0")},
    )
    leaving = with_claims(told, data_0={"deletionTimestamp": "now"})
    assert deleted_object(rollout_step(leaving, **BACK, engine__excluded=("data-0",))) == "data-0"


def test_blocked_rollback_waits_and_restores_settings() -> None:
    """I13: and what was set for it is taken back."""
    assert rollout_step(backwards(NEWER, GONE), **BACK).reason == "RollbackBlocked"
    assert engine_calls(rollout_step(backwards(NEWER, GONE), **BACK, engine__allocation="all")) == [
        SetAllocation(None)
    ]


def test_pause_is_reported_before_a_blocked_rollback() -> None:
    """Nobody is late for what is paused."""
    assert rollout_step(backwards(NEWER, GONE, paused=True), **BACK).reason == "UpgradePaused"


def test_unreachable_engine_is_reported_before_a_blocked_rollback() -> None:
    silent = replace(backwards(NEWER, SAFE), engine=Unreachable("timed out"))
    assert rollout_step(silent, **BACK).reason == "EngineUnreachable"


def test_failed_pod_is_replaced_although_the_rollback_is_blocked() -> None:
    """It has nothing that would be lost by going back."""
    broken = replace(NEWER, is_ready=False, problem="CrashLoopBackOff")
    assert deleted_object(rollout_step(backwards(broken, "logs: ?*"), **BACK)) == "data-0"


def test_upgrade_does_not_check_rollback_blockers() -> None:
    crossed = pool("data", 2, pods=[pod("data-0", engine_version="3.3.2", has_started=True), pod("data-1")])
    there = cluster_snapshot(crossed, CURRENT, shards=["logs: data-0* data-1"])
    assert (
        rollout_step(there, upgrade=("3.3.2", NEW), upgrade__crossed=(("data-0", ""),)).reason
        == "DisablingReplicaAllocation"
    )


DOWN = pod("data-0", template="new", is_ready=False, has_started=True, problem="CrashLoopBackOff")
RAN: dict[str, Entry] = {**BACK, "upgrade__crossed": (("data-0", "uid-data-data-0"),)}
LATE: dict[str, Entry] = {"wait__PodsCurrent": ("WaitingForPods", 100)}
WHOLE = "logs: data-1* data-2"


def test_late_pod_that_cannot_start_on_its_disk_loses_volume_then_pod() -> None:
    assert deleted_object(rollout_step(backwards(DOWN, WHOLE), **RAN, **LATE)) == "data-data-0"
    leaving = with_claims(backwards(DOWN, WHOLE), data_0={"deletionTimestamp": "now"})
    assert deleted_object(rollout_step(leaving, **RAN)) == "data-0"


@pytest.mark.parametrize(
    ("lines", "policy"),
    [
        (RAN, {}),
        ({**RAN, **LATE}, {"paused": True}),
        ({"upgrade": (OLD, NEW), "upgrade__crossed": RAN["upgrade__crossed"], **LATE}, {}),
        ({**BACK, **LATE}, {}),
    ],
    ids=["not late", "paused", "not on the way back", "never ran"],
)
def test_volume_stays_otherwise(lines: dict[str, Entry], policy: dict[str, Any]) -> None:
    """I7."""
    assert deleted_object(rollout_step(backwards(DOWN, WHOLE, **policy), **lines)) is None


def test_volume_of_a_node_without_data_and_vote_is_deleted_at_once() -> None:
    assert deleted_object(rollout_step(backwards(DOWN, roles="ingest"), **RAN)) == "data-data-0"
    assert deleted_object(rollout_step(backwards(DOWN, roles="ingest", paused=True), **RAN)) is None


def test_pod_without_a_volume_is_waited_for() -> None:
    there = replace(backwards(DOWN, WHOLE), objects={})
    assert deleted_object(rollout_step(there, **RAN, **LATE)) is None
