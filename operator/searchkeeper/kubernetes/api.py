"""The seam between the operator and an API server, real or embedded: where tests put their faults."""

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
    """The API server did not do what it was asked."""


class Conflict(ApiError):
    """409: somebody else was quicker; look again."""


class NotFound(ApiError):
    """404: it is not there any more."""


class NoSuchKind(ApiError):
    """404 to a list: not even the kind is there, since a list without objects is an answer."""

    def __init__(self, said: str, kind: str) -> None:
        self.kind = kind
        super().__init__(said)


class Rejected(ApiError):
    """400, 403, 422, or nobody there to admit it: nothing was done, and it would be refused again."""


class Unauthorized(Rejected):
    """401: the API server does not know who asks."""


class Forbidden(Rejected):
    """403: whoever asks may not."""


class Unavailable(ApiError):
    """No answer, or 429 or 5xx: the request may have been carried out all the same."""


class KubernetesApi(Protocol):
    """One API server. Every answer is fresh; every change names the state it was decided on."""

    def get(self, key: Key) -> Manifest | None:
        """The object, or None where there is none. Raises KubeError."""

    def list(self, api: str, kind: str, namespace: str, labels: Mapping[str, str]) -> Sequence[Manifest]:
        """Those that have these labels, by name. Raises NoSuchKind, KubeError."""

    def create(self, manifest: Manifest) -> Manifest:
        """Raises Conflict where there is one of that name, and KubeError."""

    def patch(self, patch: Patch) -> Manifest:
        """A merge patch under the resource version it names. Raises Conflict, Gone, KubeError."""

    def patch_status(self, patch: Patch) -> Manifest:
        """The same through the status subresource."""

    def delete(self, delete: Delete) -> None:
        """Under the UID and resource version it names. Raises Conflict, Gone, KubeError."""

    def record(self, event: EmitEvent) -> None:
        """An event about an object. Raises KubeError."""
