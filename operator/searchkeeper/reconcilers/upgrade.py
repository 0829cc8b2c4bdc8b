"""Actions that accept an engine version, begin its upgrade, turn back, and finish."""

from __future__ import annotations

__all__ = ["engine_healthy", "upgrade_finished", "upgrade_started", "version_accepted"]

from searchkeeper.kubernetes.operations import EmitEvent
from searchkeeper.opensearch.view import Color, Unreachable
from searchkeeper.planner import LedgerChange, Result, action, done, in_progress, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.pools import pools_converged
from searchkeeper.reconcilers.rollback import rollback_possible
from searchkeeper.snapshot import PoolView
from searchkeeper.upgrade.gates import FATAL_POD_PROBLEMS, NO_DEADLINE
from searchkeeper.upgrade.ledger import ABANDONED, LOCK, REFUSED, ROLLBACK_TO, UPGRADE, UPGRADED_NODES
from searchkeeper.upgrade.rollback import (
    choose_direction,
    remove_rollback_request,
    requested_rollback,
    was_abandoned,
)


@action()
def version_accepted(ctx: ReconcileContext) -> Result:
    """The wanted engine version can be reached from what runs. A refusal is told once a generation."""
    cluster, found = ctx.snapshot.cluster, ctx.refusal
    if found is None:
        return done(
            ledger_changes=() if ctx.ledger.refused_generation is None else (LedgerChange(REFUSED, None),)
        )
    if ctx.ledger.refused_generation == cluster.generation:
        return wait(found.reason, found.message, deadline=NO_DEADLINE)
    event = EmitEvent(cluster.key, found.reason, found.message)
    return in_progress(
        found.reason, found.message, event, ledger_changes=(LedgerChange(REFUSED, cluster.generation),)
    )


@action()
def engine_healthy(ctx: ReconcileContext) -> Result:
    """The engine answers, and is green, or as green as it can be. Before there are nodes nobody is late."""
    engine, deadline = ctx.snapshot.engine, ctx.spec.upgrade.health_deadline
    if isinstance(engine, Unreachable):
        if ctx.refusal is not None and not ctx.snapshot.pods:
            return wait("Refused", "a version that is refused has no nodes", deadline=NO_DEADLINE)
        return wait("EngineUnreachable", engine.cause, deadline=deadline)
    if engine.color is Color.RED:
        return wait("Red", "a primary is missing", deadline=deadline)
    return done()


@action()
def upgrade_started(ctx: ReconcileContext) -> Result:
    """An upgrade that is wanted is under way; one that is not wanted any more is on its way back.

    A version that is refused meanwhile is no reason to stop half-way: it goes to its end, forward or back.
    """
    if ctx.ledger.upgrade is not None:
        return _lightened(ctx) or choose_direction(ctx.snapshot, ctx.ledger)
    if ctx.refusal is not None:
        return wait("Refused", f"{ctx.spec.version} is refused", deadline=NO_DEADLINE)
    return _begun(ctx)


def _begun(ctx: ReconcileContext) -> Result:
    cluster = ctx.snapshot.cluster
    given_up = was_abandoned(ctx.snapshot, ctx.ledger)
    forgotten = () if given_up or ctx.ledger.abandoned is None else (LedgerChange(ABANDONED, None),)
    if cluster.engine_version is None or cluster.engine_version == cluster.spec.version:
        return done(ledger_changes=forgotten)
    if given_up:
        message = f"{cluster.spec.version} was given up; change the spec to try again"
        return wait("GivenUp", message, deadline=NO_DEADLINE)
    if _is_paused(ctx):
        return wait("NotPaused", "spec.upgrade.paused is set", deadline=NO_DEADLINE)
    if requested_rollback(ctx.snapshot) is not None:
        return in_progress(
            "ForgettingOrder", "it was meant for an earlier upgrade", remove_rollback_request(ctx.snapshot)
        )
    illness = _illness(ctx)
    if illness is not None:
        message = f"an upgrade begins in a healthy cluster: {illness}"
        return wait("NotHealthy", message, deadline=ctx.spec.upgrade.health_deadline)
    ledger_changes = (
        LedgerChange(UPGRADE, (cluster.engine_version, cluster.spec.version)),
        LedgerChange(LOCK, ctx.deployed_spec),
        *forgotten,
    )
    return in_progress(
        "Beginning", f"{cluster.engine_version} to {cluster.spec.version}", ledger_changes=ledger_changes
    )


def _is_paused(ctx: ReconcileContext) -> bool:
    return ctx.spec.upgrade.paused


def _lightened(ctx: ReconcileContext) -> Result | None:
    """Who is down for good may be given up by an edit while an upgrade is under way."""
    lock = ctx.reduced_lock
    if lock is None:
        return None
    return in_progress(
        "GivingUp",
        "who is down and not wanted any more is not waited for",
        ledger_changes=(LedgerChange(LOCK, lock),),
    )


def _illness(ctx: ReconcileContext) -> str | None:
    """Pods that have failed for good are none in the pool that goes first: the other version may mend them.

    Whoever is down in a later pool would keep that one waiting, and whoever is given up goes before.
    """
    engine = ctx.snapshot.engine
    if isinstance(engine, Unreachable):
        return engine.cause
    if engine.color is Color.RED:
        return "a primary is missing"
    for pool in ctx.pools:
        found = pool.stateful_set
        if found is not None and len(pool.pods) < found.replicas:
            return f"pool {pool.spec.name} has {len(pool.pods)} of {found.replicas} pods"
        if _is_half_gone(pool):
            return f"somebody has taken a part of pool {pool.spec.name} away"
        for pod in pool.pods:
            is_mended = (
                pool is ctx.pools[0] and pod in pool.retained_pods and pod.problem in FATAL_POD_PROBLEMS
            )
            if pod.is_terminating or not (pod.is_ready or is_mended):
                return f"{pod.name} is not ready"
    return None


def _is_half_gone(pool: PoolView) -> bool:
    """The lock is made of what stands: whoever is not part of it would be left behind by the upgrade."""
    found = pool.stateful_set
    if pool.allotted_replicas is None:
        return found is not None or bool(pool.pods)
    return found is not None and found.replicas < pool.allotted_replicas


@action(requires=[pools_converged, engine_healthy])
def upgrade_finished(ctx: ReconcileContext) -> Result:
    """Every node has arrived, and the lock is gone: what was edited meanwhile is applied from now on.

    Whatever else is wanted by then: a wish that can only be looked at afterwards must not hold the lock. Nor
    does a node that is down for another reason, when an upgrade was taken back.
    """
    if ctx.ledger.upgrade is None:
        return done()
    deadline = ctx.spec.upgrade.health_deadline
    if ctx.snapshot.cluster.engine_version != ctx.target:
        return wait("Arriving", f"not every node has joined as {ctx.target}", deadline=deadline)
    if requested_rollback(ctx.snapshot) is not None:
        return in_progress(
            "ForgettingOrder", "it has been carried out", remove_rollback_request(ctx.snapshot)
        )
    if upgrade_started.run(ctx).ledger_changes or rollback_possible.run(ctx).ledger_changes:
        # They note the same lines: whoever is given up, say, is first let out of the lock.
        return wait("LastNotes", "what is still noted of the upgrade comes first", deadline=deadline)
    return _finishing(ctx)


def _finishing(ctx: ReconcileContext) -> Result:
    ledger_changes = tuple(LedgerChange(each, None) for each in (UPGRADE, LOCK, ROLLBACK_TO, UPGRADED_NODES))
    down = [pod.name for pool in ctx.pools for pod in pool.retained_pods if not pod.is_ready]
    but = f", but for {', '.join(down)}: down for another reason" if down else ""
    return in_progress("Finishing", f"every node runs {ctx.target}{but}", ledger_changes=ledger_changes)
