"""JSON patches (RFC 6902), as far as API servers are sent them."""

from __future__ import annotations

__all__ = ["apply_json_patch"]

from collections.abc import Mapping, Sequence
from typing import Any

from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Manifest


def apply_json_patch(manifest: Manifest, operations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The manifest after every operation. Raises Refused where a test fails or a path leads nowhere."""
    changed: Any = manifest
    for each in operations:
        parts = [part.replace("~1", "/").replace("~0", "~") for part in each["path"].split("/")[1:]]
        changed = _after(changed, parts, each)
    return dict(changed)


def _after(found: Any, parts: Sequence[str], operation: Mapping[str, Any]) -> Any:
    """Cost: one copy a level of the path."""
    name, *rest = parts
    if rest:
        return _with(found, name, _after(_at(found, name), rest, operation))
    match operation["op"]:
        case "test" if _at(found, name) == operation["value"]:
            return found
        case "add" if isinstance(found, Sequence):
            place = len(found) if name == "-" else int(name)
            return [*found[:place], operation["value"], *found[place:]]
        case "add":
            return {**found, name: operation["value"]}
        case "replace":
            _at(found, name)
            return _with(found, name, operation["value"])
        case "remove":
            return _without(found, name)
        case other:
            raise Rejected(f"the operation {other} at {operation['path']} cannot be carried out")


def _at(found: Any, name: str) -> Any:
    try:
        return found[int(name)] if isinstance(found, list | tuple) else found[name]
    except (KeyError, IndexError, ValueError, TypeError):
        raise Rejected(f"there is nothing called {name}") from None


def _with(found: Any, name: str, new: Any) -> Any:
    if isinstance(found, list | tuple):
        place = int(name)
        return [*found[:place], new, *found[place + 1 :]]
    return {**found, name: new}


def _without(found: Any, name: str) -> Any:
    _at(found, name)
    if isinstance(found, list | tuple):
        place = int(name)
        return [*found[:place], *found[place + 1 :]]
    return {key: value for key, value in found.items() if key != name}
