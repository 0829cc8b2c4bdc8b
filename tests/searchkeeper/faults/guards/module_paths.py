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

ACTIONS: Final = "searchkeeper/unit/planner/test_actions.py::"
BATCHES: Final = "searchkeeper/unit/upgrade/test_batches.py::"
CLOCK_SKEW: Final = "searchkeeper/faults/test_clock_skew.py::"
CREDENTIALS: Final = "searchkeeper/scenarios/test_credentials.py::"
DELETION: Final = "searchkeeper/scenarios/test_deletion.py::"
DENIED_OPERATIONS: Final = "searchkeeper/scenarios/test_denied_operations.py::"
CERTIFICATES: Final = "searchkeeper/scenarios/test_certificates.py::"
DISK_SPACE: Final = "searchkeeper/scenarios/test_disk_space.py::"
SNAPSHOTS: Final = "searchkeeper/scenarios/test_snapshots.py::"
DRAIN_RUNS: Final = "searchkeeper/scenarios/test_drain.py::"
DRAIN: Final = "searchkeeper/unit/upgrade/test_drain.py::"
EVICTED_PODS_RUNS: Final = "searchkeeper/scenarios/test_evicted_pods.py::"
HAND_EDITS: Final = "searchkeeper/unit/reconcilers/test_hand_edits.py::"
VOLUMES: Final = "searchkeeper/unit/upgrade/test_volumes.py::"
ROLLBACK: Final = "searchkeeper/unit/upgrade/test_rollback.py::"
FLAPPING: Final = "searchkeeper/scenarios/test_flapping_engines.py::"
GATES: Final = "searchkeeper/unit/upgrade/test_gates.py::"
STORAGE: Final = "searchkeeper/scenarios/test_storage.py::"
STATEFULSET_ROLLOUT: Final = "searchkeeper/unit/upgrade/test_statefulset_rollout.py::"
OPERATOR_CONDITION: Final = "searchkeeper/scenarios/test_operator_condition.py::"
INVALID_SPECS: Final = "searchkeeper/scenarios/test_invalid_specs.py::"
SCALE_IN: Final = "searchkeeper/unit/reconcilers/test_scale_in.py::"
SPEC_LOCK: Final = "searchkeeper/scenarios/test_spec_lock.py::"
ROLE_REMOVAL_RUNS: Final = "searchkeeper/scenarios/test_role_removal.py::"
SCALE_IN_CHANGES: Final = "searchkeeper/scenarios/test_scale_in_with_other_changes.py::"
FAILED_PODS: Final = "searchkeeper/unit/upgrade/test_failed_pods.py::"
RESTARTS: Final = "searchkeeper/scenarios/test_restarts.py::"
MIGRATIONS: Final = "searchkeeper/unit/reconcilers/test_migrations.py::"
NAME_CONFLICTS: Final = "searchkeeper/scenarios/test_name_conflicts.py::"
ORDER: Final = "searchkeeper/unit/upgrade/test_order.py::"
USER_EDITS: Final = "searchkeeper/faults/test_user_edits.py::"
PLANNING: Final = "searchkeeper/unit/planner/test_planning.py::"
PODS_AND_IMAGES: Final = "searchkeeper/scenarios/test_pods_and_images.py::"
ROLLOUT_PREPARATIONS: Final = "searchkeeper/unit/upgrade/test_rollout_preparations.py::"
QUORUM: Final = "searchkeeper/scenarios/test_quorum_and_restarts.py::"
REFUSED_VERSIONS: Final = "searchkeeper/scenarios/test_refused_versions.py::"
ROLLBACK_BLOCKERS: Final = "searchkeeper/unit/upgrade/test_rollback_blockers.py::"
ROLLOUT: Final = "searchkeeper/unit/upgrade/test_rollout.py::"
SCALING: Final = "searchkeeper/scenarios/test_scaling.py::"
LOST_STATUS: Final = "searchkeeper/faults/test_lost_status.py::"
SINGLE_FAULTS: Final = "searchkeeper/faults/test_single_faults.py::"
FAILED_PODS_RUNS: Final = "searchkeeper/scenarios/test_failed_pods.py::"
EVENTS: Final = "searchkeeper/scenarios/test_scenario_events.py::"
ROLLBACK_RUNS: Final = "searchkeeper/scenarios/test_rollback.py::"
TWO_OPERATORS: Final = "searchkeeper/faults/test_two_operators.py::"
UPGRADES: Final = "searchkeeper/scenarios/test_upgrades.py::"
ZONES: Final = "searchkeeper/scenarios/test_zones.py::"
SCALE_IN_VOTES: Final = "searchkeeper/scenarios/test_scale_in_votes.py::"
WAITS: Final = "searchkeeper/unit/planner/test_waits.py::"
# A complete run, with every write checked against every invariant.
COMPLETE_RUN: Final = SINGLE_FAULTS + "test_run_has_writes_to_disturb"
