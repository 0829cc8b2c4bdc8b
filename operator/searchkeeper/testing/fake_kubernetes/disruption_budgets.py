"""PodDisruptionBudgets and evictions. Controllers and plain deletions ignore budgets.

- `maxUnavailable` counts against the replicas that the pods' controllers want. A missing pod counts as
  unavailable. A pod without a controller counts as healthy, but not as expected.
- A pod under two budgets cannot be evicted.
- A budget does not apply to a pod that is pending, has ended or is terminating.
"""

from __future__ import annotations

__all__ = ["evict", "reconcile"]

from collections.abc import Sequence
from typing import Final

from searchkeeper.kubernetes.api import NotFound, Unavailable
from searchkeeper.kubernetes.operations import Delete, Key, Manifest
from searchkeeper.testing.fake_kubernetes.manifests import (
    controller_of,
    get_value,
    is_ready,
    is_terminating,
    selects,
    with_value,
)
from searchkeeper.testing.fake_kubernetes.object_store import (
    ObjectStore,
    delete,
    get,
    list_objects,
    replace_object,
)

_EXEMPT_PHASES: Final = frozenset({"Pending", "Succeeded", "Failed"})


def reconcile(cluster: ObjectStore, key: Key) -> ObjectStore:
    """Write the status of a budget: how many disruptions it allows."""
    budget = get(cluster, key)
    if budget is None:
        return cluster
    pods = [pod for pod in list_objects(cluster, "v1", "Pod", key.namespace) if _applies_to(budget, pod)]
    healthy = sum(is_ready(pod) and not is_terminating(pod) for pod in pods)
    expected, desired = _expected_and_desired(cluster, budget, pods)
    status = {
        "observedGeneration": budget["metadata"]["generation"],
        "expectedPods": expected,
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": max(0, healthy - desired) if expected else 0,
    }
    return replace_object(cluster, with_value(budget, "status", to=status))[0]


def _expected_and_desired(
    cluster: ObjectStore, budget: Manifest, pods: Sequence[Manifest]
) -> tuple[int, int]:
    """Return the number of expected pods, and how many of them must be healthy."""
    spec = budget["spec"]
    if "minAvailable" in spec:
        return len(pods), int(spec["minAvailable"])
    controllers = {controller_of(pod) for pod in pods} - {None}
    expected = sum(
        int(get_value(manifest, "spec", "replicas", default=1))
        for manifest in cluster.objects.values()
        if manifest["metadata"]["uid"] in controllers
    )
    return expected, max(0, expected - int(spec.get("maxUnavailable", 1)))


def evict(cluster: ObjectStore, key: Key, *, now: int) -> ObjectStore:
    """Delete a pod if its budget allows it. Raises Unavailable if not, and NotFound."""
    pod = get(cluster, key)
    if pod is None:
        raise NotFound(f"{key} not found")
    if get_value(pod, "status", "phase") not in _EXEMPT_PHASES and not is_terminating(pod):
        cluster = _take_disruption(cluster, pod)
    return delete(cluster, Delete(key, pod["metadata"]["uid"], ""), now=now)


def _take_disruption(cluster: ObjectStore, pod: Manifest) -> ObjectStore:
    """Decrement `disruptionsAllowed` at once, before the controller counts again. Raises Unavailable."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    budgets = [
        budget
        for budget in list_objects(cluster, "policy/v1", "PodDisruptionBudget", namespace)
        if _applies_to(budget, pod)
    ]
    if len(budgets) > 1:
        raise Unavailable(f"{name} has {len(budgets)} disruption budgets; eviction supports only one")
    if not budgets or (not is_ready(pod) and _ignores_unready_pods(budgets[0])):
        return cluster
    [budget] = budgets
    left = get_value(budget, "status", "disruptionsAllowed", default=0)
    observed = get_value(budget, "status", "observedGeneration", default=0)
    if not left or observed < budget["metadata"]["generation"]:
        raise Unavailable(f"{budget['metadata']['name']} allows no disruption of {name}")
    return replace_object(cluster, with_value(budget, "status", "disruptionsAllowed", to=left - 1))[0]


def _ignores_unready_pods(budget: Manifest) -> bool:
    if get_value(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = get_value(budget, "status", default={})
    return bool(status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0)


def _applies_to(budget: Manifest, pod: Manifest) -> bool:
    return selects(get_value(budget, "spec", "selector"), pod)
