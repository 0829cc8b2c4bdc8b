"""What is asked for together with an upgrade, or during one, comes after it: nodes are alike meanwhile."""

from __future__ import annotations

import base64
from typing import Any

import pytest

from operators_at_work import asked_for, edited, settled, status
from searchkeeper.desired.deployed_spec import deployed_security
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.testing.fake_cluster import FakeCluster
from tales import kinds, pods, stateful_set, unfolding, until, versions

NEW = "3.4.0"
TLS = {"tlsSecret": "a"}
USERS = {"tlsSecret": "a", "credentialsSecret": "admin"}


def secured(**security: str) -> FakeCluster:
    world = asked_for(security=security)
    entries = {name: base64.b64encode(b"x").decode() for name in ("username", "password")}
    metadata = {"name": "admin", "namespace": "search"}
    world.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": entries})
    settled(world, "0.4.0")
    return world


def certificates(world: FakeCluster) -> set[str | None]:
    """The Secret that each pod has its certificates from."""
    found = [
        [each["secret"]["secretName"] for each in pod["spec"]["volumes"] if each["name"] == "certificates"]
        for pod in pods(world).values()
    ]
    return {each[0] if each else None for each in found}


def asks_for_users(world: FakeCluster) -> set[bool]:
    return {"initContainers" in pod["spec"] for pod in pods(world).values()}


def is_locked(world: FakeCluster) -> bool:
    return "upgrade/lock" in status(world)["ledger"]


@pytest.mark.parametrize("wanted", ["b", None])
def test_certificates_changed_with_an_upgrade_are_applied_after_it(
    wanted: str | None,
) -> None:
    """I11: nodes of two authorities would not speak to each other."""
    # Guard: the lock has the security that stands.
    world = edited(secured(**TLS), version=NEW, security={"tlsSecret": wanted})
    for moment in unfolding(world):
        if is_locked(moment):
            assert certificates(moment) == {"a"}
    assert set(versions(world).values()) == {NEW}
    assert certificates(world) == {wanted}


def test_credentials_removed_with_an_upgrade_are_used_until_it_ends() -> None:
    world = edited(secured(**USERS), version=NEW, security={"credentialsSecret": None})
    for moment in unfolding(world):
        if is_locked(moment):
            assert asks_for_users(moment) == {True}
    assert asks_for_users(world) == {False}


def test_credentials_added_with_an_upgrade_are_used_after_it() -> None:
    world = edited(secured(**TLS), version=NEW, security=USERS)
    for moment in unfolding(world):
        if is_locked(moment):
            assert asks_for_users(moment) == {False}
    assert asks_for_users(world) == {True}


@pytest.mark.parametrize("before", [True, False])
def test_dashboards_change_after_the_upgrade_of_the_same_edit(before: bool) -> None:
    world = asked_for(dashboards={"enabled": before, "replicas": 1})
    settled(world, "0.4.0")
    edited(world, version=NEW, dashboards={"enabled": not before})
    for moment in unfolding(world):
        if is_locked(moment):
            assert ("Deployment" in kinds(moment)) is before
    assert ("Deployment" in kinds(world)) is not before


def test_dashboards_edit_during_an_upgrade_is_applied_after_it() -> None:
    world = asked_for(dashboards={"enabled": True, "replicas": 2})
    settled(world, "0.4.0")
    until(is_locked, edited(world, version=NEW, dashboards={"replicas": 5}))
    for moment in unfolding(world):
        found = moment.get(Key("apps/v1", "Deployment", "search", "logs-dashboards"))
        assert found is not None
        if is_locked(moment):
            assert found["spec"]["replicas"] == 2


def with_certificates(secret: str | None) -> Manifest:
    volumes: list[dict[str, Any]] = [{"name": "config"}]
    volumes += [] if secret is None else [{"name": "certificates", "secret": {"secretName": secret}}]
    return {"metadata": {}, "spec": {"template": {"spec": {"volumes": volumes}}}}


def test_deployed_security_prefers_the_requested_certificates() -> None:
    sets = [with_certificates("a"), with_certificates("b")]
    assert deployed_security(sets, [], {"tlsSecret": "b"}) == {"tlsSecret": "b"}


def test_deployed_security_ignores_hand_edits() -> None:
    world = secured(**TLS)
    found = stateful_set(world, "data")
    assert found is not None
    edited_by_hand = {**found, "spec": with_certificates("mine")["spec"]}
    assert deployed_security([edited_by_hand], [], {}) == TLS
