"""`config`: settings of opensearch.yml that users may set, and those that the operator keeps."""

from __future__ import annotations

__all__ = ["MANAGED_SETTINGS", "SETTINGS_SCHEMA", "ZONE_SETTINGS", "setting_errors", "setting_text"]

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from searchkeeper.api.schema import Schema

SETTINGS_SCHEMA: Final[Schema] = {"additionalProperties": {"x-kubernetes-preserve-unknown-fields": True}}

_TLS_FILES: Final = ("pemcert_filepath", "pemkey_filepath", "pemtrustedcas_filepath")
# What the operator sets, and other settings of the same: names, roles, addresses, discovery, data, TLS.
MANAGED_SETTINGS: Final = frozenset(
    {
        "cluster.initial_cluster_manager_nodes",
        "cluster.initial_master_nodes",
        "cluster.name",
        "discovery.seed_hosts",
        "discovery.seed_providers",
        "discovery.type",
        "http.bind_host",
        "http.host",
        "http.port",
        "network.bind_host",
        "network.host",
        "node.name",
        "node.roles",
        "path.data",
        "plugins.security.allow_default_init_securityindex",
        "plugins.security.disabled",
        "plugins.security.nodes_dn",
        "plugins.security.restapi.roles_enabled",
        "plugins.security.ssl.http.enabled",
        "plugins.security.ssl.transport.enforce_hostname_verification",
        "plugins.security.ssl_only",
        "transport.bind_host",
        "transport.host",
        "transport.port",
        *(f"plugins.security.ssl.{layer}.{file}" for layer in ("http", "transport") for file in _TLS_FILES),
    }
)
# What the operator sets in a cluster with `spec.topologyKey`.
ZONE_SETTINGS: Final = frozenset({"cluster.routing.allocation.awareness.attributes", "node.attr.zone"})
# The image passes variables of such names on to OpenSearch, and Kubernetes allows these characters in them.
_NAME: Final = re.compile(r"[a-z_][a-z0-9_]*\.[a-z0-9_][A-Za-z0-9_.-]*", re.ASCII)


def setting_errors(
    settings: Mapping[str, Any], path: str, *, has_zones: bool = False
) -> Iterator[tuple[str, str]]:
    """Yield the path and the message of each setting that cannot be set.

    `has_zones` is whether the operator sets zones, by `spec.topologyKey`.
    """
    for name, value in settings.items():
        if name in MANAGED_SETTINGS:
            yield f"{path}.{name}", "Forbidden: the operator sets it: remove it here"
        elif has_zones and name in ZONE_SETTINGS:
            message = "Forbidden: the operator sets it because of spec.topologyKey: remove one of them"
            yield f"{path}.{name}", message
        elif _NAME.fullmatch(name) is None:
            message = "Invalid value: must be the whole name of a setting, with dots, like indices.query.bool"
            yield f"{path}.{name}", message
        elif value is not None and setting_text(value) is None:
            message = (
                "must be a text, a number, true, false or a list of these, not empty and without line breaks"
            )
            yield f"{path}.{name}", f"Invalid value: {message}"


def setting_text(value: Any) -> str | None:
    """The value as OpenSearch reads it from its command line, a list with commas; None if it cannot be."""
    if isinstance(value, list | tuple):
        items = [setting_text(item) for item in value if not isinstance(item, list | tuple)]
        is_valid = len(items) == len(value) > 0 and all(
            item is not None and "," not in item for item in items
        )
        return ",".join(item or "" for item in items) if is_valid else None
    if isinstance(value, bool | int | float):
        return json.dumps(value)
    is_text = isinstance(value, str) and value != "" and value.isprintable()
    return value if is_text else None
