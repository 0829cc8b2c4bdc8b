"""Both ports of the operator in one object, and a base class for objects that wrap them."""

from __future__ import annotations

__all__ = ["Ports", "PortsDecorator", "StatusPatch"]

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol, TypeVar

from searchkeeper.kubernetes.api import KubernetesApi
from searchkeeper.kubernetes.operations import Create, Delete, EmitEvent, EngineCall, Key, Manifest, Patch
from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.client import EngineClient
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.view import EngineView, Unreachable
from searchkeeper.planner import Operation

T = TypeVar("T")


class Ports(KubernetesApi, EngineClient, Protocol):
    """Both ports of the operator in one object."""


@dataclass(frozen=True, slots=True)
class StatusPatch:
    """A patch of the status subresource."""

    patch: Patch
    is_destructive: bool = False

    def __str__(self) -> str:
        return f"patch status of {self.patch.key}"


@dataclass
class PortsDecorator:
    """Both ports, delegated to others. A subclass overrides reads, and `_write` for all writes."""

    ports: Ports

    def get(self, key: Key) -> Manifest | None:
        return self.ports.get(key)

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        return self.ports.list(api, kind, namespace, labels)

    def get_state(self) -> EngineView | Unreachable:
        return self.ports.get_state()

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        return self.ports.get_details(request)

    def create(self, manifest: Manifest) -> Manifest:
        return self._write(Create(manifest), lambda: self.ports.create(manifest))

    def patch(self, patch: Patch) -> Manifest:
        return self._write(patch, lambda: self.ports.patch(patch))

    def patch_status(self, patch: Patch) -> Manifest:
        return self._write(StatusPatch(patch), lambda: self.ports.patch_status(patch))

    def delete(self, delete: Delete) -> None:
        self._write(delete, lambda: self.ports.delete(delete))

    def record(self, event: EmitEvent) -> None:
        self._write(event, lambda: self.ports.record(event))

    def execute(self, call: Call) -> None:
        self._write(EngineCall(call), lambda: self.ports.execute(call))

    def _write(self, write: Operation, execute: Callable[[], T]) -> T:
        """Execute a write. `execute` sends it to the wrapped ports and returns their result."""
        raise NotImplementedError
