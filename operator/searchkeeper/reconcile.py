"""One cycle over the two ports: observe, plan, write down, carry out. Nothing here waits."""

from __future__ import annotations

__all__ = [
    "OSCILLATION_LIMIT",
    "ReconcileOutcome",
    "ResourcePlan",
    "plan_until_stable",
    "reconcile",
    "resource_plans",
]

from collections.abc import Iterator, Mapping, Sequence
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

W = TypeVar("W")

# More than it takes to prepare something once more, and to take it back.
OSCILLATION_LIMIT: Final = 20
# What a status says to people: nobody else reads it.
_SAID: Final = frozenset({"conditions", "ledger"})
_WORDS: Final = _SAID | {"phase", "ready"}


@dataclass(frozen=True, slots=True)
class ReconcileOutcome:
    """What a cycle came to: whether anything was written, whether all is done, and when to look again.

    `denied` are the writes that were refused, and would be again. What `only_told` has written are words in
    statuses, on which nobody decides anything. What `goes_round` was done before, and undone since: ROUNDS
    times in a row, and there is no end to it.
    """

    wrote: bool
    converged: bool
    wake_at: int | None = None
    denied: tuple[DeniedOperation, ...] = ()
    is_cosmetic: bool = False
    is_oscillating: bool = False


@dataclass(frozen=True, slots=True)
class ResourcePlan:
    """One resource's plan, and the status that follows from it."""

    key: Key
    resource_version: str
    before: Mapping[str, Any]
    status: Mapping[str, Any]
    plan: Plan

    @property
    def has_changed(self) -> bool:
        return self.status != self.before

    @property
    def is_cosmetic(self) -> bool:
        """Whether whoever was decided on beside it was decided on what still holds: only words have changed.

        Waits are the kernel's own, and each resource's.
        """
        changed = {name for name, part in self.status.items() if self.before.get(name) != part}
        return changed <= _WORDS and _lines(self.before) == _lines(self.status)


def _lines(status: Mapping[str, Any]) -> dict[str, str]:
    return {
        line: text for line, text in (status.get("ledger") or {}).items() if not line.startswith(WAIT_PREFIX)
    }


def reconcile(  # noqa: PLR0913 - what an operator knows of itself is told by name
    kube: KubernetesApi,
    driver: EngineClient,
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
    """At most one destructive write. Raises KubeError, CallFailed: look again, nothing is lost.

    A write that is refused for good costs no other action its own, and is told of in the status.
    The status is stored before any write of the same plan: what is about to be done is known to whoever
    comes after a crash. The operator condition, where OLM has made one, is told in between. Nobody's patience
    ends before this operator has been looking for as long. Who was waited for until less than `settling`
    seconds ago, and is again, is not spoken of yet. `images` is where the engine's come from. In which
    `order` actions are asked changes nothing: what one relies on are its prerequisites.
    """
    snapshot = observe(kube, driver, key, release, now)
    if snapshot is None:
        return ReconcileOutcome(wrote=False, converged=True)
    wake_at: list[int] = []
    denied: list[DeniedOperation] = []
    converged = True
    snapshot, found = plan_until_stable(
        kube, replace(snapshot, observing_since=observing_since, images=images), order
    )
    has_told = False
    for step in found:
        is_paused = _is_relapse(step, now, settling)
        stored = step.resource_version if is_paused else _stored(kube, step)
        is_first = step is found[0]
        holding = _held(kube, operator_condition, snapshot, found) if operator_condition and is_first else ()
        of = ResourceVersions(step.key, step.resource_version, stored)
        told_olm, unheard = execute_all(kube, driver, holding, of)
        made, refused = execute_all(kube, driver, step.plan.action_operations, of)
        denied += [*unheard, *refused]
        has_noted = not made and _noted(kube, step, stored, refused)
        if made or has_noted or told_olm or not step.is_cosmetic:
            is_oscillating = not step.plan.made_progress
            return ReconcileOutcome(
                wrote=True, converged=False, denied=tuple(denied), is_oscillating=is_oscillating
            )
        has_told |= step.has_changed and not is_paused
        converged &= step.plan.converged and not step.has_changed
        wake_at += [step.plan.wake_at] if step.plan.wake_at is not None else []
    return ReconcileOutcome(
        has_told, converged, min(wake_at, default=None), tuple(denied), is_cosmetic=has_told
    )


def resource_plans(snapshot: ClusterSnapshot, order: Order = tuple) -> Iterator[ResourcePlan]:
    """The parent first, then each pool by the parent's version. Pure: also for those who only ask.

    A cluster that is being deleted has no other goal; one whose spec cannot be followed, or that no
    procedure takes, has none at all.
    """
    cluster, before = snapshot.cluster, snapshot.objects[snapshot.cluster.key].get("status") or {}
    deployed = deployed_version(snapshot)
    chosen = choose_reconciler(shipped_with(CLUSTER_RECONCILERS, snapshot.release), deployed)
    children = choose_reconciler(shipped_with(POOL_RECONCILERS, snapshot.release), deployed)
    if cluster.is_deleting:
        made = _planned(DELETION_RECONCILER, ReconcileContext(snapshot, 0), cluster, snapshot.now, order)
        status = deletion_status(snapshot, made, before)
        yield ResourcePlan(cluster.key, cluster.resource_version, before, status, made)
    elif cluster.has_no_usable_spec:
        made = _planned(INVALID_SPEC_RECONCILER, snapshot, cluster, snapshot.now, order)
        yield ResourcePlan(
            cluster.key, cluster.resource_version, before, refusal_status(snapshot, made, before), made
        )
    elif isinstance(chosen, UnsupportedVersion) or isinstance(children, UnsupportedVersion):
        unfit = chosen if isinstance(chosen, UnsupportedVersion) else children
        assert isinstance(unfit, UnsupportedVersion)
        made = _planned(UNSUPPORTED_VERSION_RECONCILER, unfit, cluster, snapshot.now, order)
        status = refusal_status(snapshot, made, before)
        yield ResourcePlan(cluster.key, cluster.resource_version, before, status, made)
    else:
        yield from _ordinary(ReconcileContext(snapshot, chosen.version), chosen, children, before, order)


def plan_until_stable(
    kube: KubernetesApi, snapshot: ClusterSnapshot, order: Order = tuple
) -> tuple[ClusterSnapshot, tuple[ResourcePlan, ...]]:
    """The steps, and what they were decided on. Raises KubeError.

    They are decided anew where somebody has a name that something would be created under.
    """
    found = tuple(resource_plans(snapshot, order))
    new = [write.key for step in found for write in step.plan.operations if isinstance(write, Create)]
    whole = with_name_conflicts(kube, snapshot, new)
    return (snapshot, found) if whole is snapshot else plan_until_stable(kube, whole, order)


def _planned(procedure: Reconciler[W], world: W, of: ClusterView | PoolView, now: int, order: Order) -> Plan:
    return plan(procedure, world, of.records, now=now, generation=of.generation, order=order)


def _ordinary(
    ctx: ReconcileContext,
    procedure: Reconciler[ReconcileContext],
    children: Reconciler[PoolContext],
    before: Mapping[str, Any],
    order: Order,
) -> Iterator[ResourcePlan]:
    snapshot, cluster = ctx.snapshot, ctx.snapshot.cluster
    made = _planned(procedure, ctx, cluster, snapshot.now, order)
    made = _on_one_course(made, ctx.ledger)
    status = cluster_status(ctx, made, before)
    yield ResourcePlan(cluster.key, cluster.resource_version, before, status, made)
    for pool in sorted(ctx.pools, key=lambda pool: pool.spec.name):
        if pool.uid is not None:
            yield _pool_step(ctx, pool, children, order)


def _on_one_course(made: Plan, ledger: UpgradeLedger) -> Plan:
    """Whatever was decided before an upgrade took the lock, or before it turned, is decided anew after that.

    Events are of the past, and told.
    """
    if _course(UpgradeLedger.of(made.ledger)) == _course(ledger):
        return made
    events = (
        (deed, tuple(each for each in deed.operations if isinstance(each, EmitEvent)))
        for deed in made.action_operations
    )
    return replace(
        made, action_operations=tuple(replace(deed, operations=told) for deed, told in events if told)
    )


def _course(ledger: UpgradeLedger) -> tuple[Any, ...]:
    return ledger.lock, ledger.upgrade, ledger.rollback_to


def _pool_step(
    ctx: ReconcileContext, pool: PoolView, procedure: Reconciler[PoolContext], order: Order
) -> ResourcePlan:
    snapshot = ctx.snapshot
    key = ctx.key(f"{names.GROUP}/v1alpha1", "SearchPool", names.pool_name(ctx.desired.name, pool.spec.name))
    pool_ctx = PoolContext(ctx, pool)
    made = _planned(procedure, pool_ctx, pool, snapshot.now, order)
    before = snapshot.objects[key].get("status") or {}
    status = pool_status(pool_ctx, made, before)
    return ResourcePlan(key, pool.resource_version, before, status, made)


def _is_relapse(step: ResourcePlan, now: int, settling: int) -> bool:
    """Whether all that a status has to tell is that somebody waits again who has only just been done.

    An engine that answers every other time would have it written with every look. What is better is told at
    once, and what is worse when it has been well for a while, or stays so: a wait begins later, and no
    patience ends earlier.
    """
    changed = {name for name, part in step.status.items() if step.before.get(name) != part}
    known = {each.type: each for each in decode_records(step.before).conditions}
    turned = [each for each in step.plan.conditions if not _says_the_same(known.get(each.type), each)]
    known |= decode_summary(step.before)
    turned += [each for each in _lost_readiness(step) if each.type in known]
    were_well = all(_is_fresh(known.get(each.type), now, settling) for each in turned)
    return bool(turned) and were_well and step.is_cosmetic and changed <= _SAID


def _lost_readiness(step: ResourcePlan) -> Iterator[Condition]:
    """The condition Ready, where its status changes. The other two never change by themselves."""
    before, after = (decode_summary(each).get(SummaryType.READY) for each in (step.before, step.status))
    if after is not None and before is not None and before.status is not after.status:
        yield after


def _says_the_same(before: Condition | None, after: Condition) -> bool:
    return before is not None and (before.status, before.reason) == (after.status, after.reason)


def _is_fresh(condition: Condition | None, now: int, settling: int) -> bool:
    """Well, and only just. A moment that is still to come was noted by another clock."""
    if condition is None or condition.status is not Status.TRUE:
        return False
    return now - settling < condition.last_transition <= now


def _stored(kube: KubernetesApi, step: ResourcePlan) -> str:
    """Stores the status if it has changed. The resource's version after that."""
    if not step.has_changed:
        return step.resource_version
    patch = Patch(step.key, {"status": merge_patch(step.before, step.status)}, step.resource_version)
    return str(kube.patch_status(patch)["metadata"]["resourceVersion"])


def _held(
    kube: KubernetesApi, condition: Key, snapshot: ClusterSnapshot, found: Sequence[ResourcePlan]
) -> tuple[ActionOperations, ...]:
    """What tells OLM whether it may replace this operator now, where that is news. It is nobody's goal.

    Whatever is about to be done counts, also for pools: said by each for itself, it would be taken back and
    said again with every look where it cannot be done. What is refused is no step: it may take another
    release, with other rights, to make it one. Who is deleted, or cannot be followed, is amid none.
    """
    told, cluster = kube.get(condition), snapshot.cluster
    if told is None:
        return ()
    why = (
        None
        if _is_left(cluster)
        else upgrade_blocker(snapshot, found[0].plan.ledger, _about_to_be_made(found))
    )
    patch = upgradeable_patch(
        told, cluster.key, why, exists=lambda key: kube.get(key) is not None, now=snapshot.now
    )
    return () if patch is None else (ActionOperations("", (patch,)),)


def _about_to_be_made(found: Sequence[ResourcePlan]) -> Iterator[Operation]:
    for step in found:
        refused = set(denied_operations(step.plan.ledger))
        yield from (each for each in step.plan.operations if str(each) not in refused)


def _is_left(cluster: ClusterView) -> bool:
    return cluster.is_deleting or cluster.has_no_usable_spec


def _noted(kube: KubernetesApi, step: ResourcePlan, stored: str, denied: Sequence[DeniedOperation]) -> bool:
    """Notes what was refused, so that the next plan says so; whether that was news.

    Asked only where nothing else was done: what passes with the next look is not worth a line.
    """
    lines = dict(denied_entry(each.action, each.write, each.words) for each in denied if each.action)
    news = {line: entry for line, entry in lines.items() if is_new_denial(step.plan.ledger, line, entry)}
    if news:
        changes = {"status": {"ledger": encode_ledger(Ledger.of(news))}}
        kube.patch_status(Patch(step.key, changes, stored))
    return bool(news)
