"""Following: only news is told, and the end comes when it is done, stuck, or late."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from clusters import NS, Kept, Time, catalog, csv, deployment, group, plan, pod, subscription, world
from everpath.errors import Unreachable
from everpath.olm.chain import Chain, chain
from everpath.olm.follow import PATIENCE, Followed, Outcome, follow, news
from everpath.olm.install import ask_again
from everpath.olm.objects import SUBSCRIPTION, Refused
from everpath.olm.snapshot import Observed, observe

PHASES = ["", "Pending", "InstallReady", "Installing", "Succeeded", "Failed", "Replacing", "Deleting"]


def never(_observed: Observed, _seen: Chain) -> Outcome | None:
    return None


def unanswered() -> Kept:
    failed = {
        "type": "ResolutionFailed",
        "status": "True",
        "reason": "ConstraintsNotSatisfiable",
        "message": "no",
    }
    return world(catalog=catalog(), group=group(), subscription=subscription("", "", failed))


def followed(
    kept: Kept, time: Time, nudge: Callable[[Observed], bool] = lambda _: False
) -> tuple[Followed, list[str]]:
    said: list[str] = []
    done = follow(lambda: observe(kept, "op", NS), never, time.clock, said.append, nudge)
    return done, said


def test_while_nothing_changes_nothing_is_said_again() -> None:
    done, said = followed(
        world(catalog=catalog(), group=group(), subscription=subscription()), Time(timeout=60)
    )
    assert done.outcome is Outcome.DEADLINE
    assert len(said) == len(set(said)) == 3


def test_what_is_final_is_given_some_time_and_no_more() -> None:
    time = Time(timeout=3600)
    done, _ = followed(unanswered(), time)
    assert (done.outcome, time.now) == (Outcome.STUCK, PATIENCE)


def test_olm_is_asked_once_more_where_it_found_no_answer() -> None:
    kept, time = unanswered(), Time(timeout=3600)
    done, _ = followed(kept, time, lambda observed: ask_again(kept, observed))
    assert kept.log == ["merge Subscription op"]
    assert (done.outcome, time.now) == (Outcome.STUCK, PATIENCE * 1.5)


def test_what_is_overtaken_is_asked_again_soon() -> None:
    kept, time = unanswered(), Time(timeout=3600)
    there = kept.find(SUBSCRIPTION, NS)[0]
    there["status"]["conditions"][0]["message"] = "@existing/ns//op.v0.9.0 exists"
    kept.put(SUBSCRIPTION, there)
    asked: list[float] = []

    def nudge(observed: Observed) -> bool:
        asked.append(time.now)
        return ask_again(kept, observed)

    followed(kept, time, nudge)
    assert asked == [3]


def test_olm_is_not_asked_again_for_other_reasons() -> None:
    kept = world(group=group(), subscription=subscription())
    followed(kept, Time(timeout=60), lambda observed: ask_again(kept, observed))
    assert kept.log == []


def test_what_moves_on_is_not_stuck() -> None:
    kept = unanswered()
    time = Time(*[lambda: None] * 15, lambda: kept.put(SUBSCRIPTION, subscription()), timeout=60)
    done, _ = followed(kept, time)
    assert (done.outcome, time.now) == (Outcome.DEADLINE, 60)


def test_a_cluster_that_is_silent_for_a_while_is_asked_again() -> None:
    kept, time, said = unanswered(), Time(timeout=60), list[str]()
    silences = iter([False, True, True, False])

    def look() -> Observed:
        if next(silences, False):
            raise Unreachable("it does not answer")
        return observe(kept, "op", NS)

    done = follow(look, never, time.clock, said.append)
    assert done.outcome is Outcome.STUCK
    assert said.count("it does not answer; asking again") == 1


@pytest.mark.parametrize("error", [Refused("no", code=403), Unreachable("nobody there")])
def test_a_cluster_that_never_answers_is_not_waited_for(error: Exception) -> None:
    def look() -> Observed:
        raise error

    time = Time(timeout=60)
    with pytest.raises(type(error)):
        follow(look, never, time.clock, lambda _: None)
    assert time.now == 0


def test_a_refusal_ends_it_at_once() -> None:
    looks = iter([observe(unanswered(), "op", NS)])

    def look() -> Observed:
        for observed in looks:
            return observed
        raise Refused("no longer", code=401)

    with pytest.raises(Refused):
        follow(look, never, Time(timeout=60).clock, lambda _: None)


NAMES = st.sampled_from(["op.v1.0.0", "op.v1.1.0"])
MAYBE = st.just("") | NAMES

#: Any state of an operator, also ones that OLM does not get into.
STATES = st.builds(
    Observed,
    st.just("op"),
    st.just(NS),
    groups=st.lists(st.sampled_from(["a", "b"]).map(group), max_size=2).map(tuple),
    catalog=st.none() | st.sampled_from(["READY", "CONNECTING", "", "TRANSIENT_FAILURE"]).map(catalog),
    subscriptions=st.lists(
        st.builds(
            subscription,
            MAYBE,
            MAYBE,
            state=st.sampled_from(["", "AtLatestKnown", "UpgradePending", "UpgradeFailed"]),
            plan=st.sampled_from(["", "install-1"]),
        ),
        max_size=2,
    ).map(tuple),
    plans=st.lists(
        st.builds(
            plan,
            st.sampled_from(["", "Installing", "RequiresApproval", "Complete", "Failed"]),
            NAMES,
            approved=st.booleans(),
        ),
        max_size=1,
    ).map(tuple),
    csvs=st.lists(st.builds(csv, NAMES, st.sampled_from(PHASES), replaces=MAYBE), max_size=2).map(tuple),
    deployments=st.lists(st.builds(deployment, st.integers(0, 2), st.integers(0, 2)), max_size=1).map(tuple),
    pods=st.lists(
        st.builds(pod, phase=st.sampled_from(["", "Pending", "Running", "Failed"])), max_size=1
    ).map(tuple),
)
CHAINS = STATES.map(chain)


@given(CHAINS)
def test_the_same_state_is_no_news(seen: Chain) -> None:
    assert list(news(seen, seen)) == []


@given(CHAINS)
def test_whoever_is_not_settled_is_told_what_for(seen: Chain) -> None:
    """Settled means that something runs, and nothing newer is known; anything else waits, in words."""
    assert seen.is_settled or seen.waits
    assert all(wait.sentence.strip() and "\n" not in wait.sentence for wait in seen.waits)


@given(CHAINS)
def test_only_what_succeeded_or_is_being_replaced_runs(seen: Chain) -> None:
    assert (seen.running == "") or seen.running.startswith("op.v")
    assert seen.running == "" or seen.running != seen.going_to
