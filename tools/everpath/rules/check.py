"""Asks every selected rule about every subject, and lets waivers speak."""

from __future__ import annotations

__all__ = ["Judgement", "Progress", "Report", "Selection", "check", "check_all", "concluded", "judge"]

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from typing import NamedTuple

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Bundle, Catalog, Package
from everpath.policies import PolicyName
from everpath.rules.causes import Judged, traced
from everpath.rules.findings import Finding, Flaw, Severity
from everpath.rules.registry import Rule, all_rules
from everpath.rules.waivers import Standing, Waiver, waived


class Selection(NamedTuple):
    """Which rules to ask, and about which part of the catalog. Empty means all."""

    rules: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    policy: PolicyName | None = None

    def has_rule(self, rule: Rule) -> bool:
        wanted = not self.rules or rule.id in self.rules
        hurts = self.policy is None or rule.policy in (None, self.policy)
        return wanted and hurts and rule.id not in self.ignored

    def has_package(self, name: str) -> bool:
        return not self.packages or name in self.packages

    def has_channel(self, name: str) -> bool:
        return not self.channels or name in self.channels

    def covers(self, waiver: Waiver) -> bool:
        """Whether nothing a waiver is for was left out. A pattern may stand for names that were."""
        limits = ((self.packages, waiver.package), (self.channels, waiver.channel))
        return all(not chosen or pattern in chosen for chosen, pattern in limits)


class Report(NamedTuple):
    """The findings of one run, sorted, and how much was looked at."""

    findings: tuple[Finding, ...]
    packages: int
    channels: int
    entries: int
    waived: tuple[Finding, ...] = ()

    def count(self, severity: Severity) -> int:
        return sum(f.severity is severity for f in self.findings)

    @property
    def unreadable(self) -> bool:
        """Whether some of the input could not be judged."""
        return any(f.unreadable for f in self.findings)

    @property
    def worst(self) -> Severity | None:
        return max((f.severity for f in self.findings), default=None)


class Judgement(NamedTuple):
    """What the rules say about a catalog or a part of it, and how much they looked at."""

    findings: tuple[Finding, ...]
    packages: int
    channels: int
    entries: int


Progress = Callable[[int, int, str], None]


@dataclass(slots=True)
class _Seen:
    """How much was looked at."""

    packages: int = 0
    channels: int = 0
    entries: int = 0

    def add(self, package: Package, selection: Selection) -> None:
        channels = [c for c in package.channels if selection.has_channel(c.name)]
        self.packages += 1
        self.channels += len(channels)
        self.entries += sum(len(c.entries) for c in channels)


@dataclass(slots=True)
class _Run:
    """The rules of one run, by subject."""

    selection: Selection
    rules: dict[str, list[Rule]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for rule in all_rules():
            if self.selection.has_rule(rule):
                self.rules.setdefault(rule.subject, []).append(rule)

    def looks_for(self, waiver: Waiver) -> bool:
        """Whether this run would meet every finding that a waiver may excuse."""
        asked = any(waiver.rule in (rule.id, rule.name) for rules in self.rules.values() for rule in rules)
        return asked and self.selection.covers(waiver)

    def ask(
        self,
        subject: str,
        thing: Catalog | PackageGraph | ChannelGraph | Bundle | Standing,
        package: str | None,
        channel: str | None = None,
        entry: str | None = None,
    ) -> Iterator[Finding]:
        for rule in self.rules.get(subject, ()):
            for flaw in rule.check(thing):
                yield _finding(rule, flaw, package, channel, entry)

    def catalog(self, catalog: Catalog, seen: _Seen, progress: Progress | None) -> Iterator[Finding]:
        """All findings about one catalog that concern the selection."""
        yield from (f for f in self.ask("catalog", catalog, None) if _concerns(f, self.selection))
        chosen = [p for p in catalog.packages if self.selection.has_package(p.name)]
        for done, package in enumerate(chosen):
            if progress:
                progress(done, len(chosen), package.name)
            seen.add(package, self.selection)
            yield from (f for f in self.package(package) if _concerns(f, self.selection))

    def package(self, package: Package) -> Iterator[Finding]:
        graph = PackageGraph(package)
        yield from self.ask("package", graph, package.name)
        for channel in graph.channels:
            if self.selection.has_channel(channel.name):
                yield from self.channel(channel)
        for bundle in package.bundles:
            yield from self.ask("bundle", bundle, package.name, None, bundle.name)

    def channel(self, graph: ChannelGraph) -> Iterator[Finding]:
        found = [Judged(rule, flaw) for rule in self.rules.get("channel", ()) for flaw in rule.check(graph)]
        for rule, flaw in traced(graph, found):
            yield _finding(rule, flaw, graph.package.name, graph.name, None)


def check(
    catalog: Catalog,
    selection: Selection | None = None,
    *,
    waivers: Iterable[Waiver] = (),
    today: date | None = None,
    progress: Progress | None = None,
) -> Report:
    """Everything wrong with a catalog. Near-linear in its entries and edges.

    `today` decides whether a waiver has expired; without it none has.
    """
    return check_all((catalog,), selection, waivers=waivers, today=today, progress=progress)


def check_all(
    catalogs: Iterable[Catalog],
    selection: Selection | None = None,
    *,
    waivers: Iterable[Waiver] = (),
    today: date | None = None,
    progress: Progress | None = None,
) -> Report:
    """The same for several, each judged by itself, one after the other; a waiver is for all of them."""
    asked = selection or Selection()
    judgements = (judge(catalog, asked, progress) for catalog in catalogs)
    return concluded(judgements, asked, waivers=waivers, today=today)


def judge(catalog: Catalog, selection: Selection, progress: Progress | None = None) -> Judgement:
    """What the rules say about one catalog."""
    seen = _Seen()
    findings = tuple(_Run(selection).catalog(catalog, seen, progress))
    return Judgement(findings, seen.packages, seen.channels, seen.entries)


def concluded(
    judgements: Iterable[Judgement],
    selection: Selection,
    *,
    waivers: Iterable[Waiver] = (),
    today: date | None = None,
) -> Report:
    """The report on all that was judged, after waivers have spoken. Judgements may come in any order."""
    run, heard = _Run(selection), list(judgements)
    findings = [finding for judgement in heard for finding in judgement.findings]
    kept, excused, standings = waived(findings, tuple(waivers), today, run.looks_for)
    kept += (f for standing in standings for f in run.ask("waiver", standing, None))
    return Report(
        findings=tuple(sorted(kept, key=lambda f: f.sort_key)),
        packages=sum(judgement.packages for judgement in heard),
        channels=sum(judgement.channels for judgement in heard),
        entries=sum(judgement.entries for judgement in heard),
        waived=tuple(sorted(excused, key=lambda f: f.sort_key)),
    )


def _finding(rule: Rule, flaw: Flaw, package: str | None, channel: str | None, entry: str | None) -> Finding:
    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity if flaw.severity is None else min(rule.severity, flaw.severity),
        place=flaw.place,
        message=flaw.message,
        package=flaw.package or package,
        channel=flaw.channel or channel,
        entry=flaw.entry or entry,
        because=tuple(map(str, flaw.because)),
        fix=None if flaw.fix is None else str(flaw.fix),
        unreadable=rule.unreadable,
    )


def _concerns(finding: Finding, selection: Selection) -> bool:
    """Whether a finding is about the part of the catalog that was asked for.

    What could not be read concerns everybody: it may have been part of it.
    """
    if finding.unreadable:
        return True
    in_package = finding.package is None or selection.has_package(finding.package)
    return in_package and (finding.channel is None or selection.has_channel(finding.channel))
