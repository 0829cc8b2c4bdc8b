"""How kopf's watches sign in: as the client does, and again whenever they are turned away."""

from __future__ import annotations

__all__ = ["connection"]

import kopf
from kubernetes.client import Configuration


def connection(settings: Configuration) -> kopf.ConnectionInfo:
    """The client's own settings, in kopf's words."""
    scheme, _, token = _authorization(settings).partition(" ")
    return kopf.ConnectionInfo(
        server=settings.host,
        ca_path=settings.ssl_ca_cert,
        insecure=not settings.verify_ssl,
        username=settings.username or None,
        password=settings.password or None,
        scheme=scheme or None,
        token=token or None,
        certificate_path=settings.cert_file,
        private_key_path=settings.key_file,
        default_namespace="default",
    )


def _authorization(settings: Configuration) -> str:
    """`Bearer TOKEN`, refreshed if it has to be; empty without one."""
    found = settings.get_api_key_with_prefix("BearerToken", alias="authorization")
    return found or ""
