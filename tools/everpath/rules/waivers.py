"""Waivers: findings a maintainer has accepted, with the reason on record.

A waiver that no finding needs any more, or that has expired, is itself reported (`rules.waiver_rules`):
exceptions must not outlive what they excuse.
"""

from __future__ import annotations

__all__ = ["Waiver", "WaiverUsage", "apply_waivers"]

import re
from collections.abc import Callable, Iterable
from datetime import date
from fnmatch import fnmatchcase
from typing import Final, NamedTuple, TypeAlias

from everpath.model import Place
from everpath.rules.findings import Finding

_WILDCARD: Final = re.compile(r"[*?[]")

#: How many letters are certain of a pattern for the package, one for the channel, one for the entry.
_Lengths: TypeAlias = tuple[int | None, ...]


class Waiver(NamedTuple):
    """Excuses one rule where package, channel and entry match (shell patterns; empty matches all)."""

    rule: str
    reason: str
    place: Place
    package: str = ""
    channel: str = ""
    entry: str = ""
    expires: date | None = None

    def matches(self, finding: Finding) -> bool:
        return self.rule in (finding.rule, finding.name) and all(
            not pattern or _matches(pattern, value or "")
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


def _matches(pattern: str, name: str) -> bool:
    return fnmatchcase(name, pattern) if _WILDCARD.search(pattern) else name == pattern


class WaiverUsage(NamedTuple):
    """How a waiver fared in one run; unused is one that excuses nothing though it might have."""

    waiver: Waiver
    is_unused: bool
    has_expired: bool


def apply_waivers(
    findings: Iterable[Finding],
    waivers: tuple[Waiver, ...],
    today: date | None,
    was_looked_for: Callable[[Waiver], bool],
) -> tuple[list[Finding], list[Finding], list[WaiverUsage]]:
    """Findings that remain, findings that are excused, and how each waiver stands after that."""
    register = _Register(w for w in waivers if not w.has_expired(today))
    used: set[Waiver] = set()
    kept: list[Finding] = []
    excused: list[Finding] = []
    for finding in findings:
        excuse = register.excuse(finding)
        if excuse is None:
            kept.append(finding)
        else:
            used.add(excuse)
            excused.append(finding)
    standings: list[WaiverUsage] = []
    for waiver in waivers:
        has_expired = waiver.has_expired(today)
        is_unused = not has_expired and waiver not in used and was_looked_for(waiver)
        standings.append(WaiverUsage(waiver, is_unused, has_expired))
    return kept, excused, standings


class _Register:
    """Waivers by rule and by the letters their patterns begin with, so that few are compared with a finding.

    Cost of a question: one look-up for each length there is, and the waivers that begin alike; those that
    begin with a wildcard all do.
    """

    def __init__(self, waivers: Iterable[Waiver]) -> None:
        self._shelves: dict[str, dict[_Lengths, dict[tuple[str, ...], list[tuple[int, Waiver]]]]] = {}
        for place, waiver in enumerate(waivers):
            patterns = (waiver.package, waiver.channel, waiver.entry)
            lengths = tuple(map(_fixed, patterns))
            shelf = self._shelves.setdefault(waiver.rule, {}).setdefault(lengths, {})
            shelf.setdefault(_beginnings(patterns, lengths), []).append((place, waiver))

    def excuse(self, finding: Finding) -> Waiver | None:
        """The first waiver that excuses a finding."""
        names = (finding.package or "", finding.channel or "", finding.entry or "")
        alike = (
            candidate
            for rule in {finding.rule, finding.name}
            for lengths, shelf in self._shelves.get(rule, {}).items()
            for candidate in shelf.get(_beginnings(names, lengths), ())
        )
        found = ((place, waiver) for place, waiver in alike if waiver.matches(finding))
        return next((waiver for _, waiver in sorted(found)), None)


def _fixed(pattern: str) -> int | None:
    """How many letters stand before the first wildcard; None if there is none. No pattern is all wildcard."""
    wildcard = _WILDCARD.search(pattern)
    return None if pattern and wildcard is None else wildcard.start() if wildcard else 0


def _beginnings(names: Iterable[str], lengths: _Lengths) -> tuple[str, ...]:
    return tuple(name[:length] for name, length in zip(names, lengths, strict=True))
