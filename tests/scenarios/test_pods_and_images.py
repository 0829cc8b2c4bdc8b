"""S14, S16, S17, S22, S25, S32: pods that do not start, and what they must not cost anybody else."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

from operators_at_work import (
    CLUSTER,
    Ports,
    annotated,
    claims,
    condition,
    edited,
    pool,
    settled,
    status,
    with_faults,
    with_index,
    worked,
)
from searchkeeper.images import image_version
from searchkeeper.kubernetes.operations import Delete, Key, Manifest
from searchkeeper.opensearch.view import Color, ShardState
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster, FakeClusterState
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_kubernetes.manifests import with_value
from searchkeeper.testing.fake_opensearch.membership import elect_manager
from searchkeeper.testing.faults import kill_pod
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tales import NEWEST, at_work, away, broken, color, running, stateful_set, unfolding, until, versions

OLD, BAD, NEW = "2.19.4", "3.3.2", "3.4.0"
STUCK = (PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING, PodFault.NEVER_READY)
MANAGERS = {f"managers-{n}" for n in range(3)}


def impatient(**upgrade: Any) -> FakeCluster:
    return running(upgrade={"healthDeadlineSeconds": 60, **upgrade})


def pod(name: str) -> Key:
    return Key("v1", "Pod", CLUSTER.namespace, f"logs-{name}")


def data(count: int) -> list[dict[str, Any]]:
    return [pool("data", count, "data"), pool("managers", 3, "cluster_manager")]


def on_node(state: FakeClusterState, index: str, node: str) -> FakeClusterState:
    """An index whose copies are all on one node."""
    copies = (replace(each, node=node) if each.index == index else each for each in state.engine.copies)
    return replace(state, engine=replace(state.engine, copies=tuple(copies)))


def without_index(state: FakeClusterState, name: str) -> FakeClusterState:
    """Somebody deletes an index."""
    engine = state.engine
    indices = tuple(each for each in engine.indices if each.name != name)
    copies = tuple(each for each in engine.copies if each.index != name)
    return replace(state, engine=replace(engine, indices=indices, copies=copies))


def first_manager_fails(fault: PodFault, version: str = NEW) -> tuple[FakeCluster, str]:
    """In an upgrade whose data nodes have arrived, the first manager does not start again."""
    world = edited(impatient(), version=version)
    until(lambda world: bool(away(world, MANAGERS)), world)
    [name] = away(world, MANAGERS)
    return at_work(broken(world, f"logs-{name}", fault), ticks=20), name


@pytest.mark.parametrize("fault", [PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING])
def test_no_other_manager_is_replaced_while_one_cannot_join(fault: PodFault) -> None:
    """S14: the cluster keeps its quorum, says whom it waits for, and goes on when that one is back."""
    # Guard: whoever is away is waited for before another one goes.
    world, name = first_manager_fails(fault)
    assert away(world, MANAGERS) == {name}
    assert world.state.engine.elected is not None
    assert status(world)["phase"] == "Stalled"
    assert f"waiting until logs-{name} (" in condition(world, "PodsCurrent")
    settled(with_faults(world), NEWEST)
    assert set(versions(world).values()) == {NEW}


def test_deleting_the_pod_of_a_failed_manager_removes_no_other_manager() -> None:
    """S14: which is what everybody tries first."""
    world, name = first_manager_fails(PodFault.CRASH)
    for _ in range(3):
        world.delete(Delete(pod(name), "", ""))
        at_work(world, ticks=5)
        assert away(world, MANAGERS) == {name}
    settled(with_faults(world), NEWEST)
    assert set(versions(world).values()) == {NEW}


def mended_by(world: FakeCluster, name: str, version: str) -> None:
    """The pod is well as soon as it has this version; until then no other manager goes."""
    for moment in unfolding(edited(world, version=version)):
        if moment.state.faults:
            assert away(moment, MANAGERS) == {name}
            assert {versions(moment)[each] for each in MANAGERS - {name}} == {OLD}
        if versions(moment).get(name) == version:
            with_faults(moment)
    assert set(versions(world).values()) == {version}
    assert not status(world)["ledger"]


@pytest.mark.parametrize("fault", STUCK)
def test_failed_manager_is_fixed_by_another_version_after_the_point_of_no_return(fault: PodFault) -> None:
    """S14, S17: past the point of no return the way out is forwards, whatever pool's turn it is."""
    # Guard: a pod that is down does not wait for the turn of its pool.
    world, name = first_manager_fails(fault, BAD)
    assert condition(world, "RollbackPossible").startswith("False PointOfNoReturnPassed")
    mended_by(world, name, NEW)


def deployed(world: FakeCluster, name: str) -> str:
    """The version in the template of a pool."""
    found = stateful_set(world, name)
    assert found is not None
    return image_version(found["spec"]["template"]["spec"]["containers"][0]["image"])


def test_early_replacement_of_a_failed_pod_does_not_upgrade_its_pool() -> None:
    """S14, I3: also where it is well again before the first pool has its new template."""
    # Guard: of a pool that is ahead only who is down is replaced.
    world = running(pool("store", 2, "data"), *data(0)[1:], upgrade={"healthDeadlineSeconds": 60})
    until(lambda world: bool(away(world, MANAGERS)), edited(world, version=BAD))
    [name] = away(world, MANAGERS)
    at_work(broken(world, f"logs-{name}", PodFault.CRASH), ticks=20)
    until(lambda world: deployed(world, "managers") == NEW, edited(world, version=NEW))
    assert deployed(world, "store") == BAD
    for _ in range(3):
        with_faults(world).tick()
    for moment in unfolding(world):
        found = versions(moment)
        if {found.get("store-0"), found.get("store-1")} != {NEW}:
            assert NEW not in {found.get(each) for each in MANAGERS}
    assert set(versions(world).values()) == {NEW}


@pytest.mark.parametrize("fault", [PodFault.PENDING, PodFault.IMAGE])
def test_manager_that_recovers_after_a_change_of_version_is_upgraded(
    fault: PodFault,
) -> None:
    """S14: it is back on a version that nobody wants any more, which is no reason to wait for it for ever."""
    world, name = first_manager_fails(fault, BAD)
    edited(world, version=NEW)
    at_work(world, ticks=1)
    settled(with_faults(world), NEWEST)
    assert set(versions(world).values()) == {NEW}
    assert name in MANAGERS


def test_failed_manager_of_a_later_pool_gets_the_new_version_after_the_deadline() -> None:
    """S22: its turn has not come; but nobody's ever would, and there is no way back."""
    # Guard: only when waiting has not helped.
    world = edited(running(*data(3), upgrade={"healthDeadlineSeconds": 60}), version=NEW)
    until(lambda world: versions(world).get("data-1") == NEW, world)
    world.delete(Delete(pod("managers-1"), "", ""))
    broken(world, "logs-managers-1", PodFault.IMAGE)
    at_work(world, ticks=5)
    assert versions(world)["managers-1"] == OLD
    assert condition(world, "RollbackPossible").startswith("False PointOfNoReturnPassed")
    for moment in unfolding(world):
        found = versions(moment)
        if found.get("managers-1") == NEW:
            with_faults(moment)
        elif moment.state.faults:
            assert {found["managers-0"], found["managers-2"]} == {OLD}
    assert set(versions(world).values()) == {NEW}


def test_failed_pod_of_a_later_pool_keeps_its_version_while_rollback_is_possible() -> None:
    """S15, S22: who is evicted would come back on the new version; a person may still revert."""
    world = edited(impatient(), version=NEW)
    until(lambda world: versions(world).get("data-0") == NEW, world)
    world.delete(Delete(pod("managers-1"), "", ""))
    at_work(broken(world, "logs-managers-1", PodFault.IMAGE), ticks=60)
    assert {versions(world)[each] for each in MANAGERS} == {OLD}
    assert condition(world, "RollbackPossible").startswith("True RollbackAvailable")


@pytest.mark.parametrize("fault", STUCK)
def test_failing_image_stops_one_pod_and_loses_no_document(fault: PodFault) -> None:
    """S16: a plugin of another version fails with the first pod, and not with the next."""
    # Guard: whoever is away is waited for before another one goes.
    world = at_work(with_faults(edited(impatient(), version=NEW), v3_4_0=fault), ticks=40)
    assert sorted(versions(world).values()) == [OLD] * 4 + [NEW]
    assert status(world)["phase"] == "Stalled"
    assert all(each.state is ShardState.STARTED for each in world.state.engine.copies if each.is_primary)
    assert condition(world, "RollbackPossible").startswith("True RollbackAvailable")


@pytest.mark.parametrize("fault", STUCK)
def test_revert_undoes_an_upgrade_to_a_failing_image(fault: PodFault) -> None:
    """S16: there is no state in between that nobody can leave."""
    world = at_work(with_faults(edited(impatient(), version=NEW), v3_4_0=fault), ticks=40)
    settled(edited(world, version=OLD), NEWEST)
    assert set(versions(world).values()) == {OLD}
    assert not status(world)["ledger"]


@pytest.mark.parametrize("fault", [PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING])
def test_failed_pod_is_upgraded_before_all_others(fault: PodFault) -> None:
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


def test_statefulset_rollout_continues_past_a_failed_pod() -> None:
    """S22: Kubernetes goes from the highest ordinal down; the one that is down is mended on the way."""
    world = running(*data(2), pool("routers", 3, "coordinating"), upgrade={"healthDeadlineSeconds": 60})
    until(lambda world: status(world)["upgrade"].get("pool") == "routers", edited(world, version=NEW))
    broken(world, "logs-routers-0", PodFault.CRASH)
    for moment in unfolding(world):
        if versions(moment).get("routers-0") == NEW:
            with_faults(moment)
    assert set(versions(world).values()) == {NEW}


def allotted(world: FakeCluster, pool: str) -> int:
    child = world.get(Key(CLUSTER.api, "SearchPool", CLUSTER.namespace, f"logs-{pool}"))
    assert child is not None
    return int(child["spec"]["replicas"])


def test_failed_manager_is_abandoned_only_after_it_lost_its_vote() -> None:
    """S22, I1: a cluster would count the vote for ever. It is taken from the one that is gone, by its id."""
    # Guard: only those that have nothing are given up.
    world = at_work(broken(impatient(), "logs-managers-2", PodFault.PENDING), ticks=5)
    assert "logs-managers-2" in world.state.engine.voters
    edited(world, pools=[pool("data", 2, "data"), pool("managers", 2, "cluster_manager")])
    for moment in unfolding(world):
        if allotted(moment, "managers") < 3:
            assert "logs-managers-2" not in moment.state.engine.voters
    assert world.state.engine.voters <= world.state.engine.names
    assert not world.state.engine.voting_exclusions


def test_absent_vote_is_kept_while_a_remaining_manager_has_not_joined() -> None:
    """I1: the engine does not know the name of a voter that is away."""
    world = running(pool("data", 2, "data"), pool("managers", 5, "cluster_manager"))
    world.state = kill_pod(broken(world, "logs-managers-4", PodFault.PENDING).state, pod("managers-4"))
    at_work(world, ticks=3)
    engine, gone = world.state.engine, {"logs-managers-0", "logs-managers-4"}
    apart = replace(engine, nodes=tuple(n for n in engine.nodes if n.name not in gone))
    apart = replace(apart, voters=frozenset(f"logs-managers-{number}" for number in range(5)))
    world.state = replace(world.state, engine=elect_manager(apart))
    edited(world, pools=[pool("data", 2, "data"), pool("managers", 4, "cluster_manager")])
    for _ in range(20):
        reconcile(world, world, CLUSTER, release(NEWEST), world.state.now)
    assert not world.state.engine.voting_exclusions
    assert condition(world, "ScaleInComplete").endswith("or of logs-managers-0, which has not joined")


@pytest.mark.parametrize("fault", STUCK)
def test_upgrade_does_not_start_while_a_pod_of_a_later_pool_is_down(fault: PodFault) -> None:
    """S22: it would keep the first pool waiting, and the first pool's turn would keep it."""
    # Guard: a healthy beginning.
    world = at_work(broken(impatient(), "logs-managers-1", fault), ticks=5)
    at_work(edited(world, version=NEW), ticks=40)
    assert condition(world, "UpgradeStarted").endswith(
        "an upgrade starts only in a healthy cluster: logs-managers-1 is not ready"
    )
    assert set(versions(world).values()) == {OLD}
    assert "upgrade/lock" not in status(world)["ledger"]
    settled(with_faults(world), NEWEST)
    assert set(versions(world).values()) == {NEW}


@pytest.mark.parametrize("fault", [PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING])
def test_revert_releases_the_lock_although_an_unrelated_pod_is_down(fault: PodFault) -> None:
    """S22, L4: what is down has nothing to do with the upgrade, and other edits are made."""
    # Guard: the lock does not wait for who is down for other reasons.
    world = edited(impatient(), version=NEW)
    until(lambda world: versions(world).get("data-0") == NEW, world)
    at_work(broken(world, "logs-managers-2", fault), ticks=20)
    assert status(world)["phase"] == "Stalled"
    at_work(edited(world, version=OLD), ticks=60)
    assert set(versions(world).values()) == {OLD}
    assert not [line for line in status(world)["ledger"] if line.startswith("upgrade")]
    assert status(world)["upgrade"]["history"][-1]["result"] == "RolledBack"
    assert away(world, MANAGERS) == {"managers-2"}
    settled(with_faults(world), NEWEST)


def down_for_good(count: int = 3, fault: PodFault = PodFault.PENDING) -> FakeCluster:
    """The last of these data nodes is never going to start."""
    world = running(*data(count), upgrade={"healthDeadlineSeconds": 60})
    return at_work(broken(world, f"logs-data-{count - 1}", fault), ticks=5)


@pytest.mark.parametrize("fault", [PodFault.CRASH, PodFault.IMAGE, PodFault.PENDING])
def test_failed_node_is_removed_before_the_upgrade_starts(fault: PodFault) -> None:
    """S22, L4: a node that is down for good may be given up, whatever version is wanted."""
    # Guard: whoever is given up goes first.
    world = edited(down_for_good(fault=fault), version=NEW, pools=data(2))
    settled(world, NEWEST)
    assert set(versions(world)) == {*MANAGERS, "data-0", "data-1"}
    assert set(versions(world).values()) == {NEW}


@pytest.mark.parametrize("version", [OLD, NEW])
def test_failed_node_can_be_removed_during_an_upgrade(version: str) -> None:
    """S22, L4: forwards and on the way back; nobody waits for it, and the lock goes with the upgrade."""
    # Guard: the lock lets go of who is given up.
    world = at_work(edited(down_for_good(), version=NEW), ticks=40)
    assert status(world)["phase"] == "Stalled"
    settled(edited(world, version=version, pools=data(2)), NEWEST)
    assert set(versions(world)) == {*MANAGERS, "data-0", "data-1"}
    assert set(versions(world).values()) == {version}
    assert not status(world)["ledger"]


def test_failed_node_can_be_removed_when_a_reverted_upgrade_ends() -> None:
    """S22: both are noted in the lock, one after the other."""
    # Guard: a lock is opened when nobody has to be let out of it.
    world = with_index(running(*data(3), upgrade={"healthDeadlineSeconds": 60}), "solo", replicas=0)
    world.state = on_node(world.state, "solo", "logs-data-2")
    until(lambda world: status(world)["phase"] == "Upgrading", edited(world, version=NEW))
    broken(world, "logs-data-2", PodFault.CRASH)
    world.tick()
    world.tick()
    at_work(edited(world, version=OLD, pools=data(2)), ticks=10)
    assert color(world) is Color.RED
    world.state = without_index(world.state, "solo")
    for _ in unfolding(world):
        assert "ActionError" not in {each["reason"] for each in status(world)["conditions"]}
    assert set(versions(world)) == {*MANAGERS, "data-0", "data-1"}
    assert not status(world)["ledger"]


def test_ready_node_is_not_removed_during_an_upgrade() -> None:
    """I11: with it every other edit waits; also one that asks for two nodes less of which one is down."""
    world = at_work(edited(down_for_good(4), version=NEW), ticks=40)
    at_work(edited(world, pools=data(2)), ticks=10)
    found = stateful_set(world, "data")
    assert found is not None
    assert found["spec"]["replicas"] == 3
    for moment in unfolding(world):
        if set(versions(moment).values()) != {NEW}:
            assert "data-2" in versions(moment)
    assert set(versions(world)) == {*MANAGERS, "data-0", "data-1"}


def test_scale_in_precedes_the_upgrade_when_a_node_to_remove_is_down() -> None:
    """S19, S22: it can only leave when those behind it have left, and no upgrade begins with it."""
    world = running(*data(4), upgrade={"healthDeadlineSeconds": 60})
    at_work(broken(world, "logs-data-2", PodFault.PENDING), ticks=2)
    world.delete(Delete(pod("data-2"), "", ""))
    at_work(world, ticks=3)
    settled(edited(world, version=NEW, pools=data(2)), NEWEST)
    assert set(versions(world)) == {*MANAGERS, "data-0", "data-1"}
    assert set(versions(world).values()) == {NEW}


def test_failed_node_is_not_removed_while_a_primary_is_missing() -> None:
    """S22: it may be on that volume."""
    # Guard: nobody is given up in a red cluster.
    world = running(*data(3), upgrade={"healthDeadlineSeconds": 60})
    with_index(world, "lonely", replicas=0)
    [home] = [each.node for each in world.state.engine.copies if each.index == "lonely"]
    assert home is not None
    ordinal = int(home.rpartition("-")[2])
    at_work(broken(world, home, PodFault.CRASH), ticks=5)
    at_work(edited(world, pools=data(ordinal)), ticks=20)
    assert home.removeprefix("logs-") in versions(world)


def belongings(world: FakeCluster) -> dict[Key, str]:
    """All that a cluster has but for its pods, by UID: nobody has made it again."""
    found = world.state.cluster.objects
    fleeting = ("Pod", "ControllerRevision")
    return {key: str(each["metadata"]["uid"]) for key, each in found.items() if key.kind not in fleeting}


@pytest.mark.parametrize("rollback", ["Automatic", "Manual", "Off"])
@pytest.mark.parametrize("fault", STUCK)
def test_failed_upgrade_deletes_nothing_but_pods(fault: PodFault, rollback: str) -> None:
    """S25: not the cluster, not a pool, not a volume; and no document is out of reach for a moment."""
    # A node that has joined on the newer version has to begin anew on the way back: its volume alone goes.
    world = impatient(rollback=rollback)
    before = belongings(world)
    worked(with_faults(edited(world, version=NEW), v3_4_0=fault), NEWEST, ticks=60)
    lost = {key.name for key, uid in before.items() if belongings(world).get(key) != uid}
    has_crossed = fault is PodFault.NEVER_READY and rollback == "Automatic"
    assert lost == ({"data-logs-data-0"} if has_crossed else set())
    assert all(each.state is ShardState.STARTED for each in world.state.engine.copies if each.is_primary)


def test_repeated_failures_and_rollbacks_delete_no_volume() -> None:
    """S25: nor does trying again."""
    world = impatient()
    before = claims(world)
    for _ in range(2):
        worked(with_faults(edited(world, version=NEW), v3_4_0=PodFault.CRASH), NEWEST)
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
        return [with_value(each, "status", to={**each.get("status", {}), **wrong}) for each in found]


def test_upgrade_finishes_with_a_wrong_count_of_updated_replicas() -> None:
    """S32: whether a pod is of the newest template is seen on the pod."""
    # Guard: stale_pods compares the pod's own mark, not a StatefulSet's status.
    world = edited(running(), version=NEW)
    ports = Miscounting(InvariantRecorder(world, CLUSTER, release(NEWEST)))
    for _ in unfolding(world, ports=ports):
        pass
    assert status(world)["engineVersion"] == NEW
    assert status(world)["phase"] == "Running"


def test_converged_cluster_ignores_the_count_of_updated_replicas() -> None:
    """S32: after a roll by deletion Kubernetes itself keeps the old revision as the current one."""
    world = edited(running(), version=NEW)
    settled(world, NEWEST)
    found = stateful_set(world, "data")
    assert found is not None
    assert found["status"]["currentRevision"] != found["status"]["updateRevision"]
    ports = Miscounting(InvariantRecorder(world, CLUSTER, release(NEWEST)))
    at_work(world, ports, ticks=50)
    assert ports.operations == 0
