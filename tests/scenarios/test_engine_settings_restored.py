"""S03, S04, S07, S08: temporary engine settings are restored, whatever fails in between."""

from __future__ import annotations

from functools import cache

import pytest

from operators_at_work import (
    Score,
    annotated,
    copied,
    disturbed,
    edited,
    pool,
    score,
    settled,
    status,
    with_faults,
    with_index,
    worked,
)
from searchkeeper.kubernetes.operations import EngineCall
from searchkeeper.opensearch.calls import Exclude, SetAllocation
from searchkeeper.opensearch.http_client import exclusion_value
from searchkeeper.opensearch.responses import exclusion_setting
from searchkeeper.opensearch.view import Allocation
from searchkeeper.testing import faults
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from searchkeeper.testing.faults import FaultInjection
from tales import NEWEST, Silent, at_work, deleted, running, unfolding, until

OLD, NEW = "2.19.4", "3.4.0"
NAMES = "cluster.routing.allocation.exclude._name"


def pools_with(replicas: int) -> list[dict[str, object]]:
    """A pool of data nodes and one of three managers."""
    return [pool("data", replicas, "data"), pool("managers", 3, "cluster_manager")]


@cache
def upgrade() -> Score:
    """A complete upgrade, reconcile by reconcile."""
    return score(edited(running(upgrade={"healthDeadlineSeconds": 60}), version=NEW), NEWEST)


@cache
def scale_in() -> Score:
    """A complete scale-in from three data nodes to two."""
    return score(with_scale_in_requested(), NEWEST)


def with_scale_in_requested() -> FakeCluster:
    """A cluster with documents whose spec has one data node less."""
    world = running(*pools_with(3))
    return edited(with_index(with_index(world, "films"), "songs"), pools=pools_with(2))


def engine_calls(run: Score) -> list[int]:
    """The positions of the engine calls among the operations of a run."""
    return [at for at, step in enumerate(run.steps) if isinstance(step.write, EngineCall)]


def test_allocation_is_reset_after_an_upgrade() -> None:
    """S03: also when any engine call fails, or the operator crashes after it."""
    assert any(beat.state.engine.allocation is Allocation.PRIMARIES for beat in upgrade().beats)
    for at in engine_calls(upgrade()):
        for fault in (faults.Fault.CRASH_AFTER, faults.Fault.LOST_RESPONSE, faults.Fault.ENGINE_SILENT):
            disturbed(upgrade(), FaultInjection(at, fault))
    assert upgrade().beats[-1].state.engine.allocation is None


def test_previous_allocation_setting_is_restored() -> None:
    """S04: the value before the upgrade is restored, not the default."""
    world = running()
    world.execute(SetAllocation(Allocation.NEW_PRIMARIES))
    edited(world, version=NEW)
    until(lambda world: world.state.engine.allocation is Allocation.PRIMARIES, world)
    settled(edited(world, version=OLD), NEWEST)
    assert world.state.engine.allocation is Allocation.NEW_PRIMARIES


def test_revert_at_any_time_restores_allocation() -> None:
    """S04: a reverted upgrade restores its settings, as a finished one does."""
    changed = [beat for beat in upgrade().beats if beat.state.engine.allocation is not None]
    assert len(changed) > 5
    for beat in changed[::2]:
        world = worked(edited(FakeCluster(beat.state), version=OLD), NEWEST, ticks=30)
        assert world.state.engine.allocation is None
        assert "engine/allocation" not in status(world)["ledger"]


@pytest.mark.parametrize("rollback", ["Automatic", "Manual"])
def test_rollback_of_a_failed_upgrade_restores_allocation(rollback: str) -> None:
    """S04: both in an automatic and in a requested rollback."""
    world = running(upgrade={"rollback": rollback, "healthDeadlineSeconds": 60})
    worked(with_faults(edited(world, version=NEW), v3_4_0=PodFault.IMAGE), NEWEST)
    worked(annotated(world, rollback=OLD), NEWEST)
    assert {node.version for node in world.state.engine.nodes} == {OLD}
    assert world.state.engine.allocation is None


def test_exclusion_is_removed_when_the_engine_is_reachable_again() -> None:
    """S07: the node is removed while the engine is unreachable.

    A ledger entry is removed only when the engine shows that the setting is restored.
    """
    excluded = [beat for beat in scale_in().beats if beat.state.engine.excluded]
    assert excluded
    for beat in excluded:
        world = FakeCluster(beat.state)
        at_work(world, Silent(world), ticks=8)
        settled(world, NEWEST)
        assert not world.state.engine.excluded
        assert not status(world)["ledger"]


def test_exclusion_is_removed_after_a_failed_engine_call() -> None:
    """S07: the call is lost, its response is lost, or the operator crashes."""
    for at in engine_calls(scale_in()):
        for fault in faults.Fault:
            if fault is not faults.Fault.STALE_READS:
                disturbed(scale_in(), FaultInjection(at, fault))


def test_exclusion_is_removed_when_the_cluster_is_deleted() -> None:
    """S07: the cluster is deleted while a node is drained."""
    excluded = next(beat for beat in scale_in().beats if beat.state.engine.excluded)
    world = FakeCluster(excluded.state)
    worked(deleted(world), NEWEST, ticks=10)
    assert not world.state.engine.excluded


def test_exclusion_list_never_has_an_empty_item() -> None:
    """S08: with and without a node that a user has excluded."""
    for foreign_names in (frozenset[str](), frozenset({"other-node"})):
        world = with_scale_in_requested()
        world.execute(Exclude(foreign_names))
        values = {exclusion_value(current.state.engine.excluded) for current in unfolding(copied(world))}
        assert len(values) == 2
        assert all(text is None or all(text.split(",")) for text in values)
        assert exclusion_value(foreign_names) in values


@pytest.mark.parametrize("text", [",", "", " , ", ",,"])
def test_exclusion_list_of_commas_excludes_no_node(text: str) -> None:
    """S08: items without a name are ignored and never written."""
    assert not exclusion_setting({"persistent": {NAMES: text}})
    assert exclusion_value(frozenset({text})) is None
