"""Judges what was made before any of it is written: the bundles, the catalogs, and every step between them.

The same rules, configuration and waivers as `bundle validate` and `validate-graph --bundles`. A bundle that
is released is not judged again, nor is a catalog blamed for what is wrong with it on disk already: nobody
could release anything before all of that is mended, the mending included.
"""

from __future__ import annotations

__all__ = ["objections", "refused"]

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final, NamedTuple

import click

from everpath.app.config import Config
from everpath.app.project import Project
from everpath.cli.aside import folder_aside
from everpath.cli.inputs import Inputs
from everpath.cli.making import Files, Made
from everpath.cli.reporting import outcome_of, selected, today
from everpath.cli.writing import write
from everpath.errors import UnreadableInput
from everpath.loaders.bundle.bundle_folder import LintTarget, load_folder_for_lint
from everpath.loaders.bundle.crds import bundle_crds_loader
from everpath.loaders.catalog_loader import load
from everpath.loaders.location import SourcePosition
from everpath.model import Place
from everpath.reporters import reporter
from everpath.reporters.lint_report import LintReport
from everpath.rules.bundle.validators import find_validators
from everpath.rules.findings import Finding, Severity
from everpath.rules.lint import (
    BUNDLE_SUBJECTS,
    CATALOG_SUBJECTS,
    PackageCrds,
    Report,
    Selection,
    build_report,
    lint_bundle,
    lint_catalog,
)
from everpath.rules.registry import find_rules

#: Without what is wrong with waivers: only a look at everything knows which of them are needed.
_FOLDERS: Final = BUNDLE_SUBJECTS - {"waiver"}
_GRAPH: Final = CATALOG_SUBJECTS - {"waiver"} | {"upgrade"}


def refused(project: Project, made: Made, config: Config) -> bool:
    """Whether something is wrong with what was made, which is told then."""
    told = list(objections(project, made, config, reporter("text")))
    if told:
        write(told, None, machine=False)
        click.echo("error: nothing was written: the files would have the errors above", err=True)
    return bool(told)


def objections(
    project: Project, made: Made, config: Config, told: Callable[[LintReport], Iterator[str]]
) -> Iterator[str]:
    """Every finding that keeps the files from being written, told as `bundle validate` does, or otherwise.

    Cost: the bundles are written once more, aside, and read again.
    """
    with folder_aside() as folder:
        aside = _Aside(folder, made.origins)
        for path, files in made.bundles.items():
            aside.put_bundle(path, files)
        catalogs = [aside.put(path, made.placement.files[path]) for path in made.catalogs]
        fresh = [aside.bundles[path] for path in made.bundles if path in made.fresh]
        try:
            yield from told(_grave(_bundles(fresh, config), _FOLDERS, config, aside))
            yield from told(_grave(_catalogs(project, catalogs, aside, config), _GRAPH, config, aside))
        except UnreadableInput as error:
            file = aside.renamed(error.file or "")
            raise UnreadableInput(aside.renamed(error.message), hint=error.hint, file=file) from error


class _Aside:
    """A folder with the files as they would be, and the way back to their own names."""

    def __init__(self, folder: str, origins: Mapping[Path, str] | None = None) -> None:
        self.root = Path(folder)
        self._origins = origins or {}
        self.bundles: dict[Path, str] = {}
        self._real: dict[str, str] = {}

    def put(self, path: Path, content: bytes) -> str:
        """The file's name here. Each has a folder of its own: nothing beside it may be read with it."""
        there = self.root / str(len(self._real)) / path.name
        there.parent.mkdir()
        there.write_bytes(content)
        self._real[str(there.parent)] = str(path.parent)
        return str(there)

    def put_bundle(self, path: Path, files: Files) -> None:
        there = self.root / "bundles" / path.parent.name / path.name
        for name, content in files.items():
            (there / name).parent.mkdir(parents=True, exist_ok=True)
            (there / name).write_bytes(content)
        self.bundles[path] = str(there)
        self._real[str(there)] = str(path)

    def definitions(self) -> PackageCrds | None:
        """The CRDs of all bundles; None where there is no bundle's folder."""
        return bundle_crds_loader([str(self.root / "bundles")]) if (self.root / "bundles").exists() else None

    def origin(self, place: Place) -> tuple[str, ...]:
        """Where to mend what is wrong at a place: the file that it comes from, if that is another."""
        found = self._origins.get(Path(self.renamed(place.file)))
        return (f"it is made from {found}",) if found else ()

    def renamed(self, text: str) -> str:
        """A text with files by the names they will have."""
        if str(self.root) in text:
            for here in sorted(self._real, key=len, reverse=True):
                text = text.replace(here, self._real[here])
        return text


def _bundles(folders: Iterable[str], config: Config) -> Report:
    selection = Selection(
        rules=selected((), config.select, _FOLDERS),
        ignored=find_rules(config.ignore),
        subjects=_FOLDERS,
        validators=find_validators(config.select_optional),
    )
    surroundings = LintTarget(config.kube_version or "")
    results = [lint_bundle(load_folder_for_lint(folder, surroundings), selection) for folder in folders]
    return build_report(results, selection, waivers=config.waivers, today=today())


def _catalogs(project: Project, files: Iterable[str], aside: _Aside, config: Config) -> Report:
    policy = config.policy
    selection = Selection(
        rules=selected((), config.select, _GRAPH),
        ignored=find_rules(config.ignore),
        policy="v0" if policy == "v0" else "v1" if policy == "v1" else None,
        subjects=_GRAPH,
    )
    definitions = aside.definitions()
    found = [lint_catalog(load(file).catalog, selection, None, definitions) for file in files]
    report = build_report(found, selection, waivers=config.waivers, today=today())
    if not report.findings:
        return report
    old = frozenset(_essence(finding) for finding in _before(project, selection))
    return report._replace(findings=tuple(f for f in report.findings if _essence(f) not in old))


def _before(project: Project, selection: Selection) -> Iterator[Finding]:
    """What is wrong with the catalogs on disk."""
    files = [file for v in project.source.variants if (file := project.catalog_file(v)).exists()]
    definitions = None
    with suppress(UnreadableInput):
        definitions = bundle_crds_loader([str(project.bundles)]) if files else None
    for file in files:
        with suppress(UnreadableInput):
            yield from lint_catalog(load(str(file)).catalog, selection, None, definitions).findings


def _essence(finding: Finding) -> tuple[str | None, ...]:
    """A finding without its place, which moves with every edit, and without names that a new head changes."""
    return finding.rule, finding.channel, finding.entry or finding.message


class _Wishes(NamedTuple):
    """How findings are told: as text, those that count."""

    fail_on: str | None = None
    output: str = "text"
    output_file: str | None = None
    show: str | None = None
    statistics: bool = False
    quiet: bool = True
    verbose: bool = False


def _grave(report: Report, subjects: frozenset[str], config: Config, aside: _Aside) -> LintReport:
    """The report with what counts in it, and nothing else."""
    outcome = outcome_of(_Wishes(), config, report, _locate(config, aside), subjects, "generate")
    grave = tuple(f for f in report.findings if f.unreadable or outcome.fails(f))
    kept = report._replace(findings=tuple(_renamed(finding, aside) for finding in grave), waived=())
    return outcome._replace(report=kept, show=min(Severity))


def _renamed(finding: Finding, aside: _Aside) -> Finding:
    return finding._replace(
        message=aside.renamed(finding.message),
        because=(*map(aside.renamed, finding.because), *aside.origin(finding.place)),
        fix=aside.renamed(finding.fix) if finding.fix else None,
    )


def _locate(config: Config, aside: _Aside) -> Callable[[Place], SourcePosition]:
    inputs = Inputs((), config)

    def locate(place: Place) -> SourcePosition:
        found = inputs.locate(place)
        return found._replace(file=aside.renamed(found.file))

    return locate
