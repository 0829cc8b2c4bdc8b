"""What things are called, in each configuration version."""

from __future__ import annotations

__all__ = [
    "CERTIFICATES_VOLUME",
    "CONFIGURATION",
    "CREDENTIALS",
    "FINALIZER",
    "GROUP",
    "HTTP_PORT",
    "INITIAL_MANAGERS",
    "ROLELESS_FILE",
    "ROLES",
    "SETTINGS",
    "SETTINGS_FILE",
    "TEMPLATE",
    "TRANSPORT_PORT",
    "client_url",
    "configuration_version",
    "credentials_secret",
    "dashboards",
    "discovery_service",
    "labels",
    "old_config_secret",
    "pool_label",
    "pool_name",
    "settings_map",
    "voters_budget",
]

from collections.abc import Mapping
from typing import Final

GROUP: Final = "search.everpath.dev"
FINALIZER: Final = f"{GROUP}/searchkeeper"
# Annotations: the version that made an object, the digest of a pod's template, that of its settings.
CONFIGURATION: Final = f"{GROUP}/configuration"
TEMPLATE: Final = f"{GROUP}/template"
SETTINGS: Final = f"{GROUP}/settings"
# What the engine reads its settings from, and what stands in for it where a node has no role.
SETTINGS_FILE: Final = "opensearch.yml"
ROLELESS_FILE: Final = "coordinating.yml"
# The entries of a Secret with credentials that are read; whatever else it has is nobody's business.
CREDENTIALS: Final = ("username", "password")
# The volume of a node's certificates.
CERTIFICATES_VOLUME: Final = "certificates"
HTTP_PORT: Final = 9200
TRANSPORT_PORT: Final = 9300
# By which a node learns what it does, and who begins a cluster.
ROLES: Final = "node.roles"
INITIAL_MANAGERS: Final = "cluster.initial_cluster_manager_nodes"

# More than any version will ever have.
_DIGITS: Final = 9
_RENAMED_IN: Final = 2
_RELABELLED_IN: Final = 4


def configuration_version(annotations: Mapping[str, str]) -> int | None:
    """The version that made an object; None where somebody else has written something there."""
    text = annotations.get(CONFIGURATION, "")
    return int(text) if text.isascii() and text.isdecimal() and len(text) <= _DIGITS else None


def discovery_service(cluster: str, version: int) -> str:
    """Where nodes find each other. Renamed in 2: it names nodes, and is not how clients find them."""
    return f"{cluster}-nodes" if version >= _RENAMED_IN else f"{cluster}-discovery"


def client_url(cluster: str, namespace: str, *, is_encrypted: bool) -> str:
    """Where the engine answers, by the one name of it that a certificate must have."""
    return f"{'https' if is_encrypted else 'http'}://{cluster}.{namespace}.svc:{HTTP_PORT}"


def dashboards(cluster: str) -> str:
    return f"{cluster}-dashboards"


def old_config_secret(cluster: str) -> str:
    """Version 1 keeps settings and credentials together."""
    return f"{cluster}-config"


def settings_map(cluster: str) -> str:
    return f"{cluster}-settings"


def credentials_secret(cluster: str) -> str:
    return f"{cluster}-credentials"


def pool_name(cluster: str, pool: str) -> str:
    """Of a pool's SearchPool and StatefulSet, and the first part of its pods' names."""
    return f"{cluster}-{pool}"


def voters_budget(cluster: str) -> str:
    """With a dot, which the name of neither a pool nor a cluster has: no pool's own budget is called so."""
    return f"{cluster}.voters"


def labels(cluster: str, pool: str | None, version: int) -> dict[str, str]:
    """What selects a cluster's objects, or a pool's. Version 4 takes the names that everybody else uses."""
    if version >= _RELABELLED_IN:
        common = {"app.kubernetes.io/name": "opensearch", "app.kubernetes.io/instance": cluster}
    else:
        common = {"app": cluster}
    return common if pool is None else {**common, pool_label(version): pool}


def pool_label(version: int) -> str:
    """The label that has the name of a pod's pool."""
    return "app.kubernetes.io/component" if version >= _RELABELLED_IN else "pool"
