"""Bundles of a folder or repository: their order by version, and whether they have annotations."""

from __future__ import annotations

__all__ = ["lacks_annotations", "sort_by_version"]

from collections.abc import Iterable

from everpath.model import Bundle
from everpath.versions import Version, parse_tolerant_or_none


def sort_by_version(bundles: Iterable[Bundle]) -> list[tuple[Version, Bundle]]:
    """Return the bundles that have a valid version, lowest first; equal versions by name."""
    versions = ((parse_tolerant_or_none(bundle.version), bundle) for bundle in bundles)
    valid = [(version, bundle) for version, bundle in versions if version is not None]
    return sorted(valid, key=lambda pair: (pair[0].key, pair[1].name))


def lacks_annotations(bundle: Bundle) -> bool:
    """Return whether a bundle folder has no annotations.yaml. The loader reports that."""
    return bundle.csv is not None and bundle.csv.annotations is None
