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
def cluster() -> FakeCluster:
    return FakeCluster()


def lease(cluster: Any, clock: Clock, name: str) -> LeaderLease:
    return LeaderLease(cluster, KEY, name, duration=15, clock=clock)


def test_first_candidate_acquires_the_lease(cluster: FakeCluster, clock: Clock) -> None:
    one, two = lease(cluster, clock, "one"), lease(cluster, clock, "two")

    assert (one.acquire_or_renew(), two.acquire_or_renew()) == (True, False)
    assert (one.epoch, two.epoch) == (0, None)


def test_renewing_leader_keeps_the_lease(cluster: FakeCluster, clock: Clock) -> None:
    one, two = lease(cluster, clock, "one"), lease(cluster, clock, "two")
    for clock.now in range(0, 60, 5):
        assert (one.acquire_or_renew(), two.acquire_or_renew()) == (True, False)


def test_leader_that_does_not_renew_loses_the_lease_after_its_duration(
    cluster: FakeCluster, clock: Clock
) -> None:
    one, two = lease(cluster, clock, "one"), lease(cluster, clock, "two")
    one.acquire_or_renew()
    two.acquire_or_renew()

    clock.now = 14.9
    assert not two.acquire_or_renew()
    clock.now = 15
    assert two.acquire_or_renew()
    assert two.epoch == 1


def test_leader_that_cannot_renew_stops_before_the_lease_expires(cluster: FakeCluster, clock: Clock) -> None:
    one = lease(cluster, clock, "one")
    one.acquire_or_renew()

    clock.now = 9.9
    one.confirm()
    clock.now = 10
    with pytest.raises(NotLeader):
        one.confirm()


def test_suspended_leader_is_refused_by_the_api_server(cluster: FakeCluster, clock: Clock) -> None:
    """Its own clock stood still while another candidate acquired the Lease."""
    stopped = Clock()
    one, two = lease(cluster, stopped, "one"), lease(cluster, clock, "two")
    one.acquire_or_renew()
    two.acquire_or_renew()
    clock.now = 60
    two.acquire_or_renew()

    with pytest.raises(NotLeader, match="held by two"):
        one.confirm()
    assert one.epoch is None


def test_second_process_of_the_same_name_is_another_leader(cluster: FakeCluster, clock: Clock) -> None:
    """Its epoch differs."""
    one, same = lease(cluster, clock, "one"), lease(cluster, clock, "one")
    one.acquire_or_renew()
    same.acquire_or_renew()

    with pytest.raises(NotLeader):
        one.confirm()
    same.confirm()


def test_recreated_lease_belongs_to_its_new_holder(cluster: FakeCluster, clock: Clock) -> None:
    """Its epochs start at 0 again."""
    one, two = lease(cluster, clock, "one"), lease(cluster, clock, "two")
    one.acquire_or_renew()
    cluster.delete(Delete(KEY, "", ""))
    assert two.acquire_or_renew()
    assert one.epoch == two.epoch

    with pytest.raises(NotLeader, match="held by two"):
        one.confirm()


def test_renewal_keeps_the_epoch(cluster: FakeCluster, clock: Clock) -> None:
    one = lease(cluster, clock, "one")
    one.acquire_or_renew()
    clock.now = 5
    one.acquire_or_renew()

    assert one.epoch == 0


def test_candidate_waits_for_the_duration_in_the_lease(cluster: FakeCluster, clock: Clock) -> None:
    """Operators of two releases may use different durations."""
    LeaderLease(cluster, KEY, "patient", duration=60, clock=clock).acquire_or_renew()
    other = lease(cluster, clock, "other")
    other.acquire_or_renew()

    clock.now = 59
    assert not other.acquire_or_renew()
    clock.now = 60
    assert other.acquire_or_renew()


def test_released_lease_is_free_at_once(cluster: FakeCluster, clock: Clock) -> None:
    one, two = lease(cluster, clock, "one"), lease(cluster, clock, "two")
    one.acquire_or_renew()
    two.acquire_or_renew()
    one.release()

    assert not one.is_leader
    assert two.acquire_or_renew()


def test_candidate_does_not_acquire_a_lease_after_releasing_it(cluster: FakeCluster, clock: Clock) -> None:
    """A renewal may have waited for the release."""
    one, two = lease(cluster, clock, "one"), lease(cluster, clock, "two")
    one.acquire_or_renew()
    one.release()

    assert not one.acquire_or_renew()
    assert two.acquire_or_renew()


def test_former_leader_does_not_release_the_lease(cluster: FakeCluster, clock: Clock) -> None:
    one, two = lease(cluster, clock, "one"), lease(cluster, clock, "two")
    one.acquire_or_renew()
    two.acquire_or_renew()
    clock.now = 15
    two.acquire_or_renew()
    one.release()

    manifest = cluster.get(KEY)
    assert manifest is not None
    assert manifest["spec"]["holderIdentity"] == "two"


def test_only_one_of_two_simultaneous_candidates_acquires_the_lease(
    cluster: FakeCluster, clock: Clock
) -> None:
    one, two = lease(cluster, clock, "one"), lease(cluster, clock, "two")
    one.acquire_or_renew()
    two.acquire_or_renew()
    clock.now = 30
    stale = cluster.get(KEY)

    class StaleApi:
        """Reads the Lease as it was before another candidate acquired it."""

        def __getattr__(self, name: str) -> Any:
            return (lambda _: stale) if name == "get" else getattr(cluster, name)

    third = lease(StaleApi(), clock, "three")
    third.acquire_or_renew()
    clock.now = 60
    assert two.acquire_or_renew()
    assert not third.acquire_or_renew()


def test_lease_expires_when_it_cannot_be_renewed(
    cluster: FakeCluster, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = lease(cluster, clock, "one")
    one.acquire_or_renew()

    def fail(_: Any) -> Any:
        raise Unavailable("no response")

    monkeypatch.setattr(cluster, "get", fail)
    clock.now = 5
    with pytest.raises(Unavailable):
        one.acquire_or_renew()
    assert one.is_leader
    clock.now = 10
    assert not one.is_leader


def delay_reads(cluster: FakeCluster, clock: Clock, monkeypatch: pytest.MonkeyPatch, until: float) -> None:
    """Every read of the API server ends at this time."""
    plain = cluster.get

    def get(key: Key) -> Any:
        manifest = plain(key)
        clock.now = until
        return manifest

    monkeypatch.setattr(cluster, "get", get)


def test_slow_read_of_the_lease_confirms_nothing(
    cluster: FakeCluster, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The write would be sent after the Lease has expired."""
    one = lease(cluster, clock, "one")
    one.acquire_or_renew()
    delay_reads(cluster, clock, monkeypatch, until=10)

    with pytest.raises(NotLeader, match="has expired"):
        one.confirm()


def test_slow_renewal_counts_from_its_request(
    cluster: FakeCluster, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Other candidates may see the renewal before its response arrives."""
    one = lease(cluster, clock, "one")
    one.acquire_or_renew()
    delay_reads(cluster, clock, monkeypatch, until=8)

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


def standby_fence(cluster: FakeCluster) -> Fence:
    """The fence of a candidate without the Lease."""
    return Fence(lease(cluster, Clock(), "one"))


@pytest.mark.parametrize("write", WRITES)
def test_write_needs_the_lease(cluster: FakeCluster, write: str) -> None:
    cluster.create(MAP)
    before = cluster.state

    with pytest.raises(NotLeader):
        WRITES[write](FencedApi(cluster, standby_fence(cluster)))
    assert cluster.state is before


def test_reads_need_no_lease(cluster: FakeCluster) -> None:
    cluster.create(MAP)

    assert FencedApi(cluster, standby_fence(cluster)).get(Key.of(MAP)) is not None
    assert FencedApi(cluster, standby_fence(cluster)).list("v1", "ConfigMap", "search", {})
    assert FencedEngine(cluster, standby_fence(cluster)).get_state() is not None


def test_engine_call_needs_the_lease(cluster: FakeCluster) -> None:
    with pytest.raises(CallFailed, match="the lease has expired"):
        FencedEngine(cluster, standby_fence(cluster)).execute(Flush())
