"""What a plain scalar means to opm: go-yaml v2's word, not PyYAML's."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.parsing import yaml_parser
from everpath.parsing.yaml_parser import ParseError


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        *((word, True) for word in ("y", "Y", "yes", "Yes", "on", "ON", "true", "True")),
        *((word, False) for word in ("n", "N", "no", "No", "off", "OFF", "false", "FALSE")),
        *((word, None) for word in ("", "~", "null", "Null", "NULL")),
        *(
            (digits, 15)
            for digits in ("15", "017", "0o17", "0O17", "0xF", "0Xf", "0b1111", "1_5", "+15", "+0xF")
        ),
        ("-0x1f", -31),
        ("1_000", 1000),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", float(2**64)),
        ("+9223372036854775807", 2**63 - 1),
        ("+9223372036854775808", float(2**63)),
        ("-9223372036854775808", -(2**63)),
        ("+18446744073709551615", float(2**64)),
        ("-9223372036854775809", -float(2**63)),
        ("99999999999999999999", 1e20),
        ("08", 8.0),
        ("1.10", 1.1),
        ("1.", 1.0),
        (".5", 0.5),
        ("+.5", 0.5),
        ("1e3", 1000.0),
        ("1e-400", 0.0),
    ],
)
def test_a_word_or_a_number(written: str, meant: Any) -> None:
    value = yaml_parser.load(f"- {written}\n".encode())[0]
    assert (value, type(value)) == (meant, type(meant))


@pytest.mark.parametrize(
    "text",
    ["1:30", "12:30:45", "2024-01-31", "2024-01-31T10:00:00Z", "1.2.3", "v1", "1e400", "0x", "0b2", ".",
     "+", "yEs", "True!", "=", "1 000", "1,000", "NaN", "inf", "nil"],
)  # fmt: skip
def test_what_stays_text(text: str) -> None:
    assert yaml_parser.load(f"a: {text}\n".encode()) == {"a": text}


def test_quotes_and_tags_decide() -> None:
    text = b"""
- "12"
- 'y'
- !!str 12
- !!int "12"
- !!float 12
- !!bool yes
- !!binary aGVsbG8=
- !own 12
"""
    values = yaml_parser.load(text)
    assert values == ["12", "y", "12", 12, 12.0, True, "hello", "12"]
    assert [type(values[3]), type(values[4])] == [int, float]


@pytest.mark.parametrize("text", ["!!int x", "!!bool 1", "!!null x", "!!binary '?'", ".inf", "-.INF", ".nan"])
def test_a_scalar_that_is_not_what_it_says(text: str) -> None:
    with pytest.raises(ParseError) as caught:
        yaml_parser.load(f"a: 1\nb: {text}\n".encode())
    assert caught.value.line == 2


@pytest.mark.parametrize(
    ("key", "name"),
    [("y", "true"), ("off", "false"), ("017", "15"), ("1.50", "1.5"), (".inf", ".inf"), ("-.inf", "-.inf"),
     (".nan", ".nan"),
     ("9223372036854775807", "9223372036854775807"), ("2024-01-31", "2024-01-31"), ('"y"', "y")],
)  # fmt: skip
def test_a_key_is_text_in_the_end(key: str, name: str) -> None:
    assert yaml_parser.load(f"{key}: 1\n".encode()) == {name: 1}


@pytest.mark.parametrize("key", ["null", "9223372036854775808", "? [a]\n", "? {a: b}\n"])
def test_what_cannot_be_a_key(key: str) -> None:
    with pytest.raises(ParseError):
        yaml_parser.load(f"{key}: 1\n".encode())
