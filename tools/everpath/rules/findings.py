"""Flaws, which rules yield, and findings, which reports contain.

A flaw has a place, a message, evidence and a fix. The linter adds the rule and the package, channel and entry
and makes it a finding. Reporters format findings.
"""

from __future__ import annotations

__all__ = ["Finding", "Flaw", "Severity"]

from enum import IntEnum
from typing import NamedTuple

from everpath.graph import Edge
from everpath.model import Place
from everpath.rules.edits import Edit


class Severity(IntEnum):
    """Error: an upgrade path is broken or opm rejects the input. Warning: probably not intended."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        return self.name.lower()


class Flaw(NamedTuple):
    """A violation of a rule, without the rule.

    `because` has the evidence: edges or sentences. `fix` is an edit of the channel, or advice.
    `channel` is set by rules about whole packages. `severity` can be lower than that of the rule.
    `related` is a second place; the first sentence of `because` ends with its file, and reports add the line.
    """

    place: Place
    message: str
    because: tuple[Edge | str, ...] = ()
    fix: str | Edit | None = None
    entry: str | None = None
    channel: str | None = None
    package: str | None = None
    severity: Severity | None = None
    related: Place | None = None


class Finding(NamedTuple):
    """A flaw in a report, with its rule and the package, channel and entry it is about."""

    rule: str
    name: str
    severity: Severity
    place: Place
    message: str
    package: str | None = None
    channel: str | None = None
    entry: str | None = None
    because: tuple[str, ...] = ()
    fix: str | None = None
    unreadable: bool = False
    related: Place | None = None
    #: Set by `everpath.lint`; reporters locate the place themselves.
    line: int = 0
    column: int = 0

    @property
    def file(self) -> str:
        return self.place.file

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
