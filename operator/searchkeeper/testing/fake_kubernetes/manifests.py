"""Manifests read and changed as values: a change is a new manifest that shares what stayed the same."""

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
    """What is at a path, or the default where any part of it is missing."""
    found: Any = manifest
    for name in path:
        if not isinstance(found, Mapping) or name not in found:
            return default
        found = found[name]
    return found


def with_value(manifest: Manifest, *path: str, to: Any) -> dict[str, Any]:
    """The manifest with another value at a path; None takes it away. Cost: one copy a level of the path."""
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
    """RFC 7396: mappings are merged, null takes away, anything else replaces."""
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
    found = (manifest["metadata"].get("annotations") or {}).get(name)
    return None if found is None else str(found)


def has_labels(manifest: Manifest, wanted: Mapping[str, str]) -> bool:
    present = labels(manifest)
    return all(present.get(name) == text for name, text in wanted.items())


def selects(selector: Manifest | None, manifest: Manifest) -> bool:
    """Whether a selector is of this object: every label and every expression has to hold.

    One that asks for nothing is of no object here: that is how evictions and controllers take it.
    """
    asked = [*get_value(selector or {}, "matchExpressions", default=())]
    exact = get_value(selector or {}, "matchLabels", default={})
    return bool(asked or exact) and has_labels(manifest, exact) and all(_holds(e, manifest) for e in asked)


def _holds(expression: Manifest, manifest: Manifest) -> bool:
    """`NotIn` holds of an object without the label, as `DoesNotExist` does."""
    found, values = labels(manifest).get(expression["key"]), expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return found in values
        case "NotIn":
            return found not in values
        case "Exists":
            return found is not None
        case "DoesNotExist":
            return found is None
        case other:
            raise ValueError(f"{other} is no operator of a selector")


def owner_uids(manifest: Manifest) -> tuple[str, ...]:
    return tuple(owner["uid"] for owner in manifest["metadata"].get("ownerReferences") or ())


def controller_of(manifest: Manifest) -> str | None:
    """The UID of the controller, if it has one."""
    owners = manifest["metadata"].get("ownerReferences") or ()
    return next((owner["uid"] for owner in owners if owner.get("controller")), None)


def owner_reference(owner: Manifest) -> dict[str, Any]:
    """A reference to the controller of an object."""
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
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
