"""Cuts a release: edits releases.yaml, generates all files, checks them and writes them.

result = cut_release(None, ReleaseRequest("0.4.0"), Config())
if result.state == "refused":
    print(result.blockers, result.findings)
"""

from __future__ import annotations

__all__ = ["ReleaseResult", "ReleaseState", "VariantUpdate", "cut_release"]

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias

from everpath.app.config.config import Config
from everpath.app.project.bundles import unfrozen_digests
from everpath.app.project.check import FailingFindings, check
from everpath.app.project.generated_files import FileEdit, generate_files
from everpath.app.project.project import Project, open_project, project_lock
from everpath.app.project.warnings import generate_warnings
from everpath.atomic_files import FileChange
from everpath.comparison import ChangeKind, Comparison, compare
from everpath.comparison.changes import with_positions
from everpath.errors import UsageError
from everpath.loaders import source_positions
from everpath.loaders.releases.editing import edit_releases
from everpath.model import Catalog, Package
from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import Variant
from everpath.releases.release_plan import ReleaseRequest, plan_release

#: `planned` is the state of a dry run.
ReleaseState: TypeAlias = Literal["written", "planned", "refused"]


@dataclass(frozen=True)
class VariantUpdate:
    """The package in one catalog before and after a release, and the effects on installed versions."""

    variant: Variant
    old: Package
    new: Package
    comparison: Comparison


@dataclass(frozen=True)
class ReleaseResult:
    """What a release changes, and whether it is written.

    `new` is the project after the release, `edit` the change of its releases.yaml. `blockers` are reasons why
    users could not upgrade; with any of them no files are generated. `findings` are those for which generated
    files are not written. `changes` are all files that differ from those on disk before the release.
    """

    state: ReleaseState
    new: Project
    edit: FileEdit
    updates: tuple[VariantUpdate, ...]
    blockers: tuple[str, ...] = ()
    findings: FailingFindings | None = None
    changes: tuple[FileChange, ...] = ()
    warnings: tuple[str, ...] = ()


def cut_release(
    file: str | None,
    request: ReleaseRequest,
    config: Config,
    *,
    dry_run: bool = False,
    on_wait: Callable[[], object] = lambda: None,
) -> ReleaseResult:
    """Cut a release of the project of a releases.yaml: write all files, or none if it is refused.

    The project is locked meanwhile; dry runs share the lock. `on_wait` is called before waiting for another
    process. Raises EverpathError, with nothing written.
    """
    with project_lock(open_project(file), exclusive=not dry_run, on_wait=on_wait):
        # Opened again: another process may have changed it before the lock was acquired.
        old = open_project(file)
        plan = plan_release(old.releases_file, _with_relative_pins(request, old), unfrozen_digests(old))
        old_content = old.file.read_bytes()
        new_content = edit_releases(old_content, plan.edits, str(old.file))
        edit = FileEdit(old.file, old_content, new_content)
        new = open_project(str(old.file), new_content)
        updates = tuple(_catalog_update(old, new, variant) for variant in new.releases_file.variants)
        blockers = tuple(dict.fromkeys(b for update in updates for b in _blockers(update.comparison)))
        if blockers:
            return ReleaseResult("refused", new, edit, updates, blockers)
        with generate_files(new) as files:
            changes = tuple(files.changes())
            if findings := check(files, config):
                return ReleaseResult("refused", new, edit, updates, (), findings, changes)
            warnings = tuple(generate_warnings(files))
            if not dry_run:
                files.commit()
        state: ReleaseState = "planned" if dry_run else "written"
        return ReleaseResult(state, new, edit, updates, (), None, changes, warnings)


def _with_relative_pins(request: ReleaseRequest, project: Project) -> ReleaseRequest:
    """Return the request with the file of digests relative to releases.yaml, which will name it."""
    if request.pins is None:
        return request
    if not Path(request.pins).is_file():
        raise UsageError(f"--pin {request.pins}: there is no such file", hint="name a file of digests")
    return request._replace(pins=Path(os.path.relpath(request.pins, project.folder)).as_posix())


def _catalog_update(old: Project, new: Project, variant: Variant) -> VariantUpdate:
    """Compare a catalog with the one on disk, or with the one that would have been generated before."""
    before, after = old.load_published_package(variant), catalog_package(new.releases_file, variant)
    # A published bundle has properties that releases.yaml has not, and some prevent its installation.
    published = before.by_name
    after = after._replace(bundles=tuple(published.get(bundle.name, bundle) for bundle in after.bundles))
    comparison = compare(Catalog("old", (before,)), Catalog("new", (after,)))
    # Located before any file is written: a change may be about a place in the catalog on disk.
    changes = with_positions(comparison.changes, lambda place: source_positions.locate(place, new.sources))
    return VariantUpdate(variant, before, after, replace(comparison, changes=changes))


def _blockers(comparison: Comparison) -> Iterator[str]:
    if comparison.regression_count or comparison.errors:
        yield "installed versions would be stranded"
    if any(change.kind is ChangeKind.REJECTED_BY_OPM for change in comparison.changes):
        yield "opm would reject the catalog"
