"""Lint the inputs of a run: load each path and run the rules, large inputs in several processes."""

from __future__ import annotations

__all__ = ["lint_inputs"]

import os
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from everpath.app import worker_processes
from everpath.app.inputs.image_inputs import pull_if_image
from everpath.app.inputs.inputs import Inputs, PackageNames
from everpath.errors import UnreadableInput
from everpath.loaders.catalog_loader import preload_modules
from everpath.loaders.partition import WHOLE, Partition
from everpath.loaders.sources import MEBIBYTE, STANDARD_INPUT
from everpath.model import Package
from everpath.model.progress import Progress
from everpath.rules.lint import LintResult, Report, Selection, build_report, lint_catalog
from everpath.rules.waivers import Waiver

if TYPE_CHECKING:
    from everpath.crd_upgrade_safety import BundleCrds

#: Below this size one process is faster than several.
_LARGE_INPUT: Final = 4 * MEBIBYTE


def lint_inputs(  # noqa: PLR0913 - the options of validate-graph
    inputs: Inputs,
    selection: Selection,
    *,
    waivers: Iterable[Waiver] = (),
    today: date | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
    bundles: Sequence[str] = (),
) -> Report:
    """Load and lint every input, and return one report.

    A path that cannot be read at all is recorded in `inputs.failed`; the others are linted. `jobs` is the
    number of processes; None chooses it by the size of the input. `bundles` are folders of bundles with the
    CRDs of the packages, for the rules about upgrades. Raises UnreadableInput if no path can be read or a CRD
    cannot, and UsageError if a selected package or channel is unknown.
    """
    load_crds = None
    if bundles:
        from everpath.loaders.bundle.crds import bundle_crds_loader  # noqa: PLC0415 - few runs have bundles

        load_crds = bundle_crds_loader(bundles)
    results: list[LintResult] = []
    for chosen in inputs.chosen_paths():
        try:
            folder = pull_if_image(chosen, progress)
            linter = _PathLinter(inputs, chosen, folder, selection, load_crds)
            parts = linter.lint(_process_count(folder, jobs), progress)
        except UnreadableInput as error:
            inputs.failed.append(error)
            continue
        for part in parts:
            inputs.add_names(part.names)
            results.append(part.result)
    inputs.raise_failed(only_if_all=True)
    report = build_report(results, selection, waivers=waivers, today=today)
    # A selected package may be in a part that could not be read; the report says so.
    if not report.unreadable and not inputs.failed:
        inputs.verify_names(selection.packages, selection.channels)
    return report


class _Part(NamedTuple):
    """The result of one partition of an input.

    `is_complete` is False if a package lacks its declaration, which may be in another partition.
    """

    names: PackageNames
    result: LintResult
    is_complete: bool


class _PathLinter(NamedTuple):
    """Lints one path, in one process or in several. `folder` is the path, or the contents of an image."""

    inputs: Inputs
    path: str
    folder: str
    selection: Selection
    load_crds: Callable[[Package], BundleCrds] | None

    def lint(self, processes: int, progress: Progress | None) -> Sequence[_Part]:
        """Return the results of all partitions, or of the whole input if they depend on each other.

        Rules look at one package at a time, except those about catalogs; these find the same in the parts as
        in the whole if each package is in one part together with its declaration.
        """
        if processes > 1:
            preload_modules(self.folder)
            parts = worker_processes.run_in_processes(
                lambda number: self._lint(Partition(number, processes), None if number else progress),
                processes,
            )
            complete = [part for part in parts if part is not None and part.is_complete]
            is_disjoint = all(a.names.keys().isdisjoint(b.names) for a, b in combinations(complete, 2))
            if len(complete) == processes and is_disjoint and any(part.names for part in complete):
                return complete
        return [self._lint(WHOLE, progress)]

    def _lint(self, partition: Partition, progress: Progress | None) -> _Part:
        catalog = self.inputs.load_folder(self.path, self.folder, progress, partition)
        crds = None
        if self.load_crds is not None:
            selected = (p for p in catalog.packages if self.selection.has_package(p.name))
            crds = {package.name: self.load_crds(package) for package in selected}
        result = lint_catalog(catalog, self.selection, progress, crds)
        is_complete = all(package.declarations for package in catalog.packages)
        return _Part(PackageNames.of(catalog), result, is_complete)


def _process_count(path: str, jobs: int | None) -> int:
    if path == STANDARD_INPUT or not worker_processes.can_fork():
        return 1
    return jobs or (worker_processes.usable_processors() if _is_large(path) else 1)


def _is_large(path: str) -> bool:
    """True if the files of a folder exceed `_LARGE_INPUT`. Stops at the first file that decides it."""
    size = 0
    for folder, _, files in os.walk(path):
        for file in files:
            with suppress(OSError):
                size += os.lstat(folder + os.sep + file).st_size
            if size > _LARGE_INPUT:
                return True
    return False
