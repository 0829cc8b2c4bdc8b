"""What was found in a repository, kept for the next time: a folder that has not changed is not judged again.

A verdict is kept with the stamps of all that was looked at to reach it (`bundles.visits`). It is believed
only while they hold, for the same question, asked by the same sources (`formats.fingerprint`). Every rule
finds the same in a package alone as in the whole catalog; so the verdict on a folder stands by itself, unless
another folder speaks about the same package. On such folders none is kept.
"""

from __future__ import annotations

__all__ = ["Verdict", "Verdicts"]

import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from hashlib import blake2b
from typing import Final

import msgspec

from everpath.loaders.bundle import kept_files
from everpath.loaders.bundle.folder_reader import FileStamp, is_unchanged, join
from everpath.loaders.bundle.index_cache import IndexCache
from everpath.loaders.fingerprint import fingerprint
from everpath.model import Catalog, Package, Place
from everpath.rules.findings import Finding

_KIND: Final = "findings"


class Verdict(msgspec.Struct, frozen=True, array_like=True):
    """What was found in a folder and how much there was, and all that was looked at, relative to the folder.

    Packages are named with their channels.
    """

    stamps: Mapping[str, FileStamp]
    packages: Mapping[str, tuple[str, ...]]
    entries: int
    findings: tuple[Finding, ...]

    @property
    def channels(self) -> int:
        return sum(map(len, self.packages.values()))


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    """The verdicts on folders, by name. They stay packed until they are asked for."""

    question: bytes = b""
    folders: dict[str, msgspec.Raw] = {}


_VERDICT: Final = msgspec.msgpack.Decoder(Verdict)


class Verdicts:
    """The verdicts on the folders of one repository, and which of them still stand."""

    def __init__(self, cache: IndexCache, path: str, asked: tuple[object, ...]) -> None:
        self._cache = cache
        self._asked = asked
        self._file = cache.file(path, kind=_KIND)
        self._question = b""
        self._root = ""
        self._kept = _Kept()
        self._seen: Mapping[str, Mapping[str, FileStamp]] = {}
        self.standing: dict[str, Verdict] = {}

    @classmethod
    def of(cls, cache: IndexCache, path: str, question: object) -> Verdicts | None:
        """Those on a path, for a question: all that an answer depends on beside the files and their names.

        None where nobody can tell whether the sources of everpath are those of the last time.
        """
        sources = fingerprint(cache.clock())
        return cls(cache, path, (question, sources)) if sources else None

    def enter(self, root: str) -> None:
        """Look for the verdicts on the folders in a root, which is the path or a folder in it."""
        self._root = root
        self._question = _digest((root, *self._asked))
        try:
            kept = msgspec.msgpack.decode(kept_files.load(self._file), type=_Kept)
        except (OSError, ValueError):
            return
        if kept.question == self._question:
            self._kept = kept

    def stands(self, name: str) -> bool:
        """Whether the verdict on a folder is kept, and nothing it was reached by has changed since."""
        packed = self._kept.folders.get(name)
        verdict = _unpacked(packed) if packed is not None else None
        if verdict is None or not is_unchanged(join(self._root, name), verdict.stamps.items()):
            return False
        self.standing[name] = verdict
        return True

    def note(self, seen: Mapping[str, Mapping[str, FileStamp]]) -> None:
        """Remember what was looked at in folders that have to be judged, and that had settled by then."""
        self._seen = seen

    def reached(self, catalog: Catalog, findings: Iterable[Finding]) -> dict[str, bytes]:
        """The verdicts on the folders that were noted, packed, once all they say was judged."""
        folders = _Folders(self._root, self._seen)
        for package in catalog.packages:
            folders.add_package(package)
        for finding in findings:
            folders.add_finding(finding)
        return dict(folders.packed())

    def keep(self, standing: Collection[str], reached: Mapping[str, bytes]) -> None:
        """Keep the verdicts that stand, and those reached; nothing is written if they are the ones kept."""
        known = self._kept.folders
        folders = {name: packed for name, packed in known.items() if name in standing}
        if reached or len(folders) < len(known):
            folders |= {name: msgspec.Raw(packed) for name, packed in reached.items()}
            payload = msgspec.msgpack.encode(_Kept(self._question, folders))
            kept_files.save(self._file, payload, self._cache.clock())


class _Folders:
    """What was judged, sorted by the folders it is about."""

    def __init__(self, root: str, seen: Mapping[str, Mapping[str, FileStamp]]) -> None:
        self._prefix = root + os.sep
        self._seen = seen
        self._homes: dict[str, str | None] = {}
        self._packages: dict[str | None, list[Package]] = {}
        self._findings: dict[str | None, list[Finding]] = {}
        self._entangled: set[str | None] = set()

    def add_package(self, package: Package) -> None:
        folders = {self._folder(place) for place in _places(package)}
        if len(folders) > 1:
            self._entangled |= folders
        for folder in folders:
            self._homes[package.name] = folder
            self._packages.setdefault(folder, []).append(package)

    def add_finding(self, finding: Finding) -> None:
        folder = self._folder(finding.place)
        home = self._homes.get(finding.package or "", folder)
        if folder != home:
            self._entangled |= {folder, home}
        self._findings.setdefault(folder, []).append(finding)

    def packed(self) -> Iterator[tuple[str, bytes]]:
        """The verdicts that stand by themselves and are text; file systems take any bytes for a name."""
        if None in self._packages.keys() | self._findings.keys():
            return
        for name in self._seen:
            if name not in self._entangled:
                with suppress(UnicodeEncodeError):
                    name.encode()
                    yield name, msgspec.msgpack.encode(self._verdict(name))

    def _verdict(self, name: str) -> Verdict:
        packages = self._packages.get(name, ())
        return Verdict(
            self._seen[name],
            {package.name: tuple(channel.name for channel in package.channels) for package in packages},
            sum(len(channel.entries) for package in packages for channel in package.channels),
            tuple(self._findings.get(name, ())),
        )

    def _folder(self, place: Place) -> str | None:
        """The folder of a root that a place is in; None if it is in none of them."""
        if "" in self._seen:
            # The root is the folder of a package.
            return ""
        if not place.file.startswith(self._prefix):
            return None
        return place.file[len(self._prefix) :].partition(os.sep)[0]


def _unpacked(packed: msgspec.Raw) -> Verdict | None:
    """The verdict again; None if a finding of it is of other types than it should be."""
    try:
        return _VERDICT.decode(packed)
    except msgspec.ValidationError:
        return None


def _places(package: Package) -> Iterator[Place]:
    yield from (declaration.place for declaration in package.declarations)
    yield from (channel.place for channel in package.channels)
    yield from (bundle.place for bundle in package.bundles)
    yield from (deprecations.place for deprecations in package.deprecations)


def _digest(asked: object) -> bytes:
    return blake2b(repr(asked).encode("utf-8", "surrogatepass"), digest_size=32).digest()
