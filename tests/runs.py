"""Complete runs of the operator, computed once: migrations, an upgrade, a rollback, larger volumes."""

from __future__ import annotations

from functools import cache
from typing import Final

from operators_at_work import (
    SMALL,
    Score,
    asked_for,
    copied,
    edited,
    running,
    score,
    settled,
    with_index,
    worked_until,
)
from searchkeeper.testing.fake_cluster import FakeCluster

OLD: Final = "2.19.4"
NEW: Final = "3.4.0"
RELEASE: Final = "0.5.0"
PODS: Final = tuple(f"logs-{name}" for name in ("data-0", "data-1", "managers-0", "managers-1", "managers-2"))
# The migrations from configuration 1 to 2, 3, 4 and 5, an engine upgrade, a rollback, and larger volumes.
UPGRADE: Final = f"{OLD} → {NEW}"
ROLLBACK: Final = f"{NEW} → {OLD}"
EXPANSION: Final = "10Gi → 20Gi"
RUNS: Final = (
    "0.1.1 → 0.2.0",
    "0.2.0 → 0.3.1",
    "0.3.1 → 0.4.0",
    "0.4.0 → 0.5.0",
    UPGRADE,
    ROLLBACK,
    EXPANSION,
)


@cache
def deployed_by(version: str) -> FakeCluster:
    """A cluster with documents: two data nodes, three managers."""
    world = asked_for(upgrade={"healthDeadlineSeconds": 3600})
    settled(world, version)
    with_index(world)
    settled(world, version)
    return world


@cache
def run(name: str) -> Score:
    """Return the run with this name, from RUNS."""
    before, _, after = name.partition(" → ")
    if before.startswith("0."):
        return score(copied(deployed_by(before)), after)
    if name == EXPANSION:
        pools = [{**pool, "storage": {"size": after}} for pool in SMALL]
        return score(edited(copied(deployed_by(RELEASE)), pools=pools), RELEASE)
    world = edited(copied(deployed_by(RELEASE)), version=NEW)
    if before == NEW:
        worked_until(world, RELEASE, lambda w: NEW in running(w).values())
        edited(world, version=OLD)
    return score(world, RELEASE)


def clear_caches() -> None:
    """Drop the computed runs, for a test that changes the operator."""
    deployed_by.cache_clear()
    run.cache_clear()
