"""The planner: what a reconcile may do, and when a wait stalls."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Final

from searchkeeper import executor, reconcile
from searchkeeper.planner import actions, planning, reconciler, results, waits
from searchkeeper.reconcilers import status
from searchkeeper.upgrade import ledger
from tests.searchkeeper.faults.guards.guard import Guard, Patch, replace_attribute, stub
from tests.searchkeeper.faults.guards.module_paths import (
    ACTIONS,
    CLOCK_SKEW,
    EVENTS,
    PLANNING,
    REFUSED_VERSIONS,
    SCALE_IN_CHANGES,
    WAITS,
)


def accept_future_moments(patch: Patch) -> None:
    plain = waits._recorded_wait
    patch.setattr(waits, "_recorded_wait", lambda ledger, action, _: plain(ledger, action, 2**62))


def restart_waits_with_every_reason(patch: Patch) -> None:
    plain = waits._continue_wait

    def continue_wait(recorded: waits.Wait | None, result: results.Result, now: int) -> waits.Wait | None:
        is_same = recorded is not None and recorded.current[0] == result.reason
        return plain(recorded if is_same else None, result, now)

    patch.setattr(waits, "_continue_wait", continue_wait)


GUARDS: Final = (
    Guard(
        "one destructive operation a reconcile",
        replace_attribute(planning, "limit_destructive", dict),
        PLANNING + "test_only_one_action_has_a_destructive_operation_in_a_reconcile",
    ),
    Guard(
        "one author for a ledger key",
        replace_attribute(planning, "reject_key_conflicts", lambda _, given: given),
        PLANNING + "test_second_author_of_a_ledger_key_gets_an_action_error",
    ),
    Guard(
        "a result with operations is not True",
        stub(results.Result, "__post_init__"),
        ACTIONS + "test_result_with_operations_cannot_be_true",
    ),
    Guard(
        "a configuration is never downgraded",
        stub(reconciler.Reconciler, "supports", True),
        "searchkeeper/unit/planner/test_reconcilers.py::test_configuration_is_never_downgraded",
    ),
    Guard(
        "pools converge before the cluster",
        stub(status, "_has_converged", True),
        "searchkeeper/scenarios/test_every_catalog_path.py::test_cluster_is_migrated_along_every_upgrade_path",
        (("0.1.1", "0.2.0", "0.3.1", "0.4.0", "0.5.0"),),
    ),
    Guard(
        "moments in the future are ignored",
        accept_future_moments,
        CLOCK_SKEW + "test_deadline_does_not_depend_on_the_clock",
        (-3600,),
    ),
    Guard(
        "a change of reason is no progress",
        restart_waits_with_every_reason,
        EVENTS + "test_upgrade_stalls_when_the_engine_answers_every_other_time",
        ("Off",),
    ),
    Guard(
        "emitted events are in the ledger",
        replace_attribute(ledger.UpgradeLedger, "events_emitted", frozenset()),
        EVENTS + "test_stalled_upgrade_emits_one_warning",
        ("Off", ""),
    ),
    Guard(
        "one destructive operation an action",
        stub(results.Result, "__post_init__"),
        ACTIONS + "test_second_destructive_operation_of_an_action_is_rejected",
    ),
    Guard(
        "a wait has a deadline",
        stub(results.Result, "__post_init__"),
        ACTIONS + "test_wait_without_deadline_is_rejected",
    ),
    Guard(
        "prerequisites come first",
        stub(actions, "unmet_prerequisites"),
        ACTIONS + "test_action_with_unmet_prerequisite_is_unknown_and_does_not_run",
        (results.wait("NotYet", "", deadline=5),),
    ),
    Guard(
        "dependents of a rejected action wait",
        stub(planning, "unmet_prerequisites"),
        PLANNING + "test_dependent_of_a_second_author_waits_for_it",
    ),
    Guard(
        "errors count against no other reason",
        replace_attribute(waits, "NOT_COUNTED", frozenset()),
        WAITS + "test_time_of_an_error_counts_against_no_other_reason",
    ),
    Guard(
        "a wait for a user never stalls",
        replace_attribute(results, "NO_DEADLINE", -1),
        WAITS + "test_wait_for_a_user_restarts_other_waits",
    ),
    Guard(
        "an alternating prerequisite is no progress",
        stub(waits, "_is_still_blocked", False),
        WAITS + "test_prerequisite_that_alternates_does_not_restart_a_wait",
    ),
    Guard(
        "a version is reported when every node runs it",
        stub(status, "_runs_target", True),
        "searchkeeper/scenarios/test_statuses.py::test_engine_version_is_reported_after_every_node_runs_it",
    ),
    Guard(
        "an unsupported configuration is left unchanged",
        replace_attribute(
            reconcile, "choose_reconciler", lambda known, _: max(known, key=lambda each: each.version)
        ),
        REFUSED_VERSIONS + "test_downgraded_operator_changes_nothing",
        ("0.4.0", "1 to 3, 3 to 4", "0.5.0"),
    ),
    Guard(
        "a reconcile ends with the first resource that has operations",
        replace_attribute(reconcile, "execute_all", lambda *given: (0, executor.execute_all(*given)[1])),
        SCALE_IN_CHANGES + "test_destructive_operations_are_executed_one_at_a_time",
        (False,),
    ),
)
