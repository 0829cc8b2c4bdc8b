"""Names, labels and annotations of the deployed objects, by configuration version."""

from __future__ import annotations

__all__ = [
    "CERTIFICATES_DIGEST",
    "CERTIFICATES_VOLUME",
    "CONFIGURATION",
    "COORDINATING_SETTINGS_FILE",
    "CREDENTIALS",
    "ENGINE_VERSION",
    "FINALIZER",
    "GROUP",
    "HTTP_PORT",
    "INITIAL_MANAGERS",
    "KEYSTORE_DIGEST",
    "ROLES",
    "SETTINGS_DIGEST",
    "SETTINGS_FILE",
    "TEMPLATE",
    "TRANSPORT_PORT",
    "UNKNOWN_ZONE",
    "ZONE",
    "ZONE_AWARENESS",
    "client_url",
    "configuration_version",
    "credentials_secret",
    "dashboards",
    "discovery_service",
    "labels",
    "old_config_secret",
    "pool_label",
    "pool_name",
    "settings_config_map",
    "voters_budget",
]

from collections.abc import Mapping
from typing import Final

GROUP: Final = "search.everpath.dev"
FINALIZER: Final = f"{GROUP}/searchkeeper"
# Annotation of the SearchCluster: its UID and the engine version in its status, in case that is lost.
ENGINE_VERSION: Final = f"{GROUP}/engine-version"
# Annotations: the configuration version of an object, and digests of a pod template, of the settings, of the
# TLS Secret and of the keystore Secret.
CONFIGURATION: Final = f"{GROUP}/configuration"
TEMPLATE: Final = f"{GROUP}/template"
SETTINGS_DIGEST: Final = f"{GROUP}/settings"
CERTIFICATES_DIGEST: Final = f"{GROUP}/certificates"
KEYSTORE_DIGEST: Final = f"{GROUP}/keystore"
# The settings file of a node, and the one for coordinating-only nodes, which is mounted in its place.
SETTINGS_FILE: Final = "opensearch.yml"
COORDINATING_SETTINGS_FILE: Final = "coordinating.yml"
# The entries of a credentials Secret that the operator reads. Others are ignored.
CREDENTIALS: Final = ("username", "password")
CERTIFICATES_VOLUME: Final = "certificates"
HTTP_PORT: Final = 9200
TRANSPORT_PORT: Final = 9300
# OpenSearch settings that are environment variables of the container.
ROLES: Final = "node.roles"
INITIAL_MANAGERS: Final = "cluster.initial_cluster_manager_nodes"
ZONE: Final = "node.attr.zone"
ZONE_AWARENESS: Final = "cluster.routing.allocation.awareness.attributes"
# The value of the label with the zone until Kubernetes overwrites it.
UNKNOWN_ZONE: Final = "unknown"

_MAX_VERSION_DIGITS: Final = 9
_NODES_SERVICE_SINCE: Final = 2
_RECOMMENDED_LABELS_SINCE: Final = 4


def configuration_version(annotations: Mapping[str, str]) -> int | None:
    """The configuration version of an object; None if the annotation is missing or invalid."""
    text = annotations.get(CONFIGURATION, "")
    is_number = text.isascii() and text.isdecimal() and len(text) <= _MAX_VERSION_DIGITS
    return int(text) if is_number else None


def discovery_service(cluster: str, version: int) -> str:
    """The headless Service for discovery. Version 2 renamed it, because clients do not connect to it."""
    return f"{cluster}-nodes" if version >= _NODES_SERVICE_SINCE else f"{cluster}-discovery"


def client_url(cluster: str, namespace: str, *, is_encrypted: bool) -> str:
    """The URL of the client Service. Certificates must be valid for its host name."""
    return f"{'https' if is_encrypted else 'http'}://{cluster}.{namespace}.svc:{HTTP_PORT}"


def dashboards(cluster: str) -> str:
    return f"{cluster}-dashboards"


def old_config_secret(cluster: str) -> str:
    """The Secret of version 1, which holds settings and credentials."""
    return f"{cluster}-config"


def settings_config_map(cluster: str) -> str:
    return f"{cluster}-settings"


def credentials_secret(cluster: str) -> str:
    return f"{cluster}-credentials"


def pool_name(cluster: str, pool: str) -> str:
    """The name of a SearchPool, its StatefulSet and its budget, and the prefix of its pods' names."""
    return f"{cluster}-{pool}"


def voters_budget(cluster: str) -> str:
    """The budget of all voters. The dot prevents a collision with the budget of a pool."""
    return f"{cluster}.voters"


def labels(cluster: str, pool: str | None, version: int) -> dict[str, str]:
    """The selector labels of a cluster or one of its pools.

    Version 4 and later use the labels that Kubernetes recommends.
    """
    if version >= _RECOMMENDED_LABELS_SINCE:
        common = {"app.kubernetes.io/name": "opensearch", "app.kubernetes.io/instance": cluster}
    else:
        common = {"app": cluster}
    return common if pool is None else {**common, pool_label(version): pool}


def pool_label(version: int) -> str:
    """The key of the label with a pod's pool."""
    return "app.kubernetes.io/component" if version >= _RECOMMENDED_LABELS_SINCE else "pool"
