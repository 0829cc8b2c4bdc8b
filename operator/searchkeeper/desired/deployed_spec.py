"""Parts of a spec derived from the deployed objects. An upgrade locks the spec that is deployed.

Changes that the user made to the spec together with the version are applied after the upgrade.
"""

from __future__ import annotations

__all__ = ["deployed_dashboards", "deployed_security"]

from collections.abc import Iterable, Mapping
from typing import Any

from searchkeeper.desired import names
from searchkeeper.desired.apply import last_applied
from searchkeeper.kubernetes.operations import Manifest


def deployed_security(
    stateful_sets: Iterable[Manifest], own_secrets: Iterable[Manifest], written: Mapping[str, Any]
) -> dict[str, Any]:
    """`spec.security` as deployed. `written` is the one in the spec.

    The TLS Secret is the one that the StatefulSets mount. If they differ, a change was in progress and
    continues with the written one. A cluster that has credentials keeps them even if the spec no longer names
    a Secret.
    """
    mounted = {_tls_secret(last_applied(each) or each) for each in stateful_sets}
    [tls_secret] = mounted if len(mounted) == 1 else [written.get("tlsSecret")]
    with_credentials = (
        secret["metadata"]["name"]
        for secret in own_secrets
        if any(entry in (secret.get("data") or {}) for entry in names.CREDENTIALS)
    )
    own_copy = next(with_credentials, None)
    credentials_secret = None if own_copy is None else written.get("credentialsSecret") or own_copy
    security = {"tlsSecret": tls_secret, "credentialsSecret": credentials_secret}
    return {name: secret for name, secret in security.items() if secret is not None}


def deployed_dashboards(deployment: Manifest | None, written: Mapping[str, Any]) -> dict[str, Any]:
    """`spec.dashboards` as deployed. `written` is the one in the spec."""
    if deployment is None:
        return {**written, "enabled": False}
    # The pod template is the written one: an edit of it restarts only Dashboards.
    return {**written, "enabled": True, "replicas": deployment["spec"]["replicas"]}


def _tls_secret(stateful_set: Mapping[str, Any]) -> str | None:
    for volume in stateful_set["spec"]["template"]["spec"].get("volumes") or ():
        secret = volume.get("secret") or {}
        if volume["name"] == names.CERTIFICATES_VOLUME and "secretName" in secret:
            return str(secret["secretName"])
    return None
