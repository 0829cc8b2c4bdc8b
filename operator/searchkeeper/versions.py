"""Releases of the operator, and versions of OpenSearch."""

from __future__ import annotations

__all__ = ["Release", "is_newer", "parse"]

from dataclasses import dataclass
from functools import lru_cache

from semver import Version


@dataclass(frozen=True, slots=True)
class Release:
    """A release of the operator: its configuration versions, and the OpenSearch versions it may run."""

    version: str
    configurations: tuple[int, ...]
    oldest_engine: str
    newest_engine: str


@lru_cache(maxsize=256)
def parse(text: str) -> Version | None:
    """Return the version, or None for text that is none. Prereleases and builds are not accepted."""
    try:
        version = Version.parse(text)
    except (TypeError, ValueError):
        return None
    return version if version.prerelease is None and version.build is None else None


@lru_cache(maxsize=1024)
def is_newer(version: str, other: str) -> bool:
    """Whether `version` is newer than `other`. Raises ValueError when one of them is no version."""
    return Version.parse(version) > Version.parse(other)
