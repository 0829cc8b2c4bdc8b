"""Decisions of a reconcile about the plans of a cluster and of its pools."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.desired.names import CONFIGURATION
from searchkeeper.kubernetes.operations import EmitEvent, Key, Manifest
from searchkeeper.observe import observe
from searchkeeper.planner import Ledger, Plan
from searchkeeper.reconcile import ResourcePlan, resource_plans
from searchkeeper.reconcilers.versions import deployed_version
from searchkeeper.releases import release
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.action_contexts import manifest, with_objects
from tests.support.searchkeeper.operator_runs import CLUSTER, NEWEST
from tests.support.searchkeeper.operator_scenarios import delete_cluster, running_cluster
from tests.support.searchkeeper.snapshots import cluster_snapshot

KEY = Key("search.everpath.dev/v1alpha1", "SearchPool", "search", "logs-data")
PLAN = Plan((), Ledger(), (), converged=True, wake_at=None, made_progress=True)
LEDGER = {"roll/size": "1", "wait/PodsCurrent": "1"}
BEFORE: dict[str, Any] = {
    "conditions": ["a"],
    "phase": "Ready",
    "ready": "2/2",
    "version": "1",
    "ledger": LEDGER,
}


def resource_plan(**changes: Any) -> ResourcePlan:
    return ResourcePlan(KEY, "1", BEFORE, {**BEFORE, **changes}, PLAN)


@pytest.mark.parametrize(
    "changes",
    [
        {"conditions": ["b"]},
        {"phase": "Stalled"},
        {"ready": "1/2"},
        {"ledger": {**LEDGER, "wait/PodsCurrent": "2"}},
        {"ledger": {**LEDGER, "stalled": '["PodsCurrent"]'}},
    ],
    ids=str,
)
def test_change_of_conditions_and_waits_is_cosmetic(changes: dict[str, Any]) -> None:
    """L5: pools are reconciled although the conditions of the cluster change with every reconcile."""
    assert resource_plan(**changes).has_changed
    assert resource_plan(**changes).is_cosmetic


@pytest.mark.parametrize(
    "changes",
    [{"version": "2"}, {"ledger": {**LEDGER, "roll/size": "2"}}, {"ledger": None}, {"new": 1}],
    ids=str,
)
def test_change_of_any_other_field_is_not_cosmetic(changes: dict[str, Any]) -> None:
    assert resource_plan(**changes).has_changed
    assert not resource_plan(**changes).is_cosmetic


def test_unchanged_status_is_not_written() -> None:
    assert not resource_plan().has_changed
    assert resource_plan().is_cosmetic


def snapshot_of(cluster_snapshot: FakeCluster, version: str = NEWEST) -> ClusterSnapshot:
    snapshot = observe(
        cluster_snapshot, cluster_snapshot, CLUSTER, release(version), cluster_snapshot.state.now
    )
    assert snapshot is not None
    return snapshot


def test_cluster_is_planned_first_then_its_pools_by_name() -> None:
    assert [each.key.name for each in resource_plans(snapshot_of(running_cluster()))] == [
        "logs",
        "logs-data",
        "logs-managers",
    ]


@pytest.mark.parametrize("version", ["0.5.0", "0.1.0"], ids=["current operator", "older operator"])
def test_deleted_cluster_is_planned_without_its_pools(version: str) -> None:
    [only] = resource_plans(snapshot_of(delete_cluster(running_cluster()), version))
    assert "FinalizerRemoved" in {each.type for each in only.plan.conditions}


def test_cluster_with_unsupported_configuration_gets_only_events() -> None:
    """I6."""
    [only] = resource_plans(snapshot_of(running_cluster(), "0.1.0"))
    assert all(isinstance(each, EmitEvent) for each in only.plan.operations)
    assert only.has_changed


def test_pool_without_search_pool_has_no_plan() -> None:
    snapshot = snapshot_of(running_cluster())
    first, *others = snapshot.pools
    without_first = replace(snapshot, pools=(replace(first, uid=None), *others))
    assert len([*resource_plans(without_first)]) == len([*resource_plans(snapshot)]) - 1


def without_current_version(snapshot: ClusterSnapshot) -> ClusterSnapshot:
    """Return the snapshot of a cluster whose status has no configuration version yet."""
    cluster, raw = snapshot.cluster, snapshot.objects[snapshot.cluster.key]
    status = {name: value for name, value in raw["status"].items() if name != "currentVersion"}
    return replace(
        snapshot,
        cluster=replace(cluster, current_version=None),
        objects={**snapshot.objects, cluster.key: {**raw, "status": status}},
    )


def test_cluster_is_at_its_version_when_every_pool_has_converged() -> None:
    snapshot = without_current_version(snapshot_of(running_cluster()))
    [cluster, *_] = resource_plans(snapshot)
    assert cluster.plan.converged
    assert cluster.status["currentVersion"] == 5


@pytest.mark.parametrize("pool", [0, 1])
def test_pool_has_not_converged_before_its_latest_generation_is_observed(pool: int) -> None:
    """I4."""
    snapshot = without_current_version(snapshot_of(running_cluster()))
    pools = list(snapshot.pools)
    pools[pool] = replace(pools[pool], generation=pools[pool].generation + 1)
    [cluster, *_] = resource_plans(replace(snapshot, pools=tuple(pools)))
    assert cluster.plan.converged
    assert "currentVersion" not in cluster.status


def annotated_object(name: str, version: object) -> Manifest:
    return manifest("v1", "ConfigMap", name, annotations={CONFIGURATION: str(version)})


def test_cluster_that_never_converged_has_the_version_of_its_oldest_object() -> None:
    new = replace(cluster_snapshot(), cluster=replace(cluster_snapshot().cluster, current_version=None))
    assert deployed_version(new) is None
    mixed = with_objects(
        new,
        annotated_object("a", 3),
        annotated_object("b", 1),
        annotated_object("c", 4),
        annotated_object("d", "x"),
    )
    assert deployed_version(mixed) == 1
    converged = replace(mixed, cluster=replace(mixed.cluster, current_version=3))
    assert deployed_version(converged) == 3
