"""What is written down before it is done, and what a write names."""

from __future__ import annotations

__all__ = ["GUARDS"]

from dataclasses import replace
from typing import Any, Final

import operators_at_work
from guards.killers import (
    BACK,
    MEANWHILE,
    MIGRATIONS,
    ROLLOUT,
    ROLLOUT_PREPARATIONS,
    RUN,
    SINGLE,
    TWO,
    UPGRADE,
)
from guards.taking_away import Guard, Patch, gone, heedless, instead, together, without_notes
from searchkeeper import executor, observe, reconcile
from searchkeeper.desired import apply
from searchkeeper.desired.apply import merge_patch
from searchkeeper.kubernetes import operations
from searchkeeper.planner import LedgerChange, Result
from searchkeeper.reconcilers import deletion, migrations, objects, scale_in
from searchkeeper.snapshot import Pod
from searchkeeper.testing.faults import Fault
from searchkeeper.upgrade import drain, engine_settings, ledger, pending_delete, rollout
from searchkeeper.upgrade.gates import Candidate


def careless(key: operations.Key, _uid: str, _version: str, **how: bool) -> operations.Delete:
    return operations.Delete(key, "", "", **how)


def in_any_order(patch: Patch) -> None:
    """What is written down is written down afterwards."""

    def cycle(
        kube: Any, driver: Any, key: Any, release: Any, now: int, **_: Any
    ) -> reconcile.ReconcileOutcome:
        snapshot = observe.observe(kube, driver, key, release, now)
        assert snapshot is not None
        converged = True
        for step in reconcile.resource_plans(snapshot):
            converged &= step.plan.converged
            for write in step.plan.operations:
                executor.execute(kube, driver, write)
            fresh = kube.get(step.key)["metadata"]["resourceVersion"]
            if (
                reconcile._stored(kube, replace(step, resource_version=fresh)) != fresh
                or step.plan.operations
            ):
                return reconcile.ReconcileOutcome(wrote=True, converged=False)
        return reconcile.ReconcileOutcome(wrote=False, converged=converged)

    patch.setattr(operators_at_work, "cycle", cycle)


def patched_without_version(patch: Patch) -> None:
    def stored(kube: Any, step: reconcile.ResourcePlan) -> str:
        if step.status == step.before:
            return step.resource_version
        changes = {"status": merge_patch(step.before, step.status)}
        return str(kube.patch_status(operations.Patch(step.key, changes, ""))["metadata"]["resourceVersion"])

    patch.setattr(reconcile, "_stored", stored)


def harmless(it: Any, **changes: Any) -> Any:
    """Nothing that is changed counts as taken away."""
    return replace(it, **{name: value for name, value in changes.items() if name != "is_destructive"})


def sent_away(roll: rollout.Rollout, pod: Pod) -> Result:
    """Also whoever is on its way out."""
    pool = roll.choose_pool()
    assert pool is not None
    return rollout._delete_pod(roll, Candidate(pod, pool))


GUARDS: Final = (
    Guard("ledger before writes", in_any_order, RUN, (UPGRADE,)),
    Guard("pods are noted before they go", without_notes(rollout, "_delete_pod"), RUN, (UPGRADE,)),
    Guard(
        "settings are noted before they change",
        without_notes(rollout, "_disable_replica_allocation"),
        RUN,
        (UPGRADE,),
    ),
    Guard("volumes are noted before they go", without_notes(drain, "delete_volume"), RUN, (BACK,)),
    Guard("preconditions of a pod", instead(rollout, "Delete", careless), RUN, (UPGRADE,)),
    Guard("preconditions of a volume", instead(drain, "Delete", careless), RUN, (BACK,)),
    Guard(
        "resourceVersion of a status",
        patched_without_version,
        SINGLE + "test_reads_that_are_behind_change_nothing_about_the_end",
        (UPGRADE, "SearchCluster"),
    ),
    Guard(
        "settings are restored",
        together(gone(rollout, "restore_settings"), gone(rollout, "restore_for_other_pods")),
        RUN,
        (UPGRADE,),
    ),
    Guard(
        "settings are taken back before they are forgotten",
        gone(engine_settings, "_undo_sent", True),
        SINGLE + "test_an_engine_that_answers_from_the_past_changes_nothing_about_the_end",
        (UPGRADE,),
    ),
    Guard(
        "whoever was noted and is still there may stay",
        gone(pending_delete, "pods_still_present", ()),
        SINGLE + "test_a_fault_at_any_write_changes_nothing_about_the_end",
        (UPGRADE, Fault.CRASH_BEFORE),
    ),
    Guard(
        "late deletions miss",
        instead(ledger.UpgradeLedger, "pending_delete", None),
        TWO + "test_who_is_only_late_takes_nobody_without_anybodys_knowing",
    ),
    Guard(
        "the ledger is confirmed before a call",
        gone(executor, "_confirm"),
        TWO + "test_the_engine_is_not_told_what_has_long_been_undone",
    ),
    Guard(
        "the ledger is confirmed before anything is made",
        gone(executor, "_confirm"),
        TWO + "test_nothing_is_made_that_was_only_wanted_yesterday",
    ),
    Guard(
        "what is noted of a roll ends with it",
        instead(rollout, "_OF_THE_ROLLOUT", ()),
        SINGLE + "test_what_is_noted_of_a_volume_does_not_outlive_the_roll",
    ),
    Guard("preconditions of an object", instead(objects, "Delete", careless), RUN, ("0.1.1 → 0.2.0",)),
    Guard("preconditions of a StatefulSet", instead(migrations, "Delete", careless), RUN, ("0.3.1 → 0.4.0",)),
    Guard(
        "preconditions of an orphan",
        instead(deletion, "Delete", careless),
        MIGRATIONS + "test_a_cluster_that_is_deleted_in_between_leaves_no_history",
    ),
    Guard(
        "resourceVersion of a change",
        instead(apply, "Patch", heedless),
        "reconcilers/test_applying.py::test_a_change_is_decided_on_the_state_that_was_seen",
    ),
    Guard(
        "nobody is sent away twice",
        instead(rollout, "_adopt_terminating_pod", sent_away),
        ROLLOUT + "test_terminating_pod_is_not_deleted_again",
    ),
    Guard(
        "fewer nodes are something taken away",
        instead(scale_in, "replace", harmless),
        MEANWHILE + "test_nodes_and_other_things_that_are_not_wanted_go_one_by_one",
        (True,),
    ),
    Guard(
        "what is set once more is taken back once more",
        instead(rollout, "record_setting", lambda line, value: (LedgerChange(line, value),)),
        ROLLOUT_PREPARATIONS + "test_setting_that_is_made_again_is_undone_again",
    ),
)
