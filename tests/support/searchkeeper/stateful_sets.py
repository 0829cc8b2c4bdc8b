"""Helpers for tests of StatefulSets on the fake Kubernetes."""

from __future__ import annotations

from typing import Any

from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.testing.fake_kubernetes.controllers import run_until_stable
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault, run_kubelet
from searchkeeper.testing.fake_kubernetes.manifests import is_ready, merge_patched
from searchkeeper.testing.fake_kubernetes.object_store import (
    ObjectStore,
    create,
    list_objects,
    replace_object,
)

DATA = Key("apps/v1", "StatefulSet", "search", "data")


def stateful_set(image: str = "engine:1", *, labels: dict[str, str] | None = None, **spec: Any) -> Manifest:
    pod_labels = labels or {"pool": "data"}
    defaults = {
        "replicas": 3,
        "selector": {"matchLabels": pod_labels},
        "updateStrategy": {"type": "OnDelete"},
        "volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": {}}],
        "template": {
            "metadata": {"labels": pod_labels},
            "spec": {"containers": [{"name": "main", "image": image}]},
        },
    }
    metadata = {"name": "data", "namespace": "search"}
    return {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "metadata": metadata,
        "spec": {**defaults, **spec},
    }


def run(cluster: ObjectStore, faults: dict[str, PodFault] | None = None, *, ticks: int = 40) -> ObjectStore:
    """Run controllers and kubelet until every pod is ready that can be."""
    for _ in range(ticks):
        cluster = run_kubelet(run_until_stable(cluster, now=0), faults or {}, lambda _: True)
    return run_until_stable(cluster, now=0)


def cluster_with(manifest: Manifest) -> ObjectStore:
    """A cluster in which the pods of this StatefulSet run."""
    return run(create(ObjectStore(), manifest, now=0)[0])


def with_spec(cluster: ObjectStore, **spec: Any) -> ObjectStore:
    """The cluster after an edit of the StatefulSet's spec, before its controller runs."""
    return replace_object(cluster, merge_patched(cluster.objects[DATA], {"spec": spec}))[0]


def with_image(cluster: ObjectStore, image: str) -> ObjectStore:
    containers = [{"name": "main", "image": image}]
    return with_spec(cluster, template={"spec": {"containers": containers}})


def pod_images(cluster: ObjectStore) -> dict[str, str]:
    """The image of every pod, with a `!` after it if the pod is not ready."""
    pods = list_objects(cluster, "v1", "Pod", "search")
    return {
        each["metadata"]["name"]: each["spec"]["containers"][0]["image"] + ("" if is_ready(each) else "!")
        for each in pods
    }
