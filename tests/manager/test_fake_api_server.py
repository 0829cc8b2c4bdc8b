"""The world in memory as an API server: discovery, patches, watches, bookmarks, and what is forgotten."""

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
from shells import Facing, facing

MAPS = "/api/v1/namespaces/search/configmaps"


@pytest.fixture
def face() -> Iterator[Facing]:
    with facing(FakeCluster(), remembers=5) as found:
        yield found


def made(api: FakeApiServer, name: str) -> None:
    with api.alone() as world:
        metadata = {"name": name, "namespace": "search"}
        world.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1"}})


def key(name: str) -> Key:
    return Key("v1", "ConfigMap", "search", name)


def asked(
    api: FakeApiServer, method: str, path: str, body: Any = None, content_type: str = "", **query: str
) -> Response:
    answer = api.answer(ApiRequest(method, path, query, content_type, body))
    assert isinstance(answer, Response)
    return answer


def watched(face: Facing, **query: str) -> Iterator[tuple[str, str, str]]:
    """Type, name and resource version of every line of a watch."""
    words = "&".join(f"{name}={text}" for name, text in {"watch": "1", **query}.items())
    with urlopen(f"{face.server.url}{MAPS}?{words}", timeout=60) as answer:
        for line in answer:
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
def test_discovery_names_what_kopf_looks_for(group: str, plural: str) -> None:
    api = FakeApiServer(FakeCluster())
    root = f"/apis/{group}" if "/" in group else f"/api/{group}"

    resources = asked(api, "GET", root).body["resources"]

    assert plural in [each["name"] for each in resources]
    if "/" in group:
        groups = asked(api, "GET", "/apis").body["groups"]
        assert group in [each["preferredVersion"]["groupVersion"] for each in groups]
        assert asked(api, "GET", f"/apis/{group.partition('/')[0]}").body["kind"] == "APIGroup"


def test_a_path_that_leads_nowhere_is_not_found() -> None:
    answer = asked(FakeApiServer(FakeCluster()), "GET", "/apis/nobody.example/v1/things")

    assert (answer.code, answer.body["reason"], answer.body["kind"]) == (404, "NotFound", "Status")


def test_what_is_watched_is_told_in_order(face: Facing) -> None:
    made(face.api, "one")
    events = watched(face)
    assert next(events)[:2] == ("ADDED", "one")

    with face.api.alone() as world:
        world.patch(Patch(key("one"), {"data": {"a": "2"}}, ""))
        world.delete(Delete(key("one"), "", ""))
    made(face.api, "one")

    kinds = [next(event for event in events if event[0] != "BOOKMARK") for _ in range(2)]
    assert [kind for kind, *_ in kinds] == ["DELETED", "ADDED"]


def test_a_watch_goes_on_after_a_resource_version(face: Facing) -> None:
    made(face.api, "one")
    listed = asked(face.api, "GET", MAPS).body["metadata"]["resourceVersion"]
    made(face.api, "two")

    assert next(watched(face, resourceVersion=listed))[:2] == ("ADDED", "two")


def test_a_deletion_among_other_changes_is_not_missed(face: Facing) -> None:
    made(face.api, "one")
    listed = asked(face.api, "GET", MAPS).body["metadata"]["resourceVersion"]
    with face.api.alone() as world:
        world.delete(Delete(key("one"), "", ""))
        metadata = {"name": "two", "namespace": "search"}
        world.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata})

    events = watched(face, resourceVersion=listed)
    kind, name, version = next(events)
    again = watched(face, resourceVersion=version)

    assert (kind, name) == ("DELETED", "one")
    assert next(events)[:2] == ("ADDED", "two")
    assert ("ADDED", "two") in {next(again)[:2], next(again)[:2]}


def test_a_quiet_watch_has_bookmarks(face: Facing) -> None:
    made(face.api, "one")
    with face.api.alone() as world:
        metadata = {"name": "other", "namespace": "search"}
        world.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata})

    events = watched(face, resourceVersion="1")

    assert next(events) == ("BOOKMARK", "", str(face.api.revision))


def test_a_watch_that_fell_behind_is_told_to_list_again(face: Facing) -> None:
    for n in range(10):
        made(face.api, f"map-{n}")

    with urlopen(f"{face.server.url}{MAPS}?watch=1&resourceVersion=1", timeout=60) as answer:
        event = json.loads(answer.readline())

    assert (event["type"], event["object"]["code"]) == ("ERROR", 410)


def test_a_watch_ends_when_its_time_is_up(face: Facing) -> None:
    assert [kind for kind, *_ in watched(face, timeoutSeconds="1")][-1] == "BOOKMARK"


def test_closing_ends_those_who_watch() -> None:
    with facing(FakeCluster()) as face:
        begun = threading.Event()

        def watch() -> None:
            with suppress(OSError, HTTPException):
                for _ in watched(face):
                    begun.set()

        thread = threading.Thread(target=watch)
        thread.start()
        assert begun.wait(60)
    thread.join(60)

    assert not thread.is_alive()


def test_a_json_patch_is_carried_out_or_refused_as_a_whole() -> None:
    api = FakeApiServer(FakeCluster())
    made(api, "one")
    kind = "application/json-patch+json"
    change = [
        {"op": "test", "path": "/data/a", "value": "1"},
        {"op": "add", "path": "/metadata/finalizers", "value": ["x"]},
        {"op": "add", "path": "/metadata/finalizers/-", "value": "y"},
        {"op": "replace", "path": "/data/a", "value": "2"},
        {"op": "remove", "path": "/metadata/finalizers/0"},
    ]

    stored = asked(api, "PATCH", f"{MAPS}/one", change, kind).body
    refused = asked(api, "PATCH", f"{MAPS}/one", change, kind)

    assert (stored["data"], stored["metadata"]["finalizers"]) == ({"a": "2"}, ["y"])
    assert refused.code == 422


def test_a_replacement_of_an_older_state_is_a_conflict() -> None:
    api = FakeApiServer(FakeCluster())
    made(api, "one")
    snapshot = asked(api, "GET", f"{MAPS}/one").body

    first = asked(api, "PUT", f"{MAPS}/one", {**snapshot, "data": {"a": "2"}})
    second = asked(api, "PUT", f"{MAPS}/one", {**snapshot, "data": {"a": "3"}})

    assert (first.code, first.body["data"]) == (200, {"a": "2"})
    assert (second.code, second.body["reason"]) == (409, "Conflict")


def test_a_patch_of_a_kind_that_is_not_known_is_refused() -> None:
    api = FakeApiServer(FakeCluster())
    made(api, "one")

    assert asked(api, "PATCH", f"{MAPS}/one", {}, "application/strategic-merge-patch+json").code == 415
