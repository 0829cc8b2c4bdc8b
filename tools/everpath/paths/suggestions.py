"""The bundle that a mistyped name or version was probably meant to be."""

from __future__ import annotations

__all__ = ["closest_match", "neighbouring_versions"]

from collections.abc import Mapping

from everpath.simulate import find_installed
from everpath.versions import Version, VersionError, parse_tolerant
from everpath.wording import NameSuggestions


def closest_match(text: str, known: Mapping[str, str | None]) -> str | None:
    """Return the name or version of a known bundle that is closest to `text`.

    A version is compared by distance, and a name that ends with a version with names of the same prefix;
    anything else by spelling. `known` maps names to versions. Cost: the names.
    """
    wanted, prefix = _version_and_prefix(text)
    if wanted is not None:
        same_prefix = {name: its for name, its in known.items() if name.startswith(prefix)}
        versions = {n: its for n, v in sorted(same_prefix.items()) if (its := _version(v)) is not None}
        if versions:
            nearest = min(versions, key=lambda name: _distance(versions[name], wanted))
            return nearest if prefix else same_prefix[nearest]
    words = {*known, *(its for its in known.values() if its)}
    return NameSuggestions(words).most_similar(text)


def neighbouring_versions(text: str, known: Mapping[str, str | None]) -> tuple[str, ...]:
    """Return the next lower and the next higher version, else the closest match. Cost: the names, sorted."""
    wanted, prefix = _version_and_prefix(text)
    if wanted is not None:
        versions = {
            n: v for n, its in known.items() if n.startswith(prefix) and (v := _version(its)) is not None
        }
        below = max((n for n in versions if versions[n] <= wanted), key=versions.__getitem__, default=None)
        above = min((n for n in versions if versions[n] > wanted), key=versions.__getitem__, default=None)
        found = tuple(name for name in (below, above) if name is not None)
        if found:
            return found if prefix else tuple(str(known[name]) for name in found)
    match = closest_match(text, known)
    return (match,) if match is not None else ()


def _version_and_prefix(text: str) -> tuple[Version | None, str]:
    """Split a name that ends with a version; the prefix of a plain version is empty."""
    version = find_installed((), text)[0].version
    prefix = text.removesuffix(version) if version is not None and _version(text) is None else ""
    return _version(version), prefix


def _distance(one: Version, other: Version) -> tuple[int, int, int, bool]:
    return (
        abs(one.major - other.major),
        abs(one.minor - other.minor),
        abs(one.patch - other.patch),
        one != other,
    )


def _version(text: str | None) -> Version | None:
    try:
        return parse_tolerant(text) if text else None
    except VersionError:
        return None
