"""What the partial parsers of YAML and JSON have in common.

A partial parser skips the values of `olm.csv.metadata` and `olm.bundle.object`: nine tenths of a rendered
catalog, on which no upgrade depends. It returns None for any other layout than opm writes, and the document
is parsed completely.
"""

from __future__ import annotations

__all__ = ["CACHE_SIZE", "PartialDocument"]

from typing import Any, Final, NamedTuple

# How many values a partial parser caches, because they repeat from version to version: enough for a package
# with hundreds of versions, and a bound for hostile input.
CACHE_SIZE: Final = 1 << 14


class PartialDocument(NamedTuple):
    """A document whose large values are replaced.

    `is_complete` if it has none. `ends_unread` if no text after a large value proves that it is complete.
    """

    value: dict[str, Any]
    is_complete: bool
    ends_unread: bool = False
