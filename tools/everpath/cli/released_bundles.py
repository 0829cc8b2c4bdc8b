"""Findings in bundles that are out: a released bundle is frozen, so what mends it goes into the next one."""

from __future__ import annotations

__all__ = ["as_released"]

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from everpath.errors import EverpathError
from everpath.rules.findings import Finding
from everpath.rules.lint import Report

#: Where a source lies, seen from the folder that holds bundles/ or PACKAGE/VERSION.
_SOURCES: Final = ("catalog/releases.yaml", "releases.yaml")


def as_released(report: Report, folders: Iterable[str]) -> Report:
    """The report with other advice for bundles whose digest stands in a releases.yaml near them.

    Cost: one look beside each folder of bundles; a source is read only where there is one, and something
    was found.
    """
    if not report.findings:
        return report
    read = cache(_digests)
    frozen = {str(path): line for path in map(Path, folders) if (line := _frozen_at(path, read))}
    return report._replace(findings=tuple(_advised(finding, frozen) for finding in report.findings))


def _advised(finding: Finding, frozen: dict[str, str]) -> Finding:
    for folder in Path(finding.place.file), *Path(finding.place.file).parents:
        if line := frozen.get(str(folder)):
            reason = f"it is released and never changes: {line} has its digest"
            fix = finding.fix and f"for the next release: {finding.fix}"
            return finding._replace(because=(*finding.because, reason), fix=fix)
    return finding


def _frozen_at(folder: Path, read: Callable[[Path], dict[Path, str]]) -> str | None:
    """`file:line` of the digest that freezes a bundle's folder."""
    real = folder.resolve()
    for above in real.parents[1:3]:
        for source in (above / name for name in _SOURCES):
            told = source if folder.is_absolute() else Path(os.path.relpath(source))
            if source.is_file() and (line := read(told).get(real)):
                return line
    return None


def _digests(source: Path) -> dict[Path, str]:
    """The folders that a source has digests of; none of one that cannot be read: that is not asked here."""
    with suppress(EverpathError):
        return dict(_lines(source))
    return {}


def _lines(source: Path) -> Iterator[tuple[Path, str]]:
    from everpath.cli.project import open_project  # noqa: PLC0415 - few bundles have a source beside them
    from everpath.releases.model import PUBLISHED  # noqa: PLC0415

    project = open_project(str(source))
    for release in project.source.releases:
        if release.bundle not in (None, PUBLISHED):
            yield project.bundle_folder(release).resolve(), project.line_of(release, "bundle")
