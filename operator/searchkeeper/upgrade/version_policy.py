"""Version policy: which OpenSearch version may follow the running one, and which indices it can open."""

from __future__ import annotations

__all__ = ["VersionRefusal", "index_refusal", "version_refusal"]

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from semver import Version

from searchkeeper.api.messages import join
from searchkeeper.api.reasons import Reason
from searchkeeper.opensearch.view import Index
from searchkeeper.releases import releases
from searchkeeper.versions import Release, parse

# By major version: the oldest cluster that a node can join. OpenSearch 3 refuses clusters older than 2.19.
_FLOORS: Final = {3: Version(2, 19, 0)}
# By major version: the oldest index that a node can open (Version.minimumIndexCompatibilityVersion), where it
# is not the first version of the major before. Indices of Elasticsearch X.Y count as created by 0.X.Y.
_OLDEST_INDICES: Final = {1: Version(0, 6, 0), 2: Version(0, 7, 0)}


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


def index_refusal(indices: Sequence[Index], target: str) -> VersionRefusal | None:
    """Return why nodes of `target` could not open these indices, or None when they can.

    A node that cannot open an index neither starts with it on its disk nor joins a cluster that has it.
    """
    wanted = parse(target)
    if wanted is None:
        return None
    oldest = _OLDEST_INDICES.get(wanted.major, Version(max(wanted.major - 1, 0)))
    too_old = [index for index in indices if (parse(index.created_by) or oldest) < oldest]
    if not too_old:
        return None
    names = join([f"{index.name} ({_creator(index.created_by)})" for index in too_old])
    message = f"{wanted} cannot open indices created by a version older than {_creator(str(oldest))}"
    return VersionRefusal(Reason.INCOMPATIBLE_INDICES, f"{message}: {names}; reindex or delete them")


def _creator(version: str) -> str:
    """The version as users know it: 0.7.10 stands for Elasticsearch 7.10."""
    return f"Elasticsearch {version.removeprefix('0.')}" if version.startswith("0.") else version


def _upgrade_refusal(running: Version, wanted: Version, release: Release) -> VersionRefusal | None:
    """Return why OpenSearch itself does not support this upgrade, and which version to set first."""
    if wanted < running:
        return VersionRefusal(
            Reason.DOWNGRADE,
            f"{wanted} is older than {running}, which runs: a node cannot read what a newer version wrote",
        )
    unsupported = f"which operator {release.version} does not support"
    if wanted.major > running.major + 1:
        hint = _first_step(running, wanted, release) or f"{running.major + 1}.x comes first, {unsupported}"
        message = f"{running} to {wanted} skips a major version: {hint}"
        return VersionRefusal(Reason.SKIPS_MAJOR, message)
    floor = _FLOORS.get(wanted.major)
    if floor is not None and running < floor and wanted.major == running.major + 1:
        hint = _first_step(running, wanted, release, floor) or f"{floor} comes first, {unsupported}"
        message = f"{wanted} cannot join a cluster older than {floor}, and {running} runs: {hint}"
        return VersionRefusal(Reason.BELOW_FLOOR, message)
    return None


def _first_step(
    running: Version, wanted: Version, release: Release, floor: Version | None = None
) -> str | None:
    """Name the newest version below `wanted` that is accepted now; None if this operator has none.

    The engine versions of all releases of the operator are considered: these exist and are tested. With a
    `floor`, a version below it does not help.
    """
    engines = {text for each in (*releases(), release) for text in (each.oldest_engine, each.newest_engine)}
    steps = (step for step in map(Version.parse, engines) if max(running, floor or running) <= step < wanted)
    accepted = [
        step for step in steps if step > running and version_refusal(str(running), str(step), release) is None
    ]
    return f"set spec.version to {max(accepted)} first" if accepted else None
