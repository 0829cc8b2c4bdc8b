"""The fence around all writes: who passes, and who is still on the other side."""

from __future__ import annotations

import pytest

from searchkeeper.manager.fencing import Fence, ShuttingDown
from searchkeeper.manager.leader_election import LeaderLease, NotLeader
from searchkeeper.testing.fake_cluster import FakeCluster


def held(world: FakeCluster) -> LeaderLease:
    lease = LeaderLease(world, LeaderLease.named("search"), "one")
    assert lease.keep()
    return lease


def test_it_is_quiet_when_the_last_write_is_over() -> None:
    fence = Fence(held(FakeCluster()))

    with fence.passed():
        fence.shut()
        assert not fence.is_quiet

    assert fence.is_quiet


def test_whoever_asks_to_pass_is_counted_already(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever shuts it, and finds it quiet, has missed nobody."""
    lease = held(FakeCluster())
    fence = Fence(lease)
    quiet: list[bool] = []
    monkeypatch.setattr(lease, "confirm", lambda: quiet.append(fence.is_quiet))

    with fence.passed():
        pass

    assert quiet == [False]


def test_nobody_passes_once_it_is_shut() -> None:
    fence = Fence(held(FakeCluster()))
    fence.shut()

    with pytest.raises(ShuttingDown), fence.passed():
        pytest.fail("a write was begun")
    assert fence.is_quiet


def test_nobody_passes_without_the_lease() -> None:
    lease = held(FakeCluster())
    fence = Fence(lease)
    lease.release()

    with pytest.raises(NotLeader), fence.passed():
        pytest.fail("a write was begun")
    assert fence.is_quiet


def test_a_write_that_fails_is_over_too() -> None:
    fence = Fence(held(FakeCluster()))

    with pytest.raises(ValueError, match="no"), fence.passed():
        raise ValueError("no")
    assert fence.is_quiet
