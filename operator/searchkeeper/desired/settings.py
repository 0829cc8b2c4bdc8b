"""The ConfigMap and Secrets that nodes read at start: settings and credentials."""

from __future__ import annotations

__all__ = ["CERTIFICATES_FOLDER", "settings_digest", "settings_manifests"]

import base64
import json
from typing import Any, Final

from searchkeeper.api.spec import CA_CERTIFICATE
from searchkeeper.desired import names
from searchkeeper.desired.cluster import DesiredCluster, digest, memoize_manifest
from searchkeeper.kubernetes.operations import Manifest

# Relative to the config folder: the security plugin reads certificates only from there.
CERTIFICATES_FOLDER: Final = "certificates"


@memoize_manifest
def settings_manifests(cluster: DesiredCluster) -> tuple[Manifest, ...]:
    """The ConfigMap with settings and the Secret with credentials; one Secret with both in version 1."""
    files, data = _settings_files(cluster), dict(cluster.credentials)
    if not cluster.has_separate_credentials:
        data |= {file: base64.b64encode(text.encode()).decode() for file, text in files.items()}
    secret = cluster.manifest(
        "v1", "Secret", cluster.credentials_secret, type="Opaque", data=dict(sorted(data.items()))
    )
    if not cluster.has_separate_credentials:
        return (secret,)
    config_map = cluster.manifest("v1", "ConfigMap", names.settings_config_map(cluster.name), data=files)
    return config_map, secret


def settings_digest(cluster: DesiredCluster) -> dict[str, str]:
    """The annotation that makes pods outdated when settings or credentials change. Version 1 has none."""
    if not cluster.has_separate_credentials:
        return {}
    return {names.SETTINGS_DIGEST: digest([each["data"] for each in settings_manifests(cluster)])}


def _settings_files(cluster: DesiredCluster) -> dict[str, str]:
    """The settings file, and a second one for coordinating-only nodes.

    The image does not pass an empty `node.roles` on to OpenSearch. Without the second file a
    coordinating-only node would take every role.
    """
    settings: dict[str, Any] = {
        "cluster.name": cluster.name,
        "discovery.seed_hosts": [names.discovery_service(cluster.name, cluster.version)],
        "http.port": names.HTTP_PORT,
        "network.host": "0.0.0.0",
        # Memory-mapped files need a higher vm.max_map_count than the default of Linux.
        "node.store.allow_mmap": False,
        "transport.port": names.TRANSPORT_PORT,
        **_security_settings(cluster),
    }

    files = {
        names.SETTINGS_FILE: settings,
        names.COORDINATING_SETTINGS_FILE: {**settings, names.ROLES: []},
    }
    # JSON values are valid YAML, and a name such as `on` or `1e3` stays a string.
    return {
        file: "".join(f"{name}: {json.dumps(value)}\n" for name, value in sorted(content.items()))
        for file, content in files.items()
    }


def _security_settings(cluster: DesiredCluster) -> dict[str, Any]:
    """Settings of the security plugin; none without TLS, where the plugin is disabled and rejects them."""
    if cluster.tls_secret is None:
        return {}
    files = {"pemcert": "tls.crt", "pemkey": "tls.key", "pemtrustedcas": CA_CERTIFICATE}
    settings: dict[str, Any] = {
        f"ssl.{layer}.{part}_filepath": f"{CERTIFICATES_FOLDER}/{file}"
        for layer in ("http", "transport")
        for part, file in files.items()
    }
    settings["ssl.http.enabled"] = True
    # Nodes share one certificate and connect by IP address, which it cannot contain. They verify the CA only.
    settings["ssl.transport.enforce_hostname_verification"] = False
    if cluster.has_authentication:
        # A client with a certificate of this subject is a node. All other clients need a login.
        settings["nodes_dn"] = [f"CN={cluster.name}", f"CN={cluster.name},*"]
        # The first node initialises the security index from its user file. Further users are created by API.
        settings["allow_default_init_securityindex"] = True
        settings["restapi.roles_enabled"] = ["all_access", "security_rest_api_access"]
    else:
        settings["ssl_only"] = True
    return {f"plugins.security.{name}": value for name, value in settings.items()}
