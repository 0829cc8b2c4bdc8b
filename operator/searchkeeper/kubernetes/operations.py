"""What a cycle may do to the world, as data. The text of a write is what a plan says of it."""

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

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple, TypeAlias

from searchkeeper.opensearch.calls import Call

# A Kubernetes object as JSON. Treated as a value: never changed in place.
Manifest: TypeAlias = Mapping[str, Any]


class Key(NamedTuple):
    """Which object: `apps/v1`, `StatefulSet`, its namespace and name."""

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
    """A new object; an existing one of that name is a conflict, and the next cycle looks at it."""

    manifest: Manifest
    is_destructive: bool = False

    @property
    def key(self) -> Key:
        return Key.of(self.manifest)

    def __str__(self) -> str:
        return f"create {self.key}"


@dataclass(frozen=True, slots=True)
class Patch:
    """A merge patch onto the object as it was seen: refused when anybody has changed it since."""

    key: Key
    changes: Manifest
    resource_version: str
    is_destructive: bool = False

    def __str__(self) -> str:
        return f"patch {self.key}: {', '.join(sorted(self._paths()))}"

    def _paths(self) -> Iterator[str]:
        for name, part in self.changes.items():
            yield from (f"{name}.{key}" for key in part) if isinstance(part, dict) else [name]


@dataclass(frozen=True, slots=True)
class Delete:
    """Exactly the object that was seen: another of the same name, or a newer state of it, is left alone.

    With `orphan` whatever it owns stays.
    """

    key: Key
    uid: str
    resource_version: str
    orphan: bool = False
    is_destructive: bool = True

    def __str__(self) -> str:
        return f"delete {self.key}" + (", leaving what it owns" if self.orphan else "")


@dataclass(frozen=True, slots=True)
class EngineCall:
    """A call to the engine. What it changes is in the ledger before."""

    call: Call
    is_destructive: bool = False

    def __str__(self) -> str:
        return f"tell the engine: {self.call}"


class EventType(StrEnum):
    NORMAL = "Normal"
    WARNING = "Warning"


@dataclass(frozen=True, slots=True)
class EmitEvent:
    """An event on a resource, for people. The ledger remembers what was said, so that it is said once."""

    about: Key
    reason: str
    message: str
    type: EventType = EventType.WARNING
    is_destructive: bool = False

    def __str__(self) -> str:
        return f"tell people: {self.reason}: {self.message}"
