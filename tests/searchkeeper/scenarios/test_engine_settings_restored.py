"""S03, S04, S07, S08: temporary engine settings are restored, whatever fails in between."""

from __future__ import annotations

from functools import cache

import pytest

from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.opensearch.calls import Exclude, SetAllocation
from searchkeeper.opensearch.http_client import exclusion_value
from searchkeeper.opensearch.responses import exclusion_setting
from searchkeeper.opensearch.view import Allocation
from searchkeeper.testing import faults
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.faults import FaultInjection
from tests.support.searchkeeper.operator_runs import (
    RecordedRun,
    add_index,
    annotate,
    copy_cluster,
    edit_spec,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until,
    reconcile_until_converged,
    record_run,
    run_with_faults,
    set_pod_faults,
    status,
)
from tests.support.searchkeeper.operator_scenarios import (
    UnreachableEnginePorts,
    delete_cluster,
    running_cluster,
)

OLD, NEW = "2.19.4", "3.4.0"
NAMES = "cluster.routing.allocation.exclude._name"


def pools_with(replicas: int) -> list[dict[str, object]]:
    """A pool of data nodes and one of three managers."""
    return [pool("data", replicas, "data"), pool("managers", 3, "cluster_manager")]


@cache
def upgrade() -> RecordedRun:
    """A complete upgrade, reconcile by reconcile."""
    return record_run(edit_spec(running_cluster(upgrade={"healthDeadlineSeconds": 60}), version=NEW))


@cache
def scale_in() -> RecordedRun:
    """A complete scale-in from three data nodes to two."""
    return record_run(with_scale_in_requested())


def with_scale_in_requested() -> FakeCluster:
    """A cluster with documents whose spec has one data node less."""
    cluster = running_cluster(*pools_with(3))
    return edit_spec(add_index(add_index(cluster, "films"), "songs"), pools=pools_with(2))


def engine_calls(run: RecordedRun) -> list[int]:
    """The positions of the engine calls among the operations of a run."""
    return [at for at, step in enumerate(run.transitions) if isinstance(step.write, EngineCall)]


@pytest.mark.exhaustive
def test_allocation_is_reset_after_an_upgrade() -> None:
    """S03: also when any engine call fails, or the operator crashes after it."""
    assert any(start.state.engine.allocation is Allocation.PRIMARIES for start in upgrade().starts)
    for at in engine_calls(upgrade()):
        for fault in (faults.Fault.CRASH_AFTER, faults.Fault.LOST_RESPONSE, faults.Fault.ENGINE_SILENT):
            run_with_faults(upgrade(), FaultInjection(at, fault))
    assert upgrade().starts[-1].state.engine.allocation is None


def test_previous_allocation_setting_is_restored() -> None:
    """S04: the value before the upgrade is restored, not the default."""
    cluster = running_cluster()
    cluster.execute(SetAllocation(Allocation.NEW_PRIMARIES))
    edit_spec(cluster, version=NEW)
    reconcile_until(cluster, lambda cluster: cluster.state.engine.allocation is Allocation.PRIMARIES)
    reconcile_until_converged(edit_spec(cluster, version=OLD))
    assert cluster.state.engine.allocation is Allocation.NEW_PRIMARIES


@pytest.mark.exhaustive
def test_revert_at_any_time_restores_allocation() -> None:
    """S04: a reverted upgrade restores its settings, as a finished one does."""
    changed = [start for start in upgrade().starts if start.state.engine.allocation is not None]
    assert len(changed) > 5
    for start in changed[::2]:
        cluster = reconcile_for_ticks(edit_spec(FakeCluster(start.state), version=OLD), ticks=30)
        assert cluster.state.engine.allocation is None
        assert "engine/allocation" not in status(cluster)["ledger"]


@pytest.mark.parametrize("rollback", ["Automatic", "Manual"])
def test_rollback_of_a_failed_upgrade_restores_allocation(rollback: str) -> None:
    """S04: both in an automatic and in a requested rollback."""
    cluster = running_cluster(upgrade={"rollback": rollback, "healthDeadlineSeconds": 60})
    reconcile_for_ticks(set_pod_faults(edit_spec(cluster, version=NEW), v3_4_0=PodFault.IMAGE), ticks=40)
    reconcile_for_ticks(annotate(cluster, rollback=OLD), ticks=40)
    assert {node.version for node in cluster.state.engine.nodes} == {OLD}
    assert cluster.state.engine.allocation is None


def test_exclusion_is_removed_when_the_engine_is_reachable_again() -> None:
    """S07: the node is removed while the engine is unreachable.

    A ledger entry is removed only when the engine shows that the setting is restored.
    """
    excluded = [start for start in scale_in().starts if start.state.engine.excluded]
    assert excluded
    for start in excluded:
        cluster = FakeCluster(start.state)
        reconcile_for_ticks(cluster, UnreachableEnginePorts(cluster), ticks=8)
        reconcile_until_converged(cluster)
        assert not cluster.state.engine.excluded
        assert not status(cluster)["ledger"]


def test_exclusion_is_removed_after_a_failed_engine_call() -> None:
    """S07: the call is lost, its response is lost, or the operator crashes."""
    for at in engine_calls(scale_in()):
        for fault in faults.Fault:
            if fault is not faults.Fault.STALE_READS:
                run_with_faults(scale_in(), FaultInjection(at, fault))


def test_exclusion_is_removed_when_the_cluster_is_deleted() -> None:
    """S07: the cluster is deleted while a node is drained."""
    excluded = next(start for start in scale_in().starts if start.state.engine.excluded)
    cluster = FakeCluster(excluded.state)
    reconcile_for_ticks(delete_cluster(cluster), ticks=10)
    assert not cluster.state.engine.excluded


def test_exclusion_list_never_has_an_empty_item() -> None:
    """S08: with and without a node that a user has excluded."""
    for foreign_names in (frozenset[str](), frozenset({"other-node"})):
        cluster = with_scale_in_requested()
        cluster.execute(Exclude(foreign_names))
        values = {
            exclusion_value(current.state.engine.excluded)
            for current in reconcile_steps(copy_cluster(cluster))
        }
        assert len(values) == 2
        assert all(text is None or all(text.split(",")) for text in values)
        assert exclusion_value(foreign_names) in values


@pytest.mark.parametrize("text", [",", "", " , ", ",,"])
def test_exclusion_list_of_commas_excludes_no_node(text: str) -> None:
    """S08: items without a name are ignored and never written."""
    assert not exclusion_setting({"persistent": {NAMES: text}})
    assert exclusion_value(frozenset({text})) is None
