"""The Deployment controller, without ReplicaSets: pods of the newest template replace the others in turn."""

from __future__ import annotations

__all__ = ["reconcile"]

import hashlib
import json

from searchkeeper.kubernetes.operations import Delete, Key, Manifest
from searchkeeper.testing.fake_kubernetes.manifests import (
    controller_of,
    get_value,
    is_ready,
    is_terminating,
    labels,
    merge_patched,
    owner_reference,
    with_value,
)
from searchkeeper.testing.fake_kubernetes.object_store import (
    ObjectStore,
    create,
    delete,
    get,
    list_objects,
    replace_object,
)


def reconcile(cluster: ObjectStore, key: Key, *, now: int) -> ObjectStore:
    """One pass: tells the status, and creates or deletes at most one pod."""
    owner = get(cluster, key)
    if owner is None or is_terminating(owner):
        return cluster
    cluster = _told(cluster, owner)
    pods, wanted = _pods(cluster, owner), int(get_value(owner, "spec", "replicas", default=1))
    current = [pod for pod in pods if _template(pod) == _template_of(owner)]
    old = [pod for pod in pods if pod not in current]
    if len(current) < wanted and len(pods) <= wanted:
        return _created(cluster, owner, now)
    surplus = current[wanted:] or (old if all(map(is_ready, current)) else [])
    return _deleted(cluster, surplus[-1], now) if surplus else cluster


def _template_of(owner: Manifest) -> str:
    text = json.dumps(owner["spec"]["template"], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _template(pod: Manifest) -> str | None:
    return labels(pod).get("pod-template-hash")


def _pods(cluster: ObjectStore, owner: Manifest) -> list[Manifest]:
    found = list_objects(cluster, "v1", "Pod", owner["metadata"]["namespace"])
    mine = (pod for pod in found if controller_of(pod) == owner["metadata"]["uid"])
    return [pod for pod in mine if not is_terminating(pod)]


def _told(cluster: ObjectStore, owner: Manifest) -> ObjectStore:
    pods = _pods(cluster, owner)
    status = {
        "observedGeneration": owner["metadata"]["generation"],
        "replicas": len(pods),
        "readyReplicas": sum(map(is_ready, pods)),
        "updatedReplicas": sum(_template(pod) == _template_of(owner) for pod in pods),
    }
    return replace_object(cluster, with_value(owner, "status", to=status))[0]


def _created(cluster: ObjectStore, owner: Manifest, now: int) -> ObjectStore:
    template, digest = owner["spec"]["template"], _template_of(owner)
    metadata = merge_patched(template.get("metadata", {}), {"labels": {"pod-template-hash": digest}})
    metadata |= {
        "name": f"{owner['metadata']['name']}-{digest}-{cluster.births}",
        "namespace": owner["metadata"]["namespace"],
        "ownerReferences": [owner_reference(owner)],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    return create(cluster, pod, now=now)[0]


def _deleted(cluster: ObjectStore, pod: Manifest, now: int) -> ObjectStore:
    return delete(cluster, Delete(Key.of(pod), pod["metadata"]["uid"], ""), now=now)
