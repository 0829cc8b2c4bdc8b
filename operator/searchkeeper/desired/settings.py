"""What nodes read at their start: settings, and who may enter."""

from __future__ import annotations

__all__ = ["CERTIFICATES", "configuration_objects", "settings_digest"]

import base64
import json
from collections.abc import Mapping
from typing import Any, Final

from searchkeeper.desired import names
from searchkeeper.desired.cluster import DesiredCluster, cached_manifest, digest
from searchkeeper.kubernetes.operations import Manifest

# Where certificates are, below the folder of the settings: the security plugin reads from nowhere else.
CERTIFICATES: Final = "certificates"


@cached_manifest
def configuration_objects(deployed: DesiredCluster) -> tuple[Manifest, ...]:
    """What nodes read at their start: one Secret in version 1, settings and credentials apart since 2."""
    settings, credentials = _files(deployed), dict(deployed.credentials)
    if not deployed.is_split:
        encoded = {key: base64.b64encode(text.encode()).decode() for key, text in settings.items()}
        return (_secret(deployed, names.old_config_secret(deployed.name), {**encoded, **credentials}),)
    return (
        deployed.manifest("v1", "ConfigMap", names.settings_map(deployed.name), data=settings),
        _secret(deployed, names.credentials_secret(deployed.name), credentials),
    )


def settings_digest(deployed: DesiredCluster) -> dict[str, str]:
    """An annotation that changes with the settings or the credentials, and so rolls the pods that read them.

    Version 1 has none.
    """
    if not deployed.is_split:
        return {}
    return {names.SETTINGS: digest([each["data"] for each in configuration_objects(deployed)])}


def _secret(deployed: DesiredCluster, name: str, content: Mapping[str, str]) -> Manifest:
    return deployed.manifest("v1", "Secret", name, type="Opaque", data=dict(sorted(content.items())))


def _files(deployed: DesiredCluster) -> dict[str, str]:
    """One for all nodes, and one for those without a role.

    The image hands variables on to the engine, but for empty ones: without the second file a node that is to
    coordinate only would take every role there is.
    """
    settings = {
        "cluster.name": deployed.name,
        "discovery.seed_hosts": [names.discovery_service(deployed.name, deployed.version)],
        "http.port": names.HTTP_PORT,
        "network.host": "0.0.0.0",
        # Otherwise every machine would need another vm.max_map_count than Linux gives it.
        "node.store.allow_mmap": False,
        "transport.port": names.TRANSPORT_PORT,
        **_security(deployed),
    }
    return {
        names.SETTINGS_FILE: _text(settings),
        names.ROLELESS_FILE: _text({**settings, names.ROLES: []}),
    }


def _text(settings: Mapping[str, Any]) -> str:
    """Values as JSON, which is YAML, too, and takes no name for a number or a truth."""
    return "".join(f"{name}: {json.dumps(content)}\n" for name, content in sorted(settings.items()))


def _security(deployed: DesiredCluster) -> dict[str, Any]:
    """Settings of the security plugin, which without certificates is switched off and knows none of them."""
    if deployed.certificates is None:
        return {}
    files = {"pemcert": "tls.crt", "pemkey": "tls.key", "pemtrustedcas": "ca.crt"}
    paths = {
        f"ssl.{layer}.{part}_filepath": f"{CERTIFICATES}/{file}"
        for layer in ("http", "transport")
        for part, file in files.items()
    }
    # Nodes share a certificate and find each other by addresses, which it cannot have: the authority counts.
    encryption = {"ssl.http.enabled": True, "ssl.transport.enforce_hostname_verification": False}
    entrance = _users(deployed) if deployed.has_users else {"ssl_only": True}
    return {f"plugins.security.{name}": text for name, text in (paths | encryption | entrance).items()}


def _users(deployed: DesiredCluster) -> dict[str, Any]:
    """Whoever shows the nodes' certificate is one of them; all others give their name and password."""
    return {
        "nodes_dn": [f"CN={deployed.name}", f"CN={deployed.name},*"],
        # The first node that finds no users stores those of its file; later ones are made over the API.
        "allow_default_init_securityindex": True,
        "restapi.roles_enabled": ["all_access", "security_rest_api_access"],
    }
