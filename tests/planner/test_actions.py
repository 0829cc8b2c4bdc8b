"""Actions answer once a cycle, in the order their prerequisites ask for, and cost each other nothing."""

from __future__ import annotations

import itertools

import pytest

from searchkeeper.planner import Action, Result, Status, action, done, in_progress, wait
from searchkeeper.planner.actions import CyclicPrerequisites, closure, run_actions
from writes import Delete, Put

World = list[str]


def recording(name: str, answer: Result, *requires: Action[World]) -> Action[World]:
    """An action that says so when it runs."""

    def run(world: World) -> Result:
        world.append(name)
        return answer

    return Action(name, run, requires)


WAITING = wait("NotYet", "not yet", deadline=60)


def test_an_action_is_called_like_its_function() -> None:
    @action()
    def pods_ready(world: World) -> Result:
        return done()

    assert pods_ready.name == "PodsReady"


def test_a_shared_prerequisite_runs_once() -> None:
    shared = recording("shared", done())
    one, other = recording("one", done(), shared), recording("other", done(), shared)
    ran: World = []
    run_actions([one, other, shared], ran)
    assert sorted(ran) == ["one", "other", "shared"]


def test_a_prerequisite_two_levels_down_is_asked_anew_in_every_cycle() -> None:
    deep = recording("deep", done())
    top = recording("top", done(), recording("middle", done(), deep))
    ran: World = []
    run_actions([top], ran)
    run_actions([top], ran)
    assert ran.count("deep") == 2


@pytest.mark.parametrize(
    "answer", [WAITING, in_progress("Busy", "busy", Put("x"))], ids=["waiting", "working"]
)
def test_an_action_whose_prerequisite_is_not_true_is_unknown_and_does_not_run(answer: Result) -> None:
    ran: World = []
    given = run_actions([recording("b", done(), recording("a", answer))], ran)
    assert ran == ["a"]
    assert (given["b"].status, given["b"].reason) == (Status.UNKNOWN, "PrerequisiteNotMet")
    assert given["b"].message == "waits for a"


def test_unknown_spreads_to_whatever_stands_on_it() -> None:
    low = recording("low", WAITING)
    given = run_actions([recording("high", done(), recording("middle", done(), low))], [])
    assert given["high"].status is Status.UNKNOWN


def test_an_exception_is_that_action_s_unknown_and_no_other_s() -> None:
    def breaks(world: World) -> Result:
        raise RuntimeError("the engine said no")

    given = run_actions([Action("Breaks", breaks), recording("fine", done())], [])
    assert given["Breaks"].status is Status.UNKNOWN
    assert given["Breaks"].message == "RuntimeError: the engine said no"
    assert given["fine"].is_true


def test_the_order_of_declaration_decides_nothing() -> None:
    a = recording("a", done())
    b = recording("b", WAITING, a)
    c = recording("c", done(), b)
    results = [run_actions(order, []) for order in itertools.permutations([a, b, c])]
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
        Result(Status.TRUE, "Done", "", operations=(Put("x"),))


def test_waiting_needs_a_deadline() -> None:
    with pytest.raises(ValueError, match="needs a deadline"):
        Result(Status.FALSE, "NotYet", "")


def test_an_action_takes_one_thing_away_at_a_time() -> None:
    with pytest.raises(ValueError, match="one thing is taken away at a time"):
        in_progress("Deleting", "", Delete("a"), Delete("b"))
