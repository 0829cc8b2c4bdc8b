"""Manifests as immutable values: a change returns a new manifest that shares the unchanged parts."""

from __future__ import annotations

__all__ = [
    "annotation",
    "controller_of",
    "get_value",
    "has_labels",
    "is_ready",
    "is_terminating",
    "labels",
    "merge_patched",
    "owner_reference",
    "owner_uids",
    "selects",
    "with_value",
]

from collections.abc import Mapping
from typing import Any

from searchkeeper.kubernetes.operations import Manifest


def get_value(manifest: Manifest, *path: str, default: Any = None) -> Any:
    """Return the value at a path, or the default if any part of the path is missing."""
    value: Any = manifest
    for name in path:
        if not isinstance(value, Mapping) or name not in value:
            return default
        value = value[name]
    return value


def with_value(manifest: Manifest, *path: str, to: Any) -> dict[str, Any]:
    """Return the manifest with another value at a path; None removes it. Copies one mapping a level."""
    name, *rest = path
    changed = dict(manifest)
    if rest:
        changed[name] = with_value(changed.get(name) or {}, *rest, to=to)
    elif to is None:
        changed.pop(name, None)
    else:
        changed[name] = to
    return changed


def merge_patched(manifest: Manifest, patch: Manifest) -> dict[str, Any]:
    """Apply a JSON Merge Patch (RFC 7396): mappings are merged, null removes, anything else replaces."""
    changed = dict(manifest)
    for name, new in patch.items():
        if new is None:
            changed.pop(name, None)
        elif isinstance(new, Mapping):
            old = changed.get(name)
            changed[name] = merge_patched(old if isinstance(old, Mapping) else {}, new)
        else:
            changed[name] = new
    return changed


def labels(manifest: Manifest) -> Mapping[str, str]:
    return manifest["metadata"].get("labels") or {}


def annotation(manifest: Manifest, name: str) -> str | None:
    text = (manifest["metadata"].get("annotations") or {}).get(name)
    return None if text is None else str(text)


def has_labels(manifest: Manifest, wanted: Mapping[str, str]) -> bool:
    present = labels(manifest)
    return all(present.get(name) == text for name, text in wanted.items())


def selects(selector: Manifest | None, manifest: Manifest) -> bool:
    """Whether a label selector matches: every label and every expression must.

    An empty selector matches nothing here, as in evictions and in the controllers that this package has.
    """
    expressions = get_value(selector or {}, "matchExpressions", default=())
    match_labels = get_value(selector or {}, "matchLabels", default={})
    return (
        bool(expressions or match_labels)
        and has_labels(manifest, match_labels)
        and all(_matches(expression, manifest) for expression in expressions)
    )


def _matches(expression: Manifest, manifest: Manifest) -> bool:
    """Whether a `matchExpressions` entry matches. `NotIn` also matches objects without the label."""
    value, values = labels(manifest).get(expression["key"]), expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return value in values
        case "NotIn":
            return value not in values
        case "Exists":
            return value is not None
        case "DoesNotExist":
            return value is None
        case other:
            raise ValueError(f"unknown selector operator {other}")


def owner_uids(manifest: Manifest) -> tuple[str, ...]:
    return tuple(owner["uid"] for owner in manifest["metadata"].get("ownerReferences") or ())


def controller_of(manifest: Manifest) -> str | None:
    """Return the UID of the owner that is the controller, if there is one."""
    owners = manifest["metadata"].get("ownerReferences") or ()
    return next((owner["uid"] for owner in owners if owner.get("controller")), None)


def owner_reference(owner: Manifest) -> dict[str, Any]:
    """Return the owner reference that names `owner` as controller."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def is_terminating(manifest: Manifest) -> bool:
    return "deletionTimestamp" in manifest["metadata"]


def is_ready(pod: Manifest) -> bool:
    conditions = get_value(pod, "status", "conditions", default=())
    return any(c["type"] == "Ready" and c["status"] == "True" for c in conditions)
