"""A spec that an older definition has let in, and that this operator cannot read."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from operators_at_work import CLUSTER, asked_for, edited, settled, status, worked
from searchkeeper.embedded.manifests import placed
from searchkeeper.embedded.world import World
from searchkeeper.writes import Delete
from tales import NEWEST

FLAWS: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown word": (
        {"upgrade": {"rollback": "Sometimes"}},
        "spec.upgrade.rollback: Sometimes is none of Automatic, Manual, Off",
    ),
    "a word for a number": (
        {"upgrade": {"healthDeadlineSeconds": "soon"}},
        "spec.upgrade.healthDeadlineSeconds: must be a whole number, and is soon",
    ),
    "a word for a list": ({"pools": "x"}, "spec.pools: must be a list, and is x"),
    "no name": ({"pools": [{"roles": ["cluster_manager"], "replicas": 1}]}, "spec.pools[0].name: is missing"),
}


def without_spec(world: World) -> World:
    found = world.state.cluster.objects[CLUSTER]
    objects = {**world.state.cluster.objects, CLUSTER: placed(found, "spec", to=None)}
    world.state = replace(world.state, cluster=replace(world.state.cluster, objects=objects))
    return world


def events(world: World) -> list[tuple[str, str]]:
    return [(each.reason, each.message) for each in world.state.events]


@pytest.mark.parametrize("flaw", FLAWS)
def test_it_is_one_condition_and_one_event_and_nothing_is_touched(flaw: str) -> None:
    change, words = FLAWS[flaw]
    world = asked_for()
    settled(world, NEWEST)
    edited(world, **change)
    kept = {key: each for key, each in world.state.cluster.objects.items() if key != CLUSTER}
    worked(world, NEWEST, ticks=5)

    said = f"the spec cannot be read: {words}"
    assert events(world) == [("SpecNotReadable", said)]
    assert status(world)["phase"] == "Refused"
    [condition] = status(world)["conditions"]
    assert (condition["type"], condition["reason"]) == ("SpecIsReadable", "SpecNotReadable")
    assert condition["message"] == said
    assert {key: each for key, each in world.state.cluster.objects.items() if key != CLUSTER} == kept


def test_it_is_told_again_when_it_was_edited_and_is_wrong_again() -> None:
    world = edited(asked_for(), upgrade={"rollback": "Sometimes"})
    worked(world, NEWEST, ticks=5)
    edited(world, upgrade={"rollback": "Never"})
    worked(world, NEWEST, ticks=5)

    assert [message.rpartition(": ")[2][:6] for _, message in events(world)] == ["Someti", "Never "]


def test_what_is_mended_goes_on_as_if_nothing_had_been() -> None:
    world = edited(asked_for(), upgrade={"rollback": "Sometimes"})
    worked(world, NEWEST, ticks=3)
    edited(world, upgrade={"rollback": "Manual"})
    settled(world, NEWEST)

    assert status(world)["phase"] == "Running"
    assert "refused" not in status(world)["ledger"]
    assert "SpecIsReadable" not in {each["type"] for each in status(world)["conditions"]}


def test_without_any_spec_it_is_told_too() -> None:
    world = without_spec(asked_for())
    worked(world, NEWEST, ticks=5)

    assert events(world) == [("SpecNotReadable", "the spec cannot be read: spec: is missing")]


@pytest.mark.parametrize("flaw", FLAWS)
def test_a_deletion_needs_no_spec(flaw: str) -> None:
    world = asked_for()
    settled(world, NEWEST)
    edited(world, **FLAWS[flaw][0])
    worked(world, NEWEST, ticks=2)
    world.delete(Delete(CLUSTER, "", ""))
    worked(world, NEWEST, ticks=10)

    assert world.get(CLUSTER) is None
    assert not [
        key for key in world.state.cluster.objects if key.kind in ("StatefulSet", "SearchPool", "Pod")
    ]
