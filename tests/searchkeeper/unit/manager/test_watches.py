"""Watches that fail in many ways: they only make reconciles sooner, and nothing depends on them."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import islice, takewhile
from typing import Any

import pytest

from searchkeeper.desired.names import GROUP
from searchkeeper.images import engine_image
from searchkeeper.kubernetes.api import Forbidden, Unavailable
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.manager.kubernetes_client import WatchExpired
from searchkeeper.manager.logging import Log
from searchkeeper.manager.watches import WatchClient, Watches, WatchHandlers
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
from tests.support.searchkeeper.managers import INTERVALS, ApiServerAccess, run_manager, serve_api, wait_until
from tests.support.searchkeeper.operator_runs import CLUSTER, edit_spec, new_cluster, status

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
    fault: Any, cluster: FakeCluster, monkeypatch: pytest.MonkeyPatch
) -> Iterator[ApiServerAccess]:
    """A fake API server whose watches all have this fault."""
    plain = http_server._Handler._lines
    monkeypatch.setattr(http_server._Handler, "_lines", lambda self, watch: fault(watch, plain(self, watch)))
    with serve_api(cluster) as access:
        yield access


def is_at(api: FakeApiServer, version: str) -> bool:
    cluster = status(api.world)
    is_upgrading = "upgrade" in cluster.get("ledger", {})
    return (cluster.get("phase"), cluster.get("engineVersion")) == ("Running", version) and not is_upgrading


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__)
def test_upgrade_completes_despite_faulty_watches(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with serve_api_with_watch_fault(fault, new_cluster(), monkeypatch) as access, run_manager(access):
        wait_until(access.api, lambda: is_at(access.api, "2.19.4"), what="a running cluster")
        with access.api.alone() as cluster:
            edit_spec(cluster, version="3.4.0")

        wait_until(access.api, lambda: is_at(access.api, "3.4.0"), what="3.4.0")


@pytest.mark.exhaustive
def test_cluster_without_an_event_is_found_by_the_resync(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is created after the first list, and no watch reports it."""
    with (
        serve_api_with_watch_fault(only_bookmarks, FakeCluster(), monkeypatch) as access,
        run_manager(access) as running,
    ):
        wait_until(access.api, lambda: running.manager.health.is_ready)
        with access.api.alone() as cluster:
            cluster.create(new_cluster().get(CLUSTER) or {})

        wait_until(access.api, lambda: is_at(access.api, "2.19.4"), what="a running cluster")


def test_deleted_cluster_without_an_event_ends_its_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        serve_api_with_watch_fault(only_bookmarks, new_cluster(), monkeypatch) as access,
        run_manager(access) as running,
    ):
        wait_until(access.api, lambda: CLUSTER in running.manager._loops)
        with access.api.alone() as cluster:
            cluster.patch(Patch(CLUSTER, {"metadata": {"finalizers": None}}, ""))
            cluster.delete(Delete(CLUSTER, "", ""))

        wait_until(access.api, lambda: not running.manager._loops, what="the end of the loop")


class OptionalCrds:
    """CRDs that an API server serves or not. It ends their watches when it does not."""

    def __init__(self, api: FakeApiServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.are_served, self.refusals = False, 0
        self._plain = api.answer
        monkeypatch.setattr(api, "answer", self._respond)
        plain = http_server._Handler._lines

        def lines(handler: Any, watch: Watch) -> Lines:
            is_ours = watch.kind.api.startswith(GROUP)
            return takewhile(lambda _: self.are_served or not is_ours, plain(handler, watch))

        monkeypatch.setattr(http_server._Handler, "_lines", lines)

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
    monkeypatch.setattr("tests.support.searchkeeper.managers.INTERVALS", replace(INTERVALS, resync=3600))
    with serve_api(FakeCluster()) as access:
        crds = OptionalCrds(access.api, monkeypatch)
        with run_manager(access) as running:
            wait_until(access.api, lambda: crds.refusals > 3, what="a second check")
            assert not running.manager.health.is_ready
            crds.are_served = True
            wait_until(access.api, lambda: running.manager.health.is_ready, what="readiness")
            with access.api.alone() as cluster:
                cluster.create(new_cluster().get(CLUSTER) or {})

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


class RunningWatches:
    """Watches with the events that they report."""

    def __init__(self, client: WatchClient, namespaces: Sequence[str] = ("search",)) -> None:
        self.stop, self.ready = threading.Event(), threading.Event()
        self.clusters: list[tuple[Key, bool]] = []
        self.children: list[Key] = []
        handlers = WatchHandlers(
            lambda key, _, is_deleted: self.clusters.append((key, is_deleted)),
            lambda key, _: self.children.append(key),
        )
        watches = Watches(client, handlers, Log(), stop=self.stop, ready=self.ready)
        before = set(threading.enumerate())
        watches.start(namespaces, INTERVALS)
        # By name too: the server starts a thread for each request at the same time.
        started = set(threading.enumerate()) - before
        self._threads = [thread for thread in started if thread.name.startswith("watch-")]

    def __enter__(self) -> RunningWatches:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop.set()
        for thread in self._threads:
            thread.join(60)
            assert not thread.is_alive(), "a watch does not end"


@pytest.mark.parametrize("namespaces", [["search"], ["other", "search"], []], ids=["one", "two", "all"])
def test_events_of_clusters_and_their_objects_are_reported(namespaces: list[str]) -> None:
    """Events of Secrets are not."""
    with serve_api(new_cluster()) as access, RunningWatches(access.kube, namespaces) as watches:
        wait_until(access.api, lambda: watches.clusters != [], what="an event")
        labels = {"app.kubernetes.io/instance": "logs"}
        for kind, name in (("Secret", "logs-secret"), ("Pod", "logs-data-0")):
            metadata = {"name": name, "namespace": "search", "labels": labels}
            spec = {"containers": [{"name": "opensearch", "image": engine_image("2.19.4")}]}
            with access.api.alone() as cluster:
                cluster.create({"apiVersion": "v1", "kind": kind, "metadata": metadata, "spec": spec})
        wait_until(access.api, lambda: watches.children != [], what="an event of a pod")
        with access.api.alone() as cluster:
            cluster.delete(Delete(CLUSTER, "", ""))
        wait_until(access.api, lambda: (CLUSTER, True) in watches.clusters, what="a deletion")

    assert watches.clusters[0] == (CLUSTER, False)
    assert set(watches.children) == {CLUSTER}


class ScriptedClient:
    """A client whose watches of SearchClusters end as scripted; then it stops the watches."""

    def __init__(self, *script: Exception | list[tuple[str, Any]]) -> None:
        self._script = iter(script)
        self.requests: list[str] = []
        self.done = threading.Event()

    def list_with_version(self, _: str, kind: str, *__: Any) -> tuple[list[Any], str]:
        if kind == "SearchCluster":
            self.requests.append("list")
        return [], "7"

    def watch(self, _: str, kind: str, __: str, version: str) -> Iterator[tuple[str, Any]]:
        if kind != "SearchCluster":
            return
        step = next(self._script, None)
        if step is None:
            self.done.set()
            return
        self.requests.append(f"watch {version}")
        if isinstance(step, Exception):
            raise step
        yield from step


def modified_event(version: str) -> tuple[str, Any]:
    return "MODIFIED", {"metadata": {"name": "logs", "namespace": "search", "resourceVersion": version}}


@pytest.mark.parametrize(
    ("script", "requests"),
    [
        ([[modified_event("8"), modified_event("9")], []], ["list", "watch 7", "watch 9"]),
        ([[("BOOKMARK", {"metadata": {"resourceVersion": "20"}})], []], ["list", "watch 7", "watch 20"]),
        ([WatchExpired("410"), []], ["list", "watch 7", "list", "watch 7"]),
        ([Unavailable("503"), []], ["list", "watch 7", "list", "watch 7"]),
        ([[("MODIFIED", {})], []], ["list", "watch 7", "list", "watch 7"]),
    ],
    ids=["ended", "bookmark", "expired", "failed", "malformed"],
)
def test_watch_continues_from_the_last_version_or_lists_again(script: list[Any], requests: list[str]) -> None:
    client = ScriptedClient(*script)
    with RunningWatches(client):
        assert client.done.wait(60)

    assert client.requests[: len(requests)] == requests


def test_failed_watches_back_off(caplog: pytest.LogCaptureFixture) -> None:
    """A list that succeeds does not reset the backoff: otherwise a broken watch would list endlessly."""
    client = ScriptedClient(*[Unavailable("503")] * 4)
    with RunningWatches(client) as watches:
        assert client.done.wait(60)
        wait_for(watches.ready.is_set)

    fields = [record.__dict__["fields"] for record in caplog.records if "SearchCluster" in record.message]
    assert [field["attempt"] for field in fields] == [1, 2, 3, 4]


def wait_for(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_operator_is_not_ready_while_a_watch_fails() -> None:
    class FailingPods(ScriptedClient):
        is_failing = True

        def list_with_version(self, api: str, kind: str, *rest: Any) -> tuple[list[Any], str]:
            if kind == "Pod" and self.is_failing:
                raise Forbidden("pods is forbidden")
            return super().list_with_version(api, kind, *rest)

    client = FailingPods()
    with RunningWatches(client) as watches:
        assert client.done.wait(60)
        assert not watches.ready.is_set()
        client.is_failing = False
        wait_for(watches.ready.is_set)


def invalid_json(_: Watch, lines: Lines) -> Lines:
    yield b"no event at all\n"


def test_invalid_json_in_a_watch_is_an_api_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with (
        serve_api_with_watch_fault(invalid_json, new_cluster(), monkeypatch) as access,
        pytest.raises(Unavailable, match=r"WATCH .*/searchclusters: the response is not JSON"),
    ):
        list(access.kube.watch(CLUSTER.api, CLUSTER.kind, "search", "1"))


def test_silent_watch_times_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """A connection may be dead without an end: no bookmark arrives."""
    monkeypatch.setattr("searchkeeper.manager.kubernetes_client._WATCH_TIMEOUTS", (5, 0.05))
    with serve_api(new_cluster()) as access, pytest.raises(Unavailable, match="Read timed out"):
        list(access.kube.watch(CLUSTER.api, CLUSTER.kind, "search", "1"))


def test_compacted_version_expires_the_watch() -> None:
    with serve_api(new_cluster(), remembers=1) as access:
        for _ in range(3):
            with access.api.alone() as cluster:
                edit_spec(cluster, version="3.4.0")
                edit_spec(cluster, version="2.19.4")
        with pytest.raises(WatchExpired):
            list(access.kube.watch(CLUSTER.api, CLUSTER.kind, "search", "1"))
