"""Who belongs to the cluster, who votes, and who is elected."""

from __future__ import annotations

__all__ = ["elect_manager", "join_nodes", "join_refusal", "remove_nodes", "update_voters"]

from collections.abc import Collection
from dataclasses import replace
from typing import Final

from semver import Version

from searchkeeper.opensearch.view import ABSENT, Node
from searchkeeper.testing.fake_opensearch.state import FakeEngine, Process, version_of

_MANAGER: Final = "cluster_manager"
# The oldest cluster that a node of a major can join, where that is not the whole major before.
_FLOORS: Final = {3: Version(2, 19, 0)}
# A quorum that has once been this large does not shrink below it: the missing voter may come back.
_SAFE: Final = 3


def remove_nodes(engine: FakeEngine, running: Collection[Process]) -> FakeEngine:
    """Without the nodes whose process is gone, or is another one by now.

    A voter without a volume does not come back as who it was: its vote stays with the one that is gone.
    """
    alive = {(process.name, process.version, process.roles) for process in running}
    nodes = tuple(n for n in engine.nodes if (n.name, n.version, n.roles) in alive)
    forgetful = engine.names - {node.name for node in nodes} - dict(engine.disks).keys()
    voters = frozenset(f"({name})" if name in forgetful else name for name in engine.voters)
    return replace(engine, nodes=nodes, voters=voters)


def elect_manager(engine: FakeEngine) -> FakeEngine:
    """With an elected manager if a majority of the voters is there, and without one otherwise."""
    voters = sorted(engine.voters & {n.name for n in engine.nodes if _MANAGER in n.roles})
    has_quorum = len(voters) >= len(engine.voters) // 2 + 1
    elected = engine.elected
    if not has_quorum:
        chosen = None
    elif elected is not None and elected.name not in engine.voting_exclusions:
        chosen = elected.name
    else:
        chosen = next((name for name in voters if name not in engine.voting_exclusions), voters[0])
    return replace(engine, nodes=tuple(replace(n, is_elected=n.name == chosen) for n in engine.nodes))


def join_nodes(engine: FakeEngine, running: Collection[Process]) -> FakeEngine:
    """With every process that may join. The very first manager makes a cluster of itself; later, voters
    find each other without one.
    """
    for process in sorted(running):
        if process.name not in engine.names and join_refusal(engine, process) is None:
            engine = _with_node(engine, process)
    return engine


def join_refusal(engine: FakeEngine, process: Process) -> str | None:
    """Why a process can never join, as long as neither it nor the cluster changes; None if it can."""
    own, disk = Version.parse(process.version), dict(engine.disks).get(process.name)
    if disk is not None and Version.parse(disk) > own:
        return f"cannot downgrade a node from version [{disk}] to version [{process.version}]"
    may_elect = process.name in engine.voters and _MANAGER in process.roles
    if engine.voters and engine.elected is None and not may_elect:
        return "no cluster manager"
    if not engine.voters and _MANAGER not in process.roles:
        return "no cluster to join"
    return _incompatibility(engine, own)


def _incompatibility(engine: FakeEngine, own: Version) -> str | None:
    """What an elected manager has against a version. Without one, voters are asked, and nobody else: nodes
    that have lost their manager let nobody in, and keep nobody out.
    """
    asked = (node for node in engine.nodes if engine.elected is not None or _MANAGER in node.roles)
    versions = [version_of(node) for node in asked]
    if versions and own.major < min(versions).major:
        return f"the cluster has left version {own.major}"
    if any(abs(own.major - other.major) > 1 for other in versions):
        return "more than one major version apart"
    if any(other.major < own.major and other < _FLOORS.get(own.major, Version(0)) for other in versions):
        return f"too old a cluster for {own}"
    newer = [index.name for index in engine.indices if Version.parse(index.created_by) > own]
    return f"index {newer[0]} was created by a newer version" if newer else None


def _with_node(engine: FakeEngine, process: Process) -> FakeEngine:
    is_first = not engine.voters
    node = Node(process.name, process.version, process.roles, is_elected=is_first)
    disks = dict(engine.disks)
    if process.keeps_data:
        disks[process.name] = process.version
    return replace(
        engine,
        nodes=(*engine.nodes, node),
        disks=tuple(sorted(disks.items())),
        voters=frozenset({process.name}) if is_first else engine.voters,
    )


def update_voters(engine: FakeEngine) -> FakeEngine:
    """The voters as an elected manager would have them: an odd number of managers that are there.

    Departed voters keep their vote where there would be fewer than three otherwise.
    """
    elected = engine.elected
    if elected is None:
        return engine
    excluded = {name.removeprefix(ABSENT) for name in engine.voting_exclusions}
    live = {n.name for n in engine.nodes if _MANAGER in n.roles} - excluded
    gone = sorted(engine.voters - live - excluded)
    kept = gone[: max(0, _SAFE - len(live))] if len(engine.voters) >= _SAFE else []
    wanted = live | set(kept)
    if len(wanted) % 2 == 0 and wanted:
        wanted -= {max(wanted - {elected.name}, default="")}
    return replace(engine, voters=frozenset(wanted) or engine.voters)
