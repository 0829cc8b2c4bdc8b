"""Manifests of OpenSearch Dashboards: a Deployment and its Service."""

from __future__ import annotations

__all__ = ["dashboards_deployment", "dashboards_service"]

from typing import Any, Final

from searchkeeper.api.spec import CA_CERTIFICATE
from searchkeeper.desired import names
from searchkeeper.desired.cluster import DesiredCluster, memoize_manifest
from searchkeeper.desired.pod_overrides import with_pod_template
from searchkeeper.desired.pods import CONTAINER_SECURITY_CONTEXT, pod_security_context, probes
from searchkeeper.desired.settings import settings_digest
from searchkeeper.images import dashboards_image
from searchkeeper.kubernetes.operations import Manifest

_PORT: Final = 5601
_CERTIFICATES_FOLDER: Final = "/usr/share/opensearch-dashboards/config/certificates"


@memoize_manifest
def dashboards_service(cluster: DesiredCluster) -> Manifest:
    """The Service that users of Dashboards connect to."""
    name = names.dashboards(cluster.name)
    spec = {"selector": {"app": name}, "ports": [{"name": "http", "port": _PORT}]}
    return cluster.manifest("v1", "Service", name, spec=spec)


@memoize_manifest
def dashboards_deployment(cluster: DesiredCluster, engine_version: str) -> Manifest:
    """OpenSearch Dashboards of the same version as the engine."""
    name = names.dashboards(cluster.name)
    labels = {
        "app": name,
        "app.kubernetes.io/name": "opensearch-dashboards",
        "app.kubernetes.io/instance": cluster.name,
    }
    # Dashboards read credentials and CA certificate only at start, so a change of them must roll the pods.
    annotations = settings_digest(cluster) if cluster.has_authentication else {}
    if cluster.has_portable_pods and cluster.ca_certificate is not None:
        annotations = {**annotations, names.CERTIFICATES_DIGEST: cluster.ca_certificate}
    pod = {
        "securityContext": pod_security_context(cluster),
        "containers": [_container(cluster, dashboards_image(engine_version, cluster.images))],
    }
    if cluster.tls_secret is not None:
        # Only the CA certificate: the private key is for the nodes.
        items = [{"key": CA_CERTIFICATE, "path": CA_CERTIFICATE}]
        secret = {"secretName": cluster.tls_secret, "items": items}
        pod["volumes"] = [{"name": "certificates", "secret": secret}]
    template: dict[str, Any] = {
        "metadata": {"labels": labels, **({"annotations": annotations} if annotations else {})},
        "spec": pod,
    }
    if cluster.has_portable_pods:
        template = with_pod_template(template, cluster.spec.dashboards.pod_template)
    spec = {
        "replicas": cluster.spec.dashboards.replicas,
        "selector": {"matchLabels": {"app": name}},
        "template": template,
    }
    return cluster.manifest("apps/v1", "Deployment", name, spec=spec)


def _container(cluster: DesiredCluster, image: str) -> dict[str, Any]:
    is_encrypted = cluster.tls_secret is not None
    url = names.client_url(cluster.name, cluster.namespace, is_encrypted=is_encrypted)
    values = {"OPENSEARCH_HOSTS": url}
    if is_encrypted:
        values["OPENSEARCH_SSL_CERTIFICATEAUTHORITIES"] = f"{_CERTIFICATES_FOLDER}/{CA_CERTIFICATE}"
        values["OPENSEARCH_SSL_VERIFICATIONMODE"] = "full"
    if not cluster.has_authentication:
        values["DISABLE_SECURITY_DASHBOARDS_PLUGIN"] = "true"
    variables: list[dict[str, Any]] = [{"name": name, "value": value} for name, value in values.items()]
    if cluster.has_authentication:
        variables.append(cluster.credential_variable("OPENSEARCH_USERNAME", "username"))
        variables.append(cluster.credential_variable("OPENSEARCH_PASSWORD", "password"))
    mount = {"name": "certificates", "mountPath": _CERTIFICATES_FOLDER, "readOnly": True}
    return {
        "name": "dashboards",
        "image": image,
        "env": variables,
        "ports": [{"name": "http", "containerPort": _PORT}],
        **probes(cluster, _PORT, _readiness(cluster)),
        "securityContext": CONTAINER_SECURITY_CONTEXT,
        **({"volumeMounts": [mount]} if is_encrypted else {}),
    }


def _readiness(cluster: DesiredCluster) -> dict[str, Any]:
    """How readiness is checked: by a page that needs no login. Before version 5 an open port is enough."""
    if not cluster.has_portable_pods:
        return {"tcpSocket": {"port": _PORT}}
    path = "/app/login" if cluster.has_authentication else "/api/status"
    return {"httpGet": {"path": path, "port": _PORT}}
