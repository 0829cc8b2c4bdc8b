"""Guards of scale-in."""

from __future__ import annotations

__all__ = ["GUARDS"]

from types import SimpleNamespace
from typing import Final

import operators_at_work
from guards.guard import Guard, Patch, gone, instead, unrequired
from guards.killers import DRAIN_RUNS, LEAVING, MEANWHILE, MIGRATIONS, PODS, SCALING, VOTES
from searchkeeper import observe, snapshot
from searchkeeper.api.reasons import Reason
from searchkeeper.planner import Result
from searchkeeper.reconcilers import pools, scale_in
from searchkeeper.upgrade import engine_settings


def never_paused(patch: Patch) -> None:
    """`spec.upgrade.paused` does not stop a scale-in."""
    plain = scale_in._blocker
    patch.setattr(scale_in, "_blocker", lambda state: unless(Reason.UPGRADE_PAUSED, plain(state)))


def without_other_managers(patch: Patch) -> None:
    """A vote counts as moved where no other manager could have it."""
    plain = scale_in._move_vote
    patch.setattr(scale_in, "_move_vote", lambda state, pod: unless(Reason.LAST_MANAGER, plain(state, pod)))


def unless(reason: str, result: Result | None) -> Result | None:
    return None if result is not None and result.reason == reason else result


GUARDS: Final = (
    Guard(
        "drain before removal",
        gone(scale_in, "_drain"),
        SCALING + "test_a_node_that_leaves_is_emptied_first",
    ),
    Guard(
        "deleted SearchPool",
        gone(observe, "_pool_of_pod"),
        MEANWHILE + "test_whoever_deletes_what_leaves_by_hand_makes_nobody_forget_its_nodes",
        (("SearchPool", "StatefulSet"),),
    ),
    Guard(
        "unmovable shards are reported",
        gone(scale_in, "unmovable_shard"),
        SCALING + "test_a_drain_that_can_never_finish_stalls_and_says_why",
    ),
    Guard(
        "last data nodes",
        gone(scale_in, "nodes_keeping_role", frozenset({"another"})),
        SCALING + "test_the_last_data_nodes_keep_their_shards_and_it_is_said_why",
        ([operators_at_work.pool("managers", 3, "cluster_manager")],),
    ),
    Guard(
        "vote before removal",
        gone(scale_in, "_move_vote"),
        VOTES + "test_managers_leave_one_at_a_time_and_without_a_vote",
        (1,),
    ),
    Guard(
        "users' voting exclusions",
        gone(engine_settings, "_restore_foreign_votes"),
        VOTES + "test_whom_users_have_excluded_from_voting_stays_so",
    ),
    Guard(
        "absent votes",
        gone(scale_in, "_missing_managers", []),
        PODS + "test_no_vote_is_taken_from_somebody_absent_who_may_be_one_that_stays",
    ),
    Guard(
        "no scale-in while red",
        gone(scale_in, "_blocker"),
        SCALING + "test_nobody_leaves_a_red_cluster",
    ),
    Guard(
        "gates of scale-in",
        gone(scale_in, "first_blocking_gate"),
        SCALING + "test_nobody_leaves_a_cluster_that_is_still_getting_green",
    ),
    Guard(
        "StatefulSet shrinks by empty nodes",
        gone(pools, "hold_nothing", True),
        MEANWHILE + "test_a_stateful_set_shrinks_only_when_whoever_goes_has_nothing",
    ),
    Guard(
        "no shrinking while red",
        instead(pools, "Color", SimpleNamespace(RED=None)),
        MEANWHILE
        + "test_nodes_that_leave_come_back_with_what_they_have_where_somebody_takes_their_stateful_set",
    ),
    Guard(
        "StatefulSet until the last node has left",
        instead(snapshot.PoolView, "is_over", property(lambda pool: not pool.is_wanted)),
        MIGRATIONS + "test_evicted_pod_of_a_removed_pool_comes_back_during_the_relabelling",
        (["more-1"],),
    ),
    Guard(
        "upgrade before scale-in",
        gone(scale_in, "_wait_for_upgrade"),
        MEANWHILE + "test_nobody_leaves_before_an_upgrade_that_is_about_to_begin",
    ),
    Guard(
        "exclusions are cleared",
        gone(scale_in, "clear_exclusions"),
        SCALING + "test_whoever_may_stay_after_all_gets_shards_again",
    ),
    Guard(
        "no scale-in while paused",
        never_paused,
        SCALING + "test_nobody_leaves_while_it_is_paused",
    ),
    Guard(
        "last manager",
        without_other_managers,
        VOTES + "test_no_vote_is_given_away_before_a_manager_that_stays_has_joined",
    ),
    Guard(
        "scale-in after the rollout",
        unrequired("PoolsConverged", of="ScaleInComplete"),
        MEANWHILE + "test_an_upgrade_and_fewer_nodes_in_one_edit_come_one_after_the_other",
    ),
    Guard(
        "exclusions are cleared before scale-in",
        unrequired("ExclusionsCleared", of="ScaleInComplete"),
        DRAIN_RUNS + "test_departing_node_takes_the_shards_of_the_last_remaining_node_during_its_replacement",
        (False,),
    ),
    Guard(
        "drain of nodes that lose the role data",
        gone(scale_in, "loses_role", False),
        LEAVING + "test_node_that_loses_the_data_role_is_drained",
    ),
)
