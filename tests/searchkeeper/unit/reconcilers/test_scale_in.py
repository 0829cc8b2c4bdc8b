"""Single decisions of a scale-in: drain, move the vote, remove the node, delete the pool."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.api.reasons import Reason
from searchkeeper.desired.manifests import search_pool
from searchkeeper.kubernetes.operations import Delete, Patch
from searchkeeper.opensearch.calls import Exclude, ExcludeFromVoting
from searchkeeper.opensearch.view import Color, Unreachable
from searchkeeper.planner import Result
from searchkeeper.reconcilers.scale_in import exclusions_cleared, scale_in_complete
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.ledger import SCALE_IN_EXCLUDED, SCALE_IN_VOTING
from tests.support.searchkeeper.action_contexts import context, manifest, with_objects
from tests.support.searchkeeper.rollouts import engine_calls, ledger_changes
from tests.support.searchkeeper.snapshots import NEW, OLD, cluster_snapshot, engine, pod, pool


def current(name: str, **differences: Any) -> Pod:
    return pod(name, **{"template": "new", "engine_version": NEW, **differences})


def pool_of(name: str, replicas: int, *pods: Pod, roles: str = "data") -> PoolView:
    """A pool with these pods, and as many allotted replicas."""
    made = pods or tuple(current(f"{name}-{n}") for n in range(replicas))
    return replace(pool(name, replicas, roles=roles, pods=made), allotted_replicas=max(len(made), replicas))


MANAGERS = pool_of("managers", 3, *(current(f"logs-managers-{n}") for n in range(3)), roles="cluster_manager")
# One surplus node.
DATA = pool_of("data", 2, *(current(f"data-{n}") for n in range(3)))
EMPTY = "logs: data-0* data-1"


def snapshot_with(
    *pools: PoolView, shards: tuple[str, ...] = (EMPTY,), **differences: Any
) -> ClusterSnapshot:
    """The surplus node is excluded and has no shard."""
    policy = {name: differences.pop(name) for name in ("paused",) if name in differences}
    differences = {"excluded": frozenset({"data-2"}), **differences}
    given = pools or (DATA, MANAGERS)
    return cluster_snapshot(*given, view=engine(given, shards, **differences), **policy)


def scale_in(snapshot: ClusterSnapshot, **how: Any) -> Result:
    return scale_in_complete.run(context(snapshot, **how))


def with_search_pools(snapshot: ClusterSnapshot, *pools: str, version: str = NEW) -> ClusterSnapshot:
    """With the SearchPools of these pools."""
    found = {each.spec.name: each for each in snapshot.pools}
    for name in pools:
        each = found[name]
        spec = replace(each.spec, replicas=each.allotted_replicas or each.spec.replicas)
        made = search_pool(context(snapshot).desired, spec, version)
        made = {**made, "metadata": {**made["metadata"], "uid": "u", "resourceVersion": "1"}}
        snapshot = with_objects(snapshot, made)
    return snapshot


def removes_node(found: Result) -> bool:
    return found.reason == Reason.SCALING_IN and found.is_destructive


def test_node_without_shards_and_vote_is_removed() -> None:
    assert removes_node(scale_in(with_search_pools(snapshot_with(), "data")))


def test_no_node_is_removed_without_surplus() -> None:
    assert scale_in(snapshot_with(pool_of("data", 2), MANAGERS)).is_true


def test_unused_allotment_is_reduced() -> None:
    """A pod that does not exist is not created again."""
    fewer = replace(pool_of("data", 2), allotted_replicas=3)
    assert removes_node(scale_in(with_search_pools(snapshot_with(fewer, MANAGERS), "data")))
    assert scale_in(snapshot_with(replace(fewer, allotted_replicas=None), MANAGERS)).is_true


def test_scale_in_keeps_the_permitted_version() -> None:
    """I5: fewer nodes are no reason for another version."""
    older = replace(DATA, permitted_version=OLD)
    [write] = scale_in(with_search_pools(snapshot_with(older, MANAGERS), "data", version=OLD)).operations
    assert isinstance(write, Patch)
    assert write.changes["spec"] == {"replicas": 2}


def test_deleted_search_pool_is_not_created_to_shrink() -> None:
    found = scale_in(snapshot_with())
    assert (found.reason, found.operations) == (Reason.WAITING_FOR_SCALE_IN, ())


def test_requested_upgrade_comes_first() -> None:
    assert scale_in(snapshot_with(), runs=OLD).reason == Reason.WAITING_FOR_UPGRADE


FAILED = pool_of("data", 2, *DATA.pods[:2], current("data-2", is_ready=False, problem="Unschedulable"))


@pytest.mark.parametrize(
    ("snapshot", "how"),
    [
        (snapshot_with(), {"runs": None}),
        (snapshot_with(), {"runs": NEW}),
        (snapshot_with(), {"runs": OLD, "version": "9.9.9"}),
        (snapshot_with(), {"runs": OLD, "upgrade__given-up": (NEW, 1)}),
        (snapshot_with(FAILED, MANAGERS), {"runs": OLD}),
    ],
    ids=["a new cluster", "at rest", "refused", "abandoned", "a surplus pod has failed"],
)
def test_upgrade_that_does_not_start_is_not_waited_for(
    snapshot: ClusterSnapshot, how: dict[str, Any]
) -> None:
    """L4."""
    assert removes_node(scale_in(with_search_pools(snapshot, "data"), **how))


@pytest.mark.parametrize(
    ("snapshot", "reason"),
    [
        (replace(snapshot_with(), engine=Unreachable("timed out")), Reason.ENGINE_UNREACHABLE),
        (snapshot_with(paused=True, excluded=frozenset()), Reason.UPGRADE_PAUSED),
        (snapshot_with(color=Color.RED, excluded=frozenset()), Reason.ENGINE_RED),
        (
            snapshot_with(
                DATA, replace(MANAGERS, pods=(*MANAGERS.pods[:2], current("logs-managers-2", is_ready=False)))
            ),
            "WaitingForPods",
        ),
    ],
    ids=["unreachable", "paused", "red", "a manager is not ready"],
)
def test_no_node_is_removed_from_an_unhealthy_cluster(snapshot: ClusterSnapshot, reason: str) -> None:
    assert scale_in(with_search_pools(snapshot, "data")).reason == reason


def test_terminating_pod_is_waited_for() -> None:
    """I8."""
    terminating = replace(DATA, pods=(*DATA.pods[:2], current("data-2", is_terminating=True)))
    for each in (terminating, replace(DATA, allotted_replicas=2), replace(DATA, allotted_replicas=None)):
        assert (
            scale_in(with_search_pools(snapshot_with(each, MANAGERS), "data")).reason
            == Reason.WAITING_FOR_SCALE_IN
        )


HELD = "logs: data-2* data-0"


def test_all_surplus_nodes_are_drained_at_once() -> None:
    """I7, I9: exclusions of users stay."""
    four = pool_of("data", 2, *(current(f"data-{n}") for n in range(4)))
    found = scale_in(
        snapshot_with(four, MANAGERS, excluded=frozenset({"data-0"})), engine__leaving=("data-9",)
    )
    assert engine_calls(found) == [Exclude(frozenset({"data-0", "data-2", "data-3", "data-9"}))]
    assert ledger_changes(found) == {
        SCALE_IN_EXCLUDED: ("data-2", "data-3", "data-9"),
        f"{SCALE_IN_EXCLUDED}/taken-back": None,
    }


def test_drain_is_waited_for_until_no_shard_is_left() -> None:
    assert scale_in(snapshot_with(shards=("logs: data-2>data-1* data-0",))).reason == Reason.WAITING_FOR_DRAIN
    assert scale_in(snapshot_with(shards=(HELD,))).reason == Reason.WAITING_FOR_DRAIN
    assert (
        scale_in(snapshot_with(shards=("logs: data-2* data-0 data-1",))).reason == Reason.SHARDS_CANNOT_MOVE
    )
    assert removes_node(scale_in(with_search_pools(snapshot_with(), "data")))


def test_last_data_nodes_are_kept() -> None:
    """S09."""
    last = pool_of("data", 0, current("data-0"))
    for already in (frozenset(), frozenset({"data-0"})):
        assert (
            scale_in(snapshot_with(last, MANAGERS, shards=(), excluded=already)).reason
            == Reason.LAST_DATA_NODE
        )
    all_nodes = frozenset({"data-0", "data-1"})
    assert scale_in(snapshot_with(shards=(HELD,), excluded=all_nodes)).reason == Reason.LAST_DATA_NODE


def test_node_without_the_data_role_is_not_drained() -> None:
    routers = pool_of("routers", 0, current("routers-0"), roles="ingest")
    assert removes_node(
        scale_in(with_search_pools(snapshot_with(pool_of("data", 2), MANAGERS, routers), "routers"))
    )
    # Also where snapshot is no data node at all.
    assert removes_node(scale_in(with_search_pools(snapshot_with(MANAGERS, routers, shards=()), "routers")))


def test_node_that_loses_the_data_role_is_drained() -> None:
    """I7: a node has the role for as long as it runs."""
    routers = pool_of("routers", 0, current("routers-0"), roles="ingest")
    nodes = engine(
        (
            pool_of("data", 2),
            MANAGERS,
            replace(routers, spec=replace(routers.spec, roles=frozenset({"data"}))),
        )
    ).nodes
    found = scale_in(snapshot_with(pool_of("data", 2), MANAGERS, routers, nodes=nodes, excluded=frozenset()))
    assert engine_calls(found) == [Exclude(frozenset({"routers-0"}))]


FOUR = pool_of("managers", 3, *(current(f"logs-managers-{n}") for n in range(4)), roles="cluster_manager")
SURPLUS = "logs-managers-3"


def surplus_manager(*, voters: frozenset[str] | None = None, **differences: Any) -> ClusterSnapshot:
    """The fourth of four managers is surplus."""
    given: dict[str, Any] = {} if voters is None else {"voters": voters}
    return with_search_pools(snapshot_with(pool_of("data", 2), FOUR, **given, **differences), "managers")


THREE = frozenset(f"logs-managers-{n}" for n in range(3))


def test_vote_is_moved_before_the_node_is_removed() -> None:
    """I1, I2."""
    found = scale_in(surplus_manager(), **{"engine__leaving-votes": ("logs-managers-9",)})
    assert engine_calls(found) == [ExcludeFromVoting(SURPLUS)]
    assert ledger_changes(found)[SCALE_IN_VOTING] == (SURPLUS, "logs-managers-9")
    excluded = frozenset({SURPLUS})
    assert scale_in(surplus_manager(voting_exclusions=excluded)).reason == Reason.WAITING_FOR_VOTE
    assert removes_node(scale_in(surplus_manager(voting_exclusions=excluded, voters=THREE)))


def test_surplus_manager_without_a_vote_is_excluded_too() -> None:
    assert engine_calls(scale_in(surplus_manager(voters=THREE))) == [ExcludeFromVoting(SURPLUS)]


def test_vote_of_a_pool_without_the_manager_role_is_moved() -> None:
    routers = pool_of("routers", 0, current("routers-0"), roles="ingest")
    voters = THREE | {"routers-0"}
    found = scale_in(snapshot_with(pool_of("data", 2), MANAGERS, routers, voters=voters))
    assert engine_calls(found) == [ExcludeFromVoting("routers-0")]


def test_last_manager_is_kept() -> None:
    """I1: other surplus managers do not count."""
    last = pool_of(
        "logs-managers", 0, current("logs-managers-0"), current("logs-managers-1"), roles="cluster_manager"
    )
    assert scale_in(snapshot_with(pool_of("data", 2), last)).reason == Reason.LAST_MANAGER


def absent(*others: Pod, vote: bool = True, **lines: Any) -> Result:
    """The surplus manager is absent, and an absent node has a vote."""
    managers = pool_of("managers", 3, *others, current(SURPLUS, is_ready=False), roles="cluster_manager")
    voters = frozenset(each.name for each in others) | ({"@gone"} if vote else set())
    snapshot = snapshot_with(pool_of("data", 2), managers, voters=voters, **lines)
    return scale_in(with_search_pools(snapshot, "managers"))


def test_absent_vote_is_taken_when_all_other_managers_have_joined() -> None:
    """I1: before that the vote may be of a manager that stays."""
    stay = [current(f"logs-managers-{n}") for n in range(3)]
    assert engine_calls(absent(*stay)) == [ExcludeFromVoting("@gone")]
    assert absent(*stay[:2]).reason == Reason.WAITING_FOR_VOTE
    assert removes_node(absent(*stay, vote=False))


def test_missing_managers_are_not_waited_for_without_an_absent_vote() -> None:
    """The gates decide then."""
    stay = [current(f"logs-managers-{n}") for n in range(2)]
    assert absent(*stay, vote=False).reason != Reason.WAITING_FOR_VOTE


def removed_pool(replicas: int | None) -> ClusterSnapshot:
    """A removed pool without pods, with a StatefulSet of these replicas."""
    over = replace(pool_of("old", 1), is_wanted=False, pods=(), allotted_replicas=0)
    assert over.stateful_set is not None
    found = None if replicas is None else replace(over.stateful_set, replicas=replicas)
    return snapshot_with(pool_of("data", 2), MANAGERS, replace(over, stateful_set=found))


def test_search_pool_of_a_removed_pool_is_deleted_last() -> None:
    stateful_set, child = (
        manifest("apps/v1", "StatefulSet", "logs-old"),
        manifest("search.everpath.dev/v1alpha1", "SearchPool", "logs-old"),
    )
    assert scale_in(with_objects(removed_pool(1), stateful_set, child)).reason == Reason.WAITING_FOR_SCALE_IN
    for objects, kind in (((stateful_set, child), "StatefulSet"), ((child,), "SearchPool")):
        [write] = scale_in(with_objects(removed_pool(0), *objects)).operations
        assert isinstance(write, Delete)
        assert write.key.kind == kind
    assert scale_in(removed_pool(None)).is_true


def test_objects_of_wanted_pools_stay() -> None:
    stateful_set = manifest("apps/v1", "StatefulSet", "logs-data")
    assert scale_in(with_objects(snapshot_with(pool_of("data", 2), MANAGERS), stateful_set)).is_true


def test_exclusion_of_a_retained_node_is_cleared() -> None:
    """I9."""
    snapshot = snapshot_with(excluded=frozenset({"data-1", "data-2"}))
    clearing = exclusions_cleared.run(context(snapshot, engine__leaving=("data-1", "data-2")))
    assert engine_calls(clearing) == [Exclude(frozenset({"data-2"}))]
    assert exclusions_cleared.run(context(snapshot, engine__leaving=("data-2",))).is_true
