"""The seam between the operator and an engine, real or embedded."""

from __future__ import annotations

__all__ = ["CallFailed", "CallRejected", "EngineClient"]

from typing import Protocol

from searchkeeper.opensearch.calls import Call
from searchkeeper.opensearch.view import EngineView, Unreachable


class CallFailed(Exception):
    """A call was refused, or its answer never came: it may have been carried out all the same."""


class CallRejected(CallFailed):
    """The engine said no, and would say it again: nothing was carried out."""


class EngineClient(Protocol):
    """One cluster's engine."""

    def get_state(self) -> EngineView | Unreachable:
        """A fresh look, never a remembered one. Does not raise: not to know is an answer."""

    def execute(self, call: Call) -> None:
        """Carries out a call. Raises CallRefused, CallFailed; safe to repeat."""
