"""Waivers: findings a maintainer has accepted, with the reason on record.

A waiver that no finding needs any more, or that has expired, is itself reported (`rules.exemptions`):
exceptions must not outlive what they excuse.
"""

from __future__ import annotations

__all__ = ["Standing", "Waiver", "waived"]

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import date
from fnmatch import fnmatchcase

from everpath.model import Place
from everpath.rules.findings import Finding


@dataclass(frozen=True, slots=True)
class Waiver:
    """Excuses one rule where package, channel and entry match (shell patterns; empty matches all)."""

    rule: str
    reason: str
    place: Place
    package: str = ""
    channel: str = ""
    entry: str = ""
    expires: date | None = None

    def excuses(self, finding: Finding) -> bool:
        return self.rule in (finding.rule, finding.name) and all(
            not pattern or fnmatchcase(value or "", pattern)
            for pattern, value in (
                (self.package, finding.package),
                (self.channel, finding.channel),
                (self.entry, finding.entry),
            )
        )

    def has_expired(self, today: date | None) -> bool:
        return today is not None and self.expires is not None and self.expires < today

    @property
    def subject(self) -> str:
        """What it excuses, in words."""
        limits = (("package", self.package), ("channel", self.channel), ("entry", self.entry))
        parts = [f"{kind} {pattern}" for kind, pattern in limits if pattern]
        return f"{self.rule} for {', '.join(parts)}" if parts else self.rule


@dataclass(frozen=True, slots=True)
class Standing:
    """How a waiver fared in one run; unused is one that excuses nothing though it might have."""

    waiver: Waiver
    is_unused: bool
    has_expired: bool


def waived(
    findings: Iterable[Finding],
    waivers: tuple[Waiver, ...],
    today: date | None,
    was_looked_for: Callable[[Waiver], bool] = lambda _: True,
) -> tuple[list[Finding], list[Finding], list[Standing]]:
    """Findings that remain, findings that are excused, and how each waiver stands after that."""
    in_force = [w for w in waivers if not w.has_expired(today)]
    used: set[Waiver] = set()
    kept: list[Finding] = []
    excused: list[Finding] = []
    for finding in findings:
        excuse = next((w for w in in_force if w.excuses(finding)), None)
        if excuse is None:
            kept.append(finding)
        else:
            used.add(excuse)
            excused.append(finding)
    idle = [w for w in in_force if w not in used and was_looked_for(w)]
    return kept, excused, [Standing(w, w in idle, w not in in_force) for w in waivers]
