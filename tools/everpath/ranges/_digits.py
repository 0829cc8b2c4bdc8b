"""The digits of Go's unicode.IsDigit, whatever Python this runs on.

blang starts a version at the first of them. Python's own table follows its release (3.11 knows Unicode 14,
3.14 knows 16) where Go 1.21 to 1.26 all know 15, and before a wildcard the difference decides whether a
range parses: what is no digit there is an unknown operator, and vanishes.
"""

from __future__ import annotations

__all__ = ["first_digit"]

import re
from functools import cache
from typing import Final

# The zero of each run of ten.
_ZEROS: Final = """
    30 660 6f0 7c0 966 9e6 a66 ae6 b66 be6 c66 ce6 d66 de6 e50 ed0 f20 1040 1090 17e0 1810 1946 19d0 1a80 1a90
    1b50 1bb0 1c40 1c50 a620 a8d0 a900 a9d0 a9f0 aa50 abf0 ff10 104a0 10d30 11066 110f0 11136 111d0 112f0
    11450 114d0 11650 116c0 11730 118e0 11950 11c50 11d50 11da0 11f50 16a60 16ac0 16b50 1d7ce 1d7d8 1d7e2
    1d7ec 1d7f6 1e140 1e2f0 1e4f0 1e950 1fbf0
"""

_ASCII: Final = re.compile("[0-9]")


def first_digit(text: str) -> int | None:
    """Where the first digit of a text stands."""
    found = (_ASCII if text.isascii() else _any_digit()).search(text)
    return found.start() if found else None


@cache
def _any_digit() -> re.Pattern[str]:
    """Compiled when the first text needs it: that takes longer than to read a hundred ranges."""
    zeros = (int(zero, 16) for zero in _ZEROS.split())
    return re.compile("[" + "".join(f"{chr(zero)}-{chr(zero + 9)}" for zero in zeros) + "]")
