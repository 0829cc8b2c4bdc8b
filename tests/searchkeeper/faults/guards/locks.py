"""Guards of the spec lock: when it is taken, what it contains, and when it is released."""

from __future__ import annotations

__all__ = ["GUARDS"]

from dataclasses import replace
from typing import Final

from searchkeeper import observe, reconcile
from searchkeeper.reconcilers import context, engine_snapshots, spec_lock, upgrade, zones
from searchkeeper.testing.fake_kubernetes import kubelet
from searchkeeper.upgrade import failed_pods, rollback
from tests.searchkeeper.faults.guards.guard import Guard, combine, drop_prerequisite, replace_attribute, stub
from tests.searchkeeper.faults.guards.module_paths import (
    COMPLETE_RUN,
    FAILED_PODS_RUNS,
    PODS_AND_IMAGES,
    ROLLBACK,
    ROLLBACK_RUNS,
    SCALE_IN_CHANGES,
    SNAPSHOTS,
    SPEC_LOCK,
    UPGRADES,
    USER_EDITS,
    ZONES,
)
from tests.support.searchkeeper import fault_runs as runs
from tests.support.searchkeeper.snapshots import cluster_snapshot, pod, pool

DOWN: Final = pod(
    "data-0", engine_version="3.3.2", has_started=True, is_ready=False, problem="CrashLoopBackOff"
)

YELLOW: Final = cluster_snapshot(replace(pool("data", 2), allotted_replicas=2), shards=["logs: data-0* ?"])

GUARDS: Final = (
    Guard(
        "healthy start",
        stub(upgrade, "_health_problem"),
        UPGRADES + "test_upgrade_does_not_start_while_a_pod_is_not_ready",
    ),
    Guard(
        "no start while yellow may turn green",
        stub(upgrade, "yellow_blocker"),
        "searchkeeper/unit/reconcilers/test_upgrade_actions.py::test_upgrade_waits_for_yellow_that_may_turn_green",
        (YELLOW,),
    ),
    Guard(
        "snapshot before the start",
        stub(upgrade, "take_snapshot"),
        SNAPSHOTS + "test_missing_repository_stalls_until_it_is_registered",
    ),
    Guard(
        "few failed snapshots",
        replace_attribute(engine_snapshots, "_MAX_ATTEMPTS", 10**6),
        SNAPSHOTS + "test_failed_snapshot_is_tried_three_times_under_other_names_and_stalls",
    ),
    Guard(
        "complete pools at the start",
        stub(upgrade, "is_partly_deleted", False),
        USER_EDITS + "test_upgrade_does_not_start_without_a_search_pool",
    ),
    Guard(
        "spec lock",
        replace_attribute(observe, "_spec_in_force", lambda _raw, written, *_: written),
        ROLLBACK_RUNS + "test_edit_during_a_rollback_is_applied_after_it",
    ),
    Guard(
        "spec lock of deployed nodes",
        replace_attribute(
            spec_lock.SpecLock, "deployed_spec", property(lambda lock: lock.snapshot.cluster.raw_spec)
        ),
        SCALE_IN_CHANGES + "test_upgrade_precedes_scale_in_of_the_same_edit",
    ),
    Guard(
        "spec lock of deployed security",
        replace_attribute(spec_lock, "deployed_security", lambda _, __, written: dict(written)),
        SPEC_LOCK + "test_certificates_changed_with_an_upgrade_are_applied_after_it",
        ("b",),
    ),
    Guard(
        "spec lock of the deployed topology key",
        replace_attribute(spec_lock.SpecLock, "_deployed_topology_key", lambda _, written: written),
        ZONES + "test_key_changed_with_an_upgrade_is_applied_after_it",
        (None, "topology.kubernetes.io/zone"),
    ),
    Guard(
        "an upgrade leaves awareness as it is",
        replace_attribute(context, "Zones", lambda snapshot, **_: zones.Zones(snapshot, is_locked=False)),
        ZONES + "test_upgrade_does_not_make_managers_aware",
    ),
    Guard(
        "no stale operations after locking",
        replace_attribute(reconcile, "drop_stale_operations", lambda plan, _: plan),
        USER_EDITS + "test_scale_out_with_an_upgrade_is_applied_after_it",
    ),
    Guard(
        "no stale operations after a change of target",
        replace_attribute(reconcile, "_direction", lambda ledger: ledger.lock),
        UPGRADES + "test_no_pool_gets_a_target_that_is_being_replaced",
    ),
    Guard(
        "unrelated failures release the lock",
        combine(
            stub(failed_pods, "is_unrelated_failure", False), stub(context, "is_unrelated_failure", False)
        ),
        PODS_AND_IMAGES + "test_revert_releases_the_lock_although_an_unrelated_pod_is_down",
        (kubelet.PodFault.CRASH,),
    ),
    Guard(
        "abandoned nodes leave the lock",
        replace_attribute(spec_lock.SpecLock, "reduced", None),
        PODS_AND_IMAGES + "test_failed_node_can_be_removed_during_an_upgrade",
        ("3.4.0",),
    ),
    Guard(
        "lock released after other ledger changes",
        replace_attribute(context.ReconcileContext, "has_upgrade_ledger_changes", False),
        PODS_AND_IMAGES + "test_failed_node_can_be_removed_when_a_reverted_upgrade_ends",
    ),
    Guard(
        "spec lock of deployed Dashboards",
        replace_attribute(spec_lock, "deployed_dashboards", lambda _, written: dict(written)),
        SPEC_LOCK + "test_dashboards_change_after_the_upgrade_of_the_same_edit",
        (True,),
    ),
    Guard(
        "newer target is queued",
        stub(rollback, "_is_failing", True),
        FAILED_PODS_RUNS + "test_newer_target_waits_for_an_upgrade_that_makes_progress",
    ),
    Guard(
        "finish after all pools",
        drop_prerequisite("PoolsConverged", of="UpgradeFinished"),
        COMPLETE_RUN,
        (runs.UPGRADE,),
    ),
    Guard(
        "finish in a healthy cluster",
        drop_prerequisite("EngineHealthy", of="UpgradeFinished"),
        UPGRADES + "test_upgrade_does_not_finish_while_the_engine_is_unreachable",
    ),
    Guard(
        "pools converge after their pods",
        drop_prerequisite("PodsCurrent", of="PoolsConverged"),
        COMPLETE_RUN,
        (runs.UPGRADE,),
    ),
    Guard(
        "failed pods count at once",
        replace_attribute(rollback, "FATAL_POD_PROBLEMS", frozenset()),
        ROLLBACK + "test_failed_pod_of_the_target_version_is_a_failure_at_once",
        (DOWN, True),
    ),
)
