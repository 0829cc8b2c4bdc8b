"""What a later configuration version takes over, and what it leaves nothing of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from operators_at_work import (
    CLUSTER,
    SMALL,
    Ports,
    asked_for,
    condition,
    edited,
    pool,
    settled,
    status,
    with_index,
    worked,
)
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.opensearch.view import Color
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.manifests import owner_uids
from searchkeeper.testing.faults import killed
from tales import NEWEST, at_work, color, deleted, kinds, pods, running, stateful_set, unfolding, until

BEFORE = "0.3.1"


def histories(world: FakeCluster) -> dict[str, Manifest]:
    found = world.list("apps/v1", "ControllerRevision", CLUSTER.namespace, {})
    return {each["metadata"]["name"]: each for each in found}


def strangers_history(name: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": CLUSTER.namespace, "labels": {"app": "logs", "pool": "data"}}
    return {"apiVersion": "apps/v1", "kind": "ControllerRevision", "metadata": metadata, "data": {}}


def test_nothing_of_version_1_stays_when_nobody_reads_it_any_more() -> None:
    world = running(version="0.1.1")
    settled(world, "0.2.0")
    assert not {"logs-discovery", "logs-config"} & {key.name for key in world.state.cluster.objects}


@pytest.mark.parametrize("grown", ["data", "managers", "edge"])
def test_more_nodes_of_any_pool_come_also_while_labels_change(grown: str) -> None:
    roles = {"data": "data", "edge": "ingest", "managers": "cluster_manager"}
    world = running(*(pool(name, 3, role) for name, role in roles.items()), version=BEFORE)
    edited(world, pools=[pool(name, 5 if name == grown else 3, role) for name, role in roles.items()])
    settled(world, NEWEST)
    assert status(world)["currentVersion"] == 4
    assert status(world)["ready"] == "11/11"


def without_its_last_pool() -> FakeCluster:
    """A pool with the only copies of some documents, on its way out when the next operator takes over."""
    world = running(*SMALL, pool("more", 2, "data"), version=BEFORE)
    for name in ("films", "songs", "plays", "tales"):
        with_index(world, name, replicas=0)
    return edited(world, pools=list(SMALL))


def test_nodes_that_leave_while_labels_change_are_of_a_stateful_set_until_the_last_has_left() -> None:
    world = without_its_last_pool()
    settled(world, NEWEST)
    assert sorted(pods(world)) == ["data-0", "data-1", "managers-0", "managers-1", "managers-2"]
    assert status(world)["currentVersion"] == 4
    assert color(world) is Color.GREEN


@pytest.mark.parametrize("evicted", [["more-1"], ["more-0", "more-1"]], ids=["one", "all of them"])
def test_who_is_evicted_from_a_pool_that_leaves_while_labels_change_comes_back(evicted: list[str]) -> None:
    # Guard: whoever leaves needs a StatefulSet.
    world = without_its_last_pool()
    until(lambda world: stateful_set(world, "more") is None, world)
    for name in evicted:
        world.state = killed(world.state, Key("v1", "Pod", CLUSTER.namespace, f"logs-{name}"))
    at_work(world, ticks=80)
    assert color(world) is Color.GREEN
    assert not status(world)["ledger"]
    assert stateful_set(world, "more") is None


def test_a_stateful_set_that_is_let_go_leaves_its_history_behind() -> None:
    """Without an owner, and with labels that no later StatefulSet selects."""
    world = running(version=BEFORE)
    orphaned = set()
    for moment in unfolding(world):
        orphaned |= {name for name, each in histories(moment).items() if not owner_uids(each)}
    assert {name.rpartition("-")[0] for name in orphaned} == {"logs-data", "logs-managers"}


def test_a_migration_does_not_restart_the_only_manager_that_would_forget_the_cluster() -> None:
    """I1: it goes on when another one can have its vote."""
    forgetful = {**pool("managers", 1, "cluster_manager"), "storage": {"ephemeral": True}}
    world = asked_for(forgetful, pool("data", 2, "data"), upgrade={"healthDeadlineSeconds": 60})
    settled(world, "0.1.1")
    before = [node.name for node in world.state.engine.nodes if node.is_elected]
    worked(world, "0.2.2")
    assert "only the ephemeral storage of logs-managers-0 has the cluster state" in condition(
        world, "PodsCurrent"
    )
    assert [node.name for node in world.state.engine.nodes if node.is_elected] == before
    edited(world, pools=[forgetful, pool("data", 2, "data"), pool("leaders", 1, "cluster_manager")])
    settled(world, "0.2.2")
    assert world.state.engine.elected is not None


def test_no_history_of_the_old_labels_stays() -> None:
    # Guard: orphaned histories are deleted.
    world = running(version=BEFORE)
    before = set(histories(world))
    settled(world, NEWEST)
    assert before
    assert not before & set(histories(world))
    assert all(map(owner_uids, histories(world).values()))


def test_histories_of_others_stay_whatever_their_labels() -> None:
    # Guard: they are known by the names of our StatefulSets.
    world = running(version=BEFORE)
    world.create(strangers_history("logs-shipper-5d8f"))
    settled(world, NEWEST)
    assert "logs-shipper-5d8f" in histories(world)


def test_a_cluster_that_is_deleted_in_between_leaves_no_history() -> None:
    world = running(version=BEFORE)
    until(lambda world: not all(map(owner_uids, histories(world).values())), world)
    for _ in unfolding(deleted(world)):
        pass
    world.tick()
    assert kinds(world) == {"PersistentVolumeClaim"}


class Ear(Ports):
    """Hears which kinds are listed."""

    def __init__(self, world: FakeCluster) -> None:
        super().__init__(world)
        self.listed: list[str] = []

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        self.listed.append(kind)
        return super().list(api, kind, namespace, labels)


def test_at_the_newest_labels_nobody_asks_for_histories() -> None:
    """To list them costs a call in every cycle, and there are none to look for."""
    world = running()
    ear = Ear(world)
    reconcile(ear, ear, CLUSTER, release(NEWEST), world.state.now)
    assert "Pod" in ear.listed
    assert "ControllerRevision" not in ear.listed
