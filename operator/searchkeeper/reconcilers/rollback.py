"""The action that watches the way back while an upgrade is under way."""

from __future__ import annotations

__all__ = ["rollback_possible"]

from collections.abc import Iterator

from searchkeeper.opensearch.view import EngineView
from searchkeeper.planner import LedgerChange, Result, action, done, wait
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.snapshot import Pod
from searchkeeper.upgrade.gates import NO_DEADLINE
from searchkeeper.upgrade.ledger import UPGRADED_NODES
from searchkeeper.upgrade.rollback import (
    point_of_no_return,
    rollback_blockers,
    rollback_hint,
    upgraded_nodes,
)

# More would not fit into a condition, nor into a head.
_SHOWN = 5


@action()
def rollback_possible(ctx: ReconcileContext) -> Result:
    """True as long as the way back is open; the message names the pod with which it closes beforehand."""
    if ctx.ledger.upgrade is None:
        return done("no upgrade is under way", reason="NoUpgrade")
    before, _ = ctx.ledger.upgrade
    ledger_changes = tuple(_newly_crossed(ctx, before))
    objections = rollback_blockers(ctx.snapshot, ctx.ledger, before)
    if not objections:
        return done("; ".join(_open(ctx, before)), reason="Open", ledger_changes=ledger_changes)
    shown = "; ".join(objections[:_SHOWN])
    more = f"; and {len(objections) - _SHOWN} more" if len(objections) > _SHOWN else ""
    return wait(
        "Closed",
        f"no way back to {before}: {shown}{more}",
        deadline=NO_DEADLINE,
        ledger_changes=ledger_changes,
    )


def _newly_crossed(ctx: ReconcileContext, before: str) -> Iterator[LedgerChange]:
    """Whoever has run the newer version is remembered: its volume cannot be used by the older one.

    Also whoever first does so on the way back: one that had no machine before, and was not waited for.
    """
    found = upgraded_nodes(ctx.snapshot, ctx.ledger, before)
    if found != ctx.ledger.upgraded_nodes:
        yield LedgerChange(UPGRADED_NODES, tuple(sorted(found.items())))


def _open(ctx: ReconcileContext, before: str) -> Iterator[str]:
    engine = ctx.snapshot.engine
    left = [pod.name for pool in ctx.pools for pod in _in_order(ctx, pool.pods)]
    closing = point_of_no_return(engine, left, before) if isinstance(engine, EngineView) else None
    if closing is None or ctx.ledger.rollback_to is not None:
        yield f"back to {before}"
    else:
        yield f"back to {before} until {closing[0]} is replaced: then {closing[1]}"
    hint = rollback_hint(ctx.snapshot, ctx.ledger, before)
    if hint is not None:
        yield hint


def _in_order(ctx: ReconcileContext, pods: tuple[Pod, ...]) -> list[Pod]:
    """Those that still have to be replaced, the elected manager last."""
    elected = ctx.snapshot.engine.elected if isinstance(ctx.snapshot.engine, EngineView) else None
    name = None if elected is None else elected.name
    return sorted((pod for pod in pods if pod.engine_version != ctx.target), key=lambda p: p.name == name)
