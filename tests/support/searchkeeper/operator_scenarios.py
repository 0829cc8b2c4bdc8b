"""Clusters, ports and user actions for scenarios of the operator, and what a test reads from a cluster."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from searchkeeper.images import image_version
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import CallFailed
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_kubernetes.manifests import is_ready, is_terminating
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    CountingPorts,
    add_index,
    new_cluster,
    reconcile_until_converged,
)


@dataclass
class UnreachableEnginePorts(CountingPorts):
    """Ports to an engine that does not respond."""

    def get_state(self) -> Unreachable:
        return Unreachable("timed out")

    def execute(self, call: Call) -> None:
        raise CallFailed(f"timed out: {call}")


@dataclass
class RecordingPorts(CountingPorts):
    """Ports that record deletes and patches."""

    deleted: list[Key] = field(default_factory=list)
    patched: list[Patch] = field(default_factory=list)

    def delete(self, delete: Delete) -> None:
        super().delete(delete)
        self.deleted.append(delete.key)

    def patch(self, patch: Patch) -> Manifest:
        self.patched.append(patch)
        return super().patch(patch)


def running_cluster(
    *pools: dict[str, Any], version: str = NEWEST, engine: str = "2.19.4", **spec: Any
) -> FakeCluster:
    """Return a converged cluster with an index, deployed by this release of the operator."""
    cluster = new_cluster(*pools, version=engine, **spec)
    reconcile_until_converged(cluster, version)
    add_index(cluster)
    reconcile_until_converged(cluster, version)
    return cluster


def add_pod_fault(cluster: FakeCluster, name: str, fault: PodFault) -> FakeCluster:
    """Let a pod, or every pod with an image, fail from now on."""
    cluster.state = replace(cluster.state, faults=(*cluster.state.faults, (name, fault)))
    return cluster


def delete_cluster(cluster: FakeCluster) -> FakeCluster:
    """Delete the SearchCluster, as a user does: its finalizer keeps it until the operator is done."""
    cluster.delete(Delete(CLUSTER, "", ""))
    return cluster


def object_kinds(cluster: FakeCluster) -> set[str]:
    return {key.kind for key in cluster.state.cluster.objects}


def pods(cluster: FakeCluster) -> dict[str, Manifest]:
    """Return the engine's pods by their short names: `data-0`."""
    prefix = f"{CLUSTER.name}-"
    found = (each for key, each in sorted(cluster.state.cluster.objects.items()) if key.kind == "Pod")
    named = {each["metadata"]["name"].removeprefix(prefix): each for each in found}
    return {name: each for name, each in named.items() if not name.startswith("dashboards")}


def pod_versions(cluster: FakeCluster) -> dict[str, str]:
    """Return the engine version in the image of every pod, by its short name."""
    return {
        name: image_version(each["spec"]["containers"][0]["image"]) for name, each in pods(cluster).items()
    }


def unavailable_pods(cluster: FakeCluster, names: set[str]) -> set[str]:
    """Return those of these pods that are missing, not ready, or terminating."""
    found = pods(cluster)
    available = {name for name, each in found.items() if is_ready(each) and not is_terminating(each)}
    return names - available


def color(cluster: FakeCluster) -> Color:
    found = cluster.get_state()
    assert isinstance(found, EngineView)
    return found.color


def stateful_set(cluster: FakeCluster, pool: str) -> Manifest | None:
    return cluster.get(Key("apps/v1", "StatefulSet", CLUSTER.namespace, f"{CLUSTER.name}-{pool}"))


def pod_templates(cluster: FakeCluster) -> dict[str, Any]:
    """Return the pod template of every StatefulSet and Deployment, by name."""
    return {
        key.name: each["spec"]["template"]
        for key, each in cluster.state.cluster.objects.items()
        if key.kind in ("StatefulSet", "Deployment")
    }
