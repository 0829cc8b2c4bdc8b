"""The volume claims of nodes: what outlives a pod, and what an older version cannot read any more."""

from __future__ import annotations

__all__ = ["Claim", "claim_of", "delete_claim", "is_writable_by", "needs_empty_disk"]

from dataclasses import dataclass

from searchkeeper.kubernetes.operations import Delete, Key
from searchkeeper.opensearch.view import Color, EngineView
from searchkeeper.snapshot import ClusterSnapshot, Pod
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.versions import is_newer


@dataclass(frozen=True, slots=True)
class Claim:
    """A pod's claim to its volume, as it was seen."""

    key: Key
    uid: str
    resource_version: str
    is_leaving: bool


def claim_of(snapshot: ClusterSnapshot, pod: str) -> Claim | None:
    """The claim of a pod that keeps its data, while there is one."""
    key = Key("v1", "PersistentVolumeClaim", snapshot.cluster.key.namespace, f"data-{pod}")
    found = snapshot.objects.get(key)
    if found is None:
        return None
    metadata = found["metadata"]
    return Claim(key, metadata["uid"], metadata["resourceVersion"], "deletionTimestamp" in metadata)


def delete_claim(claim: Claim) -> Delete:
    """Exactly this claim. Kubernetes keeps the volume until the pod that uses it is gone as well."""
    return Delete(claim.key, claim.uid, claim.resource_version)


def is_writable_by(engine: EngineView, node: str, version: str) -> bool:
    """Whether a process of this version could run on what the node, as it has joined, has written."""
    found = engine.node(node)
    return found is None or not is_newer(found.version, version)


def needs_empty_disk(snapshot: ClusterSnapshot, ledger: UpgradeLedger, pod: Pod) -> bool:
    """A pod of the older version whose process ran, on the very volume that a newer one has written to.

    Where the engine misses a primary nothing is certain: what is on that volume may be all there is.
    """
    engine, claim = snapshot.engine, claim_of(snapshot, pod.name)
    if pod.is_ready or pod.is_terminating or pod.engine_version != ledger.rollback_to:
        return False
    if claim is None or not pod.has_started or ledger.upgraded_nodes.get(pod.name) != claim.uid:
        return False
    return isinstance(engine, EngineView) and engine.color is not Color.RED and engine.node(pod.name) is None
