"""What would be missing if a node were gone."""

from __future__ import annotations

__all__ = ["only_here", "shared_shards"]

from collections.abc import Iterable
from typing import Final

from searchkeeper.engine.view import EngineView, ShardCopy, ShardState

_USABLE: Final = (ShardState.STARTED, ShardState.RELOCATING)


def only_here(engine: EngineView, node: str) -> tuple[ShardCopy, ...]:
    """The copies on this node that no other joined node has a usable copy of."""
    elsewhere = {copy.id for copy in engine.shards if _is_usable(copy, engine) and copy.node != node}
    here = (copy for copy in engine.copies_on(node) if copy.node == node and copy.state in _USABLE)
    return tuple(copy for copy in here if copy.id not in elsewhere)


def shared_shards(engine: EngineView, node: str, others: Iterable[str]) -> frozenset[tuple[str, int]]:
    """The shards of which this node and one of the others both have a copy, or are getting one."""
    theirs = {copy.id for other in others for copy in engine.copies_on(other)}
    return frozenset(copy.id for copy in engine.copies_on(node) if copy.id in theirs)


def _is_usable(copy: ShardCopy, engine: EngineView) -> bool:
    return copy.state in _USABLE and copy.node is not None and engine.node(copy.node) is not None
