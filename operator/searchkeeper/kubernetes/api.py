"""The port to an API server, real or fake. Tests inject faults here."""

from __future__ import annotations

__all__ = [
    "ApiError",
    "Conflict",
    "Forbidden",
    "KubernetesApi",
    "NoSuchKind",
    "NotFound",
    "Rejected",
    "Unauthorized",
    "Unavailable",
]

from collections.abc import Mapping, Sequence
from typing import Protocol

from searchkeeper.kubernetes.operations import Delete, EmitEvent, Key, Manifest, Patch


class ApiError(Exception):
    """A request to the API server failed."""


class Conflict(ApiError):
    """409: the object has changed since it was read, or already exists. The caller requeues."""


class NotFound(ApiError):
    """404: the object does not exist."""


class NoSuchKind(ApiError):
    """404 to a list: the kind does not exist. A list without objects would be empty, not 404."""

    def __init__(self, message: str, kind: str) -> None:
        self.kind = kind
        super().__init__(message)


class Rejected(ApiError):
    """400, 403, 422, or an unreachable admission webhook: nothing happened, and a retry is refused too."""


class Unauthorized(Rejected):
    """401: the API server does not accept the credentials."""


class Forbidden(Rejected):
    """403: the ServiceAccount lacks the permission."""


class Unavailable(ApiError):
    """No response, 429 or 5xx: the request may have been executed."""


class KubernetesApi(Protocol):
    """One API server. Every read is fresh; every change names the state it is based on."""

    def get(self, key: Key) -> Manifest | None:
        """Return the object, or None when it does not exist. Raises ApiError."""

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        """Return the objects with these labels, sorted by name. Raises NoSuchKind, ApiError."""

    def create(self, manifest: Manifest) -> Manifest:
        """Create the object and return it. Raises Conflict when the name exists, and ApiError."""

    def patch(self, patch: Patch) -> Manifest:
        """Apply a merge patch and return the object. Raises Conflict, NotFound, ApiError."""

    def patch_status(self, patch: Patch) -> Manifest:
        """Apply a merge patch to the status subresource. Raises as `patch` does."""

    def delete(self, delete: Delete) -> None:
        """Delete the object with this UID and resource version. Raises Conflict, NotFound, ApiError."""

    def record(self, event: EmitEvent) -> None:
        """Record an event about an object. Raises ApiError."""
