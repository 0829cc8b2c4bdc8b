"""The seam between the operator and an engine, real or embedded."""

from __future__ import annotations

__all__ = ["CallFailed", "CallRefused", "Driver"]

from typing import Protocol

from searchkeeper.engine.calls import Call
from searchkeeper.engine.view import EngineView, Unreachable


class CallFailed(Exception):
    """A call was refused, or its answer never came: it may have been carried out all the same."""


class CallRefused(CallFailed):
    """The engine said no, and would say it again: nothing was carried out."""


class Driver(Protocol):
    """One cluster's engine."""

    def look(self) -> EngineView | Unreachable:
        """A fresh look, never a remembered one. Does not raise: not to know is an answer."""

    def tell(self, call: Call) -> None:
        """Carries out a call. Raises CallRefused, CallFailed; safe to repeat."""
