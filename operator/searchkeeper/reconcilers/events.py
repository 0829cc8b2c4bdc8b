"""The action that tells people, in events, what goes wrong with an upgrade, and how that ends."""

from __future__ import annotations

__all__ = ["ROLLED_BACK", "ROLLING_BACK", "STALLED", "events_emitted"]

from collections.abc import Iterator
from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.kubernetes.operations import EmitEvent, EventType
from searchkeeper.planner import STALLED_PREFIX, LedgerChange, Result, action, done, in_progress
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.upgrade.ledger import EVENTS_EMITTED
from searchkeeper.upgrade.rollback import requested_rollback, rollback_hint

# The reasons of events.
STALLED: Final = "Stalled"
ROLLING_BACK: Final = "RollingBack"
ROLLED_BACK: Final = "RolledBack"


@action()
def events_emitted(ctx: ReconcileContext) -> Result:
    """Every stall and every way back is an event when it begins, the way back also when it ends.

    The ledger has what was told for as long as it lasts: so it is told once, and again when it comes again.
    """
    told, begun = ctx.ledger.events_emitted, {event.reason: event for event in _begun(ctx)}
    news = {reason: event for reason, event in begun.items() if reason not in told}
    if ROLLING_BACK in news:
        # The stall that has turned the upgrade is what the way back tells of.
        news.pop(STALLED, None)
    if ROLLING_BACK in told and ROLLING_BACK not in begun:
        words = _said(ctx, "UpgradeFinished")
        news[ROLLED_BACK] = _event(ctx, ROLLED_BACK, words, EventType.NORMAL)
    ledger_changes = (
        () if set(begun) == told else (LedgerChange(EVENTS_EMITTED, tuple(sorted(begun)) or None),)
    )
    return (
        in_progress("Telling", ", ".join(news), *news.values(), ledger_changes=ledger_changes)
        if news
        else done(ledger_changes=ledger_changes)
    )


def _begun(ctx: ReconcileContext) -> Iterator[EmitEvent]:
    if ctx.ledger.rollback_to is not None:
        yield _turned(ctx, ctx.ledger.rollback_to)
    stalls = [
        each for each in ctx.snapshot.cluster.records.conditions if each.message.startswith(STALLED_PREFIX)
    ]
    if stalls:
        words = "; ".join(f"{each.type}: {each.message.removeprefix(STALLED_PREFIX)}" for each in stalls)
        yield _event(ctx, STALLED, "; ".join((words, *_advice(ctx))), EventType.WARNING)


def _turned(ctx: ReconcileContext, before: str) -> EmitEvent:
    """A warning, unless somebody has asked for it."""
    words = _said(ctx, "UpgradeStarted", Reason.STARTING_ROLLBACK) or f"back to {before}"
    if before in (ctx.spec.version, requested_rollback(ctx.snapshot)):
        return _event(ctx, ROLLING_BACK, words, EventType.NORMAL)
    _, target = ctx.ledger.upgrade or ("", "the upgrade")
    return _event(ctx, ROLLING_BACK, f"{target} has failed: {words}", EventType.WARNING)


def _advice(ctx: ReconcileContext) -> Iterator[str]:
    before, _ = ctx.ledger.upgrade or (None, None)
    hint = None if before is None else rollback_hint(ctx.snapshot, ctx.ledger, before)
    if hint is not None:
        yield hint


def _said(ctx: ReconcileContext, action: str, reason: str | None = None) -> str:
    """What an action has just said of it."""
    found = (each for each in ctx.snapshot.cluster.records.conditions if each.type == action)
    return next((each.message for each in found if reason in (None, each.reason)), "")


def _event(ctx: ReconcileContext, reason: str, message: str, weight: EventType) -> EmitEvent:
    return EmitEvent(ctx.snapshot.cluster.key, reason, message, weight)
