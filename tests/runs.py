"""Whole runs of the operator, worked out once: migrations, an engine upgrade, and the way back from one."""

from __future__ import annotations

from functools import cache
from typing import Final

from operators_at_work import (
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
RELEASE: Final = "0.4.0"
PODS: Final = tuple(f"logs-{name}" for name in ("data-0", "data-1", "managers-0", "managers-1", "managers-2"))
# The migrations from configuration 1 to 2, 3 and 4; an engine upgrade; and the way back from one.
UPGRADE: Final = f"{OLD} → {NEW}"
WAY_BACK: Final = f"{NEW} → {OLD}"
RUNS: Final = ("0.1.1 → 0.2.0", "0.2.0 → 0.3.1", "0.3.1 → 0.4.0", UPGRADE, WAY_BACK)


@cache
def deployed_by(version: str) -> FakeCluster:
    """Two data nodes with documents, three managers."""
    world = asked_for(upgrade={"healthDeadlineSeconds": 3600})
    settled(world, version)
    with_index(world)
    settled(world, version)
    return world


@cache
def run(name: str) -> Score:
    before, _, after = name.partition(" → ")
    if before.startswith("0."):
        return score(copied(deployed_by(before)), after)
    world = edited(copied(deployed_by(RELEASE)), version=NEW)
    if before == NEW:
        worked_until(world, RELEASE, lambda w: NEW in running(w).values())
        edited(world, version=OLD)
    return score(world, RELEASE)


def forgotten() -> None:
    """What was seen with a guard in place says nothing about a run without it."""
    deployed_by.cache_clear()
    run.cache_clear()
