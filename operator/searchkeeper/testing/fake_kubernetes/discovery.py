"""What an API server says it has: groups, versions and kinds.

A client that does not find namespaces, events and resource definitions among them may start, report itself
ready and never watch anything.
"""

from __future__ import annotations

__all__ = ["discovery_response"]

from collections.abc import Iterator
from typing import Any, Final

from searchkeeper.kubernetes.rest_mapping import KINDS, ResourceKind

_VERBS: Final = ["create", "delete", "get", "list", "patch", "update", "watch"]


def discovery_response(path: str) -> dict[str, Any] | None:
    """The answer to a question about the API itself; None for any other path."""
    match path.strip("/").split("/"):
        case ["version"]:
            return {"major": "1", "minor": "34", "gitVersion": "v1.34.0+embedded"}
        case ["api"]:
            return {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []}
        case ["apis"]:
            return {"apiVersion": "v1", "kind": "APIGroupList", "groups": list(_groups())}
        case ["api", version]:
            return _resources(version)
        case ["apis", *rest]:
            return _group(rest[0]) if len(rest) == 1 else _resources("/".join(rest))
        case _:
            return None


def _group(name: str) -> dict[str, Any] | None:
    found = (each for each in _groups() if each["name"] == name)
    return next(({"apiVersion": "v1", "kind": "APIGroup", **each} for each in found), None)


def _groups() -> Iterator[dict[str, Any]]:
    for api in sorted({kind.api for kind in KINDS if "/" in kind.api}):
        group, _, version = api.partition("/")
        named = {"groupVersion": api, "version": version}
        yield {"name": group, "versions": [named], "preferredVersion": named}


def _resources(api: str) -> dict[str, Any] | None:
    kinds = [kind for kind in KINDS if kind.api == api]
    if not kinds:
        return None
    resources = [each for kind in kinds for each in _resource(kind)]
    return {"apiVersion": "v1", "kind": "APIResourceList", "groupVersion": api, "resources": resources}


def _resource(kind: ResourceKind) -> Iterator[dict[str, Any]]:
    named = {"singularName": kind.name.lower(), "namespaced": kind.is_namespaced, "kind": kind.name}
    yield {"name": kind.plural, **named, "verbs": _VERBS, "shortNames": list(kind.short_names)}
    if kind.has_status:
        yield {
            "name": f"{kind.plural}/status",
            **named,
            "singularName": "",
            "verbs": ["get", "patch", "update"],
        }
