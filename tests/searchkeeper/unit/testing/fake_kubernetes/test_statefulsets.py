"""The fake StatefulSet controller: creation, rollouts, scaling, adoption."""

from __future__ import annotations

import pytest

from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Delete, Key
from searchkeeper.testing.fake_kubernetes.controllers import run_until_stable
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_kubernetes.manifests import get_value, merge_patched, owner_uids
from searchkeeper.testing.fake_kubernetes.object_store import (
    ObjectStore,
    create,
    delete,
    list_objects,
    replace_object,
)
from tests.support.searchkeeper.stateful_sets import (
    DATA,
    cluster_with,
    pod_images,
    run,
    stateful_set,
    with_image,
    with_spec,
)


def without_pod(cluster: ObjectStore, name: str) -> ObjectStore:
    return delete(cluster, Delete(Key("v1", "Pod", "search", name), "", ""), now=0)


def test_ordered_ready_creates_each_pod_after_the_previous_is_ready() -> None:
    first = run_until_stable(create(ObjectStore(), stateful_set(), now=0)[0], now=0)
    assert pod_images(first) == {"data-0": "engine:1!"}
    assert pod_images(run(first)) == {"data-0": "engine:1", "data-1": "engine:1", "data-2": "engine:1"}


def test_parallel_creates_all_pods_at_once() -> None:
    first = run_until_stable(
        create(ObjectStore(), stateful_set(podManagementPolicy="Parallel"), now=0)[0], now=0
    )
    assert len(pod_images(first)) == 3


def test_on_delete_replaces_no_pod() -> None:
    assert set(pod_images(run(with_image(cluster_with(stateful_set()), "engine:2"))).values()) == {"engine:1"}


def test_on_delete_creates_a_deleted_pod_from_the_newest_template() -> None:
    after = run(without_pod(with_image(cluster_with(stateful_set()), "engine:2"), "data-1"))
    assert pod_images(after) == {"data-0": "engine:1", "data-1": "engine:2", "data-2": "engine:1"}


def test_on_delete_rollout_leaves_the_old_current_revision() -> None:
    cluster = with_image(cluster_with(stateful_set()), "engine:2")
    for name in ("data-0", "data-1", "data-2"):
        cluster = run(without_pod(cluster, name))
    status = cluster.objects[DATA]["status"]
    assert status["updatedReplicas"] == 3
    assert status["currentRevision"] != status["updateRevision"]


def rolling(partition: int = 0) -> dict[str, object]:
    return {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}


def test_rolling_update_replaces_pods_down_to_the_partition() -> None:
    after = run(with_image(cluster_with(stateful_set(updateStrategy=rolling(1))), "engine:2"))
    assert pod_images(after) == {"data-0": "engine:1", "data-1": "engine:2", "data-2": "engine:2"}


def test_pod_below_the_partition_is_created_from_the_old_template() -> None:
    cluster = run(with_image(cluster_with(stateful_set(updateStrategy=rolling(1))), "engine:2"))
    assert pod_images(run(without_pod(cluster, "data-0")))["data-0"] == "engine:1"


def test_rolling_update_waits_for_each_pod() -> None:
    cluster = with_image(cluster_with(stateful_set(updateStrategy=rolling())), "bad:2")
    after = run(cluster, {"bad:2": PodFault.CRASH})
    assert pod_images(after) == {"data-0": "engine:1", "data-1": "engine:1", "data-2": "bad:2!"}


def test_ordered_ready_does_not_replace_a_broken_pod_with_a_fixed_template() -> None:
    """S17: the pod that is not ready blocks its own replacement."""
    faults = {"bad:2": PodFault.CRASH}
    broken = run(with_image(cluster_with(stateful_set(updateStrategy=rolling())), "bad:2"), faults)
    assert pod_images(run(with_image(broken, "engine:3"), faults))["data-2"] == "bad:2!"


def test_scale_in_removes_the_highest_ordinal_and_keeps_its_volume() -> None:
    after = run(with_spec(cluster_with(stateful_set()), replicas=1))
    assert list(pod_images(after)) == ["data-0"]
    assert len(list_objects(after, "v1", "PersistentVolumeClaim", "search")) == 3


def test_immutable_fields_are_rejected() -> None:
    cluster = cluster_with(stateful_set())
    other = merge_patched(cluster.objects[DATA], {"spec": {"selector": {"matchLabels": {"new": "label"}}}})
    with pytest.raises(Rejected, match="updates to statefulset spec for selector are forbidden"):
        replace_object(
            cluster, merge_patched(other, {"spec": {"template": {"metadata": {"labels": {"new": "label"}}}}})
        )


def test_orphaned_pods_are_adopted_by_the_next_statefulset() -> None:
    cluster = cluster_with(stateful_set())
    before = {each["metadata"]["uid"] for each in list_objects(cluster, "v1", "Pod", "search")}
    cluster = run_until_stable(delete(cluster, Delete(DATA, "", "", orphan=True), now=0), now=0)
    assert DATA not in cluster.objects
    assert all(not owner_uids(each) for each in list_objects(cluster, "v1", "Pod", "search"))
    cluster = run(create(cluster, stateful_set("engine:2"), now=0)[0])
    adopted = list_objects(cluster, "v1", "Pod", "search")
    assert {each["metadata"]["uid"] for each in adopted} == before
    assert all(owner_uids(each) == (cluster.objects[DATA]["metadata"]["uid"],) for each in adopted)


def test_deleted_statefulset_takes_its_pods_and_leaves_its_volumes() -> None:
    cluster = run(delete(cluster_with(stateful_set()), Delete(DATA, "", ""), now=0))
    assert pod_images(cluster) == {}
    assert len(list_objects(cluster, "v1", "PersistentVolumeClaim", "search")) == 3


def test_status_counts_pods() -> None:
    status = cluster_with(stateful_set()).objects[DATA]["status"]
    assert (
        get_value({"s": status}, "s", "readyReplicas") == status["replicas"] == status["updatedReplicas"] == 3
    )
