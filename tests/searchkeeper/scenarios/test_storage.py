"""Storage: volumes grow with the size in the spec, and any other change of a pool with nodes is reported."""

from __future__ import annotations

from typing import Any

import pytest

from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Key, Manifest, Patch
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.faults import kill_pod
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    add_index,
    condition,
    edit_spec,
    new_cluster,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import (
    RecordingPorts,
    pod_versions,
    pods,
    running_cluster,
    stateful_set,
)

REST = [pool("hot", 2, "data"), pool("managers", 3, "cluster_manager")]
LARGER = {"size": "20Gi"}
FAST = {"size": "10Gi", "storageClass": "fast"}
EPHEMERAL = {"ephemeral": True}
FIXED = {"apiVersion": "storage.k8s.io/v1", "kind": "StorageClass", "metadata": {"name": "fixed"}}


def data(storage: dict[str, Any] | None = None) -> dict[str, Any]:
    return {**pool("data", 2, "data"), **({"storage": storage} if storage else {})}


def with_pool_added_again(
    before: dict[str, Any] | None, after: dict[str, Any] | None, version: str = NEWEST
) -> FakeCluster:
    """Remove a pool from the spec and add it with other storage before its nodes are removed."""
    cluster = running_cluster(data(before), *REST, version=version)
    next(reconcile_steps(edit_spec(cluster, pools=REST), version))
    return edit_spec(cluster, pools=[data(after), *REST])


def claims(cluster: FakeCluster, name: str = "data") -> Any:
    statefulset = stateful_set(cluster, name)
    assert statefulset is not None
    return statefulset["spec"].get("volumeClaimTemplates")


def template_size(cluster: FakeCluster, name: str = "data") -> str | None:
    """The size of the volumes of new pods; None between two StatefulSets."""
    if stateful_set(cluster, name) is None:
        return None
    [template] = claims(cluster, name)
    return str(template["spec"]["resources"]["requests"]["storage"])


def sizes(cluster: FakeCluster, name: str) -> dict[str, str]:
    """The capacity of the volumes of a pool, by claim."""
    found = cluster.list("v1", "PersistentVolumeClaim", CLUSTER.namespace, {})
    return {
        each["metadata"]["name"]: each["status"]["capacity"]["storage"]
        for each in found
        if each["metadata"]["name"].startswith(f"data-logs-{name}-")
    }


def uids(cluster: FakeCluster, kind: str) -> dict[str, str]:
    objects = cluster.state.cluster.objects
    return {key.name: each["metadata"]["uid"] for key, each in objects.items() if key.kind == kind}


@pytest.mark.exhaustive(keep=1)
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
    cluster = with_pool_added_again(before, after)
    before, pods_before = claims(cluster), uids(cluster, "Pod")
    reconcile_for_ticks(cluster, ticks=30)
    assert claims(cluster) == before
    assert uids(cluster, "Pod") == pods_before
    assert condition(cluster, "StorageUnchanged").startswith(
        "False StorageImmutable: stalled: the nodes of data have "
    )
    assert status(cluster)["phase"] == "Stalled"


def test_message_says_that_volumes_do_not_shrink() -> None:
    cluster = reconcile_for_ticks(with_pool_added_again(LARGER, None), ticks=3)
    assert condition(cluster, "StorageUnchanged") == (
        "False StorageImmutable: the nodes of data have volumes of 20Gi, which cannot be reduced: restore "
        "that in the spec, or add another pool and remove this one"
    )


def test_size_is_immutable_before_version_5() -> None:
    cluster = with_pool_added_again(None, LARGER, "0.4.0")
    before = claims(cluster)
    reconcile_for_ticks(cluster, version="0.4.0", ticks=30)
    assert claims(cluster) == before
    assert "volumes of 10Gi, which cannot be changed" in condition(cluster, "StorageUnchanged")
    assert set(sizes(cluster, "data").values()) == {"10Gi"}


@pytest.mark.exhaustive
@pytest.mark.parametrize("after", [LARGER, EPHEMERAL], ids=["larger", "ephemeral"])
def test_changed_storage_does_not_stop_an_upgrade(after: dict[str, Any]) -> None:
    cluster = add_index(with_pool_added_again(None, after), "films")
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ticks=100)
    assert set(pod_versions(cluster).values()) == {"3.4.0"}
    assert status(cluster)["engineVersion"] == "3.4.0"
    assert "upgrade/lock" not in status(cluster)["ledger"]


def test_migration_to_another_statefulset_keeps_the_storage() -> None:
    """Configuration 4 creates another StatefulSet for the same pods."""
    cluster = with_pool_added_again(None, EPHEMERAL, version="0.3.1")
    before = claims(cluster)
    reconcile_for_ticks(cluster, ticks=60)
    assert claims(cluster) == before
    assert condition(cluster, "PoolsConverged").startswith("True")


def test_reverted_storage_ends_the_stall() -> None:
    cluster = reconcile_for_ticks(with_pool_added_again(None, FAST), ticks=30)
    reconcile_until_converged(edit_spec(cluster, pools=[data(), *REST]))
    assert status(cluster)["phase"] == "Running"


def test_pool_readded_after_scale_in_has_the_new_storage() -> None:
    cluster = running_cluster(data(), *REST)
    reconcile_until_converged(edit_spec(cluster, pools=REST))
    reconcile_until_converged(edit_spec(cluster, pools=[data(LARGER), *REST]))
    assert claims(cluster)[0]["spec"]["resources"]["requests"]["storage"] == "20Gi"
    child = cluster.get(Key("search.everpath.dev/v1alpha1", "SearchPool", "search", "logs-data"))
    assert child is not None
    assert child["spec"]["storage"]["size"] == "20Gi"


def growing(*pools: dict[str, Any], **spec: Any) -> FakeCluster:
    """A cluster whose spec has just got larger volumes for the pool data, and these pools."""
    cluster = running_cluster(data(), *REST, **spec)
    return edit_spec(cluster, pools=[data(LARGER), *(pools or REST)])


def test_volumes_grow_and_no_pod_restarts() -> None:
    cluster = growing()
    pods_before, claims_before = uids(cluster, "Pod"), uids(cluster, "PersistentVolumeClaim")
    for current in reconcile_steps(cluster):
        assert uids(current, "Pod") == pods_before
    assert uids(cluster, "PersistentVolumeClaim") == claims_before
    assert sizes(cluster, "data") == {"data-logs-data-0": "20Gi", "data-logs-data-1": "20Gi"}
    assert template_size(cluster) == "20Gi"
    assert set(sizes(cluster, "managers").values()) == {"10Gi"}
    assert template_size(cluster, "managers") == "10Gi"
    search_pool = cluster.get(Key(CLUSTER.api, "SearchPool", CLUSTER.namespace, "logs-data"))
    assert search_pool is not None
    assert search_pool["spec"]["storage"]["size"] == "20Gi"
    assert condition(cluster, "PoolsResized").startswith("True")
    assert condition(cluster, "Ready").startswith("True")
    assert not status(cluster)["ledger"]
    assert not search_pool["status"]["ledger"]


def test_claim_templates_follow_the_volumes() -> None:
    # Guard: volumes before claim templates.
    for current in reconcile_steps(growing()):
        if template_size(current) != "10Gi":
            assert set(sizes(current, "data").values()) == {"20Gi"}


def test_cluster_is_progressing_while_volumes_grow() -> None:
    cluster = growing()
    reconcile_until(cluster, lambda cluster: "are enlarged" in condition(cluster, "PoolsResized"))
    assert condition(cluster, "PoolsResized") == (
        "False ResizingVolumes: volumes of pool data are enlarged to 20Gi: data-logs-data-0, data-logs-data-1"
    )
    assert condition(cluster, "Progressing").startswith("True ApplyingChanges: volumes of pool data")
    assert condition(cluster, "PoolsConverged").startswith("True")


def test_stateful_sets_are_replaced_one_after_the_other() -> None:
    """Voters without a StatefulSet are counted by their budget."""
    # Guard: one StatefulSet at a time.
    cluster = growing(*({**each, "storage": LARGER} for each in REST))
    missing = set()
    for current in reconcile_steps(cluster):
        gone = [name for name in ("data", "hot", "managers") if stateful_set(current, name) is None]
        assert len(gone) < 2
        missing |= {*gone}
        if "managers" in gone:
            assert voters_budget(current)["minAvailable"] == 2
    assert missing == {"data", "hot", "managers"}
    assert template_size(cluster, "managers") == "20Gi"


def voters_budget(cluster: FakeCluster) -> Manifest:
    budget = cluster.get(Key("policy/v1", "PodDisruptionBudget", CLUSTER.namespace, "logs.voters"))
    assert budget is not None
    spec: Manifest = budget["spec"]
    return spec


def is_terminating(cluster: FakeCluster, name: str) -> bool:
    live = stateful_set(cluster, name)
    return live is not None and "deletionTimestamp" in live["metadata"]


def test_voters_are_counted_if_an_upgrade_starts_while_they_are_orphaned() -> None:
    # Guard: pods of a deleted StatefulSet are counted.
    cluster = growing(REST[0], {**REST[1], "storage": LARGER})
    reconcile_until(cluster, lambda cluster: is_terminating(cluster, "managers"))
    for current in reconcile_steps(edit_spec(cluster, version="3.4.0")):
        if stateful_set(current, "managers") is None:
            break
        assert voters_budget(current).get("minAvailable") == 2
    assert "upgrade" in status(cluster)["ledger"]
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {"3.4.0"}
    assert voters_budget(cluster)["maxUnavailable"] == 1


def test_evicted_pod_comes_back_between_two_stateful_sets() -> None:
    cluster = growing()
    reconcile_until(cluster, lambda cluster: stateful_set(cluster, "data") is None)
    cluster.state = kill_pod(cluster.state, Key("v1", "Pod", CLUSTER.namespace, "logs-data-1"))
    reconcile_until_converged(cluster)
    assert template_size(cluster) == "20Gi"
    assert set(pod_versions(cluster)) >= {"data-0", "data-1"}


@pytest.mark.exhaustive
def test_other_template_is_rolled_out_before_the_stateful_set_is_replaced() -> None:
    # Guard: no replacement during a rollout.
    cluster = edit_spec(growing(), config={"indices.query.bool.max_clause_count": 2048})
    uid, before = uids(cluster, "StatefulSet")["logs-data"], uids(cluster, "Pod")
    for current in reconcile_steps(cluster):
        if uids(current, "StatefulSet").get("logs-data") != uid:
            break
    assert not before.items() & uids(cluster, "Pod").items()
    reconcile_until_converged(cluster)
    assert template_size(cluster) == "20Gi"


def test_limits_that_users_added_outlive_the_expansion() -> None:
    cluster = running_cluster(data(), *REST)
    live = stateful_set(cluster, "data")
    assert live is not None
    template = live["spec"]["template"]
    [container] = template["spec"]["containers"]
    limited = {**container, "resources": {"limits": {"memory": "4Gi"}}}
    changes = {"spec": {"template": {"spec": {"containers": [limited]}}}}
    cluster.patch(Patch(Key.of(live), changes, ""))
    reconcile_until_converged(cluster)
    reconcile_until_converged(edit_spec(cluster, pools=[data(LARGER), *REST]))
    after = stateful_set(cluster, "data")
    assert after is not None
    assert after["metadata"]["uid"] != live["metadata"]["uid"]
    assert after["spec"]["template"]["spec"]["containers"][0].get("resources") == limited["resources"]
    search_pool = cluster.get(Key(CLUSTER.api, "SearchPool", CLUSTER.namespace, "logs-data"))
    assert search_pool is not None
    assert not search_pool["status"]["ledger"]


def cluster_with_refused_expansion() -> FakeCluster:
    """Two pools are to grow. The StorageClass of the first does not allow it."""
    fixed = {"size": "10Gi", "storageClass": "fixed"}
    cluster = new_cluster(data(fixed), *REST)
    cluster.create(FIXED)
    reconcile_until_converged(cluster)
    reconcile_until_converged(add_index(cluster))
    hot = {**REST[0], "storage": LARGER}
    return edit_spec(cluster, pools=[data({**fixed, **LARGER}), hot, REST[1]])


def test_refused_expansion_is_reported_and_other_pools_grow() -> None:
    cluster = reconcile_for_ticks(cluster_with_refused_expansion(), ticks=60)
    assert condition(cluster, "PoolsResized") == (
        "False OperationDenied: stalled: VolumesResized of data: cannot patch PersistentVolumeClaim "
        "data-logs-data-0: spec.resources: PersistentVolumeClaim data-logs-data-0 is forbidden: only "
        "dynamically provisioned pvc can be resized and the storageclass that provisions the pvc must "
        "support resize; allow it, or change the spec so that it is not needed; the operator retries"
    )
    assert status(cluster)["phase"] == "Stalled"
    assert set(sizes(cluster, "hot").values()) == {"20Gi"}
    assert template_size(cluster, "hot") == "20Gi"
    assert template_size(cluster, "data") == "10Gi"
    assert condition(cluster, "PoolsConverged").startswith("True")
    storage_class = Key("storage.k8s.io/v1", "StorageClass", "", "fixed")
    cluster.patch(Patch(storage_class, {"allowVolumeExpansion": True}, ""))
    reconcile_until_converged(cluster)
    assert set(sizes(cluster, "data").values()) == {"20Gi"}
    assert status(cluster)["phase"] == "Running"


@pytest.mark.exhaustive
def test_refused_expansion_stops_neither_an_upgrade_nor_a_scale_in() -> None:
    # Guard: refused expansions stop nothing else.
    cluster = reconcile_for_ticks(cluster_with_refused_expansion(), ticks=10)
    reconcile_for_ticks(edit_spec(cluster, version="3.4.0"), ticks=120)
    assert status(cluster)["engineVersion"] == "3.4.0"
    assert "upgrade/lock" not in status(cluster)["ledger"]
    resource = cluster.get(CLUSTER)
    assert resource is not None
    pools = [{**each, "replicas": 1} if each["name"] == "hot" else each for each in resource["spec"]["pools"]]
    reconcile_for_ticks(edit_spec(cluster, pools=pools), ticks=30)
    assert "hot-1" not in pods(cluster)


def test_volumes_grow_after_an_upgrade_of_the_same_edit() -> None:
    cluster = edit_spec(growing(), version="3.4.0")
    for current in reconcile_steps(cluster):
        if status(current).get("engineVersion") != "3.4.0":
            assert set(sizes(current, "data").values()) == {"10Gi"}
    assert set(sizes(cluster, "data").values()) == {"20Gi"}
    assert template_size(cluster) == "20Gi"


def requests(cluster: FakeCluster, name: str) -> dict[str, str]:
    """The size that each claim of a pool requests, by claim."""
    found = cluster.list("v1", "PersistentVolumeClaim", CLUSTER.namespace, {})
    return {
        each["metadata"]["name"]: each["spec"]["resources"]["requests"]["storage"]
        for each in found
        if each["metadata"]["name"].startswith(f"data-logs-{name}-")
    }


@pytest.mark.exhaustive
def test_expansion_waits_for_an_upgrade_that_starts_meanwhile() -> None:
    # Guard: no expansion during an upgrade.
    cluster = growing()
    reconcile_until(cluster, lambda cluster: "20Gi" in requests(cluster, "data").values())
    before = requests(cluster, "data")
    assert "10Gi" in before.values()
    edit_spec(cluster, version="3.4.0")
    reconcile_until(cluster, lambda cluster: "upgrade" in status(cluster)["ledger"])
    for current in reconcile_steps(cluster):
        if "upgrade" in status(current)["ledger"]:
            assert requests(current, "data") == before
    assert set(sizes(cluster, "data").values()) == {"20Gi"}


@pytest.mark.parametrize("moment", ["claims", "StatefulSet", "no StatefulSet"])
def test_upgrade_during_an_expansion_finishes_first(moment: str) -> None:
    cluster = growing()
    reached = {
        "claims": lambda cluster: "are enlarged" in condition(cluster, "PoolsResized"),
        "StatefulSet": lambda cluster: is_terminating(cluster, "data"),
        "no StatefulSet": lambda cluster: stateful_set(cluster, "data") is None,
    }
    reconcile_until(cluster, reached[moment])
    edit_spec(cluster, version="3.4.0")
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {"3.4.0"}
    assert set(sizes(cluster, "data").values()) == {"20Gi"}
    assert template_size(cluster) == "20Gi"


def test_nothing_grows_while_paused() -> None:
    # Guard: no expansion while paused.
    cluster = growing(upgrade={"paused": True})
    reconcile_for_ticks(cluster, ticks=60)
    assert set(sizes(cluster, "data").values()) == {"10Gi"}
    assert condition(cluster, "PoolsResized") == "False UpgradePaused: spec.upgrade.paused is set"
    reconcile_until_converged(edit_spec(cluster, upgrade={"paused": False}))
    assert template_size(cluster) == "20Gi"


def test_stateful_set_is_not_replaced_while_paused() -> None:
    # Guard: no replacement while paused.
    cluster = growing()
    reconcile_until(cluster, lambda cluster: set(sizes(cluster, "data").values()) == {"20Gi"})
    reconcile_for_ticks(edit_spec(cluster, upgrade={"paused": True}), ticks=20)
    assert template_size(cluster) == "10Gi"
    assert condition(cluster, "PoolsResized") == "False UpgradePaused: spec.upgrade.paused is set"
    reconcile_until_converged(edit_spec(cluster, upgrade={"paused": False}))
    assert template_size(cluster) == "20Gi"


def test_size_written_in_another_way_changes_nothing() -> None:
    cluster = running_cluster(data(), *REST)
    before = uids(cluster, "StatefulSet")
    reconcile_until_converged(edit_spec(cluster, pools=[data({"size": "10240Mi"}), *REST]))
    assert uids(cluster, "StatefulSet") == before
    assert set(sizes(cluster, "data").values()) == {"10Gi"}


def test_volume_that_a_scale_in_left_grows_when_its_node_returns() -> None:
    cluster = running_cluster(data(), *REST)
    few = {**data(), "replicas": 1}
    reconcile_until_converged(edit_spec(cluster, pools=[few, *REST]))
    reconcile_until_converged(edit_spec(cluster, pools=[{**few, "storage": LARGER}, *REST]))
    assert sizes(cluster, "data") == {"data-logs-data-0": "20Gi", "data-logs-data-1": "10Gi"}
    reconcile_until_converged(edit_spec(cluster, pools=[data(LARGER), *REST]))
    assert set(sizes(cluster, "data").values()) == {"20Gi"}


def test_scale_out_works_while_volumes_grow() -> None:
    cluster = growing()
    reconcile_until(cluster, lambda cluster: "are enlarged" in condition(cluster, "PoolsResized"))
    reconcile_until_converged(edit_spec(cluster, pools=[{**data(LARGER), "replicas": 4}, *REST]))
    assert len(sizes(cluster, "data")) == 4
    assert set(sizes(cluster, "data").values()) == {"20Gi"}


def test_stateful_set_is_kept_while_its_search_pool_cannot_get_the_size() -> None:
    """The next StatefulSet is made from the SearchPool."""
    # Guard: the SearchPool has the size first.
    cluster = growing()

    class PoolDenyingPorts(RecordingPorts):
        def patch(self, patch: Patch) -> Manifest:
            if patch.key.kind == "SearchPool":
                raise Rejected("no permission to patch SearchPools")
            return super().patch(patch)

    ports = PoolDenyingPorts(cluster)
    reconcile_for_ticks(cluster, ports, ticks=20)
    assert set(sizes(cluster, "data").values()) == {"20Gi"}
    assert not [key for key in ports.deleted if key.kind == "StatefulSet"]
    reconcile_until_converged(cluster)
    assert template_size(cluster) == "20Gi"
