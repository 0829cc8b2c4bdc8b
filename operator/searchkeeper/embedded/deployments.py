"""The Deployment controller, without ReplicaSets: pods of the newest template replace the others in turn."""

from __future__ import annotations

__all__ = ["reconcile"]

import hashlib
import json

from searchkeeper.embedded.cluster import Cluster, create, delete, get, listed, replaced
from searchkeeper.embedded.manifests import (
    controller_of,
    is_ready,
    is_terminating,
    labels,
    merged,
    owner_reference,
    placed,
    value,
)
from searchkeeper.writes import Delete, Key, Manifest


def reconcile(cluster: Cluster, key: Key, *, now: int) -> Cluster:
    """One pass: tells the status, and creates or deletes at most one pod."""
    owner = get(cluster, key)
    if owner is None or is_terminating(owner):
        return cluster
    cluster = _told(cluster, owner)
    pods, wanted = _pods(cluster, owner), int(value(owner, "spec", "replicas", default=1))
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


def _pods(cluster: Cluster, owner: Manifest) -> list[Manifest]:
    found = listed(cluster, "v1", "Pod", owner["metadata"]["namespace"])
    mine = (pod for pod in found if controller_of(pod) == owner["metadata"]["uid"])
    return [pod for pod in mine if not is_terminating(pod)]


def _told(cluster: Cluster, owner: Manifest) -> Cluster:
    pods = _pods(cluster, owner)
    status = {
        "observedGeneration": owner["metadata"]["generation"],
        "replicas": len(pods),
        "readyReplicas": sum(map(is_ready, pods)),
        "updatedReplicas": sum(_template(pod) == _template_of(owner) for pod in pods),
    }
    return replaced(cluster, placed(owner, "status", to=status))[0]


def _created(cluster: Cluster, owner: Manifest, now: int) -> Cluster:
    template, digest = owner["spec"]["template"], _template_of(owner)
    metadata = merged(template.get("metadata", {}), {"labels": {"pod-template-hash": digest}})
    metadata |= {
        "name": f"{owner['metadata']['name']}-{digest}-{cluster.births}",
        "namespace": owner["metadata"]["namespace"],
        "ownerReferences": [owner_reference(owner)],
    }
    pod = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    return create(cluster, pod, now=now)[0]


def _deleted(cluster: Cluster, pod: Manifest, now: int) -> Cluster:
    return delete(cluster, Delete(Key.of(pod), pod["metadata"]["uid"], ""), now=now)
