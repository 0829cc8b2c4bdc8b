"""Version policy: which OpenSearch version may follow the running one."""

from __future__ import annotations

__all__ = ["VersionRefusal", "version_refusal"]

from dataclasses import dataclass
from typing import Final

from semver import Version

from searchkeeper.api.reasons import Reason
from searchkeeper.versions import Release, parse

# By major version: the oldest cluster that a node can join. OpenSearch 3 refuses clusters older than 2.19.
_FLOORS: Final = {3: Version(2, 19, 0)}


@dataclass(frozen=True, slots=True)
class VersionRefusal:
    """Why the operator does not upgrade to a version: the reason of a condition, and its message."""

    reason: str
    message: str


def version_refusal(running: str | None, target: str, release: Release) -> VersionRefusal | None:
    """Return why `target` may not follow `running`, or None when it may. A new cluster has no `running`.

    The running version itself is always accepted, also when this release would not start it.
    """
    if running == target:
        return None
    wanted = parse(target)
    if wanted is None:
        return VersionRefusal(Reason.UNPARSABLE_VERSION, f"{target!r} is not a version like 2.19.4")
    current = parse(running) if running else None
    refusal = None if current is None else _upgrade_refusal(current, wanted, release)
    if refusal is not None:
        return refusal
    if wanted > Version.parse(release.newest_engine):
        return VersionRefusal(
            Reason.NEWER_THAN_OPERATOR,
            f"{wanted} is newer than {release.newest_engine}, the newest version that operator "
            f"{release.version} supports: upgrade the operator first",
        )
    if wanted < Version.parse(release.oldest_engine):
        return VersionRefusal(
            Reason.OLDER_THAN_OPERATOR,
            f"{wanted} is older than {release.oldest_engine}, the oldest version that operator "
            f"{release.version} supports",
        )
    return None


def _upgrade_refusal(running: Version, wanted: Version, release: Release) -> VersionRefusal | None:
    """Return why OpenSearch itself does not support this upgrade."""
    if wanted < running:
        return VersionRefusal(
            Reason.DOWNGRADE,
            f"{wanted} is older than {running}, which runs: a node cannot read what a newer version wrote",
        )
    if wanted.major > running.major + 1:
        between, newest = running.major + 1, Version.parse(release.newest_engine)
        limit = f", which operator {release.version} does not support yet" if between > newest.major else ""
        return VersionRefusal(
            Reason.SKIPS_MAJOR,
            f"{running} to {wanted} skips a major version: upgrade to {between}.x first{limit}",
        )
    floor = _FLOORS.get(wanted.major)
    if floor is not None and running < floor and wanted.major == running.major + 1:
        return VersionRefusal(
            Reason.BELOW_FLOOR,
            f"{wanted} cannot join a cluster older than {floor}: upgrade {running} to that first",
        )
    return None
