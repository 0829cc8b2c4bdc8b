"""JSON as Go writes it, byte for byte: key order, numbers and escapes.

opm sorts properties by the JSON text of their values and stores manifests as JSON in base64, so the bytes
matter.
"""

from __future__ import annotations

__all__ = ["format_float", "json_text", "keep_html_escapes", "number_text", "scalar_to_string", "sort_keys"]

import math
import re
from decimal import Decimal
from json.encoder import encode_basestring
from struct import pack
from typing import Any, Final

#: Every integer up to this is exact in a float64.
_MAX_EXACT_INT: Final = 2**53
_INT64_LIMIT: Final = 2**63
#: Outside of this range Go writes floats with an exponent.
_MIN_PLAIN: Final = 1e-6
_MAX_PLAIN: Final = 1e21

_HTML_CHARACTERS: Final = re.compile("[<>&]")
_LINE_SEPARATORS: Final = re.compile("[\u2028\u2029]")


class _HtmlEscaped(str):
    """A string that is written with Go's HTML escapes."""

    __slots__ = ()


def keep_html_escapes(value: Any) -> Any:
    """A copy of a value whose strings are written with Go's HTML escapes, like raw JSON that Go passes on."""
    if isinstance(value, dict):
        return {_HtmlEscaped(key): keep_html_escapes(item) for key, item in value.items()}
    if isinstance(value, list):
        return [keep_html_escapes(item) for item in value]
    return _HtmlEscaped(value) if isinstance(value, str) else value


def sort_keys(value: Any) -> Any:
    """A copy of a value with the keys of every mapping sorted, as Go writes maps."""
    if isinstance(value, dict):
        return {key: sort_keys(value[key]) for key in sorted(value)}
    return [sort_keys(item) for item in value] if isinstance(value, list) else value


def json_text(value: Any, *, html: bool = False, indent: str = "", floats: bool = False) -> str:
    """A value as JSON, with keys in the order of the mappings.

    `html` escapes <, > and &, as Go does by default. `indent` is the indentation of one level. With `floats`
    all numbers are float64 values; otherwise only integers of more than 64 bits are. Cost: one visit a value.
    """
    out: list[str] = []
    _write(value, out, "\n" if indent else "", indent, floats)
    text = _LINE_SEPARATORS.sub(_escape, "".join(out))
    return _HTML_CHARACTERS.sub(_escape, text) if html else text


def _escape(match: re.Match[str]) -> str:
    return f"\\u{ord(match[0]):04x}"


def _write(value: Any, out: list[str], line: str, indent: str, floats: bool) -> None:
    match value:
        case _HtmlEscaped():
            out.append(_HTML_CHARACTERS.sub(_escape, encode_basestring(value)))
        case str():
            out.append(encode_basestring(value))
        case dict() if value:
            inner = line + indent
            colon = ": " if line else ":"
            separator = "{"
            for key, item in value.items():
                out.append(separator + inner)
                _write(key, out, "", "", floats)
                out.append(colon)
                _write(item, out, inner, indent, floats)
                separator = ","
            out.append(line + "}")
        case list() | tuple() if value:
            inner = line + indent
            separator = "["
            for item in value:
                out.append(separator + inner)
                _write(item, out, inner, indent, floats)
                separator = ","
            out.append(line + "]")
        case dict():
            out.append("{}")
        case list() | tuple():
            out.append("[]")
        case None:
            out.append("null")
        case _:
            out.append(number_text(value, floats=floats))


def number_text(value: bool | int | float, *, floats: bool = False) -> str:
    """A number or boolean as JSON."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        is_exact = -_MAX_EXACT_INT <= value <= _MAX_EXACT_INT
        if is_exact or (not floats and -_INT64_LIMIT <= value < _INT64_LIMIT):
            return str(value)
        value = float(value)
    if value == 0 or _MIN_PLAIN <= abs(value) < _MAX_PLAIN:
        return format(Decimal(repr(value)), "f").removesuffix(".0")
    return repr(value).replace("e-0", "e-")


def format_float(value: float, *, single: bool = False) -> str:
    """A float as Go's %g prints it, which differs from JSON. With `single`, its float32 value."""
    digits_text = _float32_text(value) if single else repr(value)
    if "inf" in digits_text:
        return "+Inf" if value > 0 else "-Inf"
    sign, digits, shift = Decimal(digits_text).normalize().as_tuple()
    exponent = len(digits) + int(shift) - 1
    if value == 0 or -4 <= exponent < 6:
        return format(Decimal(digits_text), "f").removesuffix(".0")
    mantissa = "".join(map(str, digits))
    fraction = f".{mantissa[1:]}" if len(mantissa) > 1 else ""
    return f"{'-' if sign else ''}{mantissa[0]}{fraction}e{exponent:+03d}"


def _float32_text(value: float) -> str:
    """The shortest decimal that has the same float32 value."""
    try:
        float32 = pack("<f", value)
    except OverflowError:
        return repr(math.copysign(math.inf, value))
    texts = (f"{value:.{digits}g}" for digits in range(1, 10))
    return next(text for text in texts if pack("<f", float(text)) == float32)


def scalar_to_string(value: Any) -> Any:
    """A boolean or number as sigs.k8s.io/yaml converts it for a string field; other values unchanged."""
    match value:
        case bool():
            return "true" if value else "false"
        case int():
            return str(value)
        case float():
            return format_float(value, single=True)
        case _:
            return value
