"""What a comparison reports: who is hurt or surprised, by which edit, and what else has changed."""

from __future__ import annotations

__all__ = ["Change", "ChangeKind", "cut_off_unnamed"]

from collections.abc import Iterable
from enum import StrEnum
from typing import Final, NamedTuple

from everpath.compare.differences import Difference
from everpath.model import Entry, Place
from everpath.resolvers import ResolverName
from everpath.rules.findings import Severity


class ChangeKind(StrEnum):
    """What a change is about, in the order of a report."""

    PACKAGE_GONE = "package-gone"
    CHANNEL_GONE = "channel-gone"
    FAILING = "failing"
    STRANDED = "stranded"
    DEAD_END = "no-replacement"
    DOWNGRADED = "downgraded"
    HEAD_MOVED_BACK = "head-moved-back"
    UNREACHABLE = "unreachable-release"
    REFUSED = "refused-by-opm"
    REPUBLISHED = "republished"
    ROAD = "road"
    BEHIND = "further-behind"
    VANISHED = "vanished"
    BEFORE = "before"
    MENDED = "mended"
    FURTHER = "further"
    DEFAULT_CHANNEL = "default-channel"
    CHANNEL_ADDED = "channel-added"
    PACKAGE_ADDED = "package-added"

    @property
    def severity(self) -> Severity:
        """Errors cut somebody off, warnings surprise somebody, notes are for the record."""
        return _SEVERITIES.get(self, Severity.NOTE)


_SEVERITIES: Final = {
    ChangeKind.PACKAGE_GONE: Severity.ERROR,
    ChangeKind.CHANNEL_GONE: Severity.ERROR,
    ChangeKind.FAILING: Severity.ERROR,
    ChangeKind.STRANDED: Severity.ERROR,
    ChangeKind.DEAD_END: Severity.ERROR,
    ChangeKind.DOWNGRADED: Severity.WARNING,
    ChangeKind.HEAD_MOVED_BACK: Severity.WARNING,
    ChangeKind.UNREACHABLE: Severity.WARNING,
    ChangeKind.REFUSED: Severity.WARNING,
    ChangeKind.REPUBLISHED: Severity.WARNING,
    ChangeKind.ROAD: Severity.WARNING,
    ChangeKind.BEHIND: Severity.WARNING,
}


class Change(NamedTuple):
    """One thing to tell: of whom, what, since which edits, and what mends it.

    `was` and `now` are the road of the first of them in either catalog. `mended` are the entries that a fix
    changes, if it is one of edges, as they would read: the names may be too many for the words. `place` is
    in the new catalog, unless nothing of it is there any more (`in_old`).
    """

    kind: ChangeKind
    package: str
    channel: str | None
    message: str
    installed: tuple[str, ...] = ()
    policies: tuple[ResolverName, ...] = ()
    was: str = ""
    now: str = ""
    because: tuple[str, ...] = ()
    edits: tuple[Difference, ...] = ()
    fix: str | None = None
    mended: tuple[Entry, ...] = ()
    place: Place | None = None
    in_old: bool = False

    @property
    def severity(self) -> Severity:
        """That of its kind; but what is gone and was nobody's is for the record."""
        is_gone = self.kind in (ChangeKind.PACKAGE_GONE, ChangeKind.CHANNEL_GONE)
        return Severity.NOTE if is_gone and not self.installed else self.kind.severity


def cut_off_unnamed(changes: Iterable[Change]) -> int:
    """How many are told to be cut off under OLM v1 because they name no channel."""
    kinds = (ChangeKind.FAILING, ChangeKind.STRANDED)
    return sum(len(c.installed) for c in changes if c.channel is None and c.kind in kinds)
