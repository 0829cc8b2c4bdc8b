"""The objects of a cluster, and what an API server does to them.

Every verb is a function: a cluster and a request go in, another cluster and the object come out, or one of
the refusals of `searchkeeper.kube` is raised and nothing has happened.
"""

from __future__ import annotations

__all__ = ["ObjectStore", "create", "delete", "get", "list_objects", "patch", "remove", "replace_object"]

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Final

from searchkeeper.kubernetes.api import Conflict, NotFound, Rejected
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.testing.fake_kubernetes.manifests import (
    get_value,
    has_labels,
    is_terminating,
    merge_patched,
    with_value,
)
from searchkeeper.testing.fake_kubernetes.validation import validation_errors

# Pods are given time to stop; whatever else is deleted is gone at once, unless a finalizer holds it.
_GRACEFUL: Final = frozenset({"Pod"})
# What of an object is not its owner's to decide.
_SERVER_SIDE: Final = ("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp")


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """Objects by key. `revision` grows with every change, `births` with every object that ever was."""

    objects: Mapping[Key, Manifest] = field(default_factory=dict)
    revision: int = 0
    births: int = 0


def get(cluster: ObjectStore, key: Key) -> Manifest | None:
    return cluster.objects.get(key)


def list_objects(
    cluster: ObjectStore, api: str, kind: str, namespace: str, labels: Mapping[str, str] | None = None
) -> tuple[Manifest, ...]:
    """Those of a kind in a namespace that have the labels, by name."""
    kin = [key for key in cluster.objects if key[1] == kind and key[0] == api and key[2] == namespace]
    found = (cluster.objects[key] for key in sorted(kin))
    return tuple(each for each in found if has_labels(each, labels)) if labels else tuple(found)


def create(cluster: ObjectStore, manifest: Manifest, *, now: int) -> tuple[ObjectStore, Manifest]:
    """Raises Conflict where there is one of that name, Refused where it may not be like that."""
    key = Key.of(manifest)
    if key in cluster.objects:
        raise Conflict(f"{key} exists already")
    _accept(validation_errors(None, manifest), key)
    born = merge_patched(manifest, {"metadata": dict.fromkeys(_SERVER_SIDE)})
    born = merge_patched(
        {name: part for name, part in born.items() if name != "status"},
        {"metadata": _birth(cluster, now)},
    )
    return _stored(cluster, key, born, births=cluster.births + 1)


def _birth(cluster: ObjectStore, now: int) -> dict[str, Any]:
    return {"uid": f"uid-{cluster.births + 1}", "generation": 1, "creationTimestamp": _moment(now)}


def patch(cluster: ObjectStore, request: Patch, *, status: bool = False) -> tuple[ObjectStore, Manifest]:
    """A merge patch. Through the main resource the status stays, through the subresource all but that.

    A patch that changes nothing leaves the resource version alone. Raises Gone, Conflict, Refused.
    """
    old = _existing(cluster, request.key)
    if request.resource_version and request.resource_version != old["metadata"]["resourceVersion"]:
        raise Conflict(f"{request.key} was changed meanwhile")
    new = merge_patched(old, request.changes)
    new = (
        with_value(old, "status", to=new.get("status"))
        if status
        else with_value(new, "status", to=old.get("status"))
    )
    return replace_object(cluster, new)


def replace_object(cluster: ObjectStore, new: Manifest) -> tuple[ObjectStore, Manifest]:
    """The object with this content, whatever it was before. Raises Gone, Refused."""
    key = Key.of(new)
    old = _existing(cluster, key)
    kept = {name: old["metadata"].get(name) for name in _SERVER_SIDE}
    new = merge_patched(new, {"metadata": kept})
    if new == old:
        return cluster, old
    _accept(validation_errors(old, new), key)
    if _intent(new) != _intent(old):
        new = with_value(new, "metadata", "generation", to=old["metadata"]["generation"] + 1)
    if is_terminating(new) and not get_value(new, "metadata", "finalizers") and key.kind not in _GRACEFUL:
        return remove(cluster, key), new
    return _stored(cluster, key, new)


def delete(cluster: ObjectStore, request: Delete, *, now: int) -> ObjectStore:
    """Under its preconditions. Held objects are marked; others are gone. Raises Gone, Conflict."""
    old = _existing(cluster, request.key)
    if request.uid and request.uid != old["metadata"]["uid"]:
        raise Conflict(f"{request.key} is another one by now")
    if request.resource_version and request.resource_version != old["metadata"]["resourceVersion"]:
        raise Conflict(f"{request.key} was changed meanwhile")
    finalizers = [*(get_value(old, "metadata", "finalizers") or ()), *(["orphan"] if request.orphan else [])]
    if not finalizers and request.key.kind not in _GRACEFUL:
        return remove(cluster, request.key)
    if is_terminating(old):
        return cluster
    marked = merge_patched(
        old, {"metadata": {"deletionTimestamp": _moment(now), "finalizers": finalizers or None}}
    )
    return _stored(cluster, request.key, marked)[0]


def remove(cluster: ObjectStore, key: Key) -> ObjectStore:
    """Without the object, as when nothing holds it any longer."""
    left = {each: manifest for each, manifest in cluster.objects.items() if each != key}
    return ObjectStore(left, cluster.revision + 1, cluster.births)


def _stored(
    cluster: ObjectStore, key: Key, manifest: Manifest, *, births: int | None = None
) -> tuple[ObjectStore, Manifest]:
    revision = cluster.revision + 1
    stored = with_value(manifest, "metadata", "resourceVersion", to=str(revision))
    objects = {**cluster.objects, key: stored}
    return ObjectStore(objects, revision, cluster.births if births is None else births), stored


def _existing(cluster: ObjectStore, key: Key) -> Manifest:
    if key not in cluster.objects:
        raise NotFound(f"there is no {key}")
    return cluster.objects[key]


def _accept(found: list[str], key: Key) -> None:
    if found:
        raise Rejected(f"{key} is invalid: {'; '.join(found)}")


def _intent(manifest: Manifest) -> dict[str, Any]:
    """What a change of which makes a new generation."""
    return {name: part for name, part in manifest.items() if name not in ("metadata", "status")}


@lru_cache(maxsize=4096)
def _moment(now: int) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
