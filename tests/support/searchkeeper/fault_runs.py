"""Complete runs of the operator, computed once: migrations, an upgrade, a rollback, larger volumes."""

from __future__ import annotations

from functools import cache
from typing import Final

from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    NEWEST,
    SMALL,
    RecordedRun,
    add_index,
    copy_cluster,
    edit_spec,
    new_cluster,
    node_versions,
    reconcile_until,
    reconcile_until_converged,
    record_run,
)

OLD: Final = "2.19.4"
NEW: Final = "3.4.0"
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
    cluster = new_cluster(upgrade={"healthDeadlineSeconds": 3600})
    reconcile_until_converged(cluster, version)
    add_index(cluster)
    reconcile_until_converged(cluster, version)
    return cluster


@cache
def run(name: str) -> RecordedRun:
    """Return the run with this name, from RUNS."""
    before, _, after = name.partition(" → ")
    if before.startswith("0."):
        return record_run(copy_cluster(deployed_by(before)), after)
    if name == EXPANSION:
        pools = [{**pool, "storage": {"size": after}} for pool in SMALL]
        return record_run(edit_spec(copy_cluster(deployed_by(NEWEST)), pools=pools))
    cluster = edit_spec(copy_cluster(deployed_by(NEWEST)), version=NEW)
    if before == NEW:
        reconcile_until(cluster, lambda w: NEW in node_versions(w).values())
        edit_spec(cluster, version=OLD)
    return record_run(cluster)


def clear_caches() -> None:
    """Drop the computed runs, for a test that changes the operator."""
    deployed_by.cache_clear()
    run.cache_clear()
