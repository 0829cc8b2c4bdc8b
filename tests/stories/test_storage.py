"""Storage: volumes grow with the size in the spec, and any other change of a pool with nodes is reported."""

from __future__ import annotations

from typing import Any

import pytest

from operators_at_work import CLUSTER, asked_for, condition, edited, pool, settled, status, with_index
from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Key, Manifest, Patch
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.faults import kill_pod
from tales import NEWEST, Telling, at_work, pods, running, stateful_set, unfolding, until, versions

REST = [pool("hot", 2, "data"), pool("managers", 3, "cluster_manager")]
LARGER = {"size": "20Gi"}
FAST = {"size": "10Gi", "storageClass": "fast"}
EPHEMERAL = {"ephemeral": True}
FIXED = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fixed"}}


def data(storage: dict[str, Any] | None = None) -> dict[str, Any]:
    return {**pool("data", 2, "data"), **({"storage": storage} if storage else {})}


def readded(
    before: dict[str, Any] | None, after: dict[str, Any] | None, version: str = NEWEST
) -> FakeCluster:
    """Remove a pool from the spec and add it with other storage before its nodes are removed."""
    world = running(data(before), *REST, version=version)
    next(unfolding(edited(world, pools=REST), version))
    return edited(world, pools=[data(after), *REST])


def claims(world: FakeCluster, name: str = "data") -> Any:
    statefulset = stateful_set(world, name)
    assert statefulset is not None
    return statefulset["spec"].get("volumeClaimTemplates")


def template_size(world: FakeCluster, name: str = "data") -> str | None:
    """The size of the volumes of new pods; None between two StatefulSets."""
    if stateful_set(world, name) is None:
        return None
    [template] = claims(world, name)
    return str(template["spec"]["resources"]["requests"]["storage"])


def sizes(world: FakeCluster, name: str) -> dict[str, str]:
    """The capacity of the volumes of a pool, by claim."""
    found = world.list("v1", "PersistentVolumeClaim", CLUSTER.namespace, {})
    return {
        each["metadata"]["name"]: each["status"]["capacity"]["storage"]
        for each in found
        if each["metadata"]["name"].startswith(f"data-logs-{name}-")
    }


def uids(world: FakeCluster, kind: str) -> dict[str, str]:
    objects = world.state.cluster.objects
    return {key.name: each["metadata"]["uid"] for key, each in objects.items() if key.kind == kind}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (LARGER, None),
        (None, FAST),
        (None, {**FAST, **LARGER}),
        (FAST, None),
        (None, EPHEMERAL),
        (EPHEMERAL, LARGER),
    ],
    ids=[
        "smaller",
        "with class",
        "larger and with class",
        "without class",
        "ephemeral",
        "not ephemeral",
    ],
)
def test_readded_pool_with_other_storage_keeps_its_volumes_and_stalls(
    before: dict[str, Any] | None, after: dict[str, Any] | None
) -> None:
    world = readded(before, after)
    before, pods_before = claims(world), uids(world, "Pod")
    at_work(world, ticks=30)
    assert claims(world) == before
    assert uids(world, "Pod") == pods_before
    assert condition(world, "StorageUnchanged").startswith(
        "False StorageImmutable: stalled: the nodes of data have "
    )
    assert status(world)["phase"] == "Stalled"


def test_message_says_that_volumes_do_not_shrink() -> None:
    world = at_work(readded(LARGER, None), ticks=3)
    assert condition(world, "StorageUnchanged") == (
        "False StorageImmutable: the nodes of data have volumes of 20Gi, which cannot be reduced: restore "
        "that in the spec, or add another pool and remove this one"
    )


def test_size_is_immutable_before_version_5() -> None:
    world = readded(None, LARGER, "0.4.0")
    before = claims(world)
    at_work(world, version="0.4.0", ticks=30)
    assert claims(world) == before
    assert "volumes of 10Gi, which cannot be changed" in condition(world, "StorageUnchanged")
    assert set(sizes(world, "data").values()) == {"10Gi"}


@pytest.mark.parametrize("after", [LARGER, EPHEMERAL], ids=["larger", "ephemeral"])
def test_changed_storage_does_not_stop_an_upgrade(after: dict[str, Any]) -> None:
    world = with_index(readded(None, after), "films")
    at_work(edited(world, version="3.4.0"), ticks=100)
    assert set(versions(world).values()) == {"3.4.0"}
    assert status(world)["engineVersion"] == "3.4.0"
    assert "upgrade/lock" not in status(world)["ledger"]


def test_migration_to_another_statefulset_keeps_the_storage() -> None:
    """Configuration 4 creates another StatefulSet for the same pods."""
    world = readded(None, EPHEMERAL, version="0.3.1")
    before = claims(world)
    at_work(world, ticks=60)
    assert claims(world) == before
    assert condition(world, "PoolsConverged").startswith("True")


def test_reverted_storage_ends_the_stall() -> None:
    world = at_work(readded(None, FAST), ticks=30)
    settled(edited(world, pools=[data(), *REST]), NEWEST)
    assert status(world)["phase"] == "Running"


def test_pool_readded_after_scale_in_has_the_new_storage() -> None:
    world = running(data(), *REST)
    settled(edited(world, pools=REST), NEWEST)
    settled(edited(world, pools=[data(LARGER), *REST]), NEWEST)
    assert claims(world)[0]["spec"]["resources"]["requests"]["storage"] == "20Gi"
    child = world.get(Key("search.everpath.dev/v1alpha1", "SearchPool", "search", "logs-data"))
    assert child is not None
    assert child["spec"]["storage"]["size"] == "20Gi"


def growing(*pools: dict[str, Any], **spec: Any) -> FakeCluster:
    """A cluster whose spec has just got larger volumes for the pool data, and these pools."""
    world = running(data(), *REST, **spec)
    return edited(world, pools=[data(LARGER), *(pools or REST)])


def test_volumes_grow_and_no_pod_restarts() -> None:
    world = growing()
    pods_before, claims_before = uids(world, "Pod"), uids(world, "PersistentVolumeClaim")
    for current in unfolding(world):
        assert uids(current, "Pod") == pods_before
    assert uids(world, "PersistentVolumeClaim") == claims_before
    assert sizes(world, "data") == {"data-logs-data-0": "20Gi", "data-logs-data-1": "20Gi"}
    assert template_size(world) == "20Gi"
    assert set(sizes(world, "managers").values()) == {"10Gi"}
    assert template_size(world, "managers") == "10Gi"
    search_pool = world.get(Key(CLUSTER.api, "SearchPool", CLUSTER.namespace, "logs-data"))
    assert search_pool is not None
    assert search_pool["spec"]["storage"]["size"] == "20Gi"
    assert condition(world, "PoolsResized").startswith("True")
    assert condition(world, "Ready").startswith("True")
    assert not status(world)["ledger"]
    assert not search_pool["status"]["ledger"]


def test_claim_templates_follow_the_volumes() -> None:
    # Guard: volumes before claim templates.
    for current in unfolding(growing()):
        if template_size(current) != "10Gi":
            assert set(sizes(current, "data").values()) == {"20Gi"}


def test_cluster_is_progressing_while_volumes_grow() -> None:
    world = growing()
    until(lambda world: "are enlarged" in condition(world, "PoolsResized"), world)
    assert condition(world, "PoolsResized") == (
        "False ResizingVolumes: volumes of pool data are enlarged to 20Gi: data-logs-data-0, data-logs-data-1"
    )
    assert condition(world, "Progressing").startswith("True ApplyingChanges: volumes of pool data")
    assert condition(world, "PoolsConverged").startswith("True")


def test_stateful_sets_are_replaced_one_after_the_other() -> None:
    """Voters without a StatefulSet are counted by their budget."""
    # Guard: one StatefulSet at a time.
    world = growing(*({**each, "storage": LARGER} for each in REST))
    missing = set()
    for current in unfolding(world):
        gone = [name for name in ("data", "hot", "managers") if stateful_set(current, name) is None]
        assert len(gone) < 2
        missing |= {*gone}
        if "managers" in gone:
            assert voters_budget(current)["minAvailable"] == 2
    assert missing == {"data", "hot", "managers"}
    assert template_size(world, "managers") == "20Gi"


def voters_budget(world: FakeCluster) -> Manifest:
    budget = world.get(Key("policy/v1", "PodDisruptionBudget", CLUSTER.namespace, "logs.voters"))
    assert budget is not None
    spec: Manifest = budget["spec"]
    return spec


def is_terminating(world: FakeCluster, name: str) -> bool:
    live = stateful_set(world, name)
    return live is not None and "deletionTimestamp" in live["metadata"]


def test_voters_are_counted_if_an_upgrade_starts_while_they_are_orphaned() -> None:
    # Guard: pods of a deleted StatefulSet are counted.
    world = growing(REST[0], {**REST[1], "storage": LARGER})
    until(lambda world: is_terminating(world, "managers"), world)
    for current in unfolding(edited(world, version="3.4.0")):
        if stateful_set(current, "managers") is None:
            break
        assert voters_budget(current).get("minAvailable") == 2
    assert "upgrade" in status(world)["ledger"]
    settled(world, NEWEST)
    assert set(versions(world).values()) == {"3.4.0"}
    assert voters_budget(world)["maxUnavailable"] == 1


def test_evicted_pod_comes_back_between_two_stateful_sets() -> None:
    world = growing()
    until(lambda world: stateful_set(world, "data") is None, world)
    world.state = kill_pod(world.state, Key("v1", "Pod", CLUSTER.namespace, "logs-data-1"))
    settled(world, NEWEST)
    assert template_size(world) == "20Gi"
    assert set(versions(world)) >= {"data-0", "data-1"}


def test_other_template_is_rolled_out_before_the_stateful_set_is_replaced() -> None:
    # Guard: no replacement during a rollout.
    world = edited(growing(), config={"indices.query.bool.max_clause_count": 2048})
    uid, before = uids(world, "StatefulSet")["logs-data"], uids(world, "Pod")
    for current in unfolding(world):
        if uids(current, "StatefulSet").get("logs-data") != uid:
            break
    assert not before.items() & uids(world, "Pod").items()
    settled(world, NEWEST)
    assert template_size(world) == "20Gi"


def test_limits_that_users_added_outlive_the_expansion() -> None:
    world = running(data(), *REST)
    live = stateful_set(world, "data")
    assert live is not None
    template = live["spec"]["template"]
    [container] = template["spec"]["containers"]
    limited = {**container, "resources": {"limits": {"memory": "4Gi"}}}
    changes = {"spec": {"template": {"spec": {"containers": [limited]}}}}
    world.patch(Patch(Key.of(live), changes, ""))
    settled(world, NEWEST)
    settled(edited(world, pools=[data(LARGER), *REST]), NEWEST)
    after = stateful_set(world, "data")
    assert after is not None
    assert after["metadata"]["uid"] != live["metadata"]["uid"]
    assert after["spec"]["template"]["spec"]["containers"][0].get("resources") == limited["resources"]
    search_pool = world.get(Key(CLUSTER.api, "SearchPool", CLUSTER.namespace, "logs-data"))
    assert search_pool is not None
    assert not search_pool["status"]["ledger"]


def refused_expansion() -> FakeCluster:
    """Two pools are to grow. The StorageClass of the first does not allow it."""
    fixed = {"size": "10Gi", "storageClass": "fixed"}
    world = asked_for(data(fixed), *REST)
    world.create(FIXED)
    settled(world, NEWEST)
    settled(with_index(world), NEWEST)
    hot = {**REST[0], "storage": LARGER}
    return edited(world, pools=[data({**fixed, **LARGER}), hot, REST[1]])


def test_refused_expansion_is_reported_and_other_pools_grow() -> None:
    world = at_work(refused_expansion(), ticks=60)
    assert condition(world, "PoolsResized") == (
        "False OperationDenied: stalled: VolumesResized of data: cannot patch PersistentVolumeClaim "
        "data-logs-data-0: spec.resources: PersistentVolumeClaim data-logs-data-0 is forbidden: only "
        "dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must "
        "support resize; allow it, or change the spec so that it is not needed; the operator retries"
    )
    assert status(world)["phase"] == "Stalled"
    assert set(sizes(world, "hot").values()) == {"20Gi"}
    assert template_size(world, "hot") == "20Gi"
    assert template_size(world, "data") == "10Gi"
    assert condition(world, "PoolsConverged").startswith("True")
    storage_class = Key("storage.k8s.io/v1", "StorageClass", "", "fixed")
    world.patch(Patch(storage_class, {"allowVolumeExpansion": True}, ""))
    settled(world, NEWEST)
    assert set(sizes(world, "data").values()) == {"20Gi"}
    assert status(world)["phase"] == "Running"


def test_refused_expansion_stops_neither_an_upgrade_nor_a_scale_in() -> None:
    # Guard: refused expansions stop nothing else.
    world = at_work(refused_expansion(), ticks=10)
    at_work(edited(world, version="3.4.0"), ticks=120)
    assert status(world)["engineVersion"] == "3.4.0"
    assert "upgrade/lock" not in status(world)["ledger"]
    cluster = world.get(CLUSTER)
    assert cluster is not None
    pools = [{**each, "replicas": 1} if each["name"] == "hot" else each for each in cluster["spec"]["pools"]]
    at_work(edited(world, pools=pools), ticks=30)
    assert "hot-1" not in pods(world)


def test_volumes_grow_after_an_upgrade_of_the_same_edit() -> None:
    world = edited(growing(), version="3.4.0")
    for current in unfolding(world):
        if status(current).get("engineVersion") != "3.4.0":
            assert set(sizes(current, "data").values()) == {"10Gi"}
    assert set(sizes(world, "data").values()) == {"20Gi"}
    assert template_size(world) == "20Gi"


def requests(world: FakeCluster, name: str) -> dict[str, str]:
    """The size that each claim of a pool requests, by claim."""
    found = world.list("v1", "PersistentVolumeClaim", CLUSTER.namespace, {})
    return {
        each["metadata"]["name"]: each["spec"]["resources"]["requests"]["storage"]
        for each in found
        if each["metadata"]["name"].startswith(f"data-logs-{name}-")
    }


def test_expansion_waits_for_an_upgrade_that_starts_meanwhile() -> None:
    # Guard: no expansion during an upgrade.
    world = growing()
    until(lambda world: "20Gi" in requests(world, "data").values(), world)
    before = requests(world, "data")
    assert "10Gi" in before.values()
    edited(world, version="3.4.0")
    until(lambda world: "upgrade" in status(world)["ledger"], world)
    for current in unfolding(world):
        if "upgrade" in status(current)["ledger"]:
            assert requests(current, "data") == before
    assert set(sizes(world, "data").values()) == {"20Gi"}


@pytest.mark.parametrize("moment", ["claims", "StatefulSet", "no StatefulSet"])
def test_upgrade_during_an_expansion_finishes_first(moment: str) -> None:
    world = growing()
    reached = {
        "claims": lambda world: "are enlarged" in condition(world, "PoolsResized"),
        "StatefulSet": lambda world: is_terminating(world, "data"),
        "no StatefulSet": lambda world: stateful_set(world, "data") is None,
    }
    until(reached[moment], world)
    edited(world, version="3.4.0")
    settled(world, NEWEST)
    assert set(versions(world).values()) == {"3.4.0"}
    assert set(sizes(world, "data").values()) == {"20Gi"}
    assert template_size(world) == "20Gi"


def test_nothing_grows_while_paused() -> None:
    # Guard: no expansion while paused.
    world = growing(upgrade={"paused": True})
    at_work(world, ticks=60)
    assert set(sizes(world, "data").values()) == {"10Gi"}
    assert condition(world, "PoolsResized") == "False UpgradePaused: spec.upgrade.paused is set"
    settled(edited(world, upgrade={"paused": False}), NEWEST)
    assert template_size(world) == "20Gi"


def test_stateful_set_is_not_replaced_while_paused() -> None:
    # Guard: no replacement while paused.
    world = growing()
    until(lambda world: set(sizes(world, "data").values()) == {"20Gi"}, world)
    at_work(edited(world, upgrade={"paused": True}), ticks=20)
    assert template_size(world) == "10Gi"
    assert condition(world, "PoolsResized") == "False UpgradePaused: spec.upgrade.paused is set"
    settled(edited(world, upgrade={"paused": False}), NEWEST)
    assert template_size(world) == "20Gi"


def test_size_written_in_another_way_changes_nothing() -> None:
    world = running(data(), *REST)
    before = uids(world, "StatefulSet")
    settled(edited(world, pools=[data({"size": "10240Mi"}), *REST]), NEWEST)
    assert uids(world, "StatefulSet") == before
    assert set(sizes(world, "data").values()) == {"10Gi"}


def test_volume_that_a_scale_in_left_grows_when_its_node_returns() -> None:
    world = running(data(), *REST)
    few = {**data(), "replicas": 1}
    settled(edited(world, pools=[few, *REST]), NEWEST)
    settled(edited(world, pools=[{**few, "storage": LARGER}, *REST]), NEWEST)
    assert sizes(world, "data") == {"data-logs-data-0": "20Gi", "data-logs-data-1": "10Gi"}
    settled(edited(world, pools=[data(LARGER), *REST]), NEWEST)
    assert set(sizes(world, "data").values()) == {"20Gi"}


def test_scale_out_works_while_volumes_grow() -> None:
    world = growing()
    until(lambda world: "are enlarged" in condition(world, "PoolsResized"), world)
    settled(edited(world, pools=[{**data(LARGER), "replicas": 4}, *REST]), NEWEST)
    assert len(sizes(world, "data")) == 4
    assert set(sizes(world, "data").values()) == {"20Gi"}


def test_stateful_set_is_kept_while_its_search_pool_cannot_get_the_size() -> None:
    """The next StatefulSet is made from the SearchPool."""
    # Guard: the SearchPool has the size first.
    world = growing()

    class Denying(Telling):
        def patch(self, patch: Patch) -> Manifest:
            if patch.key.kind == "SearchPool":
                raise Rejected("no permission to patch SearchPools")
            return super().patch(patch)

    ports = Denying(world)
    at_work(world, ports, ticks=20)
    assert set(sizes(world, "data").values()) == {"20Gi"}
    assert not [key for key in ports.deleted if key.kind == "StatefulSet"]
    settled(world, NEWEST)
    assert template_size(world) == "20Gi"
