"""Whether OLM may replace the operator."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Final

from guards.guard import Guard, Patch, gone, heedless, instead
from guards.killers import HOLDING
from searchkeeper import operator_condition, reconcile


def everybody_exists(patch: Patch) -> None:
    patch.setattr(
        reconcile,
        "upgradeable_patch",
        lambda *of, now, **_: operator_condition.upgradeable_patch(*of, exists=lambda _: True, now=now),
    )


GUARDS: Final = (
    Guard(
        "OLM is held",
        gone(reconcile, "upgradeable_patch"),
        HOLDING + "test_while_somebody_is_away_olm_has_to_wait",
    ),
    Guard(
        "what is refused holds no OLM",
        gone(reconcile, "denied_operations", ()),
        HOLDING + "test_what_is_refused_does_not_hold_the_release_that_may_have_the_right_to_it",
        ("0.3.1", "delete StatefulSet"),
    ),
    Guard(
        "nonsense holds no OLM",
        instead(reconcile, "_is_left", lambda cluster: cluster.is_deleting),
        HOLDING + "test_nor_does_a_cluster_whose_spec_nobody_can_follow",
    ),
    Guard(
        "a pod that may not be deleted holds no OLM",
        gone(operator_condition, "denied_operations", ()),
        HOLDING + "test_what_is_refused_does_not_hold_the_release_that_may_have_the_right_to_it",
        ("0.4.0", "delete Pod"),
    ),
    Guard(
        "pods of nobody hold OLM",
        gone(operator_condition, "_is_between", False),
        HOLDING + "test_while_pods_belong_to_nobody_olm_has_to_wait",
    ),
    Guard(
        "OLM is held before pods are let go",
        gone(reconcile, "_about_to_be_made", ()),
        HOLDING + "test_it_is_said_before_pods_are_let_go",
    ),
    Guard(
        "who is deleted holds no OLM",
        instead(reconcile, "_is_left", lambda cluster: cluster.has_no_usable_spec),
        HOLDING + "test_a_cluster_that_is_deleted_holds_nothing",
    ),
    Guard(
        "who is gone holds no OLM",
        everybody_exists,
        HOLDING + "test_a_cluster_that_is_gone_holds_nothing",
    ),
    Guard(
        "OLM is held as long as anybody holds it",
        gone(operator_condition, "_holders", {}),
        HOLDING + "test_as_long_as_another_cluster_holds_it_it_is_held",
    ),
    Guard(
        "resourceVersion of an OperatorCondition",
        instead(operator_condition, "Patch", heedless),
        HOLDING + "test_whoever_saw_it_before_another_cluster_held_it_lets_nobody_go",
    ),
)
