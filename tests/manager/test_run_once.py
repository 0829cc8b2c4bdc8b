"""`run --once`: a lease that somebody left behind, engines that fail, looks that take long."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from operators_at_work import CLUSTER, asked_for, edited, settled, with_index
from searchkeeper.kubernetes.api import Conflict, Unavailable
from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.manager.fencing import ShuttingDown
from searchkeeper.manager.leader_election import LeaderLease, NotLeader
from searchkeeper.manager.run_once import ClusterOutcome, RunOnce
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.releases import newest
from searchkeeper.testing.fake_cluster import FakeCluster

Act = Callable[[], None]

KEY = LeaderLease.named("search")
_SOON = 60


def lease(world: Any, name: str, duration: float = 60) -> LeaderLease:
    return LeaderLease(world, KEY, name, duration=duration)


def holder(world: FakeCluster) -> str:
    found = world.get(KEY)
    assert found is not None
    return str(found["spec"]["holderIdentity"])


class Driver:
    """The engine of a world, with something in its way."""

    def __init__(self, world: FakeCluster, *, tell: Act | None = None, look: Act | None = None) -> None:
        self._world, self._tell = world, tell
        self.in_the_way = look

    def get_state(self) -> EngineView | Unreachable:
        if self.in_the_way is not None:
            self.in_the_way()
        return self._world.get_state()

    def execute(self, call: Call) -> None:
        if self._tell is not None:
            self._tell()
        self._world.execute(call)


def once(world: FakeCluster, driver: Driver | None = None, *, duration: float = 60) -> RunOnce:
    engine, now = driver or Driver(world), lambda: world.state.now
    return RunOnce(world, lambda _: engine, newest(), lease(world, "once", duration), clock=now)


def outcomes(this: RunOnce) -> list[ClusterOutcome]:
    told: list[ClusterOutcome] = []
    this.run(("search",), told.append)
    return told


def with_another(world: FakeCluster, name: str) -> FakeCluster:
    found = world.get(CLUSTER)
    assert found is not None
    world.create({**found, "metadata": {"name": name, "namespace": "search"}, "status": {}})
    return world


def test_a_lease_that_somebody_has_left_behind_is_waited_for() -> None:
    world = asked_for()
    assert lease(world, "killed", duration=1).keep()

    assert [each.error for each in outcomes(once(world))] == [None]
    assert holder(world) == ""


def test_one_that_somebody_has_and_keeps_is_not_waited_for_without_an_end() -> None:
    world, over = asked_for(), threading.Event()
    alive = lease(world, "alive", duration=1)
    assert alive.keep()

    def renew() -> None:
        while not over.wait(0.05):
            alive.keep()

    renewing = threading.Thread(target=renew, daemon=True)
    renewing.start()
    with pytest.raises(NotLeader, match="alive, has the lease"):
        outcomes(once(world))
    over.set()
    renewing.join()


def test_whoever_waits_for_a_lease_can_be_stopped() -> None:
    world = asked_for()
    assert lease(world, "alive").keep()
    waiting = once(world)
    waiting.stop()

    with pytest.raises(NotLeader):
        outcomes(waiting)


def test_an_engine_that_refuses_costs_one_cluster_its_turn_and_nobody_the_lease() -> None:
    world = asked_for()
    settled(world, newest().version)
    with_another(edited(world, version="3.4.0"), "shop")

    def refuse() -> None:
        raise CallFailed("500 nope")

    told = outcomes(once(world, Driver(world, tell=refuse)))

    assert [(each.cluster.name, str(each.error)) for each in told] == [("logs", "500 nope"), ("shop", "None")]
    assert holder(world) == ""


def test_what_somebody_else_has_changed_is_looked_at_again(monkeypatch: pytest.MonkeyPatch) -> None:
    world = asked_for()
    plain, conflicts = world.patch_status, iter(range(3))

    def late(patch: Patch) -> Any:
        if next(conflicts, None) is not None:
            raise Conflict("409")
        return plain(patch)

    monkeypatch.setattr(world, "patch_status", late)
    assert [each.error for each in outcomes(once(world))] == [None]


def test_who_never_stops_changing_it_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    world = asked_for()

    def late(_: Patch) -> Any:
        raise Conflict("409")

    monkeypatch.setattr(world, "patch_status", late)
    [told] = outcomes(once(world))

    assert isinstance(told.error, Conflict)
    assert holder(world) == ""


def test_the_lease_is_renewed_while_a_look_takes_long(monkeypatch: pytest.MonkeyPatch) -> None:
    """The look ends when the lease was renewed twice, which happens beside it or never."""
    world = asked_for()
    renewals: list[str] = []
    renewed = threading.Event()
    plain = world.patch

    def patch(this: Patch) -> Any:
        if this.key == KEY:
            renewals.append(str(this.changes["spec"].get("renewTime")))
            if len(renewals) > 1:
                renewed.set()
        return plain(this)

    monkeypatch.setattr(world, "patch", patch)

    def look() -> None:
        assert renewed.wait(_SOON), "nobody renews the lease"

    [told] = outcomes(once(world, Driver(world, look=look), duration=3))
    assert told.error is None


def test_a_fault_of_ours_gives_the_lease_back_too() -> None:
    world = asked_for()

    def broken() -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        outcomes(once(world, Driver(world, look=broken)))
    assert holder(world) == ""


def test_whoever_is_stopped_in_the_middle_writes_nothing_more_and_gives_the_lease_back() -> None:
    world = asked_for()
    driver = Driver(world)
    this = once(world, driver)
    driver.in_the_way = this.stop

    with pytest.raises(ShuttingDown):
        outcomes(this)
    assert holder(world) == ""
    assert Key("v1", "Service", "search", "logs") not in world.state.cluster.objects


def test_an_api_server_that_does_not_answer_is_told_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    world = asked_for()

    def silent(*_: Any) -> Any:
        raise Unavailable("no answer")

    monkeypatch.setattr(world, "list", silent)
    with pytest.raises(Unavailable):
        outcomes(once(world))
    assert holder(world) == ""


def test_an_engine_that_is_silent_keeps_no_lease_from_whoever_comes_next() -> None:
    world, looking, let_go = asked_for(), threading.Event(), threading.Event()

    def hang() -> None:
        looking.set()
        assert let_go.wait(120)

    this = once(world, Driver(world, look=hang))
    working = threading.Thread(target=lambda: suppressing(this), daemon=True)
    working.start()
    assert looking.wait(60)
    this.stop()
    this.farewell.wait()

    assert holder(world) == ""
    let_go.set()
    working.join(60)
    assert not working.is_alive()


def suppressing(this: RunOnce) -> None:
    with pytest.raises(ShuttingDown):
        outcomes(this)


def test_an_engine_that_says_something_else_with_every_look_keeps_nobody() -> None:
    world = asked_for()
    settled(world, newest().version)
    looks: list[str] = []

    class Flapping(Driver):
        def get_state(self) -> EngineView | Unreachable:
            looks.append(f"timed out after {len(looks)} ms")
            assert len(looks) < _SOON
            return Unreachable(looks[-1])

    [outcome] = outcomes(once(world, Flapping(world)))
    assert not outcome.is_done
    assert outcome.error is None


def test_an_engine_that_is_red_every_other_look_keeps_nobody() -> None:
    """Allocation would be held and let go as fast as it answers, and nobody be replaced."""
    world = asked_for()
    settled(world, newest().version)
    with_index(world)
    looks: list[Color] = []

    class Flapping(Driver):
        def get_state(self) -> EngineView | Unreachable:
            snapshot = super().get_state()
            assert isinstance(snapshot, EngineView)
            looks.append(Color.RED if len(looks) % 2 else snapshot.color)
            assert len(looks) < 2 * _SOON
            return replace(snapshot, color=looks[-1])

    [outcome] = outcomes(once(edited(world, version="3.4.0"), Flapping(world)))
    assert not outcome.is_done
    assert outcome.error is None
