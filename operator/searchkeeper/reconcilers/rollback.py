"""The action that reports whether the upgrade in progress can still be rolled back.

`upgrade.rollback.choose_direction` decides on a rollback, and the action UpgradeStarted starts it.
"""

from __future__ import annotations

__all__ = ["rollback_possible"]

from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.opensearch.view import EngineView
from searchkeeper.planner import NO_DEADLINE, Result, action, done, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.engine_snapshots import restore_hint
from searchkeeper.upgrade.rollback import point_of_no_return, rollback_blockers, rollback_hint

_MAX_BLOCKERS: Final = 5


@action()
def rollback_possible(ctx: ReconcileContext) -> Result:
    """True while a rollback is possible. The message names the pod whose replacement ends that."""
    if ctx.ledger.upgrade is None:
        return done("no upgrade is in progress", reason=Reason.NO_UPGRADE)
    before, _ = ctx.ledger.upgrade
    blockers = rollback_blockers(ctx.snapshot, ctx.ledger, before)
    if not blockers:
        return done(
            _available(ctx, before),
            reason=Reason.ROLLBACK_AVAILABLE,
            ledger_changes=ctx.upgraded_nodes_changes,
        )
    shown = "; ".join(blockers[:_MAX_BLOCKERS])
    more = f"; and {len(blockers) - _MAX_BLOCKERS} more" if len(blockers) > _MAX_BLOCKERS else ""
    return wait(
        Reason.POINT_OF_NO_RETURN_PASSED,
        f"not possible to {before}: {shown}{more}{restore_hint(ctx.ledger, before)}",
        deadline=NO_DEADLINE,
        ledger_changes=ctx.upgraded_nodes_changes,
    )


def _available(ctx: ReconcileContext, before: str) -> str:
    """Until when a rollback is possible, and how a user starts it where the upgrade has failed."""
    message, engine = f"possible to {before}", ctx.snapshot.engine
    if isinstance(engine, EngineView) and ctx.ledger.rollback_to is None:
        elected = None if engine.elected is None else engine.elected.name
        order = [
            pod.name
            for pool in ctx.pools
            for pod in sorted(pool.pods, key=lambda pod: pod.name == elected)
            if pod.engine_version != ctx.target
        ]
        last = point_of_no_return(engine, order, before)
        if last is not None:
            message += f" until {last[0]} is replaced: then {last[1]}"
    hint = rollback_hint(ctx.snapshot, ctx.ledger, before)
    return message if hint is None else f"{message}; {hint}"
