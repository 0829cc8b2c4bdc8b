"""Indexes of catalogs kept from one start of a server to the next, in the folder that EVERPATH_CACHE names.

An index is believed only if it was made of the same bytes in the same files by the same everpath, and only
from a file that is ours and whole (`bundles.kept_files`). Catalogs that are refused are not kept.
"""

from __future__ import annotations

__all__ = ["KeptIndexes"]

from collections.abc import Mapping
from pathlib import Path
from typing import Final

import msgspec

from everpath.loaders.bundle import kept_files
from everpath.loaders.bundle.index_cache import IndexCache
from everpath.loaders.fingerprint import fingerprint
from everpath.server.index.model import Index

_KIND: Final = "serving"


class _Kept(msgspec.Struct, frozen=True, array_like=True):
    maker: str
    digest: str
    index: Index


class KeptIndexes:
    """The indexes below one folder, one a path."""

    def __init__(self, cache: IndexCache, maker: str) -> None:
        self._cache = cache
        self._maker = maker

    @classmethod
    def of(cls, environment: Mapping[str, str]) -> KeptIndexes | None:
        """Those an environment asks for, or None if it wants none, or sources are being edited."""
        cache = IndexCache.of(environment)
        maker = fingerprint(cache.clock()) if cache is not None else None
        return cls(cache, maker) if cache is not None and maker is not None else None

    def load(self, path: str, digest: str) -> Index | None:
        """The index of a catalog with this digest, if one was kept."""
        try:
            kept = msgspec.msgpack.decode(kept_files.load(self._file(path)), type=_Kept)
        except (OSError, ValueError):
            return None
        return kept.index if (kept.maker, kept.digest) == (self._maker, digest) else None

    def save(self, path: str, digest: str, index: Index) -> None:
        """Keep an index; that it cannot be kept is no error."""
        try:
            payload = msgspec.msgpack.encode(_Kept(self._maker, digest, index))
        except UnicodeEncodeError:
            # A name of a file that is no text.
            return
        kept_files.save(self._file(path), payload, self._cache.clock())

    def _file(self, path: str) -> Path:
        return self._cache.file(path, kind=_KIND)
