"""Volumes that a rollback deletes: those on which a pod cannot start."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.view import Color, Unreachable
from searchkeeper.planner import Ledger, Records
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import ROLLBACK_TO, UPGRADE, UPGRADED_NODES, UpgradeLedger
from searchkeeper.upgrade.rollout import Rollout, roll_out
from tests.support.searchkeeper.snapshots import NEW, OLD, cluster_snapshot, engine, pod, pool

CLAIM = Key("v1", "PersistentVolumeClaim", "search", "data-data-0")
VOLUME = {"metadata": {"uid": "volume", "resourceVersion": "1"}}
LEDGER: dict[str, Entry] = {
    UPGRADE: (OLD, NEW),
    ROLLBACK_TO: OLD,
    UPGRADED_NODES: (("data-0", "volume"),),
    "wait/PodsCurrent": ("WaitingForPods", 0),
}


def crashed_rollback(**changes: Any) -> ClusterSnapshot:
    """Return a rollback in which a data node crashes on a disk that the newer version wrote."""
    crashing_pod = pod("data-0", is_ready=False, has_started=True, template="new", problem="CrashLoopBackOff")
    data_pool = pool("data", 2, pods=[replace(crashing_pod, **changes), pod("data-1", template="new")])
    assert data_pool.stateful_set is not None
    data_pool = replace(data_pool, stateful_set=replace(data_pool.stateful_set, engine_version=OLD))
    return replace(cluster_snapshot(data_pool, health_deadline=60), objects={CLAIM: VOLUME})


def is_volume_deleted(snapshot: ClusterSnapshot, **entries: Entry | None) -> bool:
    """Whether the volume is deleted. `upgrade__return` is the ledger key `upgrade/return`."""
    ledger = Ledger.of(LEDGER).with_changes(
        {name.replace("__", "/"): entry for name, entry in entries.items()}
    )
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, records=Records(ledger)))
    return roll_out(Rollout(snapshot, UpgradeLedger.of(ledger), snapshot.pools)).reason == "DeletingVolume"


def test_volume_that_a_newer_version_wrote_is_deleted_if_the_pod_cannot_start() -> None:
    assert is_volume_deleted(crashed_rollback())


@pytest.mark.parametrize(
    "changes",
    [{"is_ready": True}, {"is_terminating": True}, {"engine_version": NEW}, {"has_started": False}],
    ids=lambda changes: next(iter(changes)),
)
def test_volume_of_a_ready_terminating_newer_or_never_started_pod_stays(changes: dict[str, Any]) -> None:
    snapshot = replace(crashed_rollback(**changes), engine=engine(crashed_rollback().pools))
    assert not is_volume_deleted(snapshot)


def test_volume_that_no_newer_version_wrote_stays() -> None:
    assert not is_volume_deleted(crashed_rollback(), upgrade__crossed=(("data-0", "earlier"),))
    assert not is_volume_deleted(crashed_rollback(), upgrade__crossed=None)


def test_pod_without_a_volume_has_none_to_delete() -> None:
    assert not is_volume_deleted(replace(crashed_rollback(), objects={}))


@pytest.mark.parametrize("color", [Color.GREEN, Color.YELLOW, Color.RED])
def test_volume_stays_while_the_engine_is_red(color: Color) -> None:
    snapshot = crashed_rollback()
    assert is_volume_deleted(replace(snapshot, engine=engine(snapshot.pools, color=color))) is (
        color is not Color.RED
    )


def test_volume_stays_if_the_node_has_joined_or_the_engine_is_unreachable() -> None:
    snapshot = crashed_rollback()
    joined = replace(snapshot.pools[0], pods=tuple(replace(pod, is_ready=True) for pod in snapshot.pods))
    assert not is_volume_deleted(replace(snapshot, engine=engine([joined])))
    assert not is_volume_deleted(replace(snapshot, engine=Unreachable("timed out")))


def test_volume_stays_until_the_deadline() -> None:
    assert not is_volume_deleted(crashed_rollback(), wait__PodsCurrent=("WaitingForPods", 990))


def test_volume_stays_in_an_upgrade() -> None:
    assert not is_volume_deleted(crashed_rollback(), upgrade__return=None)


def test_volume_stays_during_a_pause() -> None:
    snapshot = crashed_rollback()
    spec = replace(snapshot.cluster.spec, upgrade=replace(snapshot.cluster.spec.upgrade, paused=True))
    assert not is_volume_deleted(replace(snapshot, cluster=replace(snapshot.cluster, spec=spec)))
