"""Run the selected rules over catalogs and bundles, apply waivers and build the report."""

from __future__ import annotations

__all__ = [
    "BUNDLE_SUBJECTS",
    "CATALOG_SUBJECTS",
    "LintResult",
    "Report",
    "SelectedRules",
    "Selection",
    "build_report",
    "channel_violations",
    "lint",
    "lint_bundle",
    "lint_catalog",
    "to_finding",
]

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Final, NamedTuple

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Bundle, Catalog, Place, SourcePosition
from everpath.model.progress import Progress
from everpath.resolvers import ResolverName, olm_v0, olm_v1
from everpath.rules.findings import Finding, Flaw, Severity
from everpath.rules.fixes.edits import Advice, ChannelEdit, FixedWith
from everpath.rules.fixes.verify import Violation, verify_fixes
from everpath.rules.registry import Rule, rules_for_subjects
from everpath.rules.waivers import Waiver, WaiverUsage, apply_waivers
from everpath.wording import shorten_names

if TYPE_CHECKING:
    from everpath.crd_upgrade_safety import BundleCrds, Upgrade
    from everpath.model.bundle_contents import BundleFolder, PackageManifest, ValidationInput

#: The subjects of rules that `validate-graph` runs, and of those that `bundle validate` runs.
CATALOG_SUBJECTS: Final = frozenset({"catalog", "package", "channel", "bundle", "waiver"})
BUNDLE_SUBJECTS: Final = frozenset({"catalog", "bundle", "bundle folder", "package file", "waiver"})

#: Subjects of rules whose messages contain the name of the entry.
_SUBJECTS_WITH_NAMED_ENTRIES: Final = frozenset({"package", "channel", "bundle", "upgrade"})


class Selection(NamedTuple):
    """The rules, packages and channels to lint. An empty set selects all.

    `validators` are those of operator-framework/api to run in addition to the default ones.
    """

    rules: frozenset[str] = frozenset()
    ignored: frozenset[str] = frozenset()
    packages: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    resolver: ResolverName | None = None
    subjects: frozenset[str] = CATALOG_SUBJECTS
    validators: frozenset[str] = frozenset()

    def has_rule(self, rule: Rule) -> bool:
        if rule.subject not in self.subjects or rule.id in self.ignored:
            return False
        if self.resolver is not None and rule.resolver not in (None, self.resolver):
            return False
        if self.rules:
            return rule.id in self.rules
        return not rule.is_optional or not self.validators.isdisjoint(rule.validators)

    def has_package(self, name: str) -> bool:
        return not self.packages or name in self.packages

    def has_channel(self, name: str) -> bool:
        return not self.channels or name in self.channels

    def covers(self, waiver: Waiver) -> bool:
        """Whether the selection includes every finding that a waiver can match.

        A pattern of the waiver can match names that are not selected.
        """
        limits = ((self.packages, waiver.package), (self.channels, waiver.channel))
        return all(not selected or pattern in selected for selected, pattern in limits)

    def includes(self, finding: Finding) -> bool:
        """Whether a finding is about a selected package and channel, or about input that was not readable.

        An unreadable document may have been part of the selection.
        """
        if finding.unreadable:
            return True
        has_package = finding.package is None or self.has_package(finding.package)
        return has_package and (finding.channel is None or self.has_channel(finding.channel))


class LintResult(NamedTuple):
    """The findings about a catalog, a part of one, or a bundle; and how much was linted."""

    findings: tuple[Finding, ...]
    packages: int = 0
    channels: int = 0
    entries: int = 0
    bundles: int = 0
    #: The packages of bundle folders: several folders can belong to one package.
    bundle_packages: frozenset[str | None] = frozenset()


class Report(NamedTuple):
    """The findings of a run in the order of the input, and how much was linted.

    `bundles` is None if no bundle folders were linted.
    """

    findings: tuple[Finding, ...]
    packages: int
    channels: int
    entries: int
    waived: tuple[Finding, ...] = ()
    bundles: int | None = None

    def count(self, severity: Severity) -> int:
        return sum(f.severity is severity for f in self.findings)

    def failing(self, fail_on: Severity | None) -> Report:
        """Return the report with only the findings that fail a run: `fail_on` is the lowest severity."""
        return self._replace(findings=tuple(f for f in self.findings if f.fails(fail_on)), waived=())

    @property
    def unreadable(self) -> bool:
        """Whether a part of the input could not be read."""
        return any(f.unreadable for f in self.findings)

    @property
    def worst(self) -> Severity | None:
        return max((f.severity for f in self.findings), default=None)

    def with_positions(
        self, locate: Callable[[Place], SourcePosition], lowest: Severity = Severity.NOTE
    ) -> Report:
        """Return the report with the positions of all findings that have at least this severity.

        Related places are located as well. `locate` is called once for each place.
        """
        positions: dict[Place, SourcePosition] = {}

        def position(place: Place) -> SourcePosition:
            if place not in positions:
                positions[place] = locate(place)
            return positions[place]

        def with_position(finding: Finding) -> Finding:
            if finding.severity < lowest:
                return finding
            related = finding.related
            if related is not None:
                related = related._replace(position=position(related.place))
            return finding._replace(related=related, position=position(finding.place))

        return self._replace(findings=tuple(map(with_position, self.findings)))


def lint(
    catalog: Catalog,
    selection: Selection | None = None,
    *,
    waivers: Iterable[Waiver] = (),
    today: date | None = None,
    progress: Progress | None = None,
) -> Report:
    """Lint a catalog. Near-linear in its entries and edges.

    A waiver that expired before `today` is reported and has no effect; without `today` none has expired.
    """
    selection = selection or Selection()
    result = lint_catalog(catalog, selection, progress)
    return build_report([result], selection, waivers=waivers, today=today)


def lint_catalog(
    catalog: Catalog,
    selection: Selection,
    progress: Progress | None = None,
    crds: Mapping[str, BundleCrds] | None = None,
) -> LintResult:
    """Lint a catalog, or a part of one, without waivers.

    `crds` has the CRDs of each package, by its name; without it no upgrade of CRDs is checked.
    """
    rules = SelectedRules(selection)
    findings = [f for f in rules.run("catalog", catalog, None) if selection.includes(f)]
    packages = [p for p in catalog.packages if selection.has_package(p.name)]
    channels = entries = 0
    for done, package in enumerate(packages):
        if progress is not None:
            progress(done, len(packages), package.name)
        graph = PackageGraph(package)
        package_findings = rules.package_findings(graph)
        findings += (f for f in package_findings if selection.includes(f))
        if crds is not None:
            crd_findings = rules.crd_findings(graph, crds[package.name])
            findings += (f for f in crd_findings if selection.includes(f))
        selected_channels = [c for c in package.channels if selection.has_channel(c.name)]
        channels += len(selected_channels)
        entries += sum(len(c.entries) for c in selected_channels)
    return LintResult(tuple(findings), len(packages), channels, entries)


def channel_violations(graph: ChannelGraph, selection: Selection) -> list[Violation]:
    """Return the flaws of one channel, with fixes that were tried on a copy of it."""
    return SelectedRules(selection).channel_violations(graph)


def lint_bundle(target: ValidationInput, rules: SelectedRules) -> LintResult:
    """Lint a bundle folder or a package manifest, without waivers. Near-linear in its size."""
    folder, manifest = target.folder, target.package_manifest
    package = folder.package if folder else manifest.package if manifest else None
    entry = folder.name if folder else None
    findings = list(rules.run("catalog", target.catalog, package, entry=entry))
    for bundle in (b for p in target.catalog.packages for b in p.bundles):
        findings += rules.run("bundle", bundle, package, entry=bundle.name)
    if manifest is not None:
        findings += rules.run("package file", manifest, package)
    if folder is None:
        return LintResult(tuple(findings))
    findings += rules.run("bundle folder", folder, package, entry=entry)
    return LintResult(tuple(findings), bundles=1, bundle_packages=frozenset({package}))


def build_report(
    results: Sequence[LintResult],
    selection: Selection,
    *,
    waivers: Iterable[Waiver] = (),
    today: date | None = None,
) -> Report:
    """Apply waivers to lint results and sort the findings. The order of the results does not matter."""
    rules = SelectedRules(selection)
    findings = [finding for result in results for finding in result.findings]
    reported, waived, usages = apply_waivers(findings, tuple(waivers), today, rules.can_use)
    reported += (finding for usage in usages for finding in rules.run("waiver", usage, None))
    bundle_packages = frozenset[str | None]().union(*(result.bundle_packages for result in results))
    return Report(
        findings=tuple(sorted(reported, key=lambda f: f.sort_key)),
        packages=sum(result.packages for result in results) + len(bundle_packages),
        channels=sum(result.channels for result in results),
        entries=sum(result.entries for result in results),
        waived=tuple(sorted(waived, key=lambda f: f.sort_key)),
        bundles=sum(r.bundles for r in results) if "bundle folder" in selection.subjects else None,
    )


class SelectedRules:
    """The selected rules by subject."""

    def __init__(self, selection: Selection) -> None:
        self._selection = selection
        self._rules: dict[str, list[Rule]] = {}
        for rule in rules_for_subjects(selection.subjects):
            if selection.has_rule(rule):
                self._rules.setdefault(rule.subject, []).append(rule)

    def can_use(self, waiver: Waiver) -> bool:
        """Whether this run reports every finding that a waiver can match."""
        rules = (rule for rules in self._rules.values() for rule in rules)
        return any(waiver.rule in (rule.id, rule.name) for rule in rules) and self._selection.covers(waiver)

    def run(
        self,
        subject: str,
        target: Catalog | PackageGraph | Bundle | Upgrade | BundleFolder | PackageManifest | WaiverUsage,
        package: str | None,
        *,
        entry: str | None = None,
    ) -> Iterator[Finding]:
        """Run the rules about a subject. `package` and `entry` are those of the target."""
        for rule in self._rules.get(subject, ()):
            for flaw in rule.check(target):
                yield to_finding(rule, flaw, package, entry=entry)

    def package_findings(self, graph: PackageGraph) -> Iterator[Finding]:
        """Lint a package, its selected channels and its bundles."""
        package = graph.package
        yield from self.run("package", graph, package.name)
        for channel in graph.channels:
            if self._selection.has_channel(channel.name):
                for rule, flaw in self.channel_violations(channel):
                    yield to_finding(rule, flaw, package.name, channel.name)
        for bundle in package.bundles:
            yield from self.run("bundle", bundle, package.name, entry=bundle.name)

    def channel_violations(self, graph: ChannelGraph) -> list[Violation]:
        """Run the rules about a channel, and verify their fixes."""
        rules = self._rules.get("channel", ())
        return verify_fixes(graph, [Violation(rule, flaw) for rule in rules for flaw in rule.check(graph)])

    def crd_findings(self, graph: PackageGraph, crds: BundleCrds) -> Iterator[Finding]:
        """Lint the CRDs of every hop that OLM makes in the selected channels."""
        from everpath.crd_upgrade_safety import check_upgrades  # noqa: PLC0415 - needs the bundles

        # By installed version and next version: the resolvers and channels that make this hop.
        hops: dict[str, dict[str, tuple[tuple[str, str], ...]]] = {}
        for channel in graph.channels:
            if self._selection.has_channel(channel.name):
                for resolver, before, after in _hops(channel, self._selection.resolver):
                    targets = hops.setdefault(before, {})
                    targets[after] = (*targets.get(after, ()), (resolver, channel.name))
        for upgrade in check_upgrades(hops, crds):
            yield from self.run("upgrade", upgrade, graph.package.name)


def _hops(channel: ChannelGraph, resolver: ResolverName | None) -> Iterator[tuple[ResolverName, str, str]]:
    """Yield resolver, installed entry and next entry for every hop of one resolver, or of both."""
    if resolver != "v1":
        for before, after in olm_v0.next_hops(channel).next.items():
            if after is not None:
                yield "v0", before, after
    if resolver != "v0":
        for before, after in olm_v1.next_hops(channel).items():
            if after is not None:
                yield "v1", before, after


def to_finding(
    rule: Rule, flaw: Flaw, package: str | None, channel: str | None = None, *, entry: str | None = None
) -> Finding:
    """Return the finding of a flaw. `package`, `channel` and `entry` are used if the flaw has none."""
    package = flaw.package or package

    fix = flaw.fix
    copied_names = fix.copied_names if isinstance(fix, Advice | ChannelEdit | FixedWith) else ()

    def shorten(text: str, keep: tuple[str, ...] = ()) -> str:
        # Findings about a channel name several entries of one package.
        return shorten_names(text, package, keep) if package and rule.subject == "channel" else text

    return Finding(
        rule=rule.id,
        name=rule.name,
        severity=rule.severity if flaw.severity is None else min(rule.severity, flaw.severity),
        place=flaw.place,
        message=shorten(flaw.message),
        package=package,
        channel=flaw.channel or channel,
        entry=flaw.entry or entry,
        evidence=tuple(shorten(str(reason)) for reason in flaw.because),
        fix=None if fix is None else shorten(str(fix), copied_names),
        unreadable=rule.unreadable,
        related=flaw.related,
        names_entry=flaw.names_entry or rule.subject in _SUBJECTS_WITH_NAMED_ENTRIES,
    )
