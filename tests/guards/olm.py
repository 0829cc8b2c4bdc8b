"""Whether OLM may replace the operator."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Final

from guards.killers import HOLDING
from guards.taking_away import Guard, gone, instead
from searchkeeper import loop

GUARDS: Final = (
    Guard(
        "OLM is held",
        gone(loop, "held"),
        HOLDING + "test_while_somebody_is_away_olm_has_to_wait",
    ),
    Guard(
        "what is refused holds no OLM",
        gone(loop, "denied_writes", ()),
        HOLDING + "test_what_is_refused_does_not_hold_the_release_that_may_have_the_right_to_it",
        ("0.3.1", "delete StatefulSet"),
    ),
    Guard(
        "nonsense holds no OLM",
        instead(loop, "_is_left", lambda cluster: cluster.is_deleting),
        HOLDING + "test_nor_does_a_cluster_whose_spec_nobody_can_follow",
    ),
)
