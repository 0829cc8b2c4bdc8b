"""What somebody else wrote into a status, or onto an object of ours, stops nobody."""

from __future__ import annotations

import pytest

from operators_at_work import CLUSTER, asked_for, settled, status
from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.testing.fake_cluster import FakeCluster
from tales import running


def noted(world: FakeCluster, **lines: str) -> FakeCluster:
    named = {name.replace("__", "/"): text for name, text in lines.items()}
    world.patch_status(Patch(CLUSTER, {"status": {"ledger": named}}, ""))
    return world


@pytest.mark.parametrize("text", ["{", "nonsense", '"garbage"', "[" * 100_000])
def test_invalid_ledger_value_is_ignored(text: str) -> None:
    world = noted(running(), nobody=text)
    settled(world, "0.4.0")
    assert status(world)["phase"] == "Running"


@pytest.mark.parametrize("text", ['"garbage"', '"{}"', '"[]"', '"{\\"pools\\": [7]}"'])
def test_invalid_spec_lock_is_ignored(text: str) -> None:
    """Least of all does it make every node one too many."""
    world = noted(running(), upgrade__lock=text)
    settled(world, "0.4.0")
    assert status(world)["ready"] == "5/5"


def test_invalid_configuration_annotation_is_replaced() -> None:
    world = asked_for()
    settled(world, "0.4.0")
    key = Key("apps/v1", "StatefulSet", CLUSTER.namespace, "logs-data")
    mark = "search.everpath.dev/configuration"
    world.patch(Patch(key, {"metadata": {"annotations": {mark: "four"}}}, ""))
    settled(world, "0.4.0")
    found = world.get(key)
    assert found is not None
    assert found["metadata"]["annotations"][mark] == "4"
