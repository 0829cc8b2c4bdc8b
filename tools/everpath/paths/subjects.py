"""Whom a word of the command line means: a bundle by its name, by its version, or all in a range."""

from __future__ import annotations

__all__ = ["Subject", "installed", "subject"]

from collections.abc import Iterable
from difflib import get_close_matches
from typing import NamedTuple

from everpath.errors import UsageError
from everpath.graph import ChannelGraph, PackageGraph
from everpath.policies.decisions import Installed
from everpath.ranges import Range, RangeError
from everpath.versions import Version, VersionError, parse_tolerant


class Subject(NamedTuple):
    """The bundles a word means; `version` if it means one version."""

    text: str
    names: frozenset[str]
    version: Version | None = None


def subject(package: PackageGraph, text: str, *, ranges: bool = False) -> Subject:
    """Whom a word means. Raises UsageError when that is nobody, with the name that comes nearest."""
    versions = _versions(package)
    if text in versions:
        return Subject(text, frozenset([text]), versions[text])
    if (version := _version(text)) is not None:
        names = frozenset(name for name, its in versions.items() if its == version)
        if names:
            return Subject(text, names, version)
    if ranges and (span := _range(text)) is not None:
        found = (name for name, its in versions.items() if its is not None and its in span.intervals)
        return Subject(text, frozenset(found))
    raise _unknown(package, text, versions)


def installed(package: PackageGraph, graphs: Iterable[ChannelGraph], text: str) -> Installed:
    """What runs on a cluster: an entry, a version that is published nowhere, or a name that edges know.

    Raises UsageError for anything else.
    """
    versions = _versions(package)
    if text in versions:
        return Installed(text, versions[text])
    version = _version(text)
    if version is not None:
        names = sorted(name for name, its in versions.items() if its == version)
        return Installed(names[0] if names else text, version)
    if any(text in graph.replacers or text in graph.skippers for graph in graphs):
        return Installed(text, None)
    raise _unknown(package, text, versions)


def _versions(package: PackageGraph) -> dict[str, Version | None]:
    """Every name that is an entry or a bundle of the package, with its version if it has a readable one."""
    names = dict.fromkeys([*package.memberships, *package.package.by_name])
    return {
        name: _version(bundle.version) if (bundle := package.package.by_name.get(name)) else None
        for name in names
    }


def _version(text: str | None) -> Version | None:
    try:
        return parse_tolerant(text) if text else None
    except VersionError:
        return None


def _range(text: str) -> Range | None:
    try:
        return Range.parse(text)
    except RangeError:
        return None


def _unknown(package: PackageGraph, text: str, versions: dict[str, Version | None]) -> UsageError:
    words = {**dict.fromkeys(versions), **{str(v): None for v in versions.values() if v is not None}}
    near = get_close_matches(text, words, n=1)
    hint = f"did you mean {near[0]!r}?" if near else f"`everpath list bundles -p {package.name}` lists them"
    return UsageError(f"package {package.name} has no bundle {text!r}", hint=hint)
