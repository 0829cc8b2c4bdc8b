"""Guards of the spec lock: when it is taken, what it contains, and when it is released."""

from __future__ import annotations

__all__ = ["GUARDS"]

from dataclasses import replace
from typing import Final

from guards.guard import Guard, gone, instead, together, unrequired
from guards.killers import (
    FAILED_PODS_RUNS,
    PEOPLE,
    PODS,
    ROLLBACK,
    ROLLBACK_RUNS,
    RUN,
    SCALE_IN_CHANGES,
    SPEC_LOCK,
    UPGRADE,
    UPGRADES,
)
from searchkeeper import observe, reconcile
from searchkeeper.reconcilers import context, spec_lock, upgrade
from searchkeeper.testing.fake_kubernetes import kubelet
from searchkeeper.upgrade import failed_pods, rollback
from snapshots import cluster_snapshot, pod, pool

DOWN: Final = pod(
    "data-0", engine_version="3.3.2", has_started=True, is_ready=False, problem="CrashLoopBackOff"
)

YELLOW: Final = cluster_snapshot(replace(pool("data", 2), allotted_replicas=2), shards=["logs: data-0* ?"])

GUARDS: Final = (
    Guard(
        "healthy start",
        gone(upgrade, "_health_problem"),
        UPGRADES + "test_upgrade_does_not_start_while_a_pod_is_not_ready",
    ),
    Guard(
        "no start while yellow may turn green",
        gone(upgrade, "yellow_blocker"),
        "reconcilers/test_upgrade_actions.py::test_upgrade_waits_for_yellow_that_may_turn_green",
        (YELLOW,),
    ),
    Guard(
        "complete pools at the start",
        gone(upgrade, "is_partly_deleted", False),
        PEOPLE + "test_upgrade_does_not_start_without_a_search_pool",
    ),
    Guard(
        "spec lock",
        instead(observe, "_spec_in_force", lambda _raw, written, *_: written),
        ROLLBACK_RUNS + "test_edit_during_a_rollback_is_applied_after_it",
    ),
    Guard(
        "spec lock of deployed nodes",
        instead(spec_lock.SpecLock, "deployed_spec", property(lambda lock: lock.snapshot.cluster.raw_spec)),
        SCALE_IN_CHANGES + "test_upgrade_precedes_scale_in_of_the_same_edit",
    ),
    Guard(
        "spec lock of deployed security",
        instead(spec_lock, "deployed_security", lambda _, __, written: dict(written)),
        SPEC_LOCK + "test_certificates_changed_with_an_upgrade_are_applied_after_it",
        ("b",),
    ),
    Guard(
        "no stale operations after locking",
        instead(reconcile, "drop_stale_operations", lambda made, _: made),
        PEOPLE + "test_scale_out_with_an_upgrade_is_applied_after_it",
    ),
    Guard(
        "no stale operations after a change of target",
        instead(reconcile, "_direction", lambda ledger: ledger.lock),
        UPGRADES + "test_no_pool_gets_a_target_that_is_being_replaced",
    ),
    Guard(
        "unrelated failures release the lock",
        together(
            gone(failed_pods, "is_unrelated_failure", False), gone(context, "is_unrelated_failure", False)
        ),
        PODS + "test_revert_releases_the_lock_although_an_unrelated_pod_is_down",
        (kubelet.PodFault.CRASH,),
    ),
    Guard(
        "abandoned nodes leave the lock",
        instead(spec_lock.SpecLock, "reduced", None),
        PODS + "test_failed_node_can_be_removed_during_an_upgrade",
        ("3.4.0",),
    ),
    Guard(
        "lock released after other ledger changes",
        instead(context.ReconcileContext, "has_upgrade_ledger_changes", False),
        PODS + "test_failed_node_can_be_removed_when_a_reverted_upgrade_ends",
    ),
    Guard(
        "spec lock of deployed Dashboards",
        instead(spec_lock, "deployed_dashboards", lambda _, written: dict(written)),
        SPEC_LOCK + "test_dashboards_change_after_the_upgrade_of_the_same_edit",
        (True,),
    ),
    Guard(
        "newer target is queued",
        gone(rollback, "_is_failing", True),
        FAILED_PODS_RUNS + "test_newer_target_waits_for_an_upgrade_that_makes_progress",
    ),
    Guard(
        "finish after all pools",
        unrequired("PoolsConverged", of="UpgradeFinished"),
        RUN,
        (UPGRADE,),
    ),
    Guard(
        "finish in a healthy cluster",
        unrequired("EngineHealthy", of="UpgradeFinished"),
        UPGRADES + "test_upgrade_does_not_finish_while_the_engine_is_unreachable",
    ),
    Guard(
        "pools converge after their pods",
        unrequired("PodsCurrent", of="PoolsConverged"),
        RUN,
        (UPGRADE,),
    ),
    Guard(
        "failed pods count at once",
        instead(rollback, "FATAL_POD_PROBLEMS", frozenset()),
        ROLLBACK + "test_failed_pod_of_the_target_version_is_a_failure_at_once",
        (DOWN, True),
    ),
)
