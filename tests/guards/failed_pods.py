"""Pods that are down: who is not waited for, and who does not wait."""

from __future__ import annotations

__all__ = ["GUARDS"]

from types import SimpleNamespace
from typing import Final

from guards.guard import Guard, gone, instead
from guards.killers import FAILED_PODS, FAILED_PODS_RUNS, PODS, ROLLOUT
from searchkeeper.reconcilers import context, scale_in
from searchkeeper.testing.fake_kubernetes import kubelet
from searchkeeper.upgrade import failed_pods, rollout

GUARDS: Final = (
    Guard(
        "a broken pod waits for nobody",
        gone(rollout, "_replace_failed_pod"),
        FAILED_PODS_RUNS + "test_cluster_that_never_started_starts_after_its_version_is_corrected",
        (kubelet.PodFault.IMAGE,),
    ),
    Guard(
        "who is down does not wait for its turn",
        gone(context, "needs_early_replacement", False),
        PODS + "test_a_manager_that_cannot_join_is_mended_by_a_version_that_can",
        (kubelet.PodFault.CRASH,),
    ),
    Guard(
        "nobody else goes before its turn",
        instead(context.ReconcileContext, "pending_pools", frozenset()),
        PODS + "test_what_mends_one_pod_of_a_later_pool_is_not_its_turn",
    ),
    Guard(
        "a turn is kept while there is a way back",
        gone(failed_pods, "rollback_blockers", ("none",)),
        PODS + "test_where_there_is_a_way_back_the_turn_of_a_pool_is_kept",
    ),
    Guard(
        "only who has nothing is given up",
        gone(failed_pods, "hold_nothing", True),
        PODS + "test_a_manager_that_is_down_and_votes_is_not_given_up_with_its_vote",
    ),
    Guard(
        "nobody is given up in a red cluster",
        instead(failed_pods, "Color", SimpleNamespace(RED=None)),
        PODS + "test_who_is_down_is_not_given_up_while_a_primary_is_missing",
    ),
    Guard(
        "who is down leaves before an upgrade",
        gone(scale_in, "has_failed", False),
        PODS + "test_of_a_pool_that_loses_nodes_those_that_are_well_go_before_an_upgrade_where_one_is_down",
    ),
    Guard(
        "no version makes room on a machine",
        instead(failed_pods, "_UNSCHEDULABLE", "nothing"),
        FAILED_PODS + "test_unschedulable_pod_waits_for_its_turn",
    ),
    Guard(
        "who need not come back is not waited for",
        gone(rollout, "abandon_lost_pods"),
        ROLLOUT + "test_failed_surplus_pod_of_the_batch_is_abandoned",
    ),
    Guard(
        "a pod that only starts awaits no cure",
        gone(failed_pods, "failure", "at once"),
        FAILED_PODS + "test_starting_pod_of_an_abandoned_version_waits_for_its_turn",
    ),
)
