"""Random constraints of Masterminds' language, mostly grammatical, and versions near their bounds."""

from __future__ import annotations

__all__ = ["random_constraint", "random_pin", "random_v1_version"]

from random import Random
from typing import Final

_OPERATORS: Final = ("", "", "=", "!=", ">", "<", ">=", "=>", "<=", "=<", "~", "~>", "^")
_WRONG_OPERATORS: Final = ("==", "!", "<>", "!==", ">>", "~=", "=~", "^^", "~^", "v", "V", "-")
_AND: Final = (" ", " ", ",", ", ", " , ", "  ", "\t", ",\n")
_OR: Final = ("||", " || ", " ||", "|| ")
_WRONG_GLUE: Final = ("", ",,", " , , ", "|", "|||", " || || ", "&&", " and ", "\v", "\u00a0", " - - ")
_LABELS: Final = ("0", "1", "2", "10", "alpha", "rc", "-", "x", "X", "a-b", "0a")
_WRONG_LABELS: Final = ("", "01", "a_b", "é", "18446744073709551616", "18446744073709551615", "*")
_WRONG_NUMBERS: Final = ("01", "1x", "xx", "1|2", "|", "18446744073709551615", "18446744073709551616", "a")
_DASHES: Final = (" - ", "  -  ", " -\t")
_WRONG_DASHES: Final = ("- ", " -", "-")
_NUMBERS: Final = ("0", "0", "0", "1", "1", "1", "2", "2", "3", "x", "X", "*")
_SPOILS: Final = tuple(" \t\n\v.-+xX*vV=<>!~^|,019aZ\u00a0\u0661é")


def random_v1_version(random: Random) -> str:
    """Return one of few valid versions, so that bounds are hit."""
    text = ".".join(str(random.choice((0, 0, 1, 1, 2, 3))) for _ in range(3))
    if random.random() < 0.4:
        text += "-" + _labels(random)
    if random.random() < 0.2:
        text += "+" + _labels(random)
    return text


def random_constraint(random: Random) -> str:
    """Return a text for `version` of a ClusterExtension, valid or not."""
    text = _arms(random, wrong=random.choice((0.0, 0.0, 0.05)))
    return _spoilt(random, text) if random.random() < 0.15 else text


def random_pin(random: Random) -> str:
    """Return a constraint that parses."""
    return _arms(random, wrong=0.0)


def _arms(random: Random, wrong: float) -> str:
    text = _arm(random, wrong)
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        glue = _WRONG_GLUE if random.random() < wrong else _OR
        text += random.choice(glue) + _arm(random, wrong)
    return text


def _arm(random: Random, wrong: float) -> str:
    text = " " * (random.random() < 0.1) + _term(random, wrong)
    for _ in range(random.choice((0, 0, 0, 1, 1, 2))):
        glue = _WRONG_GLUE if random.random() < wrong else _AND
        text += random.choice(glue) + _term(random, wrong)
    return text + " " * (random.random() < 0.1)


def _term(random: Random, wrong: float) -> str:
    if random.random() < 0.12:
        operator = random.choice((">", "=", "~")) if random.random() < wrong else ""
        dash = random.choice(_WRONG_DASHES if random.random() < wrong else _DASHES)
        return operator + _operand(random, wrong) + dash + _operand(random, wrong)
    operators = _WRONG_OPERATORS if random.random() < wrong else _OPERATORS
    return random.choice(operators) + random.choice(("", "", "", " ", "  ")) + _operand(random, wrong)


def _operand(random: Random, wrong: float) -> str:
    size = 4 if random.random() < wrong else random.choice((1, 2, 2, 3, 3, 3, 3))
    numbers = [_number(random, wrong) for _ in range(size)]
    text = "v" * (random.random() < 0.1) + ".".join(numbers)
    if random.random() < 0.25:
        text += "-" + _labels(random, wrong)
    if random.random() < 0.1:
        text += "+" + _labels(random, wrong)
    return text


def _number(random: Random, wrong: float) -> str:
    return random.choice(_WRONG_NUMBERS if random.random() < wrong else _NUMBERS)


def _labels(random: Random, wrong: float = 0.0) -> str:
    labels = _WRONG_LABELS if random.random() < wrong else _LABELS
    return ".".join(random.choice(labels) for _ in range(random.choice((1, 1, 2, 3))))


def _spoilt(random: Random, text: str) -> str:
    """Insert, remove or change one to three characters."""
    letters = list(text)
    for _ in range(random.randint(1, 3)):
        place = random.randint(0, len(letters))
        letters[place : place + random.choice((0, 1, 1))] = random.choice(([], [random.choice(_SPOILS)]))
    return "".join(letters)
