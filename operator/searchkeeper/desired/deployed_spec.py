"""What stands of a cluster, in the words of its spec: what an upgrade locks.

Whatever was asked for together with the upgrade is thereby asked for again when it is over.
"""

from __future__ import annotations

__all__ = ["deployed_dashboards", "deployed_security"]

from collections.abc import Iterable, Mapping
from typing import Any

from searchkeeper.desired import names
from searchkeeper.desired.apply import last_applied
from searchkeeper.kubernetes.operations import Manifest


def deployed_security(
    sets: Iterable[Manifest], own: Iterable[Manifest], written: Mapping[str, Any]
) -> dict[str, Any]:
    """The Secrets that nodes have: of certificates by what they mount, of credentials by our own copy.

    Where pools differ, a change was under way before, and goes on. Whoever had credentials keeps them, also
    where the spec does not name them any more.
    """
    mounted = {_certificates(last_applied(each) or each) for each in sets}
    [certificates] = mounted if len(mounted) == 1 else [written.get("tlsSecret")]
    copy = next((each["metadata"]["name"] for each in own if _has_credentials(each)), None)
    credentials = None if copy is None else written.get("credentialsSecret") or copy
    found = {"tlsSecret": certificates, "credentialsSecret": credentials}
    return {name: secret for name, secret in found.items() if secret is not None}


def deployed_dashboards(deployment: Manifest | None, written: Mapping[str, Any]) -> dict[str, Any]:
    if deployment is None:
        return {**written, "enabled": False}
    return {"enabled": True, "replicas": deployment["spec"]["replicas"]}


def _certificates(stateful_set: Mapping[str, Any]) -> str | None:
    volumes = stateful_set["spec"]["template"]["spec"].get("volumes") or ()
    found = (each.get("secret") or {} for each in volumes if each["name"] == names.CERTIFICATES_VOLUME)
    return next((str(each["secretName"]) for each in found if "secretName" in each), None)


def _has_credentials(secret: Manifest) -> bool:
    return any(entry in (secret.get("data") or {}) for entry in names.CREDENTIALS)
