"""Findings of a repository's package folders, cached from one run to the next.

The findings of a folder are reused while every file and folder that they depend on has the same stamp
(`folder_reader.FileStamp`), for the same selection of rules and the same code of everpath
(`loaders.fingerprint`). Every rule finds the same in one package as in the whole catalog, so the findings of
a folder are independent of other folders, unless two folders declare the same package: those are not cached.
"""

from __future__ import annotations

__all__ = ["FolderFindings", "LintCache"]

import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Final

import msgspec

from everpath.file_cache import FileCache
from everpath.loaders.bundle.folder_reader import FileStamp, is_unchanged, join
from everpath.loaders.code_fingerprint import code_fingerprint
from everpath.model import Catalog, Package, Place
from everpath.rules.findings import Finding

_KIND: Final = "findings"


class FolderFindings(msgspec.Struct, frozen=True, array_like=True):
    """The findings of a package folder, the stamps of its files, its packages with their channels."""

    stamps: Mapping[str, FileStamp]
    packages: Mapping[str, tuple[str, ...]]
    entries: int
    findings: tuple[Finding, ...]

    @property
    def channels(self) -> int:
        return sum(map(len, self.packages.values()))


_DECODER: Final = msgspec.msgpack.Decoder(FolderFindings)


class LintCache:
    """The cached findings of one repository, by package folder. `reused` are those that are still valid."""

    def __init__(self, cache: FileCache, path: str, question: tuple[object, ...]) -> None:
        self._cache = cache
        self._path = path
        self._question = question
        self._root = ""
        # Each folder stays encoded until it is looked up.
        self._cached: dict[str, msgspec.Raw] = {}
        self._stamps: Mapping[str, Mapping[str, FileStamp]] = {}
        self.reused: dict[str, FolderFindings] = {}

    @classmethod
    def for_path(cls, cache: FileCache, path: str, question: object) -> LintCache | None:
        """The cache for a path. `question` is everything that findings depend on besides the files.

        Returns None if everpath's own code cannot be identified.
        """
        code = code_fingerprint(cache.clock())
        return cls(cache, path, (question, code)) if code else None

    def skip_unchanged(self, root: str, names: Sequence[str]) -> frozenset[str]:
        """Reuse the findings of the folders in `root` that have not changed, and return their names."""
        self._root = root
        payload = self._cache.load(self._path, _KIND, self._key)
        if payload is not None:
            with suppress(ValueError):
                self._cached = msgspec.msgpack.decode(payload, type=dict[str, msgspec.Raw])
        for name in names:
            found = self._decode(name)
            if found is not None and is_unchanged(join(root, name), found.stamps.items()):
                self.reused[name] = found
        return frozenset(self.reused)

    def record_stamps(self, stamps: Mapping[str, Mapping[str, FileStamp]]) -> None:
        """Record the stamps of the folders that were read, and are old enough to be cached."""
        self._stamps = stamps

    def encode(self, catalog: Catalog, findings: Iterable[Finding]) -> dict[str, bytes]:
        """Encode the findings of the folders that were read, by folder name."""
        folders = _FindingsByFolder(self._root, self._stamps)
        for package in catalog.packages:
            folders.add_package(package)
        for finding in findings:
            folders.add_finding(finding)
        return dict(folders.encode())

    def save(self, reused: Collection[str], encoded: Mapping[str, bytes]) -> None:
        """Write the reused and the new findings, unless nothing changed."""
        folders = {name: raw for name, raw in self._cached.items() if name in reused}
        if encoded or len(folders) < len(self._cached):
            folders |= {name: msgspec.Raw(content) for name, content in encoded.items()}
            self._cache.save(self._path, _KIND, self._key, msgspec.msgpack.encode(folders))

    @property
    def _key(self) -> tuple[object, ...]:
        return (self._root, *self._question)

    def _decode(self, name: str) -> FolderFindings | None:
        raw = self._cached.get(name)
        try:
            return _DECODER.decode(raw) if raw is not None else None
        except msgspec.ValidationError:
            return None


class _FindingsByFolder:
    """Packages and findings by the package folder that they belong to."""

    def __init__(self, root: str, stamps: Mapping[str, Mapping[str, FileStamp]]) -> None:
        self._prefix = root + os.sep
        self._stamps = stamps
        self._folder_of_package: dict[str, str | None] = {}
        self._packages: dict[str | None, list[Package]] = {}
        self._findings: dict[str | None, list[Finding]] = {}
        self._dependent: set[str | None] = set()

    def add_package(self, package: Package) -> None:
        folders = {self._folder(place) for place in _places(package)}
        if len(folders) > 1:
            self._dependent |= folders
        for folder in folders:
            self._folder_of_package[package.name] = folder
            self._packages.setdefault(folder, []).append(package)

    def add_finding(self, finding: Finding) -> None:
        folder = self._folder(finding.place)
        package_folder = self._folder_of_package.get(finding.package or "", folder)
        if folder != package_folder:
            self._dependent |= {folder, package_folder}
        self._findings.setdefault(folder, []).append(finding)

    def encode(self) -> Iterator[tuple[str, bytes]]:
        """Yield each independent folder. Folders with names that are not UTF-8 are left out."""
        if None in self._packages.keys() | self._findings.keys():
            return
        for name, stamps in self._stamps.items():
            if name in self._dependent:
                continue
            packages = self._packages.get(name, ())
            found = FolderFindings(
                stamps,
                {package.name: tuple(channel.name for channel in package.channels) for package in packages},
                sum(len(channel.entries) for package in packages for channel in package.channels),
                tuple(self._findings.get(name, ())),
            )
            with suppress(UnicodeEncodeError):
                name.encode()
                yield name, msgspec.msgpack.encode(found)

    def _folder(self, place: Place) -> str | None:
        """The package folder of a place; None if it is outside the root."""
        if "" in self._stamps:
            # The root itself is the package folder.
            return ""
        if not place.file.startswith(self._prefix):
            return None
        return place.file[len(self._prefix) :].partition(os.sep)[0]


def _places(package: Package) -> Iterator[Place]:
    yield from (declaration.place for declaration in package.declarations)
    yield from (channel.place for channel in package.channels)
    yield from (bundle.place for bundle in package.bundles)
    yield from (deprecations.place for deprecations in package.deprecations)
