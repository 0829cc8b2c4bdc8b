"""Who leaves for good, what is asked of it before, and what is left of its pool, as single decisions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from few_pools import manifest, scene, with_objects
from rolls import calls, notes
from searchkeeper.desired.manifests import search_pool
from searchkeeper.kubernetes.operations import Delete, Patch
from searchkeeper.opensearch.calls import Exclude, ExcludeFromVoting
from searchkeeper.opensearch.view import Color, Unreachable
from searchkeeper.planner import Result
from searchkeeper.reconcilers.scale_in import exclusions_cleared, scale_in_complete
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.ledger import SCALE_IN_EXCLUDED, SCALE_IN_VOTING
from worlds import NEW, OLD, engine, pod, pool, world


def current(name: str, **differences: Any) -> Pod:
    return pod(name, **{"template": "new", "engine_version": NEW, **differences})


def home(name: str, replicas: int, *pods: Pod, roles: str = "data") -> PoolView:
    """One that has these pods, and is allotted as many."""
    made = pods or tuple(current(f"{name}-{n}") for n in range(replicas))
    return replace(pool(name, replicas, roles=roles, pods=made), allotted_replicas=max(len(made), replicas))


MANAGERS = home("managers", 3, *(current(f"logs-managers-{n}") for n in range(3)), roles="cluster_manager")
# One node more than is wanted.
DATA = home("data", 2, *(current(f"data-{n}") for n in range(3)))
EMPTY = "logs: data-0* data-1"


def seen(*pools: PoolView, shards: tuple[str, ...] = (EMPTY,), **differences: Any) -> ClusterSnapshot:
    """Who is one too many is excluded, and has no shard any more."""
    policy = {name: differences.pop(name) for name in ("paused",) if name in differences}
    differences = {"excluded": frozenset({"data-2"}), **differences}
    given = pools or (DATA, MANAGERS)
    return world(*given, snapshot=engine(given, shards, **differences), **policy)


def left(there: ClusterSnapshot, **how: Any) -> Result:
    return scale_in_complete.run(scene(there, **how))


def standing(there: ClusterSnapshot, *pools: str, version: str = NEW) -> ClusterSnapshot:
    """With the SearchPools of these."""
    found = {each.spec.name: each for each in there.pools}
    for name in pools:
        each = found[name]
        spec = replace(each.spec, replicas=each.allotted_replicas or each.spec.replicas)
        made = search_pool(scene(there).deployed, spec, version)
        made = {**made, "metadata": {**made["metadata"], "uid": "u", "resourceVersion": "1"}}
        there = with_objects(there, made)
    return there


def lets_go(found: Result) -> bool:
    return found.reason == "LettingGo" and found.is_destructive_result


def test_who_has_neither_shards_nor_a_vote_leaves() -> None:
    assert lets_go(left(standing(seen(), "data")))


def test_where_nobody_is_one_too_many_nobody_leaves() -> None:
    assert left(seen(home("data", 2), MANAGERS)).is_true


def test_a_pool_that_is_allotted_more_than_it_has_is_allotted_what_it_is_to_have() -> None:
    """Whoever would come back is not asked for any more."""
    fewer = replace(home("data", 2), allotted_replicas=3)
    assert lets_go(left(standing(seen(fewer, MANAGERS), "data")))
    assert left(seen(replace(fewer, allotted_replicas=None), MANAGERS)).is_true


def test_what_a_pool_is_permitted_stays_as_it_is() -> None:
    """I5: to have fewer nodes is no reason for another version."""
    older = replace(DATA, permitted_version=OLD)
    [write] = left(standing(seen(older, MANAGERS), "data", version=OLD)).operations
    assert isinstance(write, Patch)
    assert write.changes["spec"] == {"replicas": 2}


def test_where_somebody_has_deleted_its_search_pool_none_is_made_for_it_to_shrink() -> None:
    found = left(seen())
    assert (found.reason, found.operations) == ("Leaves", ())


def test_an_upgrade_that_is_wanted_comes_first() -> None:
    assert left(seen(), runs=OLD).reason == "UpgradeFirst"


LOST = home("data", 2, *DATA.pods[:2], current("data-2", is_ready=False, problem="Unschedulable"))


@pytest.mark.parametrize(
    ("there", "how"),
    [
        (seen(), {"runs": None}),
        (seen(), {"runs": NEW}),
        (seen(), {"runs": OLD, "version": "9.9.9"}),
        (seen(), {"runs": OLD, "upgrade__given-up": (NEW, 1)}),
        (seen(LOST, MANAGERS), {"runs": OLD}),
    ],
    ids=["a new cluster", "at rest", "refused", "given up", "one who leaves is down for good"],
)
def test_one_that_does_not_begin_is_not_waited_for(there: ClusterSnapshot, how: dict[str, Any]) -> None:
    """L4."""
    assert lets_go(left(standing(there, "data"), **how))


@pytest.mark.parametrize(
    ("there", "reason"),
    [
        (replace(seen(), engine=Unreachable("timed out")), "EngineReachable"),
        (seen(paused=True, excluded=frozenset()), "NotPaused"),
        (seen(color=Color.RED, excluded=frozenset()), "Healthy"),
        (
            seen(
                DATA, replace(MANAGERS, pods=(*MANAGERS.pods[:2], current("logs-managers-2", is_ready=False)))
            ),
            "WaitingForPods",
        ),
    ],
    ids=["silent", "paused", "red", "somebody is away"],
)
def test_nobody_leaves_a_cluster_that_is_not_well(there: ClusterSnapshot, reason: str) -> None:
    assert left(standing(there, "data")).reason == reason


def test_whoever_is_on_its_way_out_is_waited_for() -> None:
    """I8."""
    going = replace(DATA, pods=(*DATA.pods[:2], current("data-2", is_terminating=True)))
    for each in (going, replace(DATA, allotted_replicas=2), replace(DATA, allotted_replicas=None)):
        assert left(standing(seen(each, MANAGERS), "data")).reason == "Leaves"


HELD = "logs: data-2* data-0"


def test_shards_leave_all_who_go_together_and_nobody_else() -> None:
    """I7, I9: whom users have excluded stays so."""
    four = home("data", 2, *(current(f"data-{n}") for n in range(4)))
    found = left(seen(four, MANAGERS, excluded=frozenset({"data-0"})), engine__leaving=("data-9",))
    assert calls(found) == [Exclude(frozenset({"data-0", "data-2", "data-3", "data-9"}))]
    assert notes(found) == {
        SCALE_IN_EXCLUDED: ("data-2", "data-3", "data-9"),
        f"{SCALE_IN_EXCLUDED}/taken-back": None,
    }


def test_they_are_waited_for_until_the_last_has_left() -> None:
    assert left(seen(shards=("logs: data-2>data-1* data-0",))).reason == "Drains"
    assert left(seen(shards=(HELD,))).reason == "Drains"
    assert left(seen(shards=("logs: data-2* data-0 data-1",))).reason == "NobodyTakesShards"
    assert lets_go(left(standing(seen(), "data")))


def test_the_last_data_nodes_stay() -> None:
    """S09."""
    all_of_them = home("data", 0, current("data-0"))
    for already in (frozenset(), frozenset({"data-0"})):
        assert left(seen(all_of_them, MANAGERS, shards=(), excluded=already)).reason == "LastDataNode"
    everybody = frozenset({"data-0", "data-1"})
    assert left(seen(shards=(HELD,), excluded=everybody)).reason == "LastDataNode"


def test_who_holds_no_data_is_not_drained() -> None:
    routers = home("routers", 0, current("routers-0"), roles="ingest")
    assert lets_go(left(standing(seen(home("data", 2), MANAGERS, routers), "routers")))
    # Also where there is no data node at all.
    assert lets_go(left(standing(seen(MANAGERS, routers, shards=()), "routers")))


def test_who_only_loses_the_role_is() -> None:
    """I7: it has it for as long as it runs."""
    routers = home("routers", 0, current("routers-0"), roles="ingest")
    nodes = engine(
        (home("data", 2), MANAGERS, replace(routers, spec=replace(routers.spec, roles=frozenset({"data"}))))
    ).nodes
    found = left(seen(home("data", 2), MANAGERS, routers, nodes=nodes, excluded=frozenset()))
    assert calls(found) == [Exclude(frozenset({"routers-0"}))]


FOUR = home("managers", 3, *(current(f"logs-managers-{n}") for n in range(4)), roles="cluster_manager")
LEAVER = "logs-managers-3"


def leaver(*, voters: frozenset[str] | None = None, **differences: Any) -> ClusterSnapshot:
    """The fourth of four managers is to go."""
    given: dict[str, Any] = {} if voters is None else {"voters": voters}
    return standing(seen(home("data", 2), FOUR, **given, **differences), "managers")


THREE = frozenset(f"logs-managers-{n}" for n in range(3))


def test_a_vote_goes_before_its_owner() -> None:
    """I1, I2."""
    found = left(leaver(), **{"engine__leaving-votes": ("logs-managers-9",)})
    assert calls(found) == [ExcludeFromVoting(LEAVER)]
    assert notes(found)[SCALE_IN_VOTING] == (LEAVER, "logs-managers-9")
    told = frozenset({LEAVER})
    assert left(leaver(voting_exclusions=told)).reason == "VoteMoves"
    assert lets_go(left(leaver(voting_exclusions=told, voters=THREE)))


def test_a_manager_that_has_no_vote_is_kept_from_getting_one() -> None:
    assert calls(left(leaver(voters=THREE))) == [ExcludeFromVoting(LEAVER)]


def test_so_does_the_vote_of_one_whose_pool_is_not_to_vote() -> None:
    routers = home("routers", 0, current("routers-0"), roles="ingest")
    voters = THREE | {"routers-0"}
    found = left(seen(home("data", 2), MANAGERS, routers, voters=voters))
    assert calls(found) == [ExcludeFromVoting("routers-0")]


def test_no_manager_leaves_without_an_heir() -> None:
    """I1: others that leave are none."""
    last = home(
        "logs-managers", 0, current("logs-managers-0"), current("logs-managers-1"), roles="cluster_manager"
    )
    assert left(seen(home("data", 2), last)).reason == "LastManager"


def absent(*others: Pod, vote: bool = True, **lines: Any) -> Result:
    """The manager that is to go is not there, and somebody who is not there has a vote."""
    managers = home("managers", 3, *others, current(LEAVER, is_ready=False), roles="cluster_manager")
    voters = frozenset(each.name for each in others) | ({"@gone"} if vote else set())
    there = seen(home("data", 2), managers, voters=voters, **lines)
    return left(standing(there, "managers"))


def test_a_vote_of_somebody_absent_is_taken_when_all_who_stay_are_there() -> None:
    """I1: before that it may be one of theirs."""
    stay = [current(f"logs-managers-{n}") for n in range(3)]
    assert calls(absent(*stay)) == [ExcludeFromVoting("@gone")]
    assert absent(*stay[:2]).reason == "VoteMoves"
    assert lets_go(absent(*stay, vote=False))


def test_where_nobody_absent_has_a_vote_nobody_is_waited_for() -> None:
    """The gates have the last word."""
    stay = [current(f"logs-managers-{n}") for n in range(2)]
    assert absent(*stay, vote=False).reason != "VoteMoves"


def unwanted(replicas: int | None) -> ClusterSnapshot:
    """A pool of which nobody is left, with a StatefulSet of that size."""
    over = replace(home("old", 1), is_wanted=False, pods=(), allotted_replicas=0)
    assert over.stateful_set is not None
    found = None if replicas is None else replace(over.stateful_set, replicas=replicas)
    return seen(home("data", 2), MANAGERS, replace(over, stateful_set=found))


def test_of_a_pool_that_is_not_wanted_its_search_pool_goes_last() -> None:
    its_set, child = (
        manifest("apps/v1", "StatefulSet", "logs-old"),
        manifest("search.everpath.dev/v1alpha1", "SearchPool", "logs-old"),
    )
    assert left(with_objects(unwanted(1), its_set, child)).reason == "Leaves"
    for objects, kind in (((its_set, child), "StatefulSet"), ((child,), "SearchPool")):
        [write] = left(with_objects(unwanted(0), *objects)).operations
        assert isinstance(write, Delete)
        assert write.key.kind == kind
    assert left(unwanted(None)).is_true


def test_of_pools_that_are_wanted_nothing_goes() -> None:
    its_set = manifest("apps/v1", "StatefulSet", "logs-data")
    assert left(with_objects(seen(home("data", 2), MANAGERS), its_set)).is_true


def test_whoever_may_stay_after_all_gets_shards_again() -> None:
    """I9."""
    there = seen(excluded=frozenset({"data-1", "data-2"}))
    undoing = exclusions_cleared.run(scene(there, engine__leaving=("data-1", "data-2")))
    assert calls(undoing) == [Exclude(frozenset({"data-2"}))]
    assert exclusions_cleared.run(scene(there, engine__leaving=("data-2",))).is_true
