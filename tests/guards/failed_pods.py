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
        FAILED_PODS_RUNS + "test_cluster_that_never_started_starts_when_its_version_is_corrected",
        (kubelet.PodFault.IMAGE,),
    ),
    Guard(
        "who is down does not wait for its turn",
        gone(context, "needs_early_replacement", False),
        PODS + "test_failed_manager_is_fixed_by_another_version_after_the_point_of_no_return",
        (kubelet.PodFault.CRASH,),
    ),
    Guard(
        "nobody else goes before its turn",
        instead(context.ReconcileContext, "pending_pools", frozenset()),
        PODS + "test_early_replacement_of_a_failed_pod_does_not_upgrade_its_pool",
    ),
    Guard(
        "a turn is kept while there is a way back",
        gone(failed_pods, "rollback_blockers", ("none",)),
        PODS + "test_failed_pod_of_a_later_pool_keeps_its_version_while_rollback_is_possible",
    ),
    Guard(
        "only who has nothing is given up",
        gone(failed_pods, "hold_nothing", True),
        PODS + "test_failed_manager_is_abandoned_only_after_it_lost_its_vote",
    ),
    Guard(
        "nobody is given up in a red cluster",
        instead(failed_pods, "Color", SimpleNamespace(RED=None)),
        PODS + "test_failed_node_is_not_removed_while_a_primary_is_missing",
    ),
    Guard(
        "who is down leaves before an upgrade",
        gone(scale_in, "has_failed", False),
        PODS + "test_scale_in_precedes_the_upgrade_when_a_node_to_remove_is_down",
    ),
    Guard(
        "no version makes room on a machine",
        instead(failed_pods, "_UNSCHEDULABLE", "nothing"),
        FAILED_PODS + "test_unschedulable_pod_of_the_older_version_is_not_replaced_early",
    ),
    Guard(
        "who need not come back is not waited for",
        gone(rollout, "abandon_lost_pods"),
        ROLLOUT + "test_failed_surplus_pod_is_abandoned",
    ),
    Guard(
        "a pod that only starts awaits no cure",
        gone(failed_pods, "failure", "at once"),
        FAILED_PODS + "test_starting_pod_is_not_replaced_early",
    ),
)
