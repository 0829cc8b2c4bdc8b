"""Watches that fail in many ways: they only make reconciles sooner, and nothing depends on them."""

from __future__ import annotations

import asyncio
import gc
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice
from typing import Any

import aiohttp
import kopf
import pytest

from managers import INTERVALS, ApiServerAccess, run_manager, serve_api, wait_until
from operators_at_work import CLUSTER, asked_for, edited, status
from searchkeeper.desired.names import GROUP
from searchkeeper.images import engine_image
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.manager.kopf_login import connection_info
from searchkeeper.manager.watches import WatchHandlers, run_watches
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

Lines = Iterator[bytes]


def closed_early(_: Watch, lines: Lines) -> Lines:
    """End every watch after its third line."""
    return islice(lines, 3)


def sent_twice(_: Watch, lines: Lines) -> Lines:
    for line in lines:
        yield line
        yield line


def only_bookmarks(_: Watch, lines: Lines) -> Lines:
    return (line for line in lines if b'"BOOKMARK"' in line)


def every_other_event(_: Watch, lines: Lines) -> Lines:
    events = 0
    for line in lines:
        events += b'"BOOKMARK"' not in line
        if b'"BOOKMARK"' in line or events % 2:
            yield line


def expired_repeatedly(watch: Watch, lines: Lines) -> Lines:
    """Send 410 in the middle of every watch."""
    yield from islice(lines, 2)
    yield expired_line(Compacted("too old"))
    yield bookmark_line(watch, 1)


def cut_in_the_middle_of_a_line(_: Watch, lines: Lines) -> Lines:
    yield from islice(lines, 2)
    for line in islice(lines, 1):
        yield line[: len(line) // 2]


FAULTS = (
    closed_early,
    sent_twice,
    only_bookmarks,
    every_other_event,
    expired_repeatedly,
    cut_in_the_middle_of_a_line,
)


@contextmanager
def serve_api_with_watch_fault(
    fault: Any, world: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ApiServerAccess]:
    """A fake API server whose watches all have this fault."""
    plain = http_server._Handler._lines
    monkeypatch.setattr(http_server._Handler, "_lines", lambda self, watch: fault(watch, plain(self, watch)))
    with serve_api(world) as access:
        yield access


def is_at(api: FakeApiServer, version: str) -> bool:
    cluster = status(api.world)
    is_upgrading = "upgrade" in cluster.get("ledger", {})
    return (cluster.get("phase"), cluster.get("engineVersion")) == ("Running", version) and not is_upgrading


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_upgrade_completes_despite_faulty_watches(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_api_with_watch_fault(fault, asked_for(), monkeypatch) as access, run_manager(access):
        wait_until(access.api, lambda: is_at(access.api, "2.19.4"), what="a running cluster")
        with access.api.alone() as world:
            edited(world, version="3.4.0")

        wait_until(access.api, lambda: is_at(access.api, "3.4.0"), what="3.4.0")


def test_cluster_without_an_event_is_found_by_the_resync(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is created after the first list, and no watch reports it."""
    with (
        serve_api_with_watch_fault(only_bookmarks, FakeCluster(), monkeypatch) as access,
        run_manager(access) as running,
    ):
        wait_until(access.api, lambda: running.manager.health.is_ready)
        with access.api.alone() as world:
            world.create(asked_for().get(CLUSTER) or {})

        wait_until(access.api, lambda: is_at(access.api, "2.19.4"), what="a running cluster")


def test_deleted_cluster_without_an_event_ends_its_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        serve_api_with_watch_fault(only_bookmarks, asked_for(), monkeypatch) as access,
        run_manager(access) as running,
    ):
        wait_until(access.api, lambda: CLUSTER in running.manager._loops)
        with access.api.alone() as world:
            world.patch(Patch(CLUSTER, {"metadata": {"finalizers": None}}, ""))
            world.delete(Delete(CLUSTER, "", ""))

        wait_until(access.api, lambda: not running.manager._loops, what="the end of the loop")


class OptionalCrds:
    """The operator's CRDs on an API server that serves them or not."""

    def __init__(self, api: FakeApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.are_served, self.refusals = False, 0
        self._plain = api.answer
        monkeypatch.setattr(api, "answer", self._respond)

    def _respond(self, request: ApiRequest) -> Response | Watch:
        response = self._plain(request)
        if self.are_served or not request.path.startswith("/apis"):
            return response
        if request.path.strip("/") == "apis":
            assert isinstance(response, Response)
            groups = [group for group in response.body["groups"] if group["name"] != GROUP]
            return Response(200, {**response.body, "groups": groups})
        if GROUP not in request.path:
            return response
        self.refusals += 1
        return Response(404, {"message": "404 page not found"})


def test_operator_is_ready_and_watches_once_the_crds_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a watch can report the cluster: the next resync is in an hour."""
    monkeypatch.setattr("managers.INTERVALS", replace(INTERVALS, resync=3600))
    with serve_api(FakeCluster()) as access:
        crds = OptionalCrds(access.api, monkeypatch)
        with run_manager(access) as running:
            wait_until(access.api, lambda: crds.refusals > 3, what="a second check")
            assert not running.manager.health.is_ready
            crds.are_served = True
            wait_until(access.api, lambda: running.manager.health.is_ready, what="readiness")
            with access.api.alone() as world:
                world.create(asked_for().get(CLUSTER) or {})

            wait_until(access.api, lambda: is_at(access.api, "2.19.4"), what="a running cluster")


def test_crds_that_are_removed_and_installed_again_are_watched_again(monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_api(FakeCluster()) as access:
        crds = OptionalCrds(access.api, monkeypatch)
        crds.are_served = True
        with run_manager(access) as running:
            wait_until(access.api, lambda: running.manager.health.is_ready, what="readiness")
            crds.are_served = False
            wait_until(access.api, lambda: not running.manager.health.is_ready, what="its end")
            crds.are_served = True
            wait_until(access.api, lambda: running.manager.health.is_ready, what="readiness again")


class WatchThread:
    """kopf's watches in a thread, with the events that they report."""

    def __init__(self, access: ApiServerAccess) -> None:
        self.stop, self.ready = threading.Event(), threading.Event()
        self.clusters: list[tuple[Key, bool]] = []
        self.children: list[Key] = []
        self.errors: list[Exception] = []

        async def login() -> kopf.ConnectionInfo:
            return connection_info(access.configuration)

        self._handlers = WatchHandlers(
            login,
            lambda key, _, is_deleted: self.clusters.append((key, is_deleted)),
            lambda key, _: self.children.append(key),
        )
        self.thread = threading.Thread(target=self._run, daemon=True)

    def _run(self) -> None:
        try:
            run_watches(self._handlers, ["search"], self.stop, self.ready)
        except Exception as error:  # noqa: BLE001 - the test inspects it
            self.errors.append(error)

    def __enter__(self) -> WatchThread:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        self.thread.join(60)
        assert not self.thread.is_alive(), "kopf does not end"


def test_events_of_clusters_and_their_objects_are_reported() -> None:
    with serve_api(asked_for()) as access, WatchThread(access) as watches:
        wait_until(access.api, lambda: watches.clusters != [], what="an event")
        labels = {"app.kubernetes.io/instance": "logs"}
        for kind in ("Pod", "Secret"):
            metadata = {"name": "logs-data-0", "namespace": "search", "labels": labels}
            spec = {"containers": [{"name": "opensearch", "image": engine_image("2.19.4")}]}
            manifest = {"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec}
            with access.api.alone() as world:
                world.create(manifest)
        wait_until(access.api, lambda: watches.children != [], what="an event of a pod")
        with access.api.alone() as world:
            world.delete(Delete(CLUSTER, "", ""))
        wait_until(access.api, lambda: (CLUSTER, True) in watches.clusters, what="a deletion")

    assert watches.clusters[0] == (CLUSTER, False)
    assert set(watches.children) == {CLUSTER}
    assert watches.errors == []


@pytest.mark.parametrize("moment", [0, 0.05, 0.2, 1])
def test_stopped_watches_leave_no_client_session_open(moment: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """kopf ends itself: it closes its sessions only if none of its tasks is cancelled from outside."""
    sessions: list[aiohttp.ClientSession] = []
    plain = aiohttp.ClientSession.__init__

    def remember(self: aiohttp.ClientSession, *arguments: Any, **options: Any) -> None:
        sessions.append(self)
        plain(self, *arguments, **options)

    monkeypatch.setattr(aiohttp.ClientSession, "__init__", remember)
    with serve_api(asked_for()) as access, WatchThread(access):
        time.sleep(moment)
    gc.collect()

    assert [session for session in sessions if not session.closed] == []


def test_tasks_of_the_manager_do_not_end_with_the_watches() -> None:
    """kopf cancels every task of its event loop that started after it."""

    async def run(access: ApiServerAccess) -> list[bool]:
        with WatchThread(access) as watches:
            while not watches.ready.is_set():
                await asyncio.sleep(0.01)
            watches.stop.set()
            tasks = []
            while watches.thread.is_alive():
                tasks.append(asyncio.create_task(asyncio.sleep(3600)))
                await asyncio.sleep(0.01)
        await asyncio.sleep(0)
        return [task.done() for task in tasks]

    with serve_api(asked_for()) as access:
        done = asyncio.run(run(access))
    assert done
    assert not any(done)


def invalid_json(_: Watch, lines: Lines) -> Lines:
    yield b"no event at all\n"


def test_failed_watch_does_not_schedule_a_kill_of_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """kopf sends SIGKILL ten minutes after its end, unless it is told otherwise."""
    scheduled: list[Any] = []
    plain = asyncio.BaseEventLoop.call_later

    def remember(self: Any, delay: float, callback: Any, *arguments: Any, **options: Any) -> Any:
        scheduled.append(callback)
        return plain(self, delay, callback, *arguments, **options)

    monkeypatch.setattr(asyncio.BaseEventLoop, "call_later", remember)
    with (
        serve_api_with_watch_fault(invalid_json, asked_for(), monkeypatch) as access,
        WatchThread(access) as watches,
    ):
        watches.thread.join(60)

    [error] = watches.errors
    assert isinstance(error, ValueError)
    assert "Expecting value" in str(error)
    assert scheduled
    assert signal.pthread_kill not in scheduled
