"""The changes that a comparison reports."""

from __future__ import annotations

__all__ = ["Change", "ChangeKind", "regressions_without_channels", "with_positions"]

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Final, NamedTuple

from everpath.comparison.differences import Difference
from everpath.model import Entry, Place, SourcePosition
from everpath.resolvers import ResolverName
from everpath.rules.findings import Severity


class ChangeKind(StrEnum):
    """Kinds of change, in the order of a report."""

    PACKAGE_GONE = "package-gone"
    CHANNEL_GONE = "channel-gone"
    FAILING = "failing"
    STRANDED = "stranded"
    DEAD_END = "no-replacement"
    DOWNGRADED = "downgraded"
    HEAD_MOVED_BACK = "head-moved-back"
    UNREACHABLE = "unreachable-release"
    REJECTED_BY_OPM = "rejected-by-opm"
    REPUBLISHED = "republished"
    DIFFERENT_PATH = "different-path"
    FURTHER_BEHIND = "further-behind"
    VANISHED = "vanished"
    STRANDED_BEFORE = "before"
    FIXED = "fixed"
    FURTHER = "further"
    DEFAULT_CHANNEL = "default-channel"
    CHANNEL_ADDED = "channel-added"
    PACKAGE_ADDED = "package-added"

    @property
    def severity(self) -> Severity:
        """Error: clusters get no more updates. Warning: an upgrade path changes. Note: for information."""
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
    ChangeKind.REJECTED_BY_OPM: Severity.WARNING,
    ChangeKind.REPUBLISHED: Severity.WARNING,
    ChangeKind.DIFFERENT_PATH: Severity.WARNING,
    ChangeKind.FURTHER_BEHIND: Severity.WARNING,
}


class Change(NamedTuple):
    """One change: the affected versions, the edits that cause it, and a fix.

    `old_path` and `new_path` show the path of the first affected version. `fix_entries` are the entries that
    a fix changes, as they would read; the text of the fix may abbreviate their names. `place` is in the new
    catalog, or in the old one (`in_old`) if nothing is left of it in the new one. `position` is None until
    the place is located.
    """

    kind: ChangeKind
    package: str
    channel: str | None
    message: str
    installed: tuple[str, ...] = ()
    resolvers: tuple[ResolverName, ...] = ()
    old_path: str = ""
    new_path: str = ""
    reasons: tuple[str, ...] = ()
    edits: tuple[Difference, ...] = ()
    fix: str | None = None
    fix_entries: tuple[Entry, ...] = ()
    place: Place | None = None
    in_old: bool = False
    position: SourcePosition | None = None

    @property
    def severity(self) -> Severity:
        """The severity of its kind; a removed package or channel without versions is only a note."""
        is_removal = self.kind in (ChangeKind.PACKAGE_GONE, ChangeKind.CHANNEL_GONE)
        return Severity.NOTE if is_removal and not self.installed else self.kind.severity


def regressions_without_channels(changes: Iterable[Change]) -> int:
    """Return the number of versions that are cut off only for a ClusterExtension without `channels`."""
    kinds = (ChangeKind.FAILING, ChangeKind.STRANDED)
    return sum(len(c.installed) for c in changes if c.channel is None and c.kind in kinds)


def with_positions(
    changes: Iterable[Change],
    locate: Callable[[Place], SourcePosition],
    lowest: Severity = Severity.NOTE,
) -> tuple[Change, ...]:
    """Return the changes; those that have at least this severity with their position."""
    return tuple(
        change._replace(position=locate(change.place))
        if change.place is not None and change.severity >= lowest
        else change
        for change in changes
    )
