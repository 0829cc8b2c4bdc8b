"""The way back: until when it is open, and what closes it."""

from __future__ import annotations

__all__ = ["point_of_no_return", "rollback_blockers", "upgraded_nodes"]

from collections.abc import Iterable, Iterator

from searchkeeper.opensearch.view import EngineView, ShardState, Unreachable
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.upgrade.volumes import claim_of
from searchkeeper.versions import is_newer


def rollback_blockers(snapshot: ClusterSnapshot, ledger: UpgradeLedger, before: str) -> tuple[str, ...]:
    """What stands against going back to `before`, in sentences; nothing while the way is open.

    A node that has once run the newer version cannot run the older one on the same disk. So the way is open
    only while every shard has a started copy on a node that has not, no index was made by the newer version,
    and the majority of voters is still old. A node that is on its way out is none to go back to. As long as
    no node has run the newer version, nobody needs to be asked.
    """
    if not upgraded_nodes(snapshot, ledger, before):
        return ()
    if isinstance(snapshot.engine, Unreachable):
        return (f"the engine does not answer: {snapshot.engine.cause}",)
    here = {pod.name for pod in snapshot.pods if not pod.is_terminating}
    return tuple(_objections(snapshot.engine, before, _old_nodes(snapshot.engine, before) & here))


def upgraded_nodes(snapshot: ClusterSnapshot, ledger: UpgradeLedger, before: str) -> dict[str, str]:
    """The nodes that have run a newer version, with the UID of the claim they had; "" for none."""
    started = (pod for pod in snapshot.pods if pod.has_started and is_newer(pod.engine_version, before))
    claims = {pod.name: claim_of(snapshot, pod.name) for pod in started}
    return ledger.upgraded_nodes | {name: claim.uid if claim else "" for name, claim in claims.items()}


def point_of_no_return(engine: EngineView, pods: Iterable[str], before: str) -> tuple[str, str] | None:
    """The first of these pods, which go in this order, that closes the way when it goes, and why."""
    old = _old_nodes(engine, before)
    for pod in pods:
        old -= {pod}
        objection = next(_objections(engine, before, old), None)
        if objection is not None:
            return pod, objection
    return None


def _old_nodes(engine: EngineView, before: str) -> frozenset[str]:
    return frozenset(node.name for node in engine.nodes if not is_newer(node.version, before))


def _objections(engine: EngineView, before: str, old: frozenset[str]) -> Iterator[str]:
    yield from _shards_without_old_copy(engine, old)
    yield from _new_indices(engine, before)
    yield from _lost_majority(engine, old)


def _shards_without_old_copy(engine: EngineView, old: frozenset[str]) -> Iterator[str]:
    """With segment replication, a primary on a newer node has written what older ones cannot read."""
    safe = {copy.id for copy in engine.shards if copy.state is ShardState.STARTED and copy.node in old}
    for index, shard in sorted({copy.id for copy in engine.shards} - safe):
        yield f"{index}[{shard}] has no copy on a node of the older version"
    segments = {index.name for index in engine.indices if index.segment_replication}
    for copy in engine.shards:
        if copy.index in segments and copy.is_primary and copy.id in safe and copy.node not in old:
            yield f"{copy.index}[{copy.shard}] replicates segments of the newer version"


def _new_indices(engine: EngineView, before: str) -> Iterator[str]:
    for index in engine.indices:
        if is_newer(index.created_by, before):
            yield f"index {index.name} was created by {index.created_by}"


def _lost_majority(engine: EngineView, old: frozenset[str]) -> Iterator[str]:
    left = len(engine.voters & old)
    if engine.voters and left < len(engine.voters) // 2 + 1:
        yield f"{left} of {len(engine.voters)} voters would be of the older version"
