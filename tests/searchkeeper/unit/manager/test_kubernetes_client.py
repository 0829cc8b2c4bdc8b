"""The Kubernetes client on the fake API server over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from kubernetes.client import ApiClient

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
from tests.support.api_servers import ApiServer
from tests.support.searchkeeper.managers import ApiServerAccess, connect_to, serve_api, write_kubeconfig
from tests.support.searchkeeper.operator_runs import new_cluster

SETTINGS = Key("v1", "ConfigMap", "search", "settings")


@pytest.fixture
def access() -> Iterator[ApiServerAccess]:
    with serve_api(FakeCluster()) as access:
        yield access


def config_map(name: str = "settings", **labels: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": "search", "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": {"a": "1", "b": "2"}}


def test_created_object_is_found_by_name_and_by_label(access: ApiServerAccess) -> None:
    created = access.kube.create(config_map(app="logs"))
    access.kube.create(config_map("other", app="shop"))

    assert access.kube.get(SETTINGS) == created
    assert access.kube.list("v1", "ConfigMap", "search", {"app": "logs"}) == [created]
    assert len(access.kube.list("v1", "ConfigMap", "search", {})) == 2
    assert len(access.kube.list("v1", "ConfigMap", "", {})) == 2
    assert access.kube.list("v1", "ConfigMap", "elsewhere", {}) == []


def test_missing_object_is_none_or_not_found(access: ApiServerAccess) -> None:
    assert access.kube.get(SETTINGS) is None
    with pytest.raises(NotFound):
        access.kube.patch(Patch(SETTINGS, {"data": {"a": "2"}}, ""))


@pytest.mark.parametrize("name", ["../../vault/secrets/keys", "..", ".", "%2e%2e", "keys?x", "a/b", ""])
def test_invalid_name_never_reads_another_object(access: ApiServerAccess, name: str) -> None:
    metadata = {"name": "keys", "namespace": "vault"}
    access.kube.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {}})

    assert access.kube.get(Key("v1", "Secret", "vault", "keys")) is not None
    assert access.kube.get(Key("v1", "Secret", "search", name)) is None


def test_creating_an_existing_name_is_a_conflict(access: ApiServerAccess) -> None:
    access.kube.create(config_map())

    with pytest.raises(Conflict):
        access.kube.create(config_map())


def test_null_in_a_patch_removes_a_field(access: ApiServerAccess) -> None:
    created = access.kube.create(config_map())

    patched = access.kube.patch(
        Patch(SETTINGS, {"data": {"a": None}}, created["metadata"]["resourceVersion"])
    )

    assert patched["data"] == {"b": "2"}


def test_patch_of_an_outdated_version_is_a_conflict(access: ApiServerAccess) -> None:
    created = access.kube.create(config_map())
    access.kube.patch(Patch(SETTINGS, {"data": {"a": "2"}}, ""))

    with pytest.raises(Conflict):
        access.kube.patch(Patch(SETTINGS, {"data": {"a": "3"}}, created["metadata"]["resourceVersion"]))


def test_status_and_spec_are_patched_separately(access: ApiServerAccess) -> None:
    with access.api.alone() as cluster:
        cluster.state = new_cluster().state
    key = Key("search.everpath.dev/v1alpha1", "SearchCluster", "search", "logs")
    both = {"spec": {"version": "3.4.0"}, "status": {"phase": "Running"}}

    stored = access.kube.patch_status(Patch(key, both, ""))
    assert (stored["spec"]["version"], stored["status"]) == ("2.19.4", {"phase": "Running"})

    stored = access.kube.patch(Patch(key, {**both, "status": {"phase": "Gone"}}, ""))
    assert (stored["spec"]["version"], stored["status"]) == ("3.4.0", {"phase": "Running"})


@pytest.mark.parametrize("precondition", ["uid", "resource_version"])
def test_delete_with_another_uid_or_version_is_a_conflict(access: ApiServerAccess, precondition: str) -> None:
    metadata = access.kube.create(config_map())["metadata"]
    expected = {"uid": metadata["uid"], "resource_version": metadata["resourceVersion"], precondition: "999"}

    with pytest.raises(Conflict):
        access.kube.delete(Delete(SETTINGS, **expected))
    assert access.kube.get(SETTINGS) is not None


def test_delete_with_current_preconditions_succeeds(access: ApiServerAccess) -> None:
    metadata = access.kube.create(config_map())["metadata"]

    access.kube.delete(Delete(SETTINGS, metadata["uid"], metadata["resourceVersion"]))

    assert access.kube.get(SETTINGS) is None


def test_orphaning_delete_sets_the_propagation_policy(access: ApiServerAccess) -> None:
    metadata = access.kube.create(config_map())["metadata"]

    access.kube.delete(Delete(SETTINGS, metadata["uid"], metadata["resourceVersion"], orphan=True))

    marked = access.kube.get(SETTINGS)
    assert marked is not None
    assert marked["metadata"]["finalizers"] == ["orphan"]


def test_invalid_object_is_rejected(access: ApiServerAccess) -> None:
    with pytest.raises(Rejected):
        access.kube.create(config_map("NO NAME"))


def test_equal_event_is_counted(access: ApiServerAccess) -> None:
    access.kube.create(config_map())
    event = EmitEvent(SETTINGS, "Downgrade", "2.0.0 is older than 2.19.4")

    for _ in range(3):
        access.kube.record(event)
    access.kube.record(EmitEvent(SETTINGS, "Downgrade", "1.0.0 is older than 2.19.4"))

    events = access.kube.list("v1", "Event", "search", {})
    assert sorted(event["count"] for event in events) == [1, 3]
    assert {event["involvedObject"]["name"] for event in events} == {"settings"}
    assert all(event["involvedObject"]["uid"] for event in events)


def test_refused_connection_is_unavailable(access: ApiServerAccess) -> None:
    _, client = connect_to("http://127.0.0.1:9")

    with pytest.raises(Unavailable):
        client.get(SETTINGS)
    client.close()


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
def test_status_codes_map_to_errors(code: int, error: type[Exception]) -> None:
    with ApiServer.running() as server:
        server.answers["GET", "/api/v1/namespaces/search/configmaps"] = (code, b"<html>")
        _, client = connect_to(server.url)

        with pytest.raises(error):
            client.list("v1", "ConfigMap", "search", {})
        client.close()


def test_unreachable_admission_webhook_is_a_rejection() -> None:
    """The API server calls webhooks before it stores anything; its 500 leaves no doubt."""
    message = 'Internal error occurred: failed calling webhook "deny.acme.io": connection refused'
    path = "/api/v1/namespaces/search/configmaps"
    with ApiServer.running() as server:
        server.answers["POST", path] = (500, {"kind": "Status", "message": message})
        _, client = connect_to(server.url)

        with pytest.raises(Rejected, match="failed calling webhook"):
            client.create(
                {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "search"}}
            )
        client.close()


def test_connection_pool_has_a_connection_for_every_worker(access: ApiServerAccess, tmp_path: Path) -> None:
    configuration = load_kubeconfig(str(write_kubeconfig(access, tmp_path)))

    assert configuration.connection_pool_maxsize > FAST_WORKERS + SLOW_WORKERS


def test_list_joins_all_pages() -> None:
    path = "/api/v1/namespaces/search/configmaps"
    with ApiServer.running() as server:
        first, second = ({"items": [{"metadata": {"name": name}}], "metadata": {}} for name in "ba")
        server.answers["GET", path] = (200, {**first, "metadata": {"continue": "more"}})
        server.answers["GET", f"{path}?continue=more"] = (200, second)
        _, client = connect_to(server.url)

        manifests = client.list("v1", "ConfigMap", "search", {})
        client.close()

    assert [Key.of(manifest) for manifest in manifests] == [Key("v1", "ConfigMap", "", name) for name in "ab"]


def test_configuration_comes_from_a_kubeconfig(tmp_path: Any, access: ApiServerAccess) -> None:
    file = write_kubeconfig(access, tmp_path)
    client = KubernetesClient(ApiClient(load_kubeconfig(str(file))))

    assert client.get(SETTINGS) is None
    client.close()
