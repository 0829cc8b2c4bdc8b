"""Least privilege: the roles grant exactly the requests that the operator sends.

The test runs the operator on the fake API server and records its requests. The table below lists them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.kubernetes.rest_mapping import resource_kind
from searchkeeper.manager.kubernetes_client import KubernetesClient
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.manager.watches import WATCHED
from searchkeeper.operator_condition import OPERATOR_CONDITION
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import newest, release
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.managers import serve_api
from tests.support.searchkeeper.operator_manifests import rbac
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    CountingPorts,
    add_index,
    edit_spec,
    new_cluster,
    node_versions,
    pool,
    reconcile_until,
)

Verbs = dict[str, set[str]]

# The verbs that the operator uses on each group and resource.
USED: Mapping[str, str] = {
    "search.everpath.dev/searchclusters": "get list patch watch",
    "search.everpath.dev/searchclusters/status": "patch",
    "search.everpath.dev/searchpools": "create delete get list patch watch",
    "search.everpath.dev/searchpools/status": "patch",
    "apps/statefulsets": "create delete get list patch watch",
    "apps/controllerrevisions": "delete list",
    "apps/deployments": "create delete get list patch",
    "/services": "create delete get list patch",
    "/configmaps": "create get list patch",
    "/secrets": "create delete get patch",
    "/pods": "delete list patch watch",
    "/persistentvolumeclaims": "delete list patch",
    "/events": "create get patch",
    "policy/poddisruptionbudgets": "create delete get list patch",
    "coordination.k8s.io/leases": "create get patch",
    "operators.coreos.com/operatorconditions": "get patch",
}
# Not a request: the plugin OwnerReferencesPermissionEnforcement requires it for blockOwnerDeletion.
IMPLIED: Mapping[str, str] = {"search.everpath.dev/searchclusters/finalizers": "update"}
OWN_NAMESPACE = {"coordination.k8s.io/leases", "operators.coreos.com/operatorconditions"}


def resource(api: str, kind: str) -> str:
    return f"{api.rpartition('/')[0]}/{resource_kind(api, kind).plural}"


@dataclass
class RequestRecorder(CountingPorts):
    """Records the verbs that are used on each resource."""

    verbs: Verbs = field(default_factory=dict)

    def get(self, key: Key) -> Manifest | None:
        self.record_verb("get", key)
        return super().get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        self.record_verb("list", Key(api, kind, "", ""))
        return super().list(api, kind, namespace, labels)

    def create(self, manifest: Manifest) -> Manifest:
        self.record_verb("create", Key.of(manifest))
        return super().create(manifest)

    def patch(self, patch: Patch) -> Manifest:
        self.record_verb("patch", patch.key)
        return super().patch(patch)

    def patch_status(self, patch: Patch) -> Manifest:
        self.record_verb("patch", patch.key, "/status")
        return super().patch_status(patch)

    def delete(self, delete: Delete) -> None:
        self.record_verb("delete", delete.key)
        super().delete(delete)

    def record_verb(self, verb: str, key: Key, subresource: str = "") -> None:
        self.verbs.setdefault(resource(key.api, key.kind) + subresource, set()).add(verb)


CONDITION = Key(*OPERATOR_CONDITION, "operators", "searchkeeper.v0.5.0")


def reconcile_until_idle(cluster: FakeCluster, version: str, verbs: Verbs, *, ticks: int = 120) -> None:
    ports = RequestRecorder(cluster, verbs=verbs)
    idle = 0
    while idle < ticks:
        result = reconcile(
            ports, ports, CLUSTER, release(version), cluster.state.now, operator_condition=CONDITION
        )
        if result.converged:
            return
        idle = 0 if result.wrote else idle + 1
        if not result.wrote:
            cluster.tick()


def run_lifecycle(verbs: Verbs) -> None:
    """Run every release, an expansion, an upgrade, the removal of a pool and of Dashboards, the deletion."""
    managers, edge = pool("managers", 3, "cluster_manager"), pool("edge", 1, "ingest")
    data = [managers, pool("data", 3, "data")]
    cluster = new_cluster(
        *data, edge, dashboards={"enabled": True}, security={"credentialsSecret": "logs-admin"}
    )
    cluster.create(manifest("v1", "Secret", "search", "logs-admin", data={"password": "YQ=="}))
    cluster.create(manifest(*CONDITION[:2], CONDITION.namespace, CONDITION.name, spec={}))
    for version in ("0.1.0", "0.2.2", "0.3.1", newest().version):
        reconcile_until_idle(cluster, version, verbs)
    secret = Key("v1", "Secret", "search", "logs-admin")
    cluster.patch(Patch(secret, {"data": {"password": "Yg=="}}, ""))
    reconcile_until_idle(cluster, newest().version, verbs)
    data[1]["storage"] = {"size": "20Gi"}
    reconcile_until_idle(edit_spec(cluster, pools=[*data, edge]), newest().version, verbs)
    reconcile_until_idle(edit_spec(add_index(cluster), version="3.4.0"), newest().version, verbs)
    reconcile_until_idle(
        edit_spec(cluster, dashboards={"enabled": False}, pools=data), newest().version, verbs
    )
    resource = cluster.get(CLUSTER)
    assert resource is not None
    cluster.delete(Delete(CLUSTER, resource["metadata"]["uid"], ""))
    reconcile_until_idle(cluster, newest().version, verbs)
    assert cluster.get(CLUSTER) is None


def run_rollback(verbs: Verbs) -> None:
    """Roll an upgrade back, which deletes the volume of a node that ran the newer version."""
    cluster = new_cluster(pool("data", 3, "data"), pool("managers", 3, "cluster_manager"))
    reconcile_until_idle(cluster, newest().version, verbs)
    edit_spec(add_index(cluster), version="3.4.0")
    reconcile_until(cluster, lambda cluster: "3.4.0" in node_versions(cluster).values(), newest().version)
    reconcile_until_idle(edit_spec(cluster, version="2.19.4"), newest().version, verbs)


def manifest(api: str, kind: str, namespace: str, name: str, **parts: Any) -> Manifest:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **parts}


def run_leader_election(verbs: Verbs) -> None:
    ports = RequestRecorder(FakeCluster(), verbs=verbs)
    lease = LeaderLease(ports, LeaderLease.lease_key("operators"), "one")
    assert lease.acquire_or_renew()
    assert lease.acquire_or_renew()
    lease.confirm()
    lease.release()


def emit_events(verbs: Verbs) -> None:
    """Emit an event, then the same event again."""

    class RecordingClient(KubernetesClient):
        def _call(self, method: str, path: str, *others: Any, **more: Any) -> Any:
            kind = "/events" if "/events" in path else "search.everpath.dev/searchclusters"
            verb = {"get": "get", "post": "create", "patch": "patch"}[method]
            verbs.setdefault(kind, set()).add(verb)
            return super()._call(method, path, *others, **more)

    with serve_api(new_cluster()) as face:
        client = RecordingClient(face.kube._client.client)
        for _ in range(2):
            client.record(EmitEvent(CLUSTER, "Refused", "not that version"))
        client.close()


def watch_resources(verbs: Verbs) -> None:
    for api, kind in WATCHED:
        verbs.setdefault(resource(api, kind), set()).update(("list", "watch"))


@pytest.fixture(scope="module")
def used_verbs() -> Verbs:
    verbs: Verbs = {}
    for run in (run_lifecycle, run_rollback, run_leader_election, emit_events, watch_resources):
        run(verbs)
    return verbs


def rules_of(kind: str) -> Iterator[tuple[str, str]]:
    for document in rbac("default"):
        for rule in document.get("rules", ()) if document["kind"] == kind else ():
            for group in rule["apiGroups"]:
                for name in rule["resources"]:
                    yield from ((f"{group}/{name}", verb) for verb in rule["verbs"])


def pairs(table: Mapping[str, str]) -> set[tuple[str, str]]:
    return {(name, verb) for name, verbs in table.items() for verb in verbs.split()}


@pytest.mark.exhaustive
def test_operator_sends_exactly_the_requests_of_the_table(used_verbs: Verbs) -> None:
    assert {name: " ".join(sorted(verbs)) for name, verbs in used_verbs.items()} == USED


def test_roles_grant_exactly_the_table() -> None:
    rules = {*rules_of("ClusterRole"), *rules_of("Role")}
    assert rules == pairs(USED) | pairs(IMPLIED)


def test_role_of_the_own_namespace_has_leases_and_operator_conditions_only() -> None:
    assert {name for name, _ in rules_of("Role")} == OWN_NAMESPACE
    assert OWN_NAMESPACE.isdisjoint(name for name, _ in rules_of("ClusterRole"))


def test_roles_grant_no_list_of_secrets_and_no_pod_subresources() -> None:
    rules = {*rules_of("ClusterRole"), *rules_of("Role")}
    assert not {("/secrets", verb) for verb in ("list", "watch", "deletecollection")} & rules
    assert not [name for name, _ in rules if name.startswith("/pods/") or "*" in name]
    assert not [
        verb for _, verb in rules if verb in ("*", "escalate", "bind", "impersonate", "deletecollection")
    ]
