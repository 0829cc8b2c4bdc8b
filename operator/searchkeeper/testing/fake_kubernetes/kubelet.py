"""One kubelet for all pods: they start, become ready, fail and end, one step a tick."""

from __future__ import annotations

__all__ = ["PodFault", "ReadinessProbe", "run_kubelet"]

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, Final, TypeAlias

from searchkeeper.kubernetes.operations import Manifest
from searchkeeper.testing.fake_kubernetes.manifests import get_value, is_ready, is_terminating, with_value
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore, remove, replace_object


class PodFault(StrEnum):
    """What keeps a pod from becoming ready. The value is the reason in its status."""

    IMAGE = "ImagePullBackOff"
    CRASH = "CrashLoopBackOff"
    PENDING = "Unschedulable"
    NEVER_READY = "NeverReady"


# What the status of a container keeps of its earlier runs. Without a time: the kubelet here has no clock.
_CRASHED: Final = {"restartCount": 1, "lastState": {"terminated": {"reason": "Error", "exitCode": 1}}}

# Whether the running process of this pod passes its readiness probe.
ReadinessProbe: TypeAlias = Callable[[Manifest], bool]


def run_kubelet(
    cluster: ObjectStore, faults: Mapping[str, PodFault], is_healthy: ReadinessProbe
) -> ObjectStore:
    """Advance every pod by one step. `faults` are by pod name or by image."""
    for key in sorted(key for key in cluster.objects if key.kind == "Pod"):
        pod = cluster.objects[key]
        if is_terminating(pod):
            cluster = remove(cluster, key)
            continue
        images = [container["image"] for container in pod["spec"]["containers"]]
        fault = next((faults[name] for name in (pod["metadata"]["name"], *images) if name in faults), None)
        status = _next_status(pod, fault, is_healthy)
        cluster, _ = replace_object(cluster, with_value(pod, "status", to=status))
    return cluster


def _next_status(pod: Manifest, fault: PodFault | None, is_healthy: ReadinessProbe) -> dict[str, Any]:
    """Pending, then running, then ready: a pod is in each for at least one tick."""
    if fault is PodFault.PENDING:
        condition = {"type": "PodScheduled", "status": "False", "reason": str(fault)}
        return {"phase": "Pending", "conditions": [condition]}
    if fault in (PodFault.IMAGE, PodFault.CRASH):
        return {
            "phase": "Pending" if fault is PodFault.IMAGE else "Running",
            "conditions": [{"type": "Ready", "status": "False"}],
            "containerStatuses": [
                {
                    "name": "main",
                    "ready": False,
                    "state": {"waiting": {"reason": str(fault)}},
                    **(_CRASHED if fault is PodFault.CRASH else {}),
                }
            ],
        }
    containers = get_value(pod, "status", "containerStatuses", default=())
    is_waiting = any("waiting" in container["state"] for container in containers) and not is_ready(pod)
    is_started = get_value(pod, "status", "phase") == "Running" and not is_waiting
    ready = is_started and fault is None and is_healthy(pod)
    history = {name: containers[0][name] for name in _CRASHED if containers and name in containers[0]}
    return {
        "phase": "Running",
        "conditions": [{"type": "Ready", "status": "True" if ready else "False"}],
        "containerStatuses": [{"name": "main", "ready": ready, "state": {"running": {}}, **history}],
    }
