"""Credentials for kopf's watches, taken from the Kubernetes client's configuration."""

from __future__ import annotations

__all__ = ["connection_info"]

import kopf
from kubernetes.client import Configuration


def connection_info(configuration: Configuration) -> kopf.ConnectionInfo:
    """The client's configuration as kopf expects it; an expired token is refreshed first."""
    authorization = configuration.get_api_key_with_prefix("BearerToken", alias="authorization") or ""
    scheme, _, token = authorization.partition(" ")
    return kopf.ConnectionInfo(
        server=configuration.host,
        ca_path=configuration.ssl_ca_cert,
        insecure=not configuration.verify_ssl,
        username=configuration.username or None,
        password=configuration.password or None,
        scheme=scheme or None,
        token=token or None,
        certificate_path=configuration.cert_file,
        private_key_path=configuration.key_file,
        default_namespace="default",
    )
