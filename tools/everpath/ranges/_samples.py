"""A version for every way in which ranges accept one: where none begins or ends, all are accepted alike."""

from __future__ import annotations

__all__ = ["sample_versions"]

from collections.abc import Collection, Iterable, Iterator
from itertools import pairwise

from everpath.ranges._intervals import BOTTOM, Cut, IntervalSet
from everpath.versions import Version, parse_or_none


def sample_versions(
    sets: Iterable[IntervalSet], taken: Collection[Version] = (), parted: Iterable[Version] = ()
) -> Iterator[Version]:
    """Of every run of versions that the same sets hold, and one holds, a version that is not taken.

    A run also ends before each of the `parted` ones. Cost: the bounds, each times log n; where versions are
    taken, a step for each of those in the run.
    """
    sets = tuple(sets)
    cuts = {cut for each in sets for cut in each.cuts} | {Cut.before(version) for version in parted}
    held = IntervalSet.union(sets)
    for low, high in pairwise(sorted(cuts, key=lambda cut: cut.key)):
        found = _free(low, high, taken)
        if found is not None and found in held:
            yield found


def _free(low: Cut, high: Cut, taken: Collection[Version]) -> Version | None:
    """The lowest version between two cuts that is not taken; of a pre-release sooner its release."""
    version = _first(low)
    while version is not None and version.key < high.key:
        for choice in (parse_or_none(f"{version.major}.{version.minor}.{version.patch}"), version):
            if choice is not None and choice.key < high.key and choice not in taken:
                return choice
        version = _following(version)
    return None


def _first(cut: Cut) -> Version | None:
    if cut == BOTTOM or cut.version is None:
        return parse_or_none("0.0.0-0")
    return _following(cut.version) if cut.is_after else cut.version


def _following(version: Version) -> Version | None:
    """The lowest version above this one; None at the end of what is counted in 64 bits."""
    core = f"{version.major}.{version.minor}"
    if version.prerelease:
        identifiers = ".".join(map(str, version.prerelease))
        return parse_or_none(f"{core}.{version.patch}-{identifiers}.0")
    return parse_or_none(f"{core}.{version.patch + 1}-0")
