"""One cycle, seen from outside: conditions, ledger, writes, and when to look again."""

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
from writes import Delete, Put


def says(name: str, answer: Result, *requires: Action[None]) -> Action[None]:
    return Action(name, lambda _: answer, requires)


NOTHING = Records()


def planned(*actions: Action[None], records: Records = NOTHING, now: int = 1000, generation: int = 1) -> Plan:
    return plan(Reconciler(0, 1, actions), None, records, now=now, generation=generation)


def after(made: Plan) -> Records:
    return Records(made.ledger, made.conditions)


def test_a_cycle_that_finds_nothing_to_do_has_converged_and_writes_nothing() -> None:
    made = planned(says("A", done()))
    assert (made.converged, made.operations, made.ledger) == (True, (), Ledger())


def test_a_second_such_cycle_changes_no_record() -> None:
    first = planned(says("A", done("all is well")))
    assert after(planned(says("A", done("all is well")), records=after(first), now=2000)) == after(first)


@pytest.mark.parametrize(
    "answer",
    [
        in_progress("Busy", "", Put("x")),
        wait("NotYet", "", deadline=5),
        done(ledger_changes=(LedgerChange("mine", "was here"),)),
    ],
    ids=["working", "waiting", "noting"],
)
def test_a_cycle_with_anything_left_to_do_has_not_converged(answer: Result) -> None:
    assert not planned(says("A", answer)).converged


def test_a_moment_changes_only_with_its_status() -> None:
    first = planned(says("A", in_progress("Busy", "one left", Put("x"))))
    same = planned(says("A", in_progress("Busy", "none left", Put("x"))), records=after(first), now=2000)
    other = planned(says("A", done()), records=after(same), now=3000)
    assert [p.conditions[0].last_transition for p in (first, same, other)] == [1000, 1000, 3000]


def test_conditions_speak_of_the_generation_that_was_looked_at() -> None:
    assert planned(says("A", done()), generation=7).conditions[0].observed_generation == 7


def test_only_one_action_takes_something_away_in_a_cycle() -> None:
    made = planned(
        says("B", in_progress("Deleting", "", Delete("b"))),
        says("A", in_progress("Deleting", "", Delete("a"))),
    )
    assert made.operations == (Delete("a"),)
    assert [(c.type, c.reason) for c in made.conditions] == [("A", "Deleting"), ("B", "WaitsForTurn")]


def test_whoever_waits_for_his_turn_writes_and_notes_nothing_at_all() -> None:
    rival = in_progress(
        "Deleting", "", Put("b"), Delete("b"), ledger_changes=(LedgerChange("b", "deleting"),)
    )
    made = planned(says("A", in_progress("Deleting", "", Delete("a"))), says("B", rival))
    assert made.operations == (Delete("a"),)
    assert "b" not in made.ledger


def test_what_adds_may_go_along_with_what_takes_away() -> None:
    made = planned(
        says("A", in_progress("Deleting", "", Delete("a"))), says("B", in_progress("Adding", "", Put("b")))
    )
    assert made.operations == (Delete("a"), Put("b"))


def test_a_note_is_in_the_ledger_that_is_stored_before_the_write() -> None:
    made = planned(
        says("A", in_progress("Setting", "", Put("x"), ledger_changes=(LedgerChange("allocation", "all"),)))
    )
    assert made.ledger["allocation"] == "all"


def test_a_note_may_be_struck_out() -> None:
    records = Records(Ledger.of({"allocation": "all", "other": 1}))
    made = planned(says("A", done(ledger_changes=(LedgerChange("allocation", None),))), records=records)
    assert dict(made.ledger) == {"other": 1}


def noting(name: str, *requires: Action[None]) -> Action[None]:
    return says(name, done(ledger_changes=(LedgerChange("line", name),)), *requires)


def test_of_two_actions_that_note_the_same_line_one_is_at_fault_and_says_so() -> None:
    # Guard: a line of the ledger has one author.
    made = planned(noting("A"), noting("B"), says("C", in_progress("Adding", "", Put("c"))))
    assert made.ledger["line"] == "A"
    assert made.operations == (Put("c"),)
    assert [(c.type, c.status, c.reason) for c in made.conditions] == [
        ("A", Status.TRUE, "Done"),
        ("B", Status.UNKNOWN, "Error"),
        ("C", Status.FALSE, "Adding"),
    ]
    assert made.conditions[1].message == "it notes line, which is not its own"


def test_whoever_stands_on_an_action_at_fault_waits_for_it() -> None:
    b = noting("B")
    made = planned(noting("A"), b, says("C", in_progress("Adding", "", Put("c")), b))
    assert made.operations == ()
    assert [(c.type, c.message) for c in made.conditions][2] == ("C", "waits for B")


def test_no_action_notes_a_wait_which_is_the_kernels_own() -> None:
    made = planned(says("A", in_progress("One", "", ledger_changes=(LedgerChange("wait/B", ("NotYet", 0)),))))
    assert "wait/B" not in made.ledger


def test_two_that_note_the_same_line_for_ever_stall_by_name_and_cost_nobody_else_a_cycle() -> None:
    first = planned(noting("A"), noting("B"), now=0)
    later = planned(noting("A"), noting("B"), records=after(first), now=300)
    assert [name for name, _ in later.stalls] == ["B"]


def test_a_wait_is_counted_from_its_first_cycle_and_stalls_at_its_deadline() -> None:
    slow = says("A", wait("NotGreen", "shard 3 has no copy", deadline=60))
    first = planned(slow, now=1000)
    assert (first.wake_at, first.stalls) == (1060, ())
    second = planned(slow, records=after(first), now=1059)
    assert (second.wake_at, second.stalls) == (1060, ())
    third = planned(slow, records=after(second), now=1060)
    assert (third.wake_at, third.stalls) == (None, (("A", "shard 3 has no copy"),))
    assert third.conditions[0].message == "stalled: shard 3 has no copy"


def test_a_wait_for_another_reason_begins_anew() -> None:
    first = planned(says("A", wait("NotGreen", "", deadline=60)), now=1000)
    other = planned(says("A", wait("NotReady", "", deadline=60)), records=after(first), now=1050)
    assert other.wake_at == 1110


def test_a_wait_that_ends_leaves_no_trace() -> None:
    first = planned(says("A", wait("NotGreen", "", deadline=60)))
    assert planned(says("A", done()), records=after(first)).ledger == Ledger()


def test_a_wait_whose_message_counts_down_is_still_the_same_wait() -> None:
    first = planned(says("A", wait("NotGreen", "2 left", deadline=60)), now=1000)
    second = planned(says("A", wait("NotGreen", "1 left", deadline=60)), records=after(first), now=1030)
    assert second.wake_at == 1060


def faulty(*words: str) -> Action[None]:
    """Raises in every cycle, each time with the next words."""
    left = list(words)

    def breaks(_: None) -> Result:
        raise ValueError(left.pop(0))

    return Action("Breaks", breaks)


def test_an_action_that_raises_in_every_cycle_stalls_by_its_name_and_words() -> None:
    broken = faulty("entry 1", "entry 2", "entry 3")
    first = planned(broken, says("A", done()), now=1000)
    assert (first.conditions[1].status, first.conditions[1].message) == (
        Status.UNKNOWN,
        "ValueError: entry 1",
    )
    assert (first.stalls, first.converged) == ((), False)
    assert first.wake_at is not None
    second = planned(broken, says("A", done()), records=after(first), now=first.wake_at - 1)
    assert second.stalls == ()
    third = planned(broken, says("A", done()), records=after(second), now=first.wake_at)
    assert third.stalls == (("Breaks", "ValueError: entry 3"),)
    assert third.conditions[1].message == "stalled: ValueError: entry 3"


def test_a_fault_that_passes_leaves_no_trace() -> None:
    first = planned(faulty("entry"))
    assert planned(says("Breaks", done()), records=after(first)).ledger == Ledger()


def test_a_fault_is_told_in_words_that_a_status_can_hold() -> None:
    assert len(planned(faulty("entry " * 100_000)).conditions[0].message) <= 1000


ANSWERS = st.sampled_from(
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
        actions.append(says(name, draw(ANSWERS), *requires))
    return actions


@given(graphs(), st.randoms(use_true_random=False))
def test_a_plan_does_not_depend_on_the_order_of_actions(
    actions: list[Action[None]], seed: random.Random
) -> None:
    def shuffled(given: Sequence[Action[None]]) -> Sequence[Action[None]]:
        return seed.sample(list(given), len(given))

    procedure = Reconciler(0, 1, tuple(actions))
    plain = plan(procedure, None, Records(), now=0, generation=1)
    assert plan(procedure, None, Records(), now=0, generation=1, order=shuffled) == plain


@given(graphs())
def test_a_true_action_stands_on_true_ones_and_wrote_nothing(actions: list[Action[None]]) -> None:
    made = planned(*actions)
    status = {condition.type: condition.status for condition in made.conditions}
    for action in actions:
        if status[action.name] is not Status.UNKNOWN:
            assert all(status[p.name] is Status.TRUE for p in action.requires)


@given(graphs(), st.integers(0, 100))
def test_planning_again_without_a_change_in_the_world_adds_nothing_to_the_records(
    actions: list[Action[None]], later: int
) -> None:
    first = planned(*actions, now=0)
    second = planned(*actions, records=after(first), now=later)
    assert second.ledger == first.ledger
    assert [replace(c, message="") for c in second.conditions] == [
        replace(c, message="") for c in first.conditions
    ]
