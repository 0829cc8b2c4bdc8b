"""A folder of package manifests, file by file: what stands in which of its folders.

Upgrades need a glance at the CSVs (`loaders.bundle.package_manifest`); whoever moves files has to know what
each of them is.
"""

from __future__ import annotations

__all__ = ["PackageFolder", "load_package_folder", "unreadable_file"]

from collections.abc import Mapping
from dataclasses import dataclass
from os import sep
from typing import Final

from everpath.errors import UnreadableInput
from everpath.loaders import source_positions
from everpath.loaders.bundle.bundle_contents import load_manifest
from everpath.loaders.bundle.detect import is_package_file
from everpath.loaders.bundle.folder_reader import FolderReader, join
from everpath.loaders.bundle.summaries import Note
from everpath.loaders.packagemanifest.package_file import find_yaml_files
from everpath.loaders.sources import Sources
from everpath.model import OpmError, Place, Problem
from everpath.model.bundle_contents import Manifest, PackageManifest
from everpath.parsing.first_document import first_document

#: What may be given where package manifests are read.
_MANIFESTS: Final = "package manifests are a folder with a package file"


@dataclass(frozen=True, slots=True)
class PackageFolder:
    """Manifests by the folder they stand in, "" for the outermost, each folder's by file name.

    A file that is YAML and neither a manifest nor a package file is in none of them. Problems are files that
    cannot be read.
    """

    reader: FolderReader
    package_files: tuple[PackageManifest, ...]
    folders: Mapping[str, tuple[Manifest, ...]]
    problems: tuple[Problem, ...] = ()

    @property
    def root(self) -> str:
        return self.reader.root

    def name_of(self, place: Place) -> str:
        """The path of a file from the folder."""
        return place.file.removeprefix(self.root + sep)

    def content(self, place: Place) -> bytes:
        """The bytes of a file. Raises `UnreadableInput`."""
        return self.reader.read(self.name_of(place))

    @property
    def package_file(self) -> PackageManifest:
        """The only one. Raises `OpmError` where there is none, or more than that."""
        if not self.package_files:
            raise OpmError(
                f"no file of {self.root} is a package file",
                Place(self.root),
                "add PACKAGE.package.yaml: packageName, and channels with name and currentCSV",
            )
        if len(self.package_files) > 1:
            first, second = (found.place for found in self.package_files[:2])
            raise OpmError(
                f"a second package file: there is {self.name_of(first)} already",
                second,
                "give each package a folder of its own",
            )
        return self.package_files[0]


def load_package_folder(path: str, *, is_lenient: bool = False) -> PackageFolder:
    """Everything in a folder that is YAML. Cost: every file is parsed.

    Raises `UnreadableInput` for a folder that cannot be listed, and for a file that cannot be read unless the
    reading is lenient.
    """
    path = path.rstrip(sep) or path
    reader = FolderReader(path, expected=_MANIFESTS)
    reader.list_folder("")
    notes: list[Note] = []
    package_files: list[PackageManifest] = []
    folders: dict[str, list[Manifest]] = {}
    problems: list[Problem] = []
    for file in find_yaml_files(reader, notes):
        if is_package_file(reader, file):
            package_files.append(_package_file(reader, file))
            continue
        match load_manifest(reader, file):
            case Problem() as problem:
                problems.append(problem)
            case Manifest() as manifest:
                folders.setdefault(file.rpartition(sep)[0], []).append(manifest)
    problems += (Problem(n.kind, Place(join(path, n.file)), n.message, n.fix) for n in notes)
    if problems and not is_lenient:
        raise unreadable_file(problems[0])
    found = {folder: tuple(manifests) for folder, manifests in sorted(folders.items())}
    return PackageFolder(reader, tuple(package_files), found, tuple(problems))


def _package_file(reader: FolderReader, file: str) -> PackageManifest:
    return PackageManifest(Place(join(reader.root, file)), first_document(reader.read(file)).value)


def unreadable_file(problem: Problem) -> UnreadableInput:
    """What is wrong with a file, as an error that ends the run."""
    file = problem.place.file
    hint = problem.fix or "mend it, or take it out of the folder"
    return UnreadableInput(f"{_line_of(problem.place)}: {problem.message}", hint=hint, file=file)


def _line_of(place: Place) -> str:
    """`file:line`; the file alone where it cannot be read, or is none."""
    try:
        at = source_positions.locate(place, Sources())
    except UnreadableInput:
        return place.file
    return f"{at.file}:{at.line}" if at.line else at.file
