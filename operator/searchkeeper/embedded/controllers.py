"""Everything that runs in a control plane beside the API server, one round at a time."""

from __future__ import annotations

__all__ = ["round_of_controllers", "settled"]

from collections.abc import Callable
from typing import Final

from searchkeeper.embedded import budgets, deployments, garbage, statefulsets
from searchkeeper.embedded.cluster import Cluster
from searchkeeper.writes import Key

_Reconcile = Callable[[Cluster, Key, int], Cluster]

_CONTROLLERS: Final[dict[str, _Reconcile]] = {
    "StatefulSet": lambda cluster, key, now: statefulsets.reconcile(cluster, key, now=now),
    "Deployment": lambda cluster, key, now: deployments.reconcile(cluster, key, now=now),
    "PodDisruptionBudget": lambda cluster, key, _: budgets.reconcile(cluster, key),
}
# Far more rounds than any cluster here needs: past them, two controllers are fighting.
_ROUNDS: Final = 1000


def round_of_controllers(cluster: Cluster, *, now: int) -> Cluster:
    """Every controller looks at every object of its kind once."""
    cluster = garbage.collect(cluster, now=now)
    for key in sorted(cluster.objects):
        if key.kind in _CONTROLLERS:
            cluster = _CONTROLLERS[key.kind](cluster, key, now)
    return cluster


def settled(cluster: Cluster, *, now: int) -> Cluster:
    """Rounds until nothing changes any more. Raises RuntimeError when that never happens."""
    for _ in range(_ROUNDS):
        after = round_of_controllers(cluster, now=now)
        if after.objects == cluster.objects:
            return cluster
        cluster = after
    raise RuntimeError("the controllers do not come to rest")
