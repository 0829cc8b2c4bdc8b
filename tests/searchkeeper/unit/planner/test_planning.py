"""A plan: conditions, ledger, operations, and when the next wait stalls."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkeeper.planner import (
    Action,
    Ledger,
    LedgerChange,
    Plan,
    Reconciler,
    Records,
    Result,
    Status,
    done,
    in_progress,
    plan,
    wait,
)
from tests.support.searchkeeper.planner_operations import Delete, Put


def returning(name: str, result: Result, *requires: Action[None]) -> Action[None]:
    """Return an action with this result."""
    return Action(name, lambda _: result, requires)


EMPTY = Records()


def plan_of(*actions: Action[None], records: Records = EMPTY, now: int = 1000, generation: int = 1) -> Plan:
    return plan(Reconciler(0, 1, actions), None, records, now=now, generation=generation)


def records_of(result: Plan) -> Records:
    return Records(result.ledger, result.conditions)


def test_reconcile_without_work_has_converged_and_requests_nothing() -> None:
    result = plan_of(returning("A", done()))
    assert (result.converged, result.operations, result.ledger) == (True, (), Ledger())


def test_second_reconcile_without_work_changes_no_records() -> None:
    first = plan_of(returning("A", done("healthy")))
    assert records_of(
        plan_of(returning("A", done("healthy")), records=records_of(first), now=2000)
    ) == records_of(first)


@pytest.mark.parametrize(
    "result",
    [
        in_progress("Busy", "", Put("x")),
        wait("NotYet", "", deadline=5),
        done(ledger_changes=(LedgerChange("mine", "set"),)),
    ],
    ids=["operation", "wait", "ledger change"],
)
def test_reconcile_with_work_left_has_not_converged(result: Result) -> None:
    assert not plan_of(returning("A", result)).converged


def test_last_transition_changes_only_with_the_status() -> None:
    first = plan_of(returning("A", in_progress("Busy", "one left", Put("x"))))
    same = plan_of(
        returning("A", in_progress("Busy", "none left", Put("x"))), records=records_of(first), now=2000
    )
    other = plan_of(returning("A", done()), records=records_of(same), now=3000)
    assert [p.conditions[0].last_transition for p in (first, same, other)] == [1000, 1000, 3000]


def test_conditions_have_the_observed_generation() -> None:
    assert plan_of(returning("A", done()), generation=7).conditions[0].observed_generation == 7


def test_only_one_action_has_a_destructive_operation_in_a_reconcile() -> None:
    result = plan_of(
        returning("B", in_progress("Deleting", "", Delete("b"))),
        returning("A", in_progress("Deleting", "", Delete("a"))),
    )
    assert result.operations == (Delete("a"),)
    assert [(c.type, c.reason) for c in result.conditions] == [
        ("A", "Deleting"),
        ("B", "WaitingForOtherAction"),
    ]


def test_deferred_action_requests_and_records_nothing() -> None:
    rival = in_progress(
        "Deleting", "", Put("b"), Delete("b"), ledger_changes=(LedgerChange("b", "deleting"),)
    )
    result = plan_of(returning("A", in_progress("Deleting", "", Delete("a"))), returning("B", rival))
    assert result.operations == (Delete("a"),)
    assert "b" not in result.ledger


def test_other_operations_may_accompany_a_destructive_one() -> None:
    result = plan_of(
        returning("A", in_progress("Deleting", "", Delete("a"))),
        returning("B", in_progress("Adding", "", Put("b"))),
    )
    assert result.operations == (Delete("a"), Put("b"))


def test_ledger_of_the_plan_has_the_changes_of_its_results() -> None:
    result = plan_of(
        returning(
            "A", in_progress("Setting", "", Put("x"), ledger_changes=(LedgerChange("allocation", "all"),))
        )
    )
    assert result.ledger["allocation"] == "all"


def test_ledger_change_of_none_removes_the_entry() -> None:
    records = Records(Ledger.of({"allocation": "all", "other": 1}))
    result = plan_of(
        returning("A", done(ledger_changes=(LedgerChange("allocation", None),))), records=records
    )
    assert dict(result.ledger) == {"other": 1}


def recording(name: str, *requires: Action[None]) -> Action[None]:
    return returning(name, done(ledger_changes=(LedgerChange("line", name),)), *requires)


def test_second_author_of_a_ledger_key_gets_an_action_error() -> None:
    result = plan_of(recording("A"), recording("B"), returning("C", in_progress("Adding", "", Put("c"))))
    assert result.ledger["line"] == "A"
    assert result.operations == (Put("c"),)
    assert [(c.type, c.status, c.reason) for c in result.conditions] == [
        ("A", Status.TRUE, "Done"),
        ("B", Status.UNKNOWN, "ActionError"),
        ("C", Status.FALSE, "Adding"),
    ]
    assert result.conditions[1].message == "ledger key line belongs to another action"


def test_dependent_of_a_second_author_waits_for_it() -> None:
    b = recording("B")
    result = plan_of(recording("A"), b, returning("C", in_progress("Adding", "", Put("c")), b))
    assert result.operations == ()
    assert [(c.type, c.message) for c in result.conditions][2] == ("C", "waits for B")


@pytest.mark.parametrize("key", ["wait/B", "denied/B", "stalled"])
def test_action_cannot_write_a_planner_key(key: str) -> None:
    result = plan_of(
        returning("A", in_progress("One", "", ledger_changes=(LedgerChange(key, ("NotYet", 0)),)))
    )
    assert key not in result.ledger
    assert result.conditions[0].reason == "ActionError"


def test_second_author_of_a_ledger_key_stalls() -> None:
    first = plan_of(recording("A"), recording("B"), now=0)
    later = plan_of(recording("A"), recording("B"), records=records_of(first), now=300)
    assert [name for name, _ in later.stalls] == ["B"]


def test_wait_starts_with_its_first_reconcile_and_stalls_at_its_deadline() -> None:
    slow = returning("A", wait("NotGreen", "shard 3 has no copy", deadline=60))
    first = plan_of(slow, now=1000)
    assert (first.wake_at, first.stalls) == (1060, ())
    second = plan_of(slow, records=records_of(first), now=1059)
    assert (second.wake_at, second.stalls) == (1060, ())
    third = plan_of(slow, records=records_of(second), now=1060)
    assert (third.wake_at, third.stalls) == (None, (("A", "shard 3 has no copy"),))
    assert [(c.message, c.is_stalled) for c in third.conditions] == [("shard 3 has no copy", True)]


def test_stalled_actions_are_in_the_ledger_while_they_are_stalled() -> None:
    slow = returning("A", wait("NotGreen", "", deadline=60))
    first = plan_of(slow, returning("B", done()), now=1000)
    second = plan_of(slow, returning("B", done()), records=records_of(first), now=1060)
    third = plan_of(slow, returning("B", done()), records=records_of(second), now=2000)
    last = plan_of(returning("A", done()), returning("B", done()), records=records_of(third), now=3000)
    assert [result.ledger.get("stalled") for result in (first, second, third, last)] == [
        None,
        ("A",),
        ("A",),
        None,
    ]
    assert [c.is_stalled for result in (first, second, third, last) for c in result.conditions] == [
        *(False, False),
        *(True, False),
        *(True, False),
        *(False, False),
    ]


def test_new_reason_has_its_whole_deadline() -> None:
    first = plan_of(returning("A", wait("NotGreen", "", deadline=60)), now=1000)
    other = plan_of(returning("A", wait("NotReady", "", deadline=60)), records=records_of(first), now=1050)
    assert other.wake_at == 1110


def test_wait_that_ends_leaves_no_ledger_entry() -> None:
    first = plan_of(returning("A", wait("NotGreen", "", deadline=60)))
    assert plan_of(returning("A", done()), records=records_of(first)).ledger == Ledger()


def test_new_message_does_not_restart_a_wait() -> None:
    first = plan_of(returning("A", wait("NotGreen", "2 left", deadline=60)), now=1000)
    second = plan_of(
        returning("A", wait("NotGreen", "1 left", deadline=60)), records=records_of(first), now=1030
    )
    assert second.wake_at == 1060


def raising(*messages: str) -> Action[None]:
    """Return an action that raises the next of these messages each time it runs."""
    left = list(messages)

    def breaks(_: None) -> Result:
        raise ValueError(left.pop(0))

    return Action("Breaks", breaks)


def test_action_that_always_raises_stalls_with_its_latest_error() -> None:
    broken = raising("entry 1", "entry 2", "entry 3")
    first = plan_of(broken, returning("A", done()), now=1000)
    assert (first.conditions[1].status, first.conditions[1].message) == (
        Status.UNKNOWN,
        "ValueError: entry 1",
    )
    assert (first.stalls, first.converged) == ((), False)
    assert first.wake_at is not None
    second = plan_of(broken, returning("A", done()), records=records_of(first), now=first.wake_at - 1)
    assert second.stalls == ()
    third = plan_of(broken, returning("A", done()), records=records_of(second), now=first.wake_at)
    assert third.stalls == (("Breaks", "ValueError: entry 3"),)
    assert third.conditions[1].is_stalled


def test_error_that_ends_leaves_no_ledger_entry() -> None:
    first = plan_of(raising("entry"))
    assert plan_of(returning("Breaks", done()), records=records_of(first)).ledger == Ledger()


def test_message_of_an_error_is_truncated() -> None:
    assert len(plan_of(raising("entry " * 100_000)).conditions[0].message) <= 1000


RESULTS = st.sampled_from(
    [
        done(),
        in_progress("Adding", "", Put("x")),
        in_progress("Deleting", "", Delete("x")),
        wait("NotYet", "", deadline=30),
    ]
)


@st.composite
def graphs(draw: st.DrawFn) -> list[Action[None]]:
    actions: list[Action[None]] = []
    for name in "abcdef":
        requires = draw(st.lists(st.sampled_from(actions), unique=True, max_size=3)) if actions else []
        actions.append(returning(name, draw(RESULTS), *requires))
    return actions


@given(graphs(), st.randoms(use_true_random=False))
def test_plan_does_not_depend_on_the_order_of_actions(
    actions: list[Action[None]], seed: random.Random
) -> None:
    def shuffled(ordered: Sequence[Action[None]]) -> Sequence[Action[None]]:
        return seed.sample(list(ordered), len(ordered))

    reconciler = Reconciler(0, 1, tuple(actions))
    plain = plan(reconciler, None, Records(), now=0, generation=1)
    assert plan(reconciler, None, Records(), now=0, generation=1, order=shuffled) == plain


@given(graphs())
def test_known_action_has_only_true_prerequisites(actions: list[Action[None]]) -> None:
    result = plan_of(*actions)
    status = {condition.type: condition.status for condition in result.conditions}
    for action in actions:
        if status[action.name] is not Status.UNKNOWN:
            assert all(status[p.name] is Status.TRUE for p in action.requires)


@given(graphs(), st.integers(0, 100))
def test_second_plan_of_the_same_state_changes_no_records(actions: list[Action[None]], later: int) -> None:
    """But for the stalls, which begin at the deadlines."""
    first = plan_of(*actions, now=0)
    second = plan_of(*actions, records=records_of(first), now=later)
    assert second.ledger.with_changes({"stalled": None}) == first.ledger
    assert tuple(replace(each, is_stalled=False) for each in second.conditions) == first.conditions
