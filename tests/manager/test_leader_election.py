"""Who may write: one at a time, and nobody whose time has run out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from searchkeeper.kubernetes.api import Unavailable
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Patch
from searchkeeper.manager.fencing import Fence, FencedApi, FencedEngine
from searchkeeper.manager.leader_election import LeaderLease, NotLeader
from searchkeeper.opensearch.calls import Flush
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.testing.fake_cluster import FakeCluster

KEY = LeaderLease.named("search")


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def world() -> FakeCluster:
    return FakeCluster()


def lease(world: Any, clock: Clock, name: str) -> LeaderLease:
    return LeaderLease(world, KEY, name, duration=15, clock=clock)


def test_the_first_to_ask_has_it(world: FakeCluster, clock: Clock) -> None:
    one, two = lease(world, clock, "one"), lease(world, clock, "two")

    assert (one.keep(), two.keep()) == (True, False)
    assert (one.epoch, two.epoch) == (0, None)


def test_whoever_renews_keeps_it(world: FakeCluster, clock: Clock) -> None:
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    for clock.now in range(0, 60, 5):
        assert (one.keep(), two.keep()) == (True, False)


def test_the_silent_lose_it_after_its_duration_and_not_before(world: FakeCluster, clock: Clock) -> None:
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    one.keep()
    two.keep()

    clock.now = 14.9
    assert not two.keep()
    clock.now = 15
    assert two.keep()
    assert two.epoch == 1


def test_the_silent_stop_before_anybody_else_may_begin(world: FakeCluster, clock: Clock) -> None:
    one = lease(world, clock, "one")
    one.keep()

    clock.now = 9.9
    one.confirm()
    clock.now = 10
    with pytest.raises(NotLeader):
        one.confirm()


def test_a_clock_that_stood_still_does_not_help(world: FakeCluster, clock: Clock) -> None:
    """Asleep for a minute by everybody's clock but its own: the API server knows better."""
    asleep = Clock()
    one, two = lease(world, asleep, "one"), lease(world, clock, "two")
    one.keep()
    two.keep()
    clock.now = 60
    two.keep()

    with pytest.raises(NotLeader, match="two has the lease"):
        one.confirm()
    assert one.epoch is None


def test_a_lease_that_was_lost_and_taken_by_the_same_name_is_another(
    world: FakeCluster, clock: Clock
) -> None:
    """A second process that calls itself the same."""
    one, same = lease(world, clock, "one"), lease(world, clock, "one")
    one.keep()
    same.keep()

    with pytest.raises(NotLeader):
        one.confirm()
    same.confirm()


def test_a_lease_that_was_deleted_and_made_anew_is_another(world: FakeCluster, clock: Clock) -> None:
    """By whoever was next: its epochs begin anew, too."""
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    one.keep()
    world.delete(Delete(KEY, "", ""))
    assert two.keep()
    assert one.epoch == two.epoch

    with pytest.raises(NotLeader, match="two has the lease"):
        one.confirm()


def test_whoever_renews_it_is_in_the_same_epoch(world: FakeCluster, clock: Clock) -> None:
    one = lease(world, clock, "one")
    one.keep()
    clock.now = 5
    one.keep()

    assert one.epoch == 0


def test_whoever_may_be_silent_for_longer_is_waited_for_as_long(world: FakeCluster, clock: Clock) -> None:
    """By its own word: operators of two releases need not agree."""
    LeaderLease(world, KEY, "patient", duration=60, clock=clock).keep()
    other = lease(world, clock, "other")
    other.keep()

    clock.now = 59
    assert not other.keep()
    clock.now = 60
    assert other.keep()


def test_given_back_it_is_free_at_once(world: FakeCluster, clock: Clock) -> None:
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    one.keep()
    two.keep()
    one.release()

    assert not one.is_ours
    assert two.keep()


def test_whoever_has_given_it_back_does_not_take_it_again(world: FakeCluster, clock: Clock) -> None:
    """A renewal may have been on its way already."""
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    one.keep()
    one.release()

    assert not one.keep()
    assert two.keep()


def test_whoever_has_lost_it_gives_nothing_back(world: FakeCluster, clock: Clock) -> None:
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    one.keep()
    two.keep()
    clock.now = 15
    two.keep()
    one.release()

    found = world.get(KEY)
    assert found is not None
    assert found["spec"]["holderIdentity"] == "two"


def test_two_who_reach_for_it_together_do_not_both_get_it(world: FakeCluster, clock: Clock) -> None:
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    one.keep()
    two.keep()
    clock.now = 30
    found = world.get(KEY)

    class Late:
        """Sees what was there before the other one took it."""

        def __getattr__(self, name: str) -> Any:
            return (lambda _: found) if name == "get" else getattr(world, name)

    third = lease(Late(), clock, "three")
    third.keep()
    clock.now = 60
    assert two.keep()
    assert not third.keep()


def test_without_an_answer_it_runs_out(
    world: FakeCluster, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = lease(world, clock, "one")
    one.keep()

    def silent(_: Any) -> Any:
        raise Unavailable("no answer")

    monkeypatch.setattr(world, "get", silent)
    clock.now = 5
    with pytest.raises(Unavailable):
        one.keep()
    assert one.is_ours
    clock.now = 10
    assert not one.is_ours


def slowly(world: FakeCluster, clock: Clock, monkeypatch: pytest.MonkeyPatch, until: float) -> None:
    """It is so late when the API server has answered."""
    plain = world.get

    def get(key: Key) -> Any:
        found = plain(key)
        clock.now = until
        return found

    monkeypatch.setattr(world, "get", get)


def test_a_look_that_takes_too_long_confirms_nothing(
    world: FakeCluster, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The answer is what was so when it was given, and the write would come after it."""
    one = lease(world, clock, "one")
    one.keep()
    slowly(world, clock, monkeypatch, until=10)

    with pytest.raises(NotLeader, match="has run out"):
        one.confirm()


def test_a_renewal_that_takes_long_is_one_of_the_moment_when_it_was_asked_for(
    world: FakeCluster, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Others count from the moment when they see it, which may be before the answer is here."""
    one = lease(world, clock, "one")
    one.keep()
    slowly(world, clock, monkeypatch, until=8)

    assert one.keep()
    clock.now = 10
    assert not one.is_ours


MAP: dict[str, Any] = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "a", "namespace": "search"},
}
WRITES: dict[str, Callable[[Any], Any]] = {
    "create": lambda kube: kube.create({**MAP, "metadata": {"name": "b", "namespace": "search"}}),
    "patch": lambda kube: kube.patch(Patch(Key.of(MAP), {}, "")),
    "patch_status": lambda kube: kube.patch_status(Patch(Key.of(MAP), {}, "")),
    "delete": lambda kube: kube.delete(Delete(Key.of(MAP), "", "")),
    "record": lambda kube: kube.record(EmitEvent(Key.of(MAP), "Reason", "message")),
}


def shut_out(world: FakeCluster) -> Fence:
    """The fence of somebody who has never had the lease."""
    return Fence(lease(world, Clock(), "one"))


@pytest.mark.parametrize("write", WRITES)
def test_every_write_is_fenced(world: FakeCluster, write: str) -> None:
    world.create(MAP)
    before = world.state

    with pytest.raises(NotLeader):
        WRITES[write](FencedApi(world, shut_out(world)))
    assert world.state is before


def test_reading_is_not_fenced(world: FakeCluster) -> None:
    world.create(MAP)

    assert FencedApi(world, shut_out(world)).get(Key.of(MAP)) is not None
    assert FencedApi(world, shut_out(world)).list("v1", "ConfigMap", "search", {})
    assert FencedEngine(world, shut_out(world)).get_state() is not None


def test_the_engine_is_fenced_too(world: FakeCluster) -> None:
    with pytest.raises(CallFailed, match="the lease has run out"):
        FencedEngine(world, shut_out(world)).execute(Flush())
