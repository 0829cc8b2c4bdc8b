"""The order in which actions are evaluated does not change a plan; only prerequisites do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from searchkeeper.observe import observe
from searchkeeper.planner import Action, done
from searchkeeper.reconcile import resource_plans
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.invariants.recorder import shuffled
from tests.support.searchkeeper.fault_runs import RUNS, run
from tests.support.searchkeeper.operator_runs import CLUSTER, NEWEST

ACTIONS: list[Action[None]] = [Action(name, lambda _: done()) for name in "abcdefgh"]


def reverse(actions: Sequence[Action[Any]]) -> Sequence[Action[Any]]:
    return tuple(reversed(actions))


@pytest.mark.parametrize("name", RUNS)
def test_plans_do_not_depend_on_the_order_of_actions(name: str) -> None:
    after = name.partition(" → ")[2]
    version = release(after if after.startswith("0.") else NEWEST)
    for start in run(name).starts[::4]:
        cluster = FakeCluster(start.state)
        snapshot = observe(cluster, cluster, CLUSTER, version, cluster.state.now)
        assert snapshot is not None
        assert (
            tuple(resource_plans(snapshot, reverse))
            == tuple(resource_plans(snapshot))
            == tuple(resource_plans(snapshot, shuffled(cluster.state)))
        )


def test_shuffled_order_depends_on_the_state() -> None:
    cluster = FakeCluster()
    first = shuffled(cluster.state)(ACTIONS)
    assert shuffled(cluster.state)(ACTIONS) == first
    assert set(first) == set(ACTIONS)
    cluster.create({"apiVersion": "v1", "kind": "Service", "metadata": {"name": "x", "namespace": "y"}})
    assert shuffled(cluster.state)(ACTIONS) != first
