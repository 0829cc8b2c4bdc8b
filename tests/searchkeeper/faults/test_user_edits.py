"""Users edit, scale, pause and delete during an upgrade: it completes, and no invariant is violated."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from searchkeeper.kubernetes.api import ApiError
from searchkeeper.kubernetes.operations import Delete, Key, Patch
from searchkeeper.releases import release
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.invariants.checks import leftovers
from searchkeeper.testing.invariants.recorder import InvariantRecorder
from tests.support.searchkeeper.fault_runs import NEW, OLD, ROLLBACK, UPGRADE, run
from tests.support.searchkeeper.operator_runs import (
    CLUSTER,
    NEWEST,
    KnownStates,
    annotate,
    edit_spec,
    node_versions,
    pool,
    reconcile_for_ticks,
    reconcile_until_deleted,
    run_to_known_end,
    unmet_conditions,
)

Edit = Callable[[FakeCluster], FakeCluster]


def key(kind: str, name: str) -> Key:
    api = {"StatefulSet": "apps/v1", "SearchPool": CLUSTER.api}.get(kind, "v1")
    return Key(api, kind, CLUSTER.namespace, name)


def delete(kind: str, name: str, *, orphan: bool = False) -> Edit:
    """A user deletes an object, if it exists."""

    def edit(cluster: FakeCluster) -> FakeCluster:
        with suppress(ApiError):
            cluster.delete(Delete(key(kind, name), "", "", orphan=orphan))
        return cluster

    return edit


def patch(kind: str, name: str, **changes: Any) -> Edit:
    """A user patches an object of the operator, if it exists."""

    def edit(cluster: FakeCluster) -> FakeCluster:
        with suppress(ApiError):
            cluster.patch(Patch(key(kind, name), changes, ""))
        return cluster

    return edit


def spec_edit(**spec: Any) -> Edit:
    return lambda cluster: edit_spec(cluster, **spec)


def pools(
    data: int = 2, managers: int = 3, *others: dict[str, Any], roles: str = "data"
) -> list[dict[str, Any]]:
    return [pool("data", data, *roles.split()), pool("managers", managers, "cluster_manager"), *others]


EDITS: dict[str, Edit] = {
    "more data nodes": spec_edit(pools=pools(3)),
    "fewer managers": spec_edit(pools=pools(2, 1)),
    "other roles": spec_edit(pools=pools(roles="data ingest")),
    "another pool": spec_edit(pools=pools(2, 3, pool("routers", 1, "coordinating"))),
    "annotation of the cluster": lambda cluster: annotate(cluster, note="text"),
    "annotation of a pod": patch("Pod", "logs-data-0", metadata={"annotations": {"note": "text"}}),
    "ConfigMap edited": patch(
        "ConfigMap", "logs-config", data={"opensearch.yml": "broken: true", "mine": "x"}
    ),
    "SearchPool edited": patch("SearchPool", "logs-data", spec={"engineVersion": NEW}),
    "StatefulSet edited": patch("StatefulSet", "logs-data", spec={"replicas": 1}),
    "StatefulSet deleted": delete("StatefulSet", "logs-data"),
    "StatefulSet deleted without its pods": delete("StatefulSet", "logs-managers", orphan=True),
    "SearchPool deleted": delete("SearchPool", "logs-data"),
    "volume claim deleted": delete("PersistentVolumeClaim", "data-logs-data-0"),
    "Service deleted": delete("Service", "logs"),
}


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_upgrade_completes_after_an_edit_at_any_time(edit: Edit) -> None:
    known = KnownStates()
    for start in run(UPGRADE).starts[::3]:
        cluster = edit(FakeCluster(start.state))
        run_to_known_end(cluster, NEWEST, known)
    assert {version for _, version in known.end[1]} == {NEW} if known.end else False


def test_scale_out_with_an_upgrade_is_applied_after_it() -> None:
    cluster = EDITS["more data nodes"](FakeCluster(run(UPGRADE).starts[0].state))
    run_to_known_end(cluster, NEWEST, KnownStates())


def test_upgrade_does_not_start_without_a_search_pool() -> None:
    """Its nodes would stay on a version that is too old for upgraded managers."""
    cluster = EDITS["SearchPool deleted"](FakeCluster(run(UPGRADE).starts[0].state))
    run_to_known_end(cluster, NEWEST, KnownStates())


def run_until_stable(cluster: FakeCluster) -> FakeCluster:
    """Run until nothing is written; assert that nothing is left behind and all nodes have one version."""
    reconcile_for_ticks(cluster, ticks=30)
    revision = cluster.state.cluster.revision
    reconcile_for_ticks(cluster, ticks=3)
    assert cluster.state.cluster.revision == revision, f"it does not converge: {unmet_conditions(cluster)}"
    assert leftovers(cluster.state, CLUSTER) is None
    assert len(set(node_versions(cluster).values())) == 1
    return cluster


@pytest.mark.exhaustive(keep=1)
@pytest.mark.parametrize("version", ["3.3.0", OLD, "1.3.0"])
def test_other_version_at_any_time_is_reached_or_refused(version: str) -> None:
    """A refused version does not stop the upgrade: a half upgrade would hold the lock."""
    starts = run(UPGRADE).starts
    for start in (*starts[1:9:3], *starts[::12]):
        cluster = run_until_stable(edit_spec(FakeCluster(start.state), version=version))
        assert set(node_versions(cluster).values()) <= {OLD, NEW, version}


@pytest.mark.exhaustive
def test_pause_at_any_time_only_delays_the_upgrade() -> None:
    for start in run(UPGRADE).starts[::4]:
        cluster = edit_spec(FakeCluster(start.state), upgrade={"paused": True})
        reconcile_for_ticks(cluster, ticks=5)
        run_to_known_end(edit_spec(cluster, upgrade={"paused": None}), NEWEST, run(UPGRADE).known)


@pytest.mark.parametrize("name", [UPGRADE, ROLLBACK])
def test_deletion_at_any_time_leaves_only_the_volumes(name: str) -> None:
    for start in run(name).starts:
        cluster = FakeCluster(start.state)
        cluster.delete(Delete(CLUSTER, "", ""))
        ports = InvariantRecorder(cluster, CLUSTER, release(NEWEST))
        reconcile_until_deleted(ports, cluster, NEWEST)
        cluster.tick()
        cluster.tick()
        assert {each.kind for each in cluster.state.cluster.objects} == {"PersistentVolumeClaim"}
        assert cluster.state.engine.allocation is None
        assert not cluster.state.engine.excluded
