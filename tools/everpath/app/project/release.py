"""Cuts a release: edits releases.yaml, generates all files and checks them before they are written.

with prepare_release(None, ReleaseRequest("0.4.0"), Config()) as release:
    if not release.blockers and not release.problems:
        release.commit()
"""

from __future__ import annotations

__all__ = ["PreparedRelease", "VariantUpdate", "prepare_release"]

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from everpath.app.config import Config
from everpath.app.project.bundles import unfrozen_digests
from everpath.app.project.check import Problems, check
from everpath.app.project.generate import GeneratedFiles, generate
from everpath.app.project.project import Project, open_project, project_lock
from everpath.app.project.warnings import generate_warnings
from everpath.atomic_files import FileChange
from everpath.comparison import ChangeKind, Comparison, compare
from everpath.errors import UsageError
from everpath.loaders.releases.editing import edit_releases
from everpath.model import Catalog, Package
from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import Variant
from everpath.releases.release_plan import ReleaseRequest, plan_release


@dataclass(frozen=True)
class VariantUpdate:
    """The package in one catalog before and after a release, and the effects on installed versions."""

    variant: Variant
    old: Package
    new: Package
    comparison: Comparison


@dataclass(frozen=True)
class PreparedRelease:
    """A release that can be committed if it has neither blockers nor problems.

    `old` and `new` are the project before and after. `blockers` are reasons why users could not upgrade; with
    any of them no files are generated.
    """

    old: Project
    new: Project
    updates: tuple[VariantUpdate, ...]
    blockers: tuple[str, ...]
    files: GeneratedFiles | None = None
    problems: Problems | None = None

    def changes(self) -> list[FileChange]:
        """Return the files that differ from those on disk."""
        return self.files.changes() if self.files else []

    def warnings(self) -> list[str]:
        """Return what is likely a mistake. Cost: every bundle is loaded again."""
        return generate_warnings(self.files) if self.files else []

    def commit(self) -> list[FileChange]:
        """Write all files or none, and return the changes. Raises UsageError."""
        if self.files is None or self.problems:
            raise UsageError("the release has blockers or problems")
        return self.files.commit()


@contextmanager
def prepare_release(
    file: str | None,
    request: ReleaseRequest,
    config: Config,
    *,
    read_only: bool = False,
    on_wait: Callable[[], object] = lambda: None,
) -> Iterator[PreparedRelease]:
    """Prepare a release of the project of a releases.yaml, which is locked until the block ends.

    `read_only` runs share the lock. Raises EverpathError, with nothing written.
    """
    with project_lock(open_project(file), exclusive=not read_only, on_wait=on_wait):
        # Opened again: another process may have changed it before the lock was acquired.
        old = open_project(file)
        plan = plan_release(old.source, _with_relative_pins(request, old), unfrozen_digests(old))
        content = edit_releases(old.file.read_bytes(), plan.edits, str(old.file))
        new = open_project(str(old.file), content)
        updates = tuple(_catalog_update(old, new, variant) for variant in new.source.variants)
        blockers = tuple(dict.fromkeys(b for update in updates for b in _blockers(update.comparison)))
        if blockers:
            yield PreparedRelease(old, new, updates, blockers)
            return
        with generate(new) as files:
            yield PreparedRelease(old, new, updates, (), files, check(files, config))


def _with_relative_pins(request: ReleaseRequest, project: Project) -> ReleaseRequest:
    """Return the request with the file of digests relative to releases.yaml, which will name it."""
    if request.pins is None:
        return request
    if not Path(request.pins).is_file():
        raise UsageError(f"--pin {request.pins}: there is no such file", hint="name a file of digests")
    return request._replace(pins=Path(os.path.relpath(request.pins, project.folder)).as_posix())


def _catalog_update(old: Project, new: Project, variant: Variant) -> VariantUpdate:
    """Compare a catalog with the one on disk, or with the one that would have been generated before."""
    before, after = old.published_package(variant), catalog_package(new.source, variant)
    # A published bundle has properties that releases.yaml has not, and some prevent its installation.
    published = before.by_name
    after = after._replace(bundles=tuple(published.get(bundle.name, bundle) for bundle in after.bundles))
    comparison = compare(Catalog("old", (before,)), Catalog("new", (after,)))
    return VariantUpdate(variant, before, after, comparison)


def _blockers(comparison: Comparison) -> Iterator[str]:
    if comparison.regressions or comparison.errors:
        yield "installed versions would be stranded"
    if any(change.kind is ChangeKind.REJECTED_BY_OPM for change in comparison.changes):
        yield "opm would reject the catalog"
