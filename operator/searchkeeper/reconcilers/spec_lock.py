"""The spec lock of an upgrade: the spec that stays in force until every node runs the target."""

from __future__ import annotations

__all__ = ["SpecLock", "is_partly_deleted"]

import json
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from searchkeeper.api.codec import decode_cluster_spec, decode_pool_spec, encode_pools
from searchkeeper.api.spec import PoolSpec
from searchkeeper.desired import names
from searchkeeper.desired.deployed_spec import deployed_dashboards, deployed_security
from searchkeeper.kubernetes.operations import Key
from searchkeeper.reconcilers.credentials import Credentials
from searchkeeper.snapshot import ClusterSnapshot, PoolView
from searchkeeper.upgrade.failed_pods import replicas_after_abandoning
from searchkeeper.upgrade.ledger import UpgradeLedger


@dataclass(frozen=True)
class SpecLock:
    """What a lock contains when an upgrade starts, and what it loses while the upgrade runs."""

    snapshot: ClusterSnapshot
    ledger: UpgradeLedger
    credentials: Credentials

    @property
    def deployed_spec(self) -> str:
        """The spec of what is deployed now, as canonical JSON.

        An edit that arrives together with the new version is not part of it. It is applied after the upgrade.
        """
        raw_spec = json.loads(self.snapshot.cluster.raw_spec)
        # The SearchPools have the deployed settings, the StatefulSets the deployed label.
        raw_spec.pop("config", None)
        topology_key = self._deployed_topology_key(raw_spec.pop("topologyKey", None))
        pools = [spec for spec in map(self._deployed_pool, self.snapshot.pools) if spec is not None]
        objects = self.snapshot.objects
        stateful_sets = (objects[key] for key in sorted(objects) if key.kind == "StatefulSet")
        own_secrets = (objects[key] for key in self.credentials.own_secrets if key in objects)
        deployment = objects.get(
            self._key("apps/v1", "Deployment", names.dashboards(self.snapshot.cluster.key.name))
        )
        return _canonical_json(
            {
                **raw_spec,
                "pools": encode_pools(pools),
                "security": deployed_security(stateful_sets, own_secrets, raw_spec.get("security") or {}),
                "dashboards": deployed_dashboards(deployment, raw_spec.get("dashboards") or {}),
                **({} if topology_key is None else {"topologyKey": topology_key}),
            }
        )

    @cached_property
    def reduced(self) -> str | None:
        """The lock without failed nodes that the spec no longer contains; None where there are none.

        Without this the upgrade waits for nodes that scale-in would remove, and scale-in for the upgrade.
        """
        if self.ledger.lock is None or self.snapshot.cluster.spec_error is not None:
            return None
        if all(pod.is_ready for pod in self.snapshot.pods):
            return None
        spec = decode_cluster_spec(json.loads(self.snapshot.cluster.raw_spec))
        wanted = {pool.name: pool.replicas for pool in spec.pools}
        remaining = {
            pool.spec.name: replicas_after_abandoning(
                self.snapshot, pool, pool.replicas, wanted.get(pool.spec.name, 0)
            )
            for pool in self.snapshot.pools
        }
        if remaining == {pool.spec.name: pool.replicas for pool in self.snapshot.pools}:
            return None
        lock = json.loads(self.ledger.lock)
        pools = [
            {**pool, "replicas": remaining.get(pool["name"], pool["replicas"])} for pool in lock["pools"]
        ]
        return _canonical_json({**lock, "pools": pools})

    def _key(self, api: str, kind: str, name: str) -> Key:
        return Key(api, kind, self.snapshot.cluster.key.namespace, name)

    def _deployed_topology_key(self, written: str | None) -> str | None:
        """The label of all StatefulSets. If they differ, a change was in progress and continues."""
        deployed = {
            pool.stateful_set.zones.topology_key
            for pool in self.snapshot.pools
            if pool.stateful_set is not None
        }
        [topology_key] = deployed if len(deployed) == 1 else [written]
        return topology_key

    def _deployed_pool(self, pool: PoolView) -> PoolSpec | None:
        """The pool as its SearchPool has it, with the replicas of its StatefulSet."""
        name = names.pool_name(self.snapshot.cluster.key.name, pool.spec.name)
        search_pool = self.snapshot.objects.get(self._key(f"{names.GROUP}/v1alpha1", "SearchPool", name))
        if search_pool is None:
            return None
        spec = decode_pool_spec(pool.spec.name, search_pool["spec"])
        return spec if pool.stateful_set is None else replace(spec, replicas=pool.stateful_set.replicas)


def is_partly_deleted(pool: PoolView) -> bool:
    """Whether a lock, which is made of what is deployed, would miss nodes of the pool."""
    deployed = pool.stateful_set
    if pool.allotted_replicas is None:
        return deployed is not None or bool(pool.pods)
    return deployed is not None and deployed.replicas < pool.allotted_replicas


def _canonical_json(content: Any) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"))
