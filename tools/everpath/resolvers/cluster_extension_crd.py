"""Validation of `version` of a ClusterExtension by the API server.

The pattern in the CRD of operator-controller v1.2.0 accepts less than the resolver: no hyphen ranges, and `*`
only in some positions.
"""

from __future__ import annotations

__all__ = ["MAX_VERSION_LENGTH", "VERSION_PATTERN", "version_range_error"]

import re
from typing import Final

#: maxLength of spec.source.catalog.version, in characters.
MAX_VERSION_LENGTH: Final = 64

#: The pattern of the CRD, verbatim, including its unbalanced brackets.
VERSION_PATTERN: Final = (
    r"^(\s*(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)\s*(v?(0|[1-9]\d*|[x|X|\*])(\.(0|[1-9]\d*|x|X|\*]))?"
    r"(\.(0|[1-9]\d*|x|X|\*))?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+"
    r"(\.[0-9A-Za-z\-]+)*))?)\s*)((?:\s+|,\s*|\s*\|\|\s*)(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)\s*"
    r"(v?(0|[1-9]\d*|x|X|\*])(\.(0|[1-9]\d*|x|X|\*))?(\.(0|[1-9]\d*|x|X|\*]))?"
    r"(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?)\s*)*$"
)
# In Go, \s does not match a vertical tab, and $ does not match before a final line break.
_GO_PATTERN: Final = re.compile(VERSION_PATTERN.replace(r"\s", r"[\t\n\f\r ]"), re.ASCII)


def version_range_error(text: str) -> str | None:
    """Return why the API server refuses a ClusterExtension with this version range; None if it accepts it."""
    if len(text) > MAX_VERSION_LENGTH:
        return f"version is longer than {MAX_VERSION_LENGTH} characters"
    if _GO_PATTERN.fullmatch(text) is None:
        if re.search(r"\S\s+-\s+\S", text):
            return "invalid version expression; hyphen ranges are not accepted: write '>=1.0.0, <=2.0.0'"
        if "*" in text:
            return "invalid version expression; * is only accepted in some positions: write x"
        return "invalid version expression"
    return None
