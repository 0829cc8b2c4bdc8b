"""Preparations of the engine before a pod is deleted, in their order."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

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
from tests.support.searchkeeper.rollouts import (
    deleted_object,
    engine_calls,
    ledger_changes,
    rollout_step,
    with_claims,
)
from tests.support.searchkeeper.snapshots import NEW, OLD, cluster_snapshot, engine, pod, pool

MANAGERS = pool("managers", 3, roles="cluster_manager")
CURRENT = pool(
    "managers",
    3,
    roles="cluster_manager",
    pods=[pod(f"managers-{n}", template="new", engine_version=NEW) for n in range(3)],
)
DISABLED: dict[str, Entry] = {"engine__allocation": "all"}


def outdated_data_nodes(allocation: Allocation = Allocation.ALL, **policy: Any) -> ClusterSnapshot:
    """Return a snapshot of two outdated data nodes with a copy each."""
    data = pool("data", 2)
    view = engine((data, CURRENT), ["logs: data-0* data-1"], allocation=allocation)
    return cluster_snapshot(data, CURRENT, view=view, **policy)


def test_replica_allocation_is_disabled_before_a_data_node_restarts() -> None:
    result = rollout_step(outdated_data_nodes())
    assert engine_calls(result) == [SetAllocation(Allocation.PRIMARIES)]
    assert ledger_changes(result) == {ALLOCATION: "all", f"{ALLOCATION}/taken-back": None}


def test_setting_that_is_made_again_is_restored_again() -> None:
    """I9: the first restore does not count for the second setting."""
    restored: dict[str, Entry] = {**DISABLED, "engine__allocation/taken-back": True}
    assert ledger_changes(rollout_step(outdated_data_nodes(), **restored)) == {
        ALLOCATION: "all",
        f"{ALLOCATION}/taken-back": None,
    }


def test_allocation_of_a_user_is_recorded() -> None:
    """I9: also if it is what the operator would set."""
    assert ledger_changes(rollout_step(outdated_data_nodes(Allocation.PRIMARIES)))[ALLOCATION] == "primaries"
    assert ledger_changes(rollout_step(outdated_data_nodes(Allocation.NONE)))[ALLOCATION] == "none"


def test_recorded_allocation_is_not_overwritten() -> None:
    assert ledger_changes(rollout_step(outdated_data_nodes(Allocation.NONE), **DISABLED))[ALLOCATION] == "all"


def test_flush_follows_after_replica_allocation_is_disabled() -> None:
    result = rollout_step(outdated_data_nodes(Allocation.PRIMARIES), **DISABLED)
    assert engine_calls(result) == [Flush()]
    assert ledger_changes(result) == {FLUSHED: "uid-data-0"}
    # The flush for another pod does not count.
    assert engine_calls(
        rollout_step(outdated_data_nodes(Allocation.PRIMARIES), **DISABLED, roll__flushed="uid-data-1")
    ) == [Flush()]


def test_pod_is_deleted_after_the_flush_and_recorded_with_its_uid_and_version() -> None:
    result = rollout_step(outdated_data_nodes(Allocation.PRIMARIES), **DISABLED, roll__flushed="uid-data-0")
    assert deleted_object(result) == "data-0"
    assert ledger_changes(result) == {REPLACED_PODS: (("data-0", "uid-data-0"),), PENDING_DELETE: "1"}


def test_node_without_data_needs_no_preparation() -> None:
    assert deleted_object(rollout_step(cluster_snapshot(MANAGERS))) == "managers-0"


def test_node_that_has_not_joined_needs_no_preparation() -> None:
    """The engine may be unreachable."""
    data_pool = pool(
        "data", 2, pods=[pod("data-0", is_ready=False, problem="CrashLoopBackOff"), pod("data-1")]
    )
    assert deleted_object(rollout_step(cluster_snapshot(data_pool, CURRENT))) == "data-0"
    assert (
        deleted_object(rollout_step(cluster_snapshot(data_pool, CURRENT, view=Unreachable("timed out"))))
        == "data-0"
    )


def test_pod_that_failed_before_the_rollout_is_no_failure_of_a_batch() -> None:
    """I12: the batch size stays."""
    data_pool = pool(
        "data", 4, pods=[pod("data-0", is_ready=False), *(pod(f"data-{n}") for n in range(1, 4))]
    )
    result = rollout_step(cluster_snapshot(data_pool, CURRENT, max_batch=4), roll__size=("data", 4))
    assert (deleted_object(result), BATCH_FAILED in ledger_changes(result)) == ("data-0", False)


def test_only_vote_moves_first() -> None:
    """S29."""
    owner = pool("both", 2, roles="data cluster_manager")
    view = engine([owner], ["logs: both-0* both-1"], voters=frozenset({"both-0"}))
    assert engine_calls(rollout_step(cluster_snapshot(owner, view=view))) == [ExcludeFromVoting("both-0")]


def test_ephemeral_node_is_drained_and_allocation_stays_enabled() -> None:
    data = pool("data", 2, ephemeral=True)
    result = rollout_step(cluster_snapshot(data, CURRENT, shards=["logs: data-0* data-1"]))
    assert engine_calls(result) == [Exclude(frozenset({"data-0"}))]
    assert ledger_changes(result) == {EXCLUDED: ("data-0",), f"{EXCLUDED}/taken-back": None}


@pytest.mark.parametrize("is_loss_accepted", [False, True])
def test_last_copies_move_to_a_target_although_their_loss_is_accepted(is_loss_accepted: bool) -> None:
    """I7: copies are lost only if no node can take them."""
    data = pool("data", 2)
    view = engine((data, CURRENT), ["logs: data-0*"], indices=(Index("logs", 0, OLD),))
    result = rollout_step(
        cluster_snapshot(data, CURRENT, view=view, accept_single_copy_loss=is_loss_accepted)
    )
    assert engine_calls(result) == [Exclude(frozenset({"data-0"}))]


def test_unmovable_last_copies_stay_if_their_loss_is_accepted() -> None:
    data = pool("data", 2)
    view = engine((data, CURRENT), ["logs: data-0*"], indices=(Index("logs", 0, OLD),))
    snapshot = cluster_snapshot(
        data, CURRENT, view=replace(view, excluded=frozenset({"data-1"})), accept_single_copy_loss=True
    )
    assert engine_calls(rollout_step(snapshot)) == [SetAllocation(Allocation.PRIMARIES)]


def test_settings_are_restored_while_a_gate_is_closed() -> None:
    """I9, S21."""
    pods = (*MANAGERS.pods[:2], pod("managers-2", is_ready=False, template="new", engine_version=NEW))
    data = pool("data", 2)
    pools = (data, replace(CURRENT, pods=pods))
    view = engine(pools, ["logs: data-0* data-1"], allocation=Allocation.PRIMARIES)
    snapshot = cluster_snapshot(*pools, view=view)
    assert engine_calls(rollout_step(snapshot, "managers", **DISABLED)) == [SetAllocation(None)]
    assert rollout_step(snapshot, "managers").reason == "WaitingForPods"


# Settings that were made for another pod.


def first_is_current(*shards: str, ephemeral: bool = False, **differences: Any) -> ClusterSnapshot:
    """Two data nodes. The first one was replaced while no operator ran."""
    current = pod("data-0", template="new", engine_version=NEW)
    data = pool("data", 2, ephemeral=ephemeral, pods=[current, pod("data-1")])
    view = engine((data, CURRENT), shards or ["logs: data-0* data-1"], **differences)
    return cluster_snapshot(data, CURRENT, view=view)


def test_exclusion_of_another_pod_is_undone_before_a_drain_starts() -> None:
    """I7: both data nodes would be excluded."""
    snapshot = first_is_current(ephemeral=True, excluded=frozenset({"data-0"}))
    assert engine_calls(rollout_step(snapshot, engine__excluded=("data-0",))) == [Exclude(frozenset())]
    entries: dict[str, Entry] = {"engine__excluded": ("data-0",), "engine__excluded/taken-back": True}
    restored = rollout_step(first_is_current(ephemeral=True), **entries)
    assert (restored.reason, ledger_changes(restored)[EXCLUDED]) == ("SettingsRestored", None)
    assert engine_calls(rollout_step(first_is_current(ephemeral=True))) == [Exclude(frozenset({"data-1"}))]


def test_exclusion_of_another_pod_is_undone_before_allocation_is_disabled() -> None:
    snapshot = first_is_current(excluded=frozenset({"data-0"}))
    assert engine_calls(rollout_step(snapshot, engine__excluded=("data-0",))) == [Exclude(frozenset())]


def test_allocation_is_restored_before_a_drain_starts() -> None:
    """Replicas cannot move while only primaries may be allocated."""
    snapshot = first_is_current(ephemeral=True, allocation=Allocation.PRIMARIES)
    assert engine_calls(rollout_step(snapshot, **DISABLED)) == [SetAllocation(None)]


def test_allocation_is_restored_before_a_node_without_data_restarts() -> None:
    data = pool("data", 1, pods=[pod("data-0", template="new", engine_version=NEW)])
    view = engine((data, MANAGERS), allocation=Allocation.PRIMARIES)
    assert engine_calls(rollout_step(cluster_snapshot(data, MANAGERS, view=view), **DISABLED)) == [
        SetAllocation(None)
    ]


def test_allocation_stays_disabled_for_the_next_node_that_restarts_with_its_shards() -> None:
    snapshot = first_is_current(allocation=Allocation.PRIMARIES)
    assert engine_calls(rollout_step(snapshot, **DISABLED)) == [Flush()]


def test_voting_exclusion_of_another_manager_is_cleared_before_the_next_vote_moves() -> None:
    """I9: the ledger holds one entry. The other would count as an exclusion of a user."""
    pods = [pod("both-0", template="new", engine_version=NEW), pod("both-1")]
    owner = pool("both", 2, roles="data cluster_manager", pods=pods)
    view = engine(
        [owner],
        ["logs: both-0* both-1"],
        voters=frozenset({"both-1"}),
        voting_exclusions=frozenset({"both-0"}),
    )
    assert engine_calls(rollout_step(cluster_snapshot(owner, view=view), engine__voting="both-0")) == [
        ClearVotingExclusions()
    ]


def test_failure_of_an_abandoned_batch_does_not_count_for_the_next() -> None:
    """I12: a second failure would not halve the batch again."""
    entries: dict[str, Entry] = {**DISABLED, "roll__flushed": "uid-data-0", "roll__trouble": True}
    result = rollout_step(outdated_data_nodes(Allocation.PRIMARIES), **entries)
    assert (deleted_object(result), ledger_changes(result)[BATCH_FAILED]) == ("data-0", None)


# In a rollback.


ROLLING_BACK: dict[str, Entry] = {"upgrade": (OLD, NEW), "upgrade__return": OLD}


def with_older_target(owner: PoolView) -> PoolView:
    """Return the pool with the older version in its StatefulSet."""
    assert owner.stateful_set is not None
    return replace(owner, stateful_set=replace(owner.stateful_set, engine_version=OLD))


def rolling_back(newer: Pod, *shards: str, roles: str = "data", **policy: Any) -> ClusterSnapshot:
    """Return a rollback with one node that has run the newer version, on a volume, and two that have not."""
    others = [pod(f"data-{n}", template="new") for n in (1, 2)]
    managers = [pod(f"managers-{n}", template="new") for n in range(3)]
    pools = (
        with_older_target(pool("data", 3, roles=roles, pods=[newer, *others])),
        with_older_target(pool("managers", 3, roles="cluster_manager", pods=managers)),
    )
    return with_claims(cluster_snapshot(*pools, shards=shards, **policy), data_0={})


NEWER = pod("data-0", engine_version=NEW, has_started=True)
SAFE = "logs: data-0* data-1"
UNSAFE = "logs: data-0*"


def test_node_of_the_newer_version_is_drained_then_its_volume_then_its_pod_is_deleted() -> None:
    """I7."""
    assert engine_calls(rollout_step(rolling_back(NEWER, SAFE), **ROLLING_BACK)) == [
        Exclude(frozenset({"data-0"}))
    ]
    empty = rollout_step(
        rolling_back(NEWER, "logs: data-1* data-2"), **ROLLING_BACK, engine__excluded=("data-0",)
    )
    assert engine_calls(empty) == [Exclude(frozenset({"data-0"}))]
    drained = rolling_back(NEWER, "logs: data-1* data-2")
    assert not isinstance(drained.engine, Unreachable)
    drained = replace(drained, engine=replace(drained.engine, excluded=frozenset({"data-0"})))
    result = rollout_step(drained, **ROLLING_BACK, engine__excluded=("data-0",))
    assert (deleted_object(result), ledger_changes(result)) == (
        "data-data-0",
        {WIPED_VOLUME: ("data-data-0", "uid-data-data-0")},
    )
    claim_terminating = with_claims(drained, data_0={"deletionTimestamp": "now"})
    assert (
        deleted_object(rollout_step(claim_terminating, **ROLLING_BACK, engine__excluded=("data-0",)))
        == "data-0"
    )


def test_blocked_rollback_waits_and_restores_settings() -> None:
    """I13."""
    assert rollout_step(rolling_back(NEWER, UNSAFE), **ROLLING_BACK).reason == "RollbackBlocked"
    assert engine_calls(
        rollout_step(rolling_back(NEWER, UNSAFE), **ROLLING_BACK, engine__allocation="all")
    ) == [SetAllocation(None)]


def test_pause_is_reported_before_a_blocked_rollback() -> None:
    """No deadline runs during a pause."""
    assert rollout_step(rolling_back(NEWER, UNSAFE, paused=True), **ROLLING_BACK).reason == "UpgradePaused"


def test_unreachable_engine_is_reported_before_a_blocked_rollback() -> None:
    unreachable = replace(rolling_back(NEWER, SAFE), engine=Unreachable("timed out"))
    assert rollout_step(unreachable, **ROLLING_BACK).reason == "EngineUnreachable"


def test_failed_pod_is_replaced_although_the_rollback_is_blocked() -> None:
    """It holds nothing that the rollback could lose."""
    failed = replace(NEWER, is_ready=False, problem="CrashLoopBackOff")
    assert deleted_object(rollout_step(rolling_back(failed, "logs: ?*"), **ROLLING_BACK)) == "data-0"


def test_upgrade_does_not_check_rollback_blockers() -> None:
    data_pool = pool("data", 2, pods=[pod("data-0", engine_version="3.3.2", has_started=True), pod("data-1")])
    snapshot = cluster_snapshot(data_pool, CURRENT, shards=["logs: data-0* data-1"])
    assert (
        rollout_step(snapshot, upgrade=("3.3.2", NEW), upgrade__crossed=(("data-0", ""),)).reason
        == "DisablingReplicaAllocation"
    )


CRASHING = pod("data-0", template="new", is_ready=False, has_started=True, problem="CrashLoopBackOff")
RAN_NEWER: dict[str, Entry] = {**ROLLING_BACK, "upgrade__crossed": (("data-0", "uid-data-data-0"),)}
TIMED_OUT: dict[str, Entry] = {"wait__PodsCurrent": ("WaitingForPods", 100)}
ON_OLDER_NODES = "logs: data-1* data-2"


def test_late_pod_that_cannot_start_on_its_disk_loses_volume_then_pod() -> None:
    assert (
        deleted_object(rollout_step(rolling_back(CRASHING, ON_OLDER_NODES), **RAN_NEWER, **TIMED_OUT))
        == "data-data-0"
    )
    claim_terminating = with_claims(
        rolling_back(CRASHING, ON_OLDER_NODES), data_0={"deletionTimestamp": "now"}
    )
    assert deleted_object(rollout_step(claim_terminating, **RAN_NEWER)) == "data-0"


@pytest.mark.parametrize(
    ("entries", "policy"),
    [
        (RAN_NEWER, {}),
        ({**RAN_NEWER, **TIMED_OUT}, {"paused": True}),
        ({"upgrade": (OLD, NEW), "upgrade__crossed": RAN_NEWER["upgrade__crossed"], **TIMED_OUT}, {}),
        ({**ROLLING_BACK, **TIMED_OUT}, {}),
    ],
    ids=["before the deadline", "paused", "no rollback", "never ran"],
)
def test_volume_stays_otherwise(entries: dict[str, Entry], policy: dict[str, Any]) -> None:
    """I7."""
    assert deleted_object(rollout_step(rolling_back(CRASHING, ON_OLDER_NODES, **policy), **entries)) is None


def test_volume_of_a_node_without_data_and_vote_is_deleted_at_once() -> None:
    assert deleted_object(rollout_step(rolling_back(CRASHING, roles="ingest"), **RAN_NEWER)) == "data-data-0"
    assert (
        deleted_object(rollout_step(rolling_back(CRASHING, roles="ingest", paused=True), **RAN_NEWER)) is None
    )


def test_pod_without_a_volume_is_waited_for() -> None:
    snapshot = replace(rolling_back(CRASHING, ON_OLDER_NODES), objects={})
    assert deleted_object(rollout_step(snapshot, **RAN_NEWER, **TIMED_OUT)) is None
