"""Cycles: what one may do, and for how long anything may be waited for."""

from __future__ import annotations

__all__ = ["GUARDS"]

from typing import Final

from guards.killers import CLOCKS, PLANNING, TOLD
from guards.taking_away import Guard, Patch, gone, instead
from searchkeeper.configuration import statuses
from searchkeeper.kernel import answers, planning, procedures, waits
from searchkeeper.upgrade import journal


def moments_of_any_clock(patch: Patch) -> None:
    plain = waits._noted
    patch.setattr(waits, "_noted", lambda ledger, name, _: plain(ledger, name, 2**62))


def begun_anew_for_another_reason(patch: Patch) -> None:
    plain = waits._going_on

    def going_on(noted: waits.Wait | None, answer: answers.Answer, now: int) -> waits.Wait | None:
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
        gone(answers.Answer, "__post_init__"),
        "kernel/test_actions.py::test_whoever_writes_is_not_done_in_the_same_cycle",
    ),
    Guard(
        "never downwards",
        gone(procedures.Procedure, "takes", True),
        "kernel/test_procedures.py::test_what_is_deployed_is_never_taken_downwards",
    ),
    Guard(
        "children first",
        gone(statuses, "_has_converged", True),
        "paths/test_every_catalog_path.py::test_a_cluster_follows_its_operator_to_the_end_of_the_road",
        (("0.1.1", "0.2.0", "0.3.1", "0.4.0"),),
    ),
    Guard(
        "moments to come are not waited for",
        moments_of_any_clock,
        CLOCKS + "test_whoever_does_not_come_back_is_waited_for_as_long_by_any_clock",
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
        instead(journal.Journal, "told", frozenset()),
        TOLD + "test_an_upgrade_that_is_stuck_is_one_warning_however_long",
        ("Off", ""),
    ),
)
