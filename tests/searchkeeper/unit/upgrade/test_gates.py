"""Gates: what blocks the removal of a pod."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.opensearch.view import Allocation, EngineView, Index, Unreachable
from searchkeeper.planner import Ledger, Records
from searchkeeper.snapshot import ClusterSnapshot, ContainerRestarts, PoolView
from searchkeeper.upgrade.gates import Candidate, Gate, first_blocking_gate, gate_results
from tests.support.searchkeeper.snapshots import NEW, cluster_snapshot, engine, pod, pool

DATA = pool("data", 3)
MANAGERS = pool("managers", 3, roles="cluster_manager")
SPREAD = ["logs: data-0* data-1", "books: data-1* data-2"]


def blocking_gate(
    snapshot: ClusterSnapshot, name: str, batch: set[str] | None = None
) -> tuple[str, str] | None:
    """Return the first gate that blocks the pod, and its message; None if all are open."""
    owner = next(each for each in snapshot.pools if any(p.name == name for p in each.pods))
    candidate = next(p for p in owner.pods if p.name == name)
    result = first_blocking_gate(Candidate(candidate, owner, frozenset(batch or ())), snapshot)
    return None if result is None else (result.gate, result.message)


def test_every_gate_is_open_in_a_green_cluster_without_moving_shards() -> None:
    assert blocking_gate(cluster_snapshot(DATA, MANAGERS, shards=SPREAD), "data-0") is None


def test_pause_blocks_every_pod() -> None:
    assert blocking_gate(cluster_snapshot(DATA, shards=SPREAD, paused=True), "data-0") == (
        "NotPaused",
        "spec.upgrade.paused is set",
    )


def test_unreachable_engine_blocks() -> None:
    snapshot = cluster_snapshot(DATA, view=Unreachable("timed out"))
    assert blocking_gate(snapshot, "data-0") == ("EngineReachable", "the engine does not answer: timed out")


def container_restarts(
    seconds_ago: int | None, *, count: int = 3, is_looping: bool = False
) -> ContainerRestarts:
    ended_at = None if seconds_ago is None else 1000 - seconds_ago
    return ContainerRestarts("opensearch", count, "OOMKilled (exit code 137)", ended_at, is_looping)


def with_restarts(name: str, *restarts: ContainerRestarts, **changes: Any) -> PoolView:
    """Return the data pool, in which the containers of one pod have restarted."""
    pods = [pod(f"data-{n}") for n in range(3)]
    return pool(
        "data", 3, pods=[replace(p, restarts=restarts, **changes) if p.name == name else p for p in pods]
    )


def test_pod_that_restarted_lately_blocks_other_pods() -> None:
    unstable = with_restarts("data-1", container_restarts(599))
    assert blocking_gate(cluster_snapshot(unstable, shards=SPREAD), "data-0") == (
        "PodsStable",
        (
            "container opensearch of data-1 has restarted 3 times, last at 1970-01-01T00:06:41Z: "
            "OOMKilled (exit code 137)"
        ),
    )


@pytest.mark.parametrize("seconds_ago", [600, None, -600])
def test_restart_that_is_not_recent_does_not_block(seconds_ago: int | None) -> None:
    """Nor does one in the future, by a clock that is wrong."""
    stable = with_restarts("data-1", container_restarts(seconds_ago))
    assert blocking_gate(cluster_snapshot(stable, shards=SPREAD), "data-0") is None


def test_restart_counts_no_longer_than_the_health_deadline() -> None:
    """A single restart never stalls."""
    snapshot = cluster_snapshot(
        with_restarts("data-1", container_restarts(60)), shards=SPREAD, health_deadline=60
    )
    assert blocking_gate(snapshot, "data-0") is None


def test_crash_loop_blocks_other_pods() -> None:
    looping = with_restarts("data-1", container_restarts(None, count=1, is_looping=True), is_ready=False)
    assert blocking_gate(cluster_snapshot(looping, view=engine([DATA], SPREAD)), "data-0") == (
        "PodsStable",
        "container opensearch of data-1 has restarted once, last: OOMKilled (exit code 137)",
    )


def test_restarts_of_a_second_container_count() -> None:
    unstable = with_restarts(
        "data-1", container_restarts(5000), replace(container_restarts(10), container="proxy")
    )
    assert blocking_gate(cluster_snapshot(unstable, shards=SPREAD), "data-0") is not None


def test_pod_that_restarts_may_be_replaced_itself() -> None:
    """Its new template may end the restarts, also while another outdated pod restarts."""
    both = [pod(f"data-{n}", restarts=(container_restarts(10),)) for n in range(2)]
    unstable = pool("data", 3, pods=[*both, pod("data-2")])
    assert blocking_gate(cluster_snapshot(unstable, shards=SPREAD), "data-0") is None
    assert blocking_gate(cluster_snapshot(unstable, shards=SPREAD), "data-2") is not None


def test_restarts_in_the_batch_do_not_block() -> None:
    snapshot = cluster_snapshot(
        with_restarts("data-1", container_restarts(10)), shards=["logs: data-0* data-2"]
    )
    assert blocking_gate(snapshot, "data-0", {"data-1"}) is None


def test_restarts_do_not_block_a_rollback() -> None:
    """It ends the restarts of the newer version."""
    snapshot = cluster_snapshot(with_restarts("data-1", container_restarts(10)), shards=SPREAD)
    records = Records(Ledger.of({"upgrade/return": "2.19.4"}))
    snapshot = replace(snapshot, cluster=replace(snapshot.cluster, records=records))
    assert blocking_gate(snapshot, "data-0") is None


@pytest.mark.parametrize("template", ["old", "new"])
def test_pools_without_data_and_votes_replace_pods_that_restart_in_their_order(template: str) -> None:
    """The StatefulSet controller chooses it. A pod with the new template is not replaced any more."""
    pods = [
        pod("web-0", restarts=(container_restarts(10),), template=template, engine_version=NEW),
        pod("web-1"),
    ]
    web = pool("web", 2, roles="ingest", pods=pods)
    assert (blocking_gate(cluster_snapshot(DATA, web, shards=SPREAD), "web-1") is None) is (template == "old")
    assert blocking_gate(cluster_snapshot(DATA, web, shards=SPREAD), "data-0") is not None


def test_pod_that_is_not_ready_blocks_other_pods() -> None:
    broken = pool("data", 3, pods=[pod("data-0"), pod("data-1", is_ready=False), pod("data-2")])
    assert blocking_gate(cluster_snapshot(broken, view=engine([DATA], SPREAD)), "data-0") == (
        "PodsReady",
        "data-1 of pool data is not ready",
    )


def test_terminating_pod_counts_as_not_ready() -> None:
    leaving = pool("data", 3, pods=[pod("data-0"), pod("data-1", is_terminating=True), pod("data-2")])
    assert blocking_gate(cluster_snapshot(leaving, shards=SPREAD), "data-0") == (
        "PodsReady",
        "data-1 of pool data is not ready",
    )


def test_missing_pod_counts_as_not_ready() -> None:
    short = pool("data", 3, pods=[pod("data-0"), pod("data-1")])
    assert blocking_gate(cluster_snapshot(short, shards=["logs: data-0* data-1"]), "data-0") == (
        "PodsReady",
        "pool data has 2 of 3 pods",
    )


def test_ready_pod_whose_node_has_not_joined_blocks_other_pods() -> None:
    view = engine([pool("data", 3, pods=[pod("data-0"), pod("data-1")])], ["logs: data-0* data-1"])
    assert blocking_gate(cluster_snapshot(DATA, view=view), "data-0") == (
        "NodesJoined",
        "data-2 has not joined the cluster",
    )


def test_index_that_the_new_version_cannot_open_blocks() -> None:
    """A restored snapshot may bring one after the upgrade has started."""
    view = engine([DATA], SPREAD, indices=(Index("logs", 1, "1.3.14"), Index("books", 1, "2.19.4")))
    assert blocking_gate(cluster_snapshot(DATA, view=view), "data-0") == (
        "IndicesCompatible",
        (
            "3.4.0 cannot open indices created by a version older than 2.0.0: logs (1.3.14); "
            "reindex or delete them"
        ),
    )


def test_failed_pod_passes_while_other_pods_are_not_ready() -> None:
    """S17, S18: a rollout that waits for all pods before it replaces the failed one would never end."""
    broken = pool(
        "data", 3, pods=[pod("data-0"), pod("data-1", is_ready=False), pod("data-2", is_ready=False)]
    )
    assert blocking_gate(cluster_snapshot(broken, shards=["logs: data-0* ?"]), "data-1") is None


def test_pod_that_is_not_ready_but_has_joined_has_not_failed() -> None:
    """S20: a node that recovers its translog has joined. It is slow and must not be restarted."""
    slow = pool("data", 3, pods=[pod("data-0"), pod("data-1", is_ready=False), pod("data-2", is_ready=False)])
    assert blocking_gate(cluster_snapshot(slow, view=engine([DATA], SPREAD)), "data-1") == (
        "PodsReady",
        "data-2 of pool data is not ready",
    )


@pytest.mark.parametrize("problem", ["CrashLoopBackOff", "ImagePullBackOff", "Unschedulable"])
def test_failed_pod_passes_while_the_engine_is_unreachable(problem: str) -> None:
    """S13: with all pods down no node can answer."""
    down = pool("data", 1, pods=[pod("data-0", is_ready=False, problem=problem)])
    assert blocking_gate(cluster_snapshot(down, view=Unreachable("refused")), "data-0") is None


def test_starting_pod_is_blocked_while_the_engine_is_unreachable() -> None:
    down = pool("data", 1, pods=[pod("data-0", is_ready=False)])
    assert blocking_gate(cluster_snapshot(down, view=Unreachable("refused")), "data-0") is not None


def test_red_cluster_blocks() -> None:
    assert blocking_gate(cluster_snapshot(DATA, shards=["logs: ?* data-1"]), "data-0") == (
        "EngineHealthy",
        "the cluster is red: logs[0] has no primary",
    )


def test_yellow_cluster_that_may_turn_green_blocks() -> None:
    assert blocking_gate(cluster_snapshot(DATA, shards=[*SPREAD, "new: data-0* ?"]), "data-1") == (
        "EngineHealthy",
        "a copy of new[0] is unassigned",
    )


@pytest.mark.parametrize("decider", ["node_version", "same_shard", "awareness"])
def test_yellow_cluster_that_cannot_turn_green_does_not_block(decider: str) -> None:
    """S02: a replica that only a newer node can hold waits for this rollout."""
    snapshot = cluster_snapshot(DATA, shards=["logs: data-0* data-1", f"books: data-1* data-2 ?{decider}"])
    assert blocking_gate(snapshot, "data-0") is None


def test_yellow_cluster_blocks_if_one_of_several_deciders_is_temporary() -> None:
    snapshot = cluster_snapshot(DATA, shards=[*SPREAD, "new: data-0* data-1 ?node_version+max_retry"])
    assert blocking_gate(snapshot, "data-2") == (
        "EngineHealthy",
        "a copy of new[0] is unassigned (deciders: max_retry, node_version)",
    )


def test_yellow_cluster_with_one_data_node_does_not_block() -> None:
    """S01: there is no second node for the replica."""
    one = pool("data", 1)
    assert blocking_gate(cluster_snapshot(one, shards=["logs: data-0* ?same_shard"]), "data-0") is None


def test_yellow_cluster_blocks_while_allocation_is_restricted_and_the_ledger_does_not_have_it() -> None:
    shards = ["logs: data-0* data-1 ?node_version"]
    held = engine([DATA], shards, allocation=Allocation.PRIMARIES)
    assert blocking_gate(cluster_snapshot(DATA, view=held), "data-2") == (
        "EngineHealthy",
        "the cluster is yellow while cluster.routing.allocation.enable is primaries; set it to all",
    )


def with_ledger(snapshot: ClusterSnapshot, **lines: str) -> ClusterSnapshot:
    ledger = Ledger.of({name.replace("_", "/"): text for name, text in lines.items()})
    return replace(snapshot, cluster=replace(snapshot.cluster, records=Records(ledger)))


def test_allocation_that_the_operator_disabled_does_not_block() -> None:
    """S21: otherwise the setting would be made and restored without end."""
    shards = ["logs: data-0* data-1 ?node_version+enable"]
    held = cluster_snapshot(DATA, view=engine([DATA], shards, allocation=Allocation.PRIMARIES))
    assert blocking_gate(with_ledger(held, engine_allocation="all"), "data-2") is None


def test_replica_that_only_the_setting_of_the_operator_keeps_unassigned_blocks() -> None:
    held = cluster_snapshot(
        DATA, view=engine([DATA], ["logs: data-0* ?enable"], allocation=Allocation.PRIMARIES)
    )
    assert blocking_gate(with_ledger(held, engine_allocation="all"), "data-2") is not None


def test_surplus_pod_that_is_not_ready_does_not_block() -> None:
    """S18: it need neither become ready nor join."""
    members = [pod("data-0"), pod("data-1"), pod("data-2", is_ready=False)]
    shrinking = pool("data", 2, pods=members)
    assert blocking_gate(cluster_snapshot(shrinking, shards=["logs: data-0* data-1"]), "data-0") is None


def test_moving_shards_in_a_yellow_cluster_block() -> None:
    snapshot = cluster_snapshot(DATA, shards=["logs: data-0* ?node_version", "books: data-1*>data-2"])
    assert blocking_gate(snapshot, "data-0") == (
        "EngineHealthy",
        "the cluster is yellow and shards are moving",
    )


def test_shards_that_move_elsewhere_in_a_green_cluster_do_not_block() -> None:
    """S27: rebalancing may never end."""
    assert blocking_gate(cluster_snapshot(DATA, shards=["logs: data-1*>data-2"]), "data-0") is None


def test_shards_that_move_from_or_to_the_pod_block() -> None:
    snapshot = cluster_snapshot(DATA, shards=["logs: data-0* data-1>data-2"])
    assert blocking_gate(snapshot, "data-2") == ("EngineHealthy", "1 shards are moving from or to data-2")


def test_voter_passes_while_a_majority_remains() -> None:
    assert blocking_gate(cluster_snapshot(MANAGERS), "managers-0") is None


def test_voter_is_blocked_while_another_voter_is_missing() -> None:
    """S11, S12: three pools with one manager each form one quorum."""
    zones = [pool(f"zone{n}", 1, roles="cluster_manager") for n in range(3)]
    voters = frozenset(f"zone{n}-0" for n in range(3))
    two = engine(zones[:2], voters=voters)
    snapshot = cluster_snapshot(*zones[:2], view=two)
    assert blocking_gate(snapshot, "zone0-0") == (
        "QuorumSafe",
        "without zone0-0, 1 of 3 voters remain and 2 are needed",
    )


def test_single_manager_passes() -> None:
    """S10: it has no majority to lose."""
    assert blocking_gate(cluster_snapshot(pool("managers", 1, roles="cluster_manager")), "managers-0") is None


def test_only_manager_on_ephemeral_storage_is_blocked() -> None:
    snapshot = cluster_snapshot(pool("managers", 1, roles="cluster_manager", ephemeral=True))
    sentence = (
        "only the ephemeral storage of managers-0 has the cluster state;"
        " add a pool of cluster managers with volumes"
    )
    assert blocking_gate(snapshot, "managers-0") == ("QuorumSafe", sentence)


def test_only_voter_passes_if_another_manager_can_take_its_vote() -> None:
    pair = pool("managers", 2, roles="cluster_manager", ephemeral=True)
    view = engine([pair], voters=frozenset({"managers-0"}))
    assert blocking_gate(cluster_snapshot(pair, view=view), "managers-0") is None


def test_manager_without_a_vote_passes() -> None:
    pair = pool("managers", 2, roles="cluster_manager")
    view = engine([pair], voters=frozenset({"managers-0"}))
    assert blocking_gate(cluster_snapshot(pair, view=view), "managers-1") is None


def without_role(view: EngineView, name: str, role: str) -> EngineView:
    """Return the view after a node has restarted without a role."""
    nodes = (replace(n, roles=n.roles - {role}) if n.name == name else n for n in view.nodes)
    return replace(view, nodes=tuple(nodes))


def test_voter_that_restarted_without_the_role_does_not_count() -> None:
    view = without_role(engine([MANAGERS]), "managers-1", "cluster_manager")
    assert blocking_gate(cluster_snapshot(MANAGERS, view=view), "managers-0") == (
        "QuorumSafe",
        "without managers-0, 1 of 3 voters remain and 2 are needed",
    )


@pytest.mark.parametrize("changes", [{"is_ready": False}, {"is_terminating": True}], ids=str)
def test_voter_that_is_not_ready_or_terminating_does_not_count(changes: dict[str, bool]) -> None:
    """The gate does not rely on PodsReady."""
    members = (pod("managers-0"), pod("managers-1", **changes), pod("managers-2"))
    snapshot = cluster_snapshot(replace(MANAGERS, pods=members), view=engine([MANAGERS]))
    is_open = {
        each.gate: each.is_open for each in gate_results(Candidate(members[0], snapshot.pools[0]), snapshot)
    }
    assert (is_open[Gate.PODS_READY], is_open[Gate.QUORUM_SAFE]) == (False, False)


def with_roles(before: PoolView, roles: str) -> PoolView:
    """Return the pool with other roles in its spec. Its nodes still have the earlier ones."""
    return replace(before, spec=replace(before.spec, roles=frozenset(roles.split())))


def test_voter_that_loses_the_role_is_blocked_if_no_node_keeps_it() -> None:
    snapshot = cluster_snapshot(with_roles(MANAGERS, "ingest"), view=engine([MANAGERS]))
    assert blocking_gate(snapshot, "managers-0") == (
        "QuorumSafe",
        (
            "managers-0 votes and loses the role cluster_manager, and no other node keeps it;"
            " add a pool of cluster managers"
        ),
    )


def test_voter_that_loses_the_role_passes_if_another_node_keeps_it() -> None:
    others = pool("others", 1, roles="cluster_manager")
    snapshot = cluster_snapshot(with_roles(MANAGERS, "ingest"), others, view=engine([MANAGERS, others]))
    assert blocking_gate(snapshot, "managers-0") is None


@pytest.mark.parametrize("is_loss_accepted", [False, True])
def test_data_node_that_loses_the_role_is_blocked_if_no_node_keeps_it(is_loss_accepted: bool) -> None:
    view = engine([DATA, MANAGERS], SPREAD)
    snapshot = cluster_snapshot(
        with_roles(DATA, "ingest"), MANAGERS, view=view, accept_single_copy_loss=is_loss_accepted
    )
    assert blocking_gate(snapshot, "data-0") == (
        "LastCopySafe",
        "data-0 loses the role data, and no other node keeps it; add a pool of data nodes",
    )


def test_only_data_node_cannot_lose_the_role_although_its_volume_stays() -> None:
    lone = pool("data", 1)
    snapshot = cluster_snapshot(with_roles(lone, "ingest"), view=engine([lone], ["logs: data-0*"]))
    assert blocking_gate(snapshot, "data-0") is not None


def test_node_that_loses_the_data_role_is_blocked_while_it_holds_shards() -> None:
    """A node without the role data does not start with shards on its disk."""
    more = pool("more", 2)
    view = engine([DATA, more], ["logs: data-0* more-0"])
    snapshot = cluster_snapshot(with_roles(DATA, "ingest"), more, view=view)
    assert blocking_gate(snapshot, "data-0") == (
        "LastCopySafe",
        "data-0 loses the role data and holds 1 shards",
    )
    assert blocking_gate(snapshot, "data-1") is None


def test_last_copy_of_a_shard_blocks() -> None:
    snapshot = cluster_snapshot(DATA, shards=["alone: data-0*", *SPREAD])
    assert blocking_gate(snapshot, "data-0") == (
        "LastCopySafe",
        "data-0 holds the only copy of alone[0]; set spec.upgrade.acceptSingleCopyLoss to restart it anyway",
    )


def test_copy_on_a_node_that_has_left_does_not_count() -> None:
    shards = ["logs: data-0* data-9"]
    assert blocking_gate(cluster_snapshot(DATA, shards=shards), "data-0") is not None


def with_surplus_pod(**changes: bool) -> ClusterSnapshot:
    """Return a snapshot in which one of three data nodes is surplus, and another client evicts it."""
    members = [pod("data-0"), pod("data-1"), pod("data-2", **changes)]
    return cluster_snapshot(pool("data", 2, pods=members), view=engine([DATA], ["logs: data-0* data-2"]))


def test_copy_on_a_terminating_pod_does_not_count() -> None:
    assert blocking_gate(with_surplus_pod(is_terminating=True), "data-0") == (
        "LastCopySafe",
        "data-0 holds the only copy of logs[0]; set spec.upgrade.acceptSingleCopyLoss to restart it anyway",
    )


def test_copy_on_a_node_without_a_pod_does_not_count() -> None:
    snapshot = cluster_snapshot(pool("data", 2), view=engine([DATA], ["logs: data-0* data-2"]))
    assert blocking_gate(snapshot, "data-0") is not None


def test_started_copy_counts_while_its_pod_is_not_ready() -> None:
    assert blocking_gate(with_surplus_pod(is_ready=False), "data-0") is None


def test_last_copy_passes_if_the_spec_accepts_its_loss() -> None:
    assert (
        blocking_gate(
            cluster_snapshot(DATA, shards=["logs: data-0*"], accept_single_copy_loss=True), "data-0"
        )
        is None
    )


def test_only_data_node_passes_if_its_volume_stays() -> None:
    assert blocking_gate(cluster_snapshot(pool("data", 1), shards=["logs: data-0*"]), "data-0") is None


def test_only_data_node_on_ephemeral_storage_is_blocked() -> None:
    assert (
        blocking_gate(cluster_snapshot(pool("data", 1, ephemeral=True), shards=["logs: data-0*"]), "data-0")
        is not None
    )


def test_pod_that_shares_a_shard_with_the_batch_is_blocked() -> None:
    replacing = pool("data", 3, pods=[pod("data-0", is_ready=False), pod("data-1"), pod("data-2")])
    view = engine([DATA], ["logs: data-0* data-1 data-2"])
    assert blocking_gate(cluster_snapshot(replacing, view=view), "data-1", {"data-0"}) == (
        "BatchSafe",
        "data-1 shares 1 shards with pods that are being replaced",
    )


def test_pod_that_shares_no_shard_with_the_batch_passes() -> None:
    replacing = pool("data", 3, pods=[pod("data-0", is_ready=False), pod("data-1"), pod("data-2")])
    snapshot = cluster_snapshot(replacing, shards=["logs: data-1* data-2", "books: data-2* ?"])
    assert blocking_gate(snapshot, "data-1", {"data-0"}) is None


def test_gate_results_include_gates_after_a_closed_one() -> None:
    snapshot = cluster_snapshot(DATA, shards=["logs: data-0*", "new: data-1* ?"])
    is_open = {
        result.gate: result.is_open for result in gate_results(Candidate(DATA.pods[0], DATA), snapshot)
    }
    assert is_open == {
        "NotPaused": True,
        "EngineReachable": True,
        "SecretsFound": True,
        "PodsStable": True,
        "PodsReady": True,
        "NodesJoined": True,
        "IndicesCompatible": True,
        "EngineHealthy": False,
        "QuorumSafe": True,
        "DiskSpaceSufficient": True,
        "LastCopySafe": False,
        "BatchSafe": True,
    }
