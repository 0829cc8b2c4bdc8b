"""The OperatorCondition: whether OLM may replace the operator."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Final

from guards.guard import Guard, Patch, gone, heedless, instead
from guards.killers import HOLDING
from searchkeeper import operator_condition, reconcile


def count_missing_clusters(patch: Patch) -> None:
    patch.setattr(
        reconcile,
        "upgradeable_patch",
        lambda *of, now, **_: operator_condition.upgradeable_patch(*of, exists=lambda _: True, now=now),
    )


GUARDS: Final = (
    Guard(
        "a step in progress blocks OLM",
        gone(reconcile, "upgradeable_patch"),
        HOLDING + "test_while_somebody_is_away_olm_has_to_wait",
    ),
    Guard(
        "a denied operation does not block OLM",
        gone(reconcile, "denied_operations", ()),
        HOLDING + "test_what_is_refused_does_not_hold_the_release_that_may_have_the_right_to_it",
        ("0.3.1", "delete StatefulSet"),
    ),
    Guard(
        "a cluster without a usable spec does not block OLM",
        instead(reconcile, "_is_abandoned", lambda cluster: cluster.is_deleting),
        HOLDING + "test_nor_does_a_cluster_whose_spec_nobody_can_follow",
    ),
    Guard(
        "a pod whose delete is denied does not block OLM",
        gone(operator_condition, "denied_operations", ()),
        HOLDING + "test_what_is_refused_does_not_hold_the_release_that_may_have_the_right_to_it",
        ("0.4.0", "delete Pod"),
    ),
    Guard(
        "orphaned pods block OLM",
        gone(operator_condition, "_is_orphaned", False),
        HOLDING + "test_while_pods_belong_to_nobody_olm_has_to_wait",
    ),
    Guard(
        "OLM is blocked before pods are orphaned",
        gone(reconcile, "_pending_operations", ()),
        HOLDING + "test_it_is_said_before_pods_are_let_go",
    ),
    Guard(
        "a deleted cluster does not block OLM",
        instead(reconcile, "_is_abandoned", lambda cluster: cluster.has_no_usable_spec),
        HOLDING + "test_a_cluster_that_is_deleted_holds_nothing",
    ),
    Guard(
        "a cluster that does not exist does not block OLM",
        count_missing_clusters,
        HOLDING + "test_a_cluster_that_is_gone_holds_nothing",
    ),
    Guard(
        "OLM is blocked while any cluster blocks",
        gone(operator_condition, "_blockers", {}),
        HOLDING + "test_as_long_as_another_cluster_holds_it_it_is_held",
    ),
    Guard(
        "resourceVersion of an OperatorCondition",
        instead(operator_condition, "Patch", heedless),
        HOLDING + "test_whoever_saw_it_before_another_cluster_held_it_lets_nobody_go",
    ),
)
