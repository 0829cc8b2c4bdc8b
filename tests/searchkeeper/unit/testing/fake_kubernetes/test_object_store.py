"""The verbs of the fake API server on its objects."""

from __future__ import annotations

from typing import Any

import pytest

from searchkeeper.kubernetes.api import Conflict, NotFound, Rejected
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.testing.fake_kubernetes.manifests import get_value
from searchkeeper.testing.fake_kubernetes.object_store import (
    ObjectStore,
    create,
    delete,
    get,
    list_objects,
    patch,
)

CONFIG = Key("v1", "ConfigMap", "search", "logs")


def config(**data: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "logs", "namespace": "search"},
        "data": data,
    }


def resource(**spec: Any) -> Manifest:
    metadata = {"name": "logs", "namespace": "search"}
    return {
        "apiVersion": "search.everpath.dev/v1alpha1",
        "kind": "SearchCluster",
        "metadata": metadata,
        "spec": spec,
    }


def store_with(manifest: Manifest) -> tuple[ObjectStore, Manifest]:
    return create(ObjectStore(), manifest, now=0)


def patch_of(manifest: Manifest, **changes: Any) -> Patch:
    return Patch(Key.of(manifest), changes, manifest["metadata"]["resourceVersion"])


def test_create_sets_uid_resource_version_and_generation() -> None:
    _, manifest = store_with(config(a="1"))
    metadata = manifest["metadata"]
    assert (metadata["uid"], metadata["resourceVersion"], metadata["generation"]) == ("uid-1", "1", 1)


def test_create_conflicts_with_an_existing_name() -> None:
    cluster, _ = store_with(config())
    with pytest.raises(Conflict):
        create(cluster, config(), now=0)


def test_uid_is_never_used_again() -> None:
    cluster, first = store_with(config())
    cluster = delete(cluster, Delete(CONFIG, "", ""), now=0)
    _, second = create(cluster, config(), now=0)
    assert first["metadata"]["uid"] != second["metadata"]["uid"]


def test_create_ignores_status() -> None:
    assert "status" not in store_with({**resource(), "status": {"phase": "Running"}})[1]


def test_patch_with_old_resource_version_conflicts() -> None:
    cluster, old = store_with(config(a="1"))
    cluster, _ = patch(cluster, patch_of(old, data={"a": "2"}))
    with pytest.raises(Conflict):
        patch(cluster, patch_of(old, data={"a": "3"}))


def test_patch_of_missing_object_is_not_found() -> None:
    with pytest.raises(NotFound):
        patch(ObjectStore(), Patch(CONFIG, {}, ""))


def test_patch_without_effect_keeps_resource_version() -> None:
    cluster, old = store_with(config(a="1"))
    after, same = patch(cluster, patch_of(old, data={"a": "1"}))
    assert (after, same) == (cluster, old)


def test_null_in_merge_patch_removes() -> None:
    cluster, old = store_with(config(a="1", b="2"))
    _, new = patch(cluster, patch_of(old, data={"a": None}))
    assert new["data"] == {"b": "2"}


def test_spec_change_increments_generation_and_label_change_does_not() -> None:
    cluster, old = store_with(resource(version="1"))
    cluster, labelled = patch(cluster, patch_of(old, metadata={"labels": {"a": "b"}}))
    _, changed = patch(cluster, patch_of(labelled, spec={"version": "2"}))
    assert [m["metadata"]["generation"] for m in (old, labelled, changed)] == [1, 1, 2]


def test_status_changes_only_through_its_subresource() -> None:
    cluster, old = store_with(resource(version="1"))
    cluster, same = patch(cluster, patch_of(old, status={"phase": "Running"}))
    assert "status" not in same
    _, patched = patch(
        cluster, patch_of(same, status={"phase": "Running"}, spec={"version": "9"}), status=True
    )
    assert (patched["status"], patched["spec"], patched["metadata"]["generation"]) == (
        {"phase": "Running"},
        {"version": "1"},
        1,
    )


@pytest.mark.parametrize(
    "request_", [Delete(CONFIG, "uid-9", ""), Delete(CONFIG, "", "9")], ids=["uid", "version"]
)
def test_delete_with_wrong_preconditions_conflicts(request_: Delete) -> None:
    cluster, _ = store_with(config())
    with pytest.raises(Conflict):
        delete(cluster, request_, now=0)


def test_finalizer_delays_deletion() -> None:
    cluster, finalized = store_with(
        {**config(), "metadata": {**config()["metadata"], "finalizers": ["mine"]}}
    )
    cluster = delete(cluster, Delete(CONFIG, finalized["metadata"]["uid"], ""), now=60)
    marked = get(cluster, CONFIG)
    assert marked is not None
    assert get_value(marked, "metadata", "deletionTimestamp") == "1970-01-01T00:01:00Z"
    cluster, _ = patch(cluster, patch_of(marked, metadata={"finalizers": None}))
    assert get(cluster, CONFIG) is None


def test_list_selects_labels_and_sorts_by_name() -> None:
    cluster = ObjectStore()
    for name, tier in (("b", "hot"), ("a", "hot"), ("c", "cold")):
        metadata = {"name": name, "namespace": "search", "labels": {"tier": tier}}
        cluster, _ = create(cluster, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}, now=0)
    selected = list_objects(cluster, "v1", "Secret", "search", {"tier": "hot"})
    assert [each["metadata"]["name"] for each in selected] == ["a", "b"]


def test_invalid_name_is_rejected() -> None:
    with pytest.raises(Rejected, match="is not a name"):
        store_with({**config(), "metadata": {"name": "Not_A_Name", "namespace": "search"}})
