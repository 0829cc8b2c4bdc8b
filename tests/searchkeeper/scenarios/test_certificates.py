"""Secrets that pods mount: a renewed one restarts every node, a missing one restarts none and is reported."""

from __future__ import annotations

import json

import pytest

from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.observe import observe
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    CountingPorts,
    condition,
    edit_spec,
    new_cluster,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import pod_versions, pods

SECRET = Key("v1", "Secret", "search", "tls")
FIRST = {"tls.crt": "b25l", "tls.key": "a2V5", "ca.crt": "Y2E="}
RENEWED = {"tls.crt": "dHdv", "tls.key": "bmV3"}


def with_certificates(version: str = NEWEST) -> FakeCluster:
    cluster = new_cluster(security={"tlsSecret": "tls"}, dashboards={"enabled": True})
    add_secret(cluster, FIRST)
    reconcile_until_converged(cluster, version)
    return cluster


def add_secret(cluster: FakeCluster, data: dict[str, str], key: Key = SECRET) -> None:
    metadata = {"name": key.name, "namespace": key.namespace}
    cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})


def uids(cluster: FakeCluster) -> dict[str, str]:
    return {name: each["metadata"]["uid"] for name, each in pods(cluster).items()}


def dashboards_template(cluster: FakeCluster) -> object:
    deployment = cluster.get(Key("apps/v1", "Deployment", "search", "logs-dashboards"))
    assert deployment is not None
    return deployment["spec"]["template"]


@pytest.mark.exhaustive
@pytest.mark.parametrize(("version", "is_rolled"), [("0.4.0", False), (NEWEST, True)])
def test_renewed_certificate_replaces_every_pod(version: str, is_rolled: bool) -> None:
    cluster = with_certificates(version)
    before, dashboards = uids(cluster), dashboards_template(cluster)
    cluster.patch(Patch(SECRET, {"data": RENEWED}, ""))
    reconcile_until_converged(cluster, version)
    assert bool(before.items() & uids(cluster).items()) != is_rolled
    assert before.keys() == uids(cluster).keys()
    assert dashboards_template(cluster) == dashboards


def test_changed_ca_certificate_rolls_dashboards_too() -> None:
    cluster = with_certificates()
    dashboards = dashboards_template(cluster)
    cluster.patch(Patch(SECRET, {"data": {"ca.crt": "bmV3"}}, ""))
    reconcile_until_converged(cluster)
    assert dashboards_template(cluster) != dashboards


def test_missing_secret_replaces_no_pod() -> None:
    """A new pod could not mount it."""
    cluster = with_certificates()
    before, dashboards = uids(cluster), dashboards_template(cluster)
    cluster.delete(Delete(SECRET, "", ""))
    reconcile_for_ticks(cluster, ticks=30)
    assert uids(cluster) == before
    assert dashboards_template(cluster) == dashboards


@pytest.mark.exhaustive
def test_certificate_renewed_during_an_upgrade_replaces_pods_after_it() -> None:
    """I11: the upgrade replaces every pod once already."""
    cluster = edit_spec(with_certificates(), version="3.4.0")
    reconcile_until(cluster, lambda cluster: status(cluster)["upgrade"].get("pool") == "managers")
    before = templates_with_digest(cluster)
    cluster.patch(Patch(SECRET, {"data": RENEWED}, ""))
    for current in reconcile_steps(cluster):
        if status(current)["engineVersion"] != "3.4.0":
            assert templates_with_digest(current) == before
    assert templates_with_digest(cluster) != before


def templates_with_digest(cluster: FakeCluster) -> set[str]:
    stateful_sets = (each for key, each in cluster.state.cluster.objects.items() if key.kind == "StatefulSet")
    annotations = (each["spec"]["template"]["metadata"]["annotations"] for each in stateful_sets)
    return {each["search.everpath.dev/certificates"] for each in annotations}


def test_snapshot_has_no_private_key() -> None:
    cluster = with_certificates()
    ports = CountingPorts(cluster)
    snapshot = observe(ports, ports, CLUSTER, release(NEWEST), cluster.state.now)
    assert snapshot is not None
    assert SECRET not in snapshot.objects
    assert FIRST["tls.key"] not in json.dumps([*snapshot.objects.values(), snapshot.secret_digests])
    assert snapshot.secret_digests["tls"].keys() == FIRST.keys()


@pytest.mark.parametrize("is_missing", [False, True], ids=["changed", "missing"])
def test_changed_entry_of_the_keystore_replaces_every_pod(is_missing: bool) -> None:
    key = Key("v1", "Secret", "search", "secure")
    cluster = new_cluster(keystoreSecret="secure")
    add_secret(cluster, {"a.b": "b25l"}, key)
    reconcile_until_converged(cluster)
    before = uids(cluster)
    if is_missing:
        cluster.delete(Delete(key, "", ""))
        reconcile_for_ticks(cluster, ticks=20)
        assert uids(cluster) == before
        return
    cluster.patch(Patch(key, {"data": {"a.b": "dHdv"}}, ""))
    reconcile_until_converged(cluster)
    assert not before.items() & uids(cluster).items()


@pytest.mark.exhaustive
@pytest.mark.parametrize("version", ["2.19.5", "2.19.4"], ids=["upgrade", "settings"])
def test_no_pod_is_replaced_while_a_secret_is_missing(version: str) -> None:
    """The new pod could not mount it. The rollout goes on as soon as it is there again."""
    cluster = with_certificates()
    before = uids(cluster)
    cluster.delete(Delete(SECRET, "", ""))
    edit_spec(cluster, version=version, config={"action.destructive_requires_name": True})
    reconcile_for_ticks(cluster, ticks=90)
    missing = "Secret tls, named by spec.security.tlsSecret, does not exist: create it"
    assert uids(cluster) == before
    assert condition(cluster, "PodsCurrent").endswith(f"SecretMissing: {missing}")
    assert condition(cluster, "SecretsFound") == f"False SecretMissing: stalled: {missing}"
    assert condition(cluster, "Degraded").startswith("True SecretMissing: ")
    add_secret(cluster, FIRST)
    reconcile_until_converged(cluster)
    assert not before.items() & uids(cluster).items()


@pytest.mark.exhaustive
def test_missing_secret_starts_no_rollback() -> None:
    """The pods of the older version mount the same Secret."""
    cluster = edit_spec(
        with_certificates(), version="3.4.0", upgrade={"rollback": "Automatic", "healthDeadlineSeconds": 60}
    )
    reconcile_until(cluster, lambda cluster: "3.4.0" in pod_versions(cluster).values())
    cluster.delete(Delete(SECRET, "", ""))
    reconcile_for_ticks(cluster, ticks=60)
    assert condition(cluster, "PodsCurrent").startswith("False SecretMissing: ")
    assert condition(cluster, "Progressing").startswith(
        "True UpgradeInProgress: upgrade 2.19.4 → 3.4.0; 1 of"
    )
    add_secret(cluster, FIRST)
    reconcile_until_converged(cluster)
    assert status(cluster)["engineVersion"] == "3.4.0"


def test_missing_secret_is_no_progress() -> None:
    cluster = with_certificates()
    cluster.delete(Delete(SECRET, "", ""))
    reconcile_for_ticks(cluster, ticks=1)
    assert condition(cluster, "Progressing").startswith("False ")


def test_missing_entry_of_the_tls_secret_is_named() -> None:
    cluster = with_certificates()
    cluster.patch(Patch(SECRET, {"data": {"tls.key": None, "ca.crt": None}}, ""))
    reconcile_for_ticks(cluster, ticks=1)
    message = "Secret tls, named by spec.security.tlsSecret, has no tls.key and no ca.crt: add it"
    assert condition(cluster, "SecretsFound") == f"False SecretMissing: {message}"


def test_surplus_node_is_removed_without_the_secret() -> None:
    cluster = with_certificates()
    cluster.delete(Delete(SECRET, "", ""))
    edit_spec(cluster, pools=[pool("data", 1, "data"), pool("managers", 3, "cluster_manager")])
    reconcile_for_ticks(cluster, ticks=30)
    assert sorted(pods(cluster)) == ["data-0", "managers-0", "managers-1", "managers-2"]


def test_missing_keystore_secret_is_reported() -> None:
    cluster = new_cluster(keystoreSecret="secure")
    reconcile_for_ticks(cluster, ticks=1)
    message = "Secret secure, named by spec.keystoreSecret, does not exist: create it"
    assert condition(cluster, "SecretsFound") == f"False SecretMissing: {message}"
