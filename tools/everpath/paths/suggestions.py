"""What somebody may have meant: of versions the nearest one, of other words the one that is spelled alike."""

from __future__ import annotations

__all__ = ["nearby", "neighbours"]

from collections.abc import Mapping
from difflib import get_close_matches

from everpath.simulate import find_installed
from everpath.versions import Version, VersionError, parse_tolerant


def nearby(text: str, known: Mapping[str, str | None]) -> str | None:
    """Of bundles, by name with their versions, the name or the version that a word comes nearest to.

    A name that ends with a version is compared with those that begin as it does. Cost: the names.
    """
    meant = find_installed((), text)[0].version
    version = _version(meant)
    if version is not None and meant is not None:
        stem = text.removesuffix(meant) if _version(text) is None else ""
        alike = {name: its for name, its in known.items() if name.startswith(stem)}
        if (near := _nearest(version, alike)) is not None:
            return near if stem else alike[near]
    words = {*known, *(its for its in known.values() if its)}
    return next(iter(get_close_matches(text, sorted(words), n=1)), None)


def neighbours(text: str, known: Mapping[str, str | None]) -> tuple[str, ...]:
    """The same, but of versions the next one below and the next one above. Cost: the names, sorted."""
    meant = find_installed((), text)[0].version
    version = _version(meant)
    if version is not None and meant is not None:
        stem = text.removesuffix(meant) if _version(text) is None else ""
        dated = {n: v for n, its in known.items() if n.startswith(stem) and (v := _version(its)) is not None}
        below = max((n for n in dated if dated[n] <= version), key=dated.__getitem__, default=None)
        above = min((n for n in dated if dated[n] > version), key=dated.__getitem__, default=None)
        found = tuple(name for name in (below, above) if name is not None)
        if found:
            return found if stem else tuple(str(known[name]) for name in found)
    near = nearby(text, known)
    return (near,) if near is not None else ()


def _nearest(wanted: Version, known: Mapping[str, str | None]) -> str | None:
    dated = {name: its for name, text in sorted(known.items()) if (its := _version(text)) is not None}
    return min(dated, key=lambda name: _distance(dated[name], wanted), default=None)


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
