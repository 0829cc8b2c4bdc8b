"""StatefulSet rollout: when the partition advances, and how far."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.planner import Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.ledger import BATCH_FAILED, BATCH_SIZE, PARTITION, UpgradeLedger
from searchkeeper.upgrade.statefulset_rollout import advance_partition, partition
from tests.support.searchkeeper.snapshots import NEW, cluster_snapshot, engine, pod, pool

MANAGER = pool("managers", 1, roles="cluster_manager")


def current(name: str, **overrides: object) -> Pod:
    return replace(pod(name, template="new", engine_version=NEW), **overrides)  # type: ignore[arg-type]


def routers(*members: Pod) -> PoolView:
    return pool("routers", len(members), roles="coordinating", pods=members)


def next_step(
    snapshot: ClusterSnapshot, owner: PoolView, lowest: int | None = None, **entries: Entry
) -> Result:
    """Return the next step. `roll__size` is the ledger key `roll/size`."""
    ledger: dict[str, Entry] = {} if lowest is None else {PARTITION: ("routers", "new", lowest)}
    ledger |= {name.replace("__", "/"): entry for name, entry in entries.items()}
    return advance_partition(snapshot, UpgradeLedger.of(ledger), owner)


def ledger_changes(result: Result) -> dict[str, Entry | None]:
    return {change.key: change.value for change in result.ledger_changes}


def test_partition_holds_back_every_outdated_pod_at_first() -> None:
    owner = routers(pod("routers-0"), pod("routers-1"))
    assert partition(owner, "new", UpgradeLedger()) == 2


def test_partition_is_zero_without_outdated_pods() -> None:
    assert partition(routers(current("routers-0")), "new", UpgradeLedger()) == 0


def test_partition_of_another_template_does_not_count() -> None:
    ledger = UpgradeLedger.of({PARTITION: ("routers", "older", 0)})
    assert partition(routers(pod("routers-0")), "new", ledger) == 1


def test_highest_ordinal_is_first() -> None:
    owner = routers(pod("routers-0"), pod("routers-1"))
    assert ledger_changes(next_step(cluster_snapshot(owner, MANAGER), owner))[PARTITION] == (
        "routers",
        "new",
        1,
    )


def test_batch_waits_until_its_pods_have_the_current_template() -> None:
    owner = routers(pod("routers-0"), pod("routers-1"))
    assert next_step(cluster_snapshot(owner, MANAGER), owner, 1).reason == "WaitingForStatefulSet"


def test_batch_waits_until_its_pods_are_ready() -> None:
    owner = routers(pod("routers-0"), current("routers-1", is_ready=False))
    assert next_step(cluster_snapshot(owner, MANAGER), owner, 1).reason == "WaitingForStatefulSet"


@pytest.mark.parametrize("overrides", [{"is_ready": False}, {"is_terminating": True}], ids=str)
def test_batch_waits_for_its_pods_although_their_nodes_have_joined(overrides: dict[str, bool]) -> None:
    owner = routers(pod("routers-0"), current("routers-1", **overrides))
    joined = engine([routers(pod("routers-0"), current("routers-1")), MANAGER])
    assert (
        next_step(cluster_snapshot(owner, MANAGER, view=joined), owner, 1).reason == "WaitingForStatefulSet"
    )


def test_batch_waits_until_its_nodes_have_joined_with_their_new_version() -> None:
    owner = routers(pod("routers-0"), current("routers-1"))
    view = engine([routers(pod("routers-0"), pod("routers-1")), MANAGER])
    assert next_step(cluster_snapshot(owner, MANAGER, view=view), owner, 1).reason == "WaitingForStatefulSet"


def test_batch_waits_for_missing_pods() -> None:
    owner = replace(routers(pod("routers-0"), current("routers-1")), pods=(pod("routers-0"),))
    assert next_step(cluster_snapshot(owner, MANAGER), owner, 1).reason == "WaitingForStatefulSet"


def test_batch_waits_until_its_nodes_have_joined() -> None:
    owner = routers(pod("routers-0"), current("routers-1"))
    view = engine([routers(pod("routers-0")), MANAGER])
    assert next_step(cluster_snapshot(owner, MANAGER, view=view), owner, 1).reason == "WaitingForStatefulSet"


def test_gates_are_checked_before_each_batch() -> None:
    owner = routers(pod("routers-0"), current("routers-1"))
    assert next_step(cluster_snapshot(owner, MANAGER, paused=True), owner, 1).reason == "UpgradePaused"
    assert next_step(cluster_snapshot(owner, MANAGER), owner, 1).reason == "AdvancingPartition"


def seven_routers() -> tuple[PoolView, ClusterSnapshot]:
    """Return a pool of seven pods: the last four have the current template, one of them is not ready."""
    old = [pod(f"routers-{n}") for n in range(3)]
    owner = routers(*old, current("routers-3", is_ready=False), *(current(f"routers-{n}") for n in (4, 5, 6)))
    return owner, cluster_snapshot(owner, MANAGER, max_batch=4)


def test_late_batch_halves_the_next_one_once() -> None:
    """I12: once, however long it is late."""
    owner, snapshot = seven_routers()
    waits: Entry = ("WaitingForStatefulSet", snapshot.now - snapshot.cluster.spec.upgrade.health_deadline)
    late = next_step(snapshot, owner, 3, roll__size=("routers", 4), wait__PodsCurrent=waits)
    assert ledger_changes(late) == {BATCH_FAILED: True, BATCH_SIZE: ("routers", 2)}
    retried = next_step(
        snapshot, owner, 3, roll__size=("routers", 2), roll__trouble=True, wait__PodsCurrent=waits
    )
    assert ledger_changes(retried) == {}


def test_batch_before_the_deadline_halves_nothing() -> None:
    owner, snapshot = seven_routers()
    assert ledger_changes(next_step(snapshot, owner, 3, roll__size=("routers", 4))) == {}


@pytest.mark.parametrize(("has_failed", "size"), [(False, 4), (True, 2)])
def test_batch_does_not_grow_after_a_failure(has_failed: bool, size: int) -> None:
    members = [pod(f"routers-{n}") for n in range(5)]
    owner = routers(*members, current("routers-5"), current("routers-6"))
    entries: dict[str, Entry] = {
        "roll__size": ("routers", 2),
        **({"roll__trouble": True} if has_failed else {}),
    }
    changes = ledger_changes(next_step(cluster_snapshot(owner, MANAGER, max_batch=8), owner, 5, **entries))
    assert changes[PARTITION] == ("routers", "new", 5 - size)
    assert changes[BATCH_SIZE] == ("routers", size)
    assert changes.get(BATCH_FAILED, "unchanged") is (None if has_failed else "unchanged")


def test_failed_pod_does_not_stop_the_partition() -> None:
    """S22: the StatefulSet controller goes from the highest ordinal down, and replaces it in the end."""
    owner = routers(pod("routers-0", is_ready=False, problem="CrashLoopBackOff"), pod("routers-1"))
    assert next_step(cluster_snapshot(owner, MANAGER), owner).reason == "AdvancingPartition"


def former_managers(*votes: str) -> tuple[PoolView, ClusterSnapshot]:
    """Return routers that were managers, of which these still vote, beside one that stays a manager."""
    owner = routers(*(pod(f"routers-{n}") for n in range(3)))
    view = engine([owner, MANAGER], voters=frozenset(votes))
    return owner, cluster_snapshot(owner, MANAGER, view=view, max_batch=4)


def test_only_vote_moves_to_another_manager_first() -> None:
    owner, snapshot = former_managers("routers-2")
    assert next_step(snapshot, owner).reason == "MovingVote"


def test_batch_with_a_voter_has_one_pod() -> None:
    """I2: the StatefulSet controller would replace the next voter as soon as the first is ready."""
    owner, snapshot = former_managers("routers-0", "routers-1", "managers-0")
    assert ledger_changes(next_step(snapshot, owner, 3, roll__size=("routers", 2)))[PARTITION] == (
        "routers",
        "new",
        2,
    )


def test_only_vote_is_kept_if_no_manager_can_take_it() -> None:
    owner = routers(pod("routers-0"))
    view = engine([owner], voters=frozenset({"routers-0"}))
    assert next_step(cluster_snapshot(owner, view=view), owner).reason == "QuorumAtRisk"
