"""The way back: until when it is open, and what closes it."""

from __future__ import annotations

__all__ = ["closed_by", "closes_with"]

from collections.abc import Iterator

from semver import Version

from searchkeeper.engine.view import EngineView, ShardState


def closed_by(engine: EngineView, before: str) -> tuple[str, ...]:
    """What stands against going back to `before`, in sentences; nothing while the way is open.

    A node that has once run the newer version cannot run the older one on the same disk. So the way is open
    only while every shard has a started copy on a node that has not, no index was made by the newer version,
    and the majority of voters is still old.
    """
    return tuple(_objections(engine, before, _old_nodes(engine, before)))


def closes_with(engine: EngineView, node: str, before: str) -> tuple[str, ...]:
    """What would close the way when this node is replaced; nothing where it is closed already."""
    if closed_by(engine, before):
        return ()
    return tuple(_objections(engine, before, _old_nodes(engine, before) - {node}))


def _old_nodes(engine: EngineView, before: str) -> frozenset[str]:
    newest = Version.parse(before)
    return frozenset(node.name for node in engine.nodes if Version.parse(node.version) <= newest)


def _objections(engine: EngineView, before: str, old: frozenset[str]) -> Iterator[str]:
    yield from _shards_without_old_copy(engine, old)
    yield from _new_indices(engine, before)
    yield from _lost_majority(engine, old)


def _shards_without_old_copy(engine: EngineView, old: frozenset[str]) -> Iterator[str]:
    """With segment replication, a primary on a newer node has written what older ones cannot read."""
    safe = {copy.id for copy in engine.shards if copy.state is ShardState.STARTED and copy.node in old}
    for index, shard in sorted({copy.id for copy in engine.shards} - safe):
        yield f"{index}[{shard}] has no copy on a node of the older version"
    segments = {index.name for index in engine.indices if index.segment_replication}
    for copy in engine.shards:
        if copy.index in segments and copy.is_primary and copy.id in safe and copy.node not in old:
            yield f"{copy.index}[{copy.shard}] replicates segments of the newer version"


def _new_indices(engine: EngineView, before: str) -> Iterator[str]:
    for index in engine.indices:
        if Version.parse(index.created_by) > Version.parse(before):
            yield f"index {index.name} was created by {index.created_by}"


def _lost_majority(engine: EngineView, old: frozenset[str]) -> Iterator[str]:
    left = len(engine.voters & old)
    if engine.voters and left < len(engine.voters) // 2 + 1:
        yield f"{left} of {len(engine.voters)} voters would be of the older version"
