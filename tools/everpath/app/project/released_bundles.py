"""Findings about released bundles, which are frozen: the fix belongs to the next release."""

from __future__ import annotations

__all__ = ["advise_next_release"]

import os
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Final

from everpath.errors import EverpathError
from everpath.rules.findings import Finding
from everpath.rules.lint import Report

#: Where releases.yaml is, seen from the folder that contains bundles/ or PACKAGE/VERSION.
_RELEASES_FILES: Final = ("catalog/releases.yaml", "releases.yaml")


def advise_next_release(report: Report, folders: Iterable[str]) -> Report:
    """Return the report with the fixes of frozen bundles deferred to the next release.

    A bundle is frozen if a releases.yaml near it has its digest. Cost: one look beside each folder; a
    releases.yaml is loaded only if there are findings.
    """
    if not report.findings:
        return report
    load = cache(_digest_positions)
    frozen = {str(path): line for path in map(Path, folders) if (line := _digest_position(path, load))}
    return report._replace(findings=tuple(_with_advice(finding, frozen) for finding in report.findings))


def _with_advice(finding: Finding, frozen: dict[str, str]) -> Finding:
    for folder in Path(finding.place.file), *Path(finding.place.file).parents:
        if line := frozen.get(str(folder)):
            reason = f"the bundle is released and never changes: {line} has its digest"
            fix = finding.fix and f"for the next release: {finding.fix}"
            return finding._replace(evidence=(*finding.evidence, reason), fix=fix)
    return finding


def _digest_position(folder: Path, load: Callable[[Path], dict[Path, str]]) -> str | None:
    """Return `file:line` of the digest that freezes a bundle."""
    real = folder.resolve()
    for above in real.parents[1:3]:
        for file in (above / name for name in _RELEASES_FILES):
            shown = file if folder.is_absolute() else Path(os.path.relpath(file))
            if file.is_file() and (line := load(shown).get(real)):
                return line
    return None


def _digest_positions(file: Path) -> dict[Path, str]:
    """Return `file:line` of all digests of a releases.yaml by bundle folder; empty if it cannot be loaded."""
    from everpath.app.project.project import open_project  # noqa: PLC0415 - few bundles are beside a releases.yaml
    from everpath.releases.model import PUBLISHED  # noqa: PLC0415

    with suppress(EverpathError):
        project = open_project(str(file))
        return {
            project.bundle_folder(release).resolve(): project.position(release, "bundle")
            for release in project.releases_file.releases
            if release.bundle not in (None, PUBLISHED)
        }
    return {}
