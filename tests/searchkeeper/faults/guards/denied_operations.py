"""Denied operations, and engines that answer every other time."""

from __future__ import annotations

__all__ = ["GUARDS"]

import re
from dataclasses import replace
from typing import Any, Final

from searchkeeper import executor, reconcile
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.planner import ACTION_ERROR, Result, in_progress, planning
from searchkeeper.planner import denied_operations as denials
from searchkeeper.upgrade import pending_delete, rollback, rollout
from tests.searchkeeper.faults.guards.guard import Guard, Patch, replace_attribute, stub
from tests.searchkeeper.faults.guards.module_paths import DENIED_OPERATIONS, FLAPPING


def record_only_beside_unchanged_status(patch: Patch) -> None:
    plain = reconcile.record_denied_operations
    patch.setattr(
        reconcile,
        "record_denied_operations",
        lambda kube, resource, *rest: not resource.has_changed and plain(kube, resource, *rest),
    )


def record_only_beside_cosmetic_changes(patch: Patch) -> None:
    plain = reconcile.record_denied_operations
    patch.setattr(
        reconcile,
        "record_denied_operations",
        lambda kube, resource, *rest: resource.is_cosmetic and plain(kube, resource, *rest),
    )


def in_progress_without_deadline(*given: Any, deadline: int | None = None, **named: Any) -> Result:
    """Act as `in_progress`, but count every operation as progress."""
    return in_progress(*given, **named)


def count_everything_as_progress(patch: Patch) -> None:
    patch.setattr(
        reconcile,
        "plan",
        lambda *given, **named: replace(planning.plan(*given, **named), made_progress=True),
    )


def stop_at_the_first_denial(patch: Patch) -> None:
    def execute_all(
        kube: Any, engine: Any, requested: tuple[Any, ...], versions: executor.ResourceVersions
    ) -> Any:
        executed = 0
        for each in requested:
            count, denied = executor.execute_all(kube, engine, (each,), versions)
            executed += count
            if denied:
                return executed or 1, denied
        return executed, []

    patch.setattr(reconcile, "execute_all", execute_all)


def _unreachable(_: EngineView) -> Unreachable:
    return Unreachable("timed out")


def _red(snapshot: EngineView) -> EngineView:
    return replace(snapshot, color=Color.RED)


def _healthy(snapshot: EngineView) -> EngineView:
    return snapshot


GUARDS: Final = (
    Guard(
        "a denial stops no other action",
        stop_at_the_first_denial,
        DENIED_OPERATIONS + "test_denied_operation_does_not_stop_other_actions",
    ),
    Guard(
        "denials are recorded",
        stub(reconcile, "record_denied_operations", False),
        DENIED_OPERATIONS + "test_denied_operation_stalls_and_emits_one_event",
    ),
    Guard(
        "denials are recorded beside changed conditions",
        record_only_beside_unchanged_status,
        FLAPPING + "test_denied_operation_is_reported_while_the_engine_flaps",
    ),
    Guard(
        "denials are recorded beside other ledger changes",
        record_only_beside_cosmetic_changes,
        FLAPPING + "test_oscillating_upgrade_stalls_after_the_deadline",
        ("deletions", (_unreachable, _healthy)),
    ),
    Guard(
        "a denial stays while its action waits",
        replace_attribute(
            denials,
            "_may_be_requested_again",
            lambda result: result.reason == denials.OPERATION_DENIED,
        ),
        FLAPPING + "test_oscillating_upgrade_stalls_after_the_deadline",
        ("deletions", (_healthy, _healthy, _unreachable)),
    ),
    Guard(
        "preparation is no progress",
        replace_attribute(rollout, "in_progress", in_progress_without_deadline),
        FLAPPING + "test_oscillating_upgrade_stalls_after_the_deadline",
        ("nothing", (_red, _healthy)),
    ),
    Guard(
        "cancelling a delete is no progress",
        replace_attribute(pending_delete, "in_progress", in_progress_without_deadline),
        FLAPPING + "test_oscillating_upgrade_stalls_after_the_deadline",
        ("deletions", (_unreachable, _healthy)),
    ),
    Guard(
        "oscillation backs off",
        count_everything_as_progress,
        FLAPPING + "test_oscillation_backs_off",
    ),
    Guard(
        "the same denial is not recorded again",
        stub(reconcile, "is_new_denial", True),
        DENIED_OPERATIONS + "test_repeated_denial_causes_no_writes",
        ("the same",),
    ),
    Guard(
        "a denial starts no rollback",
        replace_attribute(rollback, "NOT_COUNTED", frozenset({ACTION_ERROR})),
        DENIED_OPERATIONS + "test_denied_pod_deletion_stalls_the_upgrade_without_rollback",
        ("Automatic",),
    ),
    Guard(
        "a denied destructive operation goes last",
        replace_attribute(planning, "OPERATION_DENIED", "no reason at all"),
        DENIED_OPERATIONS + "test_denied_deletion_goes_last",
    ),
    Guard(
        "a denied delete is retried without other operations",
        stub(rollout, "_retry_pending_delete"),
        DENIED_OPERATIONS + "test_denied_pod_deletion_is_retried_without_other_writes",
    ),
    Guard(
        "a cosmetic change does not end a reconcile",
        replace_attribute(
            reconcile.ResourcePlan, "is_cosmetic", property(lambda resource: not resource.has_changed)
        ),
        FLAPPING + "test_pools_are_reconciled_while_conditions_change_with_every_reconcile",
    ),
    Guard(
        "flapping is not reported",
        stub(reconcile, "is_flapping", False),
        FLAPPING + "test_flapping_engine_does_not_change_status_with_every_reconcile",
        ((_unreachable, _healthy),),
    ),
    Guard(
        "errors about Secrets are redacted",
        replace_attribute(executor, "redact", lambda text, _: text),
        DENIED_OPERATIONS + "test_secret_values_are_redacted_from_errors",
    ),
    Guard(
        "errors are truncated",
        replace_attribute(denials, "_TEXT_LIMIT", 10**6),
        DENIED_OPERATIONS + "test_long_error_is_truncated",
    ),
    Guard(
        "numbers in an error are ignored",
        replace_attribute(denials, "_NUMBERS", re.compile("(?!)")),
        DENIED_OPERATIONS + "test_repeated_denial_causes_no_writes",
        ("request 1 at 10:00",),
    ),
    Guard(
        "outdated denials are removed",
        stub(planning, "outdated_denials", {}),
        DENIED_OPERATIONS + "test_denial_is_removed_when_the_operation_is_not_needed",
    ),
)
