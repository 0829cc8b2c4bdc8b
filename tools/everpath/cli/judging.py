"""Reads and judges the inputs of a run, a large one in partitions: one process each."""

from __future__ import annotations

__all__ = ["judgements"]

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations
from typing import TYPE_CHECKING, Final, NamedTuple

from everpath.cli import forks
from everpath.cli.image_inputs import local
from everpath.cli.inputs import Inputs, Names
from everpath.errors import UnreadableInput
from everpath.loaders.catalog_loader import Progress, preload_modules
from everpath.loaders.partition import WHOLE, Partition
from everpath.loaders.sources import MEBIBYTE, STANDARD_INPUT
from everpath.model import Catalog
from everpath.rules.lint import LintResult, PackageCrds, Selection, lint_catalog

if TYPE_CHECKING:
    from everpath.app.lint_cache import LintCache

# What a fork saves below this size is less than it costs.
_LARGE: Final = 4 * MEBIBYTE


class _Memory:
    """What was found at a path before, looked for when its reader asks.

    Of a limited selection nothing is remembered: it would drive out what is known of all. Nor where upgrades
    are judged: they depend on files elsewhere.
    """

    def __init__(self, inputs: Inputs, path: str, selection: Selection) -> None:
        self._inputs = inputs
        self._path = path
        self._selection = selection
        self.lint_cache: LintCache | None = None

    def ask(self) -> LintCache | None:
        asked = self._selection
        if not asked.packages and not asked.channels and "upgrade" not in asked.subjects:
            question = [sorted(part) if isinstance(part, frozenset) else part for part in asked]
            self.lint_cache = self._inputs.lint_cache(self._path, question)
        return self.lint_cache

    def keep(self, parts: Sequence[_Part]) -> None:
        """Keep what the parts of the path remember or found anew, and nothing else."""
        if self.lint_cache is not None:
            standing = frozenset[str]().union(*(part.standing for part in parts))
            reached = {name: verdict for part in parts for name, verdict in part.reached.items()}
            self.lint_cache.save(standing, reached)


class _Part(NamedTuple):
    """What came of one partition: names, the judgement, and whether it can stand without the others.

    `standing` are the folders whose verdicts were still right; `reached` are new ones.
    """

    names: Names
    judgement: LintResult
    is_complete: bool
    standing: frozenset[str]
    reached: Mapping[str, bytes]


class _Judging(NamedTuple):
    """How the parts of a run are judged."""

    selection: Selection
    definitions: PackageCrds | None

    def part(self, catalog: Catalog, progress: Progress | None) -> _Part:
        is_complete = all(package.declarations for package in catalog.packages)
        judgement = lint_catalog(catalog, self.selection, progress, self.definitions)
        return _Part(Names.of(catalog), judgement, is_complete, frozenset(), {})


def judgements(
    inputs: Inputs,
    selection: Selection,
    jobs: int | None,
    progress: Progress | None,
    definitions: PackageCrds | None = None,
) -> Iterator[LintResult]:
    """A judgement on each input, or on each partition of it, read when it is its turn.

    One that cannot be read at all is noted, and the others are judged all the same.
    `jobs` is the number of processes; None for as many as the input is worth.
    """
    judging = _Judging(selection, definitions)
    for chosen in inputs.chosen:
        try:
            path = local(chosen, progress)
            parts = _parts(inputs, path, judging, _processes(path, jobs), progress)
        except UnreadableInput as error:
            inputs.missed.append(error)
            continue
        for part in parts:
            inputs.note(part.names)
            yield part.judgement


def _parts(
    inputs: Inputs, path: str, judging: _Judging, count: int, progress: Progress | None
) -> Sequence[_Part]:
    """The parts of an input, or the whole if only that can be judged.

    All rules but those about catalogs look at one package at a time, and those find the same in the parts
    as in the whole if each package is in one part, together with its declaration. The same goes for what was
    found before.
    """
    memory = _Memory(inputs, path, judging.selection)

    def part(number: int) -> _Part:
        told = progress if number == 0 else None
        partition = Partition(number, count) if count > 1 else WHOLE
        catalog = inputs.read(path, told, partition, memory.ask)
        return _remembered(judging.part(catalog, told), catalog, memory.lint_cache)

    if count > 1:
        preload_modules(path)
    parts = [part for part in forks.each(part, count) if part is not None]
    if not _stand(parts, count):
        memory.keep([])
        catalog = inputs.read(path, progress)
        return [judging.part(catalog, progress)]
    memory.keep(parts)
    return parts


def _remembered(fresh: _Part, catalog: Catalog, lint_cache: LintCache | None) -> _Part:
    """A part together with what was found before, and what will be remembered of it."""
    if lint_cache is None:
        return fresh
    standing, judged = lint_cache.reused, fresh.judgement
    names = Names(fresh.names)
    is_complete = fresh.is_complete
    for verdict in standing.values():
        is_complete = is_complete and names.keys().isdisjoint(verdict.packages)
        names.update((package, set(channels)) for package, channels in verdict.packages.items())
    judgement = judged._replace(
        findings=(*judged.findings, *(f for verdict in standing.values() for f in verdict.findings)),
        packages=judged.packages + sum(len(verdict.packages) for verdict in standing.values()),
        channels=judged.channels + sum(verdict.channels for verdict in standing.values()),
        entries=judged.entries + sum(verdict.entries for verdict in standing.values()),
    )
    reached = lint_cache.encode(catalog, judged.findings)
    return _Part(names, judgement, is_complete, frozenset(standing), reached)


def _stand(parts: Sequence[_Part], count: int) -> bool:
    """Whether the parts are all there, and say together what the whole would."""
    if len(parts) == count == 1 and not parts[0].standing:
        return True
    is_whole = len(parts) == count and all(part.is_complete for part in parts)
    is_parted = all(a.names.keys().isdisjoint(b.names) for a, b in combinations(parts, 2))
    return is_whole and is_parted and any(part.judgement.packages for part in parts)


def _processes(path: str, jobs: int | None) -> int:
    if path == STANDARD_INPUT or not forks.are_possible():
        return 1
    return jobs or (forks.processors() if _is_large(path) else 1)


def _is_large(path: str) -> bool:
    """Whether a folder holds more than a few megabytes. Cost: a look at files until that is known."""
    size = 0
    for folder, _, files in os.walk(path):
        for file in files:
            with suppress(OSError):
                size += os.lstat(folder + os.sep + file).st_size
            if size > _LARGE:
                return True
    return False
