"""Rows: what one policy does to one installed version in one channel."""

from __future__ import annotations

__all__ = ["Line", "Row", "Sheet", "rows"]

from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from everpath.graph import ChannelGraph
from everpath.resolvers import PolicyName
from everpath.upgrade_paths.hops import End
from everpath.upgrade_paths.lazy_hops import Way


class Row(NamedTuple):
    """One walk. `way` are its stops after `installed`; `next` is the first, None if there is none.

    `installed` None: nothing was there before. `catalog` is the one a Subscription is bound to, where there
    are several; `sources` are then the catalogs that the stops come from. `origins` are the
    channels that somebody leaves who switches to `channel`.
    """

    package: str
    channel: str
    installed: str | None
    policy: PolicyName
    way: Way | tuple[str, ...]
    end: End
    reason: str
    catalog: str | None = None
    sources: tuple[str, ...] = ()
    origins: tuple[str, ...] = ()

    @property
    def path(self) -> tuple[str, ...]:
        """The stops, one by one. Cost: their number."""
        return tuple(self.way)

    @property
    def next(self) -> str | None:
        return next(iter(self.way), None)

    @property
    def last(self) -> str | None:
        """Where the walk stops."""
        if not len(self.way):
            return self.installed
        return self.way.last if isinstance(self.way, Way) else self.way[-1]


class Line(NamedTuple):
    """One installed version under both policies; None: that one was not asked."""

    installed: str | None
    v0: Row | None
    v1: Row | None

    @property
    def rows(self) -> Iterator[Row]:
        return (row for row in (self.v0, self.v1) if row is not None)

    @property
    def differs(self) -> bool:
        """Whether the two policies disagree about the way or the end of it."""
        if self.v0 is None or self.v1 is None:
            return False
        return (self.v0.way, self.v0.end) != (self.v1.way, self.v1.end)


class Sheet(NamedTuple):
    """One channel of one catalog and what is asked about it; `graph` None: several channels as one.

    `versions` are those that tell one name of the package, in all catalogs, from the others.
    """

    package: str
    channel: str
    graph: ChannelGraph | None
    lines: tuple[Line, ...]
    versions: Mapping[str, str]
    catalog: str | None = None
    is_default: bool = False


def rows(sheets: Iterable[Sheet]) -> Iterator[Row]:
    """Every row once. A ClusterExtension sees all catalogs, so its row is on the sheet of each of them."""
    seen: set[Row] = set()
    for sheet in sheets:
        for line in sheet.lines:
            for row in line.rows:
                if sheet.catalog is not None and row.catalog is None:
                    if row in seen:
                        continue
                    seen.add(row)
                yield row
