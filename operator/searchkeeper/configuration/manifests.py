"""The objects of a cluster in each configuration version. Pure: the same spec, the same manifests."""

from __future__ import annotations

__all__ = [
    "Deployed",
    "budgets",
    "client_service",
    "configuration",
    "dashboards",
    "discovery",
    "search_pool",
    "stateful_set",
]

import base64
import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from searchkeeper.configuration import names
from searchkeeper.images import dashboards_image, engine_image
from searchkeeper.resources.specs import ClusterSpec, PoolSpec
from searchkeeper.writes import Manifest

_HTTP: Final = 9200
_TRANSPORT: Final = 9300
_SPLIT_IN: Final = 2
# Manifests are values: for the same spec the very same ones are handed out again.
_made_once: Final = lru_cache(maxsize=1024)


@dataclass(frozen=True, slots=True)
class Deployed:
    """Whom the manifests are for: a cluster, its spec, the configuration version, and its owner's UID.

    `credentials` are as a Secret has them, in base64: they need not be text. `bootstrapper` is the manager that
    a cluster began with which has begun already.
    """

    name: str
    namespace: str
    uid: str
    spec: ClusterSpec
    version: int
    credentials: tuple[tuple[str, str], ...] = ()
    bootstrapper: str | None = None

    def labels(self, pool: str | None = None) -> dict[str, str]:
        return names.labels(self.name, pool, self.version)

    def manifest(self, api: str, kind: str, name: str, **parts: Any) -> dict[str, Any]:
        """An object of the cluster, which goes when the cluster goes."""
        metadata = {
            "name": name,
            "namespace": self.namespace,
            "labels": {**self.labels(), "app.kubernetes.io/managed-by": "searchkeeper"},
            "annotations": {names.CONFIGURATION: str(self.version)},
            "ownerReferences": [_owner("SearchCluster", self.name, self.uid)],
        }
        return {"apiVersion": api, "kind": kind, "metadata": metadata, **parts}


@_made_once
def configuration(deployed: Deployed) -> tuple[Manifest, ...]:
    """What nodes read at their start: one Secret in version 1, settings and credentials apart since 2."""
    settings = {names.SETTINGS_FILE: _settings(deployed)}
    credentials = dict(deployed.credentials)
    if deployed.version < _SPLIT_IN:
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in settings.items()}
        return (_secret(deployed, names.old_config_secret(deployed.name), {**encoded, **credentials}),)
    return (
        deployed.manifest("v1", "ConfigMap", names.settings_map(deployed.name), data=settings),
        _secret(deployed, names.credentials_secret(deployed.name), credentials),
    )


def _secret(deployed: Deployed, name: str, content: Mapping[str, str]) -> Manifest:
    return deployed.manifest("v1", "Secret", name, type="Opaque", data=dict(sorted(content.items())))


def _settings(deployed: Deployed) -> str:
    lines = {
        "cluster.name": deployed.name,
        "network.host": "0.0.0.0",
        "http.port": _HTTP,
        "transport.port": _TRANSPORT,
        "cluster.routing.allocation.same_shard.host": "true",
    }
    return "".join(f"{name}: {text}\n" for name, text in sorted(lines.items()))


@_made_once
def discovery(deployed: Deployed, version: int | None = None) -> Manifest:
    """The headless Service by which nodes find each other; also before they are ready."""
    spec = {
        "clusterIP": "None",
        "publishNotReadyAddresses": True,
        "selector": deployed.labels(),
        "ports": [{"name": "transport", "port": _TRANSPORT}],
    }
    name = names.discovery_service(deployed.name, version or deployed.version)
    return deployed.manifest("v1", "Service", name, spec=spec)


@_made_once
def client_service(deployed: Deployed) -> Manifest:
    """Where clients go."""
    spec = {"selector": deployed.labels(), "ports": [{"name": "http", "port": _HTTP}]}
    return deployed.manifest("v1", "Service", deployed.name, spec=spec)


@_made_once
def budgets(
    deployed: Deployed, pools: tuple[PoolSpec, ...], uncounted: int | None = None
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
    deployed: Deployed, name: str, selector: Mapping[str, Any], uncounted: int | None = None
) -> Manifest:
    spec = {
        **({"maxUnavailable": 1} if uncounted is None else {"minAvailable": max(0, uncounted - 1)}),
        "selector": selector,
        # A pod that serves nobody keeps nobody's machine: it would wait for a health that does not come.
        "unhealthyPodEvictionPolicy": "AlwaysAllow",
    }
    return deployed.manifest("policy/v1", "PodDisruptionBudget", name, spec=spec)


@_made_once
def dashboards(deployed: Deployed, engine_version: str) -> Manifest:
    """OpenSearch Dashboards of the engine's version."""
    labels = {
        "app": f"{deployed.name}-dashboards",
        "app.kubernetes.io/name": "opensearch-dashboards",
        "app.kubernetes.io/instance": deployed.name,
    }
    container = {
        "name": "dashboards",
        "image": dashboards_image(engine_version),
        "env": [{"name": "OPENSEARCH_HOSTS", "value": f"http://{deployed.name}:{_HTTP}"}],
        "ports": [{"name": "http", "containerPort": 5601}],
    }
    spec = {
        "replicas": deployed.spec.dashboards.replicas,
        "selector": {"matchLabels": {"app": f"{deployed.name}-dashboards"}},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
    }
    return deployed.manifest("apps/v1", "Deployment", f"{deployed.name}-dashboards", spec=spec)


@_made_once
def search_pool(deployed: Deployed, pool: PoolSpec, permitted: str) -> Manifest:
    """The child of a pool, which tells how far it is; `permitted` is the engine version it may run."""
    storage = pool.storage
    spec = {
        "cluster": deployed.name,
        "roles": sorted(pool.roles),
        "replicas": pool.replicas,
        "engineVersion": permitted,
        "storage": {
            "size": storage.size,
            "ephemeral": storage.ephemeral,
            **({"storageClass": storage.storage_class} if storage.storage_class else {}),
        },
    }
    return deployed.manifest(
        f"{names.GROUP}/v1alpha1", "SearchPool", names.pool_name(deployed.name, pool.name), spec=spec
    )


@_made_once
def stateful_set(deployed: Deployed, pool: PoolSpec, engine_version: str, partition: int | None) -> Manifest:
    """The nodes of a pool. Those that hold data or vote are replaced only when they are deleted.

    `partition` is for the others: how far down Kubernetes may replace them by itself.
    """
    labels = deployed.labels(pool.name)
    strategy: dict[str, Any] = {"type": "OnDelete"}
    if not (pool.holds_data or pool.votes):
        strategy = {"type": "RollingUpdate", "rollingUpdate": {"partition": partition or 0}}
    template = _template(deployed, pool, engine_version)
    spec = {
        "replicas": pool.replicas,
        # Settled at birth, so it is the one Service whose name no version has changed.
        "serviceName": deployed.name,
        "podManagementPolicy": "Parallel",
        "selector": {"matchLabels": labels},
        "updateStrategy": strategy,
        "template": template,
        **_claims(pool),
    }
    made = deployed.manifest("apps/v1", "StatefulSet", names.pool_name(deployed.name, pool.name), spec=spec)
    made["metadata"]["annotations"][names.TEMPLATE] = template["metadata"]["annotations"][names.TEMPLATE]
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


def _template(deployed: Deployed, pool: PoolSpec, engine_version: str) -> dict[str, Any]:
    """A pod, with a digest of itself: whoever has another one was made from another template."""
    volumes: list[dict[str, Any]] = [{"name": "config", **_config_volume(deployed)}]
    if pool.storage.ephemeral:
        volumes.append({"name": "data", "emptyDir": {}})
    annotations = {} if deployed.version < _SPLIT_IN else {names.SETTINGS: _settings_digest(deployed)}
    labels = deployed.labels(pool.name)
    template: dict[str, Any] = {
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": {
            "terminationGracePeriodSeconds": 120,
            "securityContext": {"runAsUser": 1000, "runAsNonRoot": True, "fsGroup": 1000},
            "containers": [_container(deployed, pool, engine_version)],
            "volumes": volumes,
        },
    }
    digest = {names.TEMPLATE: _digest(template)}
    return {**template, "metadata": {"labels": labels, "annotations": {**annotations, **digest}}}


def _config_volume(deployed: Deployed) -> dict[str, Any]:
    if deployed.version < _SPLIT_IN:
        return {"secret": {"secretName": names.old_config_secret(deployed.name)}}
    return {"configMap": {"name": names.settings_map(deployed.name)}}


def _settings_digest(deployed: Deployed) -> str:
    """Changes with what is in the settings or the credentials, and so rolls the pods that read them."""
    return _digest([each["data"] for each in configuration(deployed)])


def _container(deployed: Deployed, pool: PoolSpec, engine_version: str) -> dict[str, Any]:
    return {
        "name": "opensearch",
        "image": engine_image(engine_version),
        "env": _environment(deployed, pool),
        "ports": [
            {"name": "http", "containerPort": _HTTP},
            {"name": "transport", "containerPort": _TRANSPORT},
        ],
        # `local`: a node that waits for a manager is ready to be found; else nobody could ever elect one.
        "readinessProbe": {
            "httpGet": {"path": "/_cluster/health?local=true", "port": _HTTP},
            "periodSeconds": 10,
            "failureThreshold": 3,
        },
        "volumeMounts": [
            {"name": "config", "mountPath": "/usr/share/opensearch/config/managed", "readOnly": True},
            {"name": "data", "mountPath": "/usr/share/opensearch/data"},
        ],
    }


def _environment(deployed: Deployed, pool: PoolSpec) -> list[dict[str, Any]]:
    """Nothing that a scaling would change: a changed template means that every node restarts."""
    roles = sorted(pool.roles - {"coordinating"})
    first = next((each.name for each in deployed.spec.pools if each.votes), pool.name)
    begins = deployed.bootstrapper or f"{names.pool_name(deployed.name, first)}-0"
    plain = {
        "cluster.name": deployed.name,
        names.ROLES: ",".join(roles),
        "discovery.seed_hosts": names.discovery_service(deployed.name, deployed.version),
        names.BOOTSTRAPPER: begins,
    }
    own_name = {"name": "node.name", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}
    return [own_name, *({"name": name, "value": text} for name, text in plain.items())]


def _owner(kind: str, name: str, uid: str) -> dict[str, Any]:
    return {
        "apiVersion": f"{names.GROUP}/v1alpha1",
        "kind": kind,
        "name": name,
        "uid": uid,
        "controller": True,
        "blockOwnerDeletion": True,
    }


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
