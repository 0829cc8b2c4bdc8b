"""Suggests a fix for a range that does not parse.

A suggestion always parses, and each of its arms matches some version.
"""

from __future__ import annotations

__all__ = ["suggest_range", "suggest_term"]

import re
from collections.abc import Mapping
from typing import Final

from everpath.ranges._grammar import GrammarError, parse_expression
from everpath.ranges._wildcards import OPERATORS
from everpath.versions import GO_SPACES

_OPERATOR_SPELLINGS: Final[Mapping[str, str]] = {
    "=>": ">=",
    "=<": "<=",
    "<>": "!=",
    "≥": ">=",
    "≤": "<=",
    "≠": "!=",
}
_AND: Final = re.compile(f"[{GO_SPACES},]|&&|(?<![^{GO_SPACES}])and(?![^{GO_SPACES}])", re.IGNORECASE)
_OR: Final = re.compile(r"\|\||(?<!\S)or(?!\S)", re.IGNORECASE)
_BEFORE_OPERATOR: Final = re.compile(r"(?<=[0-9A-Za-z])(?=[<>=!~^≥≤≠])")
_SPACES_AFTER_OPERATOR: Final = re.compile(r"(?<=[<>=!~^≥≤≠]) +")
_TERM: Final = re.compile(r"([<>=!~^≥≤≠]*)[vV]?([0-9][0-9A-Za-z.*+-]*)")
_ONE_OR_TWO_NUMBERS: Final = re.compile(r"(0|[1-9][0-9]{0,8})(?:\.(0|[1-9][0-9]{0,8}))?")
_THREE_NUMBERS: Final = re.compile(r"(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})\.(0|[1-9][0-9]{0,8})")


def suggest_range(text: str) -> str | None:
    """Return a range that expresses the intent of a text, or None if the intent is unclear."""
    separated = _OR.sub(" || ", _AND.sub(" ", text))
    separated = _SPACES_AFTER_OPERATOR.sub("", _BEFORE_OPERATOR.sub(" ", separated))
    arms: list[str] = []
    for arm in separated.split("||"):
        terms = [suggest_term(term) for term in arm.split()]
        if None in terms:
            return None
        if terms:
            arms.append(" ".join(term for term in terms if term is not None))
    suggestion = " || ".join(arms)
    try:
        parsed = parse_expression(suggestion)
    except GrammarError:
        return None
    matches_nothing = any(arm.intervals.is_empty for arm in parsed.arms)
    return None if matches_nothing or suggestion == text else suggestion


def suggest_term(text: str) -> str | None:
    """Return a comparison that expresses the intent of a text, or None if the intent is unclear."""
    found = _TERM.fullmatch(text)
    if found is None:
        return None
    operator, version = _OPERATOR_SPELLINGS.get(found[1], found[1]), _normalize_version(found[2])
    if operator in ("~", "~>", "^"):
        return _both_bounds(operator, version)
    if "x" in version.partition("-")[2]:
        return _compare_prerelease_with_x(operator, version)
    if version.count(".") < 2 and "x" not in version and operator in (">=", "<"):
        # With other operators, such as `<=1.2`, it is unclear which versions are meant.
        version += ".0" * (2 - version.count("."))
    return operator + version


def _normalize_version(version: str) -> str:
    """Remove leading zeros, write wildcards as x, and x.x as x."""
    numbers, dash, rest = version.partition("-")
    parts = [re.sub("^0+(?=[0-9])", "", "x" if part in ("X", "*") else part) for part in numbers.split(".")]
    if parts[1:] == ["x", "x"]:
        parts.pop()
    return ".".join(parts) + dash + rest


def _compare_prerelease_with_x(operator: str, version: str) -> str | None:
    """Avoid the operators that refuse an x. The version after a pre-release P is P.0."""
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
    """Return the bounds for `~` (same minor version) or `^` (same first number that is not 0)."""
    if version.endswith(".x"):
        return version
    if operator in ("~", "^") and (found := _ONE_OR_TWO_NUMBERS.fullmatch(version)) is not None:
        return _bounds_of_short_version(operator, int(found[1]), int(found[2]) if found[2] else None)
    if (found := _THREE_NUMBERS.fullmatch(version)) is None:
        return None
    major, minor, patch = map(int, found.groups())
    if operator == "^" and major:
        return f">={version} <{major + 1}.0.0"
    if operator == "^" and not minor:
        return f">={version} <0.0.{patch + 1}"
    return f">={version} <{major}.{minor + 1}.0"


def _bounds_of_short_version(operator: str, major: int, minor: int | None) -> str:
    """Return the bounds: `~1` and `^1` are all of 1, `~1.2` is all of 1.2, `^1.2` is 1 from 1.2.0 on."""
    if minor is None or (operator == "^" and major):
        return f">={major}.{minor or 0}.0 <{major + 1}.0.0"
    return f">={major}.{minor}.0 <{major}.{minor + 1}.0"
