"""The Deployment controller, without ReplicaSets: it replaces pods of older templates one at a time."""

from __future__ import annotations

__all__ = ["reconcile"]

import hashlib
import json
from typing import Final

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

_TEMPLATE_HASH: Final = "pod-template-hash"


def reconcile(cluster: ObjectStore, key: Key, *, now: int) -> ObjectStore:
    """Run one pass: write the status, and create or delete at most one pod."""
    deployment = get(cluster, key)
    if deployment is None or is_terminating(deployment):
        return cluster
    replicas = int(get_value(deployment, "spec", "replicas", default=1))
    template_hash = _template_hash(deployment)
    pods = [
        pod
        for pod in list_objects(cluster, "v1", "Pod", key.namespace)
        if controller_of(pod) == deployment["metadata"]["uid"] and not is_terminating(pod)
    ]
    current = [pod for pod in pods if labels(pod).get(_TEMPLATE_HASH) == template_hash]
    status = {
        "observedGeneration": deployment["metadata"]["generation"],
        "replicas": len(pods),
        "readyReplicas": sum(map(is_ready, pods)),
        "updatedReplicas": len(current),
    }
    cluster, _ = replace_object(cluster, with_value(deployment, "status", to=status))
    if len(current) < replicas and len(pods) <= replicas:
        return _create_pod(cluster, deployment, template_hash, now)
    outdated = [pod for pod in pods if pod not in current]
    surplus = current[replicas:] or (outdated if all(map(is_ready, current)) else [])
    if not surplus:
        return cluster
    return delete(cluster, Delete(Key.of(surplus[-1]), surplus[-1]["metadata"]["uid"], ""), now=now)


def _template_hash(deployment: Manifest) -> str:
    text = json.dumps(deployment["spec"]["template"], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:10]


def _create_pod(cluster: ObjectStore, deployment: Manifest, template_hash: str, now: int) -> ObjectStore:
    template = deployment["spec"]["template"]
    metadata = merge_patched(template.get("metadata", {}), {"labels": {_TEMPLATE_HASH: template_hash}})
    metadata |= {
        "name": f"{deployment['metadata']['name']}-{template_hash}-{cluster.births}",
        "namespace": deployment["metadata"]["namespace"],
        "ownerReferences": [owner_reference(deployment)],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    return create(cluster, pod, now=now)[0]
