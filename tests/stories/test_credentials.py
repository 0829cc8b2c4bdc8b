"""Credentials: a changed Secret restarts every node, and a missing one stalls the cluster."""

from __future__ import annotations

import base64
import json
from dataclasses import asdict

import pytest

from operator_runs import (
    condition,
    edit_spec,
    new_cluster,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from operator_scenarios import pod_templates, pods
from searchkeeper.kubernetes.operations import Delete, Key, Manifest, Patch
from searchkeeper.testing.fake_cluster import FakeCluster

SECRET = Key("v1", "Secret", "search", "admin")


def encoded_password(text: str) -> dict[str, str]:
    return {"password": base64.b64encode(text.encode()).decode()}


def with_credentials(version: str) -> FakeCluster:
    world = with_secret(new_cluster(security={"credentialsSecret": "admin"}), encoded_password("one"))
    reconcile_until_converged(world, version)
    return world


def with_secret(world: FakeCluster, data: dict[str, str]) -> FakeCluster:
    metadata = {"name": SECRET.name, "namespace": SECRET.namespace}
    world.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
    return world


def stateful_sets(world: FakeCluster) -> list[Manifest]:
    return [each for key, each in world.state.cluster.objects.items() if key.kind == "StatefulSet"]


def uids(world: FakeCluster) -> dict[str, str]:
    return {name: each["metadata"]["uid"] for name, each in pods(world).items()}


def deployed_password(world: FakeCluster, name: str) -> str:
    secret = world.get(Key("v1", "Secret", "search", name))
    assert secret is not None
    return base64.b64decode(secret["data"]["password"]).decode()


@pytest.mark.parametrize("version", ["0.2.2", "0.3.1", "0.4.0", "0.5.0"])
def test_changed_secret_replaces_every_pod(version: str) -> None:
    world = with_credentials(version)
    before = uids(world)
    world.patch(Patch(SECRET, {"data": encoded_password("two")}, ""))
    reconcile_until_converged(world, version)
    assert deployed_password(world, "logs-credentials") == "two"
    assert not before.items() & uids(world).items()


def test_release_0_1_0_has_no_hash_and_replaces_no_pod() -> None:
    world = with_credentials("0.1.0")
    before = uids(world)
    world.patch(Patch(SECRET, {"data": encoded_password("two")}, ""))
    reconcile_until_converged(world, "0.1.0")
    assert deployed_password(world, "logs-config") == "two"
    assert uids(world) == before


@pytest.mark.parametrize("version", ["0.1.0", "0.4.0", "0.5.0"])
def test_missing_secret_keeps_deployed_credentials(version: str) -> None:
    world = with_credentials(version)
    before = uids(world)
    world.delete(Delete(SECRET, "", ""))
    reconcile_for_ticks(world, version=version, ticks=30)
    assert uids(world) == before
    assert deployed_password(world, "logs-config" if version == "0.1.0" else "logs-credentials") == "one"


def test_secret_changed_during_an_upgrade_is_applied_after_it() -> None:
    """I11: the upgrade replaces every pod with the credentials that it started with."""
    world = edit_spec(with_credentials("0.5.0"), version="3.4.0")
    reconcile_until(world, lambda world: status(world)["upgrade"].get("pool") == "managers")
    world.patch(Patch(SECRET, {"data": encoded_password("two")}, ""))
    for current in reconcile_steps(world):
        if status(current)["engineVersion"] != "3.4.0":
            assert deployed_password(current, "logs-credentials") == "one"
    assert deployed_password(world, "logs-credentials") == "two"


@pytest.mark.parametrize("version", ["0.1.0", "0.2.2", "0.3.1", "0.4.0", "0.5.0"])
@pytest.mark.parametrize("name", ["logs-config", "logs-credentials"])
def test_secret_of_a_user_with_a_managed_name_is_left_unchanged(version: str, name: str) -> None:
    """The operator does not adopt a Secret that existed before."""
    world = new_cluster(security={"credentialsSecret": name})
    key = Key("v1", "Secret", "search", name)
    metadata = {"name": name, "namespace": "search"}
    created = world.create(
        {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded_password("one")}
    )
    reconcile_for_ticks(world, version=version, ticks=20)
    assert world.get(key) == created
    assert condition(world, "ConfigurationApplied") == (
        f"False CredentialsMissing: stalled: Secret {name}, named by spec.security,"
        " is managed by the operator: use another name for yours"
    )
    assert not pods(world)


@pytest.mark.parametrize("version", ["0.1.0", "0.4.0", "0.5.0"])
def test_cluster_is_not_created_while_credentials_are_missing(version: str) -> None:
    world = new_cluster(security={"credentialsSecret": "admin"})
    reconcile_for_ticks(world, version=version, ticks=20)
    assert not pod_templates(world)
    assert status(world)["phase"] == "Stalled"
    assert condition(world, "ConfigurationApplied") == (
        "False CredentialsMissing: stalled: Secret admin, named by spec.security, does not exist: create it"
    )


def test_nodes_are_created_once_after_the_secret_is_added() -> None:
    world = reconcile_for_ticks(new_cluster(security={"credentialsSecret": "admin"}), ticks=20)
    with_secret(world, encoded_password("one"))
    reconcile_until_converged(world, "0.5.0")
    assert deployed_password(world, "logs-credentials") == "one"
    assert {each["metadata"]["generation"] for each in stateful_sets(world)} == {1}


def test_missing_secret_is_reported_although_nodes_have_a_copy() -> None:
    world = with_credentials("0.5.0")
    world.delete(Delete(SECRET, "", ""))
    reconcile_for_ticks(world, ticks=10)
    assert condition(world, "ConfigurationApplied").startswith("False CredentialsMissing: stalled: ")


def test_secret_may_have_binary_entries() -> None:
    """A keystore, for example. Only the entries that nodes read are copied."""
    keystore = base64.b64encode(b"\xfe\xed\x00").decode()
    world = with_secret(
        new_cluster(security={"credentialsSecret": "admin"}), {**encoded_password("one"), "jks": keystore}
    )
    reconcile_until_converged(world, "0.5.0")
    secret = world.get(Key("v1", "Secret", "search", "logs-credentials"))
    assert secret is not None
    assert secret["data"] == encoded_password("one")
    before = uids(world)
    world.patch(Patch(SECRET, {"data": {"jks": "AAAA"}}, ""))
    reconcile_until_converged(world, "0.5.0")
    assert uids(world) == before


def test_no_node_is_created_with_incomplete_credentials() -> None:
    world = new_cluster(security={"credentialsSecret": "admin", "tlsSecret": "certificates"})
    reconcile_for_ticks(with_secret(world, encoded_password("one")), ticks=20)
    assert not pod_templates(world)
    assert condition(world, "ConfigurationApplied") == (
        "False CredentialsMissing: stalled: Secret admin, named by spec.security,"
        " has no text in username: add it"
    )
    world.patch(Patch(SECRET, {"data": {"username": "cm9vdA=="}}, ""))
    reconcile_until_converged(world, "0.5.0")
    world.patch(Patch(SECRET, {"data": {"password": None}}, ""))
    reconcile_for_ticks(world, ticks=10)
    assert condition(world, "ConfigurationApplied").endswith("has no text in password: add it")
    assert deployed_password(world, "logs-credentials") == "one"


@pytest.mark.parametrize("version", ["0.1.0", "0.4.0", "0.5.0"])
def test_credentials_appear_only_in_secrets(version: str) -> None:
    """They are not in annotations, conditions, ledgers or events."""
    world = with_credentials(version)
    world.patch(Patch(SECRET, {"data": encoded_password("swordfish")}, ""))
    reconcile_until_converged(world, version)
    objects = world.state.cluster.objects.values()
    without_secrets = [{**each, "data": {}} if each["kind"] == "Secret" else each for each in objects]
    text = json.dumps([without_secrets, [asdict(each) for each in world.state.events]])
    assert "swordfish" not in text
    assert encoded_password("swordfish")["password"] not in text
