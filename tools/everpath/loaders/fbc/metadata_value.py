"""Where the value of an `olm.csv.metadata` property lies in block-style YAML.

It is nine tenths of a rendered catalog, and whoever looks for anything else wants to pass over it at once.
"""

from __future__ import annotations

__all__ = ["MARKER", "metadata_value"]

import re
from typing import Final

MARKER: Final = b"- type: olm.csv.metadata\n"

_KEY: Final = b"  value:"

# By the indentation of the dash: the end of the last line that stands further in than the key of the value.
_END: Final = {
    b"": re.compile(rb"\n(?!   |\n)"),
    b"  ": re.compile(rb"\n(?!     |\n)"),
}


def metadata_value(text: bytes, marker: int) -> tuple[int, int] | None:
    """The stretch from behind `value:` to the end of its last line, for the marker at an index.

    None if the property does not look as writers of catalogs make it look. All lines of the stretch are
    blank or stand further in. Cost: a look at the start of each.
    """
    indent = text[text.rfind(b"\n", 0, marker) + 1 : marker]
    end_of_value = _END.get(indent)
    key = marker + len(MARKER)
    if end_of_value is None or not text.startswith(indent + _KEY + b"\n", key):
        return None
    start = key + len(indent) + len(_KEY)
    found = end_of_value.search(text, start)
    return start, found.start() if found else len(text)
