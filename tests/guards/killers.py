"""The test modules, below `tests/`, with the tests that fail without a guard."""

from __future__ import annotations

__all__ = [
    "ACTIONS",
    "BACK",
    "BATCHES",
    "CLOCKS",
    "CREDENTIALS",
    "DELETION",
    "DENIALS",
    "DRAINING",
    "DRAINS",
    "EDITS",
    "EMPTYING",
    "FAILING",
    "FLAPPING",
    "GATES",
    "HANDING",
    "HOLDING",
    "ILLEGIBLE",
    "LEAVING",
    "LOCKS",
    "LOSING",
    "MEANWHILE",
    "MENDING",
    "MIGRATIONS",
    "NAMESAKES",
    "ORDER",
    "PEOPLE",
    "PLANNING",
    "PODS",
    "PREPARING",
    "QUORUM",
    "REFUSALS",
    "RETURNING",
    "ROLLING",
    "RUN",
    "SCALING",
    "SINGLE",
    "STUCK",
    "TOLD",
    "TURNING",
    "TWO",
    "UPGRADE",
    "UPGRADES",
    "VOTES",
    "WAITS",
]

from typing import Final

from runs import ROLLBACK as BACK
from runs import UPGRADE

ACTIONS: Final = "planner/test_actions.py::"
BATCHES: Final = "upgrade/test_batches.py::"
CLOCKS: Final = "faults/test_clock_skew.py::"
CREDENTIALS: Final = "stories/test_credentials.py::"
DELETION: Final = "stories/test_deletion.py::"
DENIALS: Final = "stories/test_denials.py::"
DRAINING: Final = "upgrade/test_draining.py::"
DRAINS: Final = "upgrade/test_drains.py::"
EDITS: Final = "reconcilers/test_hand_edits.py::"
EMPTYING: Final = "upgrade/test_emptying.py::"
FAILING: Final = "upgrade/test_failing.py::"
FLAPPING: Final = "scenarios/test_flapping_engines.py::"
GATES: Final = "upgrade/test_gates.py::"
HANDING: Final = "upgrade/test_handing.py::"
HOLDING: Final = "stories/test_holding_olm.py::"
ILLEGIBLE: Final = "stories/test_illegible_specs.py::"
LEAVING: Final = "reconcilers/test_scale_in.py::"
LOCKS: Final = "stories/test_locks.py::"
LOSING: Final = "upgrade/test_losing.py::"
MEANWHILE: Final = "stories/test_leaving_meanwhile.py::"
MENDING: Final = "upgrade/test_mending.py::"
MIGRATIONS: Final = "reconcilers/test_migrations.py::"
NAMESAKES: Final = "stories/test_namesakes.py::"
ORDER: Final = "upgrade/test_order.py::"
PEOPLE: Final = "faults/test_user_edits.py::"
PLANNING: Final = "planner/test_planning.py::"
PODS: Final = "scenarios/test_pods_and_images.py::"
PREPARING: Final = "upgrade/test_preparing.py::"
QUORUM: Final = "scenarios/test_quorum_and_restarts.py::"
REFUSALS: Final = "stories/test_refusals.py::"
RETURNING: Final = "upgrade/test_returning.py::"
ROLLING: Final = "upgrade/test_rolling.py::"
SCALING: Final = "stories/test_scaling.py::"
SINGLE: Final = "faults/test_single_faults.py::"
STUCK: Final = "rollback/test_stuck_pods.py::"
TOLD: Final = "scenarios/test_people_are_told.py::"
TURNING: Final = "rollback/test_turning_back.py::"
TWO: Final = "faults/test_two_operators.py::"
UPGRADES: Final = "stories/test_upgrades.py::"
VOTES: Final = "stories/test_votes_that_leave.py::"
WAITS: Final = "planner/test_waits.py::"
# A complete run, with every write checked against every invariant.
RUN: Final = SINGLE + "test_run_has_writes_to_disturb"
