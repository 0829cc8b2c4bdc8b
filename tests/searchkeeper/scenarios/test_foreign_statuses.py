"""Invalid values that another writer put into a status or an annotation do not stop the operator."""

from __future__ import annotations

import pytest

from searchkeeper.kubernetes.operations import Key, Patch
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import CLUSTER, new_cluster, reconcile_until_converged, status
from tests.support.searchkeeper.operator_scenarios import running_cluster


def with_ledger(cluster: FakeCluster, **lines: str) -> FakeCluster:
    ledger = {name.replace("__", "/"): text for name, text in lines.items()}
    cluster.patch_status(Patch(CLUSTER, {"status": {"ledger": ledger}}, ""))
    return cluster


@pytest.mark.parametrize("text", ["{", "nonsense", '"garbage"', "[" * 100_000])
def test_invalid_ledger_value_is_ignored(text: str) -> None:
    cluster = with_ledger(running_cluster(), unknown=text)
    reconcile_until_converged(cluster)
    assert status(cluster)["phase"] == "Running"


@pytest.mark.parametrize("text", ['"garbage"', '"{}"', '"[]"', '"{\\"pools\\": [7]}"'])
def test_invalid_spec_lock_is_ignored(text: str) -> None:
    """No node counts as surplus because of it."""
    cluster = with_ledger(running_cluster(), upgrade__lock=text)
    reconcile_until_converged(cluster)
    assert status(cluster)["ready"] == "5/5"


def test_invalid_configuration_annotation_is_replaced() -> None:
    cluster = new_cluster()
    reconcile_until_converged(cluster)
    key = Key("apps/v1", "StatefulSet", CLUSTER.namespace, "logs-data")
    annotation = "search.everpath.dev/configuration"
    cluster.patch(Patch(key, {"metadata": {"annotations": {annotation: "four"}}}, ""))
    reconcile_until_converged(cluster)
    stateful_set = cluster.get(key)
    assert stateful_set is not None
    assert stateful_set["metadata"]["annotations"][annotation] == "5"
