"""The type of functions that receive the progress of a long run."""

from __future__ import annotations

__all__ = ["Progress"]

from collections.abc import Callable
from typing import TypeAlias

#: Called with the number of items done, the number of all items, and the name of the next one.
Progress: TypeAlias = Callable[[int, int, str], None]
