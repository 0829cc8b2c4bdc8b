"""Guards of drains and votes, which move before a node restarts or loses a role."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Final

from searchkeeper.opensearch.view import EngineView
from searchkeeper.reconcilers import scale_in
from searchkeeper.upgrade import drain, engine_settings, gates, order, rollout, statefulset_rollout, voting
from searchkeeper.upgrade.shards import allocation_targets
from tests.searchkeeper.faults.guards.guard import Guard, combine, replace_attribute, stub
from tests.searchkeeper.faults.guards.module_paths import (
    DRAIN,
    DRAIN_RUNS,
    EVICTED_PODS_RUNS,
    ROLE_REMOVAL_RUNS,
    ROLLOUT_PREPARATIONS,
    SCALE_IN_VOTES,
)


def targets_without_ledger(this: drain._Drain) -> frozenset[str]:
    """Return the targets without the exclusions that the ledger lists."""
    return allocation_targets(this.snapshot, this.engine, this.node)


GUARDS: Final = (
    Guard(
        "settings of other pods are restored first",
        combine(stub(rollout, "restore_for_other_pods"), stub(statefulset_rollout, "restore_for_other_pods")),
        EVICTED_PODS_RUNS + "test_exclusion_of_evicted_pod_ends_before_the_next_drain",
        (3, (0, 0), False),
    ),
    Guard(
        "recorded exclusions count as excluded",
        replace_attribute(drain._Drain, "targets", property(targets_without_ledger)),
        DRAIN + "test_node_that_the_ledger_lists_is_no_target",
    ),
    Guard(
        "unmovable copies are not waited for",
        replace_attribute(drain, "_is_drained", lambda this: not this.engine.copies_on(this.node)),
        DRAIN_RUNS + "test_unmovable_copy_with_a_replica_is_not_waited_for",
        (2, (1, 0), False),
    ),
    Guard(
        "a closed gate does not undo a drain",
        replace_attribute(
            drain,
            "restore_settings",
            lambda snapshot, ledger, _: engine_settings.restore_settings(snapshot, ledger),
        ),
        DRAIN_RUNS + "test_drain_is_kept_while_another_pod_is_not_ready",
    ),
    Guard(
        "exclusion patterns are matched",
        replace_attribute(EngineView, "excludes", lambda view, name: name in view.excluded),
        DRAIN_RUNS + "test_unmovable_last_copy_is_reported_with_a_remedy",
        (("logs-data-*",),),
    ),
    Guard(
        "a drain needs a target",
        stub(drain, "allocation_targets", frozenset({"another"})),
        DRAIN_RUNS + "test_node_without_a_target_is_not_drained_if_the_loss_is_accepted",
        (True,),
    ),
    Guard(
        "an accepted loss is not waited for",
        stub(drain, "is_unmovable", False),
        DRAIN_RUNS + "test_only_data_node_on_ephemeral_storage_is_replaced_if_the_loss_is_accepted",
    ),
    Guard(
        "departing nodes take shards for a time",
        stub(scale_in, "temporary_shard_hosts", frozenset()),
        DRAIN_RUNS + "test_departing_node_takes_the_shards_of_the_last_remaining_node_during_its_replacement",
        (False,),
    ),
    Guard(
        "the only vote moves before the partition advances",
        stub(statefulset_rollout, "move_vote"),
        SCALE_IN_VOTES + "test_only_vote_moves_before_its_pool_loses_the_manager_role",
        (["cluster_manager"], ["ingest"]),
    ),
    Guard(
        "a vote moves before its node loses the role",
        stub(voting, "loses_vote", False),
        ROLE_REMOVAL_RUNS + "test_votes_can_move_between_pools_in_one_edit",
    ),
    Guard(
        "the last data nodes keep the role",
        stub(gates, "loses_role", False),
        ROLE_REMOVAL_RUNS + "test_only_data_pool_keeps_the_role_and_its_pods",
    ),
    Guard(
        "shards move before the data role is removed",
        stub(drain, "loses_role", False),
        ROLE_REMOVAL_RUNS + "test_pool_that_loses_the_data_role_is_drained",
        ("ingest",),
    ),
    Guard(
        "pools that gain a role come first",
        stub(order, "loses_role", False),
        ROLE_REMOVAL_RUNS + "test_votes_can_move_between_pools_in_one_edit",
    ),
    Guard(
        "last copies move before their node restarts",
        combine(stub(rollout, "drain"), stub(rollout, "has_single_copies", False)),
        DRAIN_RUNS + "test_unmovable_copy_with_a_replica_is_not_waited_for",
        (2, (1, 0), False),
    ),
    Guard(
        "unmovable last copies are reported",
        stub(drain, "_wait_for_target"),
        DRAIN_RUNS + "test_unmovable_last_copy_is_reported_with_a_remedy",
        (("logs-data-*",),),
    ),
    Guard(
        "last copies move although their loss is accepted",
        stub(rollout, "has_single_copies", False),
        ROLLOUT_PREPARATIONS + "test_last_copies_move_to_a_target_although_their_loss_is_accepted",
        (True,),
    ),
    Guard(
        "ephemeral nodes are drained",
        stub(rollout, "needs_full_drain", False),
        ROLLOUT_PREPARATIONS + "test_ephemeral_node_is_drained_and_allocation_stays_enabled",
    ),
    Guard(
        "missing replicas are waited for",
        stub(drain, "has_single_copies", True),
        DRAIN + "test_node_is_not_drained_while_the_replica_of_its_copy_is_only_missing",
    ),
    Guard(
        "only nodes of the engine are drained",
        stub(drain, "is_not_in_cluster", False),
        DRAIN + "test_node_that_has_not_joined_is_not_drained",
    ),
)
