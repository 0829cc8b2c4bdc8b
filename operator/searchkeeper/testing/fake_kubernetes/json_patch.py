"""JSON Patch (RFC 6902): the operations add, remove, replace and test."""

from __future__ import annotations

__all__ = ["apply_json_patch"]

from collections.abc import Mapping, Sequence
from typing import Any

from searchkeeper.kubernetes.api import Rejected
from searchkeeper.kubernetes.operations import Manifest


def apply_json_patch(manifest: Manifest, operations: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the patched manifest. Raises Rejected if a test fails or a path does not exist."""
    patched: Any = manifest
    for operation in operations:
        path = [part.replace("~1", "/").replace("~0", "~") for part in operation["path"].split("/")[1:]]
        patched = _apply(patched, path, operation)
    return dict(patched)


def _apply(  # noqa: PLR0911 - one for each operation
    target: Any, path: Sequence[str], operation: Mapping[str, Any]
) -> Any:
    """Apply one operation. Copies the containers along the path only."""
    name, *rest = path
    if rest:
        return _with_item(target, name, _apply(_item(target, name), rest, operation))
    match operation["op"]:
        case "test" if _item(target, name) == operation["value"]:
            return target
        case "add" if isinstance(target, Sequence):
            place = len(target) if name == "-" else int(name)
            return [*target[:place], operation["value"], *target[place:]]
        case "add":
            return {**target, name: operation["value"]}
        case "replace":
            _item(target, name)
            return _with_item(target, name, operation["value"])
        case "remove":
            _item(target, name)
            if isinstance(target, list | tuple):
                return [*target[: int(name)], *target[int(name) + 1 :]]
            return {key: value for key, value in target.items() if key != name}
        case other:
            raise Rejected(f"operation {other} at {operation['path']} failed")


def _item(target: Any, name: str) -> Any:
    try:
        return target[int(name)] if isinstance(target, list | tuple) else target[name]
    except (KeyError, IndexError, ValueError, TypeError):
        raise Rejected(f"path not found: {name}") from None


def _with_item(target: Any, name: str, value: Any) -> Any:
    if isinstance(target, list | tuple):
        return [*target[: int(name)], value, *target[int(name) + 1 :]]
    return {**target, name: value}
