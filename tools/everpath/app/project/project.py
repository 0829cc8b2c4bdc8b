"""A project: its releases.yaml, and the paths of the bundles and catalogs that are generated from it."""

from __future__ import annotations

__all__ = [
    "CATALOG_SUFFIXES",
    "Files",
    "Project",
    "find_releases_file",
    "load_blobs",
    "open_project",
    "project_lock",
]

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, TypeAlias

from everpath.atomic_files import StagingDir
from everpath.errors import UnreadableInput, UsageError
from everpath.loaders.catalog_loader import load
from everpath.loaders.fbc import blobs
from everpath.loaders.releases.parser import load_releases, parse_releases
from everpath.loaders.releases.pins import load_pins
from everpath.loaders.source_positions import format_position
from everpath.loaders.sources import Sources
from everpath.model import OpmError, Package
from everpath.opm_render import Blob
from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import Release, ReleasesFile, Variant

CATALOG_SUFFIXES: Final = ("yaml", "json")
_DEFAULT_FILES: Final = ("catalog/releases.yaml", "releases.yaml")

#: The files of a bundle by their paths below its folder.
Files: TypeAlias = Mapping[str, bytes]


@dataclass(frozen=True)
class Project:
    """A releases.yaml and the paths that follow from it.

    `releases_file` is the content of the file as data, `sources` finds the lines of its places. `unsaved` is
    the text of the file, if it is not written yet. `imported_blobs` replace the documents of the catalogs on
    disk, and `pins_file` the file of digests that releases.yaml names.
    """

    file: Path
    releases_file: ReleasesFile
    sources: Sources
    unsaved: bytes | None = None
    imported_blobs: tuple[Blob, ...] | None = None
    pins_file: str | None = None

    @property
    def folder(self) -> Path:
        """The folder of releases.yaml, in which the catalogs are generated."""
        return self.file.parent

    @property
    def staging(self) -> StagingDir:
        return StagingDir.beside(self.folder)

    def resolve(self, path: str) -> Path:
        """Resolve a path of releases.yaml, which is relative to its folder."""
        return Path(os.path.normpath(self.folder / path))

    @cached_property
    def digests(self) -> Mapping[str, str] | None:
        """Digests of images; None if images are not pinned. Raises ReleasesError and UnreadableInput."""
        file = self.pins_file or (
            str(self.resolve(self.releases_file.pins)) if self.releases_file.pins else None
        )
        return load_pins(file, self.sources) if file else None

    def bundle_image(self, release: Release) -> str:
        """Return the reference of a bundle's image, by digest if it is pinned."""
        image = self.releases_file.bundle_image(release)
        return (self.digests or {}).get(image, image)

    @property
    def bundles(self) -> Path:
        return self.resolve(self.releases_file.bundles or "../bundles") / self.releases_file.package

    def bundle_folder(self, release: Release) -> Path:
        """Return BUNDLES/PACKAGE/VERSION, or BUNDLES/PACKAGE/NAME if two releases have the same version."""
        is_unique = len(self.releases_file.by_version[release.version]) == 1
        return self.bundles / (release.version if is_unique else self.releases_file.csv_name(release))

    def catalog_file(self, variant: Variant, suffix: str | None = None) -> Path:
        """Return the catalog of a variant, by default with the suffix that it has on disk, else YAML."""
        folder = self.folder / variant.name / self.releases_file.package
        existing = (s for s in CATALOG_SUFFIXES if (folder / f"catalog.{s}").exists())
        return folder / f"catalog.{suffix or next(existing, 'yaml')}"

    @cached_property
    def catalog_blobs(self) -> tuple[Blob, ...]:
        """The documents of all catalogs on disk. Of documents with the same name, the first is taken."""
        if self.imported_blobs is not None:
            return self.imported_blobs
        blobs: dict[tuple[str, str], Blob] = {}
        for file in map(self.catalog_file, self.releases_file.variants):
            try:
                documents = load_blobs(str(file), Sources()) if file.exists() else []
            except UnreadableInput as error:
                hint = "restore it with git, or delete it and run everpath generate"
                raise UnreadableInput(error.message, hint=hint, file=str(file)) from error
            for blob in documents:
                blobs.setdefault((str(blob.get("schema")), str(blob.get("name"))), blob)
        return tuple(blobs.values())

    def load_published_package(self, variant: Variant) -> Package:
        """Return the package as users have it: from the catalog on disk, else as it would be generated."""
        file = self.catalog_file(variant)
        if file.exists():
            package = load(str(file)).catalog.by_name.get(self.releases_file.package)
            if package is not None and package.channels:
                return package
        return catalog_package(self.releases_file, variant)

    def position(self, release: Release, key: str) -> str:
        """Return `file:line` of a key of a release."""
        return format_position(release.place.at(key), self.sources)


def open_project(file: str | None, unsaved: bytes | None = None, pins_file: str | None = None) -> Project:
    """Load the project of a releases.yaml, by default the one in the current folder.

    With `unsaved`, this content is parsed instead of the file's. Raises ReleasesError and UnreadableInput.
    """
    if pins_file is not None and not pins_file.strip():
        raise UsageError("--pin is empty", hint="omit it, or name a file of digests")
    path, sources = find_releases_file(file), Sources()
    releases = (
        load_releases(str(path), sources) if unsaved is None else parse_releases(unsaved, str(path), sources)
    )
    return Project(path, releases, sources, unsaved, pins_file=pins_file)


def find_releases_file(file: str | None) -> Path:
    """Return the releases.yaml that an option `--file` names, by default the one in the current folder."""
    if file is not None and not file.strip():
        raise UsageError("--file is empty", hint="omit it, or name a releases.yaml")
    if file is not None:
        path = Path(file)
        return path / "releases.yaml" if path.is_dir() else path
    for name in _DEFAULT_FILES:
        if Path(name).exists():
            return Path(name)
    raise UnreadableInput(
        "there is no catalog/releases.yaml in the current folder",
        hint="run everpath init to create one, or name another with --file",
        file=_DEFAULT_FILES[0],
    )


@contextmanager
def project_lock(project: Project, *, exclusive: bool, on_wait: Callable[[], object]) -> Iterator[None]:
    """Lock the project's folder, so that no bundle changes while its digest is computed.

    Runs that only read share the lock. `on_wait` is called before waiting for another process. Does nothing
    where folders cannot be locked (Windows, some network file systems).
    """
    try:
        import fcntl  # noqa: PLC0415 - Windows has none

        handle = os.open(project.folder, os.O_RDONLY)
    except (ImportError, OSError):
        yield
        return
    try:
        mode = fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH
        try:
            fcntl.flock(handle, mode | fcntl.LOCK_NB)
        except BlockingIOError:
            on_wait()
            fcntl.flock(handle, mode)
        except OSError:
            pass
        yield
    finally:
        os.close(handle)


def load_blobs(path: str, sources: Sources) -> list[Blob]:
    """Load the documents of a catalog. Raises UnreadableInput for what opm rejects."""
    try:
        return blobs.load_blobs(path, sources)
    except OpmError as opm_error:
        where = format_position(opm_error.place, sources) or path
        raise UnreadableInput(f"{where}: {opm_error.message}", hint=opm_error.fix, file=path) from opm_error
