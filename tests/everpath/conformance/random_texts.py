"""Random versions and ranges, mostly valid, some with typical errors."""

from __future__ import annotations

__all__ = ["random_range", "random_version", "random_version_text"]

from random import Random
from typing import Final

_OPERATORS: Final = ("", "=", "==", "!=", "!", ">", ">=", "<", "<=", ">=", "<")
_WRONG_OPERATORS: Final = ("~", "^", "~>", "=>", "=<", "<>", "===", ">>", "x", "v")
_GLUE: Final = (" ", " ", " ", " ", "  ", " || ", " || ", "||", " || || ", ", ", "\t", " - ", "\u00a0")
_NUMBERS: Final = ("0", "1", "2", "3", "10", "01", "18446744073709551615", "18446744073709551616")
_LABELS: Final = ("alpha", "rc", "next", "x", "0", "1", "01", "-", "a-b", "2x", "")
# Characters of the grammar, and digits, letters and spaces that Go and Python may classify differently.
_SPOILS: Final = tuple(" \t.-+xX*v=<>!|,019aZ\u0660\u0967\u00a0\u2003\u00b2é")


def random_version(random: Random) -> str:
    """Return a valid version, close to others."""
    core = ".".join(str(random.randint(0, 3)) for _ in range(3))
    pre = (
        random.choice(("-alpha", "-rc.1", "-rc.2", "-next.1", "-0", "-1.x")) if random.random() < 0.3 else ""
    )
    return core + pre + ("+build.1" if random.random() < 0.1 else "")


def random_version_text(random: Random) -> str:
    """Return a text for a version, valid or not."""
    parts = [random.choice(_NUMBERS) for _ in range(random.choice((1, 2, 3, 3, 3, 3, 4)))]
    text = random.choice(("", "", "", "v", "V", " ")) + ".".join(parts)
    for mark in "-+":
        if random.random() < 0.3:
            text += mark + ".".join(random.choice(_LABELS) for _ in range(random.randint(1, 3)))
    return _spoilt(random, text) if random.random() < 0.3 else text


def random_range(random: Random) -> str:
    """Return a text for a range, valid or not."""
    text = _comparator(random)
    for _ in range(random.choice((0, 1, 1, 1, 2, 3))):
        text += random.choice(_GLUE) + _comparator(random)
    return _spoilt(random, text) if random.random() < 0.2 else text


def _comparator(random: Random) -> str:
    operator = random.choice(_OPERATORS if random.random() < 0.95 else _WRONG_OPERATORS)
    return operator + " " * (random.random() < 0.15) + _operand(random)


def _operand(random: Random) -> str:
    luck = random.random()
    if luck < 0.6:
        return random_version(random)
    if luck < 0.9:
        numbers = [str(random.randint(0, 3)) for _ in range(3)]
        return random.choice(
            ("{0}.x", "{0}.{1}.x", "{0}.x.x", "{0}.x.{1}", "x", "x.{0}.{1}", "{0}.{1}")
        ).format(*numbers)
    return random_version_text(random)


def _spoilt(random: Random, text: str) -> str:
    """Insert, remove or change one to three characters."""
    letters = list(text)
    for _ in range(random.randint(1, 3)):
        place = random.randint(0, len(letters))
        letters[place : place + random.choice((0, 1, 1))] = random.choice(([], [random.choice(_SPOILS)]))
    return "".join(letters)
