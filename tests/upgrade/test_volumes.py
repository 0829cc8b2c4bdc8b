"""Which volumes a rollback deletes."""

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
from worlds import NEW, OLD, engine, pod, pool, world

CLAIM = Key("v1", "PersistentVolumeClaim", "search", "data-data-0")
VOLUME = {"metadata": {"uid": "volume", "resourceVersion": "1"}}
LINES: dict[str, Entry] = {
    UPGRADE: (OLD, NEW),
    ROLLBACK_TO: OLD,
    UPGRADED_NODES: (("data-0", "volume"),),
    "wait/PodsCurrent": ("WaitingForPods", 0),
}


def with_failed_pod(**differences: Any) -> ClusterSnapshot:
    """One of two data nodes runs the older version on a disk of the newer one, and crashes."""
    patient = pod("data-0", is_ready=False, has_started=True, template="new", problem="CrashLoopBackOff")
    home = pool("data", 2, pods=[replace(patient, **differences), pod("data-1", template="new")])
    assert home.stateful_set is not None
    home = replace(home, stateful_set=replace(home.stateful_set, engine_version=OLD))
    return replace(world(home, health_deadline=60), objects={CLAIM: VOLUME})


def deletes_volume(snapshot: ClusterSnapshot, **lines: Entry | None) -> bool:
    """`upgrade__return` stands for the key `upgrade/return`."""
    ledger = Ledger.of(LINES).with_changes({name.replace("__", "/"): entry for name, entry in lines.items()})
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, records=Records(ledger)))
    return roll_out(Rollout(snapshot, UpgradeLedger.of(ledger), snapshot.pools)).reason == "DeletingVolume"


def test_volume_of_a_pod_that_cannot_start_on_it_is_deleted() -> None:
    assert deletes_volume(with_failed_pod())


@pytest.mark.parametrize(
    "differences",
    [{"is_ready": True}, {"is_terminating": True}, {"engine_version": NEW}, {"has_started": False}],
    ids=lambda given: next(iter(given)),
)
def test_pod_that_runs_or_terminates_or_never_started_keeps_its_volume(differences: dict[str, Any]) -> None:
    unseen = replace(with_failed_pod(**differences), engine=engine(with_failed_pod().pools))
    assert not deletes_volume(unseen)


def test_volume_that_no_newer_version_wrote_to_stays() -> None:
    assert not deletes_volume(with_failed_pod(), upgrade__crossed=(("data-0", "an earlier one"),))
    assert not deletes_volume(with_failed_pod(), upgrade__crossed=None)


def test_pod_without_a_volume_has_nothing_to_delete() -> None:
    assert not deletes_volume(replace(with_failed_pod(), objects={}))


@pytest.mark.parametrize("color", [Color.GREEN, Color.YELLOW, Color.RED])
def test_volume_stays_while_the_cluster_is_red(color: Color) -> None:
    snapshot = with_failed_pod()
    assert deletes_volume(replace(snapshot, engine=engine(snapshot.pools, color=color))) is (
        color is not Color.RED
    )


def test_volume_stays_if_the_node_has_joined_or_the_engine_is_unreachable() -> None:
    snapshot = with_failed_pod()
    joined = replace(snapshot.pools[0], pods=tuple(replace(each, is_ready=True) for each in snapshot.pods))
    assert not deletes_volume(replace(snapshot, engine=engine([joined])))
    assert not deletes_volume(replace(snapshot, engine=Unreachable("timed out")))


def test_volume_stays_before_the_deadline() -> None:
    assert not deletes_volume(with_failed_pod(), wait__PodsCurrent=("WaitingForPods", 990))


def test_volume_stays_in_an_upgrade() -> None:
    assert not deletes_volume(with_failed_pod(), upgrade__return=None)


def test_volume_stays_while_the_upgrade_is_paused() -> None:
    snapshot = with_failed_pod()
    spec = replace(snapshot.cluster.spec, upgrade=replace(snapshot.cluster.spec.upgrade, paused=True))
    assert not deletes_volume(replace(snapshot, cluster=replace(snapshot.cluster, spec=spec)))
