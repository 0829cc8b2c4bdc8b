"""OpenSearch Dashboards: where they run, and where they are found."""

from __future__ import annotations

__all__ = ["dashboards_deployment", "dashboards_service"]

from typing import Any, Final

from searchkeeper.desired import names
from searchkeeper.desired.cluster import DesiredCluster, cached_manifest
from searchkeeper.desired.pods import CONTAINER_SECURITY_CONTEXT, POD_SECURITY_CONTEXT
from searchkeeper.desired.settings import settings_digest
from searchkeeper.images import dashboards_image
from searchkeeper.kubernetes.operations import Manifest

_PORT: Final = 5601
_CERTIFICATES: Final = "/usr/share/opensearch-dashboards/config/certificates"
_AUTHORITY: Final = "ca.crt"


@cached_manifest
def dashboards_service(deployed: DesiredCluster) -> Manifest:
    """Where people go."""
    spec = {"selector": _selector(deployed), "ports": [{"name": "http", "port": _PORT}]}
    return deployed.manifest("v1", "Service", names.dashboards(deployed.name), spec=spec)


@cached_manifest
def dashboards_deployment(deployed: DesiredCluster, engine_version: str) -> Manifest:
    """OpenSearch Dashboards of the engine's version."""
    selector = _selector(deployed)
    labels = {
        **selector,
        "app.kubernetes.io/name": "opensearch-dashboards",
        "app.kubernetes.io/instance": deployed.name,
    }
    # They read the credentials only when they start.
    annotations = settings_digest(deployed) if deployed.has_users else {}
    metadata = {"labels": labels, **({"annotations": annotations} if annotations else {})}
    pod = {
        "securityContext": POD_SECURITY_CONTEXT,
        "containers": [_container(deployed, dashboards_image(engine_version, deployed.images))],
        **_volumes(deployed),
    }
    spec = {
        "replicas": deployed.spec.dashboards.replicas,
        "selector": {"matchLabels": selector},
        "template": {"metadata": metadata, "spec": pod},
    }
    return deployed.manifest("apps/v1", "Deployment", names.dashboards(deployed.name), spec=spec)


def _selector(deployed: DesiredCluster) -> dict[str, str]:
    return {"app": names.dashboards(deployed.name)}


def _container(deployed: DesiredCluster, image: str) -> dict[str, Any]:
    mount = {"name": "certificates", "mountPath": _CERTIFICATES, "readOnly": True}
    return {
        "name": "dashboards",
        "image": image,
        "env": _environment(deployed),
        "ports": [{"name": "http", "containerPort": _PORT}],
        # They may ask who somebody is: that they answer at all must do.
        "readinessProbe": {"tcpSocket": {"port": _PORT}, "periodSeconds": 10, "failureThreshold": 3},
        "securityContext": CONTAINER_SECURITY_CONTEXT,
        **({"volumeMounts": [mount]} if deployed.certificates else {}),
    }


def _environment(deployed: DesiredCluster) -> list[dict[str, Any]]:
    """Where the engine is, whom to trust, and who they are. Without users there is nobody to log in."""
    is_encrypted = deployed.certificates is not None
    url = names.client_url(deployed.name, deployed.namespace, is_encrypted=is_encrypted)
    plain = {"OPENSEARCH_HOSTS": url}
    if is_encrypted:
        plain["OPENSEARCH_SSL_CERTIFICATEAUTHORITIES"] = f"{_CERTIFICATES}/{_AUTHORITY}"
        plain["OPENSEARCH_SSL_VERIFICATIONMODE"] = "full"
    if not deployed.has_users:
        plain["DISABLE_SECURITY_DASHBOARDS_PLUGIN"] = "true"
    variables: list[dict[str, Any]] = [{"name": name, "value": text} for name, text in plain.items()]
    if deployed.has_users:
        variables.append(deployed.credential("OPENSEARCH_USERNAME", "username"))
        variables.append(deployed.credential("OPENSEARCH_PASSWORD", "password"))
    return variables


def _volumes(deployed: DesiredCluster) -> dict[str, Any]:
    """The authority alone: the key is the nodes'."""
    if deployed.certificates is None:
        return {}
    items = [{"key": _AUTHORITY, "path": _AUTHORITY}]
    secret = {"secretName": deployed.certificates, "items": items}
    return {"volumes": [{"name": "certificates", "secret": secret}]}
