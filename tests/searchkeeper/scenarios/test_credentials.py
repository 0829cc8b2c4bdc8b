"""Credentials: a changed Secret restarts every node, and a missing one stalls the cluster."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict

import pytest

from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    condition,
    edit_spec,
    new_cluster,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import pod_templates, pods

SECRET = Key("v1", "Secret", "search", "admin")


def encoded_password(text: str) -> dict[str, str]:
    return {"password": base64.b64encode(text.encode()).decode()}


def with_credentials(version: str) -> FakeCluster:
    cluster = with_secret(new_cluster(security={"credentialsSecret": "admin"}), encoded_password("one"))
    reconcile_until_converged(cluster, version)
    return cluster


def with_secret(cluster: FakeCluster, data: dict[str, str]) -> FakeCluster:
    metadata = {"name": SECRET.name, "namespace": SECRET.namespace}
    cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
    return cluster


def stateful_sets(cluster: FakeCluster) -> list[Manifest]:
    return [each for key, each in cluster.state.cluster.objects.items() if key.kind == "StatefulSet"]


def uids(cluster: FakeCluster) -> dict[str, str]:
    return {name: each["metadata"]["uid"] for name, each in pods(cluster).items()}


def deployed_password(cluster: FakeCluster, name: str) -> str:
    secret = cluster.get(Key("v1", "Secret", "search", name))
    assert secret is not None
    return base64.b64decode(secret["data"]["password"]).decode()


@pytest.mark.parametrize("version", ["0.2.2", "0.3.1", "0.4.0", "0.5.0"])
def test_changed_secret_replaces_every_pod(version: str) -> None:
    cluster = with_credentials(version)
    before = uids(cluster)
    cluster.patch(Patch(SECRET, {"data": encoded_password("two")}, ""))
    reconcile_until_converged(cluster, version)
    assert deployed_password(cluster, "logs-credentials") == "two"
    assert not before.items() & uids(cluster).items()


def test_release_0_1_0_has_no_hash_and_replaces_no_pod() -> None:
    cluster = with_credentials("0.1.0")
    before = uids(cluster)
    cluster.patch(Patch(SECRET, {"data": encoded_password("two")}, ""))
    reconcile_until_converged(cluster, "0.1.0")
    assert deployed_password(cluster, "logs-config") == "two"
    assert uids(cluster) == before


@pytest.mark.parametrize("version", ["0.1.0", "0.4.0", "0.5.0"])
def test_missing_secret_keeps_deployed_credentials(version: str) -> None:
    cluster = with_credentials(version)
    before = uids(cluster)
    cluster.delete(Delete(SECRET, "", ""))
    reconcile_for_ticks(cluster, version=version, ticks=30)
    assert uids(cluster) == before
    assert deployed_password(cluster, "logs-config" if version == "0.1.0" else "logs-credentials") == "one"


@pytest.mark.exhaustive
def test_secret_changed_during_an_upgrade_is_applied_after_it() -> None:
    """I11: the upgrade replaces every pod with the credentials that it started with."""
    cluster = edit_spec(with_credentials("0.5.0"), version="3.4.0")
    reconcile_until(cluster, lambda cluster: status(cluster)["upgrade"].get("pool") == "managers")
    cluster.patch(Patch(SECRET, {"data": encoded_password("two")}, ""))
    for current in reconcile_steps(cluster):
        if status(current)["engineVersion"] != "3.4.0":
            assert deployed_password(current, "logs-credentials") == "one"
    assert deployed_password(cluster, "logs-credentials") == "two"


@pytest.mark.parametrize("version", ["0.1.0", "0.2.2", "0.3.1", "0.4.0", "0.5.0"])
@pytest.mark.parametrize("name", ["logs-config", "logs-credentials"])
def test_secret_of_a_user_with_a_managed_name_is_left_unchanged(version: str, name: str) -> None:
    """The operator does not adopt a Secret that existed before."""
    cluster = new_cluster(security={"credentialsSecret": name})
    key = Key("v1", "Secret", "search", name)
    metadata = {"name": name, "namespace": "search"}
    created = cluster.create(
        {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded_password("one")}
    )
    reconcile_for_ticks(cluster, version=version, ticks=20)
    assert cluster.get(key) == created
    assert condition(cluster, "ConfigurationApplied") == (
        f"False CredentialsMissing: stalled: Secret {name}, named by spec.security,"
        " is managed by the operator: use another name for yours"
    )
    assert not pods(cluster)


@pytest.mark.parametrize("version", ["0.1.0", "0.4.0", "0.5.0"])
def test_cluster_is_not_created_while_credentials_are_missing(version: str) -> None:
    cluster = new_cluster(security={"credentialsSecret": "admin"})
    reconcile_for_ticks(cluster, version=version, ticks=20)
    assert not pod_templates(cluster)
    assert status(cluster)["phase"] == "Stalled"
    assert condition(cluster, "ConfigurationApplied") == (
        "False CredentialsMissing: stalled: Secret admin, named by spec.security, does not exist: create it"
    )


def test_nodes_are_created_once_after_the_secret_is_added() -> None:
    cluster = reconcile_for_ticks(new_cluster(security={"credentialsSecret": "admin"}), ticks=20)
    with_secret(cluster, encoded_password("one"))
    reconcile_until_converged(cluster)
    assert deployed_password(cluster, "logs-credentials") == "one"
    assert {each["metadata"]["generation"] for each in stateful_sets(cluster)} == {1}


def test_missing_secret_is_reported_although_nodes_have_a_copy() -> None:
    cluster = with_credentials("0.5.0")
    cluster.delete(Delete(SECRET, "", ""))
    reconcile_for_ticks(cluster, ticks=10)
    assert condition(cluster, "ConfigurationApplied").startswith("False CredentialsMissing: stalled: ")


def test_secret_may_have_binary_entries() -> None:
    """A keystore, for example. Only the entries that nodes read are copied."""
    keystore = base64.b64encode(b"\xfe\xed\x00").decode()
    cluster = with_secret(
        new_cluster(security={"credentialsSecret": "admin"}), {**encoded_password("one"), "jks": keystore}
    )
    reconcile_until_converged(cluster)
    secret = cluster.get(Key("v1", "Secret", "search", "logs-credentials"))
    assert secret is not None
    assert secret["data"] == encoded_password("one")
    before = uids(cluster)
    cluster.patch(Patch(SECRET, {"data": {"jks": "AAAA"}}, ""))
    reconcile_until_converged(cluster)
    assert uids(cluster) == before


def test_no_node_is_created_with_incomplete_credentials() -> None:
    cluster = new_cluster(security={"credentialsSecret": "admin", "tlsSecret": "certificates"})
    metadata = {"name": "certificates", "namespace": "search"}
    data = dict.fromkeys(("tls.crt", "tls.key", "ca.crt"), "AAAA")
    cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
    reconcile_for_ticks(with_secret(cluster, encoded_password("one")), ticks=20)
    assert not pod_templates(cluster)
    assert condition(cluster, "ConfigurationApplied") == (
        "False CredentialsMissing: stalled: Secret admin, named by spec.security,"
        " has no text in username: add it"
    )
    cluster.patch(Patch(SECRET, {"data": {"username": "cm9vdA=="}}, ""))
    reconcile_until_converged(cluster)
    cluster.patch(Patch(SECRET, {"data": {"password": None}}, ""))
    reconcile_for_ticks(cluster, ticks=10)
    assert condition(cluster, "ConfigurationApplied").endswith("has no text in password: add it")
    assert deployed_password(cluster, "logs-credentials") == "one"


@pytest.mark.parametrize("version", ["0.1.0", "0.4.0", "0.5.0"])
def test_credentials_appear_only_in_secrets(version: str) -> None:
    """They are not in annotations, conditions, ledgers or events."""
    cluster = with_credentials(version)
    cluster.patch(Patch(SECRET, {"data": encoded_password("swordfish")}, ""))
    reconcile_until_converged(cluster, version)
    objects = cluster.state.cluster.objects.values()
    without_secrets = [{**each, "data": {}} if each["kind"] == "Secret" else each for each in objects]
    text = json.dumps([without_secrets, [asdict(each) for each in cluster.state.events]])
    assert "swordfish" not in text
    assert encoded_password("swordfish")["password"] not in text
