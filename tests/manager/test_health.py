"""When an operator counts as stuck, and when it is only kept waiting."""

from __future__ import annotations

from dataclasses import replace

from operators_at_work import CLUSTER, asked_for, status
from searchkeeper.kubernetes.operations import Patch
from searchkeeper.manager.health import Health
from searchkeeper.manager.leader_election import LeaderLease
from searchkeeper.manager.metrics import Metrics
from searchkeeper.manager.workers import FastSlowPool
from searchkeeper.testing.fake_cluster import FakeCluster
from shells import SilentEngine, facing, started, until


def with_clusters(*names: str) -> FakeCluster:
    world = asked_for()
    found = world.get(CLUSTER)
    assert found is not None
    for name in names:
        world.create({**found, "metadata": {"name": name, "namespace": "search"}})
    return world


def test_whoever_is_in_line_for_a_thread_is_not_stuck() -> None:
    """Three clusters and one thread, which a look at a silent engine holds."""
    engine = SilentEngine()
    with facing(with_clusters("shop", "zoo")) as face, started(face, driver=engine) as shell:
        shell.operator._lanes = FastSlowPool(1, 1)
        health = shell.operator.health
        until(face.api, lambda: len(shell.operator._loops) == 3 and engine.looks == 1)
        health._too_old = 0.5
        until(face.api, lambda: _complaints_of_clusters(health) == 1, what="a complaint of whoever hangs")
        assert _complaints_of_clusters(health) == 1
        health._too_old = 180
        engine.let_go.set()


def _complaints_of_clusters(health: Health) -> int:
    return sum(each.startswith("search/") for each in health.complaints())


def test_whoever_means_to_be_silent_is_not_stuck() -> None:
    now = [0.0]
    health = Health(too_old=60, clock=lambda: now[0])
    health.beat("search/logs", silent_for=600)
    now[0] = 659
    health.beat()
    assert health.is_alive
    now[0] = 661
    health.beat()
    assert health.complaints() == ["search/logs: silent, and overdue by 61 s; 60 are allowed"]


def test_a_loop_says_for_how_long_it_will_be_silent() -> None:
    with facing(asked_for()) as face, started(face) as shell:
        shell.operator.pace = replace(shell.operator.pace, resync=3600)
        until(face.api, lambda: status(face.api.world).get("phase") == "Running")
        health = shell.operator.health

        until(face.api, lambda: health._beats.get("search/logs", 0) > health._clock() + 3000)


def test_whoever_has_lost_the_lease_shows_no_figures_of_the_past() -> None:
    with facing(asked_for()) as face, started(face, lease=3) as shell:
        metrics: Metrics = shell.operator.metrics
        until(face.api, lambda: metrics.value("searchkeeper_phase", phase="Running") == 1)
        thief = {"holderIdentity": "thief", "leaseTransitions": 99, "leaseDurationSeconds": 3600}
        face.kube.patch(Patch(LeaderLease.named("search"), {"spec": thief}, ""))

        until(face.api, lambda: metrics.value("searchkeeper_phase") == 0, what="an end of the figures")
