"""Whoever waits is late when it has not come further in time, whatever reasons it gives meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from searchkeeper.planner import (
    Action,
    Ledger,
    Plan,
    Reconciler,
    Records,
    Result,
    done,
    in_progress,
    plan,
    wait,
)
from searchkeeper.planner.waits import waiting_for, waiting_without_change
from writes import Put

A, B = wait("NotGreen", "", deadline=60), wait("NotReady", "", deadline=60)
PAUSED = wait("NotPaused", "", deadline=2**31)


def fails(_: None) -> Result:
    raise ValueError("entry")


def told(answers: Sequence[Result | None], *, every: int = 10) -> list[Plan]:
    """One plan after the other for an action that answers so; None where it raises."""
    plans: list[Plan] = []
    records = Records()
    for turn, answer in enumerate(answers):
        run = fails if answer is None else (lambda _, given=answer: given)
        procedure = Reconciler(0, 1, (Action("It", run),))
        plans.append(plan(procedure, None, records, now=turn * every, generation=1))
        records = Records(plans[-1].ledger, plans[-1].conditions)
    return plans


def late(answers: Sequence[Result | None], *, every: int = 10) -> list[int]:
    """The moments at which it counts as stalled."""
    return [turn * every for turn, made in enumerate(told(answers, every=every)) if made.stalls]


def test_two_reasons_in_turn_are_late_as_one_would_be() -> None:
    # Guard: a reason that comes back goes on.
    assert late([A, B] * 5) == [60, 70, 80, 90]


def test_a_stall_goes_on_while_reasons_take_turns_also_where_the_other_would_be_waited_for_longer() -> None:
    patient = wait("InTurn", "", deadline=3600)
    assert late([A, patient, patient] * 4) == [60, 70, 80, 90, 100, 110]


def test_a_reason_that_is_new_has_its_whole_patience() -> None:
    assert late([A] * 6 + [B] * 7) == [120]


def test_whoever_has_come_further_begins_anew() -> None:
    for progress in (done(), in_progress("Adding", "", Put("x"))):
        assert late([A] * 6 + [progress] + [A] * 7) == [130]


PREPARING = in_progress("Preparing", "", Put("x"), deadline=60)


def test_whoever_only_prepares_and_takes_back_is_late_all_the_same() -> None:
    # Guard: to prepare is not to come further.
    assert late([A, PREPARING] * 5) == [60, 70, 80, 90]
    assert late([A] * 6 + [PREPARING] + [A] * 7)[0] == 70


def test_it_makes_headway_the_first_time_and_goes_round_from_then_on() -> None:
    assert [made.made_progress for made in told([PREPARING, A] * 3)] == [
        True,
        False,
        False,
        False,
        False,
        False,
    ]
    assert [made.made_progress for made in told([in_progress("Adding", "", Put("x"))] * 3)] == [True] * 3


def test_nobody_is_late_for_what_a_person_has_stopped() -> None:
    assert late([A] * 6 + [PAUSED] * 6 + [A] * 7) == [180]


def test_a_fault_of_ours_is_not_counted_as_waiting_for_anything_else() -> None:
    assert late([A] * 6 + [None] * 6 + [A] * 7) == [180]


def test_a_fault_that_comes_and_goes_is_a_stall_all_the_same() -> None:
    """And one stall, not one every other time."""
    assert late([None, A] * 5, every=50) == [300, 350, 400, 450]


def standing(answer: Result, below: Result) -> Reconciler[None]:
    low: Action[None] = Action("Low", lambda _: below)
    return Reconciler(0, 1, (low, Action("High", lambda _: answer, (low,))))


def late_on_top(lows: list[Result]) -> list[int]:
    """When an action is late that waits for A wherever what it stands on says yes."""
    records, found = Records(), []
    for turn, low in enumerate(lows):
        made = plan(standing(A, low), None, records, now=turn * 10, generation=1)
        found += [turn * 10] if "High" in dict(made.stalls) else []
        records = Records(made.ledger, made.conditions)
    return found


def test_what_comes_and_goes_below_is_no_excuse() -> None:
    assert late_on_top([done(), B] * 5) == [60, 80]


def test_where_something_is_done_below_whoever_stands_on_it_begins_anew() -> None:
    assert late_on_top([done()] * 3 + [in_progress("Adding", "", Put("x"))] + [done()] * 7) == [100]


def test_where_a_person_stops_what_is_below_whoever_stands_on_it_begins_anew() -> None:
    assert late_on_top([done()] * 3 + [PAUSED] + [done()] * 7) == [100]


@pytest.mark.parametrize("reason", ["Error", "Denied"])
def test_where_what_is_below_is_nobodys_doing_whoever_stands_on_it_begins_anew(reason: str) -> None:
    """Neither our own faults nor what others refuse is held against whoever was waited for before."""
    low = wait(reason, "", deadline=300)
    assert late_on_top([done()] * 5 + [low] * 2 + [done()] * 7) == [130]


def test_what_is_noted_is_the_present_reason_and_since_when_each_was_given() -> None:
    ledger = told([A, B, A])[-1].ledger
    assert ledger["wait/It"] == ("NotGreen", 20, "NotReady", 10, "NotGreen", 0)
    assert waiting_for(ledger, "It", 25) == ("NotGreen", 25)
    assert waiting_without_change(ledger, "It", 25) == ("NotGreen", 5)


def test_the_same_reason_again_changes_nothing_in_the_ledger() -> None:
    first, second = told([A, B, A, A])[2:]
    assert first.ledger == second.ledger


def test_a_wait_that_an_earlier_operator_noted_goes_on() -> None:
    records = Records(Ledger.of({"wait/It": ("NotGreen", 100)}))
    made = plan(Reconciler(0, 1, (Action("It", lambda _: A),)), None, records, now=160, generation=1)
    assert made.stalls == (("It", ""),)


def test_what_nobody_of_ours_noted_is_no_wait() -> None:
    for entry in ("NotGreen", ("NotGreen",), (100, "NotGreen"), (("NotGreen", 100),), ("NotGreen", 900)):
        assert waiting_for(Ledger.of({"wait/It": entry}), "It", 160) is None
