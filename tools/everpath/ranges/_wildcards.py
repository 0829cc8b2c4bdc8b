"""What blang makes of a comparison with an `x` in it, letter by letter.

The expansion works on text, before any version is parsed. That is where its oddities come from: an x counts
wherever it stands, a number to be raised may have a sign or leading zeros, and an unknown operator vanishes.
"""

from __future__ import annotations

__all__ = ["OPERATORS", "expand_wildcard"]

import re
from collections.abc import Iterator, Mapping
from typing import Final

# Go's int is 64 bits wide where OLM runs.
_INT64_MAX: Final = 2**63 - 1
_ATOI: Final = re.compile("[+-]?0*([0-9]{1,19})")

#: Every way to write an operator, and the way blang compares.
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
    """The plain comparisons that stand for a wildcard, as (operator, version) texts.

    A version that cannot be raised comes out empty, and a comparison with it does not parse.
    """
    flat = _flat(version)
    match OPERATORS.get(operator):
        case "=":
            yield ">=", flat
            yield "<", _raised(flat, version)
        case "!=":
            yield "<", flat
            yield ">=", _raised(flat, version)
        case ">":
            yield ">=", _raised(flat, version)
        case "<=":
            yield "<", _raised(flat, version)
        case ">=" | "<" as plain:
            yield plain, flat
        case _:
            yield "=", flat


def _flat(version: str) -> str:
    """The lowest version of a wildcard: its first x read as 0, two numbers filled up to three."""
    flat = version.replace(".x.x", ".x", 1).replace(".x", ".0", 1)
    return flat + ".0" if flat.count(".") == 1 else flat


def _raised(flat: str, version: str) -> str:
    """`flat` with its major number raised for N.x, its minor for anything of three parts that ends in x."""
    parts = version.split(".")
    if parts[-1] != "x" or len(parts) not in (2, 3):
        return ""
    place = len(parts) - 2
    numbers = flat.split(".")
    numbers[place] = _successor(numbers[place])
    return ".".join(numbers) if numbers[place] else ""


def _successor(number: str) -> str:
    """The next number as strconv.Atoi and Itoa would have it, or an empty text."""
    if (found := _ATOI.fullmatch(number)) is None:
        return ""
    value = int(found[1]) * (-1 if number.startswith("-") else 1)
    return str(value + 1) if value < _INT64_MAX else ""
