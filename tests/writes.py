"""Writes for tests of the kernel, which does not care what they do."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Put:
    """Adds something."""

    name: str
    is_destructive: bool = False


@dataclass(frozen=True, slots=True)
class Delete:
    """Takes something away."""

    name: str
    is_destructive: bool = True
