"""What the actions of a SearchCluster decide on: the snapshot, and what follows from it."""

from __future__ import annotations

__all__ = ["ReconcileContext"]

from dataclasses import dataclass, replace
from functools import cached_property

from searchkeeper.api.spec import ClusterSpec, Storage
from searchkeeper.desired import names
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.desired.manifests import stateful_set
from searchkeeper.desired.quantities import is_less
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.planner import LedgerChange, Result
from searchkeeper.reconcilers.credentials import Credentials
from searchkeeper.reconcilers.refusal import spec_refusal
from searchkeeper.reconcilers.secret_digests import SecretDigests
from searchkeeper.reconcilers.spec_lock import SpecLock
from searchkeeper.reconcilers.zones import Zones
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from searchkeeper.upgrade.failed_pods import is_unrelated_failure, needs_early_replacement
from searchkeeper.upgrade.gates import Candidate
from searchkeeper.upgrade.ledger import UPGRADED_NODES, UpgradeLedger
from searchkeeper.upgrade.order import pools_in_order
from searchkeeper.upgrade.rollback import choose_direction, upgraded_nodes
from searchkeeper.upgrade.version_policy import VersionRefusal
from searchkeeper.versions import parse


@dataclass(frozen=True)
class ReconcileContext:
    """One reconcile of one SearchCluster by the reconciler of a configuration version.

    Derived values are computed once, so that actions that share one do not run each other.
    """

    snapshot: ClusterSnapshot
    version: int

    @cached_property
    def ledger(self) -> UpgradeLedger:
        return UpgradeLedger.of(self.snapshot.cluster.records.ledger)

    @property
    def spec(self) -> ClusterSpec:
        """The spec in force: during an upgrade the one in the spec lock."""
        return self.snapshot.cluster.spec

    @cached_property
    def credentials(self) -> Credentials:
        return Credentials(self.snapshot, is_locked=self.ledger.lock is not None)

    @cached_property
    def spec_lock(self) -> SpecLock:
        return SpecLock(self.snapshot, self.ledger, self.credentials)

    @cached_property
    def refusal(self) -> VersionRefusal | None:
        """Why the spec, or its engine version, is refused."""
        return spec_refusal(self.snapshot, self.ledger)

    @cached_property
    def desired(self) -> DesiredCluster:
        """The input of every manifest."""
        cluster = self.snapshot.cluster
        digests = SecretDigests(self.snapshot, is_locked=self.ledger.lock is not None)
        zones = Zones(self.snapshot, is_locked=self.ledger.lock is not None)
        return DesiredCluster(
            cluster.key.name,
            cluster.key.namespace,
            cluster.uid,
            self.spec,
            self.version,
            tuple(sorted(self.credentials.data.items())),
            self._bootstrapper,
            self.snapshot.images,
            digests.certificates,
            digests.ca_certificate,
            digests.keystore,
            zones.topology_key,
            zones.is_aware,
        )

    @cached_property
    def target(self) -> str:
        """The engine version that nodes are brought to: of a rollback, of an upgrade, or what runs."""
        if self.ledger.rollback_to is not None:
            return self.ledger.rollback_to
        if self.ledger.upgrade is not None:
            return self.ledger.upgrade[1]
        return self.snapshot.cluster.engine_version or self.spec.version

    @cached_property
    def direction(self) -> Result | None:
        """What the upgrade in progress does next: continue, change its target or roll back."""
        return None if self.ledger.upgrade is None else choose_direction(self.snapshot, self.ledger)

    @property
    def is_changing_direction(self) -> bool:
        """Whether this reconcile records another target or another direction."""
        return self.direction is not None and bool(self.direction.ledger_changes)

    @cached_property
    def upgraded_nodes_changes(self) -> tuple[LedgerChange, ...]:
        """Record nodes that have started the newer version: the older one cannot use their volumes.

        Also during a rollback: a pod without a machine may start the newer version only then.
        """
        if self.ledger.upgrade is None:
            return ()
        nodes = upgraded_nodes(self.snapshot, self.ledger, self.ledger.upgrade[0])
        if nodes == self.ledger.upgraded_nodes:
            return ()
        return (LedgerChange(UPGRADED_NODES, tuple(sorted(nodes.items()))),)

    @property
    def has_upgrade_ledger_changes(self) -> bool:
        """Whether UpgradeStarted or RollbackPossible change the ledger lines of the upgrade now."""
        is_reduced = self.spec_lock.reduced is not None
        return is_reduced or self.is_changing_direction or bool(self.upgraded_nodes_changes)

    @cached_property
    def pools(self) -> tuple[PoolView, ...]:
        """Pools in the order of the rollout. A removed pool is part of it until its last node has left."""
        cluster = self.snapshot.cluster
        before, after = map(
            parse, self.ledger.upgrade or (cluster.engine_version or "", cluster.spec.version)
        )
        leaves_major = before is not None and after is not None and before.major < after.major
        return pools_in_order(
            self.snapshot.pools,
            self.snapshot.engine,
            leaves_major=leaves_major,
            rollback_to=self.ledger.rollback_to,
        )

    @cached_property
    def active_pool(self) -> str | None:
        """The first pool of the rollout that is not complete: the only one whose template may change."""
        return next((pool.spec.name for pool in self.pools if not self._is_complete(pool)), None)

    @property
    def pending_pools(self) -> frozenset[str]:
        """The pools after the active one."""
        if self.active_pool is None:
            return frozenset()
        order = [pool.spec.name for pool in self.pools]
        return frozenset(order[order.index(self.active_pool) + 1 :])

    def may_change_template(self, pool: PoolView) -> bool:
        """Whether the pool is active, or has a failed pod that the new template may repair.

        Never while the upgrade is paused: an evicted pod must come back unchanged.
        """
        if self.is_paused(pool):
            return False
        return self.active_pool == pool.spec.name or any(
            pod.template != self.template(pool)
            and needs_early_replacement(self.snapshot, self.ledger, Candidate(pod, pool))
            for pod in pool.retained_pods
        )

    def is_paused(self, pool: PoolView) -> bool:
        """Whether `spec.upgrade.paused` keeps the template of the pool from changing."""
        deployed = pool.stateful_set
        return self.spec.upgrade.paused and deployed is not None and deployed.template != self.template(pool)

    def template(self, pool: PoolView) -> str:
        """The digest of the pod template that the pool has when the rollout is complete."""
        manifest = stateful_set(self.desired, pool.spec, self.target, None)
        return str(manifest["metadata"]["annotations"][names.TEMPLATE])

    def wanted_storage(self, pool: PoolView) -> Storage:
        """The storage in the spec if nodes with what is deployed can get it, else what is deployed.

        Volumes only grow, and not before version 5.
        """
        deployed = pool.spec.storage
        written = next((each.storage for each in self.spec.pools if each.name == pool.spec.name), deployed)
        is_other = replace(written, size=deployed.size) != deployed or is_less(written.size, deployed.size)
        return written if self.desired.has_expandable_volumes and not is_other else deployed

    def may_resize(self, pool: PoolView) -> bool:
        """Whether volumes of the pool may grow now: not during an upgrade, as a rollback may replace them."""
        is_persistent = pool.is_wanted and not pool.spec.storage.ephemeral
        return is_persistent and self.desired.has_expandable_volumes and self.ledger.upgrade is None

    def has_small_claim_templates(self, pool: PoolView) -> bool:
        """Whether the StatefulSet gives new pods smaller volumes than the spec names; it is replaced."""
        is_deployed = pool.stateful_set is not None and self.may_resize(pool)
        return is_deployed and is_less(pool.spec.storage.size, self.wanted_storage(pool).size)

    def live(self, manifest: Manifest) -> Manifest | None:
        """The object in the snapshot with the key of this manifest."""
        return self.snapshot.objects.get(Key.of(manifest))

    def key(self, api: str, kind: str, name: str) -> Key:
        """The key of an object in the namespace of the cluster."""
        return Key(api, kind, self.snapshot.cluster.key.namespace, name)

    def _is_complete(self, pool: PoolView) -> bool:
        deployed = pool.stateful_set
        if deployed is None:
            return pool.is_over
        return (
            pool.permitted_version == self.target
            and deployed.configuration == self.version
            and deployed.template == self.template(pool)
            and not pool.outdated_pods
            and len(pool.retained_pods) >= min(deployed.replicas, pool.replicas)
            and all(
                (pod.is_ready and not pod.is_terminating)
                or is_unrelated_failure(self.snapshot, self.ledger, Candidate(pod, pool))
                for pod in pool.retained_pods
            )
        )

    @property
    def _bootstrapper(self) -> str | None:
        """The manager that bootstraps the cluster; None until every node has joined once.

        Afterwards it does not change: another first pool must not restart every node. A manager on an empty
        disk that names itself would bootstrap a second cluster.
        """
        if self.snapshot.cluster.engine_version is None:
            return None
        deployed = (pool.stateful_set for pool in self.snapshot.pools)
        return next((each.bootstrapper for each in deployed if each is not None and each.bootstrapper), None)
