"""Watches that fail in every way they can: they are for haste alone, and nothing depends on them."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import kopf
import pytest

from operators_at_work import CLUSTER, asked_for, edited, status
from searchkeeper.desired.names import GROUP
from searchkeeper.kubernetes.operations import Delete, Patch
from searchkeeper.manager.kopf_login import connection
from searchkeeper.manager.watches import run_watches
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes import http_server
from searchkeeper.testing.fake_kubernetes.api_server import (
    ApiRequest,
    FakeApiServer,
    Response,
    Watch,
    bookmark_line,
    expired_line,
)
from searchkeeper.testing.fake_kubernetes.watch_history import Compacted
from shells import PACE, Facing, facing, started, until

Lines = Iterator[bytes]


def closed_early(_: Watch, lines: Lines) -> Lines:
    """Every watch ends after its third line."""
    return islice(lines, 3)


def told_twice(_: Watch, lines: Lines) -> Lines:
    for line in lines:
        yield line
        yield line


def told_nothing(_: Watch, lines: Lines) -> Lines:
    """Whoever watches hears that time passes, and never what happens."""
    return (line for line in lines if b'"BOOKMARK"' in line)


def told_every_other(_: Watch, lines: Lines) -> Lines:
    events = 0
    for line in lines:
        events += b'"BOOKMARK"' not in line
        if b'"BOOKMARK"' in line or events % 2:
            yield line


def gone_again_and_again(watch: Watch, lines: Lines) -> Lines:
    """410 in the middle of a watch, each time."""
    yield from islice(lines, 2)
    yield expired_line(Compacted("too old"))
    yield bookmark_line(watch, 1)


def cut_in_the_middle_of_a_line(_: Watch, lines: Lines) -> Lines:
    yield from islice(lines, 2)
    for line in islice(lines, 1):
        yield line[: len(line) // 2]


FAULTS = (
    closed_early,
    told_twice,
    told_nothing,
    told_every_other,
    gone_again_and_again,
    cut_in_the_middle_of_a_line,
)


@contextmanager
def watched_through(fault: Any, world: FakeCluster, monkeypatch: pytest.MonkeyPatch) -> Iterator[Facing]:
    """An API server whose watches all have this fault."""
    plain = http_server._Handler._lines
    monkeypatch.setattr(http_server._Handler, "_lines", lambda self, watch: fault(watch, plain(self, watch)))
    with facing(world) as face:
        yield face


def is_at(api: FakeApiServer, version: str) -> bool:
    found = status(api.world)
    at_rest = "upgrade" not in found.get("ledger", {})
    return found.get("phase") == "Running" and found.get("engineVersion") == version and at_rest


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_an_upgrade_goes_through_whatever_becomes_of_the_watches(
    fault: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    with watched_through(fault, asked_for(), monkeypatch) as face, started(face):
        until(face.api, lambda: is_at(face.api, "2.19.4"), what="a cluster")
        with face.api.alone() as world:
            edited(world, version="3.4.0")

        until(face.api, lambda: is_at(face.api, "3.4.0"), what="3.4.0")


def test_a_cluster_that_nobody_was_told_of_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """It comes after the first list, and no watch tells of it."""
    with watched_through(told_nothing, FakeCluster(), monkeypatch) as face, started(face) as shell:
        until(face.api, lambda: shell.operator.health.is_ready)
        with face.api.alone() as world:
            world.create(asked_for().get(CLUSTER) or {})

        until(face.api, lambda: is_at(face.api, "2.19.4"), what="a cluster")


class Definitions:
    """Those of our kinds, at an API server that has them or has not."""

    def __init__(self, api: FakeApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.are_there, self.refusals = False, 0
        self._plain = api.answer
        monkeypatch.setattr(api, "answer", self._answer)

    def _answer(self, request: ApiRequest) -> Response | Watch:
        found = self._plain(request)
        if self.are_there or not request.path.startswith("/apis"):
            return found
        if request.path.strip("/") == "apis":
            assert isinstance(found, Response)
            groups = [each for each in found.body["groups"] if each["name"] != GROUP]
            return Response(200, {**found.body, "groups": groups})
        if GROUP not in request.path:
            return found
        self.refusals += 1
        return Response(404, {"message": "404 page not found"})


def test_nobody_is_ready_before_the_definitions_are_there_and_watches_begin_with_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nothing but a watch tells of the cluster: the next count comes in an hour."""
    monkeypatch.setattr("shells.PACE", replace(PACE, resync=3600))
    with facing(FakeCluster()) as face:
        definitions = Definitions(face.api, monkeypatch)
        with started(face) as shell:
            until(face.api, lambda: definitions.refusals > 3, what="a second look for them")
            assert not shell.operator.health.is_ready
            definitions.are_there = True
            until(face.api, lambda: shell.operator.health.is_ready, what="readiness")
            with face.api.alone() as world:
                world.create(asked_for().get(CLUSTER) or {})

            until(face.api, lambda: is_at(face.api, "2.19.4"), what="a cluster")


def test_definitions_that_go_and_come_back_are_watched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with facing(FakeCluster()) as face:
        definitions = Definitions(face.api, monkeypatch)
        definitions.are_there = True
        with started(face) as shell:
            until(face.api, lambda: shell.operator.health.is_ready, what="readiness")
            definitions.are_there = False
            until(face.api, lambda: not shell.operator.health.is_ready, what="an end of it")
            definitions.are_there = True
            until(face.api, lambda: shell.operator.health.is_ready, what="another beginning")


def test_the_end_of_a_cluster_that_nobody_was_told_of_ends_its_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    with watched_through(told_nothing, asked_for(), monkeypatch) as face, started(face) as shell:
        until(face.api, lambda: CLUSTER in shell.operator._loops)
        with face.api.alone() as world:
            world.patch(Patch(CLUSTER, {"metadata": {"finalizers": None}}, ""))
            world.delete(Delete(CLUSTER, "", ""))

        until(face.api, lambda: not shell.operator._loops, what="the end of the loop")


def unreadable(_: Watch, lines: Lines) -> Lines:
    yield b"no event at all\n"


def registry_of(face: Facing) -> kopf.OperatorRegistry:
    """Of somebody who watches clusters, and does nothing about them."""
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    async def login(**_: Any) -> kopf.ConnectionInfo:
        return connection(face.settings)

    @kopf.on.event(GROUP, "v1alpha1", "searchclusters", registry=registry)
    async def changed(**_: Any) -> None:
        """Nothing."""

    return registry


async def waiting_while(watching: asyncio.Task[None]) -> list[asyncio.Task[None]]:
    """Others of the process, who begin to wait for something from moment to moment."""
    begun = []
    while not watching.done():
        begun.append(asyncio.create_task(asyncio.sleep(3600)))
        await asyncio.sleep(0.01)
    return begun


def test_nobody_ends_with_the_watches_but_those_who_watch() -> None:
    async def lived(face: Facing) -> list[bool]:
        over, ready = asyncio.Event(), asyncio.Event()
        watching = asyncio.create_task(run_watches(registry_of(face), ["search"], over, ready.set))
        await ready.wait()
        over.set()
        others = await waiting_while(watching)
        await watching
        await asyncio.sleep(0)
        return [each.done() for each in others]

    with facing(asked_for()) as face:
        assert not any(asyncio.run(lived(face)))


def test_a_watch_that_has_failed_kills_nobody_later(monkeypatch: pytest.MonkeyPatch) -> None:
    """kopf takes its own end for that of the process, and gives it ten minutes."""

    async def left_behind(face: Facing) -> list[Any]:
        with pytest.raises(ValueError, match="Expecting value"):
            await run_watches(registry_of(face), ["search"], asyncio.Event(), lambda: None)
        timers = asyncio.get_running_loop()._scheduled  # type: ignore[attr-defined]
        return [each for each in timers if each._callback is signal.pthread_kill]

    with watched_through(unreadable, asked_for(), monkeypatch) as face:
        assert asyncio.run(left_behind(face)) == []
