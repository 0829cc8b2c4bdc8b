"""Liveness: which loops hang, and which only wait."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.kubernetes.operations import Patch
from searchkeeper.manager.health import Health
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.manager.workers import FastSlowPool
from searchkeeper.testing.fake_cluster import FakeCluster
from tests.support.searchkeeper.managers import HangingEngine, run_manager, serve_api, wait_until
from tests.support.searchkeeper.operator_runs import CLUSTER, new_cluster, status


def with_clusters(*names: str) -> FakeCluster:
    cluster = new_cluster()
    resource = cluster.get(CLUSTER)
    assert resource is not None
    for name in names:
        cluster.create({**resource, "metadata": {"name": name, "namespace": "search"}})
    return cluster


def overdue_clusters(health: Health) -> int:
    return sum(sentence.startswith("search/") for sentence in health.overdue_loops())


def test_loop_that_waits_for_a_worker_does_not_hang() -> None:
    """Three clusters share one worker, and an engine that hangs blocks it."""
    engine = HangingEngine()
    with serve_api(with_clusters("shop", "zoo")) as access, run_manager(access, engine=engine) as running:
        running.manager._workers = FastSlowPool(1, 1)
        health = running.manager.health
        wait_until(access.api, lambda: len(running.manager._loops) == 3 and engine.reads == 1)
        health._tolerance = 0.5
        wait_until(access.api, lambda: overdue_clusters(health) == 1, what="an overdue loop")
        assert overdue_clusters(health) == 1
        health._tolerance = 180
        engine.released.set()


def test_loop_is_overdue_after_its_announced_pause() -> None:
    now = [0.0]
    health = Health(tolerance=60, clock=lambda: now[0])
    health.heartbeat("search/logs", next_in=600)
    now[0] = 659
    health.heartbeat()
    assert health.is_alive
    now[0] = 661
    health.heartbeat()
    assert health.overdue_loops() == ["search/logs: heartbeat overdue by 61 s; 60 s are allowed"]


def test_loop_announces_its_pause() -> None:
    with serve_api(new_cluster()) as access, run_manager(access) as running:
        running.manager.intervals = replace(running.manager.intervals, resync=3600)
        wait_until(access.api, lambda: status(access.api.world).get("phase") == "Running")
        health = running.manager.health

        wait_until(access.api, lambda: health._next_heartbeats.get("search/logs", 0) > health._clock() + 3000)


@pytest.mark.exhaustive
def test_gauges_disappear_when_the_lease_is_lost() -> None:
    with serve_api(new_cluster()) as access, run_manager(access, lease=3) as running:
        phase = "searchkeeper_cluster_phase"
        wait_until(access.api, lambda: running.metric(phase, phase="Running") == 1)
        thief = {"holderIdentity": "thief", "leaseTransitions": 99, "leaseDurationSeconds": 3600}
        access.kube.patch(Patch(LeaderLease.lease_key("search"), {"spec": thief}, ""))

        wait_until(access.api, lambda: running.metric(phase) == 0, what="the end of the series")
        assert running.metric("searchkeeper_reconcile_total") > 0
