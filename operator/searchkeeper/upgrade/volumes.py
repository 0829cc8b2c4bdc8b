"""Volume claims of nodes. They outlive pods, and an older version cannot read what a newer one wrote."""

from __future__ import annotations

__all__ = ["Claim", "claim_of", "is_writable_by", "needs_empty_disk", "needs_new_volume"]

from dataclasses import dataclass

from searchkeeper.kubernetes.operations import Key
from searchkeeper.opensearch.view import Color, EngineView, Unreachable
from searchkeeper.snapshot import ClusterSnapshot, Pod
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.versions import is_newer


@dataclass(frozen=True, slots=True)
class Claim:
    """The PersistentVolumeClaim of a pod."""

    key: Key
    uid: str
    resource_version: str
    is_terminating: bool


def claim_of(snapshot: ClusterSnapshot, pod: str) -> Claim | None:
    """Return the volume claim of a pod; None on ephemeral storage."""
    key = Key("v1", "PersistentVolumeClaim", snapshot.cluster.key.namespace, f"data-{pod}")
    manifest = snapshot.objects.get(key)
    if manifest is None:
        return None
    metadata = manifest["metadata"]
    return Claim(key, metadata["uid"], metadata["resourceVersion"], "deletionTimestamp" in metadata)


def is_writable_by(engine: EngineView, node: str, version: str) -> bool:
    """Whether `version` can start on the disk of a node, by the version with which that has joined."""
    joined = engine.node(node)
    return joined is None or not is_newer(joined.version, version)


def needs_new_volume(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pod: Pod) -> bool:
    """Whether a rollback has to delete the pod's volume: the older version cannot start on it."""
    if ledger.rollback_to is None or isinstance(snapshot.engine, Unreachable):
        return False
    has_volume = claim_of(snapshot, pod.name) is not None
    return has_volume and not is_writable_by(snapshot.engine, pod.name, ledger.rollback_to)


def needs_empty_disk(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pod: Pod) -> bool:
    """Whether a pod of the older version ran and failed on a volume that a newer version wrote to.

    False while the engine is red: the volume may hold the only copy of a missing primary.
    """
    engine, claim = snapshot.engine, claim_of(snapshot, pod.name)
    if pod.is_ready or pod.is_terminating or pod.engine_version != ledger.rollback_to:
        return False
    if claim is None or not pod.has_started or ledger.upgraded_nodes.get(pod.name) != claim.uid:
        return False
    return isinstance(engine, EngineView) and engine.color is not Color.RED and engine.node(pod.name) is None
