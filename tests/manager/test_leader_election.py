"""Leader election: one leader at a time, and none with an expired Lease."""

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

KEY = LeaderLease.lease_key("search")


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


def test_first_candidate_acquires_the_lease(world: FakeCluster, clock: Clock) -> None:
    one, two = lease(world, clock, "one"), lease(world, clock, "two")

    assert (one.acquire_or_renew(), two.acquire_or_renew()) == (True, False)
    assert (one.epoch, two.epoch) == (0, None)


def test_renewing_leader_keeps_the_lease(world: FakeCluster, clock: Clock) -> None:
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    for clock.now in range(0, 60, 5):
        assert (one.acquire_or_renew(), two.acquire_or_renew()) == (True, False)


def test_leader_that_does_not_renew_loses_the_lease_after_its_duration(
    world: FakeCluster, clock: Clock
) -> None:
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    one.acquire_or_renew()
    two.acquire_or_renew()

    clock.now = 14.9
    assert not two.acquire_or_renew()
    clock.now = 15
    assert two.acquire_or_renew()
    assert two.epoch == 1


def test_leader_that_cannot_renew_stops_before_the_lease_expires(world: FakeCluster, clock: Clock) -> None:
    one = lease(world, clock, "one")
    one.acquire_or_renew()

    clock.now = 9.9
    one.confirm()
    clock.now = 10
    with pytest.raises(NotLeader):
        one.confirm()


def test_suspended_leader_is_refused_by_the_api_server(world: FakeCluster, clock: Clock) -> None:
    """Its own clock stood still while another candidate acquired the Lease."""
    stopped = Clock()
    one, two = lease(world, stopped, "one"), lease(world, clock, "two")
    one.acquire_or_renew()
    two.acquire_or_renew()
    clock.now = 60
    two.acquire_or_renew()

    with pytest.raises(NotLeader, match="held by two"):
        one.confirm()
    assert one.epoch is None


def test_second_process_of_the_same_name_is_another_leader(world: FakeCluster, clock: Clock) -> None:
    """Its epoch differs."""
    one, same = lease(world, clock, "one"), lease(world, clock, "one")
    one.acquire_or_renew()
    same.acquire_or_renew()

    with pytest.raises(NotLeader):
        one.confirm()
    same.confirm()


def test_recreated_lease_belongs_to_its_new_holder(world: FakeCluster, clock: Clock) -> None:
    """Its epochs start at 0 again."""
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    one.acquire_or_renew()
    world.delete(Delete(KEY, "", ""))
    assert two.acquire_or_renew()
    assert one.epoch == two.epoch

    with pytest.raises(NotLeader, match="held by two"):
        one.confirm()


def test_renewal_keeps_the_epoch(world: FakeCluster, clock: Clock) -> None:
    one = lease(world, clock, "one")
    one.acquire_or_renew()
    clock.now = 5
    one.acquire_or_renew()

    assert one.epoch == 0


def test_candidate_waits_for_the_duration_in_the_lease(world: FakeCluster, clock: Clock) -> None:
    """Operators of two releases may use different durations."""
    LeaderLease(world, KEY, "patient", duration=60, clock=clock).acquire_or_renew()
    other = lease(world, clock, "other")
    other.acquire_or_renew()

    clock.now = 59
    assert not other.acquire_or_renew()
    clock.now = 60
    assert other.acquire_or_renew()


def test_released_lease_is_free_at_once(world: FakeCluster, clock: Clock) -> None:
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    one.acquire_or_renew()
    two.acquire_or_renew()
    one.release()

    assert not one.is_leader
    assert two.acquire_or_renew()


def test_candidate_does_not_acquire_a_lease_after_releasing_it(world: FakeCluster, clock: Clock) -> None:
    """A renewal may have waited for the release."""
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    one.acquire_or_renew()
    one.release()

    assert not one.acquire_or_renew()
    assert two.acquire_or_renew()


def test_former_leader_does_not_release_the_lease(world: FakeCluster, clock: Clock) -> None:
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    one.acquire_or_renew()
    two.acquire_or_renew()
    clock.now = 15
    two.acquire_or_renew()
    one.release()

    manifest = world.get(KEY)
    assert manifest is not None
    assert manifest["spec"]["holderIdentity"] == "two"


def test_only_one_of_two_simultaneous_candidates_acquires_the_lease(world: FakeCluster, clock: Clock) -> None:
    one, two = lease(world, clock, "one"), lease(world, clock, "two")
    one.acquire_or_renew()
    two.acquire_or_renew()
    clock.now = 30
    stale = world.get(KEY)

    class StaleApi:
        """Reads the Lease as it was before another candidate acquired it."""

        def __getattr__(self, name: str) -> Any:
            return (lambda _: stale) if name == "get" else getattr(world, name)

    third = lease(StaleApi(), clock, "three")
    third.acquire_or_renew()
    clock.now = 60
    assert two.acquire_or_renew()
    assert not third.acquire_or_renew()


def test_lease_expires_when_it_cannot_be_renewed(
    world: FakeCluster, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = lease(world, clock, "one")
    one.acquire_or_renew()

    def fail(_: Any) -> Any:
        raise Unavailable("no response")

    monkeypatch.setattr(world, "get", fail)
    clock.now = 5
    with pytest.raises(Unavailable):
        one.acquire_or_renew()
    assert one.is_leader
    clock.now = 10
    assert not one.is_leader


def delay_reads(world: FakeCluster, clock: Clock, monkeypatch: pytest.MonkeyPatch, until: float) -> None:
    """Every read of the API server ends at this time."""
    plain = world.get

    def get(key: Key) -> Any:
        manifest = plain(key)
        clock.now = until
        return manifest

    monkeypatch.setattr(world, "get", get)


def test_slow_read_of_the_lease_confirms_nothing(
    world: FakeCluster, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write would be sent after the Lease has expired."""
    one = lease(world, clock, "one")
    one.acquire_or_renew()
    delay_reads(world, clock, monkeypatch, until=10)

    with pytest.raises(NotLeader, match="has expired"):
        one.confirm()


def test_slow_renewal_counts_from_its_request(
    world: FakeCluster, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other candidates may see the renewal before its response arrives."""
    one = lease(world, clock, "one")
    one.acquire_or_renew()
    delay_reads(world, clock, monkeypatch, until=8)

    assert one.acquire_or_renew()
    clock.now = 10
    assert not one.is_leader


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


def standby_fence(world: FakeCluster) -> Fence:
    """The fence of a candidate without the Lease."""
    return Fence(lease(world, Clock(), "one"))


@pytest.mark.parametrize("write", WRITES)
def test_write_needs_the_lease(world: FakeCluster, write: str) -> None:
    world.create(MAP)
    before = world.state

    with pytest.raises(NotLeader):
        WRITES[write](FencedApi(world, standby_fence(world)))
    assert world.state is before


def test_reads_need_no_lease(world: FakeCluster) -> None:
    world.create(MAP)

    assert FencedApi(world, standby_fence(world)).get(Key.of(MAP)) is not None
    assert FencedApi(world, standby_fence(world)).list("v1", "ConfigMap", "search", {})
    assert FencedEngine(world, standby_fence(world)).get_state() is not None


def test_engine_call_needs_the_lease(world: FakeCluster) -> None:
    with pytest.raises(CallFailed, match="the lease has expired"):
        FencedEngine(world, standby_fence(world)).execute(Flush())
