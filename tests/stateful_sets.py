"""StatefulSets on the Kubernetes in memory, in few words."""

from __future__ import annotations

from typing import Any

from searchkeeper.embedded.cluster import Cluster, create, listed, replaced
from searchkeeper.embedded.controllers import settled
from searchkeeper.embedded.kubelet import Fault, tick
from searchkeeper.embedded.manifests import is_ready, merged
from searchkeeper.writes import Key, Manifest

DATA = Key("apps/v1", "StatefulSet", "search", "data")


def stateful_set(image: str = "engine:1", *, labels: dict[str, str] | None = None, **spec: Any) -> Manifest:
    chosen = labels or {"pool": "data"}
    plain = {
        "replicas": 3,
        "selector": {"matchLabels": chosen},
        "updateStrategy": {"type": "OnDelete"},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}],
        "template": {
            "metadata": {"labels": chosen},
            "spec": {"containers": [{"name": "main", "image": image}]},
        },
    }
    metadata = {"name": "data", "namespace": "search"}
    return {"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": metadata, "spec": {**plain, **spec}}


def run(cluster: Cluster, faults: dict[str, Fault] | None = None, *, ticks: int = 40) -> Cluster:
    """Controllers and kubelet in turn, for long enough that whatever can get ready has."""
    for _ in range(ticks):
        cluster = tick(settled(cluster, now=0), faults or {}, lambda _: True)
    return settled(cluster, now=0)


def running(manifest: Manifest) -> Cluster:
    return run(create(Cluster(), manifest, now=0)[0])


def changed(cluster: Cluster, **spec: Any) -> Cluster:
    return replaced(cluster, merged(cluster.objects[DATA], {"spec": spec}))[0]


def with_image(cluster: Cluster, image: str) -> Cluster:
    containers = [{"name": "main", "image": image}]
    return changed(cluster, template={"spec": {"containers": containers}})


def pods(cluster: Cluster) -> dict[str, str]:
    """The image of every pod, with `!` behind those that are not ready."""
    found = listed(cluster, "v1", "Pod", "search")
    return {
        each["metadata"]["name"]: each["spec"]["containers"][0]["image"] + ("" if is_ready(each) else "!")
        for each in found
    }
