"""Differences between an existing object and a requested one, and what was done to an object."""

from __future__ import annotations

__all__ = ["ChangeType", "FieldDifference", "ObjectChange", "differences"]

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Any, NamedTuple

from everpath.olm.objects import Object, ObjectRef, nested_value


class ChangeType(StrEnum):
    """What was done to an object. The values are part of the JSON contract."""

    CREATED = "created"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    APPROVED = "approved"
    DELETED = "deleted"


class ObjectChange(NamedTuple):
    """An object, and what was done to it."""

    type: ChangeType
    ref: ObjectRef

    def __str__(self) -> str:
        if self.type is ChangeType.UNCHANGED:
            return f"{self.ref} unchanged"
        return f"{self.type.capitalize()} {self.ref}"


class FieldDifference(NamedTuple):
    """A field whose actual value is not the requested one. None means not set."""

    path: str
    actual: Any
    requested: Any

    def __str__(self) -> str:
        """`spec.channel is alpha, not stable`."""
        actual = "not set" if self.actual is None else _format_value(self.actual)
        return f"{self.path} is {actual}, not {_format_value(self.requested)}"


def differences(actual: Object, requested: Object, *path: str) -> list[FieldDifference]:
    """Return the fields below a path that do not have the requested value.

    Fields that are not requested are ignored: they belong to other managers. Lists are compared as a whole.
    """
    return list(_differences(nested_value(actual, *path), nested_value(requested, *path), ".".join(path)))


def _differences(actual: Any, requested: Any, path: str) -> Iterator[FieldDifference]:
    if isinstance(requested, Mapping):
        for key, value in requested.items():
            yield from _differences(nested_value(actual, key), value, f"{path}.{key}" if path else key)
    elif actual != requested:
        yield FieldDifference(path, actual, requested)


def _format_value(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "empty"
    return str(value) if value != "" else "empty"
