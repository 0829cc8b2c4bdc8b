"""Changed credentials reach every node, since there is a hash of them."""

from __future__ import annotations

import base64
from contextlib import suppress

import pytest

from operators_at_work import CLUSTER, asked_for, edited, settled, status
from searchkeeper.embedded.world import World
from searchkeeper.kube import Conflict
from searchkeeper.loop import cycle
from searchkeeper.releases import release
from searchkeeper.writes import Delete, Key, Patch
from tales import at_work, pods, unfolding, until

SECRET = Key("v1", "Secret", "search", "admin")


def encoded(text: str) -> dict[str, str]:
    return {"password": base64.b64encode(text.encode()).decode()}


def secured(version: str) -> World:
    world = asked_for(security={"credentialsSecret": "admin"})
    metadata = {"name": SECRET.name, "namespace": SECRET.namespace}
    world.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded("one")})
    settled(world, version)
    return world


def uids(world: World) -> dict[str, str]:
    return {name: each["metadata"]["uid"] for name, each in pods(world).items()}


def deployed(world: World, name: str) -> str:
    found = world.get(Key("v1", "Secret", "search", name))
    assert found is not None
    return base64.b64decode(found["data"]["password"]).decode()


@pytest.mark.parametrize("version", ["0.2.2", "0.3.1", "0.4.0"])
def test_a_changed_secret_replaces_every_pod(version: str) -> None:
    world = secured(version)
    before = uids(world)
    world.patch(Patch(SECRET, {"data": encoded("two")}, ""))
    settled(world, version)
    assert deployed(world, "logs-credentials") == "two"
    assert not before.items() & uids(world).items()


def test_the_first_version_has_no_hash_and_replaces_nobody() -> None:
    world = secured("0.1.0")
    before = uids(world)
    world.patch(Patch(SECRET, {"data": encoded("two")}, ""))
    settled(world, "0.1.0")
    assert deployed(world, "logs-config") == "two"
    assert uids(world) == before


@pytest.mark.parametrize("version", ["0.1.0", "0.4.0"])
def test_a_secret_that_is_missing_takes_nothing_away(version: str) -> None:
    world = secured(version)
    before = uids(world)
    world.delete(Delete(SECRET, "", ""))
    at_work(world, version=version, ticks=30)
    assert uids(world) == before
    assert deployed(world, "logs-config" if version == "0.1.0" else "logs-credentials") == "one"


def test_a_secret_that_changes_during_an_upgrade_waits_for_its_end() -> None:
    """I11: nobody is replaced twice for it."""
    world = edited(secured("0.4.0"), version="3.4.0")
    until(lambda world: status(world)["upgrade"].get("pool") == "managers", world)
    world.patch(Patch(SECRET, {"data": encoded("two")}, ""))
    for moment in unfolding(world):
        if status(moment)["engineVersion"] != "3.4.0":
            assert deployed(moment, "logs-credentials") == "one"
    assert deployed(world, "logs-credentials") == "two"


@pytest.mark.parametrize("version", ["0.1.0", "0.2.2", "0.3.1", "0.4.0"])
@pytest.mark.parametrize("name", ["logs-config", "logs-credentials"])
def test_a_secret_of_somebody_else_is_neither_changed_nor_removed(version: str, name: str) -> None:
    """Whatever it is called: what was there before, and is not ours, does not become ours."""
    world = asked_for(security={"credentialsSecret": name})
    key = Key("v1", "Secret", "search", name)
    metadata = {"name": name, "namespace": "search"}
    made = world.create({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": encoded("one")})
    for _ in range(20):
        with suppress(Conflict):
            cycle(world, world, CLUSTER, release(version), world.state.now)
        world.tick()
    assert world.get(key) == made
