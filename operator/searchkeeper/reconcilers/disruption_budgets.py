"""The action that applies PodDisruptionBudgets: which pods a drain of a machine may evict."""

from __future__ import annotations

__all__ = ["disruption_budgets_applied"]

from dataclasses import replace

from searchkeeper.api.reasons import Reason
from searchkeeper.api.spec import PoolSpec
from searchkeeper.desired import names
from searchkeeper.desired.manifests import disruption_budgets
from searchkeeper.kubernetes.operations import Key
from searchkeeper.planner import Result, action
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.migrations import is_replaced_next
from searchkeeper.reconcilers.objects import apply_all, delete_all
from searchkeeper.snapshot import PoolView


@action()
def disruption_budgets_applied(ctx: ReconcileContext) -> Result:
    """True when every pod has exactly one budget.

    A new budget is created before the old one is deleted. A pod with two budgets cannot be evicted, a pod
    with none always can.
    """
    specs = [_spec_with_running_votes(ctx, pool) for pool in ctx.pools if pool.is_wanted or pool.pods]
    budgets = disruption_budgets(
        ctx.desired, tuple(sorted(specs, key=lambda spec: spec.name)), _voters_without_owner(ctx)
    )
    applied = apply_all(ctx, budgets, Reason.APPLYING_DISRUPTION_BUDGETS)
    if not applied.is_true:
        return applied
    wanted = {Key.of(budget) for budget in budgets}
    deployed = sorted(key for key in ctx.snapshot.objects if key.kind == "PodDisruptionBudget")
    return delete_all(ctx, [key for key in deployed if key not in wanted])


def _spec_with_running_votes(ctx: ReconcileContext, pool: PoolView) -> PoolSpec:
    """The pool's spec, with the role cluster_manager while any of its pods runs with it."""
    pods = (ctx.snapshot.objects[ctx.key("v1", "Pod", pod.name)] for pod in pool.pods)
    has_manager = any(
        "cluster_manager" in variable.get("value", "").split(",")
        for pod in pods
        for container in pod["spec"]["containers"]
        for variable in container.get("env") or ()
        if variable["name"] == names.ROLES
    )
    return replace(pool.spec, roles=pool.spec.roles | {"cluster_manager"}) if has_manager else pool.spec


def _voters_without_owner(ctx: ReconcileContext) -> int | None:
    """The number of voters while a pool of them is, or is about to be, without a StatefulSet; else None.

    `maxUnavailable` counts such pods as healthy but not as expected, and would allow more evictions.
    """
    voting = [pool for pool in ctx.pools if _spec_with_running_votes(ctx, pool).votes]
    for pool in voting:
        pods = (ctx.snapshot.objects[ctx.key("v1", "Pod", pod.name)] for pod in pool.pods)
        has_orphans = any(not pod["metadata"].get("ownerReferences") for pod in pods)
        if has_orphans or is_replaced_next(ctx, pool):
            return sum(max(len(each.pods), each.allotted_replicas or 0) for each in voting)
    return None
