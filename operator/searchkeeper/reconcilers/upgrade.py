"""Actions of an upgrade: accept the version, start, roll back, and finish."""

from __future__ import annotations

__all__ = ["engine_healthy", "upgrade_finished", "upgrade_started", "version_accepted"]

from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.kubernetes.operations import EmitEvent
from searchkeeper.opensearch.view import Color, Unreachable
from searchkeeper.planner import NO_DEADLINE, LedgerChange, Result, action, done, in_progress, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.engine_snapshots import take_snapshot
from searchkeeper.reconcilers.lost_status import record_version
from searchkeeper.reconcilers.pools import pools_converged
from searchkeeper.reconcilers.spec_lock import is_partly_deleted
from searchkeeper.upgrade.gates import FATAL_POD_PROBLEMS, yellow_blocker
from searchkeeper.upgrade.ledger import (
    ABANDONED,
    LOCK,
    REFUSED,
    ROLLBACK_TO,
    SNAPSHOT,
    UPGRADE,
    UPGRADED_NODES,
)
from searchkeeper.upgrade.rollback import remove_rollback_request, requested_rollback, was_abandoned

# Ledger entries that end with the upgrade.
_UPGRADE_KEYS: Final = (UPGRADE, LOCK, ROLLBACK_TO, UPGRADED_NODES, SNAPSHOT)


@action()
def version_accepted(ctx: ReconcileContext) -> Result:
    """True when the version of the spec can follow what runs. A refusal emits one event a generation."""
    cluster, refusal = ctx.snapshot.cluster, ctx.refusal
    if refusal is None:
        is_recorded = ctx.ledger.refused_generation is not None and not _may_be_refused_again(ctx)
        return done(ledger_changes=(LedgerChange(REFUSED, None),) if is_recorded else ())
    if ctx.ledger.refused_generation == cluster.generation:
        return wait(refusal.reason, refusal.message, deadline=NO_DEADLINE)
    is_invalid = refusal.reason == Reason.INVALID_SPEC
    event_reason = Reason.INVALID_SPEC if is_invalid else Reason.VERSION_REFUSED
    return in_progress(
        refusal.reason,
        refusal.message,
        EmitEvent(cluster.key, event_reason, refusal.message),
        ledger_changes=(LedgerChange(REFUSED, cluster.generation),),
    )


def _may_be_refused_again(ctx: ReconcileContext) -> bool:
    """Whether the generation was refused, and the engine does not tell whether it still has old indices.

    With an engine that answers every other time, each answer would otherwise emit an event.
    """
    cluster = ctx.snapshot.cluster
    return (
        isinstance(ctx.snapshot.engine, Unreachable) and ctx.ledger.refused_generation == cluster.generation
    )


@action()
def engine_healthy(ctx: ReconcileContext) -> Result:
    """True when the engine answers and no primary is missing.

    Without nodes, because the version is refused, the wait has no deadline.
    """
    engine, deadline = ctx.snapshot.engine, ctx.spec.upgrade.health_deadline
    if isinstance(engine, Unreachable):
        if ctx.refusal is not None and not ctx.snapshot.pods:
            return wait(Reason.VERSION_REFUSED, "a refused version has no nodes", deadline=NO_DEADLINE)
        return wait(Reason.ENGINE_UNREACHABLE, engine.cause, deadline=deadline)
    if engine.color is Color.RED:
        return wait(Reason.ENGINE_RED, "a primary is missing", deadline=deadline)
    return done()


@action()
def upgrade_started(ctx: ReconcileContext) -> Result:
    """True when the upgrade that the spec requests is in progress, or none is requested.

    An upgrade in progress is completed or rolled back, also when its version is refused meanwhile: a rollback
    or another target (`ctx.direction`) starts here too.
    """
    if ctx.direction is not None and ctx.spec_lock.reduced is not None:
        return in_progress(
            Reason.REDUCING_LOCK,
            "failed nodes that the spec no longer contains are not waited for",
            ledger_changes=(LedgerChange(LOCK, ctx.spec_lock.reduced),),
        )
    if ctx.direction is not None:
        return ctx.direction
    if ctx.refusal is not None:
        return wait(Reason.VERSION_REFUSED, f"{ctx.spec.version} is refused", deadline=NO_DEADLINE)
    return _start(ctx)


def _start(ctx: ReconcileContext) -> Result:
    """Take the spec lock when the spec requests another version, in a healthy cluster with a snapshot."""
    cluster = ctx.snapshot.cluster
    is_abandoned = was_abandoned(ctx.snapshot, ctx.ledger)
    is_outdated = ctx.ledger.abandoned is not None and not is_abandoned
    cleared = (LedgerChange(ABANDONED, None),) if is_outdated else ()
    forgotten = (LedgerChange(SNAPSHOT, None),) if SNAPSHOT in ctx.ledger else ()
    if cluster.engine_version is None or cluster.engine_version == cluster.spec.version:
        return done(ledger_changes=(*cleared, *forgotten))
    if is_abandoned:
        message = f"{cluster.spec.version} failed and was rolled back; change the spec to try again"
        return wait(Reason.VERSION_ABANDONED, message, deadline=NO_DEADLINE)
    if _is_paused(ctx):
        return wait(Reason.UPGRADE_PAUSED, "spec.upgrade.paused is set", deadline=NO_DEADLINE)
    if requested_rollback(ctx.snapshot) is not None:
        patch = remove_rollback_request(ctx.snapshot)
        return in_progress(
            Reason.REMOVING_ROLLBACK_ANNOTATION, "the annotation belongs to an earlier upgrade", patch
        )
    problem = _health_problem(ctx)
    if problem is not None:
        message = f"an upgrade starts only in a healthy cluster: {problem}"
        return wait(Reason.CLUSTER_UNHEALTHY, message, deadline=ctx.spec.upgrade.health_deadline)
    return take_snapshot(ctx) or in_progress(
        Reason.STARTING_UPGRADE,
        f"upgrade {cluster.engine_version} → {cluster.spec.version}",
        ledger_changes=(
            LedgerChange(UPGRADE, (cluster.engine_version, cluster.spec.version)),
            LedgerChange(LOCK, ctx.spec_lock.deployed_spec),
            *cleared,
            *(() if ctx.spec.upgrade.snapshot_repository else forgotten),
        ),
    )


def _is_paused(ctx: ReconcileContext) -> bool:
    return ctx.spec.upgrade.paused


def _health_problem(ctx: ReconcileContext) -> str | None:
    """Why an upgrade must not start now.

    Failed pods of the first pool are no reason: the new version may repair them. In a later pool they would
    block the earlier ones, and surplus pods are removed before the upgrade.
    """
    engine = ctx.snapshot.engine
    if isinstance(engine, Unreachable):
        return engine.cause
    if engine.color is Color.RED:
        return "a primary is missing"
    for pool in ctx.pools:
        deployed = pool.stateful_set
        if deployed is not None and len(pool.pods) < deployed.replicas:
            return f"pool {pool.spec.name} has {len(pool.pods)} of {deployed.replicas} pods"
        if is_partly_deleted(pool):
            return f"the SearchPool or a part of the StatefulSet of pool {pool.spec.name} is missing"
        for pod in pool.pods:
            is_repairable = (
                pool is ctx.pools[0] and pod in pool.retained_pods and pod.problem in FATAL_POD_PROBLEMS
            )
            if pod.is_terminating or not (pod.is_ready or is_repairable):
                return f"{pod.name} is not ready"
    return yellow_blocker(engine, ctx.ledger) if engine.color is Color.YELLOW else None


@action(requires=[pools_converged, engine_healthy])
def upgrade_finished(ctx: ReconcileContext) -> Result:
    """True when no upgrade is in progress and the spec lock is released.

    The lock is released when every node runs the target, whatever else the spec requests by then. After a
    rollback a pod that is down for another reason does not keep it.
    """
    if ctx.ledger.upgrade is None:
        return done()
    deadline = ctx.spec.upgrade.health_deadline
    if ctx.snapshot.cluster.engine_version != ctx.target:
        message = f"not every node has joined with {ctx.target}"
        return wait(Reason.WAITING_FOR_NODES, message, deadline=deadline)
    if requested_rollback(ctx.snapshot) is not None:
        patch = remove_rollback_request(ctx.snapshot)
        return in_progress(Reason.REMOVING_ROLLBACK_ANNOTATION, "the upgrade is complete", patch)
    if record_version(ctx.snapshot.cluster) is not None:
        # FinalizerSet does that. Without it a status that is lost now would start the upgrade again.
        message = f"that every node runs {ctx.target} is recorded first"
        return wait(Reason.RECORDING_VERSION, message, deadline=deadline)
    if ctx.has_upgrade_ledger_changes:
        # Two actions must not change the same ledger line in one reconcile.
        message = "other actions change the ledger lines of the upgrade first"
        return wait(Reason.WAITING_FOR_LEDGER, message, deadline=deadline)
    failed = [pod.name for pool in ctx.pools for pod in pool.retained_pods if not pod.is_ready]
    but = f", except {', '.join(failed)}: down for another reason" if failed else ""
    return in_progress(
        Reason.FINISHING_UPGRADE,
        f"every node runs {ctx.target}{but}",
        ledger_changes=tuple(LedgerChange(key, None) for key in _UPGRADE_KEYS),
    )
