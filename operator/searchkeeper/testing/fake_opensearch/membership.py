"""Cluster membership of the fake engine: joining, voting configuration, election.

The join checks mirror OpenSearch's `JoinTaskExecutor` and `IndexMetadataVerifier`, with their messages.
"""

from __future__ import annotations

__all__ = ["JoinRefusal", "elect_manager", "join_nodes", "join_refusal", "remove_nodes", "update_voters"]

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Final

from semver import Version

from searchkeeper.opensearch.view import ABSENT, Index, Node
from searchkeeper.testing.fake_opensearch.state import FakeEngine, Process, version_of

_MANAGER: Final = "cluster_manager"
# The oldest version that nodes of a major can form a cluster with, where it is not the first of the major
# before.
_MINIMUM_COMPATIBLE: Final = {3: Version(2, 19, 0)}
# The oldest index that nodes of a major can open (Version.minimumIndexCompatibilityVersion), where it is not
# the first version of the major before. Indices of Elasticsearch X.Y are reported as created by 0.X.Y.
_MINIMUM_INDEX: Final = {1: Version(0, 6, 0), 2: Version(0, 7, 0)}
# cluster.auto_shrink_voting_configuration: a voting configuration of three or more does not shrink below
# three.
_SAFE_VOTERS: Final = 3


@dataclass(frozen=True, slots=True)
class JoinRefusal:
    """Why a process is not a member of the cluster.

    A process that only waits for a cluster manager is live and retries (`is_fatal` is False). Any other
    refusal lasts as long as neither the process nor the cluster changes.
    """

    message: str
    is_fatal: bool = True


def remove_nodes(engine: FakeEngine, running: Collection[Process]) -> FakeEngine:
    """Remove the nodes whose process ended or was replaced by another version or other roles.

    A voter without a persistent volume comes back with a new node ID. Its vote stays with the lost ID, here
    written `(name)`.
    """
    alive = {(process.name, process.version, process.roles) for process in running}
    nodes = tuple(n for n in engine.nodes if (n.name, n.version, n.roles) in alive)
    lost_ids = engine.names - {node.name for node in nodes} - dict(engine.disks).keys()
    voters = frozenset(f"({name})" if name in lost_ids else name for name in engine.voters)
    return replace(engine, nodes=nodes, voters=voters)


def elect_manager(engine: FakeEngine) -> FakeEngine:
    """Elect a cluster manager if a majority of the voters is present; otherwise there is none."""
    voters = sorted(engine.voters & {n.name for n in engine.nodes if _MANAGER in n.roles})
    has_quorum = len(voters) >= len(engine.voters) // 2 + 1
    elected = engine.elected
    if not has_quorum:
        winner = None
    elif elected is not None and elected.name not in engine.voting_exclusions:
        winner = elected.name
    else:
        winner = next((name for name in voters if name not in engine.voting_exclusions), voters[0])
    return replace(engine, nodes=tuple(replace(n, is_elected=n.name == winner) for n in engine.nodes))


def join_nodes(engine: FakeEngine, running: Collection[Process]) -> FakeEngine:
    """Add every process that may join. The first manager of a new cluster bootstraps it."""
    for process in sorted(running):
        if process.name in engine.names or join_refusal(engine, process) is not None:
            continue
        is_first = not engine.voters
        disks = dict(engine.disks)
        if process.keeps_data:
            disks[process.name] = process.version
        node = Node(process.name, process.version, process.roles, is_elected=is_first)
        engine = replace(
            engine,
            nodes=(*engine.nodes, node),
            disks=tuple(sorted(disks.items())),
            voters=frozenset({process.name}) if is_first else engine.voters,
        )
    return engine


def join_refusal(engine: FakeEngine, process: Process) -> JoinRefusal | None:
    """Return why the process cannot join, or None if it can."""
    own, disk = Version.parse(process.version), dict(engine.disks).get(process.name)
    if disk is not None and Version.parse(disk) > own:
        return JoinRefusal(f"cannot downgrade a node from version [{disk}] to version [{process.version}]")
    is_voter = process.name in engine.voters and _MANAGER in process.roles
    if engine.voters and engine.elected is None and not is_voter:
        return JoinRefusal("no cluster manager", is_fatal=False)
    if not engine.voters and _MANAGER not in process.roles:
        return JoinRefusal("no cluster to join", is_fatal=False)
    message = _node_incompatibility(engine, own) or next(
        (
            message
            for index in engine.indices
            if (message := _index_incompatibility(index, own, has_disk=disk is not None))
        ),
        None,
    )
    return None if message is None else JoinRefusal(message)


def _node_incompatibility(engine: FakeEngine, own: Version) -> str | None:
    """Compare a version with the nodes of the cluster.

    Mirrors `ensureNodesCompatibility` and `ensureMajorVersionBarrier`. Without an elected manager only the
    other managers count: data nodes do not validate joins.
    """
    members = [version_of(n) for n in engine.nodes if engine.elected is not None or _MANAGER in n.roles]
    if not members:
        return None
    if own.major < min(members).major:
        return (
            f"node version [{own}] is not supported. "
            f"All nodes in the cluster are of a higher major [{min(members).major}]."
        )
    for other in members:
        is_too_old = other.major < own.major and other < _MINIMUM_COMPATIBLE.get(own.major, Version(0))
        if abs(own.major - other.major) > 1 or is_too_old:
            return (
                f"node version [{own}] is not supported. "
                f"The cluster contains nodes with version [{other}], which is incompatible."
            )
    return None


def _index_incompatibility(index: Index, own: Version, *, has_disk: bool) -> str | None:
    """Compare a version with the version that created an index.

    A node that has the index metadata on its disk fails to start
    (`IndexMetadataVerifier.checkSupportedVersion`). A node with an empty disk is refused when it joins
    (`JoinTaskExecutor.ensureIndexCompatibility`).
    """
    created = Version.parse(index.created_by)
    if created > own:
        return f"index [{index.name}] version not supported: {created} the node version is: {own}"
    oldest = _MINIMUM_INDEX.get(own.major, Version(max(0, own.major - 1)))
    if created >= oldest:
        return None
    if has_disk:
        return (
            f"The index [[{index.name}]] was created with version [{created}] but the minimum compatible "
            f"version is [{oldest}]. It should be re-indexed in OpenSearch {oldest.major}.x "
            f"before upgrading to {own}."
        )
    return (
        f"index [{index.name}] version not supported: {created} minimum compatible index version is: {oldest}"
    )


def update_voters(engine: FakeEngine) -> FakeEngine:
    """Let the elected manager reconfigure the voters: an odd number of managers that are present.

    Absent voters keep their vote where fewer than three would remain.
    """
    elected = engine.elected
    if elected is None:
        return engine
    excluded = {name.removeprefix(ABSENT) for name in engine.voting_exclusions}
    live = {n.name for n in engine.nodes if _MANAGER in n.roles} - excluded
    absent = sorted(engine.voters - live - excluded)
    kept = absent[: max(0, _SAFE_VOTERS - len(live))] if len(engine.voters) >= _SAFE_VOTERS else []
    voters = live | set(kept)
    if len(voters) % 2 == 0 and voters:
        voters -= {max(voters - {elected.name}, default="")}
    return replace(engine, voters=frozenset(voters) or engine.voters)
