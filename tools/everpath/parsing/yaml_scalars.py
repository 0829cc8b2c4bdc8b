"""Resolve scalars by the rules of go-yaml v2, which every Kubernetes tool uses.

Not YAML 1.2 and not PyYAML: `y`, `on` and `off` are booleans, `017` and `0o17` are fifteen, `1_000` is
a thousand, while `1:30` and `2024-01-31` stay strings.
"""

from __future__ import annotations

__all__ = ["NUMBER_STARTS", "SPECIAL_WORDS", "TagMismatch", "key_text", "resolve", "resolve_tagged"]

import math
import re
from functools import lru_cache
from typing import Final

SPECIAL_WORDS: Final[dict[str, object]] = {
    **dict.fromkeys(("y", "Y", "yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"), True),
    **dict.fromkeys(("n", "N", "no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"), False),
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
}
NUMBER_STARTS: Final = frozenset("+-.0123456789")
_FLOAT: Final = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")
_INTEGER: Final = re.compile(
    r"(?P<sign>[-+]?)(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|0[oO]?(?P<oct>[0-7]+)"
    r"|(?P<dec>[1-9][0-9]*|0))"
)
_BASES: Final = {"hex": 16, "bin": 2, "oct": 8, "dec": 10}

_CORE: Final = "tag:yaml.org,2002:"
_STRING: Final = _CORE + "str"
_BINARY: Final = _CORE + "binary"
_TYPES: Final = {
    _CORE + "bool": (bool,),
    _CORE + "int": (int,),
    _CORE + "float": (float, int),
    _CORE + "null": (type(None),),
}


class TagMismatch(ValueError):
    """A scalar that does not match its tag, or cannot be a key."""


@lru_cache(maxsize=1 << 14)
def resolve(text: str) -> object:
    """Return the value of a plain scalar without a tag."""
    if text in SPECIAL_WORDS:
        return SPECIAL_WORDS[text]
    return _number(text) if text[0] in NUMBER_STARTS else text


def _number(text: str) -> object:
    """Return the number of a scalar, or its text."""
    digits = text.replace("_", "")
    integer = _integer(digits)
    if integer is not None:
        return integer
    if _FLOAT.fullmatch(digits):
        number = float(digits)
        # Go rejects an overflow, and the scalar stays a string.
        return text if math.isinf(number) else number
    return text


_LONGEST_INTEGER: Final = 200


def _integer(digits: str) -> int | None:
    """Return a 64-bit integer, signed or unsigned, in any base of Go's literals."""
    # Longer ones exceed 64 bits, and Python refuses to convert thousands of digits.
    found = _INTEGER.fullmatch(digits) if len(digits) <= _LONGEST_INTEGER else None
    if found is None:
        return None
    base = next(name for name in _BASES if found[name] is not None)
    value = int(found[base], _BASES[base])
    if found["sign"] == "-":
        return -value if value <= 2**63 else None
    return value if value < (2**63 if found["sign"] else 2**64) else None


def resolve_tagged(tag: str, text: str) -> object:
    """Return the value of a scalar with an explicit tag; a custom tag gives a string."""
    if tag == _BINARY:
        return _binary(text)
    types = _TYPES.get(tag)
    if types is None:
        return text
    value = resolve(text)
    if type(value) not in types:
        raise TagMismatch(f"{text!r} is not a {tag.removeprefix(_CORE)}")
    return float(value) if isinstance(value, int) and float in types else value


def _binary(text: str) -> str:
    from base64 import b64decode  # noqa: PLC0415 - rarely needed

    try:
        return b64decode("".join(text.split()), validate=True).decode("utf-8", "replace")
    except ValueError as error:
        raise TagMismatch("a !!binary scalar that is not base64") from error


def key_text(value: object) -> str:
    """Return a mapping key as a JSON string; null and numbers over 63 bits cannot be keys."""
    match value:
        case str():
            return value
        case bool():
            return "true" if value else "false"
        case int() if value < 2**63:
            return str(value)
        case float():
            return _float_key(value)
        case _:
            raise TagMismatch(f"{value!r} cannot be the key of a mapping")


def _float_key(value: float) -> str:
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return f"{value:.7g}"
