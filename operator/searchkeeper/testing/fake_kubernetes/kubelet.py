"""A kubelet for all nodes: pods start, get ready, fail and end, one step a tick."""

from __future__ import annotations

__all__ = ["PodFault", "ReadinessProbe", "run_kubelet"]

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeAlias

from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.testing.fake_kubernetes.manifests import get_value, is_ready, is_terminating, with_value
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore, remove, replace_object


class PodFault(StrEnum):
    """What keeps a pod from getting ready, in the words that its status has for it."""

    IMAGE = "ImagePullBackOff"
    CRASH = "CrashLoopBackOff"
    PENDING = "Unschedulable"
    NEVER_READY = "NeverReady"


# What a container's process says to its readiness probe, once it runs.
ReadinessProbe: TypeAlias = Callable[[Manifest], bool]


def run_kubelet(cluster: ObjectStore, faults: Mapping[str, PodFault], healthy: ReadinessProbe) -> ObjectStore:
    """Every pod takes one step: out of the world, into it, or to where its process says it is.

    `faults` are by the name of the pod, or by its image.
    """
    for key in sorted(key for key in cluster.objects if key.kind == "Pod"):
        cluster = _step(cluster, key, faults, healthy)
    return cluster


def _step(
    cluster: ObjectStore, key: Key, faults: Mapping[str, PodFault], healthy: ReadinessProbe
) -> ObjectStore:
    pod = cluster.objects[key]
    if is_terminating(pod):
        return remove(cluster, key)
    status = _status(pod, _fault(pod, faults), healthy)
    return replace_object(cluster, with_value(pod, "status", to=status))[0]


def _fault(pod: Manifest, faults: Mapping[str, PodFault]) -> PodFault | None:
    images = [container["image"] for container in pod["spec"]["containers"]]
    return next((faults[name] for name in (pod["metadata"]["name"], *images) if name in faults), None)


def _status(pod: Manifest, fault: PodFault | None, healthy: ReadinessProbe) -> dict[str, Any]:
    """Pending, then running, then ready: each is seen for at least one tick."""
    if fault is PodFault.PENDING:
        return _pending(fault)
    if fault in (PodFault.IMAGE, PodFault.CRASH):
        return _failing(fault)
    if get_value(pod, "status", "phase") != "Running" or _waits(pod):
        return _running(ready=False)
    return _running(ready=fault is None and healthy(pod))


def _waits(pod: Manifest) -> bool:
    containers = get_value(pod, "status", "containerStatuses", default=())
    return any("waiting" in container["state"] for container in containers) and not is_ready(pod)


def _pending(fault: PodFault) -> dict[str, Any]:
    return {
        "phase": "Pending",
        "conditions": [{"type": "PodScheduled", "status": "False", "reason": str(fault)}],
    }


def _failing(fault: PodFault) -> dict[str, Any]:
    return {
        "phase": "Pending" if fault is PodFault.IMAGE else "Running",
        "conditions": [{"type": "Ready", "status": "False"}],
        "containerStatuses": [{"name": "main", "ready": False, "state": {"waiting": {"reason": str(fault)}}}],
    }


def _running(*, ready: bool) -> dict[str, Any]:
    return {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        "containerStatuses": [{"name": "main", "ready": ready, "state": {"running": {}}}],
    }
