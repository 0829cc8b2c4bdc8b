"""Lint the inputs of a run: load each path and run the rules, large inputs in several processes."""

from __future__ import annotations

__all__ = ["lint_inputs"]

import os
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from everpath.app import worker_processes
from everpath.app.image_inputs import local_path
from everpath.app.inputs import Inputs, PackageNames
from everpath.errors import UnreadableInput
from everpath.loaders.catalog_loader import Progress, preload_modules
from everpath.loaders.partition import WHOLE, Partition
from everpath.loaders.sources import MEBIBYTE, STANDARD_INPUT
from everpath.model import Catalog
from everpath.rules.lint import LintResult, PackageCrds, Report, Selection, build_report, lint_catalog
from everpath.rules.waivers import Waiver

if TYPE_CHECKING:
    from everpath.app.lint_cache import LintCache

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
    crds: PackageCrds | None = None,
) -> Report:
    """Load and lint every input, and return one report.

    A path that cannot be read at all is recorded in `inputs.failed`; the others are linted. `jobs` is the
    number of processes; None chooses it by the size of the input. `crds` returns the CRDs of a package,
    for the rules about upgrades.
    """
    results: list[LintResult] = []
    for chosen in inputs.chosen:
        try:
            path = local_path(chosen, progress)
            parts = _PathLinter(inputs, path, selection, crds).lint(_process_count(path, jobs), progress)
        except UnreadableInput as error:
            inputs.failed.append(error)
            continue
        for part in parts:
            inputs.add_names(part.names)
            results.append(part.result)
    return build_report(results, selection, waivers=waivers, today=today)


class _Part(NamedTuple):
    """The result of one partition of an input.

    `is_complete` is False if a package lacks its declaration, which may be in another partition. `reused` are
    the folders with valid cached findings, `encoded` are new findings for the cache.
    """

    names: PackageNames
    result: LintResult
    is_complete: bool
    reused: frozenset[str] = frozenset()
    encoded: Mapping[str, bytes] = {}


class _PathLinter:
    """Lints one path.

    Rules look at one package at a time, except those about catalogs; these find the same in the parts as in
    the whole if each package is in one part together with its declaration. So partitions of the input can be
    linted in separate processes, and findings of unchanged folders can be cached.
    """

    def __init__(
        self, inputs: Inputs, path: str, selection: Selection, crds: PackageCrds | None = None
    ) -> None:
        self._inputs = inputs
        self._path = path
        self._selection = selection
        self._crds = crds
        self._cache: LintCache | None = None

    def lint(self, processes: int, progress: Progress | None) -> Sequence[_Part]:
        """Return the results of all partitions, or of the whole input if they depend on each other."""

        def lint_share(number: int) -> _Part:
            share_progress = progress if number == 0 else None
            partition = Partition(number, processes) if processes > 1 else WHOLE
            catalog = self._inputs.load(self._path, share_progress, partition, self._open_cache)
            return self._with_cached_findings(self.lint_part(catalog, share_progress), catalog)

        if processes > 1:
            preload_modules(self._path)
        partitions = worker_processes.run_in_processes(lint_share, processes)
        parts = [part for part in partitions if part is not None]
        if not _are_independent(parts, processes):
            self._save_cache([])
            return [self.lint_part(self._inputs.load(self._path, progress), progress)]
        self._save_cache(parts)
        return parts

    def lint_part(self, catalog: Catalog, progress: Progress | None) -> _Part:
        is_complete = all(package.declarations for package in catalog.packages)
        result = lint_catalog(catalog, self._selection, progress, self._crds)
        return _Part(PackageNames.of(catalog), result, is_complete)

    def _open_cache(self) -> LintCache | None:
        """Return the cached findings of the path. The loader calls this for a repository.

        A run over some packages or channels does not use the cache: it would evict the findings of the
        others. Findings about upgrades depend on files elsewhere and are not cached.
        """
        selection = self._selection
        if not selection.packages and not selection.channels and "upgrade" not in selection.subjects:
            key = [sorted(part) if isinstance(part, frozenset) else part for part in selection]
            self._cache = self._inputs.lint_cache(self._path, key)
        return self._cache

    def _save_cache(self, parts: Sequence[_Part]) -> None:
        if self._cache is not None:
            reused = frozenset[str]().union(*(part.reused for part in parts))
            encoded = {name: content for part in parts for name, content in part.encoded.items()}
            self._cache.save(reused, encoded)

    def _with_cached_findings(self, part: _Part, catalog: Catalog) -> _Part:
        """Add the cached findings of unchanged folders, and encode the new ones for the cache."""
        if self._cache is None:
            return part
        reused, result = self._cache.reused, part.result
        names = PackageNames(part.names)
        is_complete = part.is_complete
        for folder in reused.values():
            is_complete = is_complete and names.keys().isdisjoint(folder.packages)
            names.update((package, set(channels)) for package, channels in folder.packages.items())
        total = result._replace(
            findings=(*result.findings, *(f for folder in reused.values() for f in folder.findings)),
            packages=result.packages + sum(len(folder.packages) for folder in reused.values()),
            channels=result.channels + sum(folder.channels for folder in reused.values()),
            entries=result.entries + sum(folder.entries for folder in reused.values()),
        )
        encoded = self._cache.encode(catalog, result.findings)
        return _Part(names, total, is_complete, frozenset(reused), encoded)


def _are_independent(parts: Sequence[_Part], expected: int) -> bool:
    """True if all parts exist and together have the findings of the whole input."""
    if len(parts) == expected == 1 and not parts[0].reused:
        return True
    is_complete = len(parts) == expected and all(part.is_complete for part in parts)
    is_disjoint = all(a.names.keys().isdisjoint(b.names) for a, b in combinations(parts, 2))
    return is_complete and is_disjoint and any(part.result.packages for part in parts)


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
