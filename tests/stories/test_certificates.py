"""The TLS Secret: a renewed certificate restarts every node, a missing Secret restarts none."""

from __future__ import annotations

import json

import pytest

from operator_runs import (
    CLUSTER,
    NEWEST,
    CountingPorts,
    edit_spec,
    new_cluster,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from operator_scenarios import pods
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.observe import observe
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster

SECRET = Key("v1", "Secret", "search", "tls")
FIRST = {"tls.crt": "b25l", "tls.key": "a2V5", "ca.crt": "Y2E="}
RENEWED = {"tls.crt": "dHdv", "tls.key": "bmV3"}


def with_certificates(version: str = NEWEST) -> FakeCluster:
    world = new_cluster(security={"tlsSecret": "tls"}, dashboards={"enabled": True})
    metadata = {"name": SECRET.name, "namespace": SECRET.namespace}
    world.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": FIRST})
    reconcile_until_converged(world, version)
    return world


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
    reconcile_until_converged(world, version)
    assert bool(before.items() & uids(world).items()) != is_rolled
    assert before.keys() == uids(world).keys()
    assert dashboards_template(world) == dashboards


def test_changed_ca_certificate_rolls_dashboards_too() -> None:
    world = with_certificates()
    dashboards = dashboards_template(world)
    world.patch(Patch(SECRET, {"data": {"ca.crt": "bmV3"}}, ""))
    reconcile_until_converged(world)
    assert dashboards_template(world) != dashboards


def test_missing_secret_replaces_no_pod() -> None:
    """A new pod could not mount it."""
    world = with_certificates()
    before, dashboards = uids(world), dashboards_template(world)
    world.delete(Delete(SECRET, "", ""))
    reconcile_for_ticks(world, ticks=30)
    assert uids(world) == before
    assert dashboards_template(world) == dashboards


def test_certificate_renewed_during_an_upgrade_replaces_pods_after_it() -> None:
    """I11: the upgrade replaces every pod once already."""
    world = edit_spec(with_certificates(), version="3.4.0")
    reconcile_until(world, lambda world: status(world)["upgrade"].get("pool") == "managers")
    before = templates_with_digest(world)
    world.patch(Patch(SECRET, {"data": RENEWED}, ""))
    for current in reconcile_steps(world):
        if status(current)["engineVersion"] != "3.4.0":
            assert templates_with_digest(current) == before
    assert templates_with_digest(world) != before


def templates_with_digest(world: FakeCluster) -> set[str]:
    stateful_sets = (each for key, each in world.state.cluster.objects.items() if key.kind == "StatefulSet")
    annotations = (each["spec"]["template"]["metadata"]["annotations"] for each in stateful_sets)
    return {each["search.everpath.dev/certificates"] for each in annotations}


def test_snapshot_has_no_private_key() -> None:
    world = with_certificates()
    ports = CountingPorts(world)
    snapshot = observe(ports, ports, CLUSTER, release(NEWEST), world.state.now)
    assert snapshot is not None
    assert SECRET not in snapshot.objects
    assert FIRST["tls.key"] not in json.dumps([*snapshot.objects.values(), snapshot.secret_digests])
    assert snapshot.secret_digests["tls"].keys() == FIRST.keys()


@pytest.mark.parametrize("is_missing", [False, True], ids=["changed", "missing"])
def test_changed_entry_of_the_keystore_replaces_every_pod(is_missing: bool) -> None:
    key = Key("v1", "Secret", "search", "secure")
    world = new_cluster(keystoreSecret="secure")
    metadata = {"name": key.name, "namespace": key.namespace}
    world.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": {"a.b": "b25l"}})
    reconcile_until_converged(world)
    before = uids(world)
    if is_missing:
        world.delete(Delete(key, "", ""))
        reconcile_for_ticks(world, ticks=20)
        assert uids(world) == before
        return
    world.patch(Patch(key, {"data": {"a.b": "dHdv"}}, ""))
    reconcile_until_converged(world)
    assert not before.items() & uids(world).items()
