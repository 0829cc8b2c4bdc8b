"""The port to an OpenSearch cluster, real or fake."""

from __future__ import annotations

__all__ = ["CallFailed", "CallRejected", "EngineClient"]

from typing import Protocol

from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.details import DetailsRequest, EngineDetails
from searchkeeper.opensearch.view import EngineView, Unreachable


class CallFailed(Exception):
    """A call failed or got no response. OpenSearch may have executed it."""


class CallRejected(CallFailed):
    """OpenSearch rejected a call permanently and executed nothing. A retry gets the same response."""


class EngineClient(Protocol):
    """Client of one OpenSearch cluster."""

    def get_state(self) -> EngineView | Unreachable:
        """Fetch the current state, never a cached one. Returns Unreachable instead of raising."""

    def get_details(self, request: DetailsRequest) -> EngineDetails:
        """Fetch the requested details, never cached ones. What cannot be read is unknown; raises nothing."""

    def execute(self, call: Call) -> None:
        """Execute a call. Raises CallRejected or CallFailed; safe to retry."""
