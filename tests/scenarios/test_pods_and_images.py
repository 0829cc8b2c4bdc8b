"""S14, S16, S22, S25, S32: pods that do not start, and what they must not cost anybody else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from operators_at_work import (
    CLUSTER,
    Ports,
    annotated,
    claims,
    condition,
    edited,
    settled,
    status,
    with_faults,
    worked,
)
from searchkeeper.embedded.kubelet import Fault
from searchkeeper.embedded.manifests import placed
from searchkeeper.embedded.world import World
from searchkeeper.engine.view import ShardState
from searchkeeper.proof.recording import Recording
from searchkeeper.releases import release
from searchkeeper.writes import Delete, Key, Manifest
from tales import NEWEST, at_work, away, broken, running, stateful_set, unfolding, until, versions

OLD, NEW = "2.19.4", "3.4.0"
STUCK = (Fault.CRASH, Fault.IMAGE, Fault.PENDING, Fault.NEVER_READY)
MANAGERS = {f"managers-{n}" for n in range(3)}


def impatient(**upgrade: Any) -> World:
    return running(upgrade={"healthDeadlineSeconds": 60, **upgrade})


def pod(name: str) -> Key:
    return Key("v1", "Pod", CLUSTER.namespace, f"logs-{name}")


def first_manager_fails(fault: Fault) -> tuple[World, str]:
    """In an upgrade whose data nodes have arrived, the first manager does not start again."""
    world = edited(impatient(), version=NEW)
    until(lambda world: bool(away(world, MANAGERS)), world)
    [name] = away(world, MANAGERS)
    return at_work(broken(world, f"logs-{name}", fault), ticks=20), name


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.IMAGE, Fault.PENDING])
def test_a_manager_that_cannot_join_costs_no_other_manager(fault: Fault) -> None:
    """S14: the cluster keeps its quorum, says whom it waits for, and goes on when that one is back."""
    # Guard: whoever is away is waited for before another one goes.
    world, name = first_manager_fails(fault)
    assert away(world, MANAGERS) == {name}
    assert world.state.engine.elected is not None
    assert status(world)["phase"] == "Stalled"
    assert f"logs-{name} not back yet" in condition(world, "PodsAreCurrent")
    settled(with_faults(world), NEWEST)
    assert set(versions(world).values()) == {NEW}


def test_deleting_the_pod_of_a_manager_that_cannot_join_makes_nothing_worse() -> None:
    """S14: which is what everybody tries first."""
    world, name = first_manager_fails(Fault.CRASH)
    for _ in range(3):
        world.delete(Delete(pod(name), "", ""))
        at_work(world, ticks=5)
        assert away(world, MANAGERS) == {name}
    settled(with_faults(world), NEWEST)
    assert set(versions(world).values()) == {NEW}


@pytest.mark.parametrize("fault", STUCK)
def test_an_image_that_does_not_start_takes_one_pod_and_no_document(fault: Fault) -> None:
    """S16: a plugin of another version fails with the first pod, and not with the next."""
    # Guard: whoever is away is waited for before another one goes.
    world = at_work(with_faults(edited(impatient(), version=NEW), v3_4_0=fault), ticks=40)
    assert sorted(versions(world).values()) == [OLD] * 4 + [NEW]
    assert status(world)["phase"] == "Stalled"
    assert all(each.state is ShardState.STARTED for each in world.state.engine.copies if each.is_primary)
    assert condition(world, "RollbackIsPossible").startswith("True Open")


@pytest.mark.parametrize("fault", STUCK)
def test_a_half_made_upgrade_to_an_image_that_does_not_start_is_unmade(fault: Fault) -> None:
    """S16: there is no state in between that nobody can leave."""
    world = at_work(with_faults(edited(impatient(), version=NEW), v3_4_0=fault), ticks=40)
    settled(edited(world, version=OLD), NEWEST)
    assert set(versions(world).values()) == {OLD}
    assert not status(world)["ledger"]


@pytest.mark.parametrize("fault", [Fault.CRASH, Fault.IMAGE, Fault.PENDING])
def test_a_pod_that_is_down_is_the_first_to_get_the_version_that_mends_it(fault: Fault) -> None:
    """S22: what cures it does not wait until it is well, and no other pod goes before it is."""
    # Guard: broken ones go first of their pool.
    world = at_work(broken(impatient(), "logs-data-1", fault), ticks=5)
    edited(world, version=NEW)
    for moment in unfolding(world):
        if versions(moment).get("data-1") == NEW:
            with_faults(moment)
        elif moment.state.faults:
            assert away(moment, {*MANAGERS, "data-0", "data-1"}) == {"data-1"}
    assert set(versions(world).values()) == {NEW}


def belongings(world: World) -> dict[Key, str]:
    """All that a cluster has but for its pods, by UID: nobody has made it again."""
    found = world.state.cluster.objects
    fleeting = ("Pod", "ControllerRevision")
    return {key: str(each["metadata"]["uid"]) for key, each in found.items() if key.kind not in fleeting}


@pytest.mark.parametrize("rollback", ["Automatic", "Manual", "Off"])
@pytest.mark.parametrize("fault", STUCK)
def test_an_upgrade_that_fails_deletes_nothing_but_pods(fault: Fault, rollback: str) -> None:
    """S25: not the cluster, not a pool, not a volume; and no document is out of reach for a moment."""
    # A node that has joined on the newer version has to begin anew on the way back: its volume alone goes.
    world = impatient(rollback=rollback)
    before = belongings(world)
    worked(with_faults(edited(world, version=NEW), v3_4_0=fault), NEWEST, ticks=60)
    lost = {key.name for key, uid in before.items() if belongings(world).get(key) != uid}
    has_crossed = fault is Fault.NEVER_READY and rollback == "Automatic"
    assert lost == ({"data-logs-data-0"} if has_crossed else set())
    assert all(each.state is ShardState.STARTED for each in world.state.engine.copies if each.is_primary)


def test_an_upgrade_that_fails_twice_and_is_ordered_back_deletes_nothing_either() -> None:
    """S25: nor does trying again."""
    world = impatient()
    before = claims(world)
    for _ in range(2):
        worked(with_faults(edited(world, version=NEW), v3_4_0=Fault.CRASH), NEWEST)
        worked(annotated(world, rollback=OLD), NEWEST)
        settled(with_faults(edited(world, version=OLD)), NEWEST)
    assert claims(world) == before
    assert len(world.state.engine.nodes) == 5


class Miscounting(Ports):
    """Ports whose StatefulSets have a revision twice, and so never count their pods as updated."""

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        found = super().list(api, kind, namespace, labels)
        if kind != "StatefulSet":
            return found
        wrong = {"updatedReplicas": 0, "currentRevision": "logs-a", "updateRevision": "logs-b"}
        return [placed(each, "status", to={**each.get("status", {}), **wrong}) for each in found]


def test_an_upgrade_ends_although_kubernetes_miscounts_revisions() -> None:
    """S32: whether a pod is of the newest template is seen on the pod."""
    # Guard: stale_pods compares the pod's own mark, not a StatefulSet's status.
    world = edited(running(), version=NEW)
    ports = Miscounting(Recording(world, CLUSTER, release(NEWEST)))
    for _ in unfolding(world, ports=ports):
        pass
    assert status(world)["engineVersion"] == NEW
    assert status(world)["phase"] == "Running"


def test_at_rest_no_pod_is_restarted_although_a_stateful_set_counts_fewer_as_updated() -> None:
    """S32: after a roll by deletion Kubernetes itself keeps the old revision as the current one."""
    world = edited(running(), version=NEW)
    settled(world, NEWEST)
    found = stateful_set(world, "data")
    assert found is not None
    assert found["status"]["currentRevision"] != found["status"]["updateRevision"]
    ports = Miscounting(Recording(world, CLUSTER, release(NEWEST)))
    at_work(world, ports, ticks=50)
    assert ports.writes == 0
