"""S03, S04, S07, S08: what the engine was told for a while is taken back, whatever happens in between."""

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


def data(replicas: int) -> list[dict[str, object]]:
    return [pool("data", replicas, "data"), pool("managers", 3, "cluster_manager")]


@cache
def upgrade() -> Score:
    """A whole upgrade, moment by moment."""
    return score(edited(running(upgrade={"healthDeadlineSeconds": 60}), version=NEW), NEWEST)


@cache
def shrink() -> Score:
    """One of three data nodes leaves for good."""
    return score(shrinking(), NEWEST)


def shrinking() -> FakeCluster:
    world = running(*data(3))
    return edited(with_index(with_index(world, "films"), "songs"), pools=data(2))


def told(this: Score) -> list[int]:
    """The writes that tell the engine something."""
    return [at for at, step in enumerate(this.steps) if isinstance(step.write, EngineCall)]


def test_allocation_is_reset_after_an_upgrade() -> None:
    """S03: also where the operator ends, or is not heard, at any word to the engine."""
    # Guard: settings are restored, from a journal that has them before they are made.
    assert any(beat.state.engine.allocation is Allocation.PRIMARIES for beat in upgrade().beats)
    for at in told(upgrade()):
        for fault in (faults.Fault.CRASH_AFTER, faults.Fault.LOST_RESPONSE, faults.Fault.ENGINE_SILENT):
            disturbed(upgrade(), FaultInjection(at, fault))
    assert upgrade().beats[-1].state.engine.allocation is None


def test_previous_allocation_setting_is_restored() -> None:
    """S04: what was there before is restored, not what is usual."""
    world = running()
    world.execute(SetAllocation(Allocation.NEW_PRIMARIES))
    edited(world, version=NEW)
    until(lambda world: world.state.engine.allocation is Allocation.PRIMARIES, world)
    settled(edited(world, version=OLD), NEWEST)
    assert world.state.engine.allocation is Allocation.NEW_PRIMARIES


def test_revert_at_any_time_restores_allocation() -> None:
    """S04: an upgrade that is given up takes back what it has set, as one that succeeds does."""
    held = [beat for beat in upgrade().beats if beat.state.engine.allocation is not None]
    assert len(held) > 5
    for beat in held[::2]:
        world = worked(edited(FakeCluster(beat.state), version=OLD), NEWEST, ticks=30)
        assert world.state.engine.allocation is None
        assert "engine/allocation" not in status(world)["ledger"]


@pytest.mark.parametrize("rollback", ["Automatic", "Manual"])
def test_rollback_of_a_failed_upgrade_restores_allocation(rollback: str) -> None:
    """S04: whoever turns it, the policy or a person."""
    world = running(upgrade={"rollback": rollback, "healthDeadlineSeconds": 60})
    worked(with_faults(edited(world, version=NEW), v3_4_0=PodFault.IMAGE), NEWEST)
    worked(annotated(world, rollback=OLD), NEWEST)
    assert {node.version for node in world.state.engine.nodes} == {OLD}
    assert world.state.engine.allocation is None


def test_exclusion_is_removed_when_the_engine_is_reachable_again() -> None:
    """S07: the node has left while nobody could take its exclusion back."""
    # Guard: a line leaves the journal only when the engine shows that it is undone.
    alone = [beat for beat in shrink().beats if beat.state.engine.excluded]
    assert alone
    for beat in alone:
        world = FakeCluster(beat.state)
        at_work(world, Silent(world), ticks=8)
        settled(world, NEWEST)
        assert not world.state.engine.excluded
        assert not status(world)["ledger"]


def test_exclusion_is_removed_after_a_failed_engine_call() -> None:
    """S07: not heard, heard and not answered, or said by an operator that ended with it."""
    for at in told(shrink()):
        for fault in faults.Fault:
            if fault is not faults.Fault.STALE_READS:
                disturbed(shrink(), FaultInjection(at, fault))


def test_exclusion_is_removed_when_the_cluster_is_deleted() -> None:
    """S07: somebody deletes it while a node is being emptied."""
    excluded = next(beat for beat in shrink().beats if beat.state.engine.excluded)
    world = FakeCluster(excluded.state)
    worked(deleted(world), NEWEST, ticks=10)
    assert not world.state.engine.excluded


def test_exclusion_list_never_has_an_empty_item() -> None:
    """S08: from nobody to somebody and back, with a stranger on the list or without."""
    for foreign_objects in (frozenset[str](), frozenset({"somebody"})):
        world = shrinking()
        world.execute(Exclude(foreign_objects))
        written = {exclusion_value(moment.state.engine.excluded) for moment in unfolding(copied(world))}
        assert len(written) == 2
        assert all(text is None or all(text.split(",")) for text in written)
        assert exclusion_value(foreign_objects) in written


@pytest.mark.parametrize("text", [",", "", " , ", ",,"])
def test_exclusion_list_of_commas_excludes_no_node(text: str) -> None:
    """S08: who finds one, left by whomever, does not wait for nodes without a name, nor writes it again."""
    assert not exclusion_setting({"persistent": {NAMES: text}})
    assert exclusion_value(frozenset({text})) is None
