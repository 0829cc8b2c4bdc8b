"""API discovery: groups, versions and resources.

A client may start, report ready and never watch anything if it does not discover namespaces, events and CRDs.
"""

from __future__ import annotations

__all__ = ["discovery_response"]

from collections.abc import Iterator
from typing import Any, Final

from searchkeeper.kubernetes.rest_mapping import KINDS, ResourceKind

_VERBS: Final = ["create", "delete", "get", "list", "patch", "update", "watch"]


def discovery_response(path: str) -> dict[str, Any] | None:  # noqa: PLR0911 - one for each kind of path
    """Return the body for a discovery path; None for any other path."""
    match path.strip("/").split("/"):
        case ["version"]:
            return {"major": "1", "minor": "34", "gitVersion": "v1.34.0+embedded"}
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        case ["apis"]:
            return {"apiVersion": "v1", "kind": "APIGroupList", "groups": _groups()}
        case ["apis", name]:
            matches = ({"apiVersion": "v1", "kind": "APIGroup", **g} for g in _groups() if g["name"] == name)
            return next(matches, None)
        case ["api", version]:
            return _resource_list(version)
        case ["apis", *parts]:
            return _resource_list("/".join(parts))
        case _:
            return None


def _groups() -> list[dict[str, Any]]:
    groups = []
    for api in sorted({kind.api for kind in KINDS if "/" in kind.api}):
        group, _, version = api.partition("/")
        group_version = {"groupVersion": api, "version": version}
        groups.append({"name": group, "versions": [group_version], "preferredVersion": group_version})
    return groups


def _resource_list(api: str) -> dict[str, Any] | None:
    resources = [resource for kind in KINDS if kind.api == api for resource in _resources(kind)]
    if not resources:
        return None
    return {"apiVersion": "v1", "kind": "APIResourceList", "groupVersion": api, "resources": resources}


def _resources(kind: ResourceKind) -> Iterator[dict[str, Any]]:
    """Yield the resource of a kind, and its status subresource if it has one."""
    names = {"singularName": kind.name.lower(), "namespaced": kind.is_namespaced, "kind": kind.name}
    yield {"name": kind.plural, **names, "verbs": _VERBS, "shortNames": list(kind.short_names)}
    if kind.has_status:
        verbs = ["get", "patch", "update"]
        yield {"name": f"{kind.plural}/status", **names, "singularName": "", "verbs": verbs}
