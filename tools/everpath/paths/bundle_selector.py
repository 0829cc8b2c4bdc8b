"""Whom a word of the command line means: a bundle by its name, by its version, or all in a range."""

from __future__ import annotations

__all__ = ["Subject", "installed", "subject"]

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from everpath.errors import UsageError
from everpath.graph import ChannelGraph, PackageGraph
from everpath.paths.suggestions import nearby
from everpath.ranges import Range, RangeError
from everpath.simulate import InstalledVersion, find_installed
from everpath.versions import Version, VersionError, parse_tolerant, underline

#: Signs that no name has and that ranges are written with.
_RANGE_LIKE: Final = re.compile(r"[<>=!|]")

#: The command that lists what a word may mean, where nobody says which catalog is asked about.
_LISTING: Final = "`everpath list bundles`"


class Subject(NamedTuple):
    """The bundles a word means; `version` if it means one version."""

    text: str
    names: frozenset[str]
    version: Version | None = None


def subject(package: PackageGraph, text: str, listing: str = _LISTING, *, ranges: bool = False) -> Subject:
    """Whom a word means. Raises UsageError when that is nobody, with the name that comes nearest.

    `listing` is the command that lists the bundles there are, for who is near to none of them.
    """
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
    raise _unknown(package, text, listing, versions)


def _range(text: str) -> Range | None:
    """A range; None for what was not meant to be one. Raises UsageError where it was, and is none."""
    try:
        return Range.parse(text)
    except RangeError as error:
        if not _RANGE_LIKE.search(text):
            return None
        shown = underline(error.text, *error.span, error.reason)
        raise UsageError(f"{text!r} is not a range:\n{shown}", hint=error.hint) from error


def installed(
    package: PackageGraph, graphs: Iterable[ChannelGraph], text: str, listing: str = _LISTING
) -> InstalledVersion:
    """What runs on a cluster, as `simulate` takes it: in the catalog or not, by its name or its version.

    Raises UsageError for a version that several have, and for a name that tells nothing.
    """
    graphs = tuple(graphs)
    found = find_installed([package], text)
    here = [asked for asked in found if any(asked.name in graph.entries for graph in graphs)] or found
    if len(here) > 1:
        names = ", ".join(sorted(asked.name for asked in here))
        raise UsageError(f"{text} is the version of several: {names}", hint="--from NAME says which")
    asked = here[0]
    referred = any(asked.name in graph.replacers or asked.name in graph.skippers for graph in graphs)
    if asked.is_known or asked.version is not None or referred:
        return asked
    words = f"package {package.name} has no bundle {text!r}, no entry names it, and it ends with no version"
    raise _unknown(package, text, listing, _versions(package), words)


def _versions(package: PackageGraph) -> dict[str, Version | None]:
    """Every name that is an entry or a bundle of the package, with its version if it has a readable one."""
    names = dict.fromkeys([*package.channels_by_entry, *package.package.by_name])
    return {
        name: _version(bundle.version) if (bundle := package.package.by_name.get(name)) else None
        for name in names
    }


def _version(text: str | None) -> Version | None:
    try:
        return parse_tolerant(text) if text else None
    except VersionError:
        return None


def _unknown(
    package: PackageGraph, text: str, listing: str, versions: dict[str, Version | None], words: str = ""
) -> UsageError:
    near = nearby(text, {name: str(its) if its is not None else None for name, its in versions.items()})
    hint = f"did you mean {near!r}?" if near else f"{listing} lists them"
    return UsageError(words or f"package {package.name} has no bundle {text!r}", hint=hint)
