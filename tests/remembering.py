"""Repositories judged twice: by a run that remembers, and by one that knows nothing."""

from __future__ import annotations

__all__ = ["freshly_judged", "judged", "much_later", "write_version"]

import time
from pathlib import Path
from typing import Any
from unittest.mock import patch

from bundles import annotations_yaml, csv, write
from everpath.app import inputs as app_inputs
from everpath.app import lint as app_lint
from everpath.app.config import Config
from everpath.app.inputs import Inputs
from everpath.file_cache import FileCache
from everpath.loaders.bundle.folder_reader import TIMESTAMP_RESOLUTION_NS
from everpath.model import Catalog
from everpath.rules.lint import LintResult, Report, Selection, lint_catalog


def much_later() -> int:
    """A clock by which every file of a test has long settled."""
    return time.time_ns() + 10 * TIMESTAMP_RESOLUTION_NS


def write_version(root: Path, folder: str, version: str, *, package: str = "", **spec: Any) -> None:
    """Write a bundle of the package that its folder is named after, or of another one."""
    named = f"{package or folder}.v{version}"
    files = {
        f"{folder}/{version}/manifests/op.clusterserviceversion.yaml": csv(named, **spec),
        f"{folder}/{version}/metadata/annotations.yaml": annotations_yaml(package or folder),
    }
    write(root, files)


def judged(
    path: Path | str,
    cache: FileCache | None,
    selection: Selection = Selection(),  # noqa: B008 - a tuple
    *,
    mode: str | None = None,
    thorough: bool = False,
) -> tuple[Report, list[str]]:
    """The report on a repository, and the packages that had to be judged for it."""
    packages: list[str] = []

    def noted(catalog: Catalog, *rest: Any) -> LintResult:
        packages.extend(package.name for package in catalog.packages)
        return lint_catalog(catalog, *rest)

    asked = Inputs((str(path),), Config(), mode, thorough)
    with (
        patch.object(app_inputs, "_file_cache", lambda: cache),
        patch.object(app_lint, "lint_catalog", noted),
    ):
        report = app_lint.lint_inputs(asked, selection, jobs=1)
    return report, packages


def freshly_judged(path: Path | str, selection: Selection = Selection(), **options: Any) -> Report:  # noqa: B008
    """The report of somebody who remembers nothing."""
    return judged(path, None, selection, **options)[0]
