"""Bundles before they are in a catalog: in the order of their versions, and whether they are complete."""

from __future__ import annotations

__all__ = ["by_version", "lacks_annotations", "tolerated"]

from collections.abc import Iterable

from everpath.model import Bundle
from everpath.versions import Version, VersionError, parse_tolerant


def tolerated(text: str | None) -> Version | None:
    """The version OLM v0 makes of a text, or None where it makes none."""
    try:
        return parse_tolerant(text or "")
    except VersionError:
        return None


def by_version(bundles: Iterable[Bundle]) -> list[tuple[Version, Bundle]]:
    """Bundles with a readable version, lowest first; equal ones by name."""
    read = ((tolerated(bundle.version), bundle) for bundle in bundles)
    known = [(version, bundle) for version, bundle in read if version is not None]
    return sorted(known, key=lambda pair: (pair[0].key, pair[1].name))


def lacks_annotations(bundle: Bundle) -> bool:
    """Whether a bundle's own folder does not say what it belongs to, which is reported where it is read."""
    return bundle.csv is not None and bundle.csv.annotations is None
