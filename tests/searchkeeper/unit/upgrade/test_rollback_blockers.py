"""Rollback blockers, and the point of no return."""

from __future__ import annotations

from dataclasses import replace

import pytest

from searchkeeper.opensearch.view import Index, ShardCopy, ShardState, Unreachable
from searchkeeper.planner import Ledger, waiting_for
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import UPGRADED_NODES, UpgradeLedger
from searchkeeper.upgrade.order import candidates
from searchkeeper.upgrade.rollback import point_of_no_return, rollback_blockers
from tests.support.searchkeeper.snapshots import NEW, OLD, cluster_snapshot, engine, pod, pool

MANAGERS = pool("managers", 3, roles="cluster_manager")
NAMES = ["data-0", "data-1", "data-2", "managers-0", "managers-1", "managers-2"]
EMPTY_LEDGER = UpgradeLedger()


UPGRADED_POD = pod("data-0", engine_version=NEW, has_started=True)
DATA = pool("data", 3, pods=[UPGRADED_POD, pod("data-1"), pod("data-2")])


def observed_cluster(*shards: str) -> ClusterSnapshot:
    return cluster_snapshot(DATA, MANAGERS, shards=shards)


def test_copy_of_every_shard_on_an_older_node_blocks_nothing() -> None:
    assert rollback_blockers(observed_cluster("logs: data-0* data-1"), EMPTY_LEDGER, OLD) == ()


def test_shard_without_a_copy_on_an_older_node_blocks() -> None:
    assert rollback_blockers(observed_cluster("logs: data-0* ?"), EMPTY_LEDGER, OLD) == (
        "logs[0] has no copy on a node of the older version",
    )


def test_initializing_copy_does_not_count() -> None:
    initializing = ShardCopy("logs", 0, False, ShardState.INITIALIZING, "data-1")
    view = engine([DATA, MANAGERS], ["logs: data-0*"])
    view = replace(view, shards=(*view.shards, initializing))
    assert rollback_blockers(cluster_snapshot(DATA, MANAGERS, view=view), EMPTY_LEDGER, OLD)


def test_copy_on_a_terminating_node_does_not_count() -> None:
    pods = (DATA.pods[0], replace(DATA.pods[1], is_terminating=True), DATA.pods[2])
    assert rollback_blockers(
        cluster_snapshot(replace(DATA, pods=pods), MANAGERS, shards=["logs: data-0 data-1*"]),
        EMPTY_LEDGER,
        OLD,
    )


def test_index_of_the_newer_version_blocks() -> None:
    view = engine([DATA, MANAGERS], ["logs: data-0* data-1"], indices=(Index("logs", 1, NEW),))
    assert rollback_blockers(cluster_snapshot(DATA, MANAGERS, view=view), EMPTY_LEDGER, OLD) == (
        "index logs was created by 3.4.0",
    )


def test_segment_replication_from_a_newer_primary_blocks() -> None:
    view = engine(
        [DATA, MANAGERS],
        ["logs: data-0* data-1"],
        indices=(Index("logs", 1, OLD, segment_replication=True),),
    )
    assert rollback_blockers(cluster_snapshot(DATA, MANAGERS, view=view), EMPTY_LEDGER, OLD) == (
        "logs[0] replicates segments of the newer version",
    )


@pytest.mark.parametrize("places", ["data-1* data-0", "data-1* data-2"])
def test_segment_replication_from_an_older_primary_does_not_block(places: str) -> None:
    indices = (Index("logs", 1, OLD, segment_replication=True),)
    view = engine([DATA, MANAGERS], [f"logs: {places}"], indices=indices)
    assert rollback_blockers(cluster_snapshot(DATA, MANAGERS, view=view), EMPTY_LEDGER, OLD) == ()


def test_majority_of_newer_voters_blocks() -> None:
    newer = [pod(f"managers-{n}", engine_version=NEW, has_started=True) for n in (1, 2)]
    managers = pool("managers", 3, roles="cluster_manager", pods=[pod("managers-0"), *newer])
    assert rollback_blockers(cluster_snapshot(managers), EMPTY_LEDGER, OLD) == (
        "only 1 of 3 voters would run the older version",
    )


def test_unreachable_engine_does_not_block_if_no_node_has_run_the_newer_version() -> None:
    unstarted = pool("data", 1, pods=[pod("data-0", engine_version=NEW, is_ready=False)])
    assert (
        rollback_blockers(cluster_snapshot(unstarted, view=Unreachable("refused")), EMPTY_LEDGER, OLD) == ()
    )


def test_unreachable_engine_blocks_if_a_node_has_run_the_newer_version() -> None:
    upgraded = UpgradeLedger.of({UPGRADED_NODES: (("data-0", "uid"),)})
    assert rollback_blockers(
        cluster_snapshot(pool("data", 1), view=Unreachable("refused")), upgraded, OLD
    ) == ("the engine does not answer: refused",)


def test_point_of_no_return_is_the_first_pod_that_leaves_a_shard_without_an_older_copy() -> None:
    view = engine([pool("data", 3), MANAGERS], ["logs: data-0* data-1", "books: data-1* data-2"])
    assert point_of_no_return(view, NAMES, OLD) == (
        "data-1",
        "logs[0] has no copy on a node of the older version",
    )


def test_point_of_no_return_without_shards_is_the_majority_of_managers() -> None:
    view = engine([pool("data", 3), MANAGERS])
    assert point_of_no_return(view, NAMES, OLD) == (
        "managers-1",
        "only 1 of 3 voters would run the older version",
    )


def test_pods_are_rolled_back_in_reverse_order() -> None:
    names = [candidate.name for candidate in candidates(pool("data", 3), engine([DATA]), backwards=True)]
    assert names == ["data-2", "data-1", "data-0"]


def test_ledger_has_the_reason_and_duration_of_a_wait() -> None:
    ledger = Ledger.of({"wait/PodsCurrent": ("WaitingForPods", 100)})
    assert waiting_for(ledger, "PodsCurrent", 160) == ("WaitingForPods", 60)
    assert waiting_for(ledger, "EngineHealthy", 160) is None
