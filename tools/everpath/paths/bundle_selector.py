"""Bundles that an argument of the command line names: by name, by version, or by a range."""

from __future__ import annotations

__all__ = ["SelectedBundles", "select_bundles", "select_installed"]

import re
from collections.abc import Iterable
from typing import Final, NamedTuple

from everpath.errors import UsageError
from everpath.graph import ChannelGraph, PackageGraph
from everpath.paths.suggestions import closest_match
from everpath.ranges import Range, RangeError
from everpath.simulate import InstalledVersion, find_installed
from everpath.versions import Version, parse_tolerant_or_none, underline

#: Characters that occur in ranges and in no name.
_RANGE_LIKE: Final = re.compile(r"[<>=!|]")

#: The command that lists bundles, if the caller does not know the catalog.
_LISTING: Final = "`everpath list bundles`"


class SelectedBundles(NamedTuple):
    """The bundles that `text` names; `version` if it names a single version."""

    text: str
    names: frozenset[str]
    version: Version | None = None


def select_bundles(
    package: PackageGraph, text: str, listing: str = _LISTING, *, allow_range: bool = False
) -> SelectedBundles:
    """Return the bundles of a name, a version or, with `allow_range`, a range.

    `listing` is the command that lists all bundles. Raises UsageError, with the closest match, if there is no
    such bundle; a range may be empty.
    """
    versions = _versions(package)
    if text in versions:
        return SelectedBundles(text, frozenset([text]), versions[text])
    if (version := parse_tolerant_or_none(text)) is not None:
        names = frozenset(name for name, stated in versions.items() if stated == version)
        if names:
            return SelectedBundles(text, names, version)
    if allow_range and (wanted := _range(text)) is not None:
        found = (
            name for name, version in versions.items() if version is not None and version in wanted.intervals
        )
        return SelectedBundles(text, frozenset(found))
    raise _unknown(package, text, listing, f"package {package.name} has no bundle {text!r}")


def _range(text: str) -> Range | None:
    """Parse a range; None if the text does not look like one. Raises UsageError if it does and is invalid."""
    try:
        return Range.parse(text)
    except RangeError as error:
        if not _RANGE_LIKE.search(text):
            return None
        excerpt = underline(error.text, *error.span, error.reason)
        raise UsageError(f"{text!r} is not a range:\n{excerpt}", hint=error.hint) from error


def select_installed(
    package: PackageGraph, graphs: Iterable[ChannelGraph], text: str, listing: str = _LISTING
) -> InstalledVersion:
    """Return the installed version that a name or a version means; it need not be in the catalog.

    Raises UsageError if several bundles have the version, or if nothing is known about the name: it is not in
    the package, no entry names it, and it does not end with a version.
    """
    graphs = tuple(graphs)
    found = find_installed([package], text)
    here = [
        installed for installed in found if any(installed.name in graph.entries for graph in graphs)
    ] or found
    if len(here) > 1:
        names = ", ".join(sorted(installed.name for installed in here))
        raise UsageError(f"several bundles have version {text}: {names}", hint="use --from NAME")
    installed = here[0]
    is_named = any(installed.name in graph.replacers or installed.name in graph.skippers for graph in graphs)
    if installed.is_known or installed.version is not None or is_named:
        return installed
    message = (
        f"package {package.name} has no bundle {text!r}, no entry names it, "
        "and the name does not end with a version"
    )
    raise _unknown(package, text, listing, message)


def _versions(package: PackageGraph) -> dict[str, Version | None]:
    """Return all entries and bundles of the package with their versions, None if missing or invalid."""
    names = dict.fromkeys([*package.channels_by_entry, *package.package.by_name])
    return {
        name: parse_tolerant_or_none(bundle.version)
        if (bundle := package.package.by_name.get(name))
        else None
        for name in names
    }


def _unknown(package: PackageGraph, text: str, listing: str, message: str) -> UsageError:
    versions = {
        name: str(version) if version is not None else None for name, version in _versions(package).items()
    }
    match = closest_match(text, versions)
    return UsageError(message, hint=f"did you mean {match!r}?" if match else f"{listing} lists them")
