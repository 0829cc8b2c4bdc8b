"""Disruption budgets: what an eviction asks first. Controllers and plain deletions do not ask.

- Of `maxUnavailable` the whole is what the pods' controllers want: a pod that is missing counts as away, and
  one without a controller does not count into the whole, although it does among the healthy.
- A pod under two budgets is not evicted at all.
- Nobody is asked about a pod that has not started, has ended, or is on its way out.
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

_UNASKED: Final = frozenset({"Pending", "Succeeded", "Failed"})


def reconcile(cluster: ObjectStore, key: Key) -> ObjectStore:
    """The status of a budget: how many pods may go at this moment."""
    budget = get(cluster, key)
    if budget is None:
        return cluster
    pods = [pod for pod in list_objects(cluster, "v1", "Pod", key.namespace) if _is_over(budget, pod)]
    healthy = sum(is_ready(pod) and not is_terminating(pod) for pod in pods)
    whole, desired = _counts(cluster, budget, pods)
    status = {
        "observedGeneration": budget["metadata"]["generation"],
        "expectedPods": whole,
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": max(0, healthy - desired) if whole else 0,
    }
    return replace_object(cluster, with_value(budget, "status", to=status))[0]


def evict(cluster: ObjectStore, key: Key, *, now: int) -> ObjectStore:
    """Deletes a pod if the budget over it allows that. Raises Unavailable otherwise, and Gone."""
    pod = get(cluster, key)
    if pod is None:
        raise NotFound(f"there is no {key}")
    if get_value(pod, "status", "phase") not in _UNASKED and not is_terminating(pod):
        cluster = _allowed(cluster, pod)
    return delete(cluster, Delete(key, pod["metadata"]["uid"], ""), now=now)


def _allowed(cluster: ObjectStore, pod: Manifest) -> ObjectStore:
    """One disruption less is left: whoever evicts next need not wait for a controller to count again."""
    name, namespace = pod["metadata"]["name"], pod["metadata"]["namespace"]
    found = list_objects(cluster, "policy/v1", "PodDisruptionBudget", namespace)
    budgets = [budget for budget in found if _is_over(budget, pod)]
    if len(budgets) > 1:
        raise Unavailable(f"{name} has {len(budgets)} disruption budgets, and an eviction knows but one")
    if not budgets or (not is_ready(pod) and _leaves_unready(budgets[0])):
        return cluster
    [budget] = budgets
    left = get_value(budget, "status", "disruptionsAllowed", default=0)
    is_counted = (
        get_value(budget, "status", "observedGeneration", default=0) >= budget["metadata"]["generation"]
    )
    if not left or not is_counted:
        raise Unavailable(f"{budget['metadata']['name']} allows no disruption of {name}")
    return replace_object(cluster, with_value(budget, "status", "disruptionsAllowed", to=left - 1))[0]


def _leaves_unready(budget: Manifest) -> bool:
    """Whether a pod that serves nobody may go without being counted."""
    if get_value(budget, "spec", "unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = get_value(budget, "status", default={})
    return bool(status.get("currentHealthy", 0) >= status.get("desiredHealthy", 0) > 0)


def _is_over(budget: Manifest, pod: Manifest) -> bool:
    return selects(get_value(budget, "spec", "selector"), pod)


def _counts(cluster: ObjectStore, budget: Manifest, pods: Sequence[Manifest]) -> tuple[int, int]:
    """How many pods there should be, and how many of them have to be healthy."""
    spec = budget["spec"]
    if "minAvailable" in spec:
        return len(pods), int(spec["minAvailable"])
    controllers = {controller_of(pod) for pod in pods} - {None}
    wanted = [each for each in cluster.objects.values() if each["metadata"]["uid"] in controllers]
    whole = sum(int(get_value(each, "spec", "replicas", default=1)) for each in wanted)
    return whole, max(0, whole - int(spec.get("maxUnavailable", 1)))
