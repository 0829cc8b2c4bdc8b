"""Whether the engine version of the spec can follow what runs."""

from __future__ import annotations

__all__ = ["spec_refusal"]

from searchkeeper.api.reasons import Reason
from searchkeeper.opensearch.view import EngineView
from searchkeeper.snapshot import ClusterSnapshot
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.upgrade.version_policy import VersionRefusal, index_refusal, version_refusal
from searchkeeper.versions import parse


def spec_refusal(snapshot: ClusterSnapshot, ledger: UpgradeLedger) -> VersionRefusal | None:
    """Why the spec, or its engine version, is refused; None where it is accepted."""
    cluster = snapshot.cluster
    if cluster.spec_error is not None:
        return VersionRefusal(Reason.INVALID_SPEC, cluster.spec_error)
    running = _newest_running(snapshot) if ledger.upgrade is None else ledger.upgrade[0]
    refusal = version_refusal(running, cluster.spec.version, snapshot.release)
    return (
        refusal or _ephemeral_metadata(snapshot, running) or _incompatible_indices(snapshot, ledger, running)
    )


def _newest_running(snapshot: ClusterSnapshot) -> str | None:
    """The recorded engine version; for a new cluster the newest version of a node that has joined."""
    if snapshot.cluster.engine_version is not None or not isinstance(snapshot.engine, EngineView):
        return snapshot.cluster.engine_version
    versions = (parse(node.version) for node in snapshot.engine.nodes)
    newest = max((version for version in versions if version is not None), default=None)
    return None if newest is None else str(newest)


def _ephemeral_metadata(snapshot: ClusterSnapshot, running: str | None) -> VersionRefusal | None:
    """Refuse an upgrade of managers on ephemeral storage: a restart loses the cluster state."""
    if running is None or running == snapshot.cluster.spec.version:
        return None
    specs = (pool.spec for pool in snapshot.pools if pool.is_wanted)
    pools = [spec.name for spec in specs if spec.votes and spec.storage.ephemeral]
    if not pools:
        return None
    message = (
        f"the managers of {', '.join(pools)} keep the cluster state on ephemeral storage:"
        " a restart would lose it; add a pool of managers with volumes"
    )
    return VersionRefusal(Reason.METADATA_NOT_PERSISTENT, message)


def _incompatible_indices(
    snapshot: ClusterSnapshot, ledger: UpgradeLedger, running: str | None
) -> VersionRefusal | None:
    """Refuse an upgrade to a version that cannot open every index.

    The target of an upgrade in progress is not refused: a gate keeps it from the next pod.
    """
    version, engine = snapshot.cluster.spec.version, snapshot.engine
    is_target = ledger.upgrade is not None and ledger.upgrade[1] == version
    if running in (None, version) or is_target or not isinstance(engine, EngineView):
        return None
    return index_refusal(engine.indices, version)
