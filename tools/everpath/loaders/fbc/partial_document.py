"""What the quick readers of a catalog share: a document of which only the small parts were read."""

from __future__ import annotations

__all__ = ["REMEMBERED", "Skeleton"]

from typing import Any, Final, NamedTuple

# How many pieces a quick reader keeps, because they repeat from version to version: enough for a package
# of hundreds of versions, and a bound for a hostile one.
REMEMBERED: Final = 1 << 14


class Skeleton(NamedTuple):
    """A document with something small in the place of its big values; `is_whole` if it had none."""

    value: dict[str, Any]
    is_whole: bool
