"""The operator's clock, and deadlines after a gap in the observation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from searchkeeper import reconcile
from searchkeeper.manager.clock import SteadyClock
from tests.support.searchkeeper.managers import DisconnectingApi, run_manager, serve_api, wait_until
from tests.support.searchkeeper.operator_runs import new_cluster

HOUR = 3600.0


@dataclass
class Clocks:
    """A wall clock that may be set, and a monotonic clock."""

    wall: float = 1_000_000
    monotonic: float = 50

    def advance(self, seconds: float) -> None:
        self.wall += seconds
        self.monotonic += seconds


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def steady(clocks: Clocks) -> SteadyClock:
    return SteadyClock(lambda: clocks.wall, lambda: clocks.monotonic)


def test_clock_follows_the_wall_clock(clocks: Clocks, steady: SteadyClock) -> None:
    clocks.advance(10)
    assert steady() == clocks.wall
    clocks.advance(1000)
    assert steady() == clocks.wall


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_clock_does_not_jump_with_the_wall_clock(clocks: Clocks, steady: SteadyClock, jump: float) -> None:
    before = steady()
    clocks.wall += jump
    assert steady() == before
    clocks.advance(100)
    assert 90 <= steady() - before <= 110


@pytest.mark.parametrize("jump", [HOUR, -HOUR])
def test_clock_catches_up_with_the_wall_clock(clocks: Clocks, steady: SteadyClock, jump: float) -> None:
    clocks.wall += jump
    for _ in range(1000):
        clocks.advance(60)
        steady()
    assert steady() == int(clocks.wall)


def test_clock_never_runs_backwards(clocks: Clocks, steady: SteadyClock) -> None:
    readings = [steady()]
    for jump in (-HOUR, HOUR, -2 * HOUR, 5):
        clocks.wall += jump
        clocks.advance(7)
        readings.append(steady())
    assert readings == sorted(readings)


@pytest.fixture
def observations(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """The time of every reconcile, and since when its operator has observed the cluster."""
    observations: list[tuple[int, int]] = []
    plain = reconcile.reconcile

    def spy(*arguments: Any, observing_since: int, **options: Any) -> Any:
        observations.append((arguments[4], observing_since))
        return plain(*arguments, observing_since=observing_since, **options)

    monkeypatch.setattr("searchkeeper.manager.manager.reconcile", spy)
    return observations


def test_deadlines_start_again_after_a_gap_in_the_observation(
    observations: list[tuple[int, int]],
) -> None:
    """A wait may have ended during the gap."""
    with serve_api(new_cluster()) as access:
        kube = DisconnectingApi(access.kube)
        with run_manager(access, kube=kube):
            wait_until(access.api, lambda: len(observations) > 5)
            began = observations[-1][1]
            kube.operations_left = 0
            access.api.tick(200)
            kube.operations_left = None

            wait_until(access.api, lambda: observations[-1][1] > began)

        assert began + 120 < observations[-1][1] <= observations[-1][0]
