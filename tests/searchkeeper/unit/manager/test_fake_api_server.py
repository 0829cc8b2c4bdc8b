"""The fake API server over HTTP: discovery, patches, watches, bookmarks, compaction."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.client import HTTPException
from typing import Any
from urllib.request import urlopen

import pytest

from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.api_server import ApiRequest, FakeApiServer, Response
from tests.support.searchkeeper.managers import ApiServerAccess, serve_api

MAPS = "/api/v1/namespaces/search/configmaps"


@pytest.fixture
def access() -> Iterator[ApiServerAccess]:
    with serve_api(FakeCluster(), remembers=5) as access:
        yield access


def create_config_map(api: FakeApiServer, name: str) -> None:
    with api.alone() as cluster:
        metadata = {"name": name, "namespace": "search"}
        cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1"}})


def key(name: str) -> Key:
    return Key("v1", "ConfigMap", "search", name)


def request(
    api: FakeApiServer, method: str, path: str, body: Any = None, content_type: str = "", **query: str
) -> Response:
    response = api.answer(ApiRequest(method, path, query, content_type, body))
    assert isinstance(response, Response)
    return response


def watch_events(access: ApiServerAccess, **query: str) -> Iterator[tuple[str, str, str]]:
    """Type, name and resource version of every event of a watch."""
    parameters = "&".join(f"{name}={value}" for name, value in {"watch": "1", **query}.items())
    with urlopen(f"{access.server.url}{MAPS}?{parameters}", timeout=60) as response:
        for line in response:
            event = json.loads(line)
            metadata = event["object"].get("metadata", {})
            yield event["type"], metadata.get("name", ""), metadata.get("resourceVersion", "")


@pytest.mark.parametrize(
    ("group", "plural"),
    [
        ("v1", "namespaces"),
        ("v1", "events"),
        ("apiextensions.k8s.io/v1", "customresourcedefinitions"),
        ("search.everpath.dev/v1alpha1", "searchclusters"),
        ("coordination.k8s.io/v1", "leases"),
    ],
)
def test_discovery_lists_the_kinds(group: str, plural: str) -> None:
    api = FakeApiServer(FakeCluster())
    root = f"/apis/{group}" if "/" in group else f"/api/{group}"

    resources = request(api, "GET", root).body["resources"]

    assert plural in [resource["name"] for resource in resources]
    if "/" in group:
        groups = request(api, "GET", "/apis").body["groups"]
        assert group in [listed["preferredVersion"]["groupVersion"] for listed in groups]
        assert request(api, "GET", f"/apis/{group.partition('/')[0]}").body["kind"] == "APIGroup"


def test_unknown_path_is_not_found() -> None:
    response = request(FakeApiServer(FakeCluster()), "GET", "/apis/unknown.example/v1/things")

    assert (response.code, response.body["reason"], response.body["kind"]) == (404, "NotFound", "Status")


def test_watch_sends_events_in_order(access: ApiServerAccess) -> None:
    create_config_map(access.api, "one")
    events = watch_events(access)
    assert next(events)[:2] == ("ADDED", "one")

    with access.api.alone() as cluster:
        cluster.patch(Patch(key("one"), {"data": {"a": "2"}}, ""))
        cluster.delete(Delete(key("one"), "", ""))
    create_config_map(access.api, "one")

    kinds = [next(event for event in events if event[0] != "BOOKMARK") for _ in range(2)]
    assert [kind for kind, *_ in kinds] == ["DELETED", "ADDED"]


def test_watch_continues_after_a_resource_version(access: ApiServerAccess) -> None:
    create_config_map(access.api, "one")
    listed = request(access.api, "GET", MAPS).body["metadata"]["resourceVersion"]
    create_config_map(access.api, "two")

    assert next(watch_events(access, resourceVersion=listed))[:2] == ("ADDED", "two")


def test_watch_sends_a_deletion_between_other_changes(access: ApiServerAccess) -> None:
    create_config_map(access.api, "one")
    listed = request(access.api, "GET", MAPS).body["metadata"]["resourceVersion"]
    with access.api.alone() as cluster:
        cluster.delete(Delete(key("one"), "", ""))
        metadata = {"name": "two", "namespace": "search"}
        cluster.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})

    events = watch_events(access, resourceVersion=listed)
    kind, name, version = next(events)
    again = watch_events(access, resourceVersion=version)

    assert (kind, name) == ("DELETED", "one")
    assert next(events)[:2] == ("ADDED", "two")
    assert ("ADDED", "two") in {next(again)[:2], next(again)[:2]}


def test_watch_without_changes_sends_bookmarks(access: ApiServerAccess) -> None:
    create_config_map(access.api, "one")
    with access.api.alone() as cluster:
        metadata = {"name": "other", "namespace": "search"}
        cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})

    events = watch_events(access, resourceVersion="1")

    assert next(events) == ("BOOKMARK", "", str(access.api.revision))


def test_watch_from_a_compacted_version_gets_410(access: ApiServerAccess) -> None:
    for n in range(10):
        create_config_map(access.api, f"map-{n}")

    with urlopen(f"{access.server.url}{MAPS}?watch=1&resourceVersion=1", timeout=60) as response:
        event = json.loads(response.readline())

    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)


@pytest.mark.exhaustive
def test_watch_ends_after_its_timeout(access: ApiServerAccess) -> None:
    assert [kind for kind, *_ in watch_events(access, timeoutSeconds="1")][-1] == "BOOKMARK"


def test_closing_the_server_ends_all_watches() -> None:
    with serve_api(FakeCluster()) as access:
        started = threading.Event()

        def watch() -> None:
            with suppress(OSError, HTTPException):
                for _ in watch_events(access):
                    started.set()

        thread = threading.Thread(target=watch)
        thread.start()
        assert started.wait(60)
    thread.join(60)

    assert not thread.is_alive()


def test_json_patch_is_atomic() -> None:
    api = FakeApiServer(FakeCluster())
    create_config_map(api, "one")
    kind = "application/json-patch+json"
    change = [
        {"op": "test", "path": "/data/a", "value": "1"},
        {"op": "add", "path": "/metadata/finalizers", "value": ["x"]},
        {"op": "add", "path": "/metadata/finalizers/-", "value": "y"},
        {"op": "replace", "path": "/data/a", "value": "2"},
        {"op": "remove", "path": "/metadata/finalizers/0"},
    ]

    stored = request(api, "PATCH", f"{MAPS}/one", change, kind).body
    rejected = request(api, "PATCH", f"{MAPS}/one", change, kind)

    assert (stored["data"], stored["metadata"]["finalizers"]) == ({"a": "2"}, ["y"])
    assert rejected.code == 422


def test_replacing_an_outdated_object_is_a_conflict() -> None:
    api = FakeApiServer(FakeCluster())
    create_config_map(api, "one")
    stale = request(api, "GET", f"{MAPS}/one").body

    first = request(api, "PUT", f"{MAPS}/one", {**stale, "data": {"a": "2"}})
    second = request(api, "PUT", f"{MAPS}/one", {**stale, "data": {"a": "3"}})

    assert (first.code, first.body["data"]) == (200, {"a": "2"})
    assert (second.code, second.body["reason"]) == (409, "Conflict")


def test_unknown_patch_type_is_rejected() -> None:
    api = FakeApiServer(FakeCluster())
    create_config_map(api, "one")

    assert request(api, "PATCH", f"{MAPS}/one", {}, "application/strategic-merge-patch+json").code == 415
