"""Engine versions, and which way from one to another is open."""

from __future__ import annotations

__all__ = ["Release", "VersionRefusal", "is_newer", "parse", "version_refusal"]

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from semver import Version

# The first of a major that a node of the next one can join: OpenSearch 3 refuses clusters older than 2.19.
_FLOORS: Final = {3: Version(2, 19, 0)}


@dataclass(frozen=True, slots=True)
class Release:
    """One release of the operator: the configuration versions it can make, and the engines it may run."""

    version: str
    configurations: tuple[int, ...]
    oldest_engine: str
    newest_engine: str


@dataclass(frozen=True, slots=True)
class VersionRefusal:
    """Why an engine version is not brought about: a reason for machines, a sentence for people."""

    reason: str
    message: str


@lru_cache(maxsize=256)
def parse(text: str) -> Version | None:
    """A plain version, or None: nobody upgrades production to a guess."""
    try:
        version = Version.parse(text)
    except (TypeError, ValueError):
        return None
    return version if version.prerelease is None and version.build is None else None


@lru_cache(maxsize=1024)
def is_newer(version: str, other: str) -> bool:
    """Of two versions that run. Raises ValueError where one of them is none."""
    return Version.parse(version) > Version.parse(other)


def version_refusal(running: str | None, target: str, release: Release) -> VersionRefusal | None:
    """Why `target` may not follow `running`, if it may not; None for a new cluster's `running`.

    What runs already may stay, whatever this release would choose: to refuse it would help nobody.
    """
    if running == target:
        return None
    wanted = parse(target)
    if wanted is None:
        return VersionRefusal("UnparsableVersion", f"{target!r} is not a version like 2.19.4")
    return next(_refusals(parse(running) if running else None, wanted, release), None)


def _refusals(running: Version | None, wanted: Version, release: Release) -> Iterator[VersionRefusal]:
    if running is not None:
        yield from _impossible_steps(running, wanted, release)
    if wanted > Version.parse(release.newest_engine):
        yield VersionRefusal(
            "NewerThanOperator",
            f"{wanted} is newer than {release.newest_engine}, the newest that operator {release.version} "
            "knows: upgrade the operator first",
        )
    if wanted < Version.parse(release.oldest_engine):
        yield VersionRefusal(
            "OlderThanOperator",
            f"{wanted} is older than {release.oldest_engine}, the oldest that operator {release.version} "
            "starts",
        )


def _impossible_steps(running: Version, wanted: Version, release: Release) -> Iterator[VersionRefusal]:
    if wanted < running:
        yield VersionRefusal(
            "Downgrade",
            f"{wanted} is older than {running}, which runs: a node cannot read what a newer one wrote",
        )
    if wanted.major > running.major + 1:
        between, newest = running.major + 1, Version.parse(release.newest_engine)
        unknown = f", which operator {release.version} does not know yet" if between > newest.major else ""
        yield VersionRefusal(
            "SkipsMajor",
            f"{running} to {wanted} leaves out a major version: go to {between}.x first{unknown}",
        )
    floor = _FLOORS.get(wanted.major)
    if floor is not None and running < floor and wanted.major == running.major + 1:
        yield VersionRefusal(
            "BelowFloor", f"{wanted} can join no cluster older than {floor}: go from {running} there first"
        )
