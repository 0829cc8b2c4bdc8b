"""The action that keeps the disruption budgets: what whoever drains a machine may take along."""

from __future__ import annotations

__all__ = ["disruption_budgets_applied"]

from collections.abc import Iterator
from dataclasses import replace

from searchkeeper.api.spec import PoolSpec
from searchkeeper.desired import names
from searchkeeper.desired.manifests import disruption_budgets
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.planner import Result, action
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.migrations import relabelled_next
from searchkeeper.reconcilers.objects import apply_all, delete_all
from searchkeeper.snapshot import PoolView


@action()
def disruption_budgets_applied(ctx: ReconcileContext) -> Result:
    """Every pod has one budget. The one that takes a pod over is there before the one that had it goes.

    For the cycle between both have it, and nobody evicts it: better than that anybody could.
    """
    here = [_as_it_votes(ctx, pool) for pool in ctx.pools if pool.is_wanted or pool.pods]
    wanted = disruption_budgets(
        ctx.deployed, tuple(sorted(here, key=lambda pool: pool.name)), _uncounted(ctx)
    )
    standing = apply_all(ctx, wanted, "ApplyingBudgets")
    kept = {Key.of(each) for each in wanted}
    found = sorted(key for key in ctx.snapshot.objects if key.kind == "PodDisruptionBudget")
    return delete_all(ctx, [key for key in found if key not in kept]) if standing.is_true else standing


def _as_it_votes(ctx: ReconcileContext, pool: PoolView) -> PoolSpec:
    """A pool that is not to vote any more does so until its last pod was made anew."""
    made = (ctx.snapshot.objects[ctx.key("v1", "Pod", pod.name)] for pod in pool.pods)
    roles = frozenset(role for pod in made for role in _roles(pod) if role == "cluster_manager")
    return replace(pool.spec, roles=pool.spec.roles | roles)


def _roles(pod: Manifest) -> Iterator[str]:
    for container in pod["spec"]["containers"]:
        for variable in container.get("env") or ():
            if variable["name"] == names.ROLES:
                yield from variable.get("value", "").split(",")


def _uncounted(ctx: ReconcileContext) -> int | None:
    """How many voters there are, while a pool of them is between two StatefulSets, or about to be.

    A budget counts pods without a set among those that are there, not among those that are wanted: it would
    let as many others go.
    """
    voting = [pool for pool in ctx.pools if _as_it_votes(ctx, pool).votes]
    if not any(_is_between_sets(ctx, pool) for pool in voting):
        return None
    return sum(max(len(pool.pods), pool.allotted_replicas or 0) for pool in voting)


def _is_between_sets(ctx: ReconcileContext, pool: PoolView) -> bool:
    live = (ctx.snapshot.objects[ctx.key("v1", "Pod", pod.name)] for pod in pool.pods)
    orphaned = any(not each["metadata"].get("ownerReferences") for each in live)
    return orphaned or relabelled_next(ctx, pool)
