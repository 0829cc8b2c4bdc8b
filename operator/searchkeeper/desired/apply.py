"""Brings an object to what is wanted, and leaves alone what others or the API server put there."""

from __future__ import annotations

__all__ = ["LAST_APPLIED", "apply", "last_applied", "merge_patch"]

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from searchkeeper.kubernetes.operations import Create, Key, Manifest, Patch
from searchkeeper.memoize import memoize_by_identity

# What we last asked for: whatever is in it and no longer wanted is ours to take away.
LAST_APPLIED: Final = "search.everpath.dev/applied"
# By what the items of a list are told apart. Lists of anything else are one value.
_KEYS: Final = ("mountPath", "uid", "name")
# Lists whose items others add to: limits, for example, are not ours. Of all other items the fields belong
# together: a variable with a value and a source would be refused.
_SHARED: Final = frozenset({"containers"})
# Either one kind of it or another: both together would be refused.
_EITHER: Final = frozenset({"readinessProbe", "updateStrategy"})
# Settled when an object is born; an API server writes sizes its own way, and refuses to change them back.
_SETTLED: Final = frozenset({"volumeClaimTemplates"})


@memoize_by_identity(4096)
def apply(wanted: Manifest, live: Manifest | None) -> Create | Patch | None:
    """The write that makes `live` what is wanted; None when it is already.

    Law: applying what is applied writes nothing, whatever defaults the API server has filled in.
    """
    if live is None:
        return Create(_marked(wanted))
    changes = merge_patch(live, _fields(last_applied(live), _marked(wanted), live))
    if not changes:
        return None
    return Patch(Key.of(live), changes, live["metadata"]["resourceVersion"])


@memoize_by_identity(4096)
def last_applied(live: Manifest) -> Mapping[str, Any]:
    """What was last asked for; nothing where that cannot be read any more."""
    text = (live["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    try:
        found = json.loads(text or "{}")
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def merge_patch(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """The merge patch from one to the other."""
    changes: dict[str, Any] = {name: None for name in before if name not in after}
    for name, new in after.items():
        old = before.get(name)
        if isinstance(new, Mapping) and isinstance(old, Mapping):
            inner = merge_patch(old, new)
            changes |= {name: inner} if inner else {}
        elif new != old:
            changes[name] = new
    return changes


def _marked(wanted: Manifest) -> dict[str, Any]:
    metadata = wanted["metadata"]
    note = json.dumps(_public(wanted), sort_keys=True, separators=(",", ":"))
    annotations = {**(metadata.get("annotations") or {}), LAST_APPLIED: note}
    return {**wanted, "metadata": {**metadata, "annotations": annotations}}


def _public(wanted: Manifest) -> Manifest:
    """Of a Secret only which entries it has: whoever may not read those may well read annotations.

    To take away what is not wanted any more, their names are enough.
    """
    if wanted["kind"] != "Secret":
        return wanted
    return {**wanted, "data": dict.fromkeys(wanted.get("data") or (), "")}


def _fields(before: Any, wanted: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    """What is there, with all that is wanted, and without what was wanted and is not any more."""
    earlier = before if isinstance(before, Mapping) else {}
    made = {name: old for name, old in live.items() if name not in earlier}
    for name, new in wanted.items():
        # An API server may not keep what is empty: to ask for it a second time would never end.
        if new == {} and name in earlier and name not in live:
            continue
        made[name] = _field(name, earlier.get(name), new, live.get(name))
    return made


def _field(name: str, before: Any, wanted: Any, live: Any) -> Any:
    if name in _SETTLED and live is not None:
        return live
    if isinstance(wanted, Mapping) and isinstance(live, Mapping) and name not in _EITHER:
        return _fields(before, wanted, live)
    key = _key(wanted, live)
    if key is not None:
        return _items(name, key, before, wanted, live)
    return live if _holds(wanted, live) else wanted


def _key(wanted: Any, live: Any) -> str | None:
    """What every item of two lists has, and is called by."""
    if not isinstance(wanted, list | tuple) or not isinstance(live, list | tuple):
        return None
    items = [*wanted, *live]
    if not wanted or not all(isinstance(item, Mapping) for item in items):
        return None
    return next((key for key in _KEYS if all(key in item for item in items)), None)


def _items(name: str, key: str, before: Any, wanted: Sequence[Any], live: Sequence[Any]) -> Sequence[Any]:
    """The same for a list: whose items we have never asked for stay, in whatever order they are."""
    there, asked = _by(key, live), _by(key, before)
    made = [_item(name, asked.get(item[key]), item, there.get(item[key])) for item in wanted]
    ours = {item[key] for item in wanted} | set(asked)
    made += [item for item in live if item[key] not in ours]
    return live if len(live) == len(made) and all(item in live for item in made) else made


def _by(key: str, items: Any) -> dict[Any, Any]:
    found = items if isinstance(items, list | tuple) else ()
    return {item[key]: item for item in found if isinstance(item, Mapping) and key in item}


def _item(name: str, before: Any, wanted: Mapping[str, Any], live: Any) -> Any:
    if name in _SHARED and live is not None:
        return _fields(before, wanted, live)
    return live if _holds(wanted, live) else wanted


def _holds(wanted: Any, live: Any) -> bool:
    """Whether what is wanted is there, beside defaults. Lists are compared place by place."""
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(_holds(new, live.get(name)) for name, new in wanted.items())
    if isinstance(wanted, list | tuple):
        if not isinstance(live, list | tuple) or len(wanted) != len(live):
            return False
        return all(_holds(new, old) for new, old in zip(wanted, live, strict=True))
    return bool(wanted == live)
