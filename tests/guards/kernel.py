"""Cycles: what one may do, and for how long anything may be waited for."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Final

from guards.guard import Guard, Patch, gone, instead
from guards.killers import ACTIONS, CLOCKS, MEANWHILE, PLANNING, REFUSALS, TOLD, WAITS
from searchkeeper import executor, reconcile
from searchkeeper.planner import actions, planning, reconciler, results, waits
from searchkeeper.reconcilers import status
from searchkeeper.upgrade import ledger


def moments_of_any_clock(patch: Patch) -> None:
    plain = waits._noted
    patch.setattr(waits, "_noted", lambda ledger, name, _: plain(ledger, name, 2**62))


def begun_anew_for_another_reason(patch: Patch) -> None:
    plain = waits._going_on

    def going_on(noted: waits.Wait | None, answer: results.Result, now: int) -> waits.Wait | None:
        is_same = noted is not None and noted.present[0] == answer.reason
        return plain(noted if is_same else None, answer, now)

    patch.setattr(waits, "_going_on", going_on)


GUARDS: Final = (
    Guard(
        "one destruction a cycle",
        instead(planning, "_one_destruction", dict),
        PLANNING + "test_only_one_action_takes_something_away_in_a_cycle",
    ),
    Guard(
        "a line of the ledger has one author",
        instead(planning, "_one_author_a_line", lambda _, given: given),
        PLANNING + "test_of_two_actions_that_note_the_same_line_one_is_at_fault_and_says_so",
    ),
    Guard(
        "an action that writes is not done",
        gone(results.Result, "__post_init__"),
        ACTIONS + "test_whoever_writes_is_not_done_in_the_same_cycle",
    ),
    Guard(
        "never downwards",
        gone(reconciler.Reconciler, "takes", True),
        "planner/test_procedures.py::test_what_is_deployed_is_never_taken_downwards",
    ),
    Guard(
        "children first",
        gone(status, "_has_converged", True),
        "paths/test_every_catalog_path.py::test_a_cluster_follows_its_operator_to_the_end_of_the_road",
        (("0.1.1", "0.2.0", "0.3.1", "0.4.0"),),
    ),
    Guard(
        "moments to come are not waited for",
        moments_of_any_clock,
        CLOCKS + "test_deadline_does_not_depend_on_the_clock",
        (-3600,),
    ),
    Guard(
        "a change of reasons is no progress",
        begun_anew_for_another_reason,
        TOLD + "test_an_engine_that_answers_every_other_time_is_no_excuse_for_waiting_for_ever",
        ("Off",),
    ),
    Guard(
        "what was told is remembered",
        instead(ledger.UpgradeLedger, "events_emitted", frozenset()),
        TOLD + "test_an_upgrade_that_is_stuck_is_one_warning_however_long",
        ("Off", ""),
    ),
    Guard(
        "an action takes one thing away at a time",
        gone(results.Result, "__post_init__"),
        ACTIONS + "test_an_action_takes_one_thing_away_at_a_time",
    ),
    Guard(
        "a wait has a deadline",
        gone(results.Result, "__post_init__"),
        ACTIONS + "test_waiting_needs_a_deadline",
    ),
    Guard(
        "prerequisites come first",
        gone(actions, "unmet_prerequisites"),
        ACTIONS + "test_an_action_whose_prerequisite_is_not_true_is_unknown_and_does_not_run",
        (results.wait("NotYet", "", deadline=5),),
    ),
    Guard(
        "who stands on an action at fault waits for it",
        gone(planning, "unmet_prerequisites"),
        PLANNING + "test_whoever_stands_on_an_action_at_fault_waits_for_it",
    ),
    Guard(
        "a fault of ours makes nobody late",
        instead(waits, "NOT_COUNTED", frozenset()),
        WAITS + "test_a_fault_of_ours_is_not_counted_as_waiting_for_anything_else",
    ),
    Guard(
        "nobody is late for what a person has stopped",
        instead(results, "_PERSONS", float("inf")),
        WAITS + "test_nobody_is_late_for_what_a_person_has_stopped",
    ),
    Guard(
        "what comes and goes below is no progress",
        gone(waits, "_is_held_up", False),
        WAITS + "test_what_comes_and_goes_below_is_no_excuse",
    ),
    Guard(
        "a version is told when every node has it",
        gone(status, "_has_arrived", True),
        "stories/test_statuses.py::test_the_version_of_a_cluster_is_never_told_early",
    ),
    Guard(
        "what no procedure takes is left alone",
        instead(reconcile, "choose_reconciler", lambda known, _: max(known, key=lambda each: each.version)),
        REFUSALS + "test_an_operator_that_was_itself_downgraded_touches_nothing",
        ("0.3.1", "1 to 3", "0.4.0-rc.1, 0.4.0"),
    ),
    Guard(
        "after a write the world is looked at again",
        instead(reconcile, "execute_all", lambda *given: (0, executor.execute_all(*given)[1])),
        MEANWHILE + "test_nodes_and_other_things_that_are_not_wanted_go_one_by_one",
        (False,),
    ),
)
