"""The summaries of a repository's packages, cached from one run to the next.

A cached summary is used while every file and folder that it was read from has the same stamp
(`folder_reader.FileStamp`). There is one cache file for each repository, or for each partition of it.
"""

from __future__ import annotations

__all__ = ["PackageIndex", "PackageRecord", "load_records", "save_records"]

from collections.abc import Mapping
from functools import cached_property
from typing import Final

import msgspec

from everpath import __version__
from everpath.file_cache import FileCache
from everpath.loaders.bundle.folder_reader import FileStamp, FolderReader, is_unchanged, join
from everpath.loaders.bundle.summaries import PackageSummary
from everpath.loaders.partition import WHOLE, Partition

# Increase this with every change of the summaries or of how they are read.
_FORMAT: Final = 3


class PackageRecord(msgspec.Struct, frozen=True, array_like=True):
    """A package, and the stamps of everything it was read from, by path below its folder."""

    summary: PackageSummary
    stamps: dict[str, FileStamp]


class PackageIndex:
    """The packages of one repository: the cached ones, and in `records` those that are valid now."""

    def __init__(self, cache: FileCache | None, root: str, partition: Partition = WHOLE) -> None:
        self._cache = cache
        self._root = root
        self._partition = partition
        self.records: dict[str, PackageRecord] = {}

    @cached_property
    def _cached_records(self) -> Mapping[str, PackageRecord]:
        return load_records(self._cache, self._root, self._partition) if self._cache else {}

    @property
    def now_ns(self) -> int:
        """The time by the clock of the cache; 0 without a cache, so that nothing is old enough to be kept."""
        return self._cache.clock() if self._cache else 0

    def find(self, name: str) -> PackageSummary | None:
        """Return the cached summary of a package whose folder has not changed."""
        record = self._cached_records.get(name)
        if record is None or not is_unchanged(join(self._root, name), record.stamps.items()):
            return None
        self.records[name] = record
        return record.summary

    def add(self, name: str, summary: PackageSummary, reader: FolderReader, started_ns: int) -> None:
        """Add a package that was read, unless its files may have changed while they were read."""
        if reader.is_cacheable(started_ns):
            self.records[name] = PackageRecord(summary, reader.stamps)

    def save(self) -> None:
        """Write the index if it differs from the cached one."""
        if self._cache is None:
            return
        is_same = all(self._cached_records.get(name) is record for name, record in self.records.items())
        if not is_same or len(self.records) < len(self._cached_records):
            save_records(self._cache, self._root, self.records, self._partition)


def load_records(cache: FileCache, root: str, partition: Partition = WHOLE) -> dict[str, PackageRecord]:
    """Return the cached packages of a repository; none if the cache file is absent or of another version."""
    payload = cache.load(root, _kind(partition), (_FORMAT, __version__))
    if payload is None:
        return {}
    try:
        return msgspec.msgpack.decode(payload, type=dict[str, PackageRecord])
    except ValueError:
        return {}


def save_records(
    cache: FileCache, root: str, records: Mapping[str, PackageRecord], partition: Partition = WHOLE
) -> None:
    """Write the packages of a repository to the cache, except those with a file name that is not UTF-8."""
    try:
        payload = msgspec.msgpack.encode(records)
    except UnicodeEncodeError:
        payload = msgspec.msgpack.encode(dict(filter(_is_encodable, records.items())))
    cache.save(root, _kind(partition), (_FORMAT, __version__), payload)


def _kind(partition: Partition) -> str:
    return "index" if partition == WHOLE else f"{partition.number}-of-{partition.total}.index"


def _is_encodable(item: tuple[str, PackageRecord]) -> bool:
    try:
        msgspec.msgpack.encode(item)
    except UnicodeEncodeError:
        return False
    return True
