"""Disruption budgets: what an eviction asks first. Controllers and plain deletions do not ask."""

from __future__ import annotations

__all__ = ["evict", "reconcile"]

from searchkeeper.embedded.cluster import Cluster, delete, get, listed, replaced
from searchkeeper.embedded.manifests import has_labels, is_ready, is_terminating, placed, value
from searchkeeper.kube import Gone, Unavailable
from searchkeeper.writes import Delete, Key, Manifest


def reconcile(cluster: Cluster, key: Key) -> Cluster:
    """The status of a budget: how many pods may go at this moment."""
    budget = get(cluster, key)
    if budget is None:
        return cluster
    pods = _guarded(cluster, budget)
    healthy = sum(is_ready(pod) and not is_terminating(pod) for pod in pods)
    desired = _desired(budget, len(pods))
    status = {
        "observedGeneration": budget["metadata"]["generation"],
        "expectedPods": len(pods),
        "currentHealthy": healthy,
        "desiredHealthy": desired,
        "disruptionsAllowed": max(0, healthy - desired),
    }
    return replaced(cluster, placed(budget, "status", to=status))[0]


def evict(cluster: Cluster, key: Key, *, now: int) -> Cluster:
    """Deletes a pod if every budget over it allows that. Raises Unavailable (429) otherwise, and Gone."""
    pod = get(cluster, key)
    if pod is None:
        raise Gone(f"there is no {key}")
    for budget in listed(cluster, "policy/v1", "PodDisruptionBudget", key.namespace):
        over_it = has_labels(pod, value(budget, "spec", "selector", "matchLabels", default={}))
        if over_it and not value(budget, "status", "disruptionsAllowed", default=0):
            raise Unavailable(f"{budget['metadata']['name']} allows no disruption of {key.name}")
    return delete(cluster, Delete(key, pod["metadata"]["uid"], ""), now=now)


def _guarded(cluster: Cluster, budget: Manifest) -> tuple[Manifest, ...]:
    selector = value(budget, "spec", "selector", "matchLabels", default={})
    return listed(cluster, "v1", "Pod", budget["metadata"]["namespace"], selector)


def _desired(budget: Manifest, pods: int) -> int:
    spec = budget["spec"]
    if "minAvailable" in spec:
        return int(spec["minAvailable"])
    return max(0, pods - int(spec.get("maxUnavailable", 1)))
