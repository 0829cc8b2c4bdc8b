"""One reconcile of a SearchCluster: observe, plan, persist status and ledger, execute."""

from __future__ import annotations

__all__ = [
    "OSCILLATION_LIMIT",
    "ReconcileOutcome",
    "ResourcePlan",
    "plan_until_stable",
    "reconcile",
    "resource_plans",
]

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, TypeVar

from searchkeeper.api.codec import decode_records, decode_summary, encode_ledger
from searchkeeper.api.status import SummaryType
from searchkeeper.desired import names
from searchkeeper.desired.apply import merge_patch
from searchkeeper.executor import DeniedOperation, ResourceVersions, execute_all
from searchkeeper.images import PUBLISHED, Images
from searchkeeper.kubernetes.api import KubernetesApi
from searchkeeper.kubernetes.operations import Create, EmitEvent, Key, Patch
from searchkeeper.observe import observe, with_name_conflicts
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.operator_condition import upgrade_blocker, upgradeable_patch
from searchkeeper.planner import (
    STALLED_ACTIONS,
    ActionOperations,
    Condition,
    Ledger,
    Operation,
    Order,
    Plan,
    Reconciler,
    Status,
    UnsupportedVersion,
    choose_reconciler,
    plan,
)
from searchkeeper.planner.denied_operations import denied_entry, denied_operations, is_new_denial
from searchkeeper.planner.waits import WAIT_PREFIX
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.deletion import DELETION_RECONCILER
from searchkeeper.reconcilers.invalid_spec import INVALID_SPEC_RECONCILER
from searchkeeper.reconcilers.pools import PoolContext
from searchkeeper.reconcilers.status import cluster_status, deletion_status, pool_status, refusal_status
from searchkeeper.reconcilers.unsupported_version import UNSUPPORTED_VERSION_RECONCILER
from searchkeeper.reconcilers.versions import (
    CLUSTER_RECONCILERS,
    POOL_RECONCILERS,
    deployed_version,
    shipped_with,
)
from searchkeeper.snapshot import ClusterSnapshot, ClusterView, PoolView
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.versions import Release

C = TypeVar("C")

# Reconciles in a row without progress. A repeated preparation and its undo take fewer.
OSCILLATION_LIMIT: Final = 20
# Fields of a status that change when an action starts or stops to wait.
_WAIT_FIELDS: Final = frozenset({"conditions", "ledger"})
# Fields of a status on which no decision depends, the planner's own lines of the ledger included.
_COSMETIC_FIELDS: Final = _WAIT_FIELDS | {"phase", "ready"}


@dataclass(frozen=True, slots=True)
class ReconcileOutcome:
    """What a reconcile did: whether it wrote anything, whether all is done, and when the next wait stalls.

    `denied` has the operations that were refused permanently. `is_cosmetic` means that only fields of
    statuses were written on which no decision depends. `is_oscillating` means that all of it was done before
    and undone since; OSCILLATION_LIMIT of these in a row are an endless loop.
    """

    wrote: bool
    converged: bool
    wake_at: int | None = None
    denied: tuple[DeniedOperation, ...] = ()
    is_cosmetic: bool = False
    is_oscillating: bool = False


@dataclass(frozen=True, slots=True)
class ResourcePlan:
    """The plan of one resource, and its status before and after."""

    key: Key
    resource_version: str
    before: Mapping[str, Any]
    status: Mapping[str, Any]
    plan: Plan

    @property
    def has_changed(self) -> bool:
        return self.status != self.before

    @property
    def changed_fields(self) -> set[str]:
        return {name for name, value in self.status.items() if self.before.get(name) != value}

    @property
    def is_cosmetic(self) -> bool:
        """Whether the plans of the other resources still hold when this status is persisted."""
        return self.changed_fields <= _COSMETIC_FIELDS and (
            _ledger_without_waits(self.before) == _ledger_without_waits(self.status)
        )


def _ledger_without_waits(status: Mapping[str, Any]) -> dict[str, str]:
    ledger: Mapping[str, str] = status.get("ledger") or {}
    return {
        key: entry
        for key, entry in ledger.items()
        if not key.startswith(WAIT_PREFIX) and key != STALLED_ACTIONS
    }


def reconcile(  # noqa: PLR0913 - the options are keywords
    kube: KubernetesApi,
    engine: EngineClient,
    key: Key,
    release: Release,
    now: int,
    *,
    observing_since: int = 0,
    settling: int = 0,
    operator_condition: Key | None = None,
    images: Images = PUBLISHED,
    order: Order = tuple,
) -> ReconcileOutcome:
    """Reconcile one SearchCluster with at most one destructive operation.

    Status and ledger are persisted before the operations of the same plan: after a crash, the next operator
    knows what was about to be done. Raises ApiError, CallFailed: requeue, nothing is lost.

    No deadline expires before this operator has observed the cluster for as long (`observing_since`). An
    action that was True for less than `settling` seconds and waits again is not reported yet. `order`
    permutes the actions and has no effect.
    """
    snapshot = observe(kube, engine, key, release, now)
    if snapshot is None:
        return ReconcileOutcome(wrote=False, converged=True)
    snapshot = replace(snapshot, observing_since=observing_since, images=images)

    snapshot, plans = plan_until_stable(kube, snapshot, order)

    converged, wrote_status = True, False
    wake_at: list[int] = []
    denied: list[DeniedOperation] = []
    for resource in plans:
        is_deferred = is_flapping(resource, now, settling)
        version = resource.resource_version if is_deferred else patch_status(kube, resource)

        versions = ResourceVersions(resource.key, resource.resource_version, version)
        condition_patch: tuple[ActionOperations, ...] = ()
        # Before the operations: OLM must not replace the operator in the middle of a step.
        if operator_condition is not None and resource is plans[0]:
            condition_patch = _operator_condition_patch(kube, operator_condition, snapshot, plans)
        patched_condition, denied_patch = execute_all(kube, engine, condition_patch, versions)
        executed, denied_here = execute_all(kube, engine, resource.plan.action_operations, versions)
        denied += [*denied_patch, *denied_here]
        recorded = not executed and record_denied_operations(kube, resource, version, denied_here)

        if executed or patched_condition or recorded or not resource.is_cosmetic:
            # The plans of the other resources are outdated: the next reconcile observes again.
            is_oscillating = not resource.plan.made_progress
            return ReconcileOutcome(
                wrote=True, converged=False, denied=tuple(denied), is_oscillating=is_oscillating
            )
        wrote_status |= resource.has_changed and not is_deferred
        converged &= resource.plan.converged and not resource.has_changed
        wake_at += [] if resource.plan.wake_at is None else [resource.plan.wake_at]
    return ReconcileOutcome(
        wrote_status, converged, min(wake_at, default=None), tuple(denied), is_cosmetic=wrote_status
    )


def plan_until_stable(
    kube: KubernetesApi, snapshot: ClusterSnapshot, order: Order = tuple
) -> tuple[ClusterSnapshot, tuple[ResourcePlan, ...]]:
    """Return the plans, and the snapshot that they are based on. Raises ApiError.

    Objects that exist under the name of an object to be created are added to the snapshot, and the plans are
    made again.
    """
    while True:
        plans = tuple(resource_plans(snapshot, order))
        created = [each.key for one in plans for each in one.plan.operations if isinstance(each, Create)]
        extended = with_name_conflicts(kube, snapshot, created)
        if extended is snapshot:
            return snapshot, plans
        snapshot = extended


def resource_plans(snapshot: ClusterSnapshot, order: Order = tuple) -> Iterator[ResourcePlan]:
    """Yield the plan of the cluster, then those of its pools by the cluster's version. Pure.

    A cluster that is being deleted has only the goal of the deletion. One without a usable spec, or with a
    configuration that this operator does not support, is left unchanged.
    """
    cluster = snapshot.cluster
    if cluster.is_deleting:
        yield _plan_without_pools(
            snapshot, DELETION_RECONCILER, ReconcileContext(snapshot, 0), deletion_status, order
        )
        return
    if cluster.has_no_usable_spec:
        yield _plan_without_pools(snapshot, INVALID_SPEC_RECONCILER, snapshot, refusal_status, order)
        return
    deployed = deployed_version(snapshot)
    reconciler = choose_reconciler(shipped_with(CLUSTER_RECONCILERS, snapshot.release), deployed)
    pool_reconciler = choose_reconciler(shipped_with(POOL_RECONCILERS, snapshot.release), deployed)
    if isinstance(reconciler, UnsupportedVersion):
        yield _plan_without_pools(snapshot, UNSUPPORTED_VERSION_RECONCILER, reconciler, refusal_status, order)
        return
    if isinstance(pool_reconciler, UnsupportedVersion):
        yield _plan_without_pools(
            snapshot, UNSUPPORTED_VERSION_RECONCILER, pool_reconciler, refusal_status, order
        )
        return

    ctx = ReconcileContext(snapshot, reconciler.version)
    before = snapshot.objects[cluster.key].get("status") or {}
    cluster_plan = drop_stale_operations(_plan(reconciler, ctx, cluster, snapshot.now, order), ctx.ledger)
    status = cluster_status(ctx, cluster_plan, before)
    yield ResourcePlan(cluster.key, cluster.resource_version, before, status, cluster_plan)
    for pool in sorted(ctx.pools, key=lambda pool: pool.spec.name):
        if pool.uid is None:
            continue
        name = names.pool_name(ctx.desired.name, pool.spec.name)
        key = ctx.key(f"{names.GROUP}/v1alpha1", "SearchPool", name)
        before = snapshot.objects[key].get("status") or {}
        pool_ctx = PoolContext(ctx, pool)
        pool_plan = _plan(pool_reconciler, pool_ctx, pool, snapshot.now, order)
        status = pool_status(pool_ctx, pool_plan, before)
        yield ResourcePlan(key, pool.resource_version, before, status, pool_plan)


def _plan_without_pools(
    snapshot: ClusterSnapshot,
    reconciler: Reconciler[C],
    context: C,
    status_after: Callable[[ClusterSnapshot, Plan, Mapping[str, Any]], dict[str, Any]],
    order: Order,
) -> ResourcePlan:
    cluster = snapshot.cluster
    before = snapshot.objects[cluster.key].get("status") or {}
    cluster_plan = _plan(reconciler, context, cluster, snapshot.now, order)
    status = status_after(snapshot, cluster_plan, before)
    return ResourcePlan(cluster.key, cluster.resource_version, before, status, cluster_plan)


def _plan(
    reconciler: Reconciler[C], context: C, resource: ClusterView | PoolView, now: int, order: Order
) -> Plan:
    return plan(reconciler, context, resource.records, now=now, generation=resource.generation, order=order)


def drop_stale_operations(cluster_plan: Plan, ledger: UpgradeLedger) -> Plan:
    """Keep only the events of a plan that starts an upgrade or changes its direction.

    The other operations were planned for the direction before. The next reconcile plans them again.
    """
    if _direction(UpgradeLedger.of(cluster_plan.ledger)) == _direction(ledger):
        return cluster_plan
    kept = (
        ActionOperations(each.action, tuple(op for op in each.operations if isinstance(op, EmitEvent)))
        for each in cluster_plan.action_operations
    )
    return replace(cluster_plan, action_operations=tuple(each for each in kept if each.operations))


def _direction(ledger: UpgradeLedger) -> tuple[Any, ...]:
    return ledger.lock, ledger.upgrade, ledger.rollback_to


def is_flapping(resource: ResourcePlan, now: int, settling: int) -> bool:
    """Whether all that changes are actions that wait again after being True for less than `settling` seconds.

    With an engine that answers every other time each reconcile would otherwise write the status. An action
    that becomes True is reported at once. One that waits again is reported when it was True for longer, or
    keeps waiting: its wait starts later, and no deadline expires earlier.
    """
    before = {condition.type: condition for condition in decode_records(resource.before).conditions}
    changed = [
        (before.get(condition.type), condition)
        for condition in resource.plan.conditions
        if _differs(before.get(condition.type), condition)
    ]
    # Of the summary conditions only Ready may change by itself.
    ready, was_ready = (
        decode_summary(status).get(SummaryType.READY) for status in (resource.status, resource.before)
    )
    if ready is not None and was_ready is not None and ready.status is not was_ready.status:
        changed.append((was_ready, ready))
    # A transition in the future was recorded by another clock.
    were_true = all(
        old is not None and old.status is Status.TRUE and now - settling < old.last_transition <= now
        for old, _ in changed
    )
    is_wait_only = resource.is_cosmetic and resource.changed_fields <= _WAIT_FIELDS
    return bool(changed) and were_true and is_wait_only


def _differs(old: Condition | None, new: Condition) -> bool:
    return old is None or (old.status, old.reason) != (new.status, new.reason)


def patch_status(kube: KubernetesApi, resource: ResourcePlan) -> str:
    """Persist status and ledger if they have changed. Return the version of the resource after that."""
    if not resource.has_changed:
        return resource.resource_version
    changes = {"status": merge_patch(resource.before, resource.status)}
    patched = kube.patch_status(Patch(resource.key, changes, resource.resource_version))
    return str(patched["metadata"]["resourceVersion"])


def _operator_condition_patch(
    kube: KubernetesApi, key: Key, snapshot: ClusterSnapshot, plans: Sequence[ResourcePlan]
) -> tuple[ActionOperations, ...]:
    """Return the patch of the OperatorCondition, if OLM has created one and it has to change.

    The operations of all pools are considered together. If each pool reported for itself, a pool whose
    operation fails would set and clear the condition in every reconcile.
    """
    operator_condition = kube.get(key)
    if operator_condition is None:
        return ()
    blocker = None
    if not _runs_no_upgrade(snapshot.cluster):
        blocker = upgrade_blocker(snapshot, plans[0].plan.ledger, _pending_operations(plans))
    patch = upgradeable_patch(
        operator_condition,
        snapshot.cluster.key,
        blocker,
        exists=lambda cluster: kube.get(cluster) is not None,
        now=snapshot.now,
    )
    return () if patch is None else (ActionOperations("", (patch,)),)


def _runs_no_upgrade(cluster: ClusterView) -> bool:
    """Whether the operator runs no upgrade step: the cluster is deleted, or has no usable spec."""
    return cluster.is_deleting or cluster.has_no_usable_spec


def _pending_operations(plans: Sequence[ResourcePlan]) -> Iterator[Operation]:
    """Yield the operations that are about to be executed.

    Denied ones do not block OLM: the next release may have the permission that this one lacks.
    """
    for resource in plans:
        denied = set(denied_operations(resource.plan.ledger))
        yield from (each for each in resource.plan.operations if str(each) not in denied)


def record_denied_operations(
    kube: KubernetesApi, resource: ResourcePlan, version: str, denied: Sequence[DeniedOperation]
) -> bool:
    """Record denied operations in the ledger, for the next plan. Return whether any was new.

    Called only when nothing else was executed: after a change the next attempt may succeed.
    """
    entries = dict(denied_entry(each.action, each.operation, each.message) for each in denied if each.action)
    new = {key: entry for key, entry in entries.items() if is_new_denial(resource.plan.ledger, key, entry)}
    if new:
        changes = {"status": {"ledger": encode_ledger(Ledger.of(new))}}
        kube.patch_status(Patch(resource.key, changes, version))
    return bool(new)
