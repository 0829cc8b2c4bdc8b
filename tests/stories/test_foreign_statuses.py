"""Invalid values that another writer put into a status or an annotation do not stop the operator."""

from __future__ import annotations

import pytest

from operator_runs import CLUSTER, new_cluster, reconcile_until_converged, status
from operator_scenarios import running_cluster
from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.testing.fake_cluster import FakeCluster


def with_ledger(world: FakeCluster, **lines: str) -> FakeCluster:
    ledger = {name.replace("__", "/"): text for name, text in lines.items()}
    world.patch_status(Patch(CLUSTER, {"status": {"ledger": ledger}}, ""))
    return world


@pytest.mark.parametrize("text", ["{", "nonsense", '"garbage"', "[" * 100_000])
def test_invalid_ledger_value_is_ignored(text: str) -> None:
    world = with_ledger(running_cluster(), unknown=text)
    reconcile_until_converged(world, "0.5.0")
    assert status(world)["phase"] == "Running"


@pytest.mark.parametrize("text", ['"garbage"', '"{}"', '"[]"', '"{\\"pools\\": [7]}"'])
def test_invalid_spec_lock_is_ignored(text: str) -> None:
    """No node counts as surplus because of it."""
    world = with_ledger(running_cluster(), upgrade__lock=text)
    reconcile_until_converged(world, "0.5.0")
    assert status(world)["ready"] == "5/5"


def test_invalid_configuration_annotation_is_replaced() -> None:
    world = new_cluster()
    reconcile_until_converged(world, "0.5.0")
    key = Key("apps/v1", "StatefulSet", CLUSTER.namespace, "logs-data")
    annotation = "search.everpath.dev/configuration"
    world.patch(Patch(key, {"metadata": {"annotations": {annotation: "four"}}}, ""))
    reconcile_until_converged(world, "0.5.0")
    stateful_set = world.get(key)
    assert stateful_set is not None
    assert stateful_set["metadata"]["annotations"][annotation] == "5"
