"""Scale-in of managers: votes move first, one at a time, and the bootstrap managers stay the same."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.desired.names import INITIAL_MANAGERS
from searchkeeper.opensearch.calls import ExcludeFromVoting
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.testing.fake_cluster import FakeCluster
from searchkeeper.testing.fake_kubernetes.kubelet import PodFault
from tests.support.searchkeeper.operator_runs import (
    CountingPorts,
    WriteLimitReached,
    condition,
    copy_cluster,
    edit_spec,
    new_cluster,
    pool,
    reconcile_for_ticks,
    reconcile_steps,
    reconcile_until_converged,
    set_pod_faults,
    status,
)
from tests.support.searchkeeper.operator_scenarios import (
    add_pod_fault,
    pods,
    running_cluster,
    unavailable_pods,
)
from tests.support.searchkeeper.scale_in_clusters import MANAGERS, data, pod_names


def has_quorum(cluster: FakeCluster) -> bool:
    engine = cluster.state.engine
    return len(engine.voters & engine.names) >= len(engine.voters) // 2 + 1


@pytest.mark.parametrize("left", [3, 1])
def test_managers_are_removed_one_at_a_time_after_their_votes(left: int) -> None:
    cluster = running_cluster(pool("data", 2, "data"), pool("managers", 5, "cluster_manager"))
    edit_spec(cluster, pools=[pool("data", 2, "data"), pool("managers", left, "cluster_manager")])
    managers = {f"managers-{n}" for n in range(5)}
    for current in reconcile_steps(cluster):
        terminating = [each for each in pods(current).values() if "deletionTimestamp" in each["metadata"]]
        assert len(terminating) <= 1
        assert not {each["metadata"]["name"] for each in terminating} & current.state.engine.voters
        assert has_quorum(current)
    assert unavailable_pods(cluster, managers) == {f"managers-{n}" for n in range(left, 5)}
    assert not cluster.state.engine.voting_exclusions
    assert cluster.state.engine.voters == {f"logs-managers-{n}" for n in range(left)}


@pytest.mark.exhaustive
def test_voting_exclusions_of_users_survive_a_scale_in() -> None:
    """I9: the engine can only clear all voting exclusions. A crash at any write loses none of them."""
    start = running_cluster(
        pool("data", 2, "data"), pool("managers", 2, "cluster_manager"), pool("more", 2, "cluster_manager")
    )
    start.execute(ExcludeFromVoting("logs-more-1"))
    start.tick()
    edit_spec(
        start,
        pools=[
            pool("data", 2, "data"),
            pool("managers", 1, "cluster_manager"),
            pool("more", 2, "cluster_manager"),
        ],
    )
    for cut in range(reconcile_until_converged(copy_cluster(start))):
        cluster = copy_cluster(start)
        with pytest.raises(WriteLimitReached):
            reconcile_until_converged(cluster, max_writes=cut)
        reconcile_until_converged(cluster)
        assert cluster.state.engine.voting_exclusions == {"logs-more-1"}
        assert not status(cluster)["ledger"]


def test_voting_exclusions_of_users_survive_a_rollout() -> None:
    cluster = running_cluster(pool("data", 2, "data"), pool("managers", 3, "cluster_manager"))
    for name in ("logs-managers-1", "logs-absent"):
        cluster.execute(ExcludeFromVoting(name))
    cluster.tick()
    assert len(cluster.state.engine.voters) == 1
    reconcile_until_converged(edit_spec(cluster, version="3.4.0"))
    assert cluster.state.engine.voting_exclusions == {"logs-managers-1", "logs-absent"}


def test_last_managers_are_not_removed() -> None:
    cluster = edit_spec(
        running_cluster(), pools=[pool("data", 2, "data"), pool("managers", 0, "cluster_manager")]
    )
    reconcile_for_ticks(cluster, ticks=30)
    assert status(cluster)["phase"] == "Refused"
    assert len(pod_names(cluster, "managers")) == 3


def test_no_vote_moves_before_a_remaining_manager_has_joined() -> None:
    """The new managers are ready, but have not joined the engine."""
    cluster = running_cluster(*data(2))
    leaders = [pool("leaders", 3, "cluster_manager")]
    reconcile_until_converged(edit_spec(cluster, pools=[*data(2), *leaders]))

    class NotJoinedNodePorts(CountingPorts):
        def get_state(self) -> EngineView | Unreachable:
            view = super().get_state()
            assert isinstance(view, EngineView)
            known = tuple(each for each in view.nodes if not each.name.startswith("logs-leaders-"))
            return replace(view, nodes=known)

    edit_spec(cluster, pools=[*data(2)[:1], *leaders])
    reconcile_for_ticks(cluster, NotJoinedNodePorts(cluster), ticks=20)
    assert "LastManager" in condition(cluster, "ScaleInComplete")
    assert not cluster.state.engine.voting_exclusions


def test_manager_pool_can_be_replaced_by_another() -> None:
    cluster = running_cluster()
    edit_spec(cluster, pools=[pool("data", 2, "data"), MANAGERS, pool("leaders", 3, "cluster_manager")])
    reconcile_until_converged(cluster)
    edit_spec(cluster, pools=[pool("data", 2, "data"), pool("leaders", 3, "cluster_manager")])
    for current in reconcile_steps(cluster):
        assert has_quorum(current)
    assert sorted(cluster.state.engine.voters) == [f"logs-leaders-{n}" for n in range(3)]
    assert not pod_names(cluster, "managers")


@pytest.mark.parametrize(
    ("before", "after"), [(["cluster_manager"], ["ingest"]), (["data", "cluster_manager"], ["data"])]
)
def test_only_vote_moves_before_its_pool_loses_the_manager_role(before: list[str], after: list[str]) -> None:
    """I1: the only voter would restart without its role, and no manager could be elected."""
    # Guard: the only vote moves before its owner goes.
    others = [pool("data", 2, "data"), pool("zone-1", 1, "cluster_manager")]
    cluster = running_cluster(pool("zone-0", 1, *before), *others)
    assert cluster.state.engine.voters == {"logs-zone-0-0"}
    reconcile_until_converged(edit_spec(cluster, pools=[pool("zone-0", 1, *after), *others]))
    assert cluster.state.engine.voters == {"logs-zone-1-0"}
    assert not cluster.state.engine.voting_exclusions
    assert not status(cluster)["ledger"]


def test_only_voter_keeps_its_vote_until_another_manager_has_joined() -> None:
    """I1: a pool that loses the manager role waits for another manager."""
    # Guard: QuorumSafe.
    zone = pool("zone-0", 1, "cluster_manager")
    cluster = running_cluster(*data(2)[:1], zone)
    add_pod_fault(cluster, "logs-leaders-0", PodFault.PENDING)
    leaders = pool("leaders", 1, "cluster_manager")
    reconcile_for_ticks(
        edit_spec(cluster, pools=[*data(2)[:1], {**zone, "roles": ["ingest"]}, leaders]), ticks=20
    )
    assert cluster.state.engine.elected is not None
    reconcile_until_converged(set_pod_faults(cluster))
    assert cluster.state.engine.voters == {"logs-leaders-0"}


def bootstrap_managers(cluster: FakeCluster) -> set[str]:
    """Return the initial managers in the environment of the pods."""
    wanted = (each["spec"]["containers"][0]["env"] for each in pods(cluster).values())
    return {each["value"] for env in wanted for each in env if each["name"] == INITIAL_MANAGERS}


def test_new_first_manager_pool_restarts_no_node() -> None:
    """A bootstrapped cluster keeps its initial managers, so no new manager bootstraps a second cluster."""
    cluster = running_cluster()
    before = {name: each["metadata"]["uid"] for name, each in pods(cluster).items() if "data" in name}
    leaders = pool("leaders", 3, "cluster_manager")
    for wanted in ([leaders, MANAGERS, pool("data", 2, "data")], [leaders, pool("data", 2, "data")]):
        for current in reconcile_steps(edit_spec(cluster, pools=wanted)):
            assert has_quorum(current)
            assert bootstrap_managers(current) == {"logs-managers-0"}
    assert sorted(cluster.state.engine.voters) == [f"logs-leaders-{n}" for n in range(3)]
    after = {name: each["metadata"]["uid"] for name, each in pods(cluster).items() if "data" in name}
    assert after == before


def test_incomplete_cluster_bootstraps_with_the_first_manager_pool() -> None:
    cluster = add_pod_fault(new_cluster(), "logs-managers-0", PodFault.PENDING)
    reconcile_for_ticks(cluster, ticks=5)
    edit_spec(cluster, pools=[pool("data", 2, "data"), pool("leaders", 1, "cluster_manager"), MANAGERS])
    reconcile_for_ticks(cluster, ticks=10)
    assert {"logs-leaders-0"} <= bootstrap_managers(cluster)
