"""The verbs of the API server in memory."""

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


def made(manifest: Manifest) -> tuple[ObjectStore, Manifest]:
    return create(ObjectStore(), manifest, now=0)


def changing(manifest: Manifest, **changes: Any) -> Patch:
    return Patch(Key.of(manifest), changes, manifest["metadata"]["resourceVersion"])


def test_a_new_object_gets_a_uid_a_version_and_a_first_generation() -> None:
    _, manifest = made(config(a="1"))
    metadata = manifest["metadata"]
    assert (metadata["uid"], metadata["resourceVersion"], metadata["generation"]) == ("uid-1", "1", 1)


def test_a_name_can_be_taken_only_once() -> None:
    cluster, _ = made(config())
    with pytest.raises(Conflict):
        create(cluster, config(), now=0)


def test_a_uid_is_never_given_twice() -> None:
    cluster, first = made(config())
    cluster = delete(cluster, Delete(CONFIG, "", ""), now=0)
    _, second = create(cluster, config(), now=0)
    assert first["metadata"]["uid"] != second["metadata"]["uid"]


def test_a_status_cannot_be_given_at_birth() -> None:
    assert "status" not in made({**resource(), "status": {"phase": "Running"}})[1]


def test_a_change_decided_on_an_older_state_is_a_conflict() -> None:
    cluster, old = made(config(a="1"))
    cluster, _ = patch(cluster, changing(old, data={"a": "2"}))
    with pytest.raises(Conflict):
        patch(cluster, changing(old, data={"a": "3"}))


def test_a_change_of_what_is_not_there_is_refused() -> None:
    with pytest.raises(NotFound):
        patch(ObjectStore(), Patch(CONFIG, {}, ""))


def test_a_patch_that_changes_nothing_leaves_the_version_alone() -> None:
    cluster, old = made(config(a="1"))
    after, same = patch(cluster, changing(old, data={"a": "1"}))
    assert (after, same) == (cluster, old)


def test_null_takes_away() -> None:
    cluster, old = made(config(a="1", b="2"))
    _, new = patch(cluster, changing(old, data={"a": None}))
    assert new["data"] == {"b": "2"}


def test_a_change_of_the_spec_is_a_new_generation_and_a_label_is_none() -> None:
    cluster, old = made(resource(version="1"))
    cluster, labelled = patch(cluster, changing(old, metadata={"labels": {"a": "b"}}))
    _, changed = patch(cluster, changing(labelled, spec={"version": "2"}))
    assert [m["metadata"]["generation"] for m in (old, labelled, changed)] == [1, 1, 2]


def test_the_status_is_changed_through_its_subresource_alone() -> None:
    cluster, old = made(resource(version="1"))
    cluster, same = patch(cluster, changing(old, status={"phase": "Running"}))
    assert "status" not in same
    _, told = patch(cluster, changing(same, status={"phase": "Running"}, spec={"version": "9"}), status=True)
    assert (told["status"], told["spec"], told["metadata"]["generation"]) == (
        {"phase": "Running"},
        {"version": "1"},
        1,
    )


@pytest.mark.parametrize(
    "wrong", [Delete(CONFIG, "uid-9", ""), Delete(CONFIG, "", "9")], ids=["uid", "version"]
)
def test_another_object_of_the_same_name_is_not_deleted(wrong: Delete) -> None:
    cluster, _ = made(config())
    with pytest.raises(Conflict):
        delete(cluster, wrong, now=0)


def test_a_finalizer_holds_what_is_deleted_until_it_is_taken_away() -> None:
    cluster, held = made({**config(), "metadata": {**config()["metadata"], "finalizers": ["mine"]}})
    cluster = delete(cluster, Delete(CONFIG, held["metadata"]["uid"], ""), now=60)
    marked = get(cluster, CONFIG)
    assert marked is not None
    assert get_value(marked, "metadata", "deletionTimestamp") == "1970-01-01T00:01:00Z"
    cluster, _ = patch(cluster, changing(marked, metadata={"finalizers": None}))
    assert get(cluster, CONFIG) is None


def test_lists_are_by_name_and_by_labels() -> None:
    cluster = ObjectStore()
    for name, tier in (("b", "hot"), ("a", "hot"), ("c", "cold")):
        metadata = {"name": name, "namespace": "search", "labels": {"tier": tier}}
        cluster, _ = create(cluster, {"apiVersion": "v1", "kind": "Secret", "metadata": metadata}, now=0)
    found = list_objects(cluster, "v1", "Secret", "search", {"tier": "hot"})
    assert [each["metadata"]["name"] for each in found] == ["a", "b"]


def test_what_is_no_name_is_refused() -> None:
    with pytest.raises(Rejected, match="is not a name"):
        made({**config(), "metadata": {"name": "Not_A_Name", "namespace": "search"}})
