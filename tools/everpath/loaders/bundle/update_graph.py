"""The channels of a repository's bundles, by `updateGraph` of ci.yaml.

    replaces-mode      edges of each CSV: replaces, skips, olm.skipRange
    semver-mode        each bundle replaces the next lower version of its channel; edges of CSVs are ignored
    semver-skippatch   the same, but only the highest patch of each minor has edges, and skips the others

In replaces-mode, half of OperatorHub's packages would be broken.
"""

from __future__ import annotations

__all__ = [
    "MODES",
    "build_channels",
    "declared_entry",
    "default_channel_csv",
    "newest",
    "parse_update_mode",
    "sort_by_version",
]

from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from typing import Final

from everpath.model import Bundle, Channel, Csv, Entry, UpdateMode
from everpath.versions import Key, parse_or_none

#: The values of updateGraph, and two common misspellings.
MODES: Final[Mapping[str, UpdateMode]] = {mode.value: mode for mode in UpdateMode}
_MISSPELT: Final[Mapping[str, UpdateMode]] = {"semver": UpdateMode.SEMVER, "replaces": UpdateMode.REPLACES}

_Order = tuple[bool, Key, tuple[str, ...], str]


def parse_update_mode(written: str, default: UpdateMode) -> UpdateMode:
    """Return the update mode of a ci.yaml; the default for an unknown value."""
    return MODES.get(written) or _MISSPELT.get(written, default)


def build_channels(package: str, bundles: Iterable[Bundle], mode: UpdateMode) -> list[Channel]:
    """Return the channels in the annotations of bundles, sorted by name, with entries sorted by version.

    Cost: one sort of the bundles.
    """
    members: dict[str, list[tuple[Bundle, Csv]]] = {}
    for bundle in sort_by_version(bundles):
        if bundle.csv is not None:
            for name in bundle.csv.channels:
                members.setdefault(name, []).append((bundle, bundle.csv))
    return [_channel(package, name, members[name], mode) for name in sorted(members)]


def sort_by_version(bundles: Iterable[Bundle]) -> list[Bundle]:
    """Sort bundles, lowest version first."""
    return sorted(bundles, key=_order)


def _order(bundle: Bundle) -> _Order:
    """Sort by version, then build. Bundles without a version come first."""
    version = parse_or_none(bundle.version)
    return version is not None, version.key if version else (), version.build if version else (), bundle.name


def _channel(package: str, name: str, members: Sequence[tuple[Bundle, Csv]], mode: UpdateMode) -> Channel:
    first = members[-1][1]
    place = (first.annotations or first.place).at("channels")
    if mode is UpdateMode.REPLACES:
        entries = [declared_entry(bundle, csv) for bundle, csv in members]
    else:
        entries = _chain_by_version(members, skips_patches=mode is UpdateMode.SEMVER_SKIPPATCH)
    return Channel(name, package, place, tuple(entries))


def declared_entry(bundle: Bundle, csv: Csv) -> Entry:
    """The entry with the edges of a CSV."""
    return Entry(bundle.name, bundle.place, csv.replaces or None, csv.skips, csv.skip_range)


def _chain_by_version(members: Sequence[tuple[Bundle, Csv]], *, skips_patches: bool) -> list[Entry]:
    """Return a replaces chain in the order of versions. A bundle without a version gets no edges.

    Of two equal versions, which opm rejects, the next higher version replaces the last.
    """
    entries: list[Entry] = []
    below: str | None = None
    for stream, together in groupby(members, key=_minor_stream if skips_patches else _precedence):
        group = list(together)
        names = tuple(bundle.name for bundle, _ in group)
        for bundle, csv in group:
            has_edges = stream is not None and not (skips_patches and bundle is not group[-1][0])
            replaces, skips = (below, names[:-1] if skips_patches else ()) if has_edges else (None, ())
            entries.append(Entry(bundle.name, bundle.place, replaces, skips, csv.skip_range))
        below = names[-1] if stream is not None else None
    return entries


def _precedence(member: tuple[Bundle, Csv]) -> Key | None:
    version = parse_or_none(member[0].version)
    return version.key if version else None


def _minor_stream(member: tuple[Bundle, Csv]) -> tuple[int, int] | None:
    """The X.Y of a bundle: patches of one minor release have the same."""
    version = parse_or_none(member[0].version)
    return version.minor_stream if version else None


def newest(bundles: Iterable[Bundle]) -> Bundle:
    """The bundle with the highest version."""
    return max(bundles, key=_order)


def default_channel_csv(bundles: Iterable[Bundle]) -> Csv | None:
    """The CSV of the highest version whose annotations have a default channel."""
    naming = [bundle for bundle in bundles if bundle.csv is not None and bundle.csv.default_channel]
    return newest(naming).csv if naming else None
