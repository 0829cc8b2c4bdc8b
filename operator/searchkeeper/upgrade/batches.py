"""How many pods of a pool go together: one, then twice as many each time, half as many after a failure."""

from __future__ import annotations

__all__ = ["batch_limit", "doubled_batch", "record_batch_failure", "record_batch_size", "record_halved_batch"]

from searchkeeper.planner import LedgerChange
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import BATCH_FAILED, BATCH_SIZE, UpgradeLedger


def batch_limit(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pool: str) -> int:
    """How many of a pool may be away at this moment."""
    return min(ledger.size(pool), snapshot.cluster.spec.upgrade.max_batch)


def doubled_batch(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pool: str) -> int:
    return min(ledger.size(pool) * 2, snapshot.cluster.spec.upgrade.max_batch)


def record_batch_size(pool: str, size: int) -> LedgerChange:
    """One is how every pool begins, and needs no line."""
    return LedgerChange(BATCH_SIZE, (pool, size) if size > 1 else None)


def record_halved_batch(ledger: UpgradeLedger, pool: str) -> tuple[LedgerChange, ...]:
    return (record_batch_size(pool, ledger.size(pool) // 2),)


def record_batch_failure(ledger: UpgradeLedger, pool: str) -> tuple[LedgerChange, ...]:
    """What a failure makes of the next batch: half of it, once for each batch that fails."""
    return (
        () if ledger.batch_failed else (LedgerChange(BATCH_FAILED, True), *record_halved_batch(ledger, pool))
    )
