"""Errors of an action are reported by the cluster, and block no other action."""

from __future__ import annotations

from typing import Any

import pytest

from searchkeeper.reconcile import reconcile
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    condition,
    new_cluster,
    reconcile_for_ticks,
    reconcile_until_converged,
    status,
)


@pytest.fixture
def running() -> FakeCluster:
    cluster = new_cluster()
    reconcile_until_converged(cluster)
    return cluster


def breaks(*_: Any) -> Any:
    raise KeyError("port")


# By resource: what raises, and the condition of the cluster that reports it.
FAULTS = {
    "cluster": (
        "objects.discovery_service",
        "DiscoveryServiceApplied",
        "Unknown ActionError: stalled: KeyError: 'port'",
    ),
    "pool": (
        "pools.partition",
        "PoolsConverged",
        "False ActionError: stalled: StatefulSetApplied of data: KeyError: 'port'",
    ),
}


@pytest.mark.parametrize("place", FAULTS)
def test_lasting_error_stalls_the_cluster_with_an_event(
    running: FakeCluster, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken, action, words = FAULTS[place]
    monkeypatch.setattr(f"searchkeeper.reconcilers.{broken}", breaks)
    reconcile_for_ticks(running, ticks=40)

    assert status(running)["phase"] == "Stalled"
    assert condition(running, action) == words
    event = running.state.events[-1]
    assert (event.reason, "KeyError: 'port'" in event.message) == ("Stalled", True)
    assert not reconcile(running, running, CLUSTER, release(NEWEST), running.state.now).wrote


@pytest.mark.parametrize("place", FAULTS)
def test_fixed_error_leaves_no_trace(
    running: FakeCluster, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = status(running)
    with monkeypatch.context() as patched:
        patched.setattr(f"searchkeeper.reconcilers.{FAULTS[place][0]}", breaks)
        reconcile_for_ticks(running, ticks=40)
    reconcile_until_converged(running)

    after = status(running)
    assert (after["phase"], after["ledger"]) == (before["phase"], before["ledger"])
