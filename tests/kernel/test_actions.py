"""Actions answer once a cycle, in the order their prerequisites ask for, and cost each other nothing."""

from __future__ import annotations

import itertools

import pytest

from searchkeeper.kernel import Action, Answer, Status, action, done, waiting, working
from searchkeeper.kernel.actions import CyclicPrerequisites, answers, closure
from writes import Delete, Put

World = list[str]


def recording(name: str, answer: Answer, *requires: Action[World]) -> Action[World]:
    """An action that says so when it runs."""

    def run(world: World) -> Answer:
        world.append(name)
        return answer

    return Action(name, run, requires)


WAITING = waiting("NotYet", "not yet", patience=60)


def test_an_action_is_called_like_its_function() -> None:
    @action()
    def pods_are_ready(world: World) -> Answer:
        return done()

    assert pods_are_ready.name == "PodsAreReady"


def test_a_shared_prerequisite_runs_once() -> None:
    shared = recording("shared", done())
    one, other = recording("one", done(), shared), recording("other", done(), shared)
    ran: World = []
    answers([one, other, shared], ran)
    assert sorted(ran) == ["one", "other", "shared"]


def test_a_prerequisite_two_levels_down_is_asked_anew_in_every_cycle() -> None:
    deep = recording("deep", done())
    top = recording("top", done(), recording("middle", done(), deep))
    ran: World = []
    answers([top], ran)
    answers([top], ran)
    assert ran.count("deep") == 2


@pytest.mark.parametrize("answer", [WAITING, working("Busy", "busy", Put("x"))], ids=["waiting", "working"])
def test_an_action_whose_prerequisite_is_not_true_is_unknown_and_does_not_run(answer: Answer) -> None:
    ran: World = []
    given = answers([recording("b", done(), recording("a", answer))], ran)
    assert ran == ["a"]
    assert (given["b"].status, given["b"].reason) == (Status.UNKNOWN, "PrerequisiteNotMet")
    assert given["b"].message == "waits for a"


def test_unknown_spreads_to_whatever_stands_on_it() -> None:
    low = recording("low", WAITING)
    given = answers([recording("high", done(), recording("middle", done(), low))], [])
    assert given["high"].status is Status.UNKNOWN


def test_an_exception_is_that_action_s_unknown_and_no_other_s() -> None:
    def breaks(world: World) -> Answer:
        raise RuntimeError("the engine said no")

    given = answers([Action("Breaks", breaks), recording("fine", done())], [])
    assert given["Breaks"].status is Status.UNKNOWN
    assert given["Breaks"].message == "RuntimeError: the engine said no"
    assert given["fine"].is_true


def test_the_order_of_declaration_decides_nothing() -> None:
    a = recording("a", done())
    b = recording("b", WAITING, a)
    c = recording("c", done(), b)
    results = [answers(order, []) for order in itertools.permutations([a, b, c])]
    assert all(given == results[0] for given in results)


def test_prerequisites_come_first_in_the_closure() -> None:
    a = recording("a", done())
    b = recording("b", done(), a)
    assert closure([b]) == (a, b)


def test_prerequisites_that_wait_for_each_other_are_refused() -> None:
    a = recording("a", done())
    b = recording("b", done(), a)
    object.__setattr__(a, "requires", (b,))
    with pytest.raises(CyclicPrerequisites, match=r"a → b → a|b → a → b"):
        closure([a])


def test_two_actions_of_one_name_are_refused() -> None:
    with pytest.raises(ValueError, match="two actions are called a"):
        closure([recording("a", done()), recording("a", done())])


def test_whoever_writes_is_not_done_in_the_same_cycle() -> None:
    with pytest.raises(ValueError, match="not done in the same cycle"):
        Answer(Status.TRUE, "Done", "", writes=(Put("x"),))


def test_waiting_needs_a_deadline() -> None:
    with pytest.raises(ValueError, match="needs a deadline"):
        Answer(Status.FALSE, "NotYet", "")


def test_an_action_takes_one_thing_away_at_a_time() -> None:
    with pytest.raises(ValueError, match="one thing is taken away at a time"):
        working("Deleting", "", Delete("a"), Delete("b"))
