"""Checks generated files before they are written: the bundles, the catalogs, and the upgrades between them.

The rules, configuration and waivers are those of `bundle validate` and `validate-graph --bundles`. Released
bundles are not checked, and findings that the catalogs on disk have already are left out: they cannot be
fixed by what is generated now.
"""

from __future__ import annotations

__all__ = ["FailingFindings", "check"]

from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

from everpath.app.config import Config, select_rules, single_resolver, today
from everpath.app.project.generated_files import GeneratedFiles
from everpath.app.project.project import Project
from everpath.crd_upgrade_safety import BundleCrds
from everpath.errors import UnreadableInput
from everpath.loaders import source_positions
from everpath.loaders.bundle.bundle_folder import ValidationTarget, load_bundle_for_validation
from everpath.loaders.bundle.crds import bundle_crds_loader
from everpath.loaders.catalog_loader import load
from everpath.loaders.sources import Sources
from everpath.model import Package, Place, SourcePosition
from everpath.rules.bundle.validators import find_validators
from everpath.rules.findings import Finding, Severity
from everpath.rules.lint import (
    BUNDLE_SUBJECTS,
    CATALOG_SUBJECTS,
    LintResult,
    Report,
    SelectedRules,
    Selection,
    build_report,
    lint_bundle,
    lint_catalog,
)
from everpath.rules.registry import find_rules

#: Without unused waivers, which only a run over everything can tell.
_CHECKED_BUNDLE_SUBJECTS: Final = BUNDLE_SUBJECTS - {"waiver"}
_CHECKED_CATALOG_SUBJECTS: Final = CATALOG_SUBJECTS - {"waiver"} | {"upgrade"}


class FailingFindings(NamedTuple):
    """The findings for which generated files are not written. Falsy if there are none.

    `bundles` are findings about bundles, `catalogs` about catalogs and upgrades. Their positions are in the
    files that would have been written.
    """

    bundles: Report
    catalogs: Report

    def __bool__(self) -> bool:
        return bool(self.bundles.findings or self.catalogs.findings)


def check(files: GeneratedFiles, config: Config) -> FailingFindings:
    """Return the findings that fail a run, about generated files. Raises UnreadableInput."""
    try:
        return FailingFindings(
            _failing(_check_bundles(files, config), files, config),
            _failing(_check_catalogs(files, config), files, config),
        )
    except UnreadableInput as error:
        original = files.scratch.original_paths
        raise UnreadableInput(
            original(error.message), hint=error.hint, file=original(error.file or "")
        ) from error


def _check_bundles(files: GeneratedFiles, config: Config) -> Report:
    selection = Selection(
        rules=select_rules((), config.select, _CHECKED_BUNDLE_SUBJECTS),
        ignored=find_rules(config.ignore),
        subjects=_CHECKED_BUNDLE_SUBJECTS,
        validators=find_validators(config.select_optional),
    )
    target = ValidationTarget(config.kube_version or "")
    folders = [files.scratch.bundle(folder) for folder in files.bundles if folder in files.new_bundles]
    rules = SelectedRules(selection)
    results = [lint_bundle(load_bundle_for_validation(folder, target), rules) for folder in folders]
    return build_report(results, selection, waivers=config.waivers, today=today())


def _check_catalogs(files: GeneratedFiles, config: Config) -> Report:
    selection = Selection(
        rules=select_rules((), config.select, _CHECKED_CATALOG_SUBJECTS),
        ignored=find_rules(config.ignore),
        resolver=single_resolver(config.olm),
        subjects=_CHECKED_CATALOG_SUBJECTS,
    )
    repository = files.scratch.repository
    load_crds = bundle_crds_loader([repository]) if Path(repository).exists() else None
    copies = [files.scratch.add_catalog(file, files.transaction.files[file]) for file in files.catalogs]
    results = [_lint_catalog(copy, selection, load_crds) for copy in copies]
    report = build_report(results, selection, waivers=config.waivers, today=today())
    if not report.findings:
        return report
    known = frozenset(map(_identity, _findings_on_disk(files.project, selection)))
    return report._replace(findings=tuple(f for f in report.findings if _identity(f) not in known))


def _findings_on_disk(project: Project, selection: Selection) -> Iterator[Finding]:
    """Yield the findings of the catalogs on disk, without catalogs that cannot be read."""
    files = [file for file in map(project.catalog_file, project.releases_file.variants) if file.exists()]
    load_crds = None
    with suppress(UnreadableInput):
        load_crds = bundle_crds_loader([str(project.bundles)]) if files else None
    for file in files:
        with suppress(UnreadableInput):
            yield from _lint_catalog(str(file), selection, load_crds).findings


def _lint_catalog(
    path: str, selection: Selection, load_crds: Callable[[Package], BundleCrds] | None
) -> LintResult:
    catalog = load(path).catalog
    crds = {package.name: load_crds(package) for package in catalog.packages} if load_crds else None
    return lint_catalog(catalog, selection, None, crds)


def _identity(finding: Finding) -> tuple[str | None, ...]:
    """Return what identifies a finding after an edit: not its place, nor names that a new head changes."""
    return finding.rule, finding.channel, finding.entry or finding.message


def _failing(report: Report, files: GeneratedFiles, config: Config) -> Report:
    """Return the report with only the findings that fail a run, and the paths that the files will have."""
    fail_on = config.fail_on or "error"
    threshold = None if fail_on == "never" else Severity[fail_on.upper()]
    original = files.scratch.original_paths

    def locate(place: Place) -> SourcePosition:
        try:
            position = source_positions.locate(place, Sources())
        except UnreadableInput:
            position = SourcePosition(place.file, 0, 0, 0, "")
        return position._replace(file=original(position.file))

    failing = (
        finding
        for finding in report.findings
        if finding.unreadable or (threshold is not None and finding.severity >= threshold)
    )
    located = report._replace(findings=tuple(failing), waived=()).with_positions(locate)
    return located._replace(findings=tuple(_with_original_paths(f, files) for f in located.findings))


def _with_original_paths(finding: Finding, files: GeneratedFiles) -> Finding:
    original = files.scratch.original_paths
    origin = files.origins.get(Path(finding.file))
    return finding._replace(
        message=original(finding.message),
        evidence=(*map(original, finding.evidence), *((f"it is generated from {origin}",) if origin else ())),
        fix=original(finding.fix) if finding.fix else None,
    )
