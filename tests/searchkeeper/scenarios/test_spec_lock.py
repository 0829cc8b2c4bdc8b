"""Spec lock: edits made with or during an upgrade are applied after it."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from searchkeeper.desired.deployed_spec import deployed_security
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    edit_spec,
    new_cluster,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    status,
)
from tests.support.searchkeeper.operator_scenarios import object_kinds, pod_versions, pods, stateful_set

NEW = "3.4.0"
TLS = {"tlsSecret": "a"}
TLS_AND_CREDENTIALS = {"tlsSecret": "a", "credentialsSecret": "admin"}


def with_security(**security: str) -> FakeCluster:
    cluster = new_cluster(security=security)
    certificates = ("tls.crt", "tls.key", "ca.crt")
    for name, entries in {"admin": ("username", "password"), "a": certificates, "b": certificates}.items():
        data = {entry: base64.b64encode(b"x").decode() for entry in entries}
        metadata = {"name": name, "namespace": "search"}
        cluster.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": data})
    reconcile_until_converged(cluster, "0.5.0")
    return cluster


def certificates(cluster: FakeCluster) -> set[str | None]:
    """Return the certificate Secrets that the pods mount."""
    secrets = [
        [each["secret"]["secretName"] for each in pod["spec"]["volumes"] if each["name"] == "certificates"]
        for pod in pods(cluster).values()
    ]
    return {each[0] if each else None for each in secrets}


def uses_credentials(cluster: FakeCluster) -> set[bool]:
    return {"initContainers" in pod["spec"] for pod in pods(cluster).values()}


def is_locked(cluster: FakeCluster) -> bool:
    return "upgrade/lock" in status(cluster)["ledger"]


@pytest.mark.parametrize("wanted", ["b", None])
def test_certificates_changed_with_an_upgrade_are_applied_after_it(
    wanted: str | None,
) -> None:
    """I11: nodes with certificates of two authorities cannot connect."""
    # Guard: spec lock of deployed security.
    cluster = edit_spec(with_security(**TLS), version=NEW, security={"tlsSecret": wanted})
    for current in reconcile_steps(cluster):
        if is_locked(current):
            assert certificates(current) == {"a"}
    assert set(pod_versions(cluster).values()) == {NEW}
    assert certificates(cluster) == {wanted}


def test_credentials_removed_with_an_upgrade_are_used_until_it_ends() -> None:
    cluster = edit_spec(
        with_security(**TLS_AND_CREDENTIALS), version=NEW, security={"credentialsSecret": None}
    )
    for current in reconcile_steps(cluster):
        if is_locked(current):
            assert uses_credentials(current) == {True}
    assert uses_credentials(cluster) == {False}


def test_credentials_added_with_an_upgrade_are_used_after_it() -> None:
    cluster = edit_spec(with_security(**TLS), version=NEW, security=TLS_AND_CREDENTIALS)
    for current in reconcile_steps(cluster):
        if is_locked(current):
            assert uses_credentials(current) == {False}
    assert uses_credentials(cluster) == {True}


@pytest.mark.parametrize("before", [True, False])
def test_dashboards_change_after_the_upgrade_of_the_same_edit(before: bool) -> None:
    cluster = new_cluster(dashboards={"enabled": before, "replicas": 1})
    reconcile_until_converged(cluster)
    edit_spec(cluster, version=NEW, dashboards={"enabled": not before})
    for current in reconcile_steps(cluster):
        if is_locked(current):
            assert ("Deployment" in object_kinds(current)) is before
    assert ("Deployment" in object_kinds(cluster)) is not before


def test_dashboards_edit_during_an_upgrade_is_applied_after_it() -> None:
    cluster = new_cluster(dashboards={"enabled": True, "replicas": 2})
    reconcile_until_converged(cluster)
    reconcile_until(edit_spec(cluster, version=NEW, dashboards={"replicas": 5}), is_locked)
    for current in reconcile_steps(cluster):
        deployment = current.get(Key("apps/v1", "Deployment", "search", "logs-dashboards"))
        assert deployment is not None
        if is_locked(current):
            assert deployment["spec"]["replicas"] == 2


def with_certificates(secret: str | None) -> Manifest:
    volumes: list[dict[str, Any]] = [{"name": "config"}]
    volumes += [] if secret is None else [{"name": "certificates", "secret": {"secretName": secret}}]
    return {"metadata": {}, "spec": {"template": {"spec": {"volumes": volumes}}}}


def test_deployed_security_prefers_the_requested_certificates() -> None:
    stateful_sets = [with_certificates("a"), with_certificates("b")]
    assert deployed_security(stateful_sets, [], {"tlsSecret": "b"}) == {"tlsSecret": "b"}


def test_deployed_security_ignores_hand_edits() -> None:
    cluster = with_security(**TLS)
    deployed = stateful_set(cluster, "data")
    assert deployed is not None
    edited_by_hand = {**deployed, "spec": with_certificates("mine")["spec"]}
    assert deployed_security([edited_by_hand], [], {}) == TLS
