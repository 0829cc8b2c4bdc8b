"""The objects of a cluster in each configuration version. Pure: the same spec, the same manifests."""

from __future__ import annotations

__all__ = ["client_service", "discovery_service", "disruption_budgets", "search_pool", "stateful_set"]

from collections.abc import Mapping
from typing import Any

from searchkeeper.api.spec import PoolSpec
from searchkeeper.desired import names
from searchkeeper.desired.cluster import DesiredCluster, cached_manifest
from searchkeeper.desired.pods import pod_template
from searchkeeper.kubernetes.operations import Manifest


@cached_manifest
def discovery_service(deployed: DesiredCluster, version: int | None = None) -> Manifest:
    """The headless Service by which nodes find each other; also before they are ready."""
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": deployed.labels(),
        "ports": [{"name": "transport", "port": names.TRANSPORT_PORT}],
    }
    name = names.discovery_service(deployed.name, version or deployed.version)
    return deployed.manifest("v1", "Service", name, spec=spec)


@cached_manifest
def client_service(deployed: DesiredCluster) -> Manifest:
    """Where clients go."""
    spec = {"selector": deployed.labels(), "ports": [{"name": "http", "port": names.HTTP_PORT}]}
    return deployed.manifest("v1", "Service", deployed.name, spec=spec)


@cached_manifest
def disruption_budgets(
    deployed: DesiredCluster, pools: tuple[PoolSpec, ...], uncounted: int | None = None
) -> tuple[Manifest, ...]:
    """Exactly one over each pod, for none is evicted that has two: over all voters, and over each other pool.

    Each lets one go, or no machine with the only pod of a pool could ever be drained. `uncounted` is how many
    voters there are while Kubernetes cannot count them, because some are between two StatefulSets.
    """
    voting = [pool.name for pool in pools if pool.votes]
    others = [
        _budget(
            deployed, names.pool_name(deployed.name, pool.name), {"matchLabels": deployed.labels(pool.name)}
        )
        for pool in pools
        if not pool.votes
    ]
    if not voting:
        return tuple(others)
    one_of = {"key": names.pool_label(deployed.version), "operator": "In", "values": voting}
    selector = {"matchLabels": deployed.labels(), "matchExpressions": [one_of]}
    return *others, _budget(deployed, names.voters_budget(deployed.name), selector, uncounted)


def _budget(
    deployed: DesiredCluster, name: str, selector: Mapping[str, Any], uncounted: int | None = None
) -> Manifest:
    spec = {
        **({"maxUnavailable": 1} if uncounted is None else {"minAvailable": max(0, uncounted - 1)}),
        "selector": selector,
        # A pod that serves nobody keeps nobody's machine: it would wait for a health that does not come.
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    return deployed.manifest("policy/v1", "PodDisruptionBudget", name, spec=spec)


@cached_manifest
def search_pool(deployed: DesiredCluster, pool: PoolSpec, permitted_version: str) -> Manifest:
    """The child of a pool, which tells how far it is; `permitted` is the engine version it may run."""
    storage = pool.storage
    spec = {
        "cluster": deployed.name,
        "roles": sorted(pool.roles),
        "replicas": pool.replicas,
        "engineVersion": permitted_version,
        "storage": {
            "size": storage.size,
            "ephemeral": storage.ephemeral,
            **({"storageClass": storage.storage_class} if storage.storage_class else {}),
        },
    }
    return deployed.manifest(
        f"{names.GROUP}/v1alpha1", "SearchPool", names.pool_name(deployed.name, pool.name), spec=spec
    )


@cached_manifest
def stateful_set(
    deployed: DesiredCluster, pool: PoolSpec, engine_version: str, partition: int | None
) -> Manifest:
    """The nodes of a pool. Those that hold data or vote are replaced only when they are deleted.

    `partition` is for the others: how far down Kubernetes may replace them by itself.
    """
    labels = deployed.labels(pool.name)
    strategy: dict[str, Any] = {"type": "OnDelete"}
    if not (pool.holds_data or pool.votes):
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition or 0}}
    pod = pod_template(deployed, pool, engine_version)
    spec = {
        "replicas": pool.replicas,
        # Settled at birth, so it is the one Service whose name no version has changed.
        "serviceName": deployed.name,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": labels},
        "updateStrategy": strategy,
        "template": pod,
        **_claims(pool),
    }
    made = deployed.manifest("apps/v1", "StatefulSet", names.pool_name(deployed.name, pool.name), spec=spec)
    made["metadata"]["annotations"][names.TEMPLATE] = pod["metadata"]["annotations"][names.TEMPLATE]
    return made


def _claims(pool: PoolSpec) -> dict[str, Any]:
    if pool.storage.ephemeral:
        return {}
    claim: dict[str, Any] = {
        "accessModes": ["ReadWriteOnce"],
        "resources": {"requests": {"storage": pool.storage.size}},
    }
    if pool.storage.storage_class:
        claim["storageClassName"] = pool.storage.storage_class
    return {"volumeClaimTemplates": [{"metadata": {"name": "data"}, "spec": claim}]}
