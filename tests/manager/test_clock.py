"""The operator's own clock, and what it does with the time of others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from operators_at_work import asked_for
from searchkeeper import reconcile
from searchkeeper.manager.clock import SteadyClock
from shells import CutCable, facing, started, until

HOUR = 3600.0


@dataclass
class Clocks:
    """A wall clock that anybody may set, and one that only ever goes on."""

    wall: float = 1_000_000
    steady: float = 50

    def pass_by(self, seconds: float) -> None:
        self.wall += seconds
        self.steady += seconds


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def steady(clocks: Clocks) -> SteadyClock:
    return SteadyClock(lambda: clocks.wall, lambda: clocks.steady)


def test_it_goes_as_the_wall_clock_goes(clocks: Clocks, steady: SteadyClock) -> None:
    clocks.pass_by(10)
    assert steady() == clocks.wall
    clocks.pass_by(1000)
    assert steady() == clocks.wall


@pytest.mark.parametrize("leap", [HOUR, -HOUR])
def test_it_does_not_leap_when_the_wall_clock_does(clocks: Clocks, steady: SteadyClock, leap: float) -> None:
    before = steady()
    clocks.wall += leap
    assert steady() == before
    clocks.pass_by(100)
    assert 90 <= steady() - before <= 110


@pytest.mark.parametrize("leap", [HOUR, -HOUR])
def test_it_is_right_again_after_a_while(clocks: Clocks, steady: SteadyClock, leap: float) -> None:
    clocks.wall += leap
    for _ in range(1000):
        clocks.pass_by(60)
        steady()
    assert steady() == int(clocks.wall)


def test_it_never_goes_back(clocks: Clocks, steady: SteadyClock) -> None:
    snapshot = [steady()]
    for leap in (-HOUR, HOUR, -2 * HOUR, 5):
        clocks.wall += leap
        clocks.pass_by(7)
        snapshot.append(steady())
    assert snapshot == sorted(snapshot)


@pytest.fixture
def looked_since(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Of every cycle: its moment, and since when its operator has been looking."""
    found: list[tuple[int, int]] = []
    plain = reconcile.reconcile

    def cycle(*given: Any, observing_since: int, **options: Any) -> Any:
        found.append((given[4], observing_since))
        return plain(*given, observing_since=observing_since, **options)

    monkeypatch.setattr("searchkeeper.manager.manager.reconcile", cycle)
    return found


def test_who_could_not_see_for_a_while_begins_to_be_patient_anew(
    looked_since: list[tuple[int, int]],
) -> None:
    """Whoever was waited for before may have been back long ago."""
    with facing(asked_for()) as face:
        cable = CutCable(face.kube)
        with started(face, kube=cable):
            until(face.api, lambda: len(looked_since) > 5)
            began = looked_since[-1][1]
            cable.writes_left = 0
            face.api.tick(200)
            cable.writes_left = None

            until(face.api, lambda: looked_since[-1][1] > began)

        assert began + 120 < looked_since[-1][1] <= looked_since[-1][0]
