"""A spec that nobody can follow, let in by an older definition: left alone, with a word about it."""

from __future__ import annotations

__all__ = ["INVALID_SPEC_RECONCILER"]

from typing import Final

from searchkeeper.kubernetes.operations import EmitEvent
from searchkeeper.planner import LedgerChange, Reconciler, Result, action, done, in_progress, wait
from searchkeeper.reconcilers.context import INVALID_SPEC
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.engine_settings import restore_all
from searchkeeper.upgrade.gates import NO_DEADLINE
from searchkeeper.upgrade.ledger import REFUSED, UpgradeLedger


@action()
def spec_valid(snapshot: ClusterSnapshot) -> Result:
    """False until somebody edits the spec, which is told once a generation. Nothing is touched meanwhile."""
    cluster, flaw = snapshot.cluster, snapshot.cluster.spec_error or ""
    if UpgradeLedger.of(cluster.records.ledger).refused_generation == cluster.generation:
        return wait(INVALID_SPEC, flaw, deadline=NO_DEADLINE)
    event = EmitEvent(cluster.key, INVALID_SPEC, flaw)
    return in_progress(INVALID_SPEC, flaw, event, ledger_changes=(LedgerChange(REFUSED, cluster.generation),))


@action()
def engine_settings_restored(snapshot: ClusterSnapshot) -> Result:
    """What was set in the engine is undone: it was meant for a moment, and a spec may be wrong for a year."""
    return restore_all(snapshot, UpgradeLedger.of(snapshot.cluster.records.ledger)) or done()


INVALID_SPEC_RECONCILER: Final = Reconciler(0, 0, (spec_valid, engine_settings_restored))
