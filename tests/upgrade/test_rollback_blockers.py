"""Until when the way back is open, and what closes it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.opensearch.view import Index, ShardCopy, ShardState, Unreachable
from searchkeeper.planner import Ledger, waiting_for
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import UPGRADED_NODES, UpgradeLedger
from searchkeeper.upgrade.order import candidates
from searchkeeper.upgrade.rollback import point_of_no_return, rollback_blockers
from worlds import NEW, OLD, engine, pod, pool, world

MANAGERS = pool("managers", 3, roles="cluster_manager")
NAMES = ["data-0", "data-1", "data-2", "managers-0", "managers-1", "managers-2"]
NOTHING = UpgradeLedger()


CROSSED_POD = pod("data-0", engine_version=NEW, has_started=True)
DATA = pool("data", 3, pods=[CROSSED_POD, pod("data-1"), pod("data-2")])


def seen(*shards: str) -> ClusterSnapshot:
    return world(DATA, MANAGERS, shards=shards)


def test_the_way_is_open_while_every_shard_has_a_copy_on_an_older_node() -> None:
    assert rollback_blockers(seen("logs: data-0* data-1"), NOTHING, OLD) == ()


def test_a_shard_without_one_closes_it() -> None:
    assert rollback_blockers(seen("logs: data-0* ?"), NOTHING, OLD) == (
        "logs[0] has no copy on a node of the older version",
    )


def test_nor_does_one_help_that_is_still_being_made() -> None:
    begun = ShardCopy("logs", 0, False, ShardState.INITIALIZING, "data-1")
    view = engine([DATA, MANAGERS], ["logs: data-0*"])
    view = replace(view, shards=(*view.shards, begun))
    assert rollback_blockers(world(DATA, MANAGERS, snapshot=view), NOTHING, OLD)


def test_a_node_on_its_way_out_is_none_to_go_back_to() -> None:
    pods = (DATA.pods[0], replace(DATA.pods[1], is_terminating=True), DATA.pods[2])
    assert rollback_blockers(
        world(replace(DATA, pods=pods), MANAGERS, shards=["logs: data-0 data-1*"]), NOTHING, OLD
    )


def test_an_index_of_the_newer_version_closes_it() -> None:
    view = engine([DATA, MANAGERS], ["logs: data-0* data-1"], indices=(Index("logs", 1, NEW),))
    assert rollback_blockers(world(DATA, MANAGERS, snapshot=view), NOTHING, OLD) == (
        "index logs was created by 3.4.0",
    )


def test_segments_of_a_newer_primary_close_it() -> None:
    view = engine(
        [DATA, MANAGERS],
        ["logs: data-0* data-1"],
        indices=(Index("logs", 1, OLD, segment_replication=True),),
    )
    assert rollback_blockers(world(DATA, MANAGERS, snapshot=view), NOTHING, OLD) == (
        "logs[0] replicates segments of the newer version",
    )


@pytest.mark.parametrize("places", ["data-1* data-0", "data-1* data-2"])
def test_those_of_an_older_primary_do_not(places: str) -> None:
    indices = (Index("logs", 1, OLD, segment_replication=True),)
    view = engine([DATA, MANAGERS], [f"logs: {places}"], indices=indices)
    assert rollback_blockers(world(DATA, MANAGERS, snapshot=view), NOTHING, OLD) == ()


def test_a_newer_majority_closes_it() -> None:
    newer = [pod(f"managers-{n}", engine_version=NEW, has_started=True) for n in (1, 2)]
    managers = pool("managers", 3, roles="cluster_manager", pods=[pod("managers-0"), *newer])
    assert rollback_blockers(world(managers), NOTHING, OLD) == (
        "only 1 of 3 voters would run the older version",
    )


def test_where_nobody_has_run_the_newer_version_nobody_is_asked() -> None:
    unstarted = pool("data", 1, pods=[pod("data-0", engine_version=NEW, is_ready=False)])
    assert rollback_blockers(world(unstarted, snapshot=Unreachable("refused")), NOTHING, OLD) == ()


def test_where_somebody_has_and_nobody_answers_it_cannot_be_known() -> None:
    once = UpgradeLedger.of({UPGRADED_NODES: (("data-0", "uid"),)})
    assert rollback_blockers(world(pool("data", 1), snapshot=Unreachable("refused")), once, OLD) == (
        "the engine does not answer: refused",
    )


def test_the_pod_with_which_it_closes_is_the_first_that_leaves_a_shard_without_an_older_copy() -> None:
    view = engine([pool("data", 3), MANAGERS], ["logs: data-0* data-1", "books: data-1* data-2"])
    assert point_of_no_return(view, NAMES, OLD) == (
        "data-1",
        "logs[0] has no copy on a node of the older version",
    )


def test_without_shards_it_closes_with_the_majority_of_managers() -> None:
    view = engine([pool("data", 3), MANAGERS])
    assert point_of_no_return(view, NAMES, OLD) == (
        "managers-1",
        "only 1 of 3 voters would run the older version",
    )


def test_on_the_way_back_those_that_came_last_go_first() -> None:
    names = [each.name for each in candidates(pool("data", 3), engine([DATA]), backwards=True)]
    assert names == ["data-2", "data-1", "data-0"]


def test_how_long_something_was_waited_for_can_be_asked() -> None:
    ledger = Ledger.of({"wait/PodsCurrent": ("WaitingForPods", 100)})
    assert waiting_for(ledger, "PodsCurrent", 160) == ("WaitingForPods", 60)
    assert waiting_for(ledger, "EngineHealthy", 160) is None
