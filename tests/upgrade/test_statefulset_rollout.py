"""What Kubernetes is given to replace, and when."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.planner import Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.ledger import BATCH_FAILED, BATCH_SIZE, PARTITION, UpgradeLedger
from searchkeeper.upgrade.statefulset_rollout import advance_partition, partition
from snapshots import NEW, cluster_snapshot, engine, pod, pool

MANAGER = pool("managers", 1, roles="cluster_manager")


def current(name: str, **differences: object) -> Pod:
    return replace(pod(name, template="new", engine_version=NEW), **differences)  # type: ignore[arg-type]


def routers(*members: Pod) -> PoolView:
    return pool("routers", len(members), roles="coordinating", pods=members)


def answer(snapshot: ClusterSnapshot, home: PoolView, lowest: int | None = None, **lines: Entry) -> Result:
    """`roll__size` is the line `roll/size`."""
    ledger: dict[str, Entry] = {} if lowest is None else {PARTITION: ("routers", "new", lowest)}
    ledger |= {name.replace("__", "/"): entry for name, entry in lines.items()}
    return advance_partition(snapshot, UpgradeLedger.of(ledger), home)


def ledger_changes(found: Result) -> dict[str, Entry | None]:
    return {note.key: note.value for note in found.ledger_changes}


def test_partition_holds_back_every_outdated_pod_at_first() -> None:
    home = routers(pod("routers-0"), pod("routers-1"))
    assert partition(home, "new", UpgradeLedger()) == 2


def test_partition_is_zero_without_outdated_pods() -> None:
    assert partition(routers(current("routers-0")), "new", UpgradeLedger()) == 0


def test_partition_of_another_template_does_not_count() -> None:
    ledger = UpgradeLedger.of({PARTITION: ("routers", "older", 0)})
    assert partition(routers(pod("routers-0")), "new", ledger) == 1


def test_highest_ordinal_is_first() -> None:
    home = routers(pod("routers-0"), pod("routers-1"))
    assert ledger_changes(answer(cluster_snapshot(home, MANAGER), home))[PARTITION] == ("routers", "new", 1)


def test_batch_waits_until_its_pods_have_the_current_template() -> None:
    home = routers(pod("routers-0"), pod("routers-1"))
    assert answer(cluster_snapshot(home, MANAGER), home, 1).reason == "WaitingForStatefulSet"


def test_batch_waits_until_its_pods_are_ready() -> None:
    home = routers(pod("routers-0"), current("routers-1", is_ready=False))
    assert answer(cluster_snapshot(home, MANAGER), home, 1).reason == "WaitingForStatefulSet"


@pytest.mark.parametrize("differences", [{"is_ready": False}, {"is_terminating": True}], ids=str)
def test_batch_waits_for_its_pods_although_their_nodes_have_joined(differences: dict[str, bool]) -> None:
    home = routers(pod("routers-0"), current("routers-1", **differences))
    joined = engine([routers(pod("routers-0"), current("routers-1")), MANAGER])
    assert answer(cluster_snapshot(home, MANAGER, view=joined), home, 1).reason == "WaitingForStatefulSet"


def test_batch_waits_until_its_nodes_have_joined_with_their_new_version() -> None:
    home = routers(pod("routers-0"), current("routers-1"))
    before = engine([routers(pod("routers-0"), pod("routers-1")), MANAGER])
    assert answer(cluster_snapshot(home, MANAGER, view=before), home, 1).reason == "WaitingForStatefulSet"


def test_batch_waits_for_missing_pods() -> None:
    home = replace(routers(pod("routers-0"), current("routers-1")), pods=(pod("routers-0"),))
    assert answer(cluster_snapshot(home, MANAGER), home, 1).reason == "WaitingForStatefulSet"


def test_batch_waits_until_its_nodes_have_joined() -> None:
    home = routers(pod("routers-0"), current("routers-1"))
    lonely = engine([routers(pod("routers-0")), MANAGER])
    assert answer(cluster_snapshot(home, MANAGER, view=lonely), home, 1).reason == "WaitingForStatefulSet"


def test_gates_are_checked_before_each_batch() -> None:
    home = routers(pod("routers-0"), current("routers-1"))
    assert answer(cluster_snapshot(home, MANAGER, paused=True), home, 1).reason == "UpgradePaused"
    assert answer(cluster_snapshot(home, MANAGER), home, 1).reason == "AdvancingPartition"


def seven() -> tuple[PoolView, ClusterSnapshot]:
    """Of seven pods the last four are of the newest template, and one of them is not ready."""
    old = [pod(f"routers-{n}") for n in range(3)]
    home = routers(*old, current("routers-3", is_ready=False), *(current(f"routers-{n}") for n in (4, 5, 6)))
    return home, cluster_snapshot(home, MANAGER, max_batch=4)


def test_late_batch_halves_the_next_one_once() -> None:
    """I12: once, however long it takes."""
    home, snapshot = seven()
    waits: Entry = ("WaitingForStatefulSet", snapshot.now - snapshot.cluster.spec.upgrade.health_deadline)
    late = answer(snapshot, home, 3, roll__size=("routers", 4), wait__PodsCurrent=waits)
    assert ledger_changes(late) == {BATCH_FAILED: True, BATCH_SIZE: ("routers", 2)}
    again = answer(snapshot, home, 3, roll__size=("routers", 2), roll__trouble=True, wait__PodsCurrent=waits)
    assert ledger_changes(again) == {}


def test_batch_before_the_deadline_halves_nothing() -> None:
    home, snapshot = seven()
    assert ledger_changes(answer(snapshot, home, 3, roll__size=("routers", 4))) == {}


@pytest.mark.parametrize(("trouble", "size"), [(False, 4), (True, 2)])
def test_batch_does_not_grow_after_a_failure(trouble: bool, size: int) -> None:
    members = [pod(f"routers-{n}") for n in range(5)]
    home = routers(*members, current("routers-5"), current("routers-6"))
    lines: dict[str, Entry] = {"roll__size": ("routers", 2), **({"roll__trouble": True} if trouble else {})}
    found = ledger_changes(answer(cluster_snapshot(home, MANAGER, max_batch=8), home, 5, **lines))
    assert found[PARTITION] == ("routers", "new", 5 - size)
    assert found[BATCH_SIZE] == ("routers", size)
    assert found.get(BATCH_FAILED, "not told") is (None if trouble else "not told")


def test_failed_pod_does_not_stop_the_partition() -> None:
    """S22: it goes from the highest ordinal down, and comes to that one in the end."""
    home = routers(pod("routers-0", is_ready=False, problem="CrashLoopBackOff"), pod("routers-1"))
    assert answer(cluster_snapshot(home, MANAGER), home).reason == "AdvancingPartition"


def former(*votes: str) -> tuple[PoolView, ClusterSnapshot]:
    """Routers that were managers, of which these still vote, beside one that stays."""
    home = routers(*(pod(f"routers-{n}") for n in range(3)))
    view = engine([home, MANAGER], voters=frozenset(votes))
    return home, cluster_snapshot(home, MANAGER, view=view, max_batch=4)


def test_only_vote_moves_to_another_manager_first() -> None:
    home, snapshot = former("routers-2")
    assert answer(snapshot, home).reason == "MovingVote"


def test_batch_with_a_voter_has_one_pod() -> None:
    """I2: Kubernetes would replace the next voter as soon as the first is back."""
    home, snapshot = former("routers-0", "routers-1", "managers-0")
    assert ledger_changes(answer(snapshot, home, 3, roll__size=("routers", 2)))[PARTITION] == (
        "routers",
        "new",
        2,
    )


def test_only_vote_is_kept_if_no_manager_can_take_it() -> None:
    home = routers(pod("routers-0"))
    view = engine([home], voters=frozenset({"routers-0"}))
    assert answer(cluster_snapshot(home, view=view), home).reason == "QuorumAtRisk"
