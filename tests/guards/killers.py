"""The test modules, below `tests/`, with the tests that fail without a guard."""

from __future__ import annotations

__all__ = [
    "ACTIONS",
    "BACK",
    "BATCHES",
    "CLOCKS",
    "CREDENTIALS",
    "DELETION",
    "DENIED_OPERATIONS",
    "DRAIN",
    "DRAIN_RUNS",
    "EDITS",
    "EVENTS",
    "EVICTED_PODS_RUNS",
    "FAILED_PODS",
    "FAILED_PODS_RUNS",
    "FLAPPING",
    "GATES",
    "INVALID_SPECS",
    "LEAVING",
    "LOST",
    "MIGRATIONS",
    "NAME_CONFLICTS",
    "OPERATOR_CONDITION",
    "ORDER",
    "PEOPLE",
    "PLANNING",
    "PODS",
    "QUORUM",
    "REFUSED_VERSIONS",
    "ROLE_REMOVAL_RUNS",
    "ROLLBACK",
    "ROLLBACK_BLOCKERS",
    "ROLLBACK_RUNS",
    "ROLLOUT",
    "ROLLOUT_PREPARATIONS",
    "RUN",
    "SCALE_IN_CHANGES",
    "SCALE_IN_VOTES",
    "SCALING",
    "SINGLE",
    "SPEC_LOCK",
    "STATEFULSET_ROLLOUT",
    "TWO",
    "UPGRADE",
    "UPGRADES",
    "VOLUMES",
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
DENIED_OPERATIONS: Final = "stories/test_denied_operations.py::"
DRAIN_RUNS: Final = "upgrade/test_drain_runs.py::"
DRAIN: Final = "upgrade/test_drain.py::"
EVICTED_PODS_RUNS: Final = "upgrade/test_evicted_pods_runs.py::"
EDITS: Final = "reconcilers/test_hand_edits.py::"
VOLUMES: Final = "upgrade/test_volumes.py::"
ROLLBACK: Final = "upgrade/test_rollback.py::"
FLAPPING: Final = "scenarios/test_flapping_engines.py::"
GATES: Final = "upgrade/test_gates.py::"
STATEFULSET_ROLLOUT: Final = "upgrade/test_statefulset_rollout.py::"
OPERATOR_CONDITION: Final = "stories/test_operator_condition.py::"
INVALID_SPECS: Final = "stories/test_invalid_specs.py::"
LEAVING: Final = "reconcilers/test_scale_in.py::"
SPEC_LOCK: Final = "stories/test_spec_lock.py::"
ROLE_REMOVAL_RUNS: Final = "upgrade/test_role_removal_runs.py::"
SCALE_IN_CHANGES: Final = "stories/test_scale_in_with_other_changes.py::"
FAILED_PODS: Final = "upgrade/test_failed_pods.py::"
MIGRATIONS: Final = "reconcilers/test_migrations.py::"
NAME_CONFLICTS: Final = "stories/test_name_conflicts.py::"
ORDER: Final = "upgrade/test_order.py::"
PEOPLE: Final = "faults/test_user_edits.py::"
PLANNING: Final = "planner/test_planning.py::"
PODS: Final = "scenarios/test_pods_and_images.py::"
ROLLOUT_PREPARATIONS: Final = "upgrade/test_rollout_preparations.py::"
QUORUM: Final = "scenarios/test_quorum_and_restarts.py::"
REFUSED_VERSIONS: Final = "stories/test_refused_versions.py::"
ROLLBACK_BLOCKERS: Final = "upgrade/test_rollback_blockers.py::"
ROLLOUT: Final = "upgrade/test_rollout.py::"
SCALING: Final = "stories/test_scaling.py::"
LOST: Final = "faults/test_lost_status.py::"
SINGLE: Final = "faults/test_single_faults.py::"
FAILED_PODS_RUNS: Final = "upgrade/test_failed_pods_runs.py::"
EVENTS: Final = "scenarios/test_events.py::"
ROLLBACK_RUNS: Final = "upgrade/test_rollback_runs.py::"
TWO: Final = "faults/test_two_operators.py::"
UPGRADES: Final = "stories/test_upgrades.py::"
SCALE_IN_VOTES: Final = "stories/test_scale_in_votes.py::"
WAITS: Final = "planner/test_waits.py::"
# A complete run, with every write checked against every invariant.
RUN: Final = SINGLE + "test_run_has_writes_to_disturb"
