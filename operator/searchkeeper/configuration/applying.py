"""Brings an object to what is wanted, and leaves alone what others or the API server put there."""

from __future__ import annotations

__all__ = ["APPLIED", "apply", "wanted_in"]

import json
from collections.abc import Mapping
from typing import Any, Final

from searchkeeper.remembering import of_the_same
from searchkeeper.writes import Create, Key, Manifest, Patch

# What we last asked for: whatever is in it and no longer wanted is ours to take away.
APPLIED: Final = "search.everpath.dev/applied"


@of_the_same(4096)
def apply(wanted: Manifest, live: Manifest | None) -> Create | Patch | None:
    """The write that makes `live` what is wanted; None when it is already.

    Law: applying what is applied writes nothing, whatever defaults the API server has filled in.
    """
    if live is None:
        return Create(_marked(wanted))
    changes = _changes(wanted_in(live), _marked(wanted), live)
    if not changes:
        return None
    return Patch(Key.of(live), changes, live["metadata"]["resourceVersion"])


def wanted_in(live: Manifest) -> Mapping[str, Any]:
    """What was last asked for."""
    text = (live["metadata"].get("annotations") or {}).get(APPLIED)
    found = json.loads(text) if text else {}
    return found if isinstance(found, dict) else {}


def _marked(wanted: Manifest) -> dict[str, Any]:
    metadata = wanted["metadata"]
    note = json.dumps(wanted, sort_keys=True, separators=(",", ":"))
    annotations = {**(metadata.get("annotations") or {}), APPLIED: note}
    return {**wanted, "metadata": {**metadata, "annotations": annotations}}


def _changes(before: Mapping[str, Any], wanted: Mapping[str, Any], live: Mapping[str, Any]) -> dict[str, Any]:
    """A merge patch: what differs from what is wanted, and null for what was wanted and is not any more."""
    changes: dict[str, Any] = {
        name: None for name in before if name not in wanted and name in live and name != "status"
    }
    for name, new in wanted.items():
        old = live.get(name)
        if isinstance(new, Mapping):
            earlier = before.get(name)
            inner = _changes(
                earlier if isinstance(earlier, Mapping) else {},
                new,
                old if isinstance(old, Mapping) else {},
            )
            # An API server may not keep what is empty: to ask for it a second time would never end.
            if inner or (old is None and (new or name not in before)):
                changes[name] = inner
        elif not _holds(new, old):
            changes[name] = new
    return changes


def _holds(wanted: Any, live: Any) -> bool:
    """Whether what is wanted is there, beside defaults. Lists are compared place by place."""
    if isinstance(wanted, Mapping):
        return isinstance(live, Mapping) and all(_holds(new, live.get(name)) for name, new in wanted.items())
    if isinstance(wanted, list | tuple):
        if not isinstance(live, list | tuple) or len(wanted) != len(live):
            return False
        return all(_holds(new, old) for new, old in zip(wanted, live, strict=True))
    return bool(wanted == live)
