"""Flaws, which rules yield, and findings, which reports contain.

A flaw has a place, a message, evidence and a fix. The linter adds the rule and the package, channel and entry
and makes it a finding. Reporters format findings.
"""

from __future__ import annotations

__all__ = ["Finding", "Fix", "Flaw", "RelatedPlace", "Severity"]

from enum import IntEnum
from typing import NamedTuple, TypeAlias

from everpath.graph import Edge
from everpath.model import Place, SourcePosition
from everpath.rules.fixes.edits import Advice, ChannelEdit, DeferredFix, FixedWith


class Severity(IntEnum):
    """Error: an upgrade path is broken or opm rejects the input. Warning: probably not intended."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        return self.name.lower()


#: An edit of the channel, advice, or a reference to the fix of another finding.
Fix: TypeAlias = str | Advice | ChannelEdit | DeferredFix | FixedWith


class RelatedPlace(NamedTuple):
    """A second place, and the sentence that its file completes: `the first is in`.

    `position` is None until `Report.with_positions` has located the place.
    """

    sentence: str
    place: Place
    position: SourcePosition | None = None

    def __str__(self) -> str:
        file = self.position.file if self.position is not None else self.place.file
        line = f":{self.position.line}" if self.position is not None and self.position.line else ""
        return f"{self.sentence} {file}{line}"


class Flaw(NamedTuple):
    """What a rule yields: a place and what is wrong there. The rule itself is not part of it.

    `because` has the evidence: edges or sentences. `fix` is an edit of the channel, or advice.
    `channel` is set by rules about whole packages. `severity` can be lower than that of the rule.
    `related` is a second place, the first evidence of the finding. `names_entry` is set if the message
    contains the name of the entry; those of rules about packages, channels and bundles always do.
    """

    place: Place
    message: str
    because: tuple[Edge | str, ...] = ()
    fix: Fix | None = None
    entry: str | None = None
    channel: str | None = None
    package: str | None = None
    severity: Severity | None = None
    related: RelatedPlace | None = None
    names_entry: bool = False


class Finding(NamedTuple):
    """A flaw in a report, with its rule and the package, channel and entry it is about.

    `position` is None until `Report.with_positions` has located the place. `names_entry`: whether the message
    contains the name of the entry.
    """

    rule: str
    name: str
    severity: Severity
    place: Place
    message: str
    package: str | None = None
    channel: str | None = None
    entry: str | None = None
    evidence: tuple[str, ...] = ()
    fix: str | None = None
    unreadable: bool = False
    related: RelatedPlace | None = None
    position: SourcePosition | None = None
    names_entry: bool = False

    @property
    def because(self) -> tuple[str, ...]:
        """The evidence in sentences: that of the related place, then the others."""
        return self.evidence if self.related is None else (str(self.related), *self.evidence)

    @property
    def file(self) -> str:
        return self.position.file if self.position is not None else self.place.file

    @property
    def line(self) -> int:
        """The line, from 1; 0 if unknown."""
        return self.position.line if self.position is not None else 0

    @property
    def column(self) -> int:
        """The column, from 1; 0 if unknown."""
        return self.position.column if self.position is not None else 0

    @property
    def sort_key(self) -> tuple[str, int, str, str, int, str, str]:
        """Sort by file and position, then by package, channel, severity and rule."""
        return (
            self.place.file,
            self.place.offset,
            self.package or "",
            self.channel or "",
            -self.severity,
            self.rule,
            self.entry or "",
        )
