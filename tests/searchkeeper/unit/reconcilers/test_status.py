"""Single decisions about a status: when a version is recorded, and when Dashboards are available."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.desired.dashboards import dashboards_deployment
from searchkeeper.kubernetes.operations import Manifest
from searchkeeper.opensearch.view import EngineView
from searchkeeper.planner import Plan, plan
from searchkeeper.reconcilers.context import ReconcileContext
from searchkeeper.reconcilers.objects import _is_available
from searchkeeper.reconcilers.status import cluster_status
from searchkeeper.reconcilers.versions import CLUSTER_RECONCILERS
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from tests.support.searchkeeper.action_contexts import context
from tests.support.searchkeeper.snapshots import NEW, OLD, cluster_snapshot, engine, pod, pool


def complete(ctx: ReconcileContext, view: PoolView) -> PoolView:
    """The pool with the template, the configuration and the version that it should have."""
    assert view.stateful_set is not None
    stateful_set = replace(
        view.stateful_set, template=ctx.template(view), configuration=ctx.version, engine_version=ctx.target
    )
    pods = tuple(
        replace(each, template=stateful_set.template, engine_version=ctx.target) for each in view.pods
    )
    return replace(view, stateful_set=stateful_set, pods=pods, allotted_replicas=view.replicas)


def converged_plan(**differences: Any) -> tuple[ReconcileContext, Plan]:
    """A cluster whose nodes all run the target, as its engine reports it."""
    pools: tuple[PoolView, ...] = (
        pool("data", 2, pods=[pod(f"logs-data-{n}") for n in range(2)]),
        pool(
            "managers",
            3,
            roles="cluster_manager",
            pods=[pod(f"logs-managers-{n}") for n in range(3)],
        ),
    )
    draft = context(cluster_snapshot(*pools), runs=OLD, upgrade=(OLD, NEW))
    pools = tuple(complete(draft, each) for each in pools)
    view = replace(engine(pools, ["books: logs-data-0* logs-data-1"]), **differences)
    snapshot: ClusterSnapshot = replace(draft.snapshot, pools=pools, engine=view)
    ctx = ReconcileContext(snapshot, 4)
    records = snapshot.cluster.records
    return ctx, plan(CLUSTER_RECONCILERS[4], ctx, records, now=1000, generation=1)


def test_engine_version_is_recorded_when_every_node_has_it() -> None:
    assert cluster_status(*converged_plan(), {})["engineVersion"] == NEW


def test_engine_version_is_not_recorded_while_a_node_is_absent() -> None:
    """I4: its pod is ready and of the newest template, but it has not joined."""
    ctx, _ = converged_plan()
    assert isinstance(ctx.snapshot.engine, EngineView)
    nodes = tuple(node for node in ctx.snapshot.engine.nodes if node.name != "logs-data-1")
    assert len(nodes) == 4
    assert "engineVersion" not in cluster_status(*converged_plan(nodes=nodes), {})


def test_engine_version_is_not_recorded_while_a_node_has_another() -> None:
    ctx, _ = converged_plan()
    assert isinstance(ctx.snapshot.engine, EngineView)
    first, *others = ctx.snapshot.engine.nodes
    nodes = (replace(first, version=OLD), *others)
    assert "engineVersion" not in cluster_status(*converged_plan(nodes=nodes), {})


def deployment(**status: int) -> Manifest:
    made = dashboards_deployment(context(cluster_snapshot()).desired, NEW)
    spec = {**made["spec"], "replicas": 2}
    counts = {"replicas": 2, "updatedReplicas": 2, "readyReplicas": 2, "observedGeneration": 3}
    metadata = {**made["metadata"], "generation": 3}
    return {**made, "metadata": metadata, "spec": spec, "status": {**counts, **status}}


def test_dashboards_are_available_when_every_replica_is_updated_and_ready() -> None:
    assert _is_available(deployment())


@pytest.mark.parametrize(
    "status",
    [{"observedGeneration": 2}, {"updatedReplicas": 1}, {"readyReplicas": 1}, {"replicas": 3}],
    ids=str,
)
def test_dashboards_are_not_available_before(status: dict[str, int]) -> None:
    """The counts of a Deployment are of the generation that its controller has observed."""
    assert not _is_available(deployment(**status))


def test_dashboards_without_a_status_are_not_available() -> None:
    assert not _is_available({**deployment(), "status": None})
