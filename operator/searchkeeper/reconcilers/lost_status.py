"""What a lost status contained, derived from what is deployed and from the engine.

A backup restore, or a CRD that does not declare a field, can remove the status at any moment. Without it the
cluster would count as new, a half upgrade as none, and engine settings of the operator as those of a user.
"""

from __future__ import annotations

__all__ = ["record_version", "recovered_engine_version", "recovered_ledger"]

from semver import Version

from searchkeeper.desired import names
from searchkeeper.kubernetes.operations import Patch
from searchkeeper.opensearch.view import EngineView
from searchkeeper.reconcilers.credentials import Credentials
from searchkeeper.reconcilers.spec_lock import SpecLock, is_partly_deleted
from searchkeeper.snapshot import ClusterSnapshot, ClusterView
from searchkeeper.upgrade.engine_settings import recovered_settings
from searchkeeper.upgrade.ledger import LOCK, UPGRADE, UpgradeLedger
from searchkeeper.upgrade.version_policy import version_refusal
from searchkeeper.versions import is_newer, parse


def record_version(cluster: ClusterView) -> Patch | None:
    """Return the patch that annotates the SearchCluster with its engine version; None if it is up to date.

    The annotation has the UID, too: a copied resource is another cluster.
    """
    recorded = f"{cluster.uid}/{cluster.engine_version}"
    if cluster.engine_version is None or dict(cluster.annotations).get(names.ENGINE_VERSION) == recorded:
        return None
    changes = {"metadata": {"annotations": {names.ENGINE_VERSION: recorded}}}
    return Patch(cluster.key, changes, cluster.resource_version)


def recovered_engine_version(snapshot: ClusterSnapshot) -> str | None:
    """The engine version that the status had; None for a cluster that has not formed yet.

    A cluster of an earlier release has no annotation. It has formed if every node has joined.
    """
    cluster, engine = snapshot.cluster, snapshot.engine
    uid, _, version = dict(cluster.annotations).get(names.ENGINE_VERSION, "").partition("/")
    if uid == cluster.uid and parse(version) is not None:
        return version
    if not isinstance(engine, EngineView):
        return None
    deployed = ((pool.spec.name, pool.stateful_set) for pool in snapshot.pools)
    nodes = [
        engine.node(f"{names.pool_name(cluster.key.name, pool)}-{ordinal}")
        for pool, stateful_set in deployed
        if stateful_set is not None
        for ordinal in range(stateful_set.replicas)
    ]
    joined = [Version.parse(node.version) for node in nodes if node is not None]
    return str(min(joined)) if joined and len(joined) == len(nodes) else None


def recovered_ledger(snapshot: ClusterSnapshot, *, is_version_lost: bool) -> UpgradeLedger:
    """The ledger with the engine settings in the engine's record, and with a half upgrade and its spec lock.

    An upgrade is looked for only where the status has no engine version, either. Once a deletion has started
    to restore engine settings, it ends by its deadline, whatever the record has.
    """
    cluster, engine = snapshot.cluster, snapshot.engine
    ledger = UpgradeLedger.of(cluster.records.ledger)
    if isinstance(engine, EngineView) and ledger.deleting_since is None:
        ledger = ledger.with_changes(recovered_settings(engine, ledger))
    if cluster.is_deleting or cluster.spec_error is not None:
        return ledger
    if is_version_lost and ledger.upgrade is None and cluster.engine_version is not None:
        target = _upgrade_target(snapshot, cluster.engine_version)
        ledger = ledger.with_changes({UPGRADE: None if target is None else (cluster.engine_version, target)})
    if ledger.upgrade is not None and ledger.lock is None and not any(map(is_partly_deleted, snapshot.pools)):
        lock = SpecLock(snapshot, ledger, Credentials(snapshot, is_locked=False)).deployed_spec
        ledger = ledger.with_changes({LOCK: lock})
    return ledger


def _upgrade_target(snapshot: ClusterSnapshot, before: str) -> str | None:
    """The target of a half upgrade; None if nothing newer is deployed.

    That is the version of the spec if it can follow `before`, else the newest that is deployed: from there
    the rollback, or the upgrade to another version, is decided as in every upgrade.
    """
    deployed = {pod.engine_version for pod in snapshot.pods}
    for pool in snapshot.pools:
        deployed |= {pool.permitted_version or ""}
        deployed |= {"" if pool.stateful_set is None else pool.stateful_set.engine_version}
    newer = [version for version in deployed if parse(version) and is_newer(version, before)]
    if not newer:
        return None
    wanted = snapshot.cluster.spec.version
    is_reachable = wanted != before and version_refusal(before, wanted, snapshot.release) is None
    return wanted if is_reachable else max(newer, key=Version.parse)
