"""What the API server refuses before OLM v1 sees it: `version` of a ClusterExtension.

The CRD of operator-controller v1.2.0 checks the text by a pattern, which is narrower than what the resolver
behind it reads: there are no hyphen ranges, and `*` is taken in some places only.
"""

from __future__ import annotations

__all__ = ["MAX_VERSION_LENGTH", "VERSION_PATTERN", "version_range_error"]

import re
from typing import Final

#: maxLength of spec.source.catalog.version, in characters.
MAX_VERSION_LENGTH: Final = 64

#: The expression of the CRD's rule, sign by sign; its brackets that close nothing are part of it.
VERSION_PATTERN: Final = (
    r"^(\s*(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)\s*(v?(0|[1-9]\d*|[x|X|\*])(\.(0|[1-9]\d*|x|X|\*]))?"
    r"(\.(0|[1-9]\d*|x|X|\*))?(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+"
    r"(\.[0-9A-Za-z\-]+)*))?)\s*)((?:\s+|,\s*|\s*\|\|\s*)(=||!=|>|<|>=|=>|<=|=<|~|~>|\^)\s*"
    r"(v?(0|[1-9]\d*|x|X|\*])(\.(0|[1-9]\d*|x|X|\*))?(\.(0|[1-9]\d*|x|X|\*]))?"
    r"(-([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?(\+([0-9A-Za-z\-]+(\.[0-9A-Za-z\-]+)*))?)\s*)*$"
)
# Go's \s knows no vertical tab, and its $ is the end and no line break before it.
_GO: Final = re.compile(VERSION_PATTERN.replace(r"\s", r"[\t\n\f\r ]"), re.ASCII)


def version_range_error(text: str) -> str | None:
    """Why the API server refuses a ClusterExtension with this version range; None if it takes it."""
    if len(text) > MAX_VERSION_LENGTH:
        return f"version is longer than {MAX_VERSION_LENGTH} characters"
    if _GO.fullmatch(text) is None:
        return f"invalid version expression{_hint(text)}"
    return None


def _hint(text: str) -> str:
    if re.search(r"\S\s+-\s+\S", text):
        return "; it takes no hyphen ranges: write '>=1.0.0, <=2.0.0'"
    if "*" in text:
        return "; it takes * in some places only: write x"
    return ""
