"""Objects of the operator on a real API server: defaults, budgets, ControllerRevisions, volumes, edits."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Final

import pytest

from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.api.validation import spec_errors
from searchkeeper.desired.apply import apply
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.desired.dashboards import dashboards_deployment, dashboards_service
from searchkeeper.desired.manifests import client_service, discovery_service, disruption_budgets, stateful_set
from searchkeeper.desired.settings import settings_manifests
from searchkeeper.kubernetes.operations import Create, Manifest
from searchkeeper.kubernetes.rest_mapping import resource_kind, resource_path
from tests.e2e.operator_sandbox import POOLS, TIMEOUT, OperatorSandbox
from tests.e2e.servers.api import ApiError, Object, conditions
from tests.e2e.servers.control_plane import ControlPlane
from tests.e2e.servers.polling import wait_until

pytestmark = pytest.mark.e2e

SECURITY: Final = {
    "open": {},
    "certificates": {"tlsSecret": "tls"},
    "users": {"tlsSecret": "tls", "credentialsSecret": "admin"},
}
ZONE_KEY: Final = "topology.kubernetes.io/zone"
HOST_IP: Final = {"fieldRef": {"fieldPath": "status.hostIP"}}
ZONES: Final = [{"name": f"zone-{n}", "roles": ["cluster_manager"], "replicas": 1} for n in range(3)]


@pytest.mark.parametrize("security", SECURITY.values(), ids=SECURITY)
@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_defaults_of_the_api_server_cause_no_patch(
    plane: ControlPlane, version: int, security: dict[str, str]
) -> None:
    """Fields that the API server sets or drops cause none either."""
    for desired in desired_manifests(version, security):
        operation = apply(desired, None)
        assert isinstance(operation, Create)
        kind = resource_kind(desired["apiVersion"], desired["kind"])
        live = plane.api.create(f"{resource_path(kind, 'default')}?dryRun=All", dict(operation.manifest))
        assert apply(desired, live) is None, desired["kind"]


def desired_manifests(version: int, security: dict[str, str]) -> Iterator[Manifest]:
    pools = [
        *ZONES,
        {"name": "front", "roles": ["coordinating"], "replicas": 1, "storage": {"ephemeral": True}},
        {"name": "rich", "roles": ["data"], "replicas": 1, "podTemplate": pod_template("opensearch")},
    ]
    dashboards = {"enabled": True, "podTemplate": pod_template("dashboards")}
    raw = {"version": "3.4.0", "pools": pools, "security": security, "dashboards": dashboards}
    raw |= {"plugins": ["analysis-icu"], "keystoreSecret": "secure", "config": {"cluster.x": [1, "$"]}}
    assert not spec_errors({"metadata": {"name": "logs"}, "spec": raw})
    spec = decode_cluster_spec(raw)
    cluster = DesiredCluster("logs", "default", "uid", spec, version, (("password", "Yg=="),))
    cluster = replace(cluster, certificates="a", ca_certificate="b", keystore="c")
    cluster = replace(cluster, topology_key=ZONE_KEY, is_zone_aware=True)
    yield from settings_manifests(cluster)
    yield from (
        discovery_service(cluster),
        client_service(cluster),
        dashboards_service(cluster),
        dashboards_deployment(cluster, "3.4.0"),
    )
    yield from (stateful_set(cluster, pool, "3.4.0", None) for pool in spec.pools)
    yield from disruption_budgets(cluster, spec.pools)


def pod_template(container: str) -> Object:
    """With quantities, empty values and nulls that an API server does not keep as they are."""
    toleration = {"key": "dedicated", "operator": "Exists", "effect": "NoSchedule"}
    spread = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    own = {
        "name": container,
        "resources": {"limits": {"cpu": "1500m", "memory": "2048Mi"}, "requests": {"cpu": 0.5}},
        "env": [{"name": "LANG", "value": ""}, {"name": "POD", "valueFrom": HOST_IP}],
        "volumeMounts": [{"name": "words", "mountPath": "/words", "readOnly": False}],
        "livenessProbe": {"httpGet": {"path": "/", "port": 9200}, "initialDelaySeconds": 0},
        "securityContext": {"readOnlyRootFilesystem": False},
    }
    return {
        "metadata": {"labels": {"team": "search"}, "annotations": {"note": "mine"}},
        "spec": {
            "affinity": {"nodeAffinity": {}},
            "automountServiceAccountToken": False,
            "containers": [own, {"name": "shipper", "image": "shipper:1", "args": []}],
            "dnsConfig": {"options": [{"name": "ndots", "value": "2"}]},
            "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["old"]}],
            "imagePullSecrets": [{"name": "registry"}],
            "initContainers": [{"name": "first", "image": "busybox", "restartPolicy": "Always"}],
            "nodeSelector": {"disk": "ssd"},
            "priorityClassName": "",
            "securityContext": {"fsGroup": 2000, "supplementalGroups": []},
            "serviceAccountName": "search",
            "terminationGracePeriodSeconds": 300,
            "tolerations": [toleration],
            "topologySpreadConstraints": [spread],
            "volumes": [{"name": "words", "emptyDir": {}}, {"name": "none", "configMap": None}],
        },
    }


def list_revisions(sandbox: OperatorSandbox) -> dict[str, Object]:
    """Return the ControllerRevisions by name."""
    found = sandbox.api.items(f"/apis/apps/v1/namespaces/{sandbox.namespace}/controllerrevisions")
    return {each["metadata"]["name"]: each for each in found}


def list_budgets(sandbox: OperatorSandbox) -> dict[str, int]:
    """Return the PodDisruptionBudgets with the number of evictions that they allow now."""
    found = sandbox.api.items(f"/apis/policy/v1/namespaces/{sandbox.namespace}/poddisruptionbudgets")
    return {
        each["metadata"]["name"]: (each.get("status") or {}).get("disruptionsAllowed", 0) for each in found
    }


def evict(sandbox: OperatorSandbox, pod: str) -> None:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
    sandbox.api.create(f"{sandbox.core}/pods/{pod}/eviction", eviction)


def has_configuration(sandbox: OperatorSandbox, version: int) -> bool:
    """Whether the cluster runs and has this configuration version."""
    return sandbox.get_status().get("currentVersion") == version and sandbox.is_running("2.19.4")


def test_quorum_survives_relabelling_and_evictions(sandbox: OperatorSandbox) -> None:
    sandbox.create_cluster(pools=[POOLS[0], *ZONES])
    with sandbox.run_operator("--release", "0.3.1"):
        wait_until("the cluster has configuration version 3", lambda: has_configuration(sandbox, 3), TIMEOUT)
    before = set(list_revisions(sandbox))
    with sandbox.run_operator("--release", "0.4.0"):
        wait_until("the cluster has configuration version 4", lambda: has_configuration(sandbox, 4), TIMEOUT)
        assert before
        assert not before & set(list_revisions(sandbox))
        assert all(each["metadata"].get("ownerReferences") for each in list_revisions(sandbox).values())
        wait_until(
            "both budgets allow one eviction",
            lambda: list_budgets(sandbox) == {"logs-data": 1, "logs.voters": 1},
            TIMEOUT,
        )
        # With a finalizer the evicted pod is not replaced before the second eviction.
        first = f"{sandbox.core}/pods/logs-zone-0-0"
        sandbox.api.patch(first, {"metadata": {"finalizers": ["everpath.dev/test"]}})
        evict(sandbox, "logs-zone-0-0")
        with pytest.raises(ApiError, match="disruption budget"):
            evict(sandbox, "logs-zone-1-0")
        sandbox.api.patch(first, {"metadata": {"finalizers": None}})
        sandbox.wait_until_running("2.19.4")


def test_edits_of_managed_fields_are_reverted_and_others_are_kept(sandbox: OperatorSandbox) -> None:
    sandbox.create_cluster()
    path = f"/apis/apps/v1/namespaces/{sandbox.namespace}/statefulsets/logs-data"
    with sandbox.run_operator():
        sandbox.wait_until_running("2.19.4")
        before = sandbox.api.get(path)["spec"]["template"]
        edited = deepcopy(before)
        [container] = edited["spec"]["containers"]
        container |= {"image": "docker.io/opensearchproject/opensearch:0.0.1", "env": container["env"][1:]}
        container["resources"] = {"limits": {"memory": "4Gi"}}
        sandbox.api.patch(path, {"spec": {"template": edited}})

        [container] = before["spec"]["containers"]
        container["resources"] = {"limits": {"memory": "4Gi"}}
        wait_until(
            "the edit is reverted", lambda: sandbox.api.get(path)["spec"]["template"] == before, TIMEOUT
        )
        sandbox.wait_until_running("2.19.4")
        pods, generation = sandbox.list_pods(), sandbox.api.get(path)["metadata"]["generation"]
        renewed = sandbox.get_lease()["renewTime"]
        # There are several reconciles between two renewals.
        wait_until("the Lease is renewed", lambda: sandbox.get_lease()["renewTime"] != renewed)
        assert sandbox.list_pods() == pods
        assert sandbox.api.get(path)["metadata"]["generation"] == generation


def test_pods_have_the_zone_that_kubernetes_copies_from_their_node(sandbox: OperatorSandbox) -> None:
    """Kubernetes does not copy other labels: that is reported, and the cluster is ready."""

    def zones(key: str) -> set[str | None]:
        return {each["metadata"]["labels"].get(key) for each in sandbox.list_pods()}

    def reasons() -> tuple[str, str]:
        found = {each["type"]: each["reason"] for each in conditions(sandbox.get_cluster())}
        return found["Ready"], found["Degraded"]

    sandbox.create_cluster(topologyKey=ZONE_KEY)
    with sandbox.run_operator():
        sandbox.wait_until_running("2.19.4")
        assert zones(ZONE_KEY) == {"node-agent-a"}
        wait_until("the cluster is ready", lambda: reasons() == ("ClusterReady", "AsExpected"), TIMEOUT)
        sandbox.edit_spec(topologyKey="example.com/rack")
        wait_until("every pod has the other label", lambda: zones("example.com/rack") == {"unknown"}, TIMEOUT)
        wait_until("it is reported", lambda: reasons() == ("ClusterReady", "ZoneUnknown"), TIMEOUT)
        sandbox.wait_until_running("2.19.4")


@pytest.fixture
def storage_class(sandbox: OperatorSandbox) -> Iterator[str]:
    """A StorageClass that allows volume expansion. Its volumes are created by the test."""
    name, path = f"{sandbox.namespace}-class", "/apis/storage.k8s.io/v1/storageclasses"
    manifest = {"metadata": {"name": name}, "provisioner": "test.everpath.dev", "allowVolumeExpansion": True}
    sandbox.api.create(path, manifest)
    yield name
    sandbox.api.delete(f"{path}/{name}")


def bind_volumes(sandbox: OperatorSandbox, storage_class: str, size: str) -> None:
    """Create a volume for each claim, and wait until the claims are bound."""
    for claim in sandbox.api.items(f"{sandbox.core}/persistentvolumeclaims"):
        name = claim["metadata"]["name"]
        spec = {
            "capacity": {"storage": size},
            "accessModes": ["ReadWriteOnce"],
            **({"storageClassName": storage_class} if storage_class else {}),
            "claimRef": {"namespace": sandbox.namespace, "name": name},
            "persistentVolumeReclaimPolicy": "Retain",
            "csi": {"driver": "test.everpath.dev", "volumeHandle": name},
        }
        manifest = {"metadata": {"name": f"{sandbox.namespace}-{name}"}, "spec": spec}
        sandbox.api.create("/api/v1/persistentvolumes", manifest)
    wait_until(
        "every claim is bound", lambda: set(claim_sizes(sandbox, "status").values()) == {size}, TIMEOUT
    )


def claim_sizes(sandbox: OperatorSandbox, part: str) -> dict[str, str | None]:
    """Return the requests (`spec`) or the capacities (`status`) of the claims, by name."""
    found = sandbox.api.items(f"{sandbox.core}/persistentvolumeclaims")
    return {
        each["metadata"]["name"]: each["spec"]["resources"]["requests"]["storage"]
        if part == "spec"
        else (each["status"].get("capacity") or {}).get("storage")
        for each in found
    }


def test_volumes_grow_and_no_pod_restarts(sandbox: OperatorSandbox, storage_class: str) -> None:
    """The test takes the part of the driver, which enlarges a volume after its claim was patched."""
    pools = [{**each, "storage": {"size": "1Gi", "storageClass": storage_class}} for each in POOLS]
    larger = [{**each, "storage": {"size": "2Gi", "storageClass": storage_class}} for each in POOLS]
    sandbox.create_cluster(pools=pools)
    stateful_sets = f"/apis/apps/v1/namespaces/{sandbox.namespace}/statefulsets"
    with sandbox.run_operator():
        sandbox.wait_until_running("2.19.4")
        bind_volumes(sandbox, storage_class, "1Gi")
        uids = {each["metadata"]["uid"] for each in sandbox.list_pods()}
        before = {each["metadata"]["uid"] for each in sandbox.api.items(stateful_sets)}
        sandbox.edit_spec(pools=larger)
        wait_until(
            "every claim requests 2Gi", lambda: set(claim_sizes(sandbox, "spec").values()) == {"2Gi"}, TIMEOUT
        )
        assert {each["metadata"]["uid"] for each in sandbox.api.items(stateful_sets)} == before
        for name in claim_sizes(sandbox, "spec"):
            status = {"status": {"capacity": {"storage": "2Gi"}}}
            sandbox.api.patch(f"{sandbox.core}/persistentvolumeclaims/{name}/status", status)
        wait_until(
            "every StatefulSet has larger volumes", lambda: template_sizes(sandbox) == ["2Gi", "2Gi"], TIMEOUT
        )
        sandbox.wait_until_running("2.19.4")
        assert {each["metadata"]["uid"] for each in sandbox.list_pods()} == uids
        revisions = list_revisions(sandbox).values()
        assert len(revisions) == len(pools)
        assert all(each["metadata"].get("ownerReferences") for each in revisions)


def template_sizes(sandbox: OperatorSandbox) -> list[str]:
    """Return the size of the volumes of new pods for each StatefulSet that is not being deleted."""
    found = sandbox.api.items(f"/apis/apps/v1/namespaces/{sandbox.namespace}/statefulsets")
    return [
        each["spec"]["volumeClaimTemplates"][0]["spec"]["resources"]["requests"]["storage"]
        for each in found
        if "deletionTimestamp" not in each["metadata"]
    ]


def test_refused_expansion_is_reported(sandbox: OperatorSandbox) -> None:
    """A claim without a StorageClass cannot grow."""
    pools = [{**each, "storage": {"size": "1Gi"}} for each in POOLS]
    sandbox.create_cluster(pools=pools)
    with sandbox.run_operator():
        sandbox.wait_until_running("2.19.4")
        bind_volumes(sandbox, "", "1Gi")
        sandbox.edit_spec(pools=[{**each, "storage": {"size": "2Gi"}} for each in POOLS])
        wait_until("the refusal is reported", lambda: "forbidden" in resize_message(sandbox), TIMEOUT)
    assert set(claim_sizes(sandbox, "spec").values()) == {"1Gi"}


def resize_message(sandbox: OperatorSandbox) -> str:
    found = {each["type"]: each for each in conditions(sandbox.get_cluster())}
    return str(found["PoolsResized"]["message"])
