"""JSON as Go reads it, and what Go's decoder swallows."""

from __future__ import annotations

import pytest

from everpath.parsing import json_parser
from everpath.parsing.json_parser import ParseError


def test_repeated_keys_are_remarked_where_they_are() -> None:
    parsed = json_parser.parse(b'{"a": [{"b": 1, "c": 2, "b": 3}], "a": [{"b": 4, "b": 5, "b": 6}]}')
    assert parsed.value == {"a": [{"b": 6}]}
    assert [(r.kind, r.pointer) for r in parsed.warnings] == [
        ("duplicate-key", ("a",)),
        ("duplicate-key", ("a", 0, "b")),
    ]


def test_only_the_repeated_keys_are_remarked() -> None:
    assert [r.pointer for r in json_parser.parse(b'{"a": 1, "b": 2, "a": 3}').warnings] == [("a",)]


def test_numbers_that_float64_does_not_hold_are_remarked() -> None:
    parsed = json_parser.parse(b'{"a": 9007199254740992, "b": [9007199254740993, 1.5, -9007199254740993]}')
    assert [(r.kind, r.pointer) for r in parsed.warnings] == [
        ("lossy-number", ("b", 0)),
        ("lossy-number", ("b", 2)),
    ]


def test_an_integer_of_many_digits_is_a_float() -> None:
    assert json_parser.parse(b"1" * 301).value == pytest.approx(1.1111e300, rel=1e-3)


@pytest.mark.parametrize(
    ("text", "where", "message"),
    [
        (b'{"a": 1,}', (1, 9), "Expecting property name"),
        (b'{"a": 1}\n x', (2, 2), "more text after"),
        (b'{"a": "b\nc"}', (1, 9), "Invalid control character"),
        (b'{"a": NaN}', (1, 1), "NaN is not JSON"),
        (b'{"a": 1e999}', (1, 1), "1e999 is too large for a number"),
        (b'{"a": ' + b"1" * 400 + b"}", (1, 1), "too large for a number"),
        (b'{"a":\n "\xff"}', (2, 3), "not UTF-8"),
        (b"[" * 100_000, (1, 1), "nested deeper than 500"),
        (b"[" * 501 + b"]" * 501, (1, 1), "nested deeper than 500"),
        (b"", (1, 1), "Expecting value"),
    ],
)
def test_what_is_not_json_says_where(text: bytes, where: tuple[int, int], message: str) -> None:
    with pytest.raises(ParseError, match=message) as caught:
        json_parser.parse(text)
    assert (caught.value.line, caught.value.column) == where


def test_nesting_may_go_as_deep_as_in_yaml() -> None:
    assert json_parser.parse(b"[" * 500 + b"]" * 500).value
    flat = b"[" + b", ".join([b"[]"] * 1000) + b"]"
    assert len(json_parser.parse(flat).value) == 1000
