"""Merges the `podTemplate` of a user over the pod template of the operator."""

from __future__ import annotations

__all__ = ["with_pod_template"]

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

# Lists that are merged by this key. Any other list of the user replaces that of the operator.
_MERGE_KEYS: Final = {
    "containers": "name",
    "env": "name",
    "initContainers": "name",
    "volumeMounts": "mountPath",
    "volumes": "name",
}


def with_pod_template(ours: Mapping[str, Any], pod_template: str | None) -> dict[str, Any]:
    """The pod template with that of the user merged over it, like a strategic merge patch.

    Labels and annotations of the operator win: its selectors need them. Validation has refused all other
    fields that it needs. A pod security context of the user replaces the default fsGroup, so that an empty
    one leaves user and group to the platform.
    """
    if pod_template is None:
        return dict(ours)
    theirs = json.loads(pod_template)
    metadata, spec = theirs.get("metadata") or {}, theirs.get("spec") or {}
    own = dict(ours["spec"])
    if "securityContext" in spec:
        own["securityContext"] = {
            name: value for name, value in own["securityContext"].items() if name != "fsGroup"
        }
    merged = {
        kind: {**(metadata.get(kind) or {}), **(ours["metadata"].get(kind) or {})}
        for kind in ("labels", "annotations")
    }
    return {
        "metadata": {kind: texts for kind, texts in merged.items() if texts},
        "spec": _merged_fields(own, spec),
    }


def _merged_fields(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    return {**ours, **{name: _merged(name, ours.get(name), value) for name, value in theirs.items()}}


def _merged(name: str, ours: Any, theirs: Any) -> Any:
    if isinstance(ours, Mapping) and isinstance(theirs, Mapping) and not name.endswith("Probe"):
        return _merged_fields(ours, theirs)
    if name in _MERGE_KEYS and isinstance(ours, list):
        return _merged_items(_MERGE_KEYS[name], ours, theirs)
    return theirs


def _merged_items(key: str, ours: Sequence[Any], theirs: Sequence[Any]) -> list[Any]:
    """Ours first, since the first container is the one with the engine; then what only the user has."""
    by_key = {item[key]: item for item in theirs}
    merged = [_merged_fields(item, by_key.pop(item[key], {})) for item in ours]
    return [*merged, *by_key.values()]
