"""Guards of scale-in."""

from __future__ import annotations

__all__ = ["GUARDS"]

from types import SimpleNamespace
from typing import Final

from searchkeeper import observe, snapshot
from searchkeeper.api.reasons import Reason
from searchkeeper.planner import Result
from searchkeeper.reconcilers import pools, scale_in
from searchkeeper.upgrade import engine_settings
from tests.searchkeeper.faults.guards.guard import Guard, Patch, drop_prerequisite, replace_attribute, stub
from tests.searchkeeper.faults.guards.module_paths import (
    DISK_SPACE,
    DRAIN_RUNS,
    MIGRATIONS,
    PODS_AND_IMAGES,
    SCALE_IN,
    SCALE_IN_CHANGES,
    SCALE_IN_VOTES,
    SCALING,
)
from tests.support.searchkeeper import operator_runs


def ignore_pause(patch: Patch) -> None:
    """Do not stop a scale-in when `spec.upgrade.paused` is set."""
    plain = scale_in._blocker
    patch.setattr(scale_in, "_blocker", lambda state: ignore_reason(Reason.UPGRADE_PAUSED, plain(state)))


def ignore_last_manager(patch: Patch) -> None:
    """Count the vote of the last manager as moved."""
    plain = scale_in._move_vote
    patch.setattr(
        scale_in, "_move_vote", lambda state, pod: ignore_reason(Reason.LAST_MANAGER, plain(state, pod))
    )


def ignore_reason(reason: str, result: Result | None) -> Result | None:
    """Return None for a result with this reason."""
    return None if result is not None and result.reason == reason else result


GUARDS: Final = (
    Guard(
        "drain before removal",
        stub(scale_in, "_drain"),
        SCALING + "test_surplus_node_is_drained_before_removal",
    ),
    Guard(
        "room before a drain",
        stub(scale_in, "disk_shortage"),
        DISK_SPACE + "test_scale_in_waits_until_the_other_nodes_have_room",
    ),
    Guard(
        "deleted SearchPool",
        stub(observe, "_pool_of_pod"),
        SCALE_IN_CHANGES + "test_nodes_of_a_deleted_searchpool_are_drained",
        (("SearchPool", "StatefulSet"),),
    ),
    Guard(
        "unmovable shards are reported",
        stub(scale_in, "unmovable_shard"),
        SCALING + "test_impossible_drain_stalls_and_names_the_shard",
    ),
    Guard(
        "last data nodes",
        stub(scale_in, "nodes_keeping_role", frozenset({"another"})),
        SCALING + "test_last_data_nodes_are_not_drained",
        ([operator_runs.pool("managers", 3, "cluster_manager")],),
    ),
    Guard(
        "vote before removal",
        stub(scale_in, "_move_vote"),
        SCALE_IN_VOTES + "test_managers_are_removed_one_at_a_time_after_their_votes",
        (1,),
    ),
    Guard(
        "users' voting exclusions",
        stub(engine_settings, "_restore_foreign_votes"),
        SCALE_IN_VOTES + "test_voting_exclusions_of_users_survive_a_scale_in",
    ),
    Guard(
        "absent votes",
        stub(scale_in, "_missing_managers", []),
        PODS_AND_IMAGES + "test_absent_vote_is_kept_while_a_remaining_manager_has_not_joined",
    ),
    Guard(
        "no scale-in while red",
        stub(scale_in, "_blocker"),
        SCALING + "test_no_scale_in_while_red",
    ),
    Guard(
        "gates of scale-in",
        stub(scale_in, "first_blocking_gate"),
        SCALING + "test_no_scale_in_while_yellow",
    ),
    Guard(
        "StatefulSet shrinks by empty nodes",
        stub(pools, "hold_nothing", True),
        SCALE_IN_CHANGES + "test_statefulset_is_reduced_only_by_drained_nodes",
    ),
    Guard(
        "no shrinking while red",
        replace_attribute(pools, "Color", SimpleNamespace(RED=None)),
        SCALE_IN_CHANGES + "test_nodes_of_a_deleted_statefulset_are_restored_before_scale_in",
    ),
    Guard(
        "StatefulSet until the last node has left",
        replace_attribute(snapshot.PoolView, "is_over", property(lambda pool: not pool.is_wanted)),
        MIGRATIONS + "test_evicted_pod_of_a_removed_pool_comes_back_during_the_relabelling",
        (["more-1"],),
    ),
    Guard(
        "upgrade before scale-in",
        stub(scale_in, "_wait_for_upgrade"),
        SCALE_IN_CHANGES + "test_scale_in_waits_for_an_upgrade_that_is_about_to_start",
    ),
    Guard(
        "exclusions are cleared",
        stub(scale_in, "clear_exclusions"),
        SCALING + "test_retained_node_is_not_excluded_any_more",
    ),
    Guard(
        "no scale-in while paused",
        ignore_pause,
        SCALING + "test_no_scale_in_while_paused",
    ),
    Guard(
        "last manager",
        ignore_last_manager,
        SCALE_IN_VOTES + "test_no_vote_moves_before_a_remaining_manager_has_joined",
    ),
    Guard(
        "scale-in after the rollout",
        drop_prerequisite("PoolsConverged", of="ScaleInComplete"),
        SCALE_IN_CHANGES + "test_upgrade_precedes_scale_in_of_the_same_edit",
    ),
    Guard(
        "exclusions are cleared before scale-in",
        drop_prerequisite("ExclusionsCleared", of="ScaleInComplete"),
        DRAIN_RUNS + "test_departing_node_takes_the_shards_of_the_last_remaining_node_during_its_replacement",
        (False,),
    ),
    Guard(
        "drain of nodes that lose the role data",
        stub(scale_in, "loses_role", False),
        SCALE_IN + "test_node_that_loses_the_data_role_is_drained",
    ),
)
