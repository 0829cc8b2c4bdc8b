"""Drain: when it starts, when it ends, and when it is undone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.api.reasons import Reason
from searchkeeper.opensearch.calls import Exclude, SetAllocation
from searchkeeper.opensearch.view import EngineView, Index, Node, Unreachable
from searchkeeper.planner import Ledger, Records, Result
from searchkeeper.planner.ledger import Entry
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.drain import drain, drain_steps, temporary_shard_hosts, wait_at_gate
from searchkeeper.upgrade.gates import Candidate, Gate, GateResult
from searchkeeper.upgrade.ledger import EXCLUDED, UpgradeLedger
from tests.support.searchkeeper.rollouts import engine_calls, ledger_changes, with_claims
from tests.support.searchkeeper.snapshots import NEW, OLD, cluster_snapshot, engine, pod, pool

MANAGERS = pool("managers", 3, roles="cluster_manager")
LAST = "logs: data-0*"  # an index without replicas
SHARED = "logs: data-0* data-1"
STARTED: dict[str, Entry] = {"engine__excluded": ("data-0",)}


def observed_cluster(
    data_pool: PoolView | None = None,
    *shards: str,
    excluded: Collection[str] = (),
    replicas: int = 0,
    nodes: tuple[Node, ...] | None = None,
    **policy: Any,
) -> ClusterSnapshot:
    """Return a snapshot of managers and two data nodes, the first of which is to be replaced."""
    data_pool = data_pool or pool("data", 2)
    view = engine((data_pool, MANAGERS), shards or [LAST], indices=(Index("logs", replicas, OLD),))
    view = replace(view, excluded=frozenset(excluded), nodes=nodes or view.nodes)
    return cluster_snapshot(data_pool, MANAGERS, view=view, **policy)


def drain_input(
    snapshot: ClusterSnapshot, **entries: Entry
) -> tuple[ClusterSnapshot, UpgradeLedger, Candidate]:
    """Return the arguments of `drain`. `engine__excluded` is the ledger key `engine/excluded`."""
    ledger = Ledger.of({name.replace("__", "/"): entry for name, entry in entries.items()})
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, records=Records(ledger)))
    return snapshot, UpgradeLedger.of(ledger), Candidate(snapshot.pools[0].pods[0], snapshot.pools[0])


def drain_step(snapshot: ClusterSnapshot, **entries: Entry) -> Result | None:
    return drain(*drain_input(snapshot, **entries))


def next_drain_step(snapshot: ClusterSnapshot, **entries: Entry) -> Result | None:
    """Return the next step of a drain, whatever it is needed for."""
    arguments = drain_input(snapshot, **entries)
    assert isinstance(snapshot.engine, EngineView)
    return next(drain_steps(*arguments, snapshot.engine), None)


def reason(result: Result | None) -> str | None:
    return None if result is None else result.reason


def test_node_with_a_last_copy_is_excluded_from_allocation() -> None:
    result = drain_step(observed_cluster())
    assert result is not None
    assert engine_calls(result) == [Exclude(frozenset({"data-0"}))]
    assert ledger_changes(result) == {EXCLUDED: ("data-0",), f"{EXCLUDED}/taken-back": None}


def test_exclusions_of_other_nodes_are_kept() -> None:
    """I9: exclusions of users are not in the ledger, and those of the operator stay in it."""
    result = drain_step(
        observed_cluster(pool("data", 4), excluded=["data-1", "data-3"]), engine__excluded=("data-1",)
    )
    assert result is not None
    assert engine_calls(result) == [Exclude(frozenset({"data-0", "data-1", "data-3"}))]
    assert ledger_changes(result)[EXCLUDED] == ("data-0", "data-1")


def test_node_that_the_ledger_lists_is_no_target() -> None:
    """I7: its exclusion may be written again, and then no data node is left."""
    assert drain_step(observed_cluster(), engine__excluded=("data-1",)) is None


def test_node_is_not_drained_while_the_replica_of_its_copy_is_only_missing() -> None:
    """The replica is assigned again, or the user accepts its loss."""
    assert drain_step(observed_cluster(None, "logs: data-0* ?node_version", replicas=1)) is None


def test_no_drain_starts_while_another_gate_is_closed_but_one_that_has_started_continues() -> None:
    managers = replace(MANAGERS, pods=(*MANAGERS.pods[:2], pod("managers-2", is_ready=False)))
    snapshot = observed_cluster()
    assert drain_step(replace(snapshot, pools=(snapshot.pools[0], managers))) is None
    # Moving shards may be what closes the gate.
    moving = replace(observed_cluster(excluded=["data-0"]), pools=(snapshot.pools[0], managers))
    assert reason(drain_step(moving, **STARTED)) == "WaitingForDrain"


def test_node_that_has_not_joined_is_not_drained() -> None:
    """It holds no shard that could move."""
    data_pool = pool("data", 2, pods=[pod("data-0", is_ready=False), pod("data-1")])
    assert drain_step(observed_cluster(data_pool, "logs: data-1*"), **STARTED) is None


def test_no_node_is_drained_while_the_engine_is_unreachable() -> None:
    assert drain_step(replace(observed_cluster(), engine=Unreachable("timed out")), **STARTED) is None


def test_pause_stops_and_undoes_a_drain() -> None:
    """The exclusion is removed until the pause ends."""
    assert drain_step(observed_cluster(excluded=["data-0"], paused=True), **STARTED) is None
    gate_result = GateResult(Gate.NOT_PAUSED, False, Reason.UPGRADE_PAUSED, "spec.upgrade.paused is set", 1)
    assert engine_calls(
        wait_at_gate(*drain_input(observed_cluster(excluded=["data-0"]), **STARTED), gate_result)
    ) == [Exclude(frozenset())]


def test_closed_gate_restores_settings_but_not_the_drain() -> None:
    """S21."""
    gate_result = GateResult(Gate.PODS_READY, False, Reason.WAITING_FOR_PODS, "managers-2 not ready", 900)
    assert (
        wait_at_gate(*drain_input(observed_cluster(excluded=["data-0"]), **STARTED), gate_result).reason
        == "WaitingForPods"
    )
    arguments = drain_input(observed_cluster(excluded=["data-0"]), **STARTED, engine__allocation="all")
    assert engine_calls(wait_at_gate(*arguments, gate_result)) == [SetAllocation(None)]


def test_last_copy_that_no_node_can_take_is_reported_and_nothing_is_set() -> None:
    """S09, I7."""
    snapshot = observed_cluster(excluded=["data-1"])
    result = drain_step(snapshot)
    assert result is not None
    assert (result.reason, result.operations) == ("ShardsCannotMove", ())
    assert "spec.upgrade.acceptSingleCopyLoss" in result.message


def test_started_drain_is_undone_when_no_target_remains() -> None:
    result = drain_step(observed_cluster(excluded=["data-0", "data-1"]), **STARTED)
    assert result is not None
    assert engine_calls(result) == [Exclude(frozenset({"data-1"}))]


def test_unmovable_copy_is_not_reported_if_its_loss_is_accepted() -> None:
    """Settings that were not made for a drain are kept."""
    snapshot = observed_cluster(excluded=["data-1"], accept_single_copy_loss=True)
    assert drain_step(snapshot, engine__allocation="all") is None


def test_terminating_node_is_no_target_and_is_not_reported() -> None:
    """The engine does not know yet that the node is no target. The gate names the copies."""
    terminating_pod = pod("data-1", is_terminating=True)
    assert drain_step(observed_cluster(pool("data", 1, pods=[pod("data-0"), terminating_pod]))) is None


def with_lost_data_role(**others: Any) -> ClusterSnapshot:
    """Return a snapshot in which the first pool loses the role data and another one keeps it."""
    routers = pool("data", 2, roles="ingest")
    keepers = pool("keepers", 1, pods=[pod("keepers-0", template="new")])
    nodes = engine((pool("data", 2), keepers, MANAGERS)).nodes
    snapshot = observed_cluster(routers, others.pop("shards", SHARED), nodes=nodes, **others)
    return replace(snapshot, pools=(*snapshot.pools, keepers))


def test_node_that_loses_the_data_role_is_drained_of_every_copy() -> None:
    """I7: also copies with replicas."""
    result = drain_step(with_lost_data_role(replicas=1))
    assert result is not None
    assert engine_calls(result) == [Exclude(frozenset({"data-0"}))]
    assert (
        reason(drain_step(with_lost_data_role(excluded=["data-0"], replicas=1), **STARTED))
        == "WaitingForDrain"
    )


def test_node_that_loses_the_data_role_is_not_drained_without_a_target() -> None:
    """The gate reports it: acceptSingleCopyLoss would not help."""
    snapshot = with_lost_data_role()
    assert drain_step(replace(snapshot, pools=snapshot.pools[:2])) is None
    assert drain_step(with_lost_data_role(shards=LAST, excluded=["data-1", "keepers-0"])) is None


def test_drain_waits_until_the_last_copies_have_moved() -> None:
    """I7: a copy that has not moved yet is still on the node."""
    assert reason(next_drain_step(observed_cluster(excluded=["data-0"]), **STARTED)) == "WaitingForDrain"
    assert next_drain_step(observed_cluster(None, "logs: data-1*", excluded=["data-0"]), **STARTED) is None


def test_copy_with_a_replica_may_stay_when_no_shard_moves() -> None:
    """S09."""
    assert next_drain_step(observed_cluster(None, SHARED, excluded=["data-0"]), **STARTED) is None
    assert (
        reason(
            next_drain_step(
                observed_cluster(None, "logs: data-0>data-1 data-1*", excluded=["data-0"]), **STARTED
            )
        )
        == "WaitingForDrain"
    )


def test_copy_with_a_replica_on_ephemeral_storage_has_until_the_deadline_to_move() -> None:
    """After the deadline the drain ends."""
    ephemeral_pool = pool("data", 2, ephemeral=True)
    assert (
        reason(next_drain_step(observed_cluster(ephemeral_pool, SHARED, excluded=["data-0"]), **STARTED))
        == "WaitingForDrain"
    )
    waits: Entry = ("WaitingForDrain", 900)
    assert (
        next_drain_step(
            observed_cluster(ephemeral_pool, SHARED, excluded=["data-0"]), **STARTED, wait__PodsCurrent=waits
        )
        is None
    )
    # An empty node is not waited for.
    assert (
        next_drain_step(observed_cluster(ephemeral_pool, "logs: data-1*", excluded=["data-0"]), **STARTED)
        is None
    )


def test_last_node_that_may_hold_shards_is_not_excluded() -> None:
    """I7: not even on ephemeral storage whose loss is accepted."""
    snapshot = observed_cluster(pool("data", 1, ephemeral=True), accept_single_copy_loss=True)
    result = next_drain_step(snapshot)
    assert result is not None
    assert result.operations == ()


def with_newer_node(**policy: Any) -> ClusterSnapshot:
    """Return a snapshot whose first node has the newer version: the other one can never take its copies."""
    first: Pod = pod("data-0", engine_version=NEW, has_started=True)
    return observed_cluster(pool("data", 2, pods=[first, pod("data-1")]), excluded=["data-0"], **policy)


def test_last_copy_that_can_never_move_is_reported() -> None:
    result = next_drain_step(with_newer_node(), **STARTED)
    assert result is not None
    assert (result.reason, result.message) == (
        "ShardsCannotMove",
        "no node may take logs[0] from data-0: data-1 runs an older version",
    )


def test_last_copy_is_not_waited_for_if_its_loss_is_accepted_and_the_disk_stays() -> None:
    assert next_drain_step(with_newer_node(accept_single_copy_loss=True), **STARTED) is None
    in_rollback = with_claims(with_newer_node(accept_single_copy_loss=True), data_0={})
    entries: dict[str, Entry] = {**STARTED, "upgrade": (OLD, NEW), "upgrade__return": OLD}
    assert reason(next_drain_step(in_rollback, **entries)) == "ShardsCannotMove"


DEPARTING: dict[str, Entry] = {"engine__leaving": ("data-1",)}


def shard_hosts(snapshot: ClusterSnapshot, **entries: Entry) -> frozenset[str]:
    arguments = drain_input(snapshot, **(entries or DEPARTING))
    return temporary_shard_hosts(arguments[0], arguments[1])


def test_departing_node_takes_shards_of_an_outdated_node_without_another_target() -> None:
    """S09, L4."""
    assert shard_hosts(observed_cluster(excluded=["data-1"])) == {"data-1"}


@pytest.mark.parametrize(
    "snapshot",
    [
        observed_cluster(None, SHARED, excluded=["data-1"]),
        observed_cluster(pool("data", 3), excluded=["data-1"]),
        observed_cluster(excluded=["data-1"], paused=True),
        observed_cluster(excluded=["data-1"], accept_single_copy_loss=True),
        replace(observed_cluster(), engine=Unreachable("timed out")),
        observed_cluster(
            pool("data", 2, pods=[pod(f"data-{n}", template="new", engine_version=NEW) for n in (0, 1)])
        ),
    ],
    ids=["no last copy", "other target", "paused", "loss accepted", "unreachable", "no outdated pod"],
)
def test_departing_node_takes_no_shards_otherwise(snapshot: ClusterSnapshot) -> None:
    assert shard_hosts(snapshot) == frozenset()
