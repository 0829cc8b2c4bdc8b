"""The checks before a pod may be removed."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.opensearch.view import Allocation, EngineView, Unreachable
from searchkeeper.planner import Ledger, Records
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from searchkeeper.upgrade.gates import Candidate, Gate, first_blocking_gate, gate_results
from worlds import engine, pod, pool, world

DATA = pool("data", 3)
MANAGERS = pool("managers", 3, roles="cluster_manager")
SPREAD = ["logs: data-0* data-1", "books: data-1* data-2"]


def blocking_gate(
    snapshot: ClusterSnapshot, name: str, batch: set[str] | None = None
) -> tuple[str, str] | None:
    """Return the gate that blocks this pod, and its message."""
    home = next(each for each in snapshot.pools if any(p.name == name for p in each.pods))
    candidate = next(p for p in home.pods if p.name == name)
    verdict = first_blocking_gate(Candidate(candidate, home, frozenset(batch or ())), snapshot)
    return None if verdict is None else (verdict.gate, verdict.message)


def test_every_gate_is_open_in_a_green_cluster() -> None:
    assert blocking_gate(world(DATA, MANAGERS, shards=SPREAD), "data-0") is None


def test_paused_upgrade_removes_no_pod() -> None:
    assert blocking_gate(world(DATA, shards=SPREAD, paused=True), "data-0") == (
        "NotPaused",
        "spec.upgrade.paused is set",
    )


def test_unreachable_engine_blocks() -> None:
    snapshot = world(DATA, snapshot=Unreachable("timed out"))
    assert blocking_gate(snapshot, "data-0") == ("EngineReachable", "the engine does not answer: timed out")


def test_pod_that_is_not_ready_blocks_all_others() -> None:
    broken = pool("data", 3, pods=[pod("data-0"), pod("data-1", is_ready=False), pod("data-2")])
    assert blocking_gate(world(broken, snapshot=engine([DATA], SPREAD)), "data-0") == (
        "PodsReady",
        "data-1 of pool data is not ready",
    )


def test_terminating_pod_counts_as_not_ready() -> None:
    leaving = pool("data", 3, pods=[pod("data-0"), pod("data-1", is_terminating=True), pod("data-2")])
    assert blocking_gate(world(leaving, shards=SPREAD), "data-0") == (
        "PodsReady",
        "data-1 of pool data is not ready",
    )


def test_missing_pod_counts_as_not_ready() -> None:
    short = pool("data", 3, pods=[pod("data-0"), pod("data-1")])
    assert blocking_gate(world(short, shards=["logs: data-0* data-1"]), "data-0") == (
        "PodsReady",
        "pool data has 2 of 3 pods",
    )


def test_ready_pod_whose_node_has_not_joined_blocks_all_others() -> None:
    lonely = engine([pool("data", 3, pods=[pod("data-0"), pod("data-1")])], ["logs: data-0* data-1"])
    assert blocking_gate(world(DATA, snapshot=lonely), "data-0") == (
        "NodesJoined",
        "data-2 has not joined the cluster",
    )


def test_pod_that_is_not_in_the_cluster_may_always_be_replaced() -> None:
    """S17, S18: the rollout does not wait for the pod that it has to replace."""
    broken = pool(
        "data", 3, pods=[pod("data-0"), pod("data-1", is_ready=False), pod("data-2", is_ready=False)]
    )
    assert blocking_gate(world(broken, shards=["logs: data-0* ?"]), "data-1") is None


def test_pod_that_is_not_ready_but_has_joined_has_to_pass_the_gates() -> None:
    """S20: a node that recovers has joined. It is slow, not failed."""
    slow = pool("data", 3, pods=[pod("data-0"), pod("data-1", is_ready=False), pod("data-2", is_ready=False)])
    assert blocking_gate(world(slow, snapshot=engine([DATA], SPREAD)), "data-1") == (
        "PodsReady",
        "data-2 of pool data is not ready",
    )


@pytest.mark.parametrize("problem", ["CrashLoopBackOff", "ImagePullBackOff", "Unschedulable"])
def test_failed_pod_may_be_replaced_while_the_engine_is_unreachable(problem: str) -> None:
    """S13: with all pods down the engine never answers."""
    down = pool("data", 1, pods=[pod("data-0", is_ready=False, problem=problem)])
    assert blocking_gate(world(down, snapshot=Unreachable("refused")), "data-0") is None


def test_starting_pod_is_not_replaced_while_the_engine_is_unreachable() -> None:
    down = pool("data", 1, pods=[pod("data-0", is_ready=False)])
    assert blocking_gate(world(down, snapshot=Unreachable("refused")), "data-0") is not None


def test_red_cluster_blocks() -> None:
    assert blocking_gate(world(DATA, shards=["logs: ?* data-1"]), "data-0") == (
        "EngineHealthy",
        "the cluster is red: logs[0] has no primary",
    )


def test_yellow_cluster_blocks() -> None:
    assert blocking_gate(world(DATA, shards=[*SPREAD, "new: data-0* ?"]), "data-1") == (
        "EngineHealthy",
        "a copy of new[0] is unassigned",
    )


@pytest.mark.parametrize("decider", ["node_version", "same_shard", "awareness"])
def test_yellow_that_only_the_rollout_can_end_does_not_block(decider: str) -> None:
    """S02: a replica that only a newer node may take waits for this rollout."""
    snapshot = world(DATA, shards=["logs: data-0* data-1", f"books: data-1* data-2 ?{decider}"])
    assert blocking_gate(snapshot, "data-0") is None


def test_yellow_blocks_if_one_decider_may_change() -> None:
    snapshot = world(DATA, shards=[*SPREAD, "new: data-0* data-1 ?node_version+max_retry"])
    assert blocking_gate(snapshot, "data-2") == (
        "EngineHealthy",
        "a copy of new[0] is unassigned (deciders: max_retry, node_version)",
    )


def test_single_data_node_may_stay_yellow() -> None:
    """S01: there is no second node to take the replica."""
    one = pool("data", 1)
    assert blocking_gate(world(one, shards=["logs: data-0* ?same_shard"]), "data-0") is None


def test_yellow_blocks_while_a_user_disables_allocation() -> None:
    shards = ["logs: data-0* data-1 ?node_version"]
    held = engine([DATA], shards, allocation=Allocation.PRIMARIES)
    assert blocking_gate(world(DATA, snapshot=held), "data-2") == (
        "EngineHealthy",
        "the cluster is yellow while cluster.routing.allocation.enable is primaries; set it to all",
    )


def with_ledger(snapshot: ClusterSnapshot, **lines: str) -> ClusterSnapshot:
    ledger = Ledger.of({name.replace("_", "/"): text for name, text in lines.items()})
    return replace(snapshot, cluster=replace(snapshot.cluster, records=Records(ledger)))


def test_yellow_does_not_block_because_of_the_operators_own_allocation_setting() -> None:
    """S21: otherwise the setting would be made and undone without end."""
    shards = ["logs: data-0* data-1 ?node_version+enable"]
    held = world(DATA, snapshot=engine([DATA], shards, allocation=Allocation.PRIMARIES))
    assert blocking_gate(with_ledger(held, engine_allocation="all"), "data-2") is None


def test_yellow_blocks_if_only_the_operators_allocation_setting_causes_it() -> None:
    held = world(DATA, snapshot=engine([DATA], ["logs: data-0* ?enable"], allocation=Allocation.PRIMARIES))
    assert blocking_gate(with_ledger(held, engine_allocation="all"), "data-2") is not None


def test_surplus_pod_does_not_block() -> None:
    """S18: neither until it is ready nor until it joins."""
    members = [pod("data-0"), pod("data-1"), pod("data-2", is_ready=False)]
    shrinking = pool("data", 2, pods=members)
    assert blocking_gate(world(shrinking, shards=["logs: data-0* data-1"]), "data-0") is None


def test_moving_shards_block_in_a_yellow_cluster() -> None:
    snapshot = world(DATA, shards=["logs: data-0* ?node_version", "books: data-1*>data-2"])
    assert blocking_gate(snapshot, "data-0") == (
        "EngineHealthy",
        "the cluster is yellow and shards are moving",
    )


def test_shards_that_move_elsewhere_do_not_block_in_a_green_cluster() -> None:
    """S27: a cluster may never stop to rebalance."""
    assert blocking_gate(world(DATA, shards=["logs: data-1*>data-2"]), "data-0") is None


def test_shards_that_move_from_or_to_the_pod_block() -> None:
    snapshot = world(DATA, shards=["logs: data-0* data-1>data-2"])
    assert blocking_gate(snapshot, "data-2") == ("EngineHealthy", "1 shards are moving from or to data-2")


def test_voter_may_be_removed_if_a_majority_remains() -> None:
    assert blocking_gate(world(MANAGERS), "managers-0") is None


def test_no_voter_is_removed_while_another_is_absent() -> None:
    """S11, S12: three pools of one manager each are one quorum."""
    zones = [pool(f"zone{n}", 1, roles="cluster_manager") for n in range(3)]
    voters = frozenset(f"zone{n}-0" for n in range(3))
    two = engine(zones[:2], voters=voters)
    snapshot = world(*zones[:2], snapshot=two)
    assert blocking_gate(snapshot, "zone0-0") == (
        "QuorumSafe",
        "without zone0-0, 1 of 3 voters remain and 2 are needed",
    )


def test_single_manager_may_be_replaced() -> None:
    """S10: it has no majority to lose."""
    assert blocking_gate(world(pool("managers", 1, roles="cluster_manager")), "managers-0") is None


def test_single_manager_on_ephemeral_storage_blocks() -> None:
    snapshot = world(pool("managers", 1, roles="cluster_manager", ephemeral=True))
    sentence = (
        "only the ephemeral storage of managers-0 has the cluster state;"
        " add a pool of cluster managers with volumes"
    )
    assert blocking_gate(snapshot, "managers-0") == ("QuorumSafe", sentence)


def test_single_voter_may_be_removed_if_another_manager_can_take_its_vote() -> None:
    pair = pool("managers", 2, roles="cluster_manager", ephemeral=True)
    view = engine([pair], voters=frozenset({"managers-0"}))
    assert blocking_gate(world(pair, snapshot=view), "managers-0") is None


def test_manager_without_a_vote_may_be_removed() -> None:
    pair = pool("managers", 2, roles="cluster_manager")
    view = engine([pair], voters=frozenset({"managers-0"}))
    assert blocking_gate(world(pair, snapshot=view), "managers-1") is None


def without_role(view: EngineView, name: str, role: str) -> EngineView:
    """Return the view with a node that restarted without a role."""
    nodes = (replace(n, roles=n.roles - {role}) if n.name == name else n for n in view.nodes)
    return replace(view, nodes=tuple(nodes))


def test_voter_without_the_role_does_not_count() -> None:
    view = without_role(engine([MANAGERS]), "managers-1", "cluster_manager")
    assert blocking_gate(world(MANAGERS, snapshot=view), "managers-0") == (
        "QuorumSafe",
        "without managers-0, 1 of 3 voters remain and 2 are needed",
    )


@pytest.mark.parametrize("differences", [{"is_ready": False}, {"is_terminating": True}], ids=str)
def test_voter_that_is_not_ready_does_not_count(differences: dict[str, bool]) -> None:
    """The gate does not rely on the gate PodsReady."""
    members = (pod("managers-0"), pod("managers-1", **differences), pod("managers-2"))
    snapshot = world(replace(MANAGERS, pods=members), snapshot=engine([MANAGERS]))
    told = {
        each.gate: each.is_open for each in gate_results(Candidate(members[0], snapshot.pools[0]), snapshot)
    }
    assert (told[Gate.PODS_READY], told[Gate.QUORUM_SAFE]) == (False, False)


def with_roles(before: PoolView, roles: str) -> PoolView:
    """Return the pool with other roles in its spec. Its nodes keep their roles."""
    return replace(before, spec=replace(before.spec, roles=frozenset(roles.split())))


def test_voter_that_loses_the_role_blocks_if_no_node_keeps_it() -> None:
    snapshot = world(with_roles(MANAGERS, "ingest"), snapshot=engine([MANAGERS]))
    assert blocking_gate(snapshot, "managers-0") == (
        "QuorumSafe",
        (
            "managers-0 votes and loses the role cluster_manager, and no other node keeps it;"
            " add a pool of cluster managers"
        ),
    )


def test_voter_that_loses_the_role_may_be_removed_if_a_node_keeps_it() -> None:
    others = pool("others", 1, roles="cluster_manager")
    snapshot = world(with_roles(MANAGERS, "ingest"), others, snapshot=engine([MANAGERS, others]))
    assert blocking_gate(snapshot, "managers-0") is None


@pytest.mark.parametrize("accepted", [False, True])
def test_last_data_nodes_never_lose_the_role_data(accepted: bool) -> None:
    view = engine([DATA, MANAGERS], SPREAD)
    snapshot = world(with_roles(DATA, "ingest"), MANAGERS, snapshot=view, accept_single_copy_loss=accepted)
    assert blocking_gate(snapshot, "data-0") == (
        "LastCopySafe",
        "data-0 loses the role data, and no other node keeps it; add a pool of data nodes",
    )


def test_single_data_node_with_a_volume_never_loses_the_role_data() -> None:
    lone = pool("data", 1)
    snapshot = world(with_roles(lone, "ingest"), snapshot=engine([lone], ["logs: data-0*"]))
    assert blocking_gate(snapshot, "data-0") is not None


def test_node_that_loses_the_role_data_must_be_empty() -> None:
    """A node without the role data does not start with a shard on its disk."""
    more = pool("more", 2)
    view = engine([DATA, more], ["logs: data-0* more-0"])
    snapshot = world(with_roles(DATA, "ingest"), more, snapshot=view)
    assert blocking_gate(snapshot, "data-0") == (
        "LastCopySafe",
        "data-0 loses the role data and holds 1 shards",
    )
    assert blocking_gate(snapshot, "data-1") is None


def test_last_copy_of_a_shard_blocks() -> None:
    snapshot = world(DATA, shards=["alone: data-0*", *SPREAD])
    assert blocking_gate(snapshot, "data-0") == (
        "LastCopySafe",
        "data-0 holds the only copy of alone[0]; set spec.upgrade.acceptSingleCopyLoss to restart it anyway",
    )


def test_copy_on_a_node_that_has_left_does_not_count() -> None:
    shards = ["logs: data-0* data-9"]
    assert blocking_gate(world(DATA, shards=shards), "data-0") is not None


def with_surplus_pod(**differences: bool) -> ClusterSnapshot:
    """One of three data nodes is surplus and holds a copy."""
    members = [pod("data-0"), pod("data-1"), pod("data-2", **differences)]
    return world(pool("data", 2, pods=members), snapshot=engine([DATA], ["logs: data-0* data-2"]))


def test_copy_on_a_terminating_pod_does_not_count() -> None:
    assert blocking_gate(with_surplus_pod(is_terminating=True), "data-0") == (
        "LastCopySafe",
        "data-0 holds the only copy of logs[0]; set spec.upgrade.acceptSingleCopyLoss to restart it anyway",
    )


def test_copy_on_a_node_without_a_pod_does_not_count() -> None:
    snapshot = world(pool("data", 2), snapshot=engine([DATA], ["logs: data-0* data-2"]))
    assert blocking_gate(snapshot, "data-0") is not None


def test_started_copy_counts_while_its_pod_is_not_ready() -> None:
    assert blocking_gate(with_surplus_pod(is_ready=False), "data-0") is None


def test_last_copy_does_not_block_if_the_spec_accepts_its_loss() -> None:
    assert (
        blocking_gate(world(DATA, shards=["logs: data-0*"], accept_single_copy_loss=True), "data-0") is None
    )


def test_single_data_node_may_be_replaced_if_its_volume_stays() -> None:
    assert blocking_gate(world(pool("data", 1), shards=["logs: data-0*"]), "data-0") is None


def test_single_data_node_on_ephemeral_storage_blocks() -> None:
    assert (
        blocking_gate(world(pool("data", 1, ephemeral=True), shards=["logs: data-0*"]), "data-0") is not None
    )


def test_pods_that_share_a_shard_are_not_in_one_batch() -> None:
    away = pool("data", 3, pods=[pod("data-0", is_ready=False), pod("data-1"), pod("data-2")])
    view = engine([DATA], ["logs: data-0* data-1 data-2"])
    assert blocking_gate(world(away, snapshot=view), "data-1", {"data-0"}) == (
        "BatchSafe",
        "data-1 shares 1 shards with pods that are being replaced",
    )


def test_pods_that_share_no_shard_may_be_in_one_batch() -> None:
    away = pool("data", 3, pods=[pod("data-0", is_ready=False), pod("data-1"), pod("data-2")])
    snapshot = world(away, shards=["logs: data-1* data-2", "books: data-2* ?"])
    assert blocking_gate(snapshot, "data-1", {"data-0"}) is None


def test_every_gate_is_reported() -> None:
    snapshot = world(DATA, shards=["logs: data-0*", "new: data-1* ?"])
    given = {v.gate: v.is_open for v in gate_results(Candidate(DATA.pods[0], DATA), snapshot)}
    assert given == {
        "NotPaused": True,
        "EngineReachable": True,
        "PodsReady": True,
        "NodesJoined": True,
        "EngineHealthy": False,
        "QuorumSafe": True,
        "LastCopySafe": False,
        "BatchSafe": True,
    }
