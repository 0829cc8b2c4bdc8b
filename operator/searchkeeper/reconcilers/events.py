"""The action that emits events about upgrades, rollbacks and stalls, each once."""

from __future__ import annotations

__all__ = ["events_emitted"]

from collections.abc import Iterator
from typing import Final

from searchkeeper.api.messages import join, shorten
from searchkeeper.api.reasons import Reason
from searchkeeper.kubernetes.operations import EmitEvent, EventType
from searchkeeper.opensearch.view import EngineView
from searchkeeper.planner import LedgerChange, Result, action, done, in_progress
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.engine_snapshots import restore_hint
from searchkeeper.snapshot import PoolView
from searchkeeper.upgrade.ledger import EVENTS_EMITTED
from searchkeeper.upgrade.rollback import requested_rollback, rollback_blockers, rollback_hint

# Emitted once an upgrade, also where the state comes and goes meanwhile.
_ONCE_AN_UPGRADE: Final = (Reason.UPGRADE_STARTED, Reason.POOL_UPGRADED, Reason.POINT_OF_NO_RETURN_PASSED)


@action()
def events_emitted(ctx: ReconcileContext) -> Result:
    """True when every state that has begun or ended since the last reconcile has its event.

    The ledger records each state while it lasts: so it is emitted once, and again when it comes again.
    """
    recorded = ctx.ledger.events_emitted
    states = dict(_current_states(ctx))
    events = [event for entry, event in states.items() if entry not in recorded]
    if any(event.reason == Reason.ROLLBACK_STARTED for event in events):
        # That event names the stall as the reason of the rollback.
        events = [event for event in events if event.reason != Reason.STALLED]
    if Reason.UPGRADE_STARTED in recorded and ctx.ledger.upgrade is None:
        is_rollback = Reason.ROLLBACK_STARTED in recorded
        reason = Reason.ROLLBACK_FINISHED if is_rollback else Reason.UPGRADE_FINISHED
        message = _message_of(ctx, "UpgradeFinished") or f"every node runs {ctx.target}"
        events.append(_event(ctx, reason, message, EventType.NORMAL))
    lasting = set(states)
    if ctx.ledger.upgrade is not None:
        lasting |= {entry for entry in recorded if entry.partition("/")[0] in _ONCE_AN_UPGRADE}
    ledger_changes = (
        () if lasting == recorded else (LedgerChange(EVENTS_EMITTED, tuple(sorted(lasting)) or None),)
    )
    if not events:
        return done(ledger_changes=ledger_changes)
    reasons = ", ".join(event.reason for event in events)
    return in_progress(Reason.EMITTING_EVENTS, reasons, *events, ledger_changes=ledger_changes)


def _current_states(ctx: ReconcileContext) -> Iterator[tuple[str, EmitEvent]]:
    """Every state that has an event, with its entry in the ledger."""
    if ctx.ledger.upgrade is not None:
        yield from _upgrade_states(ctx, *ctx.ledger.upgrade)
    stalled = [condition for condition in ctx.snapshot.cluster.records.conditions if condition.is_stalled]
    if stalled:
        message = join([f"{condition.type}: {condition.message}" for condition in stalled], "; ")
        before = None if ctx.ledger.upgrade is None else ctx.ledger.upgrade[0]
        hint = None if before is None else rollback_hint(ctx.snapshot, ctx.ledger, before)
        message = message if hint is None else f"{message}; {hint}"
        yield Reason.STALLED, _event(ctx, Reason.STALLED, message, EventType.WARNING)


def _upgrade_states(ctx: ReconcileContext, before: str, target: str) -> Iterator[tuple[str, EmitEvent]]:
    pools = join([pool.spec.name for pool in ctx.pools])
    snapshot = "" if ctx.ledger.snapshot is None else f"; snapshot: {ctx.ledger.snapshot}"
    message = f"upgrade {before} → {target}; pools in order: {pools}{snapshot}"
    yield Reason.UPGRADE_STARTED, _event(ctx, Reason.UPGRADE_STARTED, message, EventType.NORMAL)
    if ctx.ledger.rollback_to is not None:
        yield Reason.ROLLBACK_STARTED, _rollback_started(ctx, ctx.ledger.rollback_to, target)
        return
    for pool in ctx.pools:
        if _is_upgraded(ctx, pool, target):
            message = f"pool {pool.spec.name}: every node runs {target}"
            event = _event(ctx, Reason.POOL_UPGRADED, message, EventType.NORMAL)
            yield f"{Reason.POOL_UPGRADED}/{pool.spec.name}", event
    blockers = _lasting_blockers(ctx, before)
    if blockers:
        message = f"a rollback to {before} is not possible any more: {join(blockers, '; ')}"
        message += restore_hint(ctx.ledger, before)
        event = _event(ctx, Reason.POINT_OF_NO_RETURN_PASSED, message, EventType.NORMAL)
        yield Reason.POINT_OF_NO_RETURN_PASSED, event


def _rollback_started(ctx: ReconcileContext, before: str, target: str) -> EmitEvent:
    """A warning, unless a user has requested the rollback."""
    message = _message_of(ctx, "UpgradeStarted", Reason.STARTING_ROLLBACK) or f"rollback to {before}"
    if before in (ctx.spec.version, requested_rollback(ctx.snapshot)):
        return _event(ctx, Reason.ROLLBACK_STARTED, message, EventType.NORMAL)
    return _event(ctx, Reason.ROLLBACK_STARTED, f"{target} has failed: {message}", EventType.WARNING)


def _is_upgraded(ctx: ReconcileContext, pool: PoolView, target: str) -> bool:
    """Whether every wanted node of the pool is ready and has joined with the target."""
    engine = ctx.snapshot.engine
    if not isinstance(engine, EngineView) or not 0 < pool.replicas <= len(pool.retained_pods):
        return False
    nodes = [engine.node(pod.name) for pod in pool.retained_pods if pod.is_ready]
    return len(nodes) >= pool.replicas and all(node and node.version == target for node in nodes)


def _lasting_blockers(ctx: ReconcileContext, before: str) -> tuple[str, ...]:
    """What blocks a rollback, where that is certain.

    An engine that does not answer, and a node of the older version that restarts, block it for a moment.
    """
    is_restarting = any(
        pod.engine_version == before and not pod.is_ready and pod.name not in ctx.ledger.replaced_pods
        for pod in ctx.snapshot.pods
    )
    if is_restarting or not isinstance(ctx.snapshot.engine, EngineView):
        return ()
    return rollback_blockers(ctx.snapshot, ctx.ledger, before)


def _message_of(ctx: ReconcileContext, action: str, *reasons: str) -> str:
    """The message that an action has stored in the last reconcile, where it had one of these reasons."""
    for condition in ctx.snapshot.cluster.records.conditions:
        if condition.type == action and (not reasons or condition.reason in reasons):
            return condition.message
    return ""


def _event(ctx: ReconcileContext, reason: Reason, message: str, event_type: EventType) -> EmitEvent:
    return EmitEvent(ctx.snapshot.cluster.key, reason, shorten(message), event_type)
