"""Nodes that leave for good."""

from __future__ import annotations

__all__ = ["GUARDS"]

from types import SimpleNamespace
from typing import Final

import operators_at_work
from guards.killers import DRAIN_RUNS, LEAVING, MEANWHILE, MIGRATIONS, PODS, SCALING, VOTES
from guards.taking_away import Guard, Patch, gone, instead, unrequired
from searchkeeper import observe, snapshot
from searchkeeper.planner import Result
from searchkeeper.reconcilers import pools, scale_in
from searchkeeper.upgrade import engine_settings


def never_paused(patch: Patch) -> None:
    """A person's word stops nobody who leaves."""
    plain = scale_in._objection
    patch.setattr(scale_in, "_objection", lambda leave: unless("NotPaused", plain(leave)))


def heirs_or_not(patch: Patch) -> None:
    """A vote counts as given away where nobody could have it."""
    plain = scale_in._vote_given
    patch.setattr(scale_in, "_vote_given", lambda leave, pod: unless("LastManager", plain(leave, pod)))


def unless(reason: str, answer: Result | None) -> Result | None:
    return None if answer is not None and answer.reason == reason else answer


GUARDS: Final = (
    Guard(
        "whoever leaves is emptied first",
        gone(scale_in, "_drained"),
        SCALING + "test_a_node_that_leaves_is_emptied_first",
    ),
    Guard(
        "nobody is forgotten with a SearchPool",
        gone(observe, "_pool_of"),
        MEANWHILE + "test_whoever_deletes_what_leaves_by_hand_makes_nobody_forget_its_nodes",
        (("SearchPool", "StatefulSet"),),
    ),
    Guard(
        "a drain that cannot end is told",
        gone(scale_in, "unmovable_shard"),
        SCALING + "test_a_drain_that_can_never_finish_stalls_and_says_why",
    ),
    Guard(
        "the last data nodes stay",
        gone(scale_in, "nodes_keeping_role", frozenset({"somebody"})),
        SCALING + "test_the_last_data_nodes_keep_their_shards_and_it_is_said_why",
        ([operators_at_work.pool("managers", 3, "cluster_manager")],),
    ),
    Guard(
        "whoever leaves has no vote",
        gone(scale_in, "_vote_given"),
        VOTES + "test_managers_leave_one_at_a_time_and_without_a_vote",
        (1,),
    ),
    Guard(
        "votes of others stay where they put them",
        gone(engine_settings, "_restore_foreign_votes"),
        VOTES + "test_whom_users_have_excluded_from_voting_stays_so",
    ),
    Guard(
        "a vote of somebody absent is nobody's",
        gone(scale_in, "_managers_away", []),
        PODS + "test_no_vote_is_taken_from_somebody_absent_who_may_be_one_that_stays",
    ),
    Guard(
        "nobody leaves a red cluster",
        gone(scale_in, "_objection"),
        SCALING + "test_nobody_leaves_a_red_cluster",
    ),
    Guard(
        "the gates of a leave",
        gone(scale_in, "first_blocking_gate"),
        SCALING + "test_nobody_leaves_a_cluster_that_is_still_getting_green",
    ),
    Guard(
        "fewer nodes only of those that have nothing",
        gone(pools, "hold_nothing", True),
        MEANWHILE + "test_a_stateful_set_shrinks_only_when_whoever_goes_has_nothing",
    ),
    Guard(
        "who is away may have what is missing",
        instead(pools, "Color", SimpleNamespace(RED=None)),
        MEANWHILE
        + "test_nodes_that_leave_come_back_with_what_they_have_where_somebody_takes_their_stateful_set",
    ),
    Guard(
        "whoever leaves needs a StatefulSet",
        instead(snapshot.PoolView, "is_over", property(lambda it: not it.is_wanted)),
        MIGRATIONS + "test_who_is_evicted_from_a_pool_that_leaves_while_labels_change_comes_back",
        (["more-1"],),
    ),
    Guard(
        "an upgrade before fewer nodes",
        gone(scale_in, "_after_upgrade"),
        MEANWHILE + "test_nobody_leaves_before_an_upgrade_that_is_about_to_begin",
    ),
    Guard(
        "whoever stays gets shards again",
        gone(scale_in, "clear_exclusions"),
        SCALING + "test_whoever_may_stay_after_all_gets_shards_again",
    ),
    Guard(
        "nobody leaves while it is paused",
        never_paused,
        SCALING + "test_nobody_leaves_while_it_is_paused",
    ),
    Guard(
        "no manager leaves without an heir",
        heirs_or_not,
        VOTES + "test_no_vote_is_given_away_before_a_manager_that_stays_has_joined",
    ),
    Guard(
        "nobody leaves before pools are settled",
        unrequired("PoolsConverged", of="ScaleInComplete"),
        MEANWHILE + "test_an_upgrade_and_fewer_nodes_in_one_edit_come_one_after_the_other",
    ),
    Guard(
        "who stays gets shards again before others leave",
        unrequired("ExclusionsCleared", of="ScaleInComplete"),
        DRAIN_RUNS + "test_departing_node_hosts_the_shards_of_the_last_data_node_while_it_restarts",
        (False,),
    ),
    Guard(
        "who only loses the role data is emptied too",
        gone(scale_in, "loses_role", False),
        LEAVING + "test_who_only_loses_the_role_is",
    ),
)
