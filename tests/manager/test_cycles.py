"""What a cycle makes of the plans of a cluster and of its pools, as single decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from operators_at_work import CLUSTER
from searchkeeper.kubernetes.operations import EmitEvent, Key
from searchkeeper.observe import observe
from searchkeeper.planner import Ledger, Plan
from searchkeeper.reconcile import ResourcePlan, resource_plans
from searchkeeper.releases import release
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.testing.fake_cluster import FakeCluster
from tales import NEWEST, deleted, running

KEY = Key("search.everpath.dev/v1alpha1", "SearchPool", "search", "logs-data")
PLAN = Plan((), Ledger(), (), True, (), None, True)
LEDGER = {"roll/size": "1", "wait/PodsCurrent": "1"}
BEFORE: dict[str, Any] = {
    "conditions": ["a"],
    "phase": "Ready",
    "ready": "2/2",
    "version": "1",
    "ledger": LEDGER,
}


def step(**changes: Any) -> ResourcePlan:
    return ResourcePlan(KEY, "1", BEFORE, {**BEFORE, **changes}, PLAN)


@pytest.mark.parametrize(
    "changes",
    [
        {"conditions": ["b"]},
        {"phase": "Stalled"},
        {"ready": "1/2"},
        {"ledger": {**LEDGER, "wait/PodsCurrent": "2"}},
    ],
    ids=str,
)
def test_words_and_waits_are_nothing_that_anybody_else_decides_on(changes: dict[str, Any]) -> None:
    """L5: pools have their turn although there is something else to tell with every look."""
    assert step(**changes).has_changed
    assert step(**changes).is_cosmetic


@pytest.mark.parametrize(
    "changes",
    [{"version": "2"}, {"ledger": {**LEDGER, "roll/size": "2"}}, {"ledger": None}, {"new": 1}],
    ids=str,
)
def test_whatever_else_is_stored_is_looked_at_before_anybody_else_has_a_turn(changes: dict[str, Any]) -> None:
    assert step(**changes).has_changed
    assert not step(**changes).is_cosmetic


def test_what_is_as_it_was_is_no_news() -> None:
    assert not step().has_changed
    assert step().is_cosmetic


def seen(world: FakeCluster, version: str = NEWEST) -> ClusterSnapshot:
    found = observe(world, world, CLUSTER, release(version), world.state.now)
    assert found is not None
    return found


def test_a_cluster_comes_first_then_its_pools_by_name() -> None:
    assert [each.key.name for each in resource_plans(seen(running()))] == [
        "logs",
        "logs-data",
        "logs-managers",
    ]


@pytest.mark.parametrize("version", ["0.4.0", "0.1.0"], ids=["deleted", "deleted under an older operator"])
def test_one_that_is_deleted_has_no_other_goal(version: str) -> None:
    [only] = resource_plans(seen(deleted(running()), version))
    assert "FinalizerRemoved" in {each.type for each in only.plan.conditions}


def test_one_that_no_procedure_takes_is_told_so_and_left_alone() -> None:
    """I6."""
    [only] = resource_plans(seen(running(), "0.1.0"))
    assert all(isinstance(each, EmitEvent) for each in only.plan.operations)
    assert only.has_changed


def test_a_pool_without_a_search_pool_has_no_plan_of_its_own() -> None:
    found = seen(running())
    first, *others = found.pools
    less = replace(found, pools=(replace(first, uid=None), *others))
    assert len([*resource_plans(less)]) == len([*resource_plans(found)]) - 1
