"""Three-way apply: changes what the operator set, keeps what other clients or the API server added."""

from __future__ import annotations

__all__ = ["LAST_APPLIED", "added_pod_fields", "apply", "create_with", "last_applied", "merge_patch"]

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from searchkeeper.desired.quantities import parse_quantity
from searchkeeper.kubernetes.operations import Create, Key, Manifest, Patch
from searchkeeper.memoize import memoize_by_identity

# The annotation with the manifest that was last applied. Fields in it that are no longer desired are removed.
LAST_APPLIED: Final = "search.everpath.dev/applied"
# Merge keys of lists, in this order. A list whose items have none of them is replaced as a whole.
_MERGE_KEYS: Final = ("mountPath", "uid", "name")
# Lists whose items are merged field by field, because other clients add fields such as resource limits.
# Items of other lists are replaced: the API server rejects an env variable with both a value and a source.
_MERGED_ITEMS: Final = frozenset({"containers"})
# Unions: the API server rejects an object with two members set, so these are replaced as a whole.
_UNIONS: Final = frozenset({"livenessProbe", "readinessProbe", "startupProbe", "updateStrategy"})
# Quantities, which the API server normalises: 1000m of a CPU to 1, 1024Mi to 1Gi.
_QUANTITIES: Final = frozenset({"limits", "requests"})
# The API server normalises quantities in these and then rejects the change back.
_IMMUTABLE: Final = frozenset({"volumeClaimTemplates"})


@memoize_by_identity(4096)
def apply(desired: Manifest, live: Manifest | None) -> Create | Patch | None:
    """The operation that makes `live` match `desired`; None if it does already.

    Idempotent: once applied, the result is None whatever defaults the API server fills in.
    """
    if live is None:
        return Create(_with_last_applied(desired))
    changes = merge_patch(live, _merge_fields(last_applied(live), _with_last_applied(desired), live))
    if not changes:
        return None
    return Patch(Key.of(live), changes, live["metadata"]["resourceVersion"])


def added_pod_fields(live: Manifest) -> Mapping[str, Any]:
    """The fields that others added to the pod template's spec; none if the last applied manifest is lost."""
    match last_applied(live):
        case {"spec": {"template": {"spec": dict(applied)}}}:
            return _added_fields(applied, live["spec"]["template"]["spec"])
        case _:
            return {}


def _added_fields(applied: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    added: dict[str, Any] = {}
    for name, new in live.items():
        old = applied.get(name)
        if name not in applied:
            added[name] = new
        elif isinstance(old, Mapping) and isinstance(new, Mapping) and name not in _UNIONS:
            inner = _added_fields(old, new)
            added |= {name: inner} if inner else {}
        elif (key := _merge_key(old, new)) is not None:
            before = {item[key]: item for item in old or ()}
            items = []
            for item in new:
                if item[key] not in before:
                    items.append(item)
                elif name in _MERGED_ITEMS and (inner := _added_fields(before[item[key]], item)):
                    items.append({key: item[key], **inner})
            added |= {name: items} if items else {}
    return added


def create_with(desired: Manifest, added: Mapping[str, Any]) -> Create:
    """The operation that creates an object whose pod template has these fields of others, too."""
    manifest = _with_last_applied(desired)
    template = desired["spec"]["template"]
    pod = _merge_fields({}, template["spec"], added)
    return Create({**manifest, "spec": {**desired["spec"], "template": {**template, "spec": pod}}})


@memoize_by_identity(4096)
def last_applied(live: Manifest) -> Mapping[str, Any]:
    """The manifest in the annotation LAST_APPLIED; empty if the annotation is missing or invalid."""
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    try:
        manifest = json.loads(text or "{}")
    except ValueError:
        return {}
    return manifest if isinstance(manifest, dict) else {}


def merge_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The JSON merge patch that turns `before` into `after`."""
    changes: dict[str, Any] = {name: None for name in before if name not in after}
    for name, new in after.items():
        old = before.get(name)
        if isinstance(new, Mapping) and isinstance(old, Mapping):
            inner = merge_patch(old, new)
            changes |= {name: inner} if inner else {}
        elif new != old:
            changes[name] = new
    return changes


def _with_last_applied(desired: Manifest) -> dict[str, Any]:
    metadata = desired["metadata"]
    text = json.dumps(_without_secret_values(desired), sort_keys=True, separators=(",", ":"))
    annotations = {**(metadata.get("annotations") or {}), LAST_APPLIED: text}
    return {**desired, "metadata": {**metadata, "annotations": annotations}}


def _without_secret_values(desired: Manifest) -> Manifest:
    """Replace the values of a Secret: its annotations are visible to more users than its data.

    The names of the entries are enough to remove those that are no longer desired.
    """
    if desired["kind"] != "Secret":
        return desired
    return {**desired, "data": dict.fromkeys(desired.get("data") or (), "")}


def _merge_fields(applied: Any, desired: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    """The live fields, with all desired ones, without those that were applied and are no longer desired."""
    applied = applied if isinstance(applied, Mapping) else {}
    merged = {name: old for name, old in live.items() if name not in applied}
    for name, new in desired.items():
        # The API server may drop an empty value. Without this check it would be applied again and again.
        if not new and name in applied and name not in live:
            continue
        merged[name] = _merge_field(name, applied.get(name), new, live.get(name))
    return merged


def _merge_field(name: str, applied: Any, desired: Any, live: Any) -> Any:
    if name in _IMMUTABLE and live is not None:
        return live
    if name in _QUANTITIES and _is_same_quantities(live, desired):
        return live
    if isinstance(desired, Mapping) and isinstance(live, Mapping) and name not in _UNIONS:
        return _merge_fields(applied, desired, live)
    key = _merge_key(desired, live)
    if key is not None:
        return _merge_items(name, key, applied, desired, live)
    return live if _contains(live, desired) else desired


def _is_same_quantities(live: Any, desired: Any) -> bool:
    if not isinstance(live, Mapping) or not isinstance(desired, Mapping) or live.keys() != desired.keys():
        return False
    quantities = ((parse_quantity(live[name]), parse_quantity(desired[name])) for name in desired)
    return all(old is not None and old == new for old, new in quantities)


def _merge_key(desired: Any, live: Any) -> str | None:
    """The first merge key that every item of both lists has."""
    if not isinstance(desired, list | tuple) or not isinstance(live, list | tuple):
        return None
    items = [*desired, *live]
    if not desired or not all(isinstance(item, Mapping) for item in items):
        return None
    return next((key for key in _MERGE_KEYS if all(key in item for item in items)), None)


def _merge_items(
    name: str, key: str, applied: Any, desired: Sequence[Any], live: Sequence[Any]
) -> Sequence[Any]:
    """Merge lists by key. Items that the operator never applied stay, and order alone is no change."""

    def by_key(items: Any) -> dict[Any, Any]:
        items = items if isinstance(items, list | tuple) else ()
        return {item[key]: item for item in items if isinstance(item, Mapping) and key in item}

    live_items, applied_items = by_key(live), by_key(applied)
    merged: list[Any] = []
    for item in desired:
        old = live_items.get(item[key])
        if name in _MERGED_ITEMS and old is not None:
            merged.append(_merge_fields(applied_items.get(item[key]), item, old))
        else:
            merged.append(old if _contains(old, item) else item)
    owned = {item[key] for item in desired} | set(applied_items)
    merged += [item for item in live if item[key] not in owned]
    return live if len(live) == len(merged) and all(item in live for item in merged) else merged


def _contains(live: Any, desired: Any) -> bool:
    """Whether `live` has every desired value. It may have more fields. Lists are compared by position."""
    if isinstance(desired, Mapping):
        return isinstance(live, Mapping) and all(
            _contains(live.get(name), new) or (not new and name not in live) for name, new in desired.items()
        )
    if isinstance(desired, list | tuple):
        if not isinstance(live, list | tuple) or len(desired) != len(live):
            return False
        return all(_contains(old, new) for new, old in zip(desired, live, strict=True))
    return bool(desired == live)
