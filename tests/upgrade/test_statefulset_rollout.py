"""The partition of a StatefulSet rollout."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.planner import Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.ledger import BATCH_FAILED, BATCH_SIZE, PARTITION, UpgradeLedger
from searchkeeper.upgrade.statefulset_rollout import advance_partition, partition
from worlds import NEW, engine, pod, pool, world

MANAGER = pool("managers", 1, roles="cluster_manager")


def current(name: str, **differences: object) -> Pod:
    return replace(pod(name, template="new", engine_version=NEW), **differences)  # type: ignore[arg-type]


def routers(*members: Pod) -> PoolView:
    return pool("routers", len(members), roles="coordinating", pods=members)


def next_step(snapshot: ClusterSnapshot, home: PoolView, lowest: int | None = None, **lines: Entry) -> Result:
    """Return the next step. `roll__size` stands for the key `roll/size`."""
    ledger: dict[str, Entry] = {} if lowest is None else {PARTITION: ("routers", "new", lowest)}
    ledger |= {name.replace("__", "/"): entry for name, entry in lines.items()}
    return advance_partition(snapshot, UpgradeLedger.of(ledger), home)


def notes(found: Result) -> dict[str, Entry | None]:
    return {note.key: note.value for note in found.ledger_changes}


def test_no_pod_may_be_replaced_before_the_partition_is_recorded() -> None:
    home = routers(pod("routers-0"), pod("routers-1"))
    assert partition(home, "new", UpgradeLedger()) == 2


def test_pool_without_outdated_pods_has_partition_zero() -> None:
    assert partition(routers(current("routers-0")), "new", UpgradeLedger()) == 0


def test_partition_of_another_template_does_not_count() -> None:
    ledger = UpgradeLedger.of({PARTITION: ("routers", "older", 0)})
    assert partition(routers(pod("routers-0")), "new", ledger) == 1


def test_highest_ordinal_comes_first() -> None:
    home = routers(pod("routers-0"), pod("routers-1"))
    assert notes(next_step(world(home, MANAGER), home))[PARTITION] == ("routers", "new", 1)


def test_batch_waits_for_the_current_template() -> None:
    home = routers(pod("routers-0"), pod("routers-1"))
    assert next_step(world(home, MANAGER), home, 1).reason == "WaitingForStatefulSet"


def test_batch_waits_until_pods_are_ready() -> None:
    home = routers(pod("routers-0"), current("routers-1", is_ready=False))
    assert next_step(world(home, MANAGER), home, 1).reason == "WaitingForStatefulSet"


@pytest.mark.parametrize("differences", [{"is_ready": False}, {"is_terminating": True}], ids=str)
def test_batch_waits_although_its_nodes_have_joined(differences: dict[str, bool]) -> None:
    home = routers(pod("routers-0"), current("routers-1", **differences))
    joined = engine([routers(pod("routers-0"), current("routers-1")), MANAGER])
    assert next_step(world(home, MANAGER, snapshot=joined), home, 1).reason == "WaitingForStatefulSet"


def test_batch_waits_until_nodes_join_with_their_new_version() -> None:
    home = routers(pod("routers-0"), current("routers-1"))
    before = engine([routers(pod("routers-0"), pod("routers-1")), MANAGER])
    assert next_step(world(home, MANAGER, snapshot=before), home, 1).reason == "WaitingForStatefulSet"


def test_batch_waits_for_a_missing_pod() -> None:
    home = replace(routers(pod("routers-0"), current("routers-1")), pods=(pod("routers-0"),))
    assert next_step(world(home, MANAGER), home, 1).reason == "WaitingForStatefulSet"


def test_batch_waits_until_nodes_join() -> None:
    home = routers(pod("routers-0"), current("routers-1"))
    lonely = engine([routers(pod("routers-0")), MANAGER])
    assert next_step(world(home, MANAGER, snapshot=lonely), home, 1).reason == "WaitingForStatefulSet"


def test_gates_are_checked_before_each_batch() -> None:
    home = routers(pod("routers-0"), current("routers-1"))
    assert next_step(world(home, MANAGER, paused=True), home, 1).reason == "UpgradePaused"
    assert next_step(world(home, MANAGER), home, 1).reason == "AdvancingPartition"


def seven_routers() -> tuple[PoolView, ClusterSnapshot]:
    """Seven routers. The last four have the current template; one of them is not ready."""
    old = [pod(f"routers-{n}") for n in range(3)]
    home = routers(*old, current("routers-3", is_ready=False), *(current(f"routers-{n}") for n in (4, 5, 6)))
    return home, world(home, MANAGER, max_batch=4)


def test_batch_that_takes_too_long_halves_the_next_once() -> None:
    """I12."""
    home, snapshot = seven_routers()
    waits: Entry = ("WaitingForStatefulSet", snapshot.now - snapshot.cluster.spec.upgrade.health_deadline)
    late = next_step(snapshot, home, 3, roll__size=("routers", 4), wait__PodsCurrent=waits)
    assert notes(late) == {BATCH_FAILED: True, BATCH_SIZE: ("routers", 2)}
    again = next_step(
        snapshot, home, 3, roll__size=("routers", 2), roll__trouble=True, wait__PodsCurrent=waits
    )
    assert notes(again) == {}


def test_slow_batch_does_not_halve_the_next() -> None:
    home, snapshot = seven_routers()
    assert notes(next_step(snapshot, home, 3, roll__size=("routers", 4))) == {}


@pytest.mark.parametrize(("trouble", "size"), [(False, 4), (True, 2)])
def test_batch_does_not_grow_after_a_failure(trouble: bool, size: int) -> None:
    members = [pod(f"routers-{n}") for n in range(5)]
    home = routers(*members, current("routers-5"), current("routers-6"))
    lines: dict[str, Entry] = {"roll__size": ("routers", 2), **({"roll__trouble": True} if trouble else {})}
    found = notes(next_step(world(home, MANAGER, max_batch=8), home, 5, **lines))
    assert found[PARTITION] == ("routers", "new", 5 - size)
    assert found[BATCH_SIZE] == ("routers", size)
    assert found.get(BATCH_FAILED, "not told") is (None if trouble else "not told")


def test_failed_pod_does_not_stop_the_statefulset_rollout() -> None:
    """S22: the controller replaces it in the end."""
    home = routers(pod("routers-0", is_ready=False, problem="CrashLoopBackOff"), pod("routers-1"))
    assert next_step(world(home, MANAGER), home).reason == "AdvancingPartition"


def former_managers(*votes: str) -> tuple[PoolView, ClusterSnapshot]:
    """Routers that were managers, of which these still vote, and one manager."""
    home = routers(*(pod(f"routers-{n}") for n in range(3)))
    view = engine([home, MANAGER], voters=frozenset(votes))
    return home, world(home, MANAGER, snapshot=view, max_batch=4)


def test_only_vote_moves_before_the_partition_advances() -> None:
    home, snapshot = former_managers("routers-2")
    assert next_step(snapshot, home).reason == "MovingVote"


def test_voters_are_replaced_one_by_one() -> None:
    """I2: the controller would replace the next voter as soon as the first is ready."""
    home, snapshot = former_managers("routers-0", "routers-1", "managers-0")
    assert notes(next_step(snapshot, home, 3, roll__size=("routers", 2)))[PARTITION] == ("routers", "new", 2)


def test_only_vote_blocks_if_no_manager_can_take_it() -> None:
    home = routers(pod("routers-0"))
    view = engine([home], voters=frozenset({"routers-0"}))
    assert next_step(world(home, snapshot=view), home).reason == "QuorumAtRisk"
