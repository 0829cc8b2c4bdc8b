"""Where each installed version goes, hop by hop: what a picture lights up. `simulate` tells the same."""

from __future__ import annotations

__all__ = ["Road", "Roads", "roads"]

from collections.abc import Mapping
from functools import cached_property
from typing import NamedTuple

from everpath.graph import PackageGraph
from everpath.layout.picture import Picture
from everpath.resolvers import PolicyName, olm_v0
from everpath.upgrade_paths.hops import Destination, End
from everpath.simulate import Asked, Row
from everpath.upgrade_paths.channel_paths import Stream
from everpath.upgrade_paths.lazy_hops import Book


class Road(NamedTuple):
    """One walk, spelled out: the entries after the first, how it ends, and why in a sentence."""

    path: tuple[str, ...]
    end: End
    reason: str


class Roads:
    """One policy in one channel: the next hop of every entry, where its walk ends, and why.

    Walks are not spelled out unless asked for: all of them would be quadratic, and hops say the same.
    """

    def __init__(self, policy: PolicyName, picture: Picture) -> None:
        graph = picture.graph
        self.policy = policy
        self._stream = (
            Stream.v0(graph, Book())
            if policy == "v0"
            else Stream.v1(PackageGraph(graph.package), graph, Book())
        )
        self._rows = {
            node.name: self._stream.row(Asked(node.name, node.version))
            for node in picture.nodes
            if node.entry
        }
        #: Whether the resolver fails over the channel as such, so that nobody in it moves.
        self.is_broken = policy == "v0" and olm_v0.order(graph).failure is not None

    @cached_property
    def next(self) -> Mapping[str, str | None]:
        """Where each entry goes next; None if it stays."""
        return {name: row.next for name, row in self._rows.items()}

    @cached_property
    def ends(self) -> Mapping[str, Destination]:
        return {name: Destination(row.last or name, row.end) for name, row in self._rows.items()}

    def reason(self, name: str) -> str:
        """Why the road from an entry ends as it does."""
        return self._rows[name].reason

    @cached_property
    def fresh(self) -> Road:
        """What becomes of a new install."""
        return _spelled(self._stream.row(None))

    def road(self, installed: Asked) -> Road:
        """The road of something installed, in the channel or not."""
        return _spelled(self._stream.row(installed))


def roads(picture: Picture) -> tuple[Roads, Roads]:
    """What OLM v0 and OLM v1 do. O((edges + ranges) · log n) in a channel without oddities."""
    return Roads("v0", picture), Roads("v1", picture)


def _spelled(row: Row) -> Road:
    return Road(row.path, row.end, row.reason)
