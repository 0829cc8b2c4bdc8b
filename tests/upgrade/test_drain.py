"""When a drain starts, how long it lasts, and when it is undone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from rolls import calls, notes, with_claims
from searchkeeper.api.reasons import Reason
from searchkeeper.opensearch.calls import Exclude, SetAllocation
from searchkeeper.opensearch.view import EngineView, Index, Node, Unreachable
from searchkeeper.planner import Ledger, Records, Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.drain import drain, drain_steps, temporary_shard_hosts, wait_at_gate
from searchkeeper.upgrade.gates import Candidate, Gate, GateResult
from searchkeeper.upgrade.ledger import EXCLUDED, UpgradeLedger
from worlds import NEW, OLD, engine, pod, pool, world

MANAGERS = pool("managers", 3, roles="cluster_manager")
LAST = "logs: data-0*"  # of an index without a replica
SHARED = "logs: data-0* data-1"
BEGUN: dict[str, Entry] = {"engine__excluded": ("data-0",)}


def snapshot_of(
    home: PoolView | None = None,
    *shards: str,
    excluded: Collection[str] = (),
    replicas: int = 0,
    nodes: tuple[Node, ...] | None = None,
    **policy: Any,
) -> ClusterSnapshot:
    """Two data nodes, the first of which is the candidate, and managers."""
    home = home or pool("data", 2)
    view = engine((home, MANAGERS), shards or [LAST], indices=(Index("logs", replicas, OLD),))
    view = replace(view, excluded=frozenset(excluded), nodes=nodes or view.nodes)
    return world(home, MANAGERS, snapshot=view, **policy)


def drain_input(there: ClusterSnapshot, **lines: Entry) -> tuple[ClusterSnapshot, UpgradeLedger, Candidate]:
    """Return the arguments of `drain`. `engine__excluded` stands for the key `engine/excluded`."""
    ledger = Ledger.of({name.replace("__", "/"): entry for name, entry in lines.items()})
    there = replace(there, cluster=replace(there.cluster, records=Records(ledger)))
    return there, UpgradeLedger.of(ledger), Candidate(there.pools[0].pods[0], there.pools[0])


def drain_decision(there: ClusterSnapshot, **lines: Entry) -> Result | None:
    return drain(*drain_input(there, **lines))


def step(there: ClusterSnapshot, **lines: Entry) -> Result | None:
    """Return the next step of a drain, whatever it is needed for."""
    these = drain_input(there, **lines)
    assert isinstance(there.engine, EngineView)
    return next(drain_steps(*these, there.engine), None)


def reason(found: Result | None) -> str | None:
    return None if found is None else found.reason


def test_last_copy_starts_a_drain() -> None:
    found = drain_decision(snapshot_of())
    assert found is not None
    assert calls(found) == [Exclude(frozenset({"data-0"}))]
    assert notes(found) == {EXCLUDED: ("data-0",), f"{EXCLUDED}/taken-back": None}


def test_other_exclusions_stay() -> None:
    """I9: the exclusions of users are not recorded, and recorded ones are kept."""
    found = drain_decision(
        snapshot_of(pool("data", 4), excluded=["data-1", "data-3"]), engine__excluded=("data-1",)
    )
    assert found is not None
    assert calls(found) == [Exclude(frozenset({"data-0", "data-1", "data-3"}))]
    assert notes(found)[EXCLUDED] == ("data-0", "data-1")


def test_node_that_the_ledger_lists_is_no_target() -> None:
    """I7: its exclusion may be written again, and then no data node is left."""
    assert drain_decision(snapshot_of(), engine__excluded=("data-1",)) is None


def test_last_copy_with_an_unassigned_replica_starts_no_drain() -> None:
    """The replica may be assigned again; otherwise the user has to accept the loss."""
    assert drain_decision(snapshot_of(None, "logs: data-0* ?node_version", replicas=1)) is None


def test_drain_does_not_start_at_another_closed_gate() -> None:
    managers = replace(MANAGERS, pods=(*MANAGERS.pods[:2], pod("managers-2", is_ready=False)))
    there = snapshot_of()
    assert drain_decision(replace(there, pools=(there.pools[0], managers))) is None
    # A drain that has started continues: its own moving shards may close the gate.
    moving = replace(snapshot_of(excluded=["data-0"]), pools=(there.pools[0], managers))
    assert reason(drain_decision(moving, **BEGUN)) == "WaitingForDrain"


def test_pod_that_is_not_in_the_cluster_is_not_drained() -> None:
    """Its shards are lost or on other nodes."""
    lost = pool("data", 2, pods=[pod("data-0", is_ready=False), pod("data-1")])
    assert drain_decision(snapshot_of(lost, "logs: data-1*"), **BEGUN) is None


def test_no_drain_while_the_engine_is_unreachable() -> None:
    assert drain_decision(replace(snapshot_of(), engine=Unreachable("timed out")), **BEGUN) is None


def test_pause_ends_the_drain() -> None:
    """The exclusion is undone."""
    assert drain_decision(snapshot_of(excluded=["data-0"], paused=True), **BEGUN) is None
    verdict = GateResult(Gate.NOT_PAUSED, False, Reason.UPGRADE_PAUSED, "spec.upgrade.paused is set", 1)
    assert calls(wait_at_gate(*drain_input(snapshot_of(excluded=["data-0"]), **BEGUN), verdict)) == [
        Exclude(frozenset())
    ]


def test_closed_gate_restores_everything_but_the_drain() -> None:
    """S21."""
    verdict = GateResult(Gate.PODS_READY, False, Reason.WAITING_FOR_PODS, "managers-2 not ready", 900)
    assert (
        wait_at_gate(*drain_input(snapshot_of(excluded=["data-0"]), **BEGUN), verdict).reason
        == "WaitingForPods"
    )
    held = drain_input(snapshot_of(excluded=["data-0"]), **BEGUN, engine__allocation="all")
    assert calls(wait_at_gate(*held, verdict)) == [SetAllocation(None)]


def test_drain_without_target_changes_nothing_and_names_the_shard() -> None:
    """S09, I7."""
    alone = snapshot_of(excluded=["data-1"])
    found = drain_decision(alone)
    assert found is not None
    assert (found.reason, found.operations) == ("ShardsCannotMove", ())
    assert "spec.upgrade.acceptSingleCopyLoss" in found.message


def test_drain_is_undone_when_its_last_target_is_excluded() -> None:
    found = drain_decision(snapshot_of(excluded=["data-0", "data-1"]), **BEGUN)
    assert found is not None
    assert calls(found) == [Exclude(frozenset({"data-1"}))]


def test_accepted_loss_needs_no_drain() -> None:
    """Settings that belong to no drain stay."""
    there = snapshot_of(excluded=["data-1"], accept_single_copy_loss=True)
    assert drain_decision(there, engine__allocation="all") is None


def test_terminating_node_is_no_target() -> None:
    """The engine still lists it. The gate names the shards."""
    leaver = pod("data-1", is_terminating=True)
    assert drain_decision(snapshot_of(pool("data", 1, pods=[pod("data-0"), leaver]))) is None


def without_data_role(**others: Any) -> ClusterSnapshot:
    """The first pool loses the role data; a third pool keeps it."""
    routers = pool("data", 2, roles="ingest")
    keepers = pool("keepers", 1, pods=[pod("keepers-0", template="new")])
    nodes = engine((pool("data", 2), keepers, MANAGERS)).nodes
    there = snapshot_of(routers, others.pop("shards", SHARED), nodes=nodes, **others)
    return replace(there, pools=(*there.pools, keepers))


def test_node_that_loses_the_role_data_is_drained_of_every_copy() -> None:
    """I7: copies with a replica too."""
    found = drain_decision(without_data_role(replicas=1))
    assert found is not None
    assert calls(found) == [Exclude(frozenset({"data-0"}))]
    assert (
        reason(drain_decision(without_data_role(excluded=["data-0"], replicas=1), **BEGUN))
        == "WaitingForDrain"
    )


def test_node_that_loses_the_role_data_is_not_drained_if_no_node_keeps_it() -> None:
    """The gate names the cause. To accept a loss does not help."""
    there = without_data_role()
    assert drain_decision(replace(there, pools=there.pools[:2])) is None
    assert drain_decision(without_data_role(shards=LAST, excluded=["data-1", "keepers-0"])) is None


def test_drain_lasts_until_the_last_copies_have_moved() -> None:
    """I7: a copy counts until it has moved."""
    assert reason(step(snapshot_of(excluded=["data-0"]), **BEGUN)) == "WaitingForDrain"
    assert step(snapshot_of(None, "logs: data-1*", excluded=["data-0"]), **BEGUN) is None


def test_copies_with_a_replica_may_stay_when_nothing_moves() -> None:
    """S09."""
    assert step(snapshot_of(None, SHARED, excluded=["data-0"]), **BEGUN) is None
    assert (
        reason(step(snapshot_of(None, "logs: data-0>data-1 data-1*", excluded=["data-0"]), **BEGUN))
        == "WaitingForDrain"
    )


def test_copies_on_an_ephemeral_disk_get_time_to_move() -> None:
    """The engine needs time to start the moves."""
    brief = pool("data", 2, ephemeral=True)
    assert reason(step(snapshot_of(brief, SHARED, excluded=["data-0"]), **BEGUN)) == "WaitingForDrain"
    waits: Entry = ("WaitingForDrain", 900)
    assert step(snapshot_of(brief, SHARED, excluded=["data-0"]), **BEGUN, wait__PodsCurrent=waits) is None
    # An empty node is drained at once.
    assert step(snapshot_of(brief, "logs: data-1*", excluded=["data-0"]), **BEGUN) is None


def test_last_allocation_target_is_not_excluded() -> None:
    """I7: even if its disk is ephemeral."""
    lonely = snapshot_of(pool("data", 1, ephemeral=True), accept_single_copy_loss=True)
    found = step(lonely)
    assert found is not None
    assert found.operations == ()


def newer(**policy: Any) -> ClusterSnapshot:
    """The first node runs the newer version, so the other one cannot take its copies."""
    first: Pod = pod("data-0", engine_version=NEW, has_started=True)
    return snapshot_of(pool("data", 2, pods=[first, pod("data-1")]), excluded=["data-0"], **policy)


def test_last_copy_that_cannot_move_is_named() -> None:
    found = step(newer(), **BEGUN)
    assert found is not None
    assert (found.reason, found.message) == (
        "ShardsCannotMove",
        "no node may take logs[0] from data-0: data-1 runs an older version",
    )


def test_drain_does_not_wait_for_an_accepted_loss_unless_the_volume_is_deleted() -> None:
    assert step(newer(accept_single_copy_loss=True), **BEGUN) is None
    back = with_claims(newer(accept_single_copy_loss=True), data_0={})
    lines: dict[str, Entry] = {**BEGUN, "upgrade": (OLD, NEW), "upgrade__return": OLD}
    assert reason(step(back, **lines)) == "ShardsCannotMove"


LEAVING: dict[str, Entry] = {"engine__leaving": ("data-1",)}


def shard_hosts(there: ClusterSnapshot, **lines: Entry) -> frozenset[str]:
    these = drain_input(there, **(lines or LEAVING))
    return temporary_shard_hosts(these[0], these[1])


def test_departing_node_hosts_shards_of_an_outdated_node_without_target() -> None:
    """S09, L4."""
    assert shard_hosts(snapshot_of(excluded=["data-1"])) == {"data-1"}


@pytest.mark.parametrize(
    "there",
    [
        snapshot_of(None, SHARED, excluded=["data-1"]),
        snapshot_of(pool("data", 3), excluded=["data-1"]),
        snapshot_of(excluded=["data-1"], paused=True),
        snapshot_of(excluded=["data-1"], accept_single_copy_loss=True),
        replace(snapshot_of(), engine=Unreachable("timed out")),
        snapshot_of(
            pool("data", 2, pods=[pod(f"data-{n}", template="new", engine_version=NEW) for n in (0, 1)])
        ),
    ],
    ids=["has no last copy", "has a target", "paused", "loss accepted", "unreachable", "no outdated pod"],
)
def test_departing_node_hosts_no_shards_otherwise(there: ClusterSnapshot) -> None:
    assert shard_hosts(there) == frozenset()
