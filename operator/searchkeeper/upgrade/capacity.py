"""Disk capacity: whether the remaining data nodes have room for the shards of nodes that are drained."""

from __future__ import annotations

__all__ = ["copies_to_evacuate", "disk_shortage"]

import re
from collections.abc import Iterable
from typing import Final

from semver import Version

from searchkeeper.api.messages import join
from searchkeeper.opensearch.view import EngineView, ShardCopy, ShardState
from searchkeeper.snapshot import ClusterSnapshot, Pod, PoolView
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.upgrade.shards import allocation_targets, last_copies_on
from searchkeeper.upgrade.volumes import needs_new_volume
from searchkeeper.upgrade.voting import loses_role

_UNITS: Final = {"": 1, "b": 1, "kb": 2**10, "mb": 2**20, "gb": 2**30, "tb": 2**40, "pb": 2**50}
_HINT: Final = "add disk space or a data node, or delete documents"


def copies_to_evacuate(
    snapshot: ClusterSnapshot, ledger: UpgradeLedger, pod: Pod, pool: PoolView, engine: EngineView
) -> tuple[ShardCopy, ...]:
    """Return the copies that have to leave a node before its pod is replaced.

    All of them if the disk is lost with the pod or the node loses the role data, else the only copies of
    indices without replicas.
    """
    loses_disk = pool.spec.storage.ephemeral or needs_new_volume(snapshot, ledger, pod)
    if loses_disk or loses_role("data", engine, pod.name, pool):
        return tuple(copy for copy in engine.copies_on(pod.name) if copy.node == pod.name)
    single = {index.name for index in engine.indices if index.replicas == 0}
    return tuple(copy for copy in last_copies_on(snapshot, engine, pod.name) if copy.index in single)


def disk_shortage(
    snapshot: ClusterSnapshot, engine: EngineView, copies: Iterable[ShardCopy], draining: frozenset[str]
) -> str | None:
    """Say why the other data nodes cannot take these copies below the low watermark; None if they can.

    Copies that move already, or that no node may take, do not count: the drain reports the latter. Each copy,
    the largest first, is put where most room is left. None also if the engine gives no figures.
    """
    disks = snapshot.details.disks
    targets = allocation_targets(snapshot, engine, min(draining)) - draining
    if disks is None or not all(name in disks.nodes for name in targets):
        return None
    room = {
        name: max(0, disk.available - _reserved(engine.low_watermark, disk.total))
        for name, disk in disks.nodes.items()
        if name in targets
    }
    held = {name: {copy.id for copy in engine.copies_on(name)} for name in targets}
    versions = {node.name: Version.parse(node.version) for node in engine.nodes}
    moves: list[tuple[int, list[str]]] = []
    for copy in copies:
        source = versions.get(copy.node or "")
        takers = [
            name
            for name in sorted(targets)
            if copy.id not in held[name] and not (source and versions[name] < source)
        ]
        if takers and copy.state is ShardState.STARTED:
            moves.append((disks.copies.get((copy.node or "", copy.index, copy.shard), 0), takers))
    left = dict(room)
    for size, takers in sorted(moves, reverse=True):
        target = max(takers, key=lambda name: left[name])
        left[target] -= size
    if min(left.values(), default=0) >= 0:
        return None
    total, largest = sum(size for size, _ in moves), max(size for size, _ in moves)
    useful = sorted({name for _, takers in moves for name in takers})
    free = join([f"{name} {_gibibytes(room[name])}" for name in useful])
    limit = f" below the low disk watermark ({engine.low_watermark})" if engine.low_watermark else ""
    return (
        f"{len(moves)} shards with {_gibibytes(total)}, the largest {_gibibytes(largest)}, have to leave "
        f"{', '.join(sorted(draining))} and do not fit on other nodes: {free} are free{limit}; {_HINT}"
    )


def _reserved(watermark: str | None, total: int) -> int:
    """Return the bytes that must stay free: of 85% or 0.85 the rest, 50gb as they are; 0 for other text."""
    match = re.fullmatch(r"([0-9.]+) *(%|[kmgtp]?b)?", (watermark or "").lower())
    if match is None:
        return 0
    number, unit = float(match[1]), match[2] or ""
    if unit in ("%", ""):
        return int(total * (1 - number / (100 if unit == "%" else 1)))
    return int(number * _UNITS[unit])


def _gibibytes(size: int) -> str:
    return f"{size / 2**30:.1f} GiB"
