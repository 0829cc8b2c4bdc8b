"""The client of a real API server, at the HTTP face of the one in memory."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiClient

from api_servers import ApiServer
from operators_at_work import asked_for
from searchkeeper.kubernetes.api import (
    Conflict,
    Forbidden,
    NoSuchKind,
    NotFound,
    Rejected,
    Unauthorized,
    Unavailable,
)
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Patch
from searchkeeper.manager.kubernetes_client import KubernetesClient, load_kubeconfig
from searchkeeper.manager.workers import FAST_WORKERS, SLOW_WORKERS
from searchkeeper.testing.fake_cluster import FakeCluster
from shells import Facing, client_of, facing, kubeconfig_of

SETTINGS = Key("v1", "ConfigMap", "search", "settings")


@pytest.fixture
def face() -> Iterator[Facing]:
    with facing(FakeCluster()) as found:
        yield found


def config_map(name: str = "settings", **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "search", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1", "b": "2"}}


def test_what_was_created_is_found_by_name_and_by_label(face: Facing) -> None:
    made = face.kube.create(config_map(app="logs"))
    face.kube.create(config_map("other", app="shop"))

    assert face.kube.get(SETTINGS) == made
    assert face.kube.list("v1", "ConfigMap", "search", {"app": "logs"}) == [made]
    assert len(face.kube.list("v1", "ConfigMap", "search", {})) == 2
    assert len(face.kube.list("v1", "ConfigMap", "", {})) == 2
    assert face.kube.list("v1", "ConfigMap", "elsewhere", {}) == []


def test_what_is_not_there_is_none_or_gone(face: Facing) -> None:
    assert face.kube.get(SETTINGS) is None
    with pytest.raises(NotFound):
        face.kube.patch(Patch(SETTINGS, {"data": {"a": "2"}}, ""))


@pytest.mark.parametrize("name", ["../../vault/secrets/keys", "..", ".", "%2e%2e", "keys?x", "a/b", ""])
def test_a_name_that_somebody_wrote_leads_to_nobody_elses_object(face: Facing, name: str) -> None:
    metadata = {"name": "keys", "namespace": "vault"}
    face.kube.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {}})

    assert face.kube.get(Key("v1", "Secret", "vault", "keys")) is not None
    assert face.kube.get(Key("v1", "Secret", "search", name)) is None


def test_a_second_one_of_a_name_is_a_conflict(face: Facing) -> None:
    face.kube.create(config_map())

    with pytest.raises(Conflict):
        face.kube.create(config_map())


def test_a_patch_takes_away_what_is_null(face: Facing) -> None:
    made = face.kube.create(config_map())

    changed = face.kube.patch(Patch(SETTINGS, {"data": {"a": None}}, made["metadata"]["resourceVersion"]))

    assert changed["data"] == {"b": "2"}


def test_a_patch_on_an_older_state_is_a_conflict(face: Facing) -> None:
    made = face.kube.create(config_map())
    face.kube.patch(Patch(SETTINGS, {"data": {"a": "2"}}, ""))

    with pytest.raises(Conflict):
        face.kube.patch(Patch(SETTINGS, {"data": {"a": "3"}}, made["metadata"]["resourceVersion"]))


def test_status_and_spec_are_changed_apart(face: Facing) -> None:
    with face.api.alone() as world:
        world.state = asked_for().state
    key = Key("search.everpath.dev/v1alpha1", "SearchCluster", "search", "logs")
    both = {"spec": {"version": "3.4.0"}, "status": {"phase": "Running"}}

    stored = face.kube.patch_status(Patch(key, both, ""))
    assert (stored["spec"]["version"], stored["status"]) == ("2.19.4", {"phase": "Running"})

    stored = face.kube.patch(Patch(key, {**both, "status": {"phase": "Gone"}}, ""))
    assert (stored["spec"]["version"], stored["status"]) == ("3.4.0", {"phase": "Running"})


@pytest.mark.parametrize("precondition", ["uid", "resource_version"])
def test_a_deletion_of_another_state_is_a_conflict(face: Facing, precondition: str) -> None:
    made = face.kube.create(config_map())["metadata"]
    snapshot = {"uid": made["uid"], "resource_version": made["resourceVersion"], precondition: "999"}

    with pytest.raises(Conflict):
        face.kube.delete(Delete(SETTINGS, **snapshot))
    assert face.kube.get(SETTINGS) is not None


def test_a_deletion_of_what_was_seen_is_carried_out(face: Facing) -> None:
    made = face.kube.create(config_map())["metadata"]

    face.kube.delete(Delete(SETTINGS, made["uid"], made["resourceVersion"]))

    assert face.kube.get(SETTINGS) is None


def test_an_orphaning_deletion_says_so(face: Facing) -> None:
    made = face.kube.create(config_map())["metadata"]

    face.kube.delete(Delete(SETTINGS, made["uid"], made["resourceVersion"], orphan=True))

    marked = face.kube.get(SETTINGS)
    assert marked is not None
    assert marked["metadata"]["finalizers"] == ["orphan"]


def test_what_would_be_refused_again_is_refused(face: Facing) -> None:
    with pytest.raises(Rejected):
        face.kube.create(config_map("NO NAME"))


def test_the_same_event_again_is_only_counted(face: Facing) -> None:
    face.kube.create(config_map())
    event = EmitEvent(SETTINGS, "Downgrade", "2.0.0 is older than 2.19.4")

    for _ in range(3):
        face.kube.record(event)
    face.kube.record(EmitEvent(SETTINGS, "Downgrade", "1.0.0 is older than 2.19.4"))

    found = face.kube.list("v1", "Event", "search", {})
    assert sorted(each["count"] for each in found) == [1, 3]
    assert {each["involvedObject"]["name"] for each in found} == {"settings"}
    assert all(each["involvedObject"]["uid"] for each in found)


def test_a_server_that_is_not_there_is_unavailable(face: Facing) -> None:
    _, nobody = client_of("http://127.0.0.1:9")

    with pytest.raises(Unavailable):
        nobody.get(SETTINGS)
    nobody.close()


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (200, Unavailable),
        (401, Unauthorized),
        (403, Forbidden),
        (404, NoSuchKind),
        (410, NotFound),
        (422, Rejected),
        (429, Unavailable),
        (500, Unavailable),
    ],
)
def test_answers_are_told_apart_by_what_to_do_next(code: int, error: type[Exception]) -> None:
    with ApiServer.running() as server:
        server.answers["GET", "/api/v1/namespaces/search/configmaps"] = (code, b"<html>")
        _, client = client_of(server.url)

        with pytest.raises(error):
            client.list("v1", "ConfigMap", "search", {})
        client.close()


def test_a_write_that_nobody_is_there_to_admit_is_refused_and_not_in_doubt() -> None:
    """An API server asks webhooks before it stores anything, and says 500 where one does not answer."""
    said = 'Internal error occurred: failed calling webhook "deny.acme.io": connection refused'
    path = "/api/v1/namespaces/search/configmaps"
    with ApiServer.running() as server:
        server.answers["POST", path] = (500, {"kind": "Status", "message": said})
        _, client = client_of(server.url)

        with pytest.raises(Rejected, match="failed calling webhook"):
            client.create(
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "search"}}
            )
        client.close()


def test_every_thread_that_may_ask_at_once_has_a_connection_to_keep(face: Facing, tmp_path: Path) -> None:
    settings = load_kubeconfig(str(kubeconfig_of(face, tmp_path)))

    assert settings.connection_pool_maxsize > FAST_WORKERS + SLOW_WORKERS


def test_a_list_of_many_pages_is_one_list() -> None:
    path = "/api/v1/namespaces/search/configmaps"
    with ApiServer.running() as server:
        first, second = ({"items": [{"metadata": {"name": name}}], "metadata": {}} for name in "ba")
        server.answers["GET", path] = (200, {**first, "metadata": {"continue": "more"}})
        server.answers["GET", f"{path}?continue=more"] = (200, second)
        _, client = client_of(server.url)

        found = client.list("v1", "ConfigMap", "search", {})
        client.close()

    assert [Key.of(each) for each in found] == [Key("v1", "ConfigMap", "", name) for name in "ab"]


def test_settings_come_from_a_kubeconfig(tmp_path: Any, face: Facing) -> None:
    file = kubeconfig_of(face, tmp_path)
    client = KubernetesClient(ApiClient(load_kubeconfig(str(file))))

    assert client.get(SETTINGS) is None
    client.close()
