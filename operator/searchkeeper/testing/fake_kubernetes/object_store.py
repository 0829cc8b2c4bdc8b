"""The objects of a cluster, and the verbs of the API server on them.

Every verb is a function: a store and a request go in, the next store and the object come out. A verb that
raises an error of `searchkeeper.kubernetes.api` has changed nothing.
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
from searchkeeper.testing.fake_kubernetes.validation import expansion_error, validation_errors

# Kinds with a grace period: a deletion marks them, the kubelet removes them.
_GRACEFUL: Final = frozenset({"Pod"})
# Metadata that only the API server sets.
_SERVER_SIDE: Final = ("uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp")


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """Objects by key. `revision` counts changes, `births` counts created objects."""

    objects: Mapping[Key, Manifest] = field(default_factory=dict)
    revision: int = 0
    births: int = 0


def get(cluster: ObjectStore, key: Key) -> Manifest | None:
    return cluster.objects.get(key)


def list_objects(
    cluster: ObjectStore, api: str, kind: str, namespace: str, labels: Mapping[str, str] | None = None
) -> tuple[Manifest, ...]:
    """Return the objects of a kind in a namespace that have the labels, sorted by name."""
    keys = [key for key in cluster.objects if (key.kind, key.api, key.namespace) == (kind, api, namespace)]
    objects = (cluster.objects[key] for key in sorted(keys))
    return tuple(each for each in objects if has_labels(each, labels)) if labels else tuple(objects)


def create(cluster: ObjectStore, manifest: Manifest, *, now: int) -> tuple[ObjectStore, Manifest]:
    """Add an object, without its status. Raises Conflict if the name is in use, Rejected if it is invalid."""
    key = Key.of(manifest)
    if key in cluster.objects:
        raise Conflict(f"{key} already exists")
    _validate(None, manifest, key)
    server_side = dict.fromkeys(_SERVER_SIDE) | {
        "uid": f"uid-{cluster.births + 1}",
        "generation": 1,
        "creationTimestamp": _timestamp(now),
    }
    created = merge_patched(manifest, {"metadata": server_side, "status": None})
    return _store(ObjectStore(cluster.objects, cluster.revision, cluster.births + 1), key, created)


def patch(cluster: ObjectStore, request: Patch, *, status: bool = False) -> tuple[ObjectStore, Manifest]:
    """Apply a merge patch to the main resource, which keeps the status, or to the status subresource.

    A patch that changes nothing keeps the resource version. Raises NotFound, Conflict, Rejected.
    """
    old = _existing(cluster, request.key)
    _check_resource_version(request, old)
    new = merge_patched(old, request.changes)
    if status:
        new = with_value(old, "status", to=new.get("status"))
    else:
        new = with_value(new, "status", to=old.get("status"))
    return replace_object(cluster, new)


def replace_object(cluster: ObjectStore, new: Manifest) -> tuple[ObjectStore, Manifest]:
    """Replace an object, except its server-side metadata. Raises NotFound, Rejected.

    A terminating object without finalizers is removed.
    """
    key = Key.of(new)
    old = _existing(cluster, key)
    new = merge_patched(new, {"metadata": {name: old["metadata"].get(name) for name in _SERVER_SIDE}})
    if new == old:
        return cluster, old
    _validate(old, new, key)
    error = expansion_error(old, new, cluster.objects) if key.kind == "PersistentVolumeClaim" else None
    if error is not None:
        raise Rejected(f"{key} is forbidden: {error}")
    if _without_bookkeeping(new) != _without_bookkeeping(old):
        new = with_value(new, "metadata", "generation", to=old["metadata"]["generation"] + 1)
    if is_terminating(new) and not get_value(new, "metadata", "finalizers") and key.kind not in _GRACEFUL:
        return remove(cluster, key), new
    return _store(cluster, key, new)


def delete(cluster: ObjectStore, request: Delete, *, now: int) -> ObjectStore:
    """Delete an object under its preconditions. Raises NotFound, Conflict.

    Pods and objects with finalizers are marked as terminating; others are removed.
    """
    old = _existing(cluster, request.key)
    if request.uid and request.uid != old["metadata"]["uid"]:
        raise Conflict(f"{request.key} has UID {old['metadata']['uid']}, not {request.uid}")
    _check_resource_version(request, old)
    finalizers = [*(get_value(old, "metadata", "finalizers") or ()), *(["orphan"] if request.orphan else [])]
    if not finalizers and request.key.kind not in _GRACEFUL:
        return remove(cluster, request.key)
    if is_terminating(old):
        return cluster
    metadata = {"deletionTimestamp": _timestamp(now), "finalizers": finalizers or None}
    return _store(cluster, request.key, merge_patched(old, {"metadata": metadata}))[0]


def remove(cluster: ObjectStore, key: Key) -> ObjectStore:
    """Remove an object at once, whatever finalizers it has."""
    objects = {other: manifest for other, manifest in cluster.objects.items() if other != key}
    return ObjectStore(objects, cluster.revision + 1, cluster.births)


def _store(cluster: ObjectStore, key: Key, manifest: Manifest) -> tuple[ObjectStore, Manifest]:
    revision = cluster.revision + 1
    stored = with_value(manifest, "metadata", "resourceVersion", to=str(revision))
    return ObjectStore({**cluster.objects, key: stored}, revision, cluster.births), stored


def _existing(cluster: ObjectStore, key: Key) -> Manifest:
    if key not in cluster.objects:
        raise NotFound(f"{key} not found")
    return cluster.objects[key]


def _check_resource_version(request: Patch | Delete, old: Manifest) -> None:
    if request.resource_version and request.resource_version != old["metadata"]["resourceVersion"]:
        raise Conflict(f"{request.key} was modified")


def _validate(old: Manifest | None, new: Manifest, key: Key) -> None:
    errors = validation_errors(old, new)
    if errors:
        raise Rejected(f"{key} is invalid: {'; '.join(errors)}")


def _without_bookkeeping(manifest: Manifest) -> dict[str, Any]:
    """Return the part whose change increments the generation."""
    return {name: part for name, part in manifest.items() if name not in ("metadata", "status")}


@lru_cache(maxsize=4096)
def _timestamp(now: int) -> str:
    return datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
