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
    "DRAIN",
    "DRAIN_RUNS",
    "EDITS",
    "EVENTS",
    "EVICTED_PODS_RUNS",
    "FAILED_PODS",
    "FAILED_PODS_RUNS",
    "FLAPPING",
    "GATES",
    "HOLDING",
    "ILLEGIBLE",
    "LEAVING",
    "LOCKS",
    "MEANWHILE",
    "MIGRATIONS",
    "NAMESAKES",
    "ORDER",
    "PEOPLE",
    "PLANNING",
    "PODS",
    "QUORUM",
    "REFUSALS",
    "ROLE_REMOVAL_RUNS",
    "ROLLBACK",
    "ROLLBACK_BLOCKERS",
    "ROLLBACK_RUNS",
    "ROLLOUT",
    "ROLLOUT_PREPARATIONS",
    "RUN",
    "SCALING",
    "SINGLE",
    "STATEFULSET_ROLLOUT",
    "TWO",
    "UPGRADE",
    "UPGRADES",
    "VOLUMES",
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
DRAIN_RUNS: Final = "upgrade/test_drain_runs.py::"
DRAIN: Final = "upgrade/test_drain.py::"
EVICTED_PODS_RUNS: Final = "upgrade/test_evicted_pods_runs.py::"
EDITS: Final = "reconcilers/test_hand_edits.py::"
VOLUMES: Final = "upgrade/test_volumes.py::"
ROLLBACK: Final = "upgrade/test_rollback.py::"
FLAPPING: Final = "scenarios/test_flapping_engines.py::"
GATES: Final = "upgrade/test_gates.py::"
STATEFULSET_ROLLOUT: Final = "upgrade/test_statefulset_rollout.py::"
HOLDING: Final = "stories/test_holding_olm.py::"
ILLEGIBLE: Final = "stories/test_illegible_specs.py::"
LEAVING: Final = "reconcilers/test_scale_in.py::"
LOCKS: Final = "stories/test_locks.py::"
ROLE_REMOVAL_RUNS: Final = "upgrade/test_role_removal_runs.py::"
MEANWHILE: Final = "stories/test_leaving_meanwhile.py::"
FAILED_PODS: Final = "upgrade/test_failed_pods.py::"
MIGRATIONS: Final = "reconcilers/test_migrations.py::"
NAMESAKES: Final = "stories/test_namesakes.py::"
ORDER: Final = "upgrade/test_order.py::"
PEOPLE: Final = "faults/test_user_edits.py::"
PLANNING: Final = "planner/test_planning.py::"
PODS: Final = "scenarios/test_pods_and_images.py::"
ROLLOUT_PREPARATIONS: Final = "upgrade/test_rollout_preparations.py::"
QUORUM: Final = "scenarios/test_quorum_and_restarts.py::"
REFUSALS: Final = "stories/test_refusals.py::"
ROLLBACK_BLOCKERS: Final = "upgrade/test_rollback_blockers.py::"
ROLLOUT: Final = "upgrade/test_rollout.py::"
SCALING: Final = "stories/test_scaling.py::"
SINGLE: Final = "faults/test_single_faults.py::"
FAILED_PODS_RUNS: Final = "upgrade/test_failed_pods_runs.py::"
EVENTS: Final = "scenarios/test_events.py::"
ROLLBACK_RUNS: Final = "upgrade/test_rollback_runs.py::"
TWO: Final = "faults/test_two_operators.py::"
UPGRADES: Final = "stories/test_upgrades.py::"
VOTES: Final = "stories/test_votes_that_leave.py::"
WAITS: Final = "planner/test_waits.py::"
# A complete run, with every write checked against every invariant.
RUN: Final = SINGLE + "test_run_has_writes_to_disturb"
