"""What the partial parsers of YAML and JSON have in common.

A partial parser skips the values of `olm.csv.metadata` and `olm.bundle.object`: nine tenths of a rendered
catalog, on which no upgrade depends. It returns None for any other layout than opm writes, and the document
is parsed completely.
"""

from __future__ import annotations

__all__ = ["CACHE_SIZE", "METADATA_TYPE_LINE", "PartialDocument", "metadata_span"]

import re
from typing import Any, Final, NamedTuple

# How many values a partial parser caches, because they repeat from version to version: enough for a package
# with hundreds of versions, and a bound for hostile input.
CACHE_SIZE: Final = 1 << 14

METADATA_TYPE_LINE: Final = b"- type: olm.csv.metadata\n"

_VALUE_KEY: Final = b"  value:"

# By the indentation of the dash: the end of the last line that is indented further than the key of the value.
_VALUE_END: Final = {
    b"": re.compile(rb"\n(?!   |\n)"),
    b"  ": re.compile(rb"\n(?!     |\n)"),
}


class PartialDocument(NamedTuple):
    """A document whose large values are replaced. `is_complete` if it has none."""

    value: dict[str, Any]
    is_complete: bool


def metadata_span(text: bytes, type_line: int) -> tuple[int, int] | None:
    """Return start and end of the value of the `olm.csv.metadata` property whose type line is at an index.

    None if the property is not laid out as opm writes it. All lines of the span are blank or indented
    further.
    """
    indent = text[text.rfind(b"\n", 0, type_line) + 1 : type_line]
    value_end = _VALUE_END.get(indent)
    key = type_line + len(METADATA_TYPE_LINE)
    if value_end is None or not text.startswith(indent + _VALUE_KEY + b"\n", key):
        return None
    start = key + len(indent) + len(_VALUE_KEY)
    end = value_end.search(text, start)
    return start, end.start() if end else len(text)
