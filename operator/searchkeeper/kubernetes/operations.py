"""Operations: what a reconcile may change, as data.

The text of an operation is shown in plans and conditions. The ledger identifies a denied operation by it.
"""

from __future__ import annotations

__all__ = [
    "Create",
    "Delete",
    "EmitEvent",
    "EngineCall",
    "EventType",
    "Key",
    "Manifest",
    "Patch",
]

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from searchkeeper.opensearch.calls import Call

# A Kubernetes object as JSON. Never changed in place.
Manifest: TypeAlias = Mapping[str, Any]


class Key(NamedTuple):
    """The identity of an object: `apps/v1`, `StatefulSet`, namespace, name."""

    api: str
    kind: str
    namespace: str
    name: str

    @classmethod
    def of(cls, manifest: Manifest) -> Key:
        metadata = manifest["metadata"]
        return cls(manifest["apiVersion"], manifest["kind"], metadata.get("namespace", ""), metadata["name"])

    def __str__(self) -> str:
        return f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Create:
    """Create an object. An existing object of that name is a conflict."""

    manifest: Manifest
    is_destructive: bool = False

    @property
    def key(self) -> Key:
        return Key.of(self.manifest)

    def __str__(self) -> str:
        return f"create {self.key}"


@dataclass(frozen=True, slots=True)
class Patch:
    """A merge patch. The API server refuses it when the object has another resource version."""

    key: Key
    changes: Manifest
    resource_version: str
    is_destructive: bool = False

    def __str__(self) -> str:
        paths: list[str] = []
        for name, part in self.changes.items():
            paths += [f"{name}.{key}" for key in part] if isinstance(part, dict) else [name]
        return f"patch {self.key}: {', '.join(sorted(paths))}"


@dataclass(frozen=True, slots=True)
class Delete:
    """Delete the object with this UID and resource version; a newer one of the same name stays.

    With `orphan` its dependents stay.
    """

    key: Key
    uid: str
    resource_version: str
    orphan: bool = False
    is_destructive: bool = True

    def __str__(self) -> str:
        return f"delete {self.key}" + (" and orphan its dependents" if self.orphan else "")


@dataclass(frozen=True, slots=True)
class EngineCall:
    """A call to the engine. The ledger records the change before the call."""

    call: Call
    is_destructive: bool = False

    def __str__(self) -> str:
        return f"call the engine: {self.call}"


class EventType(StrEnum):
    """The types of Kubernetes events."""

    NORMAL = "Normal"
    WARNING = "Warning"


@dataclass(frozen=True, slots=True)
class EmitEvent:
    """Emit an event about an object. The ledger records it, so that it is emitted once."""

    about: Key
    reason: str
    message: str
    type: EventType = EventType.WARNING
    is_destructive: bool = False

    def __str__(self) -> str:
        return f"emit event {self.reason}: {self.message}"
