"""Whom a roll takes, and whom it waits for, as single decisions."""

from __future__ import annotations

from dataclasses import replace

from rollouts import deleted_object, rollout_step
from searchkeeper.opensearch.view import Allocation
from searchkeeper.planner import Ledger, Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import Pod, PoolView
from searchkeeper.upgrade.ledger import BATCH_SIZE, REPLACED_PODS, UpgradeLedger
from searchkeeper.upgrade.rollout import Rollout, roll_out
from snapshots import NEW, cluster_snapshot, engine, pod, pool

DOWN = "CrashLoopBackOff"


def managers(*members: Pod) -> PoolView:
    return pool("managers", len(members), roles="cluster_manager", pods=members)


def test_batch_of_another_pool_is_not_extended() -> None:
    """I12: a batch of data nodes does not begin while a manager is awaited."""
    late = pod("managers-2", is_ready=False, template="new", engine_version=NEW)
    pools = (pool("data", 4), managers(pod("managers-0"), pod("managers-1"), late))
    snapshot = cluster_snapshot(*pools, view=engine(pools, allocation=Allocation.PRIMARIES), max_batch=4)
    prepared: dict[str, Entry] = {"engine__allocation": "all", "roll__flushed": "earlier"}
    found = rollout_step(
        snapshot, roll__away=(("managers-2", "earlier"),), roll__size=("data", 4), **prepared
    )
    assert found.reason == "WaitingForPods"
    assert not found.operations


def waiting_for_one(home: PoolView, **lines: Entry) -> Result:
    """The first of a pool is away, more may be, and no gate stands against the next one."""
    late = pod(f"{home.spec.name}-0", is_ready=False, template="new", engine_version=NEW)
    away = replace(home, pods=(late, *home.pods[1:]))
    view = engine([away], allocation=Allocation.PRIMARIES, voters=engine([home]).voters)
    lines = {"engine__allocation": "all", "roll__flushed": "earlier", **lines}
    size = (home.spec.name, 4)
    found = (late.name, "earlier")
    return rollout_step(
        cluster_snapshot(away, view=view, max_batch=4), roll__away=(found,), roll__size=size, **lines
    )


def test_terminating_pod_is_not_deleted_again() -> None:
    """I8: it is expected back as if we had sent it."""
    home = pool("data", 2, pods=(pod("data-0", is_terminating=True), pod("data-1")))
    found = rollout_step(cluster_snapshot(home))
    assert found.reason == "PodTerminating"
    assert [(each.key, each.value) for each in found.ledger_changes] == [
        (REPLACED_PODS, (("data-0", home.pods[0].uid),))
    ]
    assert not found.operations


def test_batch_of_voters_has_one_pod() -> None:
    """I2: of five one more could be missed, and would be."""
    assert waiting_for_one(pool("managers", 5, roles="cluster_manager")).reason == "WaitingForPods"
    assert waiting_for_one(pool("data", 5)).reason == "ReplacingPod"


def test_batch_has_one_pod_in_a_rollback() -> None:
    """What is left of the older version is all there is to go back to."""
    back: dict[str, Entry] = {"upgrade": (NEW, "3.5.0"), "upgrade__return": NEW}
    assert waiting_for_one(pool("data", 5), **back).reason == "WaitingForPods"


def test_only_failed_pods_of_an_early_pool_are_replaced() -> None:
    well = [pod(f"managers-{n}") for n in range(3)]
    assert rollout_step(cluster_snapshot(managers(*well)), "managers").is_true
    sick = pod("managers-1", is_ready=False, problem=DOWN)
    assert (
        deleted_object(rollout_step(cluster_snapshot(managers(well[0], sick, well[2])), "managers"))
        == "managers-1"
    )


def test_failed_pod_is_replaced_before_the_active_pool() -> None:
    """S14, S22: they would wait for it."""
    sick = pod("managers-1", is_ready=False, problem=DOWN, engine_version="3.3.2")
    home = managers(pod("managers-0"), sick, pod("managers-2"))
    assert deleted_object(rollout_step(cluster_snapshot(pool("data", 2), home), "managers")) == "managers-1"


def test_replaced_pod_of_a_pool_outside_the_rollout_ends_the_batch() -> None:
    """S14: its version may be wanted no more; it is no less there."""
    back = pod("managers-1", template="other", engine_version="3.3.2")
    home = managers(pod("managers-0"), back, pod("managers-2"))
    snapshot = cluster_snapshot(pool("data", 2), home, max_batch=4)
    ledger = Ledger.of({REPLACED_PODS: (("managers-1", "earlier"),), BATCH_SIZE: ("data", 2)})
    found = roll_out(Rollout(snapshot, UpgradeLedger.of(ledger), (snapshot.pools[0],)))
    assert found.reason == "BatchReplaced"
    # Nor does it make a batch of another pool larger.
    assert BATCH_SIZE not in {note.key for note in found.ledger_changes}


def test_failed_surplus_pod_of_the_batch_is_abandoned() -> None:
    """S22, L4."""
    members = [pod(f"data-{n}", template="new", engine_version=NEW) for n in range(2)]
    lost = pod("data-2", is_ready=False, problem="Unschedulable", template="new")
    home = pool("data", 2, pods=(*members, lost))
    snapshot = cluster_snapshot(home, view=engine([home]))
    found = rollout_step(snapshot, roll__away=(("data-2", "earlier"),))
    assert (found.reason, [(note.key, note.value) for note in found.ledger_changes]) == (
        "PodsAbandoned",
        [(REPLACED_PODS, None)],
    )
