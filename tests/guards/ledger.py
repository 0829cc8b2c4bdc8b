"""The ledger: what is recorded before it is executed, and the preconditions of operations."""

from __future__ import annotations

__all__ = ["GUARDS"]

from dataclasses import replace
from typing import Any, Final

import operators_at_work
from guards.guard import Guard, Patch, gone, heedless, instead, together, without_notes
from guards.killers import (
    BACK,
    LOST,
    MIGRATIONS,
    ROLLOUT,
    ROLLOUT_PREPARATIONS,
    RUN,
    SCALE_IN_CHANGES,
    SINGLE,
    TWO,
    UPGRADE,
)
from searchkeeper import executor, observe, reconcile
from searchkeeper.desired import apply
from searchkeeper.desired.apply import merge_patch
from searchkeeper.kubernetes import operations
from searchkeeper.opensearch.view import Allocation
from searchkeeper.planner import LedgerChange, Result
from searchkeeper.reconcilers import deletion, lost_status, migrations, objects, scale_in, upgrade
from searchkeeper.snapshot import Pod
from searchkeeper.testing.faults import Fault
from searchkeeper.upgrade import drain, engine_settings, ledger, pending_delete, rollout
from searchkeeper.upgrade.gates import Candidate


def delete_without_preconditions(
    key: operations.Key, _uid: str, _version: str, **options: bool
) -> operations.Delete:
    return operations.Delete(key, "", "", **options)


def execute_before_persisting(patch: Patch) -> None:
    def reconcile_backwards(
        kube: Any, engine: Any, key: Any, release: Any, now: int, **_: Any
    ) -> reconcile.ReconcileOutcome:
        snapshot = observe.observe(kube, engine, key, release, now)
        assert snapshot is not None
        converged = True
        for resource in reconcile.resource_plans(snapshot):
            converged &= resource.plan.converged
            for operation in resource.plan.operations:
                executor.execute(kube, engine, operation)
            version = kube.get(resource.key)["metadata"]["resourceVersion"]
            patched = reconcile.patch_status(kube, replace(resource, resource_version=version))
            if patched != version or resource.plan.operations:
                return reconcile.ReconcileOutcome(wrote=True, converged=False)
        return reconcile.ReconcileOutcome(wrote=False, converged=converged)

    patch.setattr(operators_at_work, "reconcile", reconcile_backwards)


def patch_status_without_version(patch: Patch) -> None:
    def patch_status(kube: Any, resource: reconcile.ResourcePlan) -> str:
        if not resource.has_changed:
            return resource.resource_version
        changes = {"status": merge_patch(resource.before, resource.status)}
        patched = kube.patch_status(operations.Patch(resource.key, changes, ""))
        return str(patched["metadata"]["resourceVersion"])

    patch.setattr(reconcile, "patch_status", patch_status)


def replace_without_destructive(it: Any, **changes: Any) -> Any:
    """Act as `dataclasses.replace`, but mark nothing as destructive."""
    return replace(it, **{name: value for name, value in changes.items() if name != "is_destructive"})


def delete_terminating_pod(roll: rollout.Rollout, pod: Pod) -> Result:
    pool = roll.choose_pool()
    assert pool is not None
    return rollout._delete_pod(roll, Candidate(pod, pool))


GUARDS: Final = (
    Guard("ledger before operations", execute_before_persisting, RUN, (UPGRADE,)),
    Guard("pods are recorded before their delete", without_notes(rollout, "_delete_pod"), RUN, (UPGRADE,)),
    Guard(
        "settings are recorded before they change",
        without_notes(rollout, "_disable_replica_allocation"),
        RUN,
        (UPGRADE,),
    ),
    Guard("volumes are recorded before their delete", without_notes(drain, "delete_volume"), RUN, (BACK,)),
    Guard(
        "preconditions of a pod", instead(rollout, "Delete", delete_without_preconditions), RUN, (UPGRADE,)
    ),
    Guard("preconditions of a volume", instead(drain, "Delete", delete_without_preconditions), RUN, (BACK,)),
    Guard(
        "resourceVersion of a status",
        patch_status_without_version,
        SINGLE + "test_stale_reads_do_not_change_the_result",
        (UPGRADE, "SearchCluster"),
    ),
    Guard(
        "settings are restored",
        together(gone(rollout, "restore_settings"), gone(rollout, "restore_for_other_pods")),
        RUN,
        (UPGRADE,),
    ),
    Guard(
        "settings are restored before their ledger entry is removed",
        gone(engine_settings, "_undo_sent", True),
        "upgrade/test_engine_settings.py::test_ledger_entry_is_removed_after_the_restore_was_sent_and_observed",
        ({"allocation": Allocation.PRIMARIES}, {"allocation": "all"}),
    ),
    Guard(
        "a recorded pod that is still present may stay",
        gone(pending_delete, "pods_still_present", ()),
        SINGLE + "test_fault_at_any_write_does_not_change_the_result",
        (UPGRADE, Fault.CRASH_BEFORE),
    ),
    Guard(
        "a late delete fails its precondition",
        instead(ledger.UpgradeLedger, "pending_delete", None),
        TWO + "test_delayed_delete_conflicts_after_it_was_cancelled",
    ),
    Guard(
        "the ledger is confirmed before a call",
        gone(executor, "_confirm_ledger"),
        TWO + "test_delayed_engine_call_is_not_executed_after_the_upgrade",
    ),
    Guard(
        "the ledger is confirmed before a create",
        gone(executor, "_confirm_ledger"),
        TWO + "test_delayed_create_is_not_executed_after_the_pool_was_removed",
    ),
    Guard(
        "ledger entries of a rollout end with it",
        instead(rollout, "_OF_THE_ROLLOUT", ()),
        SINGLE + "test_ledger_line_of_a_volume_is_removed_after_the_rollout",
    ),
    Guard(
        "preconditions of an object",
        instead(objects, "Delete", delete_without_preconditions),
        RUN,
        ("0.1.1 → 0.2.0",),
    ),
    Guard(
        "preconditions of a StatefulSet",
        instead(migrations, "Delete", delete_without_preconditions),
        RUN,
        ("0.3.1 → 0.4.0",),
    ),
    Guard(
        "preconditions of an orphan",
        instead(deletion, "Delete", delete_without_preconditions),
        MIGRATIONS + "test_deletion_during_the_relabelling_leaves_no_revision",
    ),
    Guard(
        "resourceVersion of a patch",
        instead(apply, "Patch", heedless),
        "desired/test_apply.py::test_patch_has_the_resource_version_of_the_live_object",
    ),
    Guard(
        "a terminating pod is not deleted again",
        instead(rollout, "_adopt_terminating_pod", delete_terminating_pod),
        ROLLOUT + "test_terminating_pod_is_not_deleted_again",
    ),
    Guard(
        "scale-in is destructive",
        instead(scale_in, "replace", replace_without_destructive),
        SCALE_IN_CHANGES + "test_destructive_operations_are_executed_one_at_a_time",
        (True,),
    ),
    Guard(
        "a setting that is set again is restored again",
        instead(rollout, "record_setting", lambda line, value: (LedgerChange(line, value),)),
        ROLLOUT_PREPARATIONS + "test_setting_that_is_made_again_is_restored_again",
    ),
    Guard(
        "lost engine settings are recovered",
        gone(lost_status, "recovered_settings", {}),
        LOST + "test_lost_status_at_any_write_does_not_change_the_result",
        ("shrinking",),
    ),
    Guard(
        "a late engine call is undone",
        gone(lost_status, "recovered_settings", {}),
        LOST + "test_engine_call_that_arrives_after_the_end_is_undone",
        (UPGRADE,),
    ),
    Guard(
        "the record ends with its setting",
        gone(engine_settings, "_recorded_names", frozenset()),
        LOST + "test_lost_status_at_any_write_does_not_change_the_result",
        ("fewer_managers",),
    ),
    Guard(
        "the engine version is recorded outside the status",
        together(gone(objects, "record_version"), gone(upgrade, "record_version")),
        LOST + "test_unhealthy_cluster_without_status_is_not_new",
        ("3.4.0",),
    ),
    Guard(
        "the version is recorded before an upgrade ends",
        gone(upgrade, "record_version"),
        "reconcilers/test_upgrade_actions.py::test_upgrade_finishes_after_its_version_is_recorded",
    ),
    Guard(
        "a half upgrade is recovered",
        gone(lost_status, "_upgrade_target"),
        LOST + "test_lost_status_at_any_write_does_not_change_the_result",
        (UPGRADE,),
    ),
    Guard(
        "a lost lock is taken again",
        gone(lost_status, "is_partly_deleted", result=True),
        LOST + "test_edits_wait_for_a_recovered_upgrade",
    ),
    Guard(
        "a recovered lock has every pool",
        gone(lost_status, "is_partly_deleted", result=False),
        LOST + "test_lock_waits_for_a_missing_search_pool",
    ),
)
