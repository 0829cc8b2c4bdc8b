"""Edits of objects that the operator applies: its own fields are reverted, others stay."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.desired.names import CONFIGURATION
from searchkeeper.images import engine_image
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.fake_kubernetes.manifests import is_ready
from searchkeeper.testing.fake_kubernetes.object_store import delete, replace_object
from tests.support.searchkeeper import operator_runs
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    edit_spec,
    pool,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import (
    add_pod_fault,
    pod_templates,
    pod_versions,
    pods,
    running_cluster,
    stateful_set,
)

OLD, NEW, EDITED = "2.19.4", "3.4.0", "2.19.5"
SERVICE = Key("v1", "Service", CLUSTER.namespace, CLUSTER.name)
Container = dict[str, Any]


def edit(cluster: FakeCluster, change: Callable[[dict[str, Any]], None], pool: str = "data") -> FakeCluster:
    """A user edits the StatefulSet of a pool."""
    live = deepcopy(stateful_set(cluster, pool))
    assert isinstance(live, dict)
    change(live)
    cluster.state = replace(cluster.state, cluster=replace_object(cluster.state.cluster, live)[0])
    return cluster


def on_container(change: Callable[[Container], None]) -> Callable[[dict[str, Any]], None]:
    return lambda live: change(live["spec"]["template"]["spec"]["containers"][0])


def change_image(container: Container) -> None:
    container["image"] = container["image"].replace(OLD, EDITED)


def change_role(container: Container) -> None:
    container["env"] = [
        {"name": each["name"], "value": "ingest"} if each["name"] == "node.roles" else each
        for each in container["env"]
    ]


def remove_variable(container: Container) -> None:
    container["env"] = container["env"][1:]


def change_variable_source(container: Container) -> None:
    source = {"fieldRef": {"fieldPath": "metadata.namespace"}}
    container["env"] = [*container["env"][:-1], {"name": container["env"][-1]["name"], "valueFrom": source}]


def change_probe(container: Container) -> None:
    container["readinessProbe"] = {"tcpSocket": {"port": 9300}}


def change_mount(container: Container) -> None:
    container["volumeMounts"][1]["readOnly"] = True
    container["volumeMounts"][0]["mountPath"] = "/elsewhere"


def without_last_applied(live: dict[str, Any]) -> None:
    del live["metadata"]["annotations"]["search.everpath.dev/applied"]
    change_image(live["spec"]["template"]["spec"]["containers"][0])


def with_unreadable_last_applied(live: dict[str, Any]) -> None:
    live["metadata"]["annotations"]["search.everpath.dev/applied"] = "{"
    change_image(live["spec"]["template"]["spec"]["containers"][0])


def change_strategy(live: dict[str, Any]) -> None:
    live["spec"]["updateStrategy"] = {"type": "RollingUpdate", "rollingUpdate": {"partition": 9}}


def change_grace_period(live: dict[str, Any]) -> None:
    live["spec"]["template"]["spec"]["terminationGracePeriodSeconds"] = 1


def remove_label(live: dict[str, Any]) -> None:
    del live["metadata"]["labels"]["app.kubernetes.io/instance"]


OURS: dict[str, Callable[[dict[str, Any]], None]] = {
    "image": on_container(change_image),
    "the value of a variable": on_container(change_role),
    "a removed variable": on_container(remove_variable),
    "the source of a variable": on_container(change_variable_source),
    "probe": on_container(change_probe),
    "grace": change_grace_period,
    "strategy": change_strategy,
    "labels": remove_label,
    "image, and no last applied manifest": without_last_applied,
    "image, and an unreadable last applied manifest": with_unreadable_last_applied,
}


def deployed_fields(cluster: FakeCluster, pool: str = "data") -> tuple[Any, Any, Any]:
    live = stateful_set(cluster, pool)
    assert live is not None
    return live["spec"]["template"], live["spec"]["updateStrategy"], live["metadata"]["labels"]


@pytest.mark.parametrize("change", OURS.values(), ids=OURS)
def test_edited_stateful_set_is_reverted_without_restarts(change: Callable[[dict[str, Any]], None]) -> None:
    # Guard: a StatefulSet is compared with the last applied manifest in every reconcile.
    cluster = running_cluster()
    before, uids = (
        deployed_fields(cluster),
        {name: each["metadata"]["uid"] for name, each in pods(cluster).items()},
    )
    edit(cluster, change)
    assert deployed_fields(cluster) != before
    reconcile_until_converged(cluster)
    assert deployed_fields(cluster) == before
    assert {name: each["metadata"]["uid"] for name, each in pods(cluster).items()} == uids
    assert reconcile_until_converged(cluster) == 0


def limits(container: Container) -> None:
    container["resources"] = {"limits": {"memory": "4Gi"}}


def add_variable(container: Container) -> None:
    container["env"] = [{"name": "OPENSEARCH_JAVA_OPTS", "value": "-Xmx2g"}, *container["env"]]


def add_mount(container: Container) -> None:
    container["volumeMounts"] = [*container["volumeMounts"], {"name": "data", "mountPath": "/backup"}]


def add_sidecar(live: dict[str, Any]) -> None:
    inner = live["spec"]["template"]["spec"]
    inner["containers"] = [*inner["containers"], {"name": "proxy", "image": "proxy:1"}]


def tolerations(live: dict[str, Any]) -> None:
    live["spec"]["template"]["spec"]["tolerations"] = [{"key": "search", "operator": "Exists"}]


def defaults(live: dict[str, Any]) -> None:
    """The defaults that an API server adds."""
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
        container["readinessProbe"]["successThreshold"] = 1
        container["readinessProbe"]["httpGet"]["scheme"] = "HTTP"
        container["ports"] = [{**port, "protocol": "TCP"} for port in container["ports"]]
        container["env"][0]["valueFrom"]["fieldRef"]["apiVersion"] = "v1"


OTHERS: dict[str, Callable[[dict[str, Any]], None]] = {
    "limits": on_container(limits),
    "an added variable": on_container(add_variable),
    "an added mount": on_container(add_mount),
    "a sidecar": add_sidecar,
    "tolerations": tolerations,
    "defaults": defaults,
}


@pytest.mark.parametrize("change", OTHERS.values(), ids=OTHERS)
def test_additions_of_users_stay(change: Callable[[dict[str, Any]], None]) -> None:
    """They are neither a difference, nor lost when another field is reverted."""
    cluster = running_cluster()
    edit(cluster, change)
    assert reconcile_until_converged(cluster) == 0
    kept = deployed_fields(cluster)
    edit(cluster, change_grace_period)
    reconcile_until_converged(cluster)
    assert deployed_fields(cluster) == kept


def test_normalised_claim_sizes_are_ignored() -> None:
    """An API server normalises sizes, and volume claim templates are immutable."""
    cluster = running_cluster()
    live = deepcopy(stateful_set(cluster, "data"))
    assert isinstance(live, dict)
    [claim] = live["spec"]["volumeClaimTemplates"]
    claim |= {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "status": {"phase": "Pending"}}
    claim["spec"] |= {"volumeMode": "Filesystem", "resources": {"requests": {"storage": "10240Mi"}}}
    objects = {**cluster.state.cluster.objects, Key.of(live): live}
    cluster.state = replace(cluster.state, cluster=replace(cluster.state.cluster, objects=objects))
    assert reconcile_until_converged(cluster) == 0


def delete_pod(cluster: FakeCluster, name: str) -> FakeCluster:
    key = Key("v1", "Pod", CLUSTER.namespace, f"logs-{name}")
    store = delete(cluster.state.cluster, Delete(key, "", ""), now=cluster.state.now)
    cluster.state = replace(cluster.state, cluster=store)
    for _ in range(5):
        cluster.tick()
    return cluster


def with_missing_image(*pools: dict[str, Any]) -> FakeCluster:
    return add_pod_fault(running_cluster(*pools), engine_image(EDITED), PodFault.IMAGE)


def test_pod_of_an_edited_image_is_replaced() -> None:
    """Created while no operator ran: its template has our annotation and another image."""
    # Guard: a pod of another version than its StatefulSet is outdated.
    cluster = delete_pod(edit(with_missing_image(), on_container(change_image)), "data-1")
    assert pod_versions(cluster)["data-1"] == EDITED
    others = {name: each["metadata"]["uid"] for name, each in pods(cluster).items() if name != "data-1"}
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {OLD}
    assert {name: each["metadata"]["uid"] for name, each in pods(cluster).items() if name in others} == others


@pytest.mark.exhaustive
def test_pod_that_ran_an_edited_newer_version_is_kept() -> None:
    # Guard: a pod that has run a newer version is not outdated.
    cluster = delete_pod(edit(running_cluster(), on_container(change_image)), "data-1")
    reconcile_until_converged(cluster)
    assert pod_versions(cluster) == {
        name: EDITED if name == "data-1" else OLD for name in pod_versions(cluster)
    }
    reconcile_until_converged(edit_spec(cluster, version=EDITED))
    assert set(pod_versions(cluster).values()) == {EDITED}


def test_edited_image_is_reverted_before_pods_are_replaced() -> None:
    """The StatefulSet is reverted first, although every pod differs from it."""
    cluster = edit(running_cluster(), on_container(change_image))
    for current in reconcile_steps(cluster):
        assert all(map(is_ready, pods(current).values()))
    assert set(pod_versions(cluster).values()) == {OLD}


def test_edited_ingest_pool_is_reverted_by_the_stateful_set() -> None:
    managers = pool("managers", 3, "cluster_manager")
    cluster = with_missing_image(pool("data", 2, "data"), managers, pool("edge", 2, "ingest"))
    edit(cluster, on_container(change_image), "edge")
    for _ in range(3):
        cluster.tick()
    assert EDITED in pod_versions(cluster).values()
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {OLD}


def test_edited_template_of_a_pending_pool_is_reverted() -> None:
    cluster = edit_spec(running_cluster(), version=NEW)
    reconcile_until(cluster, lambda cluster: "3.4.0" in pod_versions(cluster).values())
    before = pod_templates(cluster)["logs-managers"]
    edit(cluster, on_container(change_role), "managers")
    reconcile_until(cluster, lambda cluster: pod_templates(cluster)["logs-managers"] == before)
    assert {version for name, version in pod_versions(cluster).items() if name.startswith("managers")} == {
        OLD
    }
    reconcile_until_converged(cluster)
    assert set(pod_versions(cluster).values()) == {NEW}


@pytest.mark.parametrize("mark", ["x", "", "-1", "٣", "9" * 5000])
def test_invalid_version_annotation_is_fixed_before_convergence(mark: str) -> None:
    cluster = operator_runs.new_cluster()
    reconcile_until(cluster, lambda cluster: cluster.get(SERVICE) is not None)
    cluster.patch(Patch(SERVICE, {"metadata": {"annotations": {CONFIGURATION: mark}}}, ""))
    reconcile_until_converged(cluster)
    found = cluster.get(SERVICE)
    assert found is not None
    assert found["metadata"]["annotations"][CONFIGURATION] == "5"
    assert status(cluster)["currentVersion"] == 5


@pytest.mark.parametrize("mark", ["x", "9" * 5000])
def test_invalid_version_annotation_of_a_stateful_set_is_fixed(mark: str) -> None:
    cluster = edit(
        running_cluster(), lambda live: live["metadata"]["annotations"].update({CONFIGURATION: mark})
    )
    before = {name: each["metadata"]["uid"] for name, each in pods(cluster).items()}
    reconcile_until_converged(cluster)
    found = stateful_set(cluster, "data")
    assert found is not None
    assert found["metadata"]["annotations"][CONFIGURATION] == "5"
    assert {name: each["metadata"]["uid"] for name, each in pods(cluster).items()} == before


def affinity(live: dict[str, Any]) -> None:
    live["spec"]["template"]["spec"]["affinity"] = {"nodeAffinity": {}}


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize(
    "change",
    [
        on_container(limits),
        on_container(add_variable),
        on_container(add_mount),
        add_sidecar,
        tolerations,
        affinity,
    ],
    ids=["limits", "variable", "mount", "sidecar", "tolerations", "affinity"],
)
def test_additions_to_a_stateful_set_outlive_its_replacement(
    change: Callable[[dict[str, Any]], None],
) -> None:
    """0.4.0 replaces every StatefulSet, because the labels that it selects by change."""
    plain, cluster = running_cluster(version="0.3.1"), running_cluster(version="0.3.1")
    before = stateful_set(edit(cluster, change), "data")
    assert before is not None
    reconcile_until_converged(cluster, "0.4.0")
    after = deepcopy(stateful_set(cluster, "data"))
    assert isinstance(after, dict)
    assert after["metadata"]["uid"] != before["metadata"]["uid"]
    reconcile_until_converged(plain, "0.4.0")
    expected = deepcopy(stateful_set(plain, "data"))
    assert isinstance(expected, dict)
    change(expected)
    for live in (after, expected):
        live["spec"]["template"]["spec"]["containers"][0]["env"].sort(key=lambda variable: variable["name"])
    for part in ("affinity", "containers", "tolerations", "volumes"):
        assert after["spec"]["template"]["spec"].get(part) == expected["spec"]["template"]["spec"].get(part)
    pool_status = cluster.get(
        Key("search.everpath.dev/v1alpha1", "SearchPool", CLUSTER.namespace, "logs-data")
    )
    assert pool_status is not None
    assert not pool_status["status"]["ledger"]
    assert reconcile_until_converged(cluster, "0.4.0") == 0
