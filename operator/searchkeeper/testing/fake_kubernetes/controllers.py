"""The controllers of the control plane: StatefulSets, Deployments, disruption budgets, garbage collection."""

from __future__ import annotations

__all__ = ["run_controllers_once", "run_until_stable"]

from collections.abc import Callable
from typing import Final

from searchkeeper.kubernetes.operations import Key
from searchkeeper.testing.fake_kubernetes import (
    deployments,
    disruption_budgets,
    garbage_collector,
    statefulsets,
)
from searchkeeper.testing.fake_kubernetes.object_store import ObjectStore

_Reconcile = Callable[[ObjectStore, Key, int], ObjectStore]

_CONTROLLERS: Final[dict[str, _Reconcile]] = {
    "StatefulSet": lambda cluster, key, now: statefulsets.reconcile(cluster, key, now=now),
    "Deployment": lambda cluster, key, now: deployments.reconcile(cluster, key, now=now),
    "PodDisruptionBudget": lambda cluster, key, _: disruption_budgets.reconcile(cluster, key),
}
# Far above what any test needs: beyond this, two controllers oscillate.
_MAX_ROUNDS: Final = 1000


def run_controllers_once(cluster: ObjectStore, *, now: int) -> ObjectStore:
    """Reconcile every object once."""
    cluster = garbage_collector.collect(cluster, now=now)
    for key in sorted(cluster.objects):
        if key.kind in _CONTROLLERS:
            cluster = _CONTROLLERS[key.kind](cluster, key, now)
    return cluster


def run_until_stable(cluster: ObjectStore, *, now: int) -> ObjectStore:
    """Reconcile until nothing changes. Raises RuntimeError if that never happens."""
    for _ in range(_MAX_ROUNDS):
        after = run_controllers_once(cluster, now=now)
        if after.objects == cluster.objects:
            return cluster
        cluster = after
    raise RuntimeError(f"the controllers are not stable after {_MAX_ROUNDS} rounds")
