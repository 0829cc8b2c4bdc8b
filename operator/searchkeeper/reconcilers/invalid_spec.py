"""The reconciler of a cluster whose spec is invalid: it changes nothing but the engine's settings."""

from __future__ import annotations

__all__ = ["INVALID_SPEC_RECONCILER"]

from typing import Final

from searchkeeper.api.reasons import Reason
from searchkeeper.kubernetes.operations import EmitEvent
from searchkeeper.planner import (
    NO_DEADLINE,
    LedgerChange,
    Reconciler,
    Result,
    action,
    done,
    in_progress,
    wait,
)
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.engine_settings import restore_all
from searchkeeper.upgrade.ledger import REFUSED, UpgradeLedger


@action()
def spec_valid(snapshot: ClusterSnapshot) -> Result:
    """False until the spec is edited, with one event a generation. An older CRD may accept such a spec."""
    cluster, error = snapshot.cluster, snapshot.cluster.spec_error or ""
    if UpgradeLedger.of(cluster.records.ledger).refused_generation == cluster.generation:
        return wait(Reason.INVALID_SPEC, error, deadline=NO_DEADLINE)
    event = EmitEvent(cluster.key, Reason.INVALID_SPEC, error)
    return in_progress(
        Reason.INVALID_SPEC, error, event, ledger_changes=(LedgerChange(REFUSED, cluster.generation),)
    )


@action()
def engine_settings_restored(snapshot: ClusterSnapshot) -> Result:
    """True when no engine setting is left: they are meant for minutes, a spec may stay invalid for months."""
    return restore_all(snapshot, UpgradeLedger.of(snapshot.cluster.records.ledger)) or done()


INVALID_SPEC_RECONCILER: Final = Reconciler(0, 0, (spec_valid, engine_settings_restored))
