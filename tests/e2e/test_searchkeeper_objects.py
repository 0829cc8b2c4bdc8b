"""What the operator makes, in the hands of real controllers and of people: budgets, histories, hand edits."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from typing import Final

import pytest

from e2e.searchkeeper_stage import LONG, POOLS, Stage
from e2e.stand.api import Object, RefusedError
from e2e.stand.control_plane import ControlPlane
from e2e.stand.waiting import until
from searchkeeper.api.codec import decode_cluster_spec
from searchkeeper.api.validation import spec_errors
from searchkeeper.desired.apply import apply
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.desired.dashboards import dashboards_deployment, dashboards_service
from searchkeeper.desired.manifests import client_service, discovery_service, disruption_budgets, stateful_set
from searchkeeper.desired.settings import settings_manifests
from searchkeeper.kubernetes.operations import Create, Manifest
from searchkeeper.kubernetes.rest_mapping import resource_kind, resource_path

pytestmark = pytest.mark.e2e

SECURITY: Final = {
    "open": {},
    "certificates": {"tlsSecret": "tls"},
    "users": {"tlsSecret": "tls", "credentialsSecret": "admin"},
}
HOST_IP: Final = {"fieldRef": {"fieldPath": "status.hostIP"}}
ZONES: Final = [{"name": f"zone-{n}", "roles": ["cluster_manager"], "replicas": 1} for n in range(3)]


@pytest.mark.parametrize("security", SECURITY.values(), ids=SECURITY)
@pytest.mark.parametrize("version", [1, 2, 3, 4, 5])
def test_what_is_made_is_taken_as_it_is_asked_for(
    plane: ControlPlane, version: int, security: dict[str, str]
) -> None:
    """Whatever an API server fills in, or does not keep, is no reason to write again."""
    for wanted in made(version, security):
        write = apply(wanted, None)
        assert isinstance(write, Create)
        kind = resource_kind(wanted["apiVersion"], wanted["kind"])
        live = plane.api.create(f"{resource_path(kind, 'default')}?dryRun=All", dict(write.manifest))
        assert apply(wanted, live) is None, wanted["kind"]


def made(version: int, security: dict[str, str]) -> Iterator[Manifest]:
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
    this = DesiredCluster("logs", "default", "uid", spec, version, (("password", "Yg=="),))
    this = replace(this, certificates="a", ca_certificate="b", keystore="c")
    yield from settings_manifests(this)
    yield from (
        discovery_service(this),
        client_service(this),
        dashboards_service(this),
        dashboards_deployment(this, "3.4.0"),
    )
    yield from (stateful_set(this, pool, "3.4.0", None) for pool in spec.pools)
    yield from disruption_budgets(this, spec.pools)


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


def histories(stage: Stage) -> dict[str, Object]:
    found = stage.api.items(f"/apis/apps/v1/namespaces/{stage.namespace}/controllerrevisions")
    return {each["metadata"]["name"]: each for each in found}


def budgets(stage: Stage) -> dict[str, int]:
    """How many each lets go."""
    found = stage.api.items(f"/apis/policy/v1/namespaces/{stage.namespace}/poddisruptionbudgets")
    return {
        each["metadata"]["name"]: (each.get("status") or {}).get("disruptionsAllowed", 0) for each in found
    }


def evict(stage: Stage, pod: str) -> None:
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": pod}}
    stage.api.create(f"{stage.core}/pods/{pod}/eviction", eviction)


def is_at(stage: Stage, version: int) -> bool:
    return stage.status.get("currentVersion") == version and stage.runs("2.19.4")


def test_a_quorum_outlasts_new_labels_and_drains(stage: Stage) -> None:
    stage.ask_for(pools=[POOLS[0], *ZONES])
    with stage.operator("--release", "0.3.1"):
        until("the old labels are complete", lambda: is_at(stage, 3), LONG)
    before = set(histories(stage))
    with stage.operator():
        until("the new labels are complete", lambda: is_at(stage, 4), LONG)
        assert before
        assert not before & set(histories(stage))
        assert all(each["metadata"].get("ownerReferences") for each in histories(stage).values())
        until("all is counted", lambda: budgets(stage) == {"logs-data": 1, "logs.voters": 1}, LONG)
        evict(stage, "logs-zone-0-0")
        with pytest.raises(RefusedError, match="disruption budget"):
            evict(stage, "logs-zone-1-0")
        stage.until_it_runs("2.19.4")


def test_hand_edits_of_what_is_ours_are_taken_back(stage: Stage) -> None:
    stage.ask_for()
    where = f"/apis/apps/v1/namespaces/{stage.namespace}/statefulsets/logs-data"
    with stage.operator():
        stage.until_it_runs("2.19.4")
        before = stage.api.get(where)["spec"]["template"]
        edited = deepcopy(before)
        [container] = edited["spec"]["containers"]
        container |= {"image": "docker.io/opensearchproject/opensearch:0.0.1", "env": container["env"][1:]}
        container["resources"] = {"limits": {"memory": "4Gi"}}
        stage.api.merge(where, {"spec": {"template": edited}})

        [container] = before["spec"]["containers"]
        container["resources"] = {"limits": {"memory": "4Gi"}}
        until("it is as it was", lambda: stage.api.get(where)["spec"]["template"] == before, LONG)
        stage.until_it_runs("2.19.4")
        pods, settled = stage.pods(), stage.api.get(where)["metadata"]["generation"]
        moment = stage.lease["renewTime"]
        until("a few looks have passed", lambda: stage.lease["renewTime"] != moment)
        assert stage.pods() == pods
        assert stage.api.get(where)["metadata"]["generation"] == settled
