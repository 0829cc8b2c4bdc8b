"""Rollout: which pod is replaced next, and which pods it waits for."""

from __future__ import annotations

from dataclasses import replace

from searchkeeper.opensearch.view import Allocation
from searchkeeper.planner import Ledger, Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import Pod, PoolView
from searchkeeper.upgrade.ledger import BATCH_SIZE, REPLACED_PODS, UpgradeLedger
from searchkeeper.upgrade.rollout import Rollout, roll_out
from tests.support.searchkeeper.rollouts import deleted_object, rollout_step
from tests.support.searchkeeper.snapshots import NEW, cluster_snapshot, engine, pod, pool

CRASHING = "CrashLoopBackOff"


def managers(*members: Pod) -> PoolView:
    return pool("managers", len(members), roles="cluster_manager", pods=members)


def test_batch_of_another_pool_is_not_extended() -> None:
    """I12: no batch of data nodes starts while a manager is being replaced."""
    late_pod = pod("managers-2", is_ready=False, template="new", engine_version=NEW)
    pools = (pool("data", 4), managers(pod("managers-0"), pod("managers-1"), late_pod))
    snapshot = cluster_snapshot(*pools, view=engine(pools, allocation=Allocation.PRIMARIES), max_batch=4)
    prepared: dict[str, Entry] = {"engine__allocation": "all", "roll__flushed": "earlier"}
    result = rollout_step(
        snapshot, roll__away=(("managers-2", "earlier"),), roll__size=("data", 4), **prepared
    )
    assert result.reason == "WaitingForPods"
    assert not result.operations


def step_during_a_batch(owner: PoolView, **entries: Entry) -> Result:
    """Return the next step while the first pod is not ready, the batch may grow and all gates are open."""
    late_pod = pod(f"{owner.spec.name}-0", is_ready=False, template="new", engine_version=NEW)
    replacing = replace(owner, pods=(late_pod, *owner.pods[1:]))
    view = engine([replacing], allocation=Allocation.PRIMARIES, voters=engine([owner]).voters)
    entries = {"engine__allocation": "all", "roll__flushed": "earlier", **entries}
    size = (owner.spec.name, 4)
    entry = (late_pod.name, "earlier")
    return rollout_step(
        cluster_snapshot(replacing, view=view, max_batch=4), roll__away=(entry,), roll__size=size, **entries
    )


def test_terminating_pod_is_not_deleted_again() -> None:
    """I8: it is waited for as if the operator had deleted it."""
    owner = pool("data", 2, pods=(pod("data-0", is_terminating=True), pod("data-1")))
    result = rollout_step(cluster_snapshot(owner))
    assert result.reason == "PodTerminating"
    assert [(change.key, change.value) for change in result.ledger_changes] == [
        (REPLACED_PODS, (("data-0", owner.pods[0].uid),))
    ]
    assert not result.operations


def test_batch_of_voters_has_one_pod() -> None:
    """I2: also of five voters, where the quorum would allow two."""
    assert step_during_a_batch(pool("managers", 5, roles="cluster_manager")).reason == "WaitingForPods"
    assert step_during_a_batch(pool("data", 5)).reason == "ReplacingPod"


def test_batch_has_one_pod_in_a_rollback() -> None:
    """The rollback depends on every older node."""
    replaced: dict[str, Entry] = {"upgrade": (NEW, "3.5.0"), "upgrade__return": NEW}
    assert step_during_a_batch(pool("data", 5), **replaced).reason == "WaitingForPods"


def test_only_failed_pods_of_an_early_pool_are_replaced() -> None:
    healthy = [pod(f"managers-{n}") for n in range(3)]
    assert rollout_step(cluster_snapshot(managers(*healthy)), "managers").is_true
    failed = pod("managers-1", is_ready=False, problem=CRASHING)
    assert (
        deleted_object(rollout_step(cluster_snapshot(managers(healthy[0], failed, healthy[2])), "managers"))
        == "managers-1"
    )


def test_failed_pod_is_replaced_before_the_active_pool() -> None:
    """S14, S22: the active pool would wait for it."""
    failed = pod("managers-1", is_ready=False, problem=CRASHING, engine_version="3.3.2")
    owner = managers(pod("managers-0"), failed, pod("managers-2"))
    assert deleted_object(rollout_step(cluster_snapshot(pool("data", 2), owner), "managers")) == "managers-1"


def test_replaced_pod_of_a_pool_outside_the_rollout_ends_the_batch() -> None:
    """S14: the pod is ready although its version is no longer wanted."""
    replaced = pod("managers-1", template="other", engine_version="3.3.2")
    owner = managers(pod("managers-0"), replaced, pod("managers-2"))
    snapshot = cluster_snapshot(pool("data", 2), owner, max_batch=4)
    ledger = Ledger.of({REPLACED_PODS: (("managers-1", "earlier"),), BATCH_SIZE: ("data", 2)})
    result = roll_out(Rollout(snapshot, UpgradeLedger.of(ledger), (snapshot.pools[0],)))
    assert result.reason == "BatchReplaced"
    # The batch of another pool does not grow.
    assert BATCH_SIZE not in {change.key for change in result.ledger_changes}


def test_failed_surplus_pod_of_the_batch_is_abandoned() -> None:
    """S22, L4."""
    members = [pod(f"data-{n}", template="new", engine_version=NEW) for n in range(2)]
    failed = pod("data-2", is_ready=False, problem="Unschedulable", template="new")
    owner = pool("data", 2, pods=(*members, failed))
    snapshot = cluster_snapshot(owner, view=engine([owner]))
    result = rollout_step(snapshot, roll__away=(("data-2", "earlier"),))
    assert (result.reason, [(change.key, change.value) for change in result.ledger_changes]) == (
        "PodsAbandoned",
        [(REPLACED_PODS, None)],
    )
