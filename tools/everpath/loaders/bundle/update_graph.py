"""The edges a repository of bundles means: `updateGraph` of ci.yaml decides, not the CSVs alone.

    replaces-mode      what each CSV says: replaces, skips, olm.skipRange
    semver-mode        each bundle replaces the next lower version of its channel, whatever its CSV says
    semver-skippatch   the same, but only the highest patch of each minor is left; the lower ones it skips

A tool that reads every package in replaces-mode reports half of OperatorHub as broken.
"""

from __future__ import annotations

__all__ = [
    "MODES",
    "channels",
    "declared",
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

#: What ci.yaml may say, and the word people write instead.
MODES: Final[Mapping[str, UpdateMode]] = {mode.value: mode for mode in UpdateMode}
_MEANT: Final[Mapping[str, UpdateMode]] = {"semver": UpdateMode.SEMVER, "replaces": UpdateMode.REPLACES}

_Order = tuple[bool, Key, tuple[str, ...], str]


def parse_update_mode(written: str, default: UpdateMode) -> UpdateMode:
    """The mode a word stands for; a near miss is taken for what it means, anything else for the default."""
    return MODES.get(written) or _MEANT.get(written, default)


def channels(package: str, bundles: Iterable[Bundle], mode: UpdateMode) -> list[Channel]:
    """The channels that bundles name in their annotations, by name; entries by version.

    Cost: one sort of the bundles.
    """
    members: dict[str, list[tuple[Bundle, Csv]]] = {}
    for bundle in sort_by_version(bundles):
        if bundle.csv is not None:
            for name in bundle.csv.channels:
                members.setdefault(name, []).append((bundle, bundle.csv))
    return [_channel(package, name, members[name], mode) for name in sorted(members)]


def sort_by_version(bundles: Iterable[Bundle]) -> list[Bundle]:
    """Lowest version first."""
    return sorted(bundles, key=_order)


def _order(bundle: Bundle) -> _Order:
    """By version; what has none comes first. Builds of one version are told apart by their text."""
    version = parse_or_none(bundle.version)
    return version is not None, version.key if version else (), version.build if version else (), bundle.name


def _channel(package: str, name: str, members: Sequence[tuple[Bundle, Csv]], mode: UpdateMode) -> Channel:
    first = members[-1][1]
    place = (first.annotations or first.place).at("channels")
    if mode is UpdateMode.REPLACES:
        entries = [declared(bundle, csv) for bundle, csv in members]
    else:
        entries = _by_version(members, skips_patches=mode is UpdateMode.SEMVER_SKIPPATCH)
    return Channel(name, package, place, tuple(entries))


def declared(bundle: Bundle, csv: Csv) -> Entry:
    """The edges a CSV itself asks for."""
    return Entry(bundle.name, bundle.place, csv.replaces or None, csv.skips, csv.skip_range)


def _by_version(members: Sequence[tuple[Bundle, Csv]], *, skips_patches: bool) -> list[Entry]:
    """A chain in the order of versions. A bundle without a version has no place in it, and no edges.

    Of two equal versions, which opm refuses, the next higher one replaces the last.
    """
    entries: list[Entry] = []
    below: str | None = None
    for stream, together in groupby(members, key=_patches if skips_patches else _precedence):
        group = list(together)
        names = tuple(bundle.name for bundle, _ in group)
        for bundle, csv in group:
            is_left = stream is not None and not (skips_patches and bundle is not group[-1][0])
            replaces, skips = (below, names[:-1] if skips_patches else ()) if is_left else (None, ())
            entries.append(Entry(bundle.name, bundle.place, replaces, skips, csv.skip_range))
        below = names[-1] if stream is not None else None
    return entries


def _precedence(member: tuple[Bundle, Csv]) -> Key | None:
    version = parse_or_none(member[0].version)
    return version.key if version else None


def _patches(member: tuple[Bundle, Csv]) -> tuple[int, int] | None:
    """What the patches of one minor release have in common."""
    version = parse_or_none(member[0].version)
    return version.minor_stream if version else None


def newest(bundles: Iterable[Bundle]) -> Bundle:
    """The bundle with the highest version."""
    return max(bundles, key=_order)


def default_channel_csv(bundles: Iterable[Bundle]) -> Csv | None:
    """What the highest version that names a default channel says."""
    naming = [bundle for bundle in bundles if bundle.csv is not None and bundle.csv.default_channel]
    return newest(naming).csv if naming else None
