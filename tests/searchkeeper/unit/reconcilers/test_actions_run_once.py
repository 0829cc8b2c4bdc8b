"""Each action runs at most once in a reconcile of a resource: other actions share its result."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from searchkeeper.planner import Action, Result
from searchkeeper.planner.actions import closure
from searchkeeper.reconcile import reconcile
from searchkeeper.reconcilers import pools, rollback, upgrade
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS
from searchkeeper.releases import release
from tests.support.searchkeeper.operator_runs import CLUSTER, NEWEST, edit_spec
from tests.support.searchkeeper.operator_scenarios import running_cluster


@pytest.fixture
def runs() -> Iterator[Counter[str]]:
    """How often each action of the newest reconciler has run, also when another action calls it."""
    counts: Counter[str] = Counter()
    modules = [each for module in (pools, rollback, upgrade) for each in vars(module).values()]
    actions = {
        *closure(CLUSTER_RECONCILERS[4].actions),
        *(each for each in modules if isinstance(each, Action)),
    }
    plain = {each: each.run for each in actions}

    def count_calls(name: str, run: Callable[[Any], Result]) -> Callable[[Any], Result]:
        def call(cluster: Any) -> Result:
            counts[name] += 1
            return run(cluster)

        return call

    for each, run in plain.items():
        object.__setattr__(each, "run", count_calls(each.name, run))
    yield counts
    for each, run in plain.items():
        object.__setattr__(each, "run", run)


@pytest.mark.parametrize("change", [{"version": "3.4.0"}, {"dashboards": {"enabled": True}}], ids=str)
def test_no_action_runs_twice_in_a_reconcile(runs: Counter[str], change: dict[str, Any]) -> None:
    cluster = edit_spec(running_cluster(), **change)
    names = {each.name for each in closure(CLUSTER_RECONCILERS[4].actions)}
    for _ in range(300):
        runs.clear()
        outcome = reconcile(cluster, cluster, CLUSTER, release(NEWEST), cluster.state.now)
        assert {name: runs[name] for name in names if runs[name] > 1} == {}
        if outcome.converged:
            break
        if not outcome.wrote:
            cluster.tick()
    else:
        pytest.fail("the cluster does not converge")
