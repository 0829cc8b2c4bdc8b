"""Loads all files of a folder of package manifests, for commands that copy or convert them."""

from __future__ import annotations

__all__ = ["PackageFolder", "load_package_folder", "unreadable_file"]

from collections.abc import Mapping
from dataclasses import dataclass
from os import sep
from typing import Final

from everpath.errors import UnreadableInput
from everpath.loaders.bundle.bundle_contents import load_manifest
from everpath.loaders.bundle.detect import is_package_file
from everpath.loaders.bundle.folder_reader import FolderReader, join
from everpath.loaders.bundle.summaries import FileProblem
from everpath.loaders.packagemanifest.package_file import find_yaml_files
from everpath.loaders.source_positions import format_position
from everpath.loaders.sources import Sources
from everpath.model import OpmError, Place, Problem
from everpath.model.bundle_contents import Manifest, PackageManifest
from everpath.parsing.first_document import first_document

_EXPECTED: Final = "choose a folder with a package file"


@dataclass(frozen=True, slots=True)
class PackageFolder:
    """Package files, manifests by subfolder ("" for the folder itself), and files that cannot be read.

    Other YAML files are left out.
    """

    reader: FolderReader
    package_files: tuple[PackageManifest, ...]
    folders: Mapping[str, tuple[Manifest, ...]]
    problems: tuple[Problem, ...] = ()

    @property
    def root(self) -> str:
        return self.reader.root

    def relative_path(self, place: Place) -> str:
        """The path of a file relative to the folder."""
        return place.file.removeprefix(self.root + sep)

    def read(self, place: Place) -> bytes:
        """Return the bytes of a file. Raises `UnreadableInput`."""
        return self.reader.read(self.relative_path(place))

    @property
    def package_file(self) -> PackageManifest:
        """The only package file. Raises `OpmError` if there is none or more than one."""
        if not self.package_files:
            raise OpmError(
                f"{self.root} contains no package file",
                Place(self.root),
                "add PACKAGE.package.yaml with packageName, and channels with name and currentCSV",
            )
        if len(self.package_files) > 1:
            first, second = (found.place for found in self.package_files[:2])
            raise OpmError(
                f"a second package file: the first is {self.relative_path(first)}",
                second,
                "use a separate folder for each package",
            )
        return self.package_files[0]


def load_package_folder(path: str, *, is_lenient: bool = False) -> PackageFolder:
    """Load a folder. Cost: every file is parsed.

    Raises `UnreadableInput` if the folder cannot be listed or, unless `is_lenient`, a file cannot be read.
    """
    path = path.rstrip(sep) or path
    reader = FolderReader(path, expected=_EXPECTED)
    reader.list_folder("")
    unlisted: list[FileProblem] = []
    package_files: list[PackageManifest] = []
    folders: dict[str, list[Manifest]] = {}
    problems: list[Problem] = []
    for file in find_yaml_files(reader, unlisted):
        if is_package_file(reader, file):
            place = Place(join(path, file))
            package_files.append(PackageManifest(place, first_document(reader.read(file)).value))
            continue
        match load_manifest(reader, file):
            case Problem() as problem:
                problems.append(problem)
            case Manifest() as manifest:
                folders.setdefault(file.rpartition(sep)[0], []).append(manifest)
    problems += (Problem(n.kind, Place(join(path, n.file)), n.message, n.fix) for n in unlisted)
    if problems and not is_lenient:
        raise unreadable_file(problems[0])
    found = {folder: tuple(manifests) for folder, manifests in sorted(folders.items())}
    return PackageFolder(reader, tuple(package_files), found, tuple(problems))


def unreadable_file(problem: Problem) -> UnreadableInput:
    """Convert a problem of a file to an error."""
    file = problem.place.file
    position = format_position(problem.place, Sources())
    hint = problem.fix or "fix it, or remove it from the folder"
    return UnreadableInput(f"{position}: {problem.message}", hint=hint, file=file)
