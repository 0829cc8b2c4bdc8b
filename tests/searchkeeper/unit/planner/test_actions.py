"""Actions run once a reconcile, after their prerequisites, and do not affect each other."""

from __future__ import annotations

import itertools

import pytest

from searchkeeper.planner import Action, Result, Status, action, done, in_progress, wait
from searchkeeper.planner.actions import CyclicPrerequisites, closure, run_actions
from tests.support.searchkeeper.planner_operations import Delete, Put

Log = list[str]


def recording(name: str, result: Result, *requires: Action[Log]) -> Action[Log]:
    """Return an action that logs its name when it runs."""

    def run(log: Log) -> Result:
        log.append(name)
        return result

    return Action(name, run, requires)


WAITING = wait("NotYet", "not yet", deadline=60)


def test_action_is_named_after_its_function() -> None:
    @action()
    def pods_ready(log: Log) -> Result:
        return done()

    assert pods_ready.name == "PodsReady"


def test_shared_prerequisite_runs_once() -> None:
    shared = recording("shared", done())
    one, other = recording("one", done(), shared), recording("other", done(), shared)
    ran: Log = []
    run_actions([one, other, shared], ran)
    assert sorted(ran) == ["one", "other", "shared"]


def test_indirect_prerequisite_runs_in_every_reconcile() -> None:
    deep = recording("deep", done())
    top = recording("top", done(), recording("middle", done(), deep))
    ran: Log = []
    run_actions([top], ran)
    run_actions([top], ran)
    assert ran.count("deep") == 2


@pytest.mark.parametrize(
    "result", [WAITING, in_progress("Busy", "busy", Put("x"))], ids=["waiting", "working"]
)
def test_action_with_unmet_prerequisite_is_unknown_and_does_not_run(result: Result) -> None:
    ran: Log = []
    results = run_actions([recording("b", done(), recording("a", result))], ran)
    assert ran == ["a"]
    assert (results["b"].status, results["b"].reason) == (Status.UNKNOWN, "PrerequisiteNotMet")
    assert results["b"].message == "waits for a"


def test_unknown_propagates_to_dependent_actions() -> None:
    low = recording("low", WAITING)
    results = run_actions([recording("high", done(), recording("middle", done(), low))], [])
    assert results["high"].status is Status.UNKNOWN


def test_exception_makes_only_its_own_action_unknown() -> None:
    def breaks(log: Log) -> Result:
        raise RuntimeError("engine error")

    results = run_actions([Action("Breaks", breaks), recording("fine", done())], [])
    assert results["Breaks"].status is Status.UNKNOWN
    assert results["Breaks"].message == "RuntimeError: engine error"
    assert results["fine"].is_true


def test_order_of_declaration_has_no_effect() -> None:
    a = recording("a", done())
    b = recording("b", WAITING, a)
    c = recording("c", done(), b)
    runs = [run_actions(order, []) for order in itertools.permutations([a, b, c])]
    assert all(each == runs[0] for each in runs)


def test_closure_has_prerequisites_first() -> None:
    a = recording("a", done())
    b = recording("b", done(), a)
    assert closure([b]) == (a, b)


def test_cyclic_prerequisites_are_rejected() -> None:
    a = recording("a", done())
    b = recording("b", done(), a)
    object.__setattr__(a, "requires", (b,))
    with pytest.raises(CyclicPrerequisites, match=r"a → b → a|b → a → b"):
        closure([a])


def test_two_actions_with_one_name_are_rejected() -> None:
    with pytest.raises(ValueError, match="two actions are named a"):
        closure([recording("a", done()), recording("a", done())])


def test_result_with_operations_cannot_be_true() -> None:
    with pytest.raises(ValueError, match="with operations cannot be True"):
        Result(Status.TRUE, "Done", "", operations=(Put("x"),))


def test_wait_without_deadline_is_rejected() -> None:
    with pytest.raises(ValueError, match="a wait needs a deadline"):
        Result(Status.FALSE, "NotYet", "")


def test_second_destructive_operation_of_an_action_is_rejected() -> None:
    with pytest.raises(ValueError, match="at most one destructive operation"):
        in_progress("Deleting", "", Delete("a"), Delete("b"))
