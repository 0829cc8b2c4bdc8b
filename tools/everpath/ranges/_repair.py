"""What somebody probably meant by a range that does not parse.

Every guess is read back before it is offered: a suggestion always parses and matches something.
"""

from __future__ import annotations

__all__ = ["suggest_range", "suggest_term"]

import re
from collections.abc import Mapping
from typing import Final

from everpath.ranges._grammar import GrammarError, parse_expression
from everpath.ranges._wildcards import OPERATORS
from everpath.versions import GO_SPACES

_SPELLINGS: Final[Mapping[str, str]] = {"=>": ">=", "=<": "<=", "<>": "!=", "≥": ">=", "≤": "<=", "≠": "!="}
_SPACE_OR_COMMA: Final = re.compile(
    f"[{GO_SPACES},]|&&|(?<![^{GO_SPACES}])and(?![^{GO_SPACES}])", re.IGNORECASE
)
_OR: Final = re.compile(r"\|\||(?<!\S)or(?!\S)", re.IGNORECASE)
_GLUED_OPERATOR: Final = re.compile(r"(?<=[0-9A-Za-z])(?=[<>=!~^≥≤≠])")
_SPACE_BEHIND_OPERATOR: Final = re.compile(r"(?<=[<>=!~^≥≤≠]) +")
_TERM: Final = re.compile(r"([<>=!~^≥≤≠]*)[vV]?([0-9][0-9A-Za-z.*+-]*)")
_FEW_NUMBERS: Final = re.compile(r"(0|[1-9][0-9]{0,8})(?:\.(0|[1-9][0-9]{0,8}))?")
_PLAIN_NUMBERS: Final = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")


def suggest_range(text: str) -> str | None:
    """A range that says what this one tries to, or None where that is not obvious."""
    spaced = _OR.sub(" || ", _SPACE_OR_COMMA.sub(" ", text))
    spaced = _SPACE_BEHIND_OPERATOR.sub("", _GLUED_OPERATOR.sub(" ", spaced))
    arms = [_repaired_arm(arm) for arm in spaced.split("||") if arm.strip()]
    if None in arms:
        return None
    guess = " || ".join(arm for arm in arms if arm is not None)
    return guess if guess != text and _is_sound(guess) else None


def suggest_term(text: str) -> str | None:
    """The same for a single comparison."""
    found = _TERM.fullmatch(text)
    if found is None:
        return None
    operator, version = _SPELLINGS.get(found[1], found[1]), _repaired_version(found[2])
    if operator in ("~", "~>", "^"):
        return _both_bounds(operator, version)
    if "x" in version.partition("-")[2]:
        return _around_the_x(operator, version)
    if version.count(".") < 2 and "x" not in version:
        # What `<=1.2` or `1.2` would include is anybody's guess; `>=1.2` and `<1.2` leave no doubt.
        version = version + ".0" * (2 - version.count(".")) if operator in (">=", "<") else version
    return operator + version


def _repaired_arm(arm: str) -> str | None:
    terms = [suggest_term(term) for term in arm.split()]
    return None if None in terms else " ".join(term for term in terms if term is not None)


def _repaired_version(version: str) -> str:
    numbers, dash, rest = version.partition("-")
    parts = [re.sub("^0+(?=[0-9])", "", "x" if part in ("X", "*") else part) for part in numbers.split(".")]
    if parts[1:] == ["x", "x"]:
        parts.pop()
    return ".".join(parts) + dash + rest


def _around_the_x(operator: str, version: str) -> str | None:
    """`>` and `<=` fail on a word with an x, but P.0 is the very next version after a pre-release P."""
    if "+" in version:
        return None
    match OPERATORS.get(operator):
        case ">":
            return f">={version}.0"
        case "<=":
            return f"<{version}.0"
        case "=":
            return f">={version} <{version}.0"
    return operator + version


def _both_bounds(operator: str, version: str) -> str | None:
    """`~` stays within the minor version, `^` below the next change of the first number that is not 0."""
    if version.endswith(".x"):
        return version
    if operator in ("~", "^") and (found := _FEW_NUMBERS.fullmatch(version)) is not None:
        return _few_bounds(operator, int(found[1]), int(found[2]) if found[2] else None)
    if (found := _PLAIN_NUMBERS.fullmatch(version)) is None:
        return None
    major, minor, patch = map(int, found.groups())
    if operator == "^" and major:
        return f">={version} <{major + 1}.0.0"
    if operator == "^" and not minor:
        return f">={version} <0.0.{patch + 1}"
    return f">={version} <{major}.{minor + 1}.0"


def _few_bounds(operator: str, major: int, minor: int | None) -> str:
    """`~1` and `^1` are all of 1, `~1.2` all of 1.2, `^1.2` all of 1 from there on."""
    if minor is None or (operator == "^" and major):
        return f">={major}.{minor or 0}.0 <{major + 1}.0.0"
    return f">={major}.{minor}.0 <{major}.{minor + 1}.0"


def _is_sound(text: str) -> bool:
    try:
        arms = parse_expression(text).arms
    except GrammarError:
        return False
    return not any(arm.intervals.is_empty for arm in arms)
