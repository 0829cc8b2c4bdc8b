"""What an action looks at: the world, the version it brings about, and the spec that counts."""

from __future__ import annotations

__all__ = ["INVALID_SPEC", "ReconcileContext"]

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Final

from searchkeeper.api.codec import decode_cluster_spec, decode_pool_spec, encode_pools
from searchkeeper.api.spec import ClusterSpec, PoolSpec
from searchkeeper.desired import names
from searchkeeper.desired.cluster import DesiredCluster
from searchkeeper.desired.deployed_spec import deployed_dashboards, deployed_security
from searchkeeper.desired.manifests import stateful_set
from searchkeeper.kubernetes.operations import Key, Manifest
from searchkeeper.opensearch.view import EngineView
from searchkeeper.redaction import missing_entries
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from searchkeeper.upgrade.failed_pods import (
    is_unrelated_failure,
    needs_early_replacement,
    replicas_after_abandoning,
)
from searchkeeper.upgrade.gates import Candidate
from searchkeeper.upgrade.ledger import UpgradeLedger
from searchkeeper.upgrade.order import pools_in_order
from searchkeeper.upgrade.version_policy import VersionRefusal, version_refusal
from searchkeeper.versions import parse

# The reason of whatever refuses a spec as a whole.
INVALID_SPEC: Final = "SpecNotReadable"


@dataclass(frozen=True)
class ReconcileContext:
    """One resource's view of one cycle. Computed parts are computed once."""

    snapshot: ClusterSnapshot
    version: int

    @cached_property
    def ledger(self) -> UpgradeLedger:
        return UpgradeLedger.of(self.snapshot.cluster.records.ledger)

    @property
    def spec(self) -> ClusterSpec:
        return self.snapshot.cluster.spec

    @property
    def deployed_spec(self) -> str:
        """What is deployed at this moment, as a spec, whatever else is wanted of it."""
        written = json.loads(self.snapshot.cluster.raw_spec)
        stands = {
            **written,
            "pools": encode_pools(
                each for each in map(self._standing, self.snapshot.pools) if each is not None
            ),
            "security": self._security_standing(written.get("security") or {}),
            "dashboards": deployed_dashboards(self._dashboards, written.get("dashboards") or {}),
        }
        return json.dumps(stands, sort_keys=True, separators=(",", ":"))

    @property
    def reduced_lock(self) -> str | None:
        """The lock without nodes that are down for good and not asked for any more; None without such nodes.

        An upgrade would wait for them for ever, and whoever gives them up would wait for its end.
        """
        if self.ledger.lock is None or self.snapshot.cluster.spec_error is not None:
            return None
        if all(pod.is_ready for pod in self.snapshot.pods):
            return None
        written = decode_cluster_spec(json.loads(self.snapshot.cluster.raw_spec))
        asked = {pool.name: pool.replicas for pool in written.pools}
        left = {
            pool.spec.name: replicas_after_abandoning(
                self.snapshot, pool, pool.replicas, asked.get(pool.spec.name, 0)
            )
            for pool in self.snapshot.pools
        }
        if left == {pool.spec.name: pool.replicas for pool in self.snapshot.pools}:
            return None
        lock = json.loads(self.ledger.lock)
        pools = [{**each, "replicas": left.get(each["name"], each["replicas"])} for each in lock["pools"]]
        return json.dumps({**lock, "pools": pools}, sort_keys=True, separators=(",", ":"))

    @cached_property
    def deployed(self) -> DesiredCluster:
        cluster = self.snapshot.cluster
        return DesiredCluster(
            cluster.key.name,
            cluster.key.namespace,
            cluster.uid,
            self.spec,
            self.version,
            tuple(sorted(self._credentials().items())),
            self._bootstrapper,
            self.snapshot.images,
        )

    @cached_property
    def target(self) -> str:
        """The engine version that nodes are brought to: an upgrade's, that of its way back, or what runs."""
        back, under_way = self.ledger.rollback_to, self.ledger.upgrade
        if back is not None:
            return back
        if under_way is not None:
            return under_way[1]
        return self.snapshot.cluster.engine_version or self.spec.version

    @cached_property
    def pools(self) -> tuple[PoolView, ...]:
        """In the order they are upgraded, or go back.

        A pool that is not wanted any more goes along until its last node has left.
        """
        return pools_in_order(
            self.snapshot.pools,
            self.snapshot.engine,
            leaves_major=self._leaves_major,
            rollback_to=self.ledger.rollback_to,
        )

    @cached_property
    def active_pool(self) -> str | None:
        """The pool whose template may change: the first that is not what it should be, or not at rest."""
        return next((pool.spec.name for pool in self.pools if not self._is_settled(pool)), None)

    @property
    def pending_pools(self) -> frozenset[str]:
        """The pools whose turn has not come."""
        names = [pool.spec.name for pool in self.pools]
        return (
            frozenset() if self.active_pool is None else frozenset(names[names.index(self.active_pool) + 1 :])
        )

    def is_due(self, pool: PoolView) -> bool:
        """Whether its template may change: it is its turn, or somebody of it is down whom that may mend.

        Not while a person has paused the upgrade: whoever is evicted meanwhile comes back as it was.
        """
        if self.is_paused(pool):
            return False
        return self.active_pool == pool.spec.name or any(
            pod.template != self.template(pool)
            and needs_early_replacement(self.snapshot, self.ledger, Candidate(pod, pool))
            for pod in pool.retained_pods
        )

    def is_paused(self, pool: PoolView) -> bool:
        """Whether a person keeps its template from changing."""
        found = pool.stateful_set
        return self.spec.upgrade.paused and found is not None and found.template != self.template(pool)

    @cached_property
    def refusal(self) -> VersionRefusal | None:
        """Why the wanted engine version is not brought about, if it is not; or nothing that is written."""
        cluster, under_way = self.snapshot.cluster, self.ledger.upgrade
        if cluster.spec_error is not None:
            return VersionRefusal(INVALID_SPEC, cluster.spec_error)
        running = self._newest_running if under_way is None else under_way[0]
        return version_refusal(running, cluster.spec.version, self.snapshot.release) or self._without_memory(
            running
        )

    @property
    def missing_secret(self) -> Key | None:
        """The Secret with the credentials that the spec names, while it is not there, or not whole."""
        asked = self._asked_secret
        return None if asked in self.snapshot.objects and not self.missing_entries else asked

    @property
    def missing_entries(self) -> tuple[str, ...]:
        """What the Secret with the credentials lacks, where there is one, and nodes read it."""
        asked = self._asked_secret
        found = None if asked is None else self.snapshot.objects.get(asked)
        is_read = self.spec.security.tls_secret is not None
        return () if found is None or not is_read else missing_entries(found, names.CREDENTIALS)

    @property
    def has_credentials(self) -> bool:
        """Whether nodes were ever given any, be it none at all."""
        return any(each in self.snapshot.objects for each in self.own_secrets)

    @property
    def own_secrets(self) -> tuple[Key, ...]:
        """Where nodes have their credentials: of this version, and of the first."""
        cluster = self.snapshot.cluster.key.name
        own = (names.credentials_secret(cluster), names.old_config_secret(cluster))
        return tuple(self.key("v1", "Secret", each) for each in own)

    def template(self, pool: PoolView) -> str:
        """The digest of the template that the pool's pods are to be made from in the end."""
        wanted = stateful_set(self.deployed, pool.spec, self.target, None)
        return str(wanted["metadata"]["annotations"][names.TEMPLATE])

    def live(self, wanted: Manifest) -> Manifest | None:
        """The object as it is, for one that is wanted."""
        return self.snapshot.objects.get(Key.of(wanted))

    def key(self, api: str, kind: str, name: str) -> Key:
        return Key(api, kind, self.snapshot.cluster.key.namespace, name)

    @property
    def _leaves_major(self) -> bool:
        cluster = self.snapshot.cluster
        under_way = self.ledger.upgrade or (cluster.engine_version or "", cluster.spec.version)
        before, after = map(parse, under_way)
        return before is not None and after is not None and before.major < after.major

    @property
    def _newest_running(self) -> str | None:
        """What runs; while a new cluster has not arrived anywhere yet, the newest that has joined it."""
        if self.snapshot.cluster.engine_version is not None or not isinstance(
            self.snapshot.engine, EngineView
        ):
            return self.snapshot.cluster.engine_version
        versions = (parse(node.version) for node in self.snapshot.engine.nodes)
        newest = max((each for each in versions if each is not None), default=None)
        return None if newest is None else str(newest)

    def _without_memory(self, running: str | None) -> VersionRefusal | None:
        """Managers on ephemeral storage forget the cluster when they restart: no upgrade begins like that."""
        if running is None or running == self.spec.version:
            return None
        standing = (pool.spec for pool in self.snapshot.pools if pool.is_wanted)
        forgetful = [pool.name for pool in standing if pool.votes and pool.storage.ephemeral]
        if not forgetful:
            return None
        sentence = f"the managers of {', '.join(forgetful)} keep the cluster's state on ephemeral storage"
        return VersionRefusal("MetadataNotPersistent", sentence)

    def _standing(self, pool: PoolView) -> PoolSpec | None:
        name = names.pool_name(self.deployed.name, pool.spec.name)
        child = self.snapshot.objects.get(self.key(f"{names.GROUP}/v1alpha1", "SearchPool", name))
        if child is None:
            return None
        spec, found = decode_pool_spec(pool.spec.name, child["spec"]), pool.stateful_set
        return spec if found is None else replace(spec, replicas=found.replicas)

    def _security_standing(self, written: Mapping[str, Any]) -> dict[str, Any]:
        sets = (each for key, each in sorted(self.snapshot.objects.items()) if key.kind == "StatefulSet")
        own = (self.snapshot.objects[each] for each in self.own_secrets if each in self.snapshot.objects)
        return deployed_security(sets, own, written)

    @property
    def _dashboards(self) -> Manifest | None:
        name = names.dashboards(self.snapshot.cluster.key.name)
        return self.snapshot.objects.get(self.key("apps/v1", "Deployment", name))

    def _is_settled(self, pool: PoolView) -> bool:
        found = pool.stateful_set
        if found is None:
            return pool.is_over
        return (
            pool.permitted_version == self.target
            and found.configuration == self.version
            and found.template == self.template(pool)
            and not pool.outdated_pods
            and len(pool.retained_pods) >= min(found.replicas, pool.replicas)
            and all(self._is_well(Candidate(pod, pool)) for pod in pool.retained_pods)
        )

    def _is_well(self, candidate: Candidate) -> bool:
        pod = candidate.pod
        is_ready = pod.is_ready and not pod.is_terminating
        return is_ready or is_unrelated_failure(self.snapshot, self.ledger, candidate)

    @property
    def _bootstrapper(self) -> str | None:
        """The manager that nodes were told to begin the cluster with; None while it has not been complete.

        A cluster that has begun needs none, so another first pool is no reason to restart every node. And a
        manager on an empty disk that is told to begin with itself would, where it finds nobody.
        """
        sets = (pool.stateful_set for pool in self.snapshot.pools)
        told = (found.bootstrapper for found in sets if found is not None)
        return None if self.snapshot.cluster.engine_version is None else next(filter(None, told), None)

    def _credentials(self) -> Mapping[str, str]:
        """Those of the Secret that the spec names; while it is missing, those that nodes have already.

        While an upgrade is under way nodes keep those that they have.
        """
        asked = self._asked_secret
        if asked is None:
            return {}
        given = () if self.missing_secret is not None else (asked,)
        order = (*given, *self.own_secrets) if self.ledger.lock is None else (*self.own_secrets, *given)
        found = (self.snapshot.objects.get(each) for each in order)
        data: Mapping[str, str] = next((each for each in found if each is not None), {}).get("data") or {}
        return {entry: data[entry] for entry in names.CREDENTIALS if entry in data}

    @property
    def _asked_secret(self) -> Key | None:
        name = self.spec.security.credentials_secret
        return None if name is None else self.key("v1", "Secret", name)
