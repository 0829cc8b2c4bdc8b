"""Reads and judges the inputs of a run, a large one in shares: one process each."""

from __future__ import annotations

__all__ = ["judgements"]

import os
from collections.abc import Iterator
from contextlib import suppress
from itertools import combinations
from typing import Final, NamedTuple

from everpath.cli import forks
from everpath.cli.inputs import Inputs, Names
from everpath.formats.reading import Progress
from everpath.formats.shares import Share
from everpath.formats.sources import MEBIBYTE, STANDARD_INPUT
from everpath.model import Catalog
from everpath.rules.check import Judgement, Selection, judge

# What a fork saves below this size is less than it costs.
_LARGE: Final = 4 * MEBIBYTE


class _Part(NamedTuple):
    """What came of one share: names, the judgement, and whether it can stand without the others."""

    names: Names
    judgement: Judgement
    is_complete: bool


def judgements(
    inputs: Inputs, selection: Selection, jobs: int | None, progress: Progress | None
) -> Iterator[Judgement]:
    """A judgement on each input, or on each share of it, read when it is its turn.

    `jobs` is the number of processes; None for as many as the input is worth.
    """
    for path in inputs.chosen:
        count = _processes(path, jobs)
        parts = _shared(inputs, path, selection, count, progress) if count > 1 else []
        for part in parts:
            inputs.note(part.names)
            yield part.judgement
        if not parts:
            catalog = inputs.read(path, progress)
            inputs.note(Names.of(catalog))
            yield judge(catalog, selection, progress)


def _shared(
    inputs: Inputs, path: str, selection: Selection, count: int, progress: Progress | None
) -> list[_Part]:
    """The parts of an input; none of them if only the whole can be judged.

    All rules but those about catalogs look at one package at a time, and those find the same in the parts
    as in the whole if each package is in one part, together with its declaration.
    """

    def part(number: int) -> _Part:
        told = progress if number == 0 else None
        catalog = inputs.read(path, told, Share(number, count))
        return _Part(Names.of(catalog), judge(catalog, selection, told), _is_complete(catalog))

    parts = [part for part in forks.each(part, count) if part is not None]
    stands = len(parts) == count and all(part.is_complete for part in parts)
    is_parted = all(a.names.keys().isdisjoint(b.names) for a, b in combinations(parts, 2))
    return parts if stands and is_parted and any(part.judgement.packages for part in parts) else []


def _processes(path: str, jobs: int | None) -> int:
    if path == STANDARD_INPUT or not forks.are_possible():
        return 1
    return jobs or (forks.processors() if _is_large(path) else 1)


def _is_complete(catalog: Catalog) -> bool:
    return all(package.declarations for package in catalog.packages)


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
