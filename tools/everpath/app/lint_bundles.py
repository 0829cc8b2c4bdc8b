"""Lints bundles in their folders, and package manifests."""

from __future__ import annotations

__all__ = [
    "PACKAGE_MANIFEST_SUBJECTS",
    "find_all_bundles",
    "lint_bundles",
    "lint_package_manifests",
    "validation_target",
]

import json
from collections.abc import Iterable, Sequence
from datetime import date
from difflib import get_close_matches
from pathlib import Path
from typing import Final

from everpath.app import worker_processes
from everpath.app.inputs.image_inputs import pull_if_image
from everpath.app.project.released_bundles import advise_next_release
from everpath.errors import UnreadableInput, UsageError
from everpath.loaders.bundle.bundle_folder import (
    BundleFolders,
    ValidationTarget,
    find_bundle_folders,
    load_bundle_for_validation,
    load_package_file,
)
from everpath.loaders.packagemanifest.bundles import load_package_for_validation
from everpath.loaders.partition import Partition
from everpath.model import Place
from everpath.model.progress import Progress
from everpath.rules.bundle.validators import find_validators
from everpath.rules.lint import (
    BUNDLE_SUBJECTS,
    CATALOG_SUBJECTS,
    LintResult,
    Report,
    SelectedRules,
    Selection,
    build_report,
    lint_bundle,
    lint_catalog,
)
from everpath.rules.registry import find_rules
from everpath.rules.waivers import Waiver
from everpath.versions import VersionError, parse_tolerant

PACKAGE_MANIFEST_SUBJECTS: Final = CATALOG_SUBJECTS | BUNDLE_SUBJECTS

_PACKAGE_FILE_VALIDATOR: Final = "packagemanifest"
_BUNDLE_FORMAT_RULES: Final = ("bundle-layout", "required-annotation", "media-type", "annotation-folders")

#: Below this number of bundles one process is faster than several.
_MANY_BUNDLES: Final = 30


def find_all_bundles(paths: Sequence[str], packages: Iterable[str] = ()) -> BundleFolders:
    """Return the bundles at some paths, each folder once. Default: bundles/, or the current folder.

    Raises UsageError for a package without a folder, so that a misspelt name is not reported as clean.
    """
    default = "bundles" if Path("bundles").is_dir() else "."
    parts = [find_bundle_folders(pull_if_image(path)) for path in paths or (default,)]
    folders = tuple(dict.fromkeys(folder for part in parts for folder in part.folders))
    names = sorted({name for name, _ in folders})
    for name in sorted(set(packages) - set(names)):
        near = get_close_matches(name, names, n=1)
        hint = f"did you mean {near[0]!r}?" if near else "a package has the name of its folder"
        raise UsageError(f"there is no package {name!r}", hint=hint)
    return BundleFolders(folders, tuple(file for part in parts for file in part.package_files))


def validation_target(
    kube_version: str = "", categories_file: str | None = None, labels_file: str | None = None
) -> ValidationTarget:
    """Return what bundles are validated for: Kubernetes version, categories and labels of the image.

    `categories_file` is a JSON file as in operator-framework/api, `labels_file` a Dockerfile. Raises
    UsageError and UnreadableInput.
    """
    try:
        if kube_version:
            parse_tolerant(kube_version)
    except VersionError as error:
        raise UsageError(f"--kube-version {error}", hint="write it like 1.29.0") from error
    categories = None
    if categories_file:
        try:
            categories = frozenset(map(str, json.loads(_read_text(categories_file))["categories"]))
        except (ValueError, LookupError, TypeError) as error:
            raise UnreadableInput(
                f"{categories_file} has no list of categories",
                hint='write {"categories": ["Database", …]}',
                file=categories_file,
            ) from error
    labels = (Place(labels_file), _read_text(labels_file)) if labels_file else None
    return ValidationTarget(kube_version, categories, labels)


def _read_text(file: str) -> str:
    try:
        # Path.read_text would convert the line ends of Windows.
        return Path(file).read_bytes().decode("utf-8", "surrogateescape")
    except OSError as error:
        raise UnreadableInput(f"cannot read {file}: {error.strerror or error}", file=file) from error


def lint_bundles(  # noqa: PLR0913 - the options of bundle validate
    bundles: BundleFolders,
    target: ValidationTarget,
    selection: Selection,
    *,
    waivers: Iterable[Waiver] = (),
    today: date | None = None,
    jobs: int | None = None,
    progress: Progress | None = None,
) -> Report:
    """Load and lint the selected bundles and package files.

    A released bundle is frozen, so that its fixes are for the next release. `jobs` is the number of
    processes; None chooses it by the number of bundles.
    """
    selected = [folder for folder in bundles.folders if selection.has_package(folder[0])]
    rules = SelectedRules(selection)
    processes = 1
    if worker_processes.can_fork():
        default = worker_processes.usable_processors() if len(selected) >= _MANY_BUNDLES else 1
        processes = jobs or default

    def lint_share(number: int, reporting: int = 0) -> list[LintResult]:
        partition = Partition(number, processes).select(selected, folder=lambda folder: folder[0])
        results = []
        for done, (package, path) in enumerate(partition):
            if progress is not None and number == reporting:
                progress(done, len(partition), package)
            results.append(lint_bundle(load_bundle_for_validation(path, target), rules))
        return results

    results: list[LintResult] = []
    for number, part in enumerate(worker_processes.run_in_processes(lint_share, processes)):
        # A process that ended without a result: its partition is linted here.
        results += lint_share(number, reporting=number) if part is None else part
    if not selection.packages:
        results += (lint_bundle(load_package_file(path), rules) for path in bundles.package_files)
    report = build_report(results, selection, waivers=waivers, today=today)
    return advise_next_release(report, (path for _, path in bundles.folders))


def lint_package_manifests(
    paths: Sequence[str],
    selection: Selection,
    *,
    waivers: Iterable[Waiver] = (),
    today: date | None = None,
    progress: Progress | None = None,
) -> Report:
    """Load and lint package manifests: the package file, every CSV, and the upgrades between them.

    Rules about folders and annotations, which package manifests do not have, are not run.
    """
    selection = selection._replace(
        ignored=selection.ignored | find_rules(_BUNDLE_FORMAT_RULES),
        subjects=PACKAGE_MANIFEST_SUBJECTS,
        validators=selection.validators | find_validators([_PACKAGE_FILE_VALIDATOR]),
    )
    rules = SelectedRules(selection)
    results: list[LintResult] = []
    for number, path in enumerate(paths):
        if progress is not None:
            progress(number, len(paths), path)
        loaded = load_package_for_validation(path)
        results.append(lint_catalog(loaded.catalog, selection))
        # The packages are counted with the catalog already.
        results += (lint_bundle(part, rules)._replace(bundle_packages=frozenset()) for part in loaded.inputs)
    return build_report(results, selection, waivers=waivers, today=today)
