"""Batch sizes: one pod, then twice as many after each success, half as many after a failure."""

from __future__ import annotations

__all__ = ["batch_limit", "doubled_batch", "record_batch_failure", "record_batch_size", "record_halved_batch"]

from searchkeeper.planner import LedgerChange
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import BATCH_FAILED, BATCH_SIZE, UpgradeLedger


def batch_limit(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pool: str) -> int:
    """Return how many pods of a pool may be replaced together now."""
    return min(ledger.batch_size(pool), snapshot.cluster.spec.upgrade.max_batch)


def doubled_batch(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pool: str) -> int:
    return min(ledger.batch_size(pool) * 2, snapshot.cluster.spec.upgrade.max_batch)


def record_batch_size(pool: str, size: int) -> LedgerChange:
    """Record the size of the next batch. One is the default and has no entry."""
    return LedgerChange(BATCH_SIZE, (pool, size) if size > 1 else None)


def record_halved_batch(ledger: UpgradeLedger, pool: str) -> tuple[LedgerChange, ...]:
    return (record_batch_size(pool, ledger.batch_size(pool) // 2),)


def record_batch_failure(ledger: UpgradeLedger, pool: str) -> tuple[LedgerChange, ...]:
    """Halve the next batch, once for each batch that fails."""
    if ledger.batch_failed:
        return ()
    return (LedgerChange(BATCH_FAILED, True), *record_halved_batch(ledger, pool))
