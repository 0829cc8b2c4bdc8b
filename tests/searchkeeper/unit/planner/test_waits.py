"""An action that makes no progress stalls at its deadline, whatever reasons it gives meanwhile."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from searchkeeper.planner import (
    NO_DEADLINE,
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
from tests.support.searchkeeper.planner_operations import Put

A, B = wait("NotGreen", "", deadline=60), wait("NotReady", "", deadline=60)
PAUSED = wait("UpgradePaused", "", deadline=NO_DEADLINE)


def fails(_: None) -> Result:
    raise ValueError("entry")


def plans_of(results: Sequence[Result | None], *, every: int = 10) -> list[Plan]:
    """Return the plans of an action that returns these results one after the other; it raises for None."""
    plans: list[Plan] = []
    records = Records()
    for number, result in enumerate(results):
        run = fails if result is None else (lambda _, fixed=result: fixed)
        reconciler = Reconciler(0, 1, (Action("It", run),))
        plans.append(plan(reconciler, None, records, now=number * every, generation=1))
        records = Records(plans[-1].ledger, plans[-1].conditions)
    return plans


def stalled_at(results: Sequence[Result | None], *, every: int = 10) -> list[int]:
    """Return the moments at which the action is stalled."""
    return [number * every for number, planned in enumerate(plans_of(results, every=every)) if planned.stalls]


def test_alternating_reasons_stall_as_one_reason_does() -> None:
    assert stalled_at([A, B] * 5) == [60, 70, 80, 90]


def test_action_with_alternating_reasons_stays_stalled_by_the_reason_with_the_longer_deadline() -> None:
    slow = wait("WaitingForPool", "", deadline=3600)
    assert stalled_at([A, slow, slow] * 4) == [60, 70, 80, 90, 100, 110]


def test_new_reason_has_its_whole_deadline() -> None:
    assert stalled_at([A] * 6 + [B] * 7) == [120]


def test_progress_restarts_a_wait() -> None:
    for progress in (done(), in_progress("Adding", "", Put("x"))):
        assert stalled_at([A] * 6 + [progress] + [A] * 7) == [130]


PREPARING = in_progress("Preparing", "", Put("x"), deadline=60)


def test_preparation_that_is_undone_is_no_progress() -> None:
    assert stalled_at([A, PREPARING] * 5) == [60, 70, 80, 90]
    assert stalled_at([A] * 6 + [PREPARING] + [A] * 7)[0] == 70


def test_repeated_preparation_makes_progress_only_once() -> None:
    assert [planned.made_progress for planned in plans_of([PREPARING, A] * 3)] == [
        True,
        False,
        False,
        False,
        False,
        False,
    ]
    assert [planned.made_progress for planned in plans_of([in_progress("Adding", "", Put("x"))] * 3)] == [
        True
    ] * 3


def test_wait_for_a_user_restarts_other_waits() -> None:
    assert stalled_at([A] * 6 + [PAUSED] * 6 + [A] * 7) == [180]


def test_time_of_an_error_counts_against_no_other_reason() -> None:
    assert stalled_at([A] * 6 + [None] * 6 + [A] * 7) == [180]


def test_error_that_comes_and_goes_stalls_once() -> None:
    """It stays stalled, not every other time."""
    assert stalled_at([None, A] * 5, every=50) == [300, 350, 400, 450]


def reconciler_of(result: Result, below: Result) -> Reconciler[None]:
    """Return a reconciler with an action and its prerequisite."""
    low: Action[None] = Action("Low", lambda _: below)
    return Reconciler(0, 1, (low, Action("High", lambda _: result, (low,))))


def dependent_stalled_at(below_results: list[Result]) -> list[int]:
    """Return when an action is stalled that waits for A whenever its prerequisite is True."""
    records, found = Records(), []
    for number, low in enumerate(below_results):
        planned = plan(reconciler_of(A, low), None, records, now=number * 10, generation=1)
        found += [number * 10] if "High" in dict(planned.stalls) else []
        records = Records(planned.ledger, planned.conditions)
    return found


def test_prerequisite_that_alternates_does_not_restart_a_wait() -> None:
    assert dependent_stalled_at([done(), B] * 5) == [60, 80]


def test_progress_of_a_prerequisite_restarts_a_wait() -> None:
    assert dependent_stalled_at([done()] * 3 + [in_progress("Adding", "", Put("x"))] + [done()] * 7) == [100]


def test_prerequisite_that_waits_for_a_user_restarts_a_wait() -> None:
    assert dependent_stalled_at([done()] * 3 + [PAUSED] + [done()] * 7) == [100]


@pytest.mark.parametrize("reason", ["ActionError", "OperationDenied", "Error", "Denied"])
def test_error_of_a_prerequisite_restarts_a_wait(reason: str) -> None:
    """Neither errors of the operator nor denied operations count against another reason."""
    low = wait(reason, "", deadline=300)
    assert dependent_stalled_at([done()] * 5 + [low] * 2 + [done()] * 7) == [130]


def test_ledger_has_the_current_reason_and_when_each_was_first_given() -> None:
    ledger = plans_of([A, B, A])[-1].ledger
    assert ledger["wait/It"] == ("NotGreen", 20, "NotReady", 10, "NotGreen", 0)
    assert waiting_for(ledger, "It", 25) == ("NotGreen", 25)
    assert waiting_without_change(ledger, "It", 25) == ("NotGreen", 5)


def test_same_reason_does_not_change_the_ledger() -> None:
    first, second = plans_of([A, B, A, A])[2:]
    assert first.ledger == second.ledger


def test_wait_recorded_by_an_earlier_operator_continues() -> None:
    records = Records(Ledger.of({"wait/It": ("NotGreen", 100)}))
    planned = plan(Reconciler(0, 1, (Action("It", lambda _: A),)), None, records, now=160, generation=1)
    assert planned.stalls == (("It", ""),)


def test_malformed_entry_is_no_wait() -> None:
    for entry in ("NotGreen", ("NotGreen",), (100, "NotGreen"), (("NotGreen", 100),), ("NotGreen", 900)):
        assert waiting_for(Ledger.of({"wait/It": entry}), "It", 160) is None
