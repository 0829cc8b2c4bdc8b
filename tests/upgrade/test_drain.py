"""When a node is drained, for how long, and when that is undone, as single decisions."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from rollouts import engine_calls, ledger_changes, with_claims
from searchkeeper.api.reasons import Reason
from searchkeeper.opensearch.calls import Exclude, SetAllocation
from searchkeeper.opensearch.view import EngineView, Index, Node, Unreachable
from searchkeeper.planner import Ledger, Records, Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.drain import drain, drain_steps, temporary_shard_hosts, wait_at_gate
from searchkeeper.upgrade.gates import Candidate, Gate, GateResult
from searchkeeper.upgrade.ledger import EXCLUDED, UpgradeLedger
from snapshots import NEW, OLD, cluster_snapshot, engine, pod, pool

MANAGERS = pool("managers", 3, roles="cluster_manager")
LAST = "logs: data-0*"  # of an index without a replica
SHARED = "logs: data-0* data-1"
BEGUN: dict[str, Entry] = {"engine__excluded": ("data-0",)}


def seen(
    home: PoolView | None = None,
    *shards: str,
    excluded: Collection[str] = (),
    replicas: int = 0,
    nodes: tuple[Node, ...] | None = None,
    **policy: Any,
) -> ClusterSnapshot:
    """Two data nodes, of which the first is to be replaced, and managers."""
    home = home or pool("data", 2)
    view = engine((home, MANAGERS), shards or [LAST], indices=(Index("logs", replicas, OLD),))
    view = replace(view, excluded=frozenset(excluded), nodes=nodes or view.nodes)
    return cluster_snapshot(home, MANAGERS, view=view, **policy)


def given(there: ClusterSnapshot, **lines: Entry) -> tuple[ClusterSnapshot, UpgradeLedger, Candidate]:
    """`engine__excluded` is the line `engine/excluded`."""
    ledger = Ledger.of({name.replace("__", "/"): entry for name, entry in lines.items()})
    there = replace(there, cluster=replace(there.cluster, records=Records(ledger)))
    return there, UpgradeLedger.of(ledger), Candidate(there.pools[0].pods[0], there.pools[0])


def decided(there: ClusterSnapshot, **lines: Entry) -> Result | None:
    return drain(*given(there, **lines))


def step(there: ClusterSnapshot, **lines: Entry) -> Result | None:
    """The next of a drain that is to be, whatever for."""
    these = given(there, **lines)
    assert isinstance(there.engine, EngineView)
    return next(drain_steps(*these, there.engine), None)


def reason(found: Result | None) -> str | None:
    return None if found is None else found.reason


def test_node_with_a_last_copy_is_excluded_from_allocation() -> None:
    found = decided(seen())
    assert found is not None
    assert engine_calls(found) == [Exclude(frozenset({"data-0"}))]
    assert ledger_changes(found) == {EXCLUDED: ("data-0",), f"{EXCLUDED}/taken-back": None}


def test_exclusions_of_other_nodes_are_kept() -> None:
    """I9: those of users are not in the journal, and of ours nobody is forgotten."""
    found = decided(seen(pool("data", 4), excluded=["data-1", "data-3"]), engine__excluded=("data-1",))
    assert found is not None
    assert engine_calls(found) == [Exclude(frozenset({"data-0", "data-1", "data-3"}))]
    assert ledger_changes(found)[EXCLUDED] == ("data-0", "data-1")


def test_node_that_the_ledger_lists_is_no_target() -> None:
    """I7: its exclusion may be written again, and then no data node is left."""
    assert decided(seen(), engine__excluded=("data-1",)) is None


def test_node_is_not_drained_while_the_replica_of_its_copy_is_only_missing() -> None:
    """It comes back, or its owner has to say that it need not."""
    assert decided(seen(None, "logs: data-0* ?node_version", replicas=1)) is None


def test_no_drain_starts_while_another_gate_is_closed_but_one_that_has_started_continues() -> None:
    managers = replace(MANAGERS, pods=(*MANAGERS.pods[:2], pod("managers-2", is_ready=False)))
    there = seen()
    assert decided(replace(there, pools=(there.pools[0], managers))) is None
    # One that has begun goes on all the same: that its shards move may be why.
    moving = replace(seen(excluded=["data-0"]), pools=(there.pools[0], managers))
    assert reason(decided(moving, **BEGUN)) == "WaitingForDrain"


def test_node_that_has_not_joined_is_not_drained() -> None:
    """What it had is gone, or elsewhere."""
    lost = pool("data", 2, pods=[pod("data-0", is_ready=False), pod("data-1")])
    assert decided(seen(lost, "logs: data-1*"), **BEGUN) is None


def test_no_node_is_drained_while_the_engine_is_unreachable() -> None:
    assert decided(replace(seen(), engine=Unreachable("timed out")), **BEGUN) is None


def test_pause_stops_and_undoes_a_drain() -> None:
    """Whoever stops a roll undoes the drain."""
    assert decided(seen(excluded=["data-0"], paused=True), **BEGUN) is None
    verdict = GateResult(Gate.NOT_PAUSED, False, Reason.UPGRADE_PAUSED, "spec.upgrade.paused is set", 1)
    assert engine_calls(wait_at_gate(*given(seen(excluded=["data-0"]), **BEGUN), verdict)) == [
        Exclude(frozenset())
    ]


def test_closed_gate_restores_settings_but_not_the_drain() -> None:
    """S21."""
    verdict = GateResult(Gate.PODS_READY, False, Reason.WAITING_FOR_PODS, "managers-2 not ready", 900)
    assert wait_at_gate(*given(seen(excluded=["data-0"]), **BEGUN), verdict).reason == "WaitingForPods"
    held = given(seen(excluded=["data-0"]), **BEGUN, engine__allocation="all")
    assert engine_calls(wait_at_gate(*held, verdict)) == [SetAllocation(None)]


def test_last_copy_that_no_node_can_take_is_reported_and_nothing_is_set() -> None:
    """S09, I7."""
    alone = seen(excluded=["data-1"])
    found = decided(alone)
    assert found is not None
    assert (found.reason, found.operations) == ("ShardsCannotMove", ())
    assert "spec.upgrade.acceptSingleCopyLoss" in found.message


def test_started_drain_is_undone_when_no_target_remains() -> None:
    found = decided(seen(excluded=["data-0", "data-1"]), **BEGUN)
    assert found is not None
    assert engine_calls(found) == [Exclude(frozenset({"data-1"}))]


def test_unmovable_copy_is_not_reported_if_its_loss_is_accepted() -> None:
    """Nor is anything undone that was not set for a drain."""
    there = seen(excluded=["data-1"], accept_single_copy_loss=True)
    assert decided(there, engine__allocation="all") is None


def test_terminating_node_is_no_target_and_is_not_reported() -> None:
    """It takes no shards, and the engine does not know that yet; the gate says which ones."""
    leaver = pod("data-1", is_terminating=True)
    assert decided(seen(pool("data", 1, pods=[pod("data-0"), leaver]))) is None


def loser(**others: Any) -> ClusterSnapshot:
    """The first pool is not to hold data any more; another one keeps it where there is one."""
    routers = pool("data", 2, roles="ingest")
    keepers = pool("keepers", 1, pods=[pod("keepers-0", template="new")])
    nodes = engine((pool("data", 2), keepers, MANAGERS)).nodes
    there = seen(routers, others.pop("shards", SHARED), nodes=nodes, **others)
    return replace(there, pools=(*there.pools, keepers))


def test_node_that_loses_the_data_role_is_drained_of_every_copy() -> None:
    """I7: also those of which there are others."""
    found = decided(loser(replicas=1))
    assert found is not None
    assert engine_calls(found) == [Exclude(frozenset({"data-0"}))]
    assert reason(decided(loser(excluded=["data-0"], replicas=1), **BEGUN)) == "WaitingForDrain"


def test_node_that_loses_the_data_role_is_not_drained_without_a_target() -> None:
    """The gate says so: no loss that could be accepted would help."""
    there = loser()
    assert decided(replace(there, pools=there.pools[:2])) is None
    assert decided(loser(shards=LAST, excluded=["data-1", "keepers-0"])) is None


def test_drain_waits_until_the_last_copies_have_moved() -> None:
    """I7: a copy that is only about to move is still here."""
    assert reason(step(seen(excluded=["data-0"]), **BEGUN)) == "WaitingForDrain"
    assert step(seen(None, "logs: data-1*", excluded=["data-0"]), **BEGUN) is None


def test_copy_with_a_replica_may_stay_when_no_shard_moves() -> None:
    """S09."""
    assert step(seen(None, SHARED, excluded=["data-0"]), **BEGUN) is None
    assert (
        reason(step(seen(None, "logs: data-0>data-1 data-1*", excluded=["data-0"]), **BEGUN))
        == "WaitingForDrain"
    )


def test_copy_with_a_replica_on_ephemeral_storage_has_until_the_deadline_to_move() -> None:
    """Then they have their time to leave."""
    brief = pool("data", 2, ephemeral=True)
    assert reason(step(seen(brief, SHARED, excluded=["data-0"]), **BEGUN)) == "WaitingForDrain"
    waits: Entry = ("WaitingForDrain", 900)
    assert step(seen(brief, SHARED, excluded=["data-0"]), **BEGUN, wait__PodsCurrent=waits) is None
    # One that is empty has nothing to wait for.
    assert step(seen(brief, "logs: data-1*", excluded=["data-0"]), **BEGUN) is None


def test_last_node_that_may_hold_shards_is_not_excluded() -> None:
    """I7: whatever is to become of its disk."""
    lonely = seen(pool("data", 1, ephemeral=True), accept_single_copy_loss=True)
    found = step(lonely)
    assert found is not None
    assert found.operations == ()


def newer(**policy: Any) -> ClusterSnapshot:
    """The first node is of the newer version, so that the other one may never have its copies."""
    first: Pod = pod("data-0", engine_version=NEW, has_started=True)
    return seen(pool("data", 2, pods=[first, pod("data-1")]), excluded=["data-0"], **policy)


def test_last_copy_that_can_never_move_is_reported() -> None:
    found = step(newer(), **BEGUN)
    assert found is not None
    assert (found.reason, found.message) == (
        "ShardsCannotMove",
        "no node may take logs[0] from data-0: data-1 runs an older version",
    )


def test_last_copy_is_not_waited_for_if_its_loss_is_accepted_and_the_disk_stays() -> None:
    assert step(newer(accept_single_copy_loss=True), **BEGUN) is None
    back = with_claims(newer(accept_single_copy_loss=True), data_0={})
    lines: dict[str, Entry] = {**BEGUN, "upgrade": (OLD, NEW), "upgrade__return": OLD}
    assert reason(step(back, **lines)) == "ShardsCannotMove"


LEAVING: dict[str, Entry] = {"engine__leaving": ("data-1",)}


def lent(there: ClusterSnapshot, **lines: Entry) -> frozenset[str]:
    these = given(there, **(lines or LEAVING))
    return temporary_shard_hosts(these[0], these[1])


def test_departing_node_takes_shards_of_an_outdated_node_without_another_target() -> None:
    """S09, L4."""
    assert lent(seen(excluded=["data-1"])) == {"data-1"}


@pytest.mark.parametrize(
    "there",
    [
        seen(None, SHARED, excluded=["data-1"]),
        seen(pool("data", 3), excluded=["data-1"]),
        seen(excluded=["data-1"], paused=True),
        seen(excluded=["data-1"], accept_single_copy_loss=True),
        replace(seen(), engine=Unreachable("timed out")),
        seen(pool("data", 2, pods=[pod(f"data-{n}", template="new", engine_version=NEW) for n in (0, 1)])),
    ],
    ids=["has no last copy", "has somebody else", "paused", "loss accepted", "silent", "nobody is stale"],
)
def test_departing_node_takes_no_shards_otherwise(there: ClusterSnapshot) -> None:
    assert lent(there) == frozenset()
