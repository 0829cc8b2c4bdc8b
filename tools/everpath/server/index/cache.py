"""A cache of indexes on disk, in the folder of EVERPATH_CACHE.

A cached index is used only if the catalog has the same bytes in the same files, the same code of everpath
built it, and the cache file is intact and writable only by this user (`loaders.bundle.kept_files`).
"""

from __future__ import annotations

__all__ = ["RegistryIndexCache"]

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from everpath.loaders.bundle import kept_files
from everpath.loaders.bundle.index_cache import IndexCache
from everpath.loaders.fingerprint import fingerprint
from everpath.server.index.model import Index

_SUFFIX: Final = "serving"


class _CachedIndex(msgspec.Struct, frozen=True, array_like=True):
    code_fingerprint: str
    catalog_digest: str
    index: Index


class RegistryIndexCache:
    """Indexes by the path of their catalog."""

    def __init__(self, cache: IndexCache, code_fingerprint: str) -> None:
        self._cache = cache
        self._code_fingerprint = code_fingerprint

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> RegistryIndexCache | None:
        """Return None if the cache is off, or if everpath's source files changed in the last seconds."""
        cache = IndexCache.of(environment)
        if cache is None:
            return None
        code_fingerprint = fingerprint(cache.clock())
        return cls(cache, code_fingerprint) if code_fingerprint is not None else None

    def load(self, path: str, catalog_digest: str) -> Index | None:
        """Return the cached index of the catalog with this digest."""
        try:
            cached = msgspec.msgpack.decode(kept_files.load(self._file(path)), type=_CachedIndex)
        except (OSError, ValueError):
            return None
        is_valid = (cached.code_fingerprint, cached.catalog_digest) == (
            self._code_fingerprint,
            catalog_digest,
        )
        return cached.index if is_valid else None

    def save(self, path: str, catalog_digest: str, index: Index) -> None:
        """Write an index to the cache. A failure to write is ignored."""
        try:
            payload = msgspec.msgpack.encode(_CachedIndex(self._code_fingerprint, catalog_digest, index))
        except UnicodeEncodeError:
            # The name of a file is not UTF-8.
            return
        kept_files.save(self._file(path), payload, self._cache.clock())

    def _file(self, path: str) -> Path:
        return self._cache.file(path, kind=_SUFFIX)
