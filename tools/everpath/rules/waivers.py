"""Waivers: findings that maintainers have accepted, with a reason.

A waiver that matches no finding, or has expired, is reported (`rules.waiver_rules`).
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

#: The length of the fixed prefix of the patterns for package, channel and entry.
_Lengths: TypeAlias = tuple[int | None, ...]


class Waiver(NamedTuple):
    """Suppresses findings of a rule by package, channel and entry (shell patterns; empty matches all)."""

    rule: str
    reason: str
    place: Place
    package: str = ""
    channel: str = ""
    entry: str = ""
    expires: date | None = None

    def matches(self, finding: Finding) -> bool:
        return self.rule in (finding.rule, finding.name) and all(
            not pattern or _matches_pattern(pattern, value or "")
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
        """The rule and the patterns, for messages."""
        limits = (("package", self.package), ("channel", self.channel), ("entry", self.entry))
        parts = [f"{kind} {pattern}" for kind, pattern in limits if pattern]
        return f"{self.rule} for {', '.join(parts)}" if parts else self.rule


def _matches_pattern(pattern: str, name: str) -> bool:
    return fnmatchcase(name, pattern) if _WILDCARD.search(pattern) else name == pattern


class WaiverUsage(NamedTuple):
    """Whether a waiver has expired, or matched no finding of a run that could have one."""

    waiver: Waiver
    is_unused: bool
    has_expired: bool


def apply_waivers(
    findings: Iterable[Finding],
    waivers: tuple[Waiver, ...],
    today: date | None,
    can_use: Callable[[Waiver], bool],
) -> tuple[list[Finding], list[Finding], list[WaiverUsage]]:
    """Return the findings to report, the waived findings, and the usage of each waiver."""
    index = _WaiverIndex(w for w in waivers if not w.has_expired(today))
    used: set[Waiver] = set()
    reported: list[Finding] = []
    waived: list[Finding] = []
    for finding in findings:
        waiver = index.find(finding)
        if waiver is None:
            reported.append(finding)
        else:
            used.add(waiver)
            waived.append(finding)
    usages: list[WaiverUsage] = []
    for waiver in waivers:
        has_expired = waiver.has_expired(today)
        is_unused = not has_expired and waiver not in used and can_use(waiver)
        usages.append(WaiverUsage(waiver, is_unused, has_expired))
    return reported, waived, usages


class _WaiverIndex:
    """Waivers by rule and by the fixed prefixes of their patterns, so that few are compared with a finding.

    Cost of a look-up: one for each combination of prefix lengths, and the waivers with the same prefixes.
    """

    def __init__(self, waivers: Iterable[Waiver]) -> None:
        self._by_rule: dict[str, dict[_Lengths, dict[tuple[str, ...], list[tuple[int, Waiver]]]]] = {}
        for place, waiver in enumerate(waivers):
            patterns = (waiver.package, waiver.channel, waiver.entry)
            lengths = tuple(map(_prefix_length, patterns))
            by_prefix = self._by_rule.setdefault(waiver.rule, {}).setdefault(lengths, {})
            by_prefix.setdefault(_prefixes(patterns, lengths), []).append((place, waiver))

    def find(self, finding: Finding) -> Waiver | None:
        """Return the first waiver that matches a finding."""
        names = (finding.package or "", finding.channel or "", finding.entry or "")
        alike = (
            candidate
            for rule in {finding.rule, finding.name}
            for lengths, by_prefix in self._by_rule.get(rule, {}).items()
            for candidate in by_prefix.get(_prefixes(names, lengths), ())
        )
        found = ((place, waiver) for place, waiver in alike if waiver.matches(finding))
        return next((waiver for _, waiver in sorted(found)), None)


def _prefix_length(pattern: str) -> int | None:
    """Return the length before the first wildcard; None without one. An empty pattern matches all: 0."""
    wildcard = _WILDCARD.search(pattern)
    return None if pattern and wildcard is None else wildcard.start() if wildcard else 0


def _prefixes(names: Iterable[str], lengths: _Lengths) -> tuple[str, ...]:
    return tuple(name[:length] for name, length in zip(names, lengths, strict=True))
