"""Whoever edits by hand what the operator has made: what is ours is put back, and nothing else of it."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

import operators_at_work
from operators_at_work import CLUSTER, edited, pool, settled, status
from searchkeeper.desired.names import CONFIGURATION
from searchkeeper.images import engine_image
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_kubernetes.manifests import is_ready
from searchkeeper.testing.fake_kubernetes.object_store import delete, replace_object
from tales import NEWEST, broken, pods, running, stateful_set, templates, unfolding, until, versions

OLD, NEW, EDITED = "2.19.4", "3.4.0", "2.19.5"
SERVICE = Key("v1", "Service", CLUSTER.namespace, CLUSTER.name)
Container = dict[str, Any]


def edit(world: FakeCluster, change: Callable[[dict[str, Any]], None], pool: str = "data") -> FakeCluster:
    """Somebody changes the StatefulSet of a pool."""
    live = deepcopy(stateful_set(world, pool))
    assert isinstance(live, dict)
    change(live)
    world.state = replace(world.state, cluster=replace_object(world.state.cluster, live)[0])
    return world


def on_container(change: Callable[[Container], None]) -> Callable[[dict[str, Any]], None]:
    return lambda live: change(live["spec"]["template"]["spec"]["containers"][0])


def another_image(container: Container) -> None:
    container["image"] = container["image"].replace(OLD, EDITED)


def another_role(container: Container) -> None:
    container["env"] = [
        {"name": each["name"], "value": "ingest"} if each["name"] == "node.roles" else each
        for each in container["env"]
    ]


def a_variable_less(container: Container) -> None:
    container["env"] = container["env"][1:]


def a_variable_from_elsewhere(container: Container) -> None:
    source = {"fieldRef": {"fieldPath": "metadata.namespace"}}
    container["env"] = [*container["env"][:-1], {"name": container["env"][-1]["name"], "valueFrom": source}]


def another_probe(container: Container) -> None:
    container["readinessProbe"] = {"tcpSocket": {"port": 9300}}


def another_mount(container: Container) -> None:
    container["volumeMounts"][1]["readOnly"] = True
    container["volumeMounts"][0]["mountPath"] = "/elsewhere"


def without_mark(live: dict[str, Any]) -> None:
    del live["metadata"]["annotations"]["search.everpath.dev/applied"]
    another_image(live["spec"]["template"]["spec"]["containers"][0])


def with_broken_mark(live: dict[str, Any]) -> None:
    live["metadata"]["annotations"]["search.everpath.dev/applied"] = "{"
    another_image(live["spec"]["template"]["spec"]["containers"][0])


def another_strategy(live: dict[str, Any]) -> None:
    live["spec"]["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": {"partition": 9}}


def another_grace(live: dict[str, Any]) -> None:
    live["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1


def no_labels(live: dict[str, Any]) -> None:
    del live["metadata"]["labels"]["app.kubernetes.io/instance"]


OURS: dict[str, Callable[[dict[str, Any]], None]] = {
    "image": on_container(another_image),
    "the value of a variable": on_container(another_role),
    "a variable less": on_container(a_variable_less),
    "the source of a variable": on_container(a_variable_from_elsewhere),
    "probe": on_container(another_probe),
    "grace": another_grace,
    "strategy": another_strategy,
    "labels": no_labels,
    "image, and no note of what was asked for": without_mark,
    "image, and a note that cannot be read": with_broken_mark,
}


def asked_for(world: FakeCluster, pool: str = "data") -> tuple[Any, Any, Any]:
    live = stateful_set(world, pool)
    assert live is not None
    return live["spec"]["template"], live["spec"]["updateStrategy"], live["metadata"]["labels"]


@pytest.mark.parametrize("change", OURS.values(), ids=OURS)
def test_what_is_ours_is_put_back_and_no_pod_is_touched(change: Callable[[dict[str, Any]], None]) -> None:
    # Guard: a StatefulSet is compared with what was last asked for in every cycle.
    world = running()
    before, uids = asked_for(world), {name: each["metadata"]["uid"] for name, each in pods(world).items()}
    edit(world, change)
    assert asked_for(world) != before
    settled(world, NEWEST)
    assert asked_for(world) == before
    assert {name: each["metadata"]["uid"] for name, each in pods(world).items()} == uids
    assert settled(world, NEWEST) == 0


def limits(container: Container) -> None:
    container["resources"] = {"limits": {"memory": "4Gi"}}


def a_variable_more(container: Container) -> None:
    container["env"] = [{"name": "OPENSEARCH_JAVA_OPTS", "value": "-Xmx2g"}, *container["env"]]


def a_mount_more(container: Container) -> None:
    container["volumeMounts"] = [*container["volumeMounts"], {"name": "data", "mountPath": "/backup"}]


def a_sidecar(live: dict[str, Any]) -> None:
    inner = live["spec"]["template"]["spec"]
    inner["containers"] = [*inner["containers"], {"name": "proxy", "image": "proxy:1"}]


def tolerations(live: dict[str, Any]) -> None:
    live["spec"]["template"]["spec"]["tolerations"] = [{"key": "search", "operator": "Exists"}]


def defaults(live: dict[str, Any]) -> None:
    """What an API server fills in, in the places where it does."""
    live["spec"] |= {
        "revisionHistoryLimit": 10,
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain"},
    }
    inner = live["spec"]["template"]["spec"]
    inner |= {"dnsPolicy": "ClusterFirst", "restartPolicy": "Always", "schedulerName": "default-scheduler"}
    for volume in inner["volumes"]:
        volume["configMap"]["defaultMode"] = 420
    for container in inner["containers"]:
        container |= {"imagePullPolicy": "IfNotPresent", "resources": {}, "terminationMessagePolicy": "File"}
        container["readinessProbe"] |= {"timeoutSeconds": 1, "successThreshold": 1}
        container["readinessProbe"]["httpGet"]["scheme"] = "HTTP"
        container["ports"] = [{**port, "protocol": "TCP"} for port in container["ports"]]
        container["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] = "v1"


OTHERS: dict[str, Callable[[dict[str, Any]], None]] = {
    "limits": on_container(limits),
    "a variable more": on_container(a_variable_more),
    "a mount more": on_container(a_mount_more),
    "a sidecar": a_sidecar,
    "tolerations": tolerations,
    "defaults": defaults,
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_what_is_not_ours_is_left_alone(change: Callable[[dict[str, Any]], None]) -> None:
    """Nor is it a difference, nor lost when something of ours is put back."""
    world = running()
    edit(world, change)
    assert settled(world, NEWEST) == 0
    kept = asked_for(world)
    edit(world, another_grace)
    settled(world, NEWEST)
    assert asked_for(world) == kept


def test_what_an_api_server_makes_of_claims_is_no_difference() -> None:
    """Sizes are written in its own way. Nobody could change that back: it is settled when a set is born."""
    world = running()
    live = deepcopy(stateful_set(world, "data"))
    assert isinstance(live, dict)
    [claim] = live["spec"]["volumeClaimTemplates"]
    claim |= {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"}}
    claim["spec"] |= {"volumeMode": "Filesystem", "resources": {"requests": {"storage": "10240Mi"}}}
    objects = {**world.state.cluster.objects, Key.of(live): live}
    world.state = replace(world.state, cluster=replace(world.state.cluster, objects=objects))
    assert settled(world, NEWEST) == 0


def died(world: FakeCluster, name: str) -> FakeCluster:
    key = Key("v1", "Pod", CLUSTER.namespace, f"logs-{name}")
    cluster = delete(world.state.cluster, Delete(key, "", ""), now=world.state.now)
    world.state = replace(world.state, cluster=cluster)
    for _ in range(5):
        world.tick()
    return world


def with_an_image_that_nobody_has(*pools: dict[str, Any]) -> FakeCluster:
    return broken(running(*pools), engine_image(EDITED), PodFault.IMAGE)


def test_a_pod_that_was_made_from_an_edited_image_is_replaced() -> None:
    """While nobody watched: its template has our mark, and is not ours."""
    # Guard: a pod of another version than its StatefulSet is stale.
    world = died(edit(with_an_image_that_nobody_has(), on_container(another_image)), "data-1")
    assert versions(world)["data-1"] == EDITED
    others = {name: each["metadata"]["uid"] for name, each in pods(world).items() if name != "data-1"}
    settled(world, NEWEST)
    assert set(versions(world).values()) == {OLD}
    assert {name: each["metadata"]["uid"] for name, each in pods(world).items() if name in others} == others


def test_a_node_that_has_run_an_edited_newer_version_is_not_sent_back_to_a_disk_it_cannot_read() -> None:
    # Guard: whoever has run a newer version is not stale.
    world = died(edit(running(), on_container(another_image)), "data-1")
    settled(world, NEWEST)
    assert versions(world) == {name: EDITED if name == "data-1" else OLD for name in versions(world)}
    settled(edited(world, version=EDITED), NEWEST)
    assert set(versions(world).values()) == {EDITED}


def test_no_pod_is_replaced_by_one_of_an_edited_image() -> None:
    """What is deployed is mended first, although every pod differs from it."""
    world = edit(running(), on_container(another_image))
    for moment in unfolding(world):
        assert all(map(is_ready, pods(moment).values()))
    assert set(versions(world).values()) == {OLD}


def test_a_pool_that_kubernetes_replaces_is_taken_back_by_kubernetes() -> None:
    managers = pool("managers", 3, "cluster_manager")
    world = with_an_image_that_nobody_has(pool("data", 2, "data"), managers, pool("edge", 2, "ingest"))
    edit(world, on_container(another_image), "edge")
    for _ in range(3):
        world.tick()
    assert EDITED in versions(world).values()
    settled(world, NEWEST)
    assert set(versions(world).values()) == {OLD}


def test_an_edited_template_of_a_later_pool_is_put_back_before_its_turn() -> None:
    world = edited(running(), version=NEW)
    until(lambda world: "3.4.0" in versions(world).values(), world)
    before = templates(world)["logs-managers"]
    edit(world, on_container(another_role), "managers")
    until(lambda world: templates(world)["logs-managers"] == before, world)
    assert {version for name, version in versions(world).items() if name.startswith("managers")} == {OLD}
    settled(world, NEWEST)
    assert set(versions(world).values()) == {NEW}


@pytest.mark.parametrize("mark", ["x", "", "-1", "٣", "9" * 5000])
def test_a_mark_that_is_no_version_is_put_right_before_anything_has_converged(mark: str) -> None:
    world = operators_at_work.asked_for()
    until(lambda world: world.get(SERVICE) is not None, world)
    world.patch(Patch(SERVICE, {"metadata": {"annotations": {CONFIGURATION: mark}}}, ""))
    settled(world, NEWEST)
    found = world.get(SERVICE)
    assert found is not None
    assert found["metadata"]["annotations"][CONFIGURATION] == "4"
    assert status(world)["currentVersion"] == 4


@pytest.mark.parametrize("mark", ["x", "9" * 5000])
def test_a_mark_that_is_no_version_is_put_right_on_a_stateful_set(mark: str) -> None:
    world = edit(running(), lambda live: live["metadata"]["annotations"].update({CONFIGURATION: mark}))
    before = {name: each["metadata"]["uid"] for name, each in pods(world).items()}
    settled(world, NEWEST)
    found = stateful_set(world, "data")
    assert found is not None
    assert found["metadata"]["annotations"][CONFIGURATION] == "4"
    assert {name: each["metadata"]["uid"] for name, each in pods(world).items()} == before
