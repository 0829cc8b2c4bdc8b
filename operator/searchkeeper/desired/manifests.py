"""Manifests of Services, PodDisruptionBudgets, SearchPools and StatefulSets."""

from __future__ import annotations

__all__ = ["client_service", "discovery_service", "disruption_budgets", "search_pool", "stateful_set"]

import json
from collections.abc import Mapping
from typing import Any

from searchkeeper.api.spec import PoolSpec
from searchkeeper.desired import names
from searchkeeper.desired.cluster import DesiredCluster, memoize_manifest
from searchkeeper.desired.pods import pod_template
from searchkeeper.kubernetes.operations import Manifest


@memoize_manifest
def discovery_service(cluster: DesiredCluster, version: int | None = None) -> Manifest:
    """The headless Service for discovery. `version` selects the name that another version uses."""
    spec = {
        "clusterIP": "None",
        # Nodes must find each other to form the cluster before they can be ready.
        "publishNotReadyAddresses": True,
        "selector": cluster.labels(),
        "ports": [{"name": "transport", "port": names.TRANSPORT_PORT}],
    }
    name = names.discovery_service(cluster.name, version or cluster.version)
    return cluster.manifest("v1", "Service", name, spec=spec)


@memoize_manifest
def client_service(cluster: DesiredCluster) -> Manifest:
    """The Service that clients connect to."""
    spec = {"selector": cluster.labels(), "ports": [{"name": "http", "port": names.HTTP_PORT}]}
    return cluster.manifest("v1", "Service", cluster.name, spec=spec)


@memoize_manifest
def disruption_budgets(
    cluster: DesiredCluster, pools: tuple[PoolSpec, ...], voter_count: int | None = None
) -> tuple[Manifest, ...]:
    """One budget for all voters and one for each other pool; each allows one unavailable pod.

    No pod has two budgets, because the eviction API refuses such a pod. `voter_count` is set while some
    voters have no StatefulSet: Kubernetes cannot compute `maxUnavailable` then.
    """
    voting = [pool.name for pool in pools if pool.votes]
    budgets = [
        _disruption_budget(
            cluster, names.pool_name(cluster.name, pool.name), {"matchLabels": cluster.labels(pool.name)}
        )
        for pool in pools
        if not pool.votes
    ]
    if voting:
        in_voting_pool = {"key": names.pool_label(cluster.version), "operator": "In", "values": voting}
        selector = {"matchLabels": cluster.labels(), "matchExpressions": [in_voting_pool]}
        name = names.voters_budget(cluster.name)
        budgets.append(_disruption_budget(cluster, name, selector, voter_count))
    return tuple(budgets)


def _disruption_budget(
    cluster: DesiredCluster, name: str, selector: Mapping[str, Any], pod_count: int | None = None
) -> Manifest:
    spec = {
        **({"maxUnavailable": 1} if pod_count is None else {"minAvailable": max(0, pod_count - 1)}),
        "selector": selector,
        # A pod that is not ready protects nothing. It must not block the drain of its Kubernetes node.
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    return cluster.manifest("policy/v1", "PodDisruptionBudget", name, spec=spec)


@memoize_manifest
def search_pool(cluster: DesiredCluster, pool: PoolSpec, permitted_version: str) -> Manifest:
    """The SearchPool of a pool. `permitted_version` is the engine version that its pods may run now."""
    storage = pool.storage
    spec: dict[str, Any] = {
        "cluster": cluster.name,
        "roles": sorted(pool.roles),
        "replicas": pool.replicas,
        "engineVersion": permitted_version,
        "storage": {
            "size": storage.size,
            "ephemeral": storage.ephemeral,
            **({"storageClass": storage.storage_class} if storage.storage_class else {}),
        },
    }
    if cluster.has_portable_pods and pool.pod_template is not None:
        spec["podTemplate"] = json.loads(pool.pod_template)
    if config := cluster.config(pool):
        # Those of the cluster too: an upgrade locks the settings that its nodes have.
        spec["config"] = config
    return cluster.manifest(
        f"{names.GROUP}/v1alpha1", "SearchPool", names.pool_name(cluster.name, pool.name), spec=spec
    )


@memoize_manifest
def stateful_set(
    cluster: DesiredCluster, pool: PoolSpec, engine_version: str, partition: int | None
) -> Manifest:
    """The nodes of a pool.

    The operator itself deletes pods of data and voting pools. Kubernetes rolls other pools, down to the
    ordinal `partition`.
    """
    strategy: dict[str, Any] = {"type": "OnDelete"}
    if not (pool.holds_data or pool.votes):
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition or 0}}
    template = pod_template(cluster, pool, engine_version)
    spec: dict[str, Any] = {
        "replicas": pool.replicas,
        # Immutable, so it is the one Service whose name is the same in all configuration versions.
        "serviceName": cluster.name,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": cluster.labels(pool.name)},
        "updateStrategy": strategy,
        "template": template,
    }
    if not pool.storage.ephemeral:
        claim: dict[str, Any] = {
            "accessModes": ["ReadWriteOnce"],
            "resources": {"requests": {"storage": pool.storage.size}},
        }
        if pool.storage.storage_class:
            claim["storageClassName"] = pool.storage.storage_class
        spec["volumeClaimTemplates"] = [{"metadata": {"name": "data"}, "spec": claim}]
    manifest = cluster.manifest("apps/v1", "StatefulSet", names.pool_name(cluster.name, pool.name), spec=spec)
    template_digest = template["metadata"]["annotations"][names.TEMPLATE]
    manifest["metadata"]["annotations"][names.TEMPLATE] = template_digest
    return manifest
