"""What a rule says, and what a report holds.

A rule yields a Flaw: where, what, because of what, how to mend it. The check stamps it with the rule and
the subject and makes it a Finding. Views format findings; nothing here knows about terminals or files.
"""

from __future__ import annotations

__all__ = ["Finding", "Flaw", "Severity"]

from enum import IntEnum
from typing import NamedTuple

from everpath.graph import Edge
from everpath.model import Place
from everpath.rules.edits import Edit


class Severity(IntEnum):
    """How much it hurts: an error strands or breaks somebody, or opm refuses it; a warning surprises."""

    NOTE = 1
    WARNING = 2
    ERROR = 3

    @property
    def word(self) -> str:
        return self.name.lower()


class Flaw(NamedTuple):
    """One thing a rule found.

    `because` holds the edges, or sentences, that prove it; `fix` is the edit that mends it, in words alone
    where it is not of the channel's entries.
    `channel` is needed only from rules that look at a whole package.
    `severity` overrides the rule's own, downwards, where this case hurts less.
    `related` is a second place, whose file the first sentence of `because` ends with: a report adds the line.
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
    """One line of a report: a flaw, the rule that found it, and whose flaw it is."""

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
        """By file and place, so that a report reads like the input; then by rule."""
        return (
            self.place.file,
            self.place.offset,
            self.package or "",
            self.channel or "",
            -self.severity,
            self.rule,
            self.entry or "",
        )
