"""JSON to the byte as Go writes it: sorted keys, its own numbers, its own escapes.

opm sorts properties by the text of their values and keeps manifests as text in base64, so the text itself
is part of the answer.
"""

from __future__ import annotations

__all__ = ["escaped", "go_float", "json_text", "number_text", "scalar_text", "sorted_keys"]

import math
import re
from decimal import Decimal
from json.encoder import encode_basestring
from struct import pack
from typing import Any, Final

# What float64 holds exactly, what an int64 holds, and where Go begins to write exponents.
_EXACT: Final = 2**53
_INT64: Final = 2**63
_LARGE: Final = 1e21
_SMALL: Final = 1e-6

_HTML: Final = re.compile("[<>&]")
_LINES: Final = re.compile("[\u2028\u2029]")


class _Escaped(str):
    """A string that comes from text with Go's HTML escapes, which stay in it."""

    __slots__ = ()


def escaped(value: Any) -> Any:
    """A value whose strings keep Go's HTML escapes: the part of a text that is passed on unread."""
    if isinstance(value, dict):
        return {_Escaped(key): escaped(item) for key, item in value.items()}
    if isinstance(value, list):
        return [escaped(item) for item in value]
    return _Escaped(value) if isinstance(value, str) else value


def json_text(value: Any, *, html: bool = False, indent: str = "", floats: bool = False) -> str:
    """The text of a value, its keys in the order they come in.

    `html` escapes as Go does unless told not to; `indent` is one level's. With `floats` every number has
    gone through a float64, else only those that do not fit 64 bits have. Cost: one visit a value.
    """
    out: list[str] = []
    _write(value, out, "\n" if indent else "", indent, floats)
    text = _LINES.sub(_escape, "".join(out))
    return _HTML.sub(_escape, text) if html else text


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _write(value: Any, out: list[str], line: str, indent: str, floats: bool) -> None:
    match value:
        case _Escaped():
            out.append(_HTML.sub(_escape, encode_basestring(value)))
        case str():
            out.append(encode_basestring(value))
        case dict() if value:
            _write_mapping(value, out, line, indent, floats)
        case list() | tuple() if value:
            _write_list(value, out, line, indent, floats)
        case dict():
            out.append("{}")
        case list() | tuple():
            out.append("[]")
        case None:
            out.append("null")
        case _:
            out.append(number_text(value, floats=floats))


def _write_mapping(value: dict[str, Any], out: list[str], line: str, indent: str, floats: bool) -> None:
    inner = line + indent
    colon = ": " if line else ":"
    mark = "{"
    for key, item in value.items():
        out.append(mark + inner)
        _write(key, out, "", "", floats)
        out.append(colon)
        _write(item, out, inner, indent, floats)
        mark = ","
    out.append(line + "}")


def _write_list(
    value: list[Any] | tuple[Any, ...], out: list[str], line: str, indent: str, floats: bool
) -> None:
    inner = line + indent
    mark = "["
    for item in value:
        out.append(mark + inner)
        _write(item, out, inner, indent, floats)
        mark = ","
    out.append(line + "]")


def number_text(value: bool | int | float, *, floats: bool = False) -> str:
    """A number or truth value in JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        if -_EXACT <= value <= _EXACT or (not floats and -_INT64 <= value < _INT64):
            return str(value)
        value = float(value)
    if value == 0 or _SMALL <= abs(value) < _LARGE:
        return _plain(value)
    return repr(value).replace("e-0", "e-")


def _plain(value: float) -> str:
    """The shortest digits that mean the number, without an exponent."""
    text = format(Decimal(repr(value)), "f")
    return text.removesuffix(".0")


def go_float(value: float, *, single: bool = False) -> str:
    """A float as Go prints it by itself (%g), which is not how its JSON has it.

    Kubernetes' YAML makes strings of floats as if they were of single precision.
    """
    short = _single(value) if single else repr(value)
    if "inf" in short:
        return "+Inf" if value > 0 else "-Inf"
    sign, figures, shift = Decimal(short).normalize().as_tuple()
    exponent = len(figures) + int(shift) - 1
    if value == 0 or -4 <= exponent < 6:
        return format(Decimal(short), "f").removesuffix(".0")
    mantissa = "".join(map(str, figures))
    point = f".{mantissa[1:]}" if len(mantissa) > 1 else ""
    return f"{'-' if sign else ''}{mantissa[0]}{point}e{exponent:+03d}"


def _single(value: float) -> str:
    """The fewest digits that mean the same number in single precision."""
    try:
        wanted = pack("<f", value)
    except OverflowError:
        return repr(math.copysign(math.inf, value))
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next(text for text in texts if pack("<f", float(text)) == wanted)


def sorted_keys(value: Any) -> Any:
    """A value with the keys of every mapping in order, as Go's maps come out."""
    if isinstance(value, dict):
        return {key: sorted_keys(value[key]) for key in sorted(value)}
    return [sorted_keys(item) for item in value] if isinstance(value, list) else value


def scalar_text(value: Any) -> Any:
    """A scalar as the string that Kubernetes' YAML makes of it where one is wanted; the rest as it is."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return go_float(value, single=True)
        case _:
            return value
