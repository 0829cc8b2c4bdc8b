"""The fast parser of block YAML: which texts it parses, and which it leaves to libyaml."""

from __future__ import annotations

from typing import Any

import pytest

from everpath.parsing import yaml_parser, yaml_subset


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("a: b\n", {"a": "b"}),
        ("a: b", {"a": "b"}),
        ("---\na: b\n", {"a": "b"}),
        ("a:\n", {"a": None}),
        ("a: 1.10\nb: yes\nc: '1'\nd: \"2\"\ne: ''\n", {"a": 1.1, "b": True, "c": "1", "d": "2", "e": ""}),
        ("a:\nb: c\n", {"a": None, "b": "c"}),
        ("a: []\nb: {}\n", {"a": [], "b": {}}),
        ("a: b c d\nurl: https://a.b/c:8080/d\n", {"a": "b c d", "url": "https://a.b/c:8080/d"}),
        ("- a\n- b: c\n  d: e\n", ["a", {"b": "c", "d": "e"}]),
        ("  - a\n", ["a"]),
        ("a:\n- b\n- c\nd: e\n", {"a": ["b", "c"], "d": "e"}),
        ("a:\n  - b\nd: e\n", {"a": ["b"], "d": "e"}),
        ("a:\n  b:\n    c: d\n  e: f\n", {"a": {"b": {"c": "d"}, "e": "f"}}),
        ("- a: b\n  c:\n  - d\n  e: f\n- g: h\n", [{"a": "b", "c": ["d"], "e": "f"}, {"g": "h"}]),
        ("- a:\n- b:\n  - c\n", [{"a": None}, {"b": ["c"]}]),
    ],
)  # fmt: skip
def test_what_is_read(text: str, value: Any) -> None:
    assert yaml_subset.parse_simple_yaml(text.encode()) == value
    assert yaml_parser.load(text.encode()) == value


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a\n",
        "a: b\nc\n",
        "a: b\n\nc: d\n",
        "a: b\n  c\n",
        "a: b\n  c: d\n",
        "a: b\n c: d\n",
        "a:\n  b: c\n d: e\n",
        "a:\n  b\n",
        "- a\nb: c\n",
        "a: b\n- c\n",
        "- - a\n",
        "-\n  a: b\n",
        "- a\n  b: c\n",
        "a: b\na: c\n",
        "y: a\n",
        "no: a\n",
        "1: a\n",
        "a: .inf\n",
        "a: .nan\n",
        "a: 9007199254740993\n",
        "a: -9007199254740993\n",
        "a: 'it''s'\n",
        'a: "\\n"\n',
        "a: 'b\n",
        "a: [b]\n",
        "a: {b: c}\n",
        "a: |\n  b\n",
        "a: &b c\n",
        "a: *b\n",
        "a: !b c\n",
        "a: b # c\n",
        "# a\nb: c\n",
        "a: b: c\n",
        "a: b:\n",
        "a: b \n",
        "a: b\tc\n",
        "a: é\n",
        "a: 'b\x07'\n",
        "a: b\n...\n",
        "a: b\n---\nc: d\n",
    ],
)
def test_what_is_declined(text: str) -> None:
    assert yaml_subset.parse_simple_yaml(text.encode()) is None


def test_the_largest_exact_number_is_read() -> None:
    assert yaml_subset.parse_simple_yaml(b"a: 9007199254740992\n") == {"a": 2**53}
