"""How many pods of a pool go together: one, then twice as many each time, half as many after a failure."""

from __future__ import annotations

__all__ = ["allowed", "doubled", "halved", "sized", "trouble"]

from searchkeeper.kernel import Note
from searchkeeper.observed import Observed
from searchkeeper.upgrade.journal import SIZE, TROUBLE, Journal


def allowed(seen: Observed, journal: Journal, pool: str) -> int:
    """How many of a pool may be away at this moment."""
    return min(journal.size(pool), seen.cluster.spec.upgrade.max_batch)


def doubled(seen: Observed, journal: Journal, pool: str) -> int:
    return min(journal.size(pool) * 2, seen.cluster.spec.upgrade.max_batch)


def sized(pool: str, size: int) -> Note:
    """One is how every pool begins, and needs no line."""
    return Note(SIZE, (pool, size) if size > 1 else None)


def halved(journal: Journal, pool: str) -> tuple[Note, ...]:
    return (sized(pool, journal.size(pool) // 2),)


def trouble(journal: Journal, pool: str) -> tuple[Note, ...]:
    """What a failure makes of the next batch: half of it, once for each batch that fails."""
    return () if journal.has_trouble else (Note(TROUBLE, True), *halved(journal, pool))
