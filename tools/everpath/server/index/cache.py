"""A cache of indexes on disk, in the folder of EVERPATH_CACHE.

A cached index is used only if the catalog has the same bytes in the same files, the same code of everpath
built it, and the cache file is intact and writable only by this user (`everpath.file_cache`).
"""

from __future__ import annotations

__all__ = ["RegistryIndexCache"]

from collections.abc import Mapping
from typing import Final

import msgspec

from everpath.file_cache import FileCache
from everpath.loaders.code_fingerprint import code_fingerprint
from everpath.server.index.model import Index

_SUFFIX: Final = "serving"


class RegistryIndexCache:
    """Indexes by the path of their catalog."""

    def __init__(self, cache: FileCache, code_fingerprint: str) -> None:
        self._cache = cache
        self._code_fingerprint = code_fingerprint

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> RegistryIndexCache | None:
        """Return None if the cache is off, or if everpath's source files changed in the last seconds."""
        cache = FileCache.from_environment(environment)
        if cache is None:
            return None
        fingerprint = code_fingerprint(cache.clock())
        return cls(cache, fingerprint) if fingerprint is not None else None

    def load(self, path: str, catalog_digest: str) -> Index | None:
        """Return the cached index of the catalog with this digest."""
        payload = self._cache.load(path, _SUFFIX, (self._code_fingerprint, catalog_digest))
        try:
            return msgspec.msgpack.decode(payload, type=Index) if payload is not None else None
        except ValueError:
            return None

    def save(self, path: str, catalog_digest: str, index: Index) -> None:
        """Write an index to the cache. A failure to write is ignored."""
        try:
            payload = msgspec.msgpack.encode(index)
        except UnicodeEncodeError:
            # The name of a file is not UTF-8.
            return
        self._cache.save(path, _SUFFIX, (self._code_fingerprint, catalog_digest), payload)
