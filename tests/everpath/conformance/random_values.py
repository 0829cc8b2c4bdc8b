"""Random JSON values, with texts and numbers that are hard to write as YAML and JSON."""

from __future__ import annotations

__all__ = ["random_value"]

from random import Random
from typing import Any, Final

# Without NEL and the key <<, which are documented differences.
_PIECES: Final = (
    "a", "b", "word", "long words in a row ", "  ", " ", "\n", "\n\n", "\t", "'", '"', "\\", ":", ": ", "#",
    " #", "-", "- ", "---", "...", "?", "? ", "&", "*", "!", "|", ">", "%", "@", "`", "[", "]", "{", "}", ",",
    "é", "漢字", "😀", "\u2028", "\xa0", "\ufeff", "\x00", "\x1b", "\r", "0", "1", "12", "1.5", "1e3", "0x1f",
    "017", "2020-01-02", "T10:11:12Z", "y", "no", "null", "~", "true", "=", "1:30", "_", "<>&", "x" * 50, ".",
    "the quick brown fox jumps over the lazy dog ",
)  # fmt: skip
_KEYS: Final = ("a1", "a10", "a2", "b", "a", "a-b", "aB", "A", "x1y", "x01", "x001", "1", "2", "10", "01")
_NUMBERS: Final = (
    0, 1, -1, 10**6, 2**53, 2**53 + 1, 2**63 - 1, 2**64, 1.5, 0.1, 1e-7, 1e21, 1e20, 123456789.25, -0.0, 3.0,
    1e6 + 0.5, 1e-5, 0.00012,
)  # fmt: skip


def random_value(random: Random, depth: int = 0) -> Any:
    """A value at most five levels deep."""
    choice = random.random()
    if depth < 4 and choice < 0.25:
        return {_key(random): random_value(random, depth + 1) for _ in range(random.randint(0, 4))}
    if depth < 4 and choice < 0.4:
        return [random_value(random, depth + 1) for _ in range(random.randint(0, 4))]
    return _text(random) if choice < 0.9 else random.choice((None, True, False, *_NUMBERS))


def _key(random: Random) -> str:
    return _text(random) if random.random() < 0.5 else random.choice(_KEYS)


def _text(random: Random) -> str:
    return "".join(random.choice(_PIECES) for _ in range(random.choice((0, 1, 1, 1, 2, 2, 3, 5, 12))))
