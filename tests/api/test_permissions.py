"""Least privilege: what the operator asks an API server for is granted, and nothing else is.

It is run through its life in memory, with an ear at the port; the table below is what was heard.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
import yaml

from commandline import ROOT
from managers import serve_api
from operators_at_work import CLUSTER, Ports, asked_for, edited, pool, running, with_index, worked_until
from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch
from searchkeeper.kubernetes.rest_mapping import resource_kind
from searchkeeper.manager.kubernetes_client import KubernetesClient
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.manager.watches import WATCHED
from searchkeeper.operator_condition import OPERATOR_CONDITION
from searchkeeper.reconcile import reconcile
from searchkeeper.releases import newest, release
from searchkeeper.testing.fake_cluster import FakeCluster

Verbs = dict[str, set[str]]

# Group and resource, with everything that is done to it.
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
    "/persistentvolumeclaims": "delete list",
    "/events": "create get patch",
    "policy/poddisruptionbudgets": "create delete get list patch",
    "coordination.k8s.io/leases": "create get patch",
    "operators.coreos.com/operatorconditions": "get patch",
}
# Nobody asks for it: an API server that guards owners looks whether children may hold theirs back.
IMPLIED: Mapping[str, str] = {"search.everpath.dev/searchclusters/finalizers": "update"}
OWN_NAMESPACE = {"coordination.k8s.io/leases", "operators.coreos.com/operatorconditions"}


def resource(api: str, kind: str) -> str:
    return f"{api.rpartition('/')[0]}/{resource_kind(api, kind).plural}"


@dataclass
class Ear(Ports):
    """Hears which verbs are used on what."""

    heard: Verbs = field(default_factory=dict)

    def get(self, key: Key) -> Manifest | None:
        self.note("get", key)
        return super().get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        self.note("list", Key(api, kind, "", ""))
        return super().list(api, kind, namespace, labels)

    def create(self, manifest: Manifest) -> Manifest:
        self.note("create", Key.of(manifest))
        return super().create(manifest)

    def patch(self, patch: Patch) -> Manifest:
        self.note("patch", patch.key)
        return super().patch(patch)

    def patch_status(self, patch: Patch) -> Manifest:
        self.note("patch", patch.key, "/status")
        return super().patch_status(patch)

    def delete(self, delete: Delete) -> None:
        self.note("delete", delete.key)
        super().delete(delete)

    def note(self, verb: str, key: Key, subresource: str = "") -> None:
        self.heard.setdefault(resource(key.api, key.kind) + subresource, set()).add(verb)


CONDITION = Key(*OPERATOR_CONDITION, "operators", "searchkeeper.v0.4.0")


def at_work(world: FakeCluster, version: str, heard: Verbs, *, ticks: int = 120) -> None:
    ears = Ear(world, heard=heard)
    idle = 0
    while idle < ticks:
        done = reconcile(ears, ears, CLUSTER, release(version), world.state.now, operator_condition=CONDITION)
        if done.converged:
            return
        idle = 0 if done.wrote else idle + 1
        if not done.wrote:
            world.tick()


def life(heard: Verbs) -> None:
    """From the first release to the last, through an upgrade, with a pool and Dashboards that come and go."""
    managers, edge = pool("managers", 3, "cluster_manager"), pool("edge", 1, "ingest")
    data = [managers, pool("data", 3, "data")]
    world = asked_for(*data, edge, dashboards={"enabled": True}, security={"credentialsSecret": "logs-admin"})
    world.create(manifest("v1", "Secret", "search", "logs-admin", data={"password": "YQ=="}))
    world.create(manifest(*CONDITION[:2], CONDITION.namespace, CONDITION.name, spec={}))
    for version in ("0.1.0", "0.2.2", "0.3.1", newest().version):
        at_work(world, version, heard)
    secret = Key("v1", "Secret", "search", "logs-admin")
    world.patch(Patch(secret, {"data": {"password": "Yg=="}}, ""))
    at_work(world, newest().version, heard)
    at_work(edited(with_index(world), version="3.4.0"), newest().version, heard)
    at_work(edited(world, dashboards={"enabled": False}, pools=data), newest().version, heard)
    found = world.get(CLUSTER)
    assert found is not None
    world.delete(Delete(CLUSTER, found["metadata"]["uid"], ""))
    at_work(world, newest().version, heard)
    assert world.get(CLUSTER) is None


def abandoned_upgrade(heard: Verbs) -> None:
    """A node that ran the newer version comes back with an empty volume."""
    world = asked_for(pool("data", 3, "data"), pool("managers", 3, "cluster_manager"))
    at_work(world, newest().version, heard)
    edited(with_index(world), version="3.4.0")
    worked_until(world, newest().version, lambda world: "3.4.0" in running(world).values())
    at_work(edited(world, version="2.19.4"), newest().version, heard)


def manifest(api: str, kind: str, namespace: str, name: str, **parts: Any) -> Manifest:
    return {"apiVersion": api, "kind": kind, "metadata": {"name": name, "namespace": namespace}, **parts}


def leading(heard: Verbs) -> None:
    ears = Ear(FakeCluster(), heard=heard)
    lease = LeaderLease(ears, LeaderLease.lease_key("operators"), "one")
    assert lease.acquire_or_renew()
    assert lease.acquire_or_renew()
    lease.confirm()
    lease.release()


def telling(heard: Verbs) -> None:
    """What the client makes of an event, and of the same one again."""

    class Overheard(KubernetesClient):
        def _call(self, method: str, path: str, *others: Any, **more: Any) -> Any:
            kind = "/events" if "/events" in path else "search.everpath.dev/searchclusters"
            verb = {"get": "get", "post": "create", "patch": "patch"}[method]
            heard.setdefault(kind, set()).add(verb)
            return super()._call(method, path, *others, **more)

    with serve_api(asked_for()) as face:
        client = Overheard(face.kube._client.client)
        for _ in range(2):
            client.record(EmitEvent(CLUSTER, "Refused", "not that version"))
        client.close()


def watching(heard: Verbs) -> None:
    for api, kind in WATCHED:
        heard.setdefault(resource(api, kind), set()).update(("list", "watch"))


@pytest.fixture(scope="module")
def heard() -> Verbs:
    verbs: Verbs = {}
    for part in (life, abandoned_upgrade, leading, telling, watching):
        part(verbs)
    return verbs


def granted(kind: str) -> Iterator[tuple[str, str]]:
    documents = yaml.safe_load_all((ROOT / "operator/config/rbac/roles.yaml").read_text(encoding="utf-8"))
    for document in documents:
        for rule in document.get("rules", ()) if document["kind"] == kind else ():
            for group in rule["apiGroups"]:
                for name in rule["resources"]:
                    yield from ((f"{group}/{name}", verb) for verb in rule["verbs"])


def pairs(table: Mapping[str, str]) -> set[tuple[str, str]]:
    return {(name, verb) for name, verbs in table.items() for verb in verbs.split()}


def test_what_the_operator_does_is_what_the_table_says(heard: Verbs) -> None:
    assert {name: " ".join(sorted(verbs)) for name, verbs in heard.items()} == USED


def test_the_roles_grant_the_table_and_nothing_else() -> None:
    given = {*granted("ClusterRole"), *granted("Role")}
    assert given == pairs(USED) | pairs(IMPLIED)


def test_what_is_only_needed_at_home_is_only_granted_there() -> None:
    assert {name for name, _ in granted("Role")} == OWN_NAMESPACE
    assert OWN_NAMESPACE.isdisjoint(name for name, _ in granted("ClusterRole"))


def test_nobody_may_list_secrets_or_reach_into_pods() -> None:
    given = {*granted("ClusterRole"), *granted("Role")}
    assert not {("/secrets", verb) for verb in ("list", "watch", "deletecollection")} & given
    assert not [name for name, _ in given if name.startswith("/pods/") or "*" in name]
    assert not [
        verb for _, verb in given if verb in ("*", "escalate", "bind", "impersonate", "deletecollection")
    ]
