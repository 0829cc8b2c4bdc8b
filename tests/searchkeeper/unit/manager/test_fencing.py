"""The fence in front of all writes: which are admitted, and which are in progress."""

from __future__ import annotations

import pytest

from searchkeeper.manager.fencing import Fence, ShuttingDown
from searchkeeper.manager.leader_election import LeaderLease, NotLeader
from searchkeeper.testing.fake_cluster import FakeCluster


def acquire_lease(cluster: FakeCluster) -> LeaderLease:
    lease = LeaderLease(cluster, LeaderLease.lease_key("search"), "one")
    assert lease.acquire_or_renew()
    return lease


def test_fence_is_idle_after_the_last_write() -> None:
    fence = Fence(acquire_lease(FakeCluster()))

    with fence.admit_write():
        fence.close()
        assert not fence.is_idle

    assert fence.is_idle


def test_write_is_counted_before_the_lease_is_confirmed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A closed and idle fence has missed no write."""
    lease = acquire_lease(FakeCluster())
    fence = Fence(lease)
    idle: list[bool] = []
    monkeypatch.setattr(lease, "confirm", lambda: idle.append(fence.is_idle))

    with fence.admit_write():
        pass

    assert idle == [False]


def test_closed_fence_admits_no_write() -> None:
    fence = Fence(acquire_lease(FakeCluster()))
    fence.close()

    with pytest.raises(ShuttingDown), fence.admit_write():
        pytest.fail("a write was admitted")
    assert fence.is_idle


def test_no_write_is_admitted_without_the_lease() -> None:
    lease = acquire_lease(FakeCluster())
    fence = Fence(lease)
    lease.release()

    with pytest.raises(NotLeader), fence.admit_write():
        pytest.fail("a write was admitted")
    assert fence.is_idle


def test_failed_write_is_no_longer_in_progress() -> None:
    fence = Fence(acquire_lease(FakeCluster()))

    with pytest.raises(ValueError, match="no"), fence.admit_write():
        raise ValueError("no")
    assert fence.is_idle
