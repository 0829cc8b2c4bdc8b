"""The ledger: what is recorded before it is executed, and the preconditions of operations."""

from __future__ import annotations

__all__ = ["GUARDS"]

from dataclasses import replace
from typing import Any, Final

from searchkeeper import executor, observe, reconcile
from searchkeeper.desired import apply
from searchkeeper.desired.apply import merge_patch
from searchkeeper.kubernetes import operations
from searchkeeper.opensearch.view import Allocation
from searchkeeper.planner import LedgerChange, Result
from searchkeeper.reconcilers import (
    deletion,
    engine_snapshots,
    lost_status,
    migrations,
    objects,
    scale_in,
    upgrade,
)
from searchkeeper.snapshot import Pod
from searchkeeper.testing.faults import Fault
from searchkeeper.upgrade import drain, engine_settings, ledger, pending_delete, rollout
from searchkeeper.upgrade.gates import Candidate
from tests.searchkeeper.faults.guards.guard import (
    Guard,
    Patch,
    combine,
    drop_ledger_changes,
    patch_without_resource_version,
    replace_attribute,
    stub,
)
from tests.searchkeeper.faults.guards.module_paths import (
    COMPLETE_RUN,
    LOST_STATUS,
    MIGRATIONS,
    ROLLOUT,
    ROLLOUT_PREPARATIONS,
    SCALE_IN_CHANGES,
    SINGLE_FAULTS,
    SNAPSHOTS,
    TWO_OPERATORS,
)
from tests.support.searchkeeper import fault_runs as runs
from tests.support.searchkeeper import operator_runs


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

    patch.setattr(operator_runs, "reconcile", reconcile_backwards)


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
    Guard("ledger before operations", execute_before_persisting, COMPLETE_RUN, (runs.UPGRADE,)),
    Guard(
        "pods are recorded before their delete",
        drop_ledger_changes(rollout, "_delete_pod"),
        COMPLETE_RUN,
        (runs.UPGRADE,),
    ),
    Guard(
        "settings are recorded before they change",
        drop_ledger_changes(rollout, "_disable_replica_allocation"),
        COMPLETE_RUN,
        (runs.UPGRADE,),
    ),
    Guard(
        "snapshots are recorded before they are taken",
        drop_ledger_changes(engine_snapshots, "_start"),
        SNAPSHOTS + "test_upgrade_starts_after_its_snapshot_has_succeeded",
    ),
    Guard(
        "volumes are recorded before their delete",
        drop_ledger_changes(drain, "delete_volume"),
        COMPLETE_RUN,
        (runs.ROLLBACK,),
    ),
    Guard(
        "preconditions of a pod",
        replace_attribute(rollout, "Delete", delete_without_preconditions),
        COMPLETE_RUN,
        (runs.UPGRADE,),
    ),
    Guard(
        "preconditions of a volume",
        replace_attribute(drain, "Delete", delete_without_preconditions),
        COMPLETE_RUN,
        (runs.ROLLBACK,),
    ),
    Guard(
        "resourceVersion of a status",
        patch_status_without_version,
        TWO_OPERATORS + "test_delayed_write_conflicts_or_does_not_change_the_result",
        (runs.UPGRADE,),
    ),
    Guard(
        "settings are restored",
        combine(stub(rollout, "restore_settings"), stub(rollout, "restore_for_other_pods")),
        COMPLETE_RUN,
        (runs.UPGRADE,),
    ),
    Guard(
        "settings are restored before their ledger entry is removed",
        stub(engine_settings, "_undo_sent", True),
        "searchkeeper/unit/upgrade/test_engine_settings.py::test_ledger_entry_is_removed_after_the_restore_was_sent_and_observed",
        ({"allocation": Allocation.PRIMARIES}, {"allocation": "all"}),
    ),
    Guard(
        "a recorded pod that is still present may stay",
        stub(pending_delete, "pods_still_present", ()),
        SINGLE_FAULTS + "test_fault_at_any_write_does_not_change_the_result",
        (runs.UPGRADE, Fault.CRASH_BEFORE),
    ),
    Guard(
        "a late delete fails its precondition",
        replace_attribute(ledger.UpgradeLedger, "pending_delete", None),
        TWO_OPERATORS + "test_delayed_delete_conflicts_after_it_was_cancelled",
    ),
    Guard(
        "the ledger is confirmed before a call",
        stub(executor, "_confirm_ledger"),
        TWO_OPERATORS + "test_delayed_engine_call_is_not_executed_after_the_upgrade",
    ),
    Guard(
        "the ledger is confirmed before a create",
        stub(executor, "_confirm_ledger"),
        TWO_OPERATORS + "test_delayed_create_is_not_executed_after_the_pool_was_removed",
    ),
    Guard(
        "ledger entries of a rollout end with it",
        replace_attribute(rollout, "_ROLLOUT_KEYS", ()),
        SINGLE_FAULTS + "test_ledger_line_of_a_volume_is_removed_after_the_rollout",
    ),
    Guard(
        "preconditions of an object",
        replace_attribute(objects, "Delete", delete_without_preconditions),
        COMPLETE_RUN,
        ("0.1.1 → 0.2.0",),
    ),
    Guard(
        "preconditions of a StatefulSet",
        replace_attribute(migrations, "Delete", delete_without_preconditions),
        COMPLETE_RUN,
        ("0.3.1 → 0.4.0",),
    ),
    Guard(
        "preconditions of an orphan",
        replace_attribute(deletion, "Delete", delete_without_preconditions),
        MIGRATIONS + "test_deletion_during_the_relabelling_leaves_no_revision",
    ),
    Guard(
        "resourceVersion of a patch",
        replace_attribute(apply, "Patch", patch_without_resource_version),
        "searchkeeper/unit/desired/test_apply.py::test_patch_has_the_resource_version_of_the_live_object",
    ),
    Guard(
        "a terminating pod is not deleted again",
        replace_attribute(rollout, "_adopt_terminating_pod", delete_terminating_pod),
        ROLLOUT + "test_terminating_pod_is_not_deleted_again",
    ),
    Guard(
        "scale-in is destructive",
        replace_attribute(scale_in, "replace", replace_without_destructive),
        SCALE_IN_CHANGES + "test_destructive_operations_are_executed_one_at_a_time",
        (True,),
    ),
    Guard(
        "a setting that is set again is restored again",
        replace_attribute(rollout, "record_setting", lambda line, value: (LedgerChange(line, value),)),
        ROLLOUT_PREPARATIONS + "test_setting_that_is_made_again_is_restored_again",
    ),
    Guard(
        "lost engine settings are recovered",
        stub(lost_status, "recovered_settings", {}),
        LOST_STATUS + "test_lost_status_at_any_write_does_not_change_the_result",
        ("cluster_before_scale_in",),
    ),
    Guard(
        "a late engine call is undone",
        stub(lost_status, "recovered_settings", {}),
        LOST_STATUS + "test_engine_call_that_arrives_after_the_end_is_undone",
        (runs.UPGRADE,),
    ),
    Guard(
        "the record ends with its setting",
        stub(engine_settings, "_recorded_names", frozenset()),
        LOST_STATUS + "test_lost_status_at_any_write_does_not_change_the_result",
        ("fewer_managers",),
    ),
    Guard(
        "the engine version is recorded outside the status",
        combine(stub(objects, "record_version"), stub(upgrade, "record_version")),
        LOST_STATUS + "test_unhealthy_cluster_without_status_is_not_new",
        ("3.4.0",),
    ),
    Guard(
        "the version is recorded before an upgrade ends",
        stub(upgrade, "record_version"),
        "searchkeeper/unit/reconcilers/test_upgrade_actions.py::test_upgrade_finishes_after_its_version_is_recorded",
    ),
    Guard(
        "a half upgrade is recovered",
        stub(lost_status, "_upgrade_target"),
        LOST_STATUS + "test_lost_status_at_any_write_does_not_change_the_result",
        (runs.UPGRADE,),
    ),
    Guard(
        "a lost lock is taken again",
        stub(lost_status, "is_partly_deleted", result=True),
        LOST_STATUS + "test_edits_wait_for_a_recovered_upgrade",
    ),
    Guard(
        "a recovered lock has every pool",
        stub(lost_status, "is_partly_deleted", result=False),
        LOST_STATUS + "test_lock_waits_for_a_missing_search_pool",
    ),
)
