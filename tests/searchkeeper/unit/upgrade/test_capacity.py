"""Disk capacity: what has to move, and whether it fits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from searchkeeper.opensearch.details import Disks, EngineDetails, NodeDisk
from searchkeeper.opensearch.view import Index
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from searchkeeper.upgrade.capacity import disk_shortage
from searchkeeper.upgrade.gates import Candidate, first_blocking_gate
from tests.support.searchkeeper.snapshots import cluster_snapshot, engine, pod, pool

GIB = 2**30
SHARDS = ["logs: data-0* data-1", "books: data-0* data-1"]


def with_disks(
    pools: tuple[PoolView, ...], shards: list[str], free: Mapping[str, float], size: float = 10, **view: Any
) -> ClusterSnapshot:
    """Return a snapshot of nodes with disks of 100 GiB, with this space and shards of this size in GiB."""
    state = engine(pools, shards, **view)
    nodes = {name: NodeDisk(100 * GIB, int(each * GIB)) for name, each in free.items()}
    copies = {(copy.node or "", copy.index, copy.shard): int(size * GIB) for copy in state.shards}
    return replace(cluster_snapshot(*pools, view=state), details=EngineDetails(Disks(nodes, copies)))


def shortage(snapshot: ClusterSnapshot, *draining: str) -> str | None:
    view: Any = snapshot.engine
    copies = [copy for copy in view.shards if copy.node in draining]
    return disk_shortage(snapshot, view, copies, frozenset(draining))


BRIEF = pool("data", 3, ephemeral=True)


def test_shards_that_fit_below_the_low_watermark_may_move() -> None:
    assert shortage(with_disks((BRIEF,), SHARDS, {"data-1": 15, "data-2": 35}), "data-0") is None


def test_shards_that_do_not_fit_are_reported_with_figures() -> None:
    """Only data-2 can take them: data-1 has copies."""
    snapshot = with_disks((BRIEF,), SHARDS, {"data-1": 90, "data-2": 34.9})
    assert shortage(snapshot, "data-0") == (
        "2 shards with 20.0 GiB, the largest 10.0 GiB, have to leave data-0 and do not fit on other nodes: "
        "data-2 19.9 GiB are free below the low disk watermark (85%); "
        "add disk space or a data node, or delete documents"
    )


def test_shard_that_no_node_may_take_does_not_count() -> None:
    """The rollout does not wait for it if there is another copy."""
    two = pool("data", 2, ephemeral=True)
    assert shortage(with_disks((two,), SHARDS, {"data-1": 0}), "data-0") is None


def test_shard_that_moves_already_does_not_count() -> None:
    snapshot = with_disks((BRIEF,), ["logs: data-0>data-2* data-1"], {"data-1": 0, "data-2": 0})
    assert shortage(snapshot, "data-0") is None


def test_shard_must_fit_on_one_node() -> None:
    four = pool("data", 4, ephemeral=True)
    room = {"data-1": 20, "data-2": 20, "data-3": 20}
    snapshot = with_disks((four,), ["logs: data-0*"], room, size=6)
    assert shortage(snapshot, "data-0") is not None
    assert shortage(with_disks((four,), ["logs: data-0*"], room, size=5), "data-0") is None


def test_shards_are_spread_over_all_nodes() -> None:
    shards = [f"i{number}: data-0*" for number in range(4)]
    assert shortage(with_disks((BRIEF,), shards, {"data-1": 35, "data-2": 35}), "data-0") is None
    assert shortage(with_disks((BRIEF,), shards, {"data-1": 35, "data-2": 34}), "data-0") is not None


def test_drained_nodes_take_no_shards_from_each_other() -> None:
    snapshot = with_disks((BRIEF,), ["a: data-0*", "b: data-1*"], {"data-1": 90, "data-2": 34})
    assert shortage(snapshot, "data-0", "data-1") is not None


def test_older_node_takes_no_shard_of_a_newer_one() -> None:
    mixed = pool("data", 2, pods=[pod("data-0", engine_version="3.4.0"), pod("data-1")])
    assert shortage(with_disks((mixed,), ["a: data-0*"], {"data-1": 0}), "data-0") is None


@pytest.mark.parametrize(
    ("watermark", "fits"),
    [
        ("85%", False),
        ("0.85", False),
        ("95%", True),
        ("4gb", True),
        ("5gb", True),
        ("5.5gb", False),
        ("6000mb", False),
        ("1tb", False),
        (None, True),
        ("much", True),
    ],
)
def test_watermark_is_a_share_of_the_disk_or_free_space(watermark: str | None, fits: bool) -> None:
    """15 GiB are free, and a shard of 10 GiB moves."""
    snapshot = with_disks((BRIEF,), ["a: data-0*"], {"data-1": 15, "data-2": 0}, low_watermark=watermark)
    assert (shortage(snapshot, "data-0") is None) is fits


@pytest.mark.parametrize(
    "disks", [None, Disks({"data-1": NodeDisk(100 * GIB, 0)})], ids=["none", "of some nodes"]
)
def test_drain_is_not_blocked_without_figures(disks: Disks | None) -> None:
    snapshot = with_disks((BRIEF,), SHARDS, {"data-1": 0, "data-2": 0})
    assert shortage(replace(snapshot, details=EngineDetails(disks)), "data-0") is None


def blocking_gate(snapshot: ClusterSnapshot, name: str = "data-0") -> str | None:
    owner = snapshot.pools[0]
    result = first_blocking_gate(Candidate(next(p for p in owner.pods if p.name == name), owner), snapshot)
    return None if result is None else result.gate


FULL = {"data-0": 0.0, "data-1": 0.0, "data-2": 0.0}


def test_ephemeral_node_is_not_replaced_while_its_shards_have_no_room() -> None:
    assert blocking_gate(with_disks((BRIEF,), SHARDS, FULL)) == "DiskSpaceSufficient"


def test_node_with_a_volume_restarts_with_its_shards_whatever_the_space() -> None:
    assert blocking_gate(with_disks((pool("data", 3),), SHARDS, FULL)) is None


def test_only_copies_of_indices_without_replicas_need_room() -> None:
    """Before LastCopySafe, which would start the drain."""
    indices = (Index("logs", 0, "2.19.4"),)
    snapshot = with_disks((pool("data", 3),), ["logs: data-0*"], FULL, indices=indices)
    assert blocking_gate(snapshot) == "DiskSpaceSufficient"
    room = with_disks((pool("data", 3),), ["logs: data-0*"], {**FULL, "data-2": 25}, indices=indices)
    assert blocking_gate(room) == "LastCopySafe"


def test_drain_that_has_started_is_not_blocked() -> None:
    snapshot = with_disks((BRIEF,), SHARDS, FULL, excluded=frozenset({"data-0"}))
    assert blocking_gate(snapshot) is None
