"""Secrets that pods mount: a renewed one restarts every node, a missing one restarts none and is reported."""

from __future__ import annotations

import json

import pytest

from operators_at_work import CLUSTER, Ports, asked_for, condition, edited, pool, settled, status
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.observe import observe
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from tales import NEWEST, at_work, pods, unfolding, until

SECRET = Key("v1", "Secret", "search", "tls")
FIRST = {"tls.crt": "b25l", "tls.key": "a2V5", "ca.crt": "Y2E="}
RENEWED = {"tls.crt": "dHdv", "tls.key": "bmV3"}


def with_certificates(version: str = NEWEST) -> FakeCluster:
    world = asked_for(security={"tlsSecret": "tls"}, dashboards={"enabled": True})
    add_secret(world, FIRST)
    settled(world, version)
    return world


def add_secret(world: FakeCluster, data: dict[str, str], key: Key = SECRET) -> None:
    metadata = {"name": key.name, "namespace": key.namespace}
    world.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})


def uids(world: FakeCluster) -> dict[str, str]:
    return {name: each["metadata"]["uid"] for name, each in pods(world).items()}


def dashboards_template(world: FakeCluster) -> object:
    deployment = world.get(Key("apps/v1", "Deployment", "search", "logs-dashboards"))
    assert deployment is not None
    return deployment["spec"]["template"]


@pytest.mark.parametrize(("version", "is_rolled"), [("0.4.0", False), (NEWEST, True)])
def test_renewed_certificate_replaces_every_pod(version: str, is_rolled: bool) -> None:
    world = with_certificates(version)
    before, dashboards = uids(world), dashboards_template(world)
    world.patch(Patch(SECRET, {"data": RENEWED}, ""))
    settled(world, version)
    assert bool(before.items() & uids(world).items()) != is_rolled
    assert before.keys() == uids(world).keys()
    assert dashboards_template(world) == dashboards


def test_changed_ca_certificate_rolls_dashboards_too() -> None:
    world = with_certificates()
    dashboards = dashboards_template(world)
    world.patch(Patch(SECRET, {"data": {"ca.crt": "bmV3"}}, ""))
    settled(world, NEWEST)
    assert dashboards_template(world) != dashboards


def test_missing_secret_replaces_no_pod() -> None:
    """A new pod could not mount it."""
    world = with_certificates()
    before, dashboards = uids(world), dashboards_template(world)
    world.delete(Delete(SECRET, "", ""))
    at_work(world, ticks=30)
    assert uids(world) == before
    assert dashboards_template(world) == dashboards


def test_certificate_renewed_during_an_upgrade_replaces_pods_after_it() -> None:
    """I11: the upgrade replaces every pod once already."""
    world = edited(with_certificates(), version="3.4.0")
    until(lambda world: status(world)["upgrade"].get("pool") == "managers", world)
    before = templates_with_digest(world)
    world.patch(Patch(SECRET, {"data": RENEWED}, ""))
    for current in unfolding(world):
        if status(current)["engineVersion"] != "3.4.0":
            assert templates_with_digest(current) == before
    assert templates_with_digest(world) != before


def templates_with_digest(world: FakeCluster) -> set[str]:
    stateful_sets = (each for key, each in world.state.cluster.objects.items() if key.kind == "StatefulSet")
    annotations = (each["spec"]["template"]["metadata"]["annotations"] for each in stateful_sets)
    return {each["search.everpath.dev/certificates"] for each in annotations}


def test_snapshot_has_no_private_key() -> None:
    world = with_certificates()
    ports = Ports(world)
    snapshot = observe(ports, ports, CLUSTER, release(NEWEST), world.state.now)
    assert snapshot is not None
    assert SECRET not in snapshot.objects
    assert FIRST["tls.key"] not in json.dumps([*snapshot.objects.values(), snapshot.secret_digests])
    assert snapshot.secret_digests["tls"].keys() == FIRST.keys()


@pytest.mark.parametrize("is_missing", [False, True], ids=["changed", "missing"])
def test_changed_entry_of_the_keystore_replaces_every_pod(is_missing: bool) -> None:
    key = Key("v1", "Secret", "search", "secure")
    world = asked_for(keystoreSecret="secure")
    add_secret(world, {"a.b": "b25l"}, key)
    settled(world, NEWEST)
    before = uids(world)
    if is_missing:
        world.delete(Delete(key, "", ""))
        at_work(world, ticks=20)
        assert uids(world) == before
        return
    world.patch(Patch(key, {"data": {"a.b": "dHdv"}}, ""))
    settled(world, NEWEST)
    assert not before.items() & uids(world).items()


@pytest.mark.parametrize("version", ["2.19.5", "2.19.4"], ids=["upgrade", "settings"])
def test_no_pod_is_replaced_while_a_secret_is_missing(version: str) -> None:
    """The new pod could not mount it. The rollout goes on as soon as it is there again."""
    world = with_certificates()
    before = uids(world)
    world.delete(Delete(SECRET, "", ""))
    edited(world, version=version, config={"action.destructive_requires_name": True})
    at_work(world, ticks=90)
    missing = "Secret tls, named by spec.security.tlsSecret, does not exist: create it"
    assert uids(world) == before
    assert condition(world, "PodsCurrent").endswith(f"SecretMissing: {missing}")
    assert condition(world, "SecretsFound") == f"False SecretMissing: stalled: {missing}"
    assert condition(world, "Degraded").startswith("True SecretMissing: ")
    add_secret(world, FIRST)
    settled(world, NEWEST)
    assert not before.items() & uids(world).items()


def test_missing_entry_of_the_tls_secret_is_named() -> None:
    world = with_certificates()
    world.patch(Patch(SECRET, {"data": {"tls.key": None, "ca.crt": None}}, ""))
    at_work(world, ticks=1)
    message = "Secret tls, named by spec.security.tlsSecret, has no tls.key and no ca.crt: add it"
    assert condition(world, "SecretsFound") == f"False SecretMissing: {message}"


def test_surplus_node_is_removed_without_the_secret() -> None:
    world = with_certificates()
    world.delete(Delete(SECRET, "", ""))
    edited(world, pools=[pool("data", 1, "data"), pool("managers", 3, "cluster_manager")])
    at_work(world, ticks=30)
    assert sorted(pods(world)) == ["data-0", "managers-0", "managers-1", "managers-2"]


def test_missing_keystore_secret_is_reported() -> None:
    world = asked_for(keystoreSecret="secure")
    at_work(world, ticks=1)
    message = "Secret secure, named by spec.keystoreSecret, does not exist: create it"
    assert condition(world, "SecretsFound") == f"False SecretMissing: {message}"
