"""Asks every selected rule about every subject, and lets waivers speak."""

from __future__ import annotations

__all__ = [
    "FOLDERS",
    "GRAPH",
    "DefinitionsOf",
    "Judgement",
    "Progress",
    "Report",
    "Selection",
    "check",
    "check_all",
    "concluded",
    "judge",
    "judge_folders",
]

from collections.abc import Callable, Iterable, Iterator
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Bundle, Catalog, Package
from everpath.resolvers import PolicyName, olm_v0, olm_v1
from everpath.rules.findings import Finding, Flaw, Severity
from everpath.rules.fixes import Judged, traced
from everpath.rules.registry import Rule, rules_about
from everpath.rules.waivers import Standing, Waiver, waived

if TYPE_CHECKING:
    from everpath.crd_upgrade_safety import BundleCrds, Upgrade
    from everpath.model.bundle_contents import BundleFolder, PackageManifest, ValidationInput

#: What rules about graphs look at, and what rules about the folders of bundles do.
GRAPH: Final = frozenset({"catalog", "package", "channel", "bundle", "waiver"})
FOLDERS: Final = frozenset({"catalog", "bundle", "bundle folder", "package file", "waiver"})


class Selection(NamedTuple):
    """Which rules to ask, and about which part of the catalog. Empty means all.

    `validators` are those of operator-framework/api that are asked besides the default ones.
    """

    rules: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    policy: PolicyName | None = None
    subjects: frozenset[str] = GRAPH
    validators: frozenset[str] = frozenset()

    def has_rule(self, rule: Rule) -> bool:
        wanted = rule.subject in self.subjects and self._names(rule)
        hurts = self.policy is None or rule.policy in (None, self.policy)
        return wanted and hurts and rule.id not in self.ignored

    def _names(self, rule: Rule) -> bool:
        if self.rules:
            return rule.id in self.rules
        return not rule.is_optional or not self.validators.isdisjoint(rule.validators)

    def has_package(self, name: str) -> bool:
        return not self.packages or name in self.packages

    def has_channel(self, name: str) -> bool:
        return not self.channels or name in self.channels

    def covers(self, waiver: Waiver) -> bool:
        """Whether nothing a waiver is for was left out. A pattern may stand for names that were."""
        limits = ((self.packages, waiver.package), (self.channels, waiver.channel))
        return all(not chosen or pattern in chosen for chosen, pattern in limits)


class Report(NamedTuple):
    """The findings of one run, sorted, and how much was looked at.

    `bundles` is None where graphs were judged, and not the folders of bundles.
    """

    findings: tuple[Finding, ...]
    packages: int
    channels: int
    entries: int
    waived: tuple[Finding, ...] = ()
    bundles: int | None = None

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
    channels: int = 0
    entries: int = 0
    bundles: int = 0


Progress = Callable[[int, int, str], None]

#: What the bundles of a package define, by the bundle's name; without those whose folder is not known.
DefinitionsOf = Callable[[Package], "BundleCrds"]


class _Seen:
    """How much was looked at."""

    def __init__(self) -> None:
        self.packages = 0
        self.channels = 0
        self.entries = 0

    def add(self, package: Package, selection: Selection) -> None:
        channels = [c for c in package.channels if selection.has_channel(c.name)]
        self.packages += 1
        self.channels += len(channels)
        self.entries += sum(len(c.entries) for c in channels)


class _Run:
    """The rules of one run, by subject."""

    def __init__(self, selection: Selection, definitions: DefinitionsOf | None = None) -> None:
        self.selection = selection
        self.definitions = definitions
        self.rules: dict[str, list[Rule]] = {}
        for rule in rules_about(selection.subjects):
            if selection.has_rule(rule):
                self.rules.setdefault(rule.subject, []).append(rule)

    def looks_for(self, waiver: Waiver) -> bool:
        """Whether this run would meet every finding that a waiver may excuse."""
        asked = any(waiver.rule in (rule.id, rule.name) for rules in self.rules.values() for rule in rules)
        return asked and self.selection.covers(waiver)

    def ask(
        self,
        subject: str,
        thing: Catalog
        | PackageGraph
        | ChannelGraph
        | Bundle
        | Upgrade
        | BundleFolder
        | PackageManifest
        | Standing,
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
        if self.definitions is not None:
            yield from self.upgrades(graph, self.definitions(package))

    def upgrades(self, graph: PackageGraph, definitions: BundleCrds) -> Iterator[Finding]:
        """All findings about what OLM's moves in the selected channels do to objects that people have."""
        from everpath.crd_upgrade_safety import check_upgrades  # noqa: PLC0415 - only who gives the bundles pays for it

        for upgrade in check_upgrades(_moves(graph, self.selection), definitions):
            yield from self.ask("upgrade", upgrade, graph.package.name)

    def validated(self, thing: ValidationInput) -> Iterator[Finding]:
        """All findings about one bundle's folder, or one package file."""
        folder, file = thing.folder, thing.package_manifest
        package = folder.package if folder else file.package if file else None
        entry = folder.name if folder else None
        yield from self.ask("catalog", thing.catalog, package, None, entry)
        for bundle in (b for p in thing.catalog.packages for b in p.bundles):
            yield from self.ask("bundle", bundle, package, None, bundle.name)
        if folder is not None:
            yield from self.ask("bundle folder", folder, package, None, entry)
        if file is not None:
            yield from self.ask("package file", file, package)

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


def judge(
    catalog: Catalog,
    selection: Selection,
    progress: Progress | None = None,
    definitions: DefinitionsOf | None = None,
) -> Judgement:
    """What the rules say about one catalog; about its upgrades only where `definitions` are given."""
    seen = _Seen()
    findings = tuple(_Run(selection, definitions).catalog(catalog, seen, progress))
    return Judgement(findings, seen.packages, seen.channels, seen.entries)


def judge_folders(things: Iterable[ValidationInput], selection: Selection) -> Judgement:
    """What the rules say about bundles as they stand in their folders. Near-linear in what they hold."""
    run, packages, bundles = _Run(selection), set[str | None](), 0
    findings: list[Finding] = []
    for thing in things:
        findings += run.validated(thing)
        if thing.folder is not None:
            packages.add(thing.folder.package)
            bundles += 1
    return Judgement(tuple(findings), len(packages), bundles=bundles)


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
        bundles=sum(j.bundles for j in heard) if "bundle folder" in selection.subjects else None,
    )


def _moves(graph: PackageGraph, selection: Selection) -> dict[str, dict[str, tuple[tuple[str, str], ...]]]:
    """Every step that OLM takes from one release to another, and in which channels."""
    found: dict[str, dict[str, tuple[tuple[str, str], ...]]] = {}
    for channel in graph.channels:
        if selection.has_channel(channel.name):
            for policy, before, after in _steps(channel, selection.policy):
                following = found.setdefault(before, {})
                following[after] = (*following.get(after, ()), (policy, channel.name))
    return found


def _steps(channel: ChannelGraph, policy: PolicyName | None) -> Iterator[tuple[PolicyName, str, str]]:
    """What the users of one policy, or of both, are moved to: by whom, from what, to what."""
    if policy != "v1":
        for before, after in olm_v0.hops(channel).next.items():
            if after is not None:
                yield "v0", before, after
    if policy != "v0":
        for before, after in olm_v1.hops(channel).items():
            if after is not None:
                yield "v1", before, after


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
        other=flaw.other,
    )


def _concerns(finding: Finding, selection: Selection) -> bool:
    """Whether a finding is about the part of the catalog that was asked for.

    What could not be read concerns everybody: it may have been part of it.
    """
    if finding.unreadable:
        return True
    in_package = finding.package is None or selection.has_package(finding.package)
    return in_package and (finding.channel is None or selection.has_channel(finding.channel))
