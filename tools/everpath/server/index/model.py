"""The index of a catalog: everything the registry API returns except manifests.

Manifests are nine tenths of a catalog and only calls for single bundles return them. The index has their
position in the files instead (`DocumentRange`), so it is small and loads quickly from the cache.
"""

from __future__ import annotations

__all__ = [
    "VALID_NAME",
    "CustomDocument",
    "DocumentRange",
    "Index",
    "IndexedChannel",
    "IndexedEntry",
    "IndexedPackage",
    "LocatedEntry",
]

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

import msgspec

from everpath.model import Gvk

#: The schemas and packages of custom documents that opm accepts.
VALID_NAME: Final = re.compile(r"[a-zA-Z0-9][a-zA-Z0-9._-]*")


class DocumentRange(msgspec.Struct, frozen=True, array_like=True):
    """The bytes of a file from the start of a document to the start of the next one."""

    file: str
    start: int
    end: int


class IndexedEntry(msgspec.Struct, frozen=True, array_like=True):
    """An entry of a channel and its bundle.

    `message` is the serialised `Bundle` of the registry API without manifests.
    """

    name: str
    replaces: str
    skips: tuple[str, ...]
    has_image: bool
    message: bytes
    provided_apis: tuple[Gvk, ...]


class IndexedChannel(msgspec.Struct, frozen=True, array_like=True):
    """A channel with its entries by name. `olm_order` has the names as OLM v0 prefers them, head first."""

    name: str
    head: str
    deprecation: str | None
    entries: dict[str, IndexedEntry]
    olm_order: tuple[str, ...]


class IndexedPackage(msgspec.Struct, frozen=True, array_like=True):
    """A package with its channels by name, and where its document and those of its bundles are."""

    name: str
    default_channel: str
    deprecation: str | None
    document: DocumentRange
    channels: dict[str, IndexedChannel]
    bundles: dict[str, DocumentRange]


class CustomDocument(msgspec.Struct, frozen=True, array_like=True):
    """A document with a schema that is not one of OLM's."""

    schema: str
    package: str
    document: DocumentRange


class LocatedEntry(NamedTuple):
    """An entry with its package and its channel."""

    package: IndexedPackage
    channel: IndexedChannel
    entry: IndexedEntry


class Index(msgspec.Struct, frozen=True, array_like=True):
    """A catalog. Packages, channels and entries are sorted by name.

    `is_fully_parsed` is False if values of `olm.csv.metadata` were skipped and may be invalid.
    """

    packages: dict[str, IndexedPackage]
    custom_documents: tuple[CustomDocument, ...]
    is_fully_parsed: bool = False

    def entries(self) -> Iterator[LocatedEntry]:
        """Yield every entry of every channel of every package."""
        for package in self.packages.values():
            for channel in package.channels.values():
                for entry in channel.entries.values():
                    yield LocatedEntry(package, channel, entry)
