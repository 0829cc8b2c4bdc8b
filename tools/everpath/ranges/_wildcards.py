"""Wildcards such as `1.x`: how blang expands a comparison that contains an `x`.

blang expands the text before it parses a version. An `x` counts anywhere in the comparison, a number to be
incremented may have a sign or leading zeros, and an unknown operator is ignored.
"""

from __future__ import annotations

__all__ = ["OPERATORS", "expand_wildcard"]

import re
from collections.abc import Iterator, Mapping
from typing import Final

# Go's int has 64 bits on the platforms of OLM.
_INT64_MAX: Final = 2**63 - 1
_ATOI: Final = re.compile("[+-]?0*([0-9]{1,19})")

#: Operators as written, with the comparison that blang makes.
OPERATORS: Final[Mapping[str, str]] = {
    "": "=",
    "=": "=",
    "==": "=",
    "!": "!=",
    "!=": "!=",
    ">": ">",
    ">=": ">=",
    "<": "<",
    "<=": "<=",
}


def expand_wildcard(operator: str, version: str) -> Iterator[tuple[str, str]]:
    """Yield the comparisons, as operator and version, that blang puts in place of a wildcard.

    The version is empty if blang cannot increment a number; such a comparison does not parse.
    """
    lowest = version.replace(".x.x", ".x", 1).replace(".x", ".0", 1)
    if lowest.count(".") == 1:
        lowest += ".0"
    match OPERATORS.get(operator):
        case "=":
            yield ">=", lowest
            yield "<", _upper_bound(lowest, version)
        case "!=":
            yield "<", lowest
            yield ">=", _upper_bound(lowest, version)
        case ">":
            yield ">=", _upper_bound(lowest, version)
        case "<=":
            yield "<", _upper_bound(lowest, version)
        case ">=" | "<" as unchanged:
            yield unchanged, lowest
        case _:
            yield "=", lowest


def _upper_bound(lowest: str, version: str) -> str:
    """Increment the major number for N.x, or the minor number for N.N.x; return "" for anything else.

    The number is parsed as strconv.Atoi does.
    """
    parts = version.split(".")
    if parts[-1] != "x" or len(parts) not in (2, 3):
        return ""
    index = len(parts) - 2
    numbers = lowest.split(".")
    if (found := _ATOI.fullmatch(numbers[index])) is None:
        return ""
    value = int(found[1]) * (-1 if numbers[index].startswith("-") else 1)
    numbers[index] = str(value + 1)
    return ".".join(numbers) if value < _INT64_MAX else ""
