"""Guards of failed pods: which are replaced early, and which are not waited for."""

from __future__ import annotations

__all__ = ["GUARDS"]

from types import SimpleNamespace
from typing import Final

from searchkeeper.reconcilers import context, scale_in
from searchkeeper.testing.fake_kubernetes import kubelet
from searchkeeper.upgrade import failed_pods, rollout
from tests.searchkeeper.faults.guards.guard import Guard, replace_attribute, stub
from tests.searchkeeper.faults.guards.module_paths import (
    FAILED_PODS,
    FAILED_PODS_RUNS,
    PODS_AND_IMAGES,
    ROLLOUT,
)

GUARDS: Final = (
    Guard(
        "failed pods are replaced at once",
        stub(rollout, "_replace_pod_outside_cluster"),
        FAILED_PODS_RUNS + "test_cluster_that_never_started_starts_after_its_version_is_corrected",
        (kubelet.PodFault.IMAGE,),
    ),
    Guard(
        "failed pods do not wait for their turn",
        stub(context, "needs_early_replacement", False),
        PODS_AND_IMAGES + "test_failed_manager_is_fixed_by_another_version_after_the_point_of_no_return",
        (kubelet.PodFault.CRASH,),
    ),
    Guard(
        "other pods wait for the turn of their pool",
        replace_attribute(context.ReconcileContext, "pending_pools", frozenset()),
        PODS_AND_IMAGES + "test_early_replacement_of_a_failed_pod_does_not_upgrade_its_pool",
    ),
    Guard(
        "pools wait for their turn while a rollback is possible",
        stub(failed_pods, "rollback_blockers", ("none",)),
        PODS_AND_IMAGES + "test_failed_pod_of_a_later_pool_keeps_its_version_while_rollback_is_possible",
    ),
    Guard(
        "only empty nodes are abandoned",
        stub(failed_pods, "hold_nothing", True),
        PODS_AND_IMAGES + "test_failed_manager_is_abandoned_only_after_it_lost_its_vote",
    ),
    Guard(
        "no node is abandoned while the engine is red",
        replace_attribute(failed_pods, "Color", SimpleNamespace(RED=None)),
        PODS_AND_IMAGES + "test_failed_node_is_not_removed_while_a_primary_is_missing",
    ),
    Guard(
        "scale-in of failed pods comes before an upgrade",
        stub(scale_in, "has_failed", False),
        PODS_AND_IMAGES + "test_scale_in_precedes_the_upgrade_when_a_node_to_remove_is_down",
    ),
    Guard(
        "unschedulable pods wait for their turn",
        replace_attribute(failed_pods, "_UNSCHEDULABLE", "nothing"),
        FAILED_PODS + "test_unschedulable_pod_waits_for_its_turn",
    ),
    Guard(
        "failed surplus pods are not waited for",
        stub(rollout, "abandon_lost_pods"),
        ROLLOUT + "test_failed_surplus_pod_of_the_batch_is_abandoned",
    ),
    Guard(
        "starting pods wait for their turn",
        stub(failed_pods, "failure", "at once"),
        FAILED_PODS + "test_starting_pod_of_an_abandoned_version_waits_for_its_turn",
    ),
)
