"""Every law sees the write that breaks it, and lets the writes of an ordinary upgrade pass."""

from __future__ import annotations

import json
from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from functools import cache
from typing import Any

import pytest

from operators_at_work import (
    CLUSTER,
    Score,
    asked_for,
    copied,
    edited,
    score,
    settled,
    with_index,
    worked_until,
)
from searchkeeper.images import engine_image
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Patch
from searchkeeper.opensearch.calls import Exclude, Flush, SetAllocation
from searchkeeper.opensearch.view import Allocation
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.faults import kill_pod, kill_pod_and_volume
from searchkeeper.testing.fingerprints import fingerprint
from searchkeeper.testing.invariants.checks import INVARIANTS, leftovers
from searchkeeper.testing.invariants.recorder import InvariantRecorder, InvariantViolated
from searchkeeper.testing.invariants.transitions import ObservedState
from tales import broken

RELEASE = "0.4.0"


@cache
def _deployed() -> FakeCluster:
    world = asked_for()
    settled(world, RELEASE)
    settled(with_index(world), RELEASE)
    return world


def deployed() -> FakeCluster:
    return copied(_deployed())


@cache
def upgrade() -> Score:
    return score(edited(deployed(), version="3.4.0"), RELEASE)


def key(kind: str, name: str) -> Key:
    api = {"Pod": "v1", "PersistentVolumeClaim": "v1", "Service": "v1", "StatefulSet": "apps/v1"}
    return Key(api.get(kind, CLUSTER.api), kind, CLUSTER.namespace, name)


def pod(number: str) -> Key:
    return key("Pod", f"logs-{number}")


def deleted(ports: InvariantRecorder, what: Key, **differences: str) -> None:
    found = ports.get(what)
    assert found is not None
    metadata = {"uid": found["metadata"]["uid"], "resource_version": found["metadata"]["resourceVersion"]}
    ports.delete(Delete(what, **(metadata | differences)))


def with_ledger(world: FakeCluster, **lines: Any) -> FakeCluster:
    """`roll__away=[...]` is the line roll/away."""
    ledger = {name.replace("__", "/").replace("_", "-"): json.dumps(entry) for name, entry in lines.items()}
    world.patch_status(Patch(CLUSTER, {"status": {"ledger": ledger}}, ""))
    return world


def with_engine(world: FakeCluster, **differences: Any) -> FakeCluster:
    world.state = replace(world.state, engine=replace(world.state.engine, **differences))
    return world


def after(world: FakeCluster, what: Callable[[Any, Key], Any], which: Key) -> FakeCluster:
    """Some time after something happened to a pod."""
    world.state = what(world.state, which)
    world.tick()
    return world


def a_second_manager_goes(ports: InvariantRecorder) -> None:
    after(ports.world, kill_pod, pod("managers-1"))
    deleted(ports, pod("managers-0"))


def with_roles(ports: InvariantRecorder, pool: str, roles: str) -> None:
    """From now on a pool's pods are made with these roles."""
    found = ports.get(key("StatefulSet", f"logs-{pool}"))
    assert found is not None
    template = deepcopy(found["spec"]["template"])
    variables = template["spec"]["containers"][0]["env"]
    next(each for each in variables if each["name"] == "node.roles")["value"] = roles
    ports.world.patch(Patch(key("StatefulSet", f"logs-{pool}"), {"spec": {"template": template}}, ""))


def a_voter_comes_back_without_a_vote(ports: InvariantRecorder) -> None:
    with_roles(ports, "managers", "ingest")
    deleted(ports, pod("managers-0"))


def a_voter_that_has_no_role_any_more_is_counted_on(ports: InvariantRecorder) -> None:
    nodes = ports.world.state.engine.nodes
    idle = (replace(n, roles=frozenset({"ingest"})) if n.name == "logs-managers-1" else n for n in nodes)
    with_engine(ports.world, nodes=tuple(idle))
    deleted(ports, pod("managers-0"))


def a_data_node_comes_back_without_data(ports: InvariantRecorder) -> None:
    with_roles(ports, "data", "ingest")
    deleted(ports, pod("data-0"))


def shards_have_nowhere_to_go(ports: InvariantRecorder) -> None:
    with_engine(ports.world, excluded=frozenset({"*-data-0"}))
    ports.execute(Exclude(frozenset({"*-data-0", "logs-data-1"})))


def a_voter_goes_while_another_is_away(ports: InvariantRecorder) -> None:
    with_ledger(ports.world, roll__away=[["logs-managers-1", "uid-of-old"]])
    deleted(ports, pod("managers-0"))


def managers_before_data(ports: InvariantRecorder) -> None:
    nodes = ports.world.state.engine.nodes
    newer = (replace(n, version="3.4.0") if "cluster_manager" in n.roles else n for n in nodes)
    with_engine(ports.world, nodes=tuple(newer))
    ports.execute(Flush())


def a_configuration_goes_down(ports: InvariantRecorder) -> None:
    ports.patch_status(Patch(CLUSTER, {"status": {"currentVersion": 3}}, ""))


def an_engine_version_is_told_early(ports: InvariantRecorder) -> None:
    ports.patch_status(Patch(CLUSTER, {"status": {"engineVersion": "3.4.0"}}, ""))


def a_pool_is_permitted_what_nobody_wants(ports: InvariantRecorder) -> None:
    ports.patch(Patch(key("SearchPool", "logs-data"), {"spec": {"engineVersion": "3.1.0"}}, ""))


def a_set_deploys_what_is_not_permitted(ports: InvariantRecorder) -> None:
    containers = [{"name": "opensearch", "image": engine_image("3.4.0")}]
    template = {"spec": {"template": {"spec": {"containers": containers}}}}
    ports.patch(Patch(key("StatefulSet", "logs-data"), template, ""))


def a_configuration_that_is_not_shipped(ports: InvariantRecorder) -> None:
    mark = {"metadata": {"annotations": {"search.everpath.dev/configuration": "2"}}}
    ports.patch(Patch(key("Service", "logs"), mark, ""))


def the_last_copy_goes(ports: InvariantRecorder) -> None:
    copies = ports.world.state.engine.copies
    with_engine(ports.world, copies=tuple(each for each in copies if each.node == "logs-data-0"))
    deleted(ports, pod("data-0"))


def the_last_volume_goes(ports: InvariantRecorder) -> None:
    after(ports.world, kill_pod_and_volume, pod("data-1"))
    deleted(ports, key("PersistentVolumeClaim", "data-logs-data-0"))


def whoever_is_there_goes(ports: InvariantRecorder) -> None:
    deleted(ports, pod("data-0"), uid="")


def a_current_pod_goes(ports: InvariantRecorder) -> None:
    deleted(ports, pod("data-0"))


def a_pod_goes_before_its_set_in_a_deleted_cluster(ports: InvariantRecorder) -> None:
    ports.world.delete(Delete(CLUSTER, "", ""))
    deleted(ports, pod("data-0"))


def a_setting_that_nobody_noted(ports: InvariantRecorder) -> None:
    ports.execute(SetAllocation(Allocation.PRIMARIES))


def a_warning_that_nobody_noted(ports: InvariantRecorder) -> None:
    ports.record(EmitEvent(CLUSTER, "Downgrade", "2.18.0 is older"))


def a_refused_version_is_deployed(ports: InvariantRecorder) -> None:
    edited(ports.world, version="1.0.0")
    containers = [{"name": "opensearch", "image": engine_image("1.0.0")}]
    template = {"spec": {"template": {"spec": {"containers": containers}}}}
    ports.patch(Patch(key("StatefulSet", "logs-data"), template, ""))


def a_locked_pool_grows(ports: InvariantRecorder) -> None:
    lock = {"pools": [{"name": "data", "replicas": 2, "roles": ["data"]}]}
    with_ledger(ports.world, upgrade__lock=json.dumps(lock))
    ports.patch(Patch(key("SearchPool", "logs-data"), {"spec": {"replicas": 3}}, ""))


def a_batch_is_larger_than_allowed(ports: InvariantRecorder) -> None:
    with_ledger(ports.world, roll__away=[["logs-data-1", "uid-of-old"]])
    after(ports.world, kill_pod, pod("data-1"))
    deleted(ports, pod("data-0"))


def a_way_back_that_is_closed(ports: InvariantRecorder) -> None:
    edited(ports.world, version="3.4.0")
    worked_until(
        ports.world,
        RELEASE,
        lambda w: all(n.version == "3.4.0" for n in w.state.engine.nodes if "data" in n.roles),
    )
    ledger = {"ledger": {"upgrade/return": '"2.19.4"'}}
    ports.patch_status(Patch(CLUSTER, {"status": ledger}, ""))


def a_condition_without_its_prerequisites(ports: InvariantRecorder) -> None:
    found = ports.get(CLUSTER)
    assert found is not None
    conditions = [
        {**each, "status": "False"} if each["type"] == "PodsCurrent" else each
        for each in found["status"]["conditions"]
    ]
    ports.patch_status(Patch(CLUSTER, {"status": {"conditions": conditions}}, ""))


def two_things_go_at_once(ports: InvariantRecorder) -> None:
    for name in ("data-0", "managers-0"):
        try:
            deleted(ports, pod(name))
        except InvariantViolated as found:
            broken = found
    raise broken


BREACHES = {
    "quorum_kept": [
        a_second_manager_goes,
        a_voter_comes_back_without_a_vote,
        a_voter_that_has_no_role_any_more_is_counted_on,
    ],
    "one_voter_at_a_time": [a_voter_goes_while_another_is_away],
    "versions_can_coexist": [managers_before_data],
    "versions_only_rise": [a_configuration_goes_down, an_engine_version_is_told_early],
    "pools_run_permitted_version": [
        a_pool_is_permitted_what_nobody_wants,
        a_set_deploys_what_is_not_permitted,
    ],
    "configuration_upgrades_are_supported": [a_configuration_that_is_not_shipped],
    "last_copies_kept": [the_last_copy_goes, the_last_volume_goes, a_data_node_comes_back_without_data],
    "allocation_targets_remain": [shards_have_nowhere_to_go],
    "deletes_have_preconditions": [whoever_is_there_goes, a_current_pod_goes],
    "deletes_recorded_first": [
        a_current_pod_goes,
        the_last_volume_goes,
        a_pod_goes_before_its_set_in_a_deleted_cluster,
    ],
    "settings_recorded_first": [a_setting_that_nobody_noted],
    "refused_versions_touch_nothing": [a_warning_that_nobody_noted, a_refused_version_is_deployed],
    "locked_spec_unchanged": [a_locked_pool_grows],
    "batches_grow_slowly": [a_batch_is_larger_than_allowed],
    "no_rollback_past_point_of_no_return": [a_way_back_that_is_closed],
    "conditions_follow_prerequisites": [a_condition_without_its_prerequisites],
    "one_destruction_between_looks": [two_things_go_at_once],
}
CASES = [(law, breach) for law, breaches in BREACHES.items() for breach in breaches]


@pytest.mark.parametrize(("law", "breach"), CASES, ids=[breach.__name__ for _, breach in CASES])
def test_a_law_sees_what_breaks_it(law: str, breach: Callable[[InvariantRecorder], None]) -> None:
    with pytest.raises(InvariantViolated) as found:
        breach(InvariantRecorder(deployed(), CLUSTER, release(RELEASE)))
    assert law in {each.law for each in found.value.breaches}


def seen_at(world: FakeCluster, name: str) -> bool:
    """Whether the copy on this node counts as one that can be used."""
    moment = ObservedState(world.state, CLUSTER)
    return all(moment.usable(copy) for copy in world.state.engine.copies if copy.node == f"logs-{name}")


def test_a_copy_is_usable_where_the_engine_has_it_and_nobody_sends_its_pod_away() -> None:
    """A node that recovers its log serves what it has, and is not ready for all that."""
    world = broken(deployed(), "logs-data-0", PodFault.NEVER_READY)
    world.tick()
    assert "logs-data-0" in world.state.engine.names
    assert seen_at(world, "data-0")
    world.delete(Delete(pod("data-0"), "", ""))
    assert not seen_at(world, "data-0")
    assert seen_at(world, "data-1")


def test_every_law_is_broken_by_something() -> None:
    assert {law.__name__ for law in INVARIANTS} < set(BREACHES)


def test_an_ordinary_upgrade_breaks_none() -> None:
    assert len(upgrade().steps) > 50


def test_what_is_left_over_is_no_rest() -> None:
    world = deployed()
    assert leftovers(world.state, CLUSTER) is None
    assert leftovers(with_ledger(world, roll__away=[]).state, CLUSTER) == "the ledger still has roll/away"
    left = with_engine(deployed(), allocation=Allocation.PRIMARIES)
    assert leftovers(left.state, CLUSTER) == "the engine still has settings of ours"
    locked = with_ledger(deployed(), upgrade__lock="{}")
    assert leftovers(locked.state, CLUSTER) == "the lock is held"


def test_a_fingerprint_forgets_counters_and_moments() -> None:
    world = deployed()
    before = fingerprint(world.state)
    found = world.get(CLUSTER)
    assert found is not None
    for text in ("a", None):
        world.patch(Patch(CLUSTER, {"metadata": {"annotations": {"note": text}}}, ""))
    world.patch(Patch(CLUSTER, {"metadata": {"annotations": found["metadata"].get("annotations")}}, ""))
    world.state = replace(world.state, now=world.state.now + 1000)
    assert fingerprint(world.state) == before


@pytest.mark.parametrize(
    "change",
    [
        lambda w: edited(w, version="3.4.0"),
        lambda w: with_engine(w, allocation=Allocation.NONE),
        lambda w: with_ledger(w, roll__away=[["logs-data-0", "uid-1"]]),
        lambda w: after(w, kill_pod, pod("data-0")),
    ],
    ids=["spec", "engine", "ledger", "pods"],
)
def test_a_fingerprint_tells_all_else_apart(change: Callable[[FakeCluster], FakeCluster]) -> None:
    assert fingerprint(change(deployed()).state) != fingerprint(deployed().state)


def test_no_two_moments_of_an_upgrade_have_one_fingerprint() -> None:
    """But those in which nothing happens but time."""
    snapshot = [fingerprint(beat.state) for beat in upgrade().beats]
    assert len(set(snapshot)) >= len(snapshot) - 3
