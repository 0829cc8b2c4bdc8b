"""Quantities of Kubernetes, such as 500m or 4Gi, as numbers."""

from __future__ import annotations

__all__ = ["is_less", "parse_quantity"]

import re
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

_QUANTITY: Final = re.compile(
    r"([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d{1,2})|([numkMGTPE]|[KMGTPE]i))?", re.ASCII
)
_DECIMAL: Final = {suffix: Fraction(10) ** (3 * power) for power, suffix in enumerate("num", start=-3)} | {
    suffix: Fraction(1000) ** power for power, suffix in enumerate("kMGTPE", start=1)
}
_FACTORS: Final = _DECIMAL | {
    f"{suffix}i": Fraction(1024) ** power for power, suffix in enumerate("KMGTPE", start=1)
}


def parse_quantity(value: Any) -> Fraction | None:
    """The number that a quantity stands for; None if it is none. YAML may contain it as a number."""
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return None
    return _parse_text(str(value))


@lru_cache(maxsize=1024)
def _parse_text(text: str) -> Fraction | None:
    """Parse a quantity. Every reconcile compares the same few quantities of all pods."""
    match = _QUANTITY.fullmatch(text)
    if match is None:
        return None
    number, exponent, suffix = match.groups()
    return Fraction(number) * Fraction(f"1{exponent or 'e0'}") * _FACTORS.get(suffix, Fraction(1))


def is_less(one: Any, other: Any) -> bool:
    """Whether both are quantities and the first is the smaller one."""
    first, second = parse_quantity(one), parse_quantity(other)
    return first is not None and second is not None and first < second
