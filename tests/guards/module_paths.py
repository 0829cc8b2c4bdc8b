"""Paths below `tests/` of the modules with tests that fail without a guard."""

from __future__ import annotations

__all__ = [
    "ACTIONS",
    "BATCHES",
    "CERTIFICATES",
    "CLOCK_SKEW",
    "COMPLETE_RUN",
    "CREDENTIALS",
    "DELETION",
    "DENIED_OPERATIONS",
    "DISK_SPACE",
    "DRAIN",
    "DRAIN_RUNS",
    "EVENTS",
    "EVICTED_PODS_RUNS",
    "FAILED_PODS",
    "FAILED_PODS_RUNS",
    "FLAPPING",
    "GATES",
    "HAND_EDITS",
    "INVALID_SPECS",
    "LOST_STATUS",
    "MIGRATIONS",
    "NAME_CONFLICTS",
    "OPERATOR_CONDITION",
    "ORDER",
    "PLANNING",
    "PODS_AND_IMAGES",
    "QUORUM",
    "REFUSED_VERSIONS",
    "RESTARTS",
    "ROLE_REMOVAL_RUNS",
    "ROLLBACK",
    "ROLLBACK_BLOCKERS",
    "ROLLBACK_RUNS",
    "ROLLOUT",
    "ROLLOUT_PREPARATIONS",
    "SCALE_IN",
    "SCALE_IN_CHANGES",
    "SCALE_IN_VOTES",
    "SCALING",
    "SINGLE_FAULTS",
    "SNAPSHOTS",
    "SPEC_LOCK",
    "STATEFULSET_ROLLOUT",
    "STORAGE",
    "TWO_OPERATORS",
    "UPGRADES",
    "USER_EDITS",
    "VOLUMES",
    "WAITS",
    "ZONES",
]

from typing import Final

ACTIONS: Final = "planner/test_actions.py::"
BATCHES: Final = "upgrade/test_batches.py::"
CLOCK_SKEW: Final = "faults/test_clock_skew.py::"
CREDENTIALS: Final = "stories/test_credentials.py::"
DELETION: Final = "stories/test_deletion.py::"
DENIED_OPERATIONS: Final = "stories/test_denied_operations.py::"
CERTIFICATES: Final = "stories/test_certificates.py::"
DISK_SPACE: Final = "stories/test_disk_space.py::"
SNAPSHOTS: Final = "stories/test_snapshots.py::"
DRAIN_RUNS: Final = "upgrade/test_drain_runs.py::"
DRAIN: Final = "upgrade/test_drain.py::"
EVICTED_PODS_RUNS: Final = "upgrade/test_evicted_pods_runs.py::"
HAND_EDITS: Final = "reconcilers/test_hand_edits.py::"
VOLUMES: Final = "upgrade/test_volumes.py::"
ROLLBACK: Final = "upgrade/test_rollback.py::"
FLAPPING: Final = "scenarios/test_flapping_engines.py::"
GATES: Final = "upgrade/test_gates.py::"
STORAGE: Final = "stories/test_storage.py::"
STATEFULSET_ROLLOUT: Final = "upgrade/test_statefulset_rollout.py::"
OPERATOR_CONDITION: Final = "stories/test_operator_condition.py::"
INVALID_SPECS: Final = "stories/test_invalid_specs.py::"
SCALE_IN: Final = "reconcilers/test_scale_in.py::"
SPEC_LOCK: Final = "stories/test_spec_lock.py::"
ROLE_REMOVAL_RUNS: Final = "upgrade/test_role_removal_runs.py::"
SCALE_IN_CHANGES: Final = "stories/test_scale_in_with_other_changes.py::"
FAILED_PODS: Final = "upgrade/test_failed_pods.py::"
RESTARTS: Final = "stories/test_restarts.py::"
MIGRATIONS: Final = "reconcilers/test_migrations.py::"
NAME_CONFLICTS: Final = "stories/test_name_conflicts.py::"
ORDER: Final = "upgrade/test_order.py::"
USER_EDITS: Final = "faults/test_user_edits.py::"
PLANNING: Final = "planner/test_planning.py::"
PODS_AND_IMAGES: Final = "scenarios/test_pods_and_images.py::"
ROLLOUT_PREPARATIONS: Final = "upgrade/test_rollout_preparations.py::"
QUORUM: Final = "scenarios/test_quorum_and_restarts.py::"
REFUSED_VERSIONS: Final = "stories/test_refused_versions.py::"
ROLLBACK_BLOCKERS: Final = "upgrade/test_rollback_blockers.py::"
ROLLOUT: Final = "upgrade/test_rollout.py::"
SCALING: Final = "stories/test_scaling.py::"
LOST_STATUS: Final = "faults/test_lost_status.py::"
SINGLE_FAULTS: Final = "faults/test_single_faults.py::"
FAILED_PODS_RUNS: Final = "upgrade/test_failed_pods_runs.py::"
EVENTS: Final = "scenarios/test_events.py::"
ROLLBACK_RUNS: Final = "upgrade/test_rollback_runs.py::"
TWO_OPERATORS: Final = "faults/test_two_operators.py::"
UPGRADES: Final = "stories/test_upgrades.py::"
ZONES: Final = "stories/test_zones.py::"
SCALE_IN_VOTES: Final = "stories/test_scale_in_votes.py::"
WAITS: Final = "planner/test_waits.py::"
# A complete run, with every write checked against every invariant.
COMPLETE_RUN: Final = SINGLE_FAULTS + "test_run_has_writes_to_disturb"
