"""What the StatefulSet controller does, and does not do, to pods."""

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
from stateful_sets import DATA, changed, pods, run, running, stateful_set, with_image


def without(cluster: ObjectStore, name: str) -> ObjectStore:
    return delete(cluster, Delete(Key("v1", "Pod", "search", name), "", ""), now=0)


def test_pods_come_one_after_the_other_each_when_the_one_before_is_ready() -> None:
    first = run_until_stable(create(ObjectStore(), stateful_set(), now=0)[0], now=0)
    assert pods(first) == {"data-0": "engine:1!"}
    assert pods(run(first)) == {"data-0": "engine:1", "data-1": "engine:1", "data-2": "engine:1"}


def test_in_parallel_they_come_together() -> None:
    first = run_until_stable(
        create(ObjectStore(), stateful_set(podManagementPolicy="Parallel"), now=0)[0], now=0
    )
    assert len(pods(first)) == 3


def test_on_delete_nothing_is_replaced_by_itself() -> None:
    assert set(pods(run(with_image(running(stateful_set()), "engine:2"))).values()) == {"engine:1"}


def test_on_delete_a_pod_that_goes_comes_back_from_the_newest_template() -> None:
    after = run(without(with_image(running(stateful_set()), "engine:2"), "data-1"))
    assert pods(after) == {"data-0": "engine:1", "data-1": "engine:2", "data-2": "engine:1"}


def test_after_a_whole_on_delete_roll_the_current_revision_is_still_the_old_one() -> None:
    cluster = with_image(running(stateful_set()), "engine:2")
    for name in ("data-0", "data-1", "data-2"):
        cluster = run(without(cluster, name))
    status = cluster.objects[DATA]["status"]
    assert status["updatedReplicas"] == 3
    assert status["currentRevision"] != status["updateRevision"]


def rolling(partition: int = 0) -> dict[str, object]:
    return {"type": "RollingUpdate", "rollingUpdate": {"partition": partition}}


def test_a_rolling_update_goes_down_to_the_partition() -> None:
    after = run(with_image(running(stateful_set(updateStrategy=rolling(1))), "engine:2"))
    assert pods(after) == {"data-0": "engine:1", "data-1": "engine:2", "data-2": "engine:2"}


def test_below_the_partition_a_pod_comes_back_as_it_was() -> None:
    cluster = run(with_image(running(stateful_set(updateStrategy=rolling(1))), "engine:2"))
    assert pods(run(without(cluster, "data-0")))["data-0"] == "engine:1"


def test_a_rolling_update_waits_for_each_pod() -> None:
    cluster = with_image(running(stateful_set(updateStrategy=rolling())), "bad:2")
    after = run(cluster, {"bad:2": PodFault.CRASH})
    assert pods(after) == {"data-0": "engine:1", "data-1": "engine:1", "data-2": "bad:2!"}


def test_a_broken_pod_is_not_replaced_when_its_template_is_mended() -> None:
    """S17: in order, the pod that is not ready stops its own replacement."""
    faults = {"bad:2": PodFault.CRASH}
    broken = run(with_image(running(stateful_set(updateStrategy=rolling())), "bad:2"), faults)
    assert pods(run(with_image(broken, "engine:3"), faults))["data-2"] == "bad:2!"


def test_scaling_down_takes_the_highest_and_leaves_its_volume() -> None:
    after = run(changed(running(stateful_set()), replicas=1))
    assert list(pods(after)) == ["data-0"]
    assert len(list_objects(after, "v1", "PersistentVolumeClaim", "search")) == 3


def test_what_was_settled_at_birth_cannot_be_changed() -> None:
    cluster = running(stateful_set())
    other = merge_patched(cluster.objects[DATA], {"spec": {"selector": {"matchLabels": {"new": "label"}}}})
    with pytest.raises(Rejected, match="updates to statefulset spec for selector are forbidden"):
        replace_object(
            cluster, merge_patched(other, {"spec": {"template": {"metadata": {"labels": {"new": "label"}}}}})
        )


def test_pods_of_a_set_deleted_with_orphan_stay_and_are_adopted_by_the_next() -> None:
    cluster = running(stateful_set())
    before = {each["metadata"]["uid"] for each in list_objects(cluster, "v1", "Pod", "search")}
    cluster = run_until_stable(delete(cluster, Delete(DATA, "", "", orphan=True), now=0), now=0)
    assert DATA not in cluster.objects
    assert all(not owner_uids(each) for each in list_objects(cluster, "v1", "Pod", "search"))
    cluster = run(create(cluster, stateful_set("engine:2"), now=0)[0])
    adopted = list_objects(cluster, "v1", "Pod", "search")
    assert {each["metadata"]["uid"] for each in adopted} == before
    assert all(owner_uids(each) == (cluster.objects[DATA]["metadata"]["uid"],) for each in adopted)


def test_pods_of_a_deleted_set_follow_it_and_their_volumes_do_not() -> None:
    cluster = run(delete(running(stateful_set()), Delete(DATA, "", ""), now=0))
    assert pods(cluster) == {}
    assert len(list_objects(cluster, "v1", "PersistentVolumeClaim", "search")) == 3


def test_the_status_counts_what_is_there() -> None:
    status = running(stateful_set()).objects[DATA]["status"]
    assert (
        get_value({"s": status}, "s", "readyReplicas") == status["replicas"] == status["updatedReplicas"] == 3
    )
