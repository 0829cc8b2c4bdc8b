"""Text from a catalog, made safe to show."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.reporters.formatting import columns, one_line, printable
from everpath.wording import count


@given(st.text())
def test_whatever_comes_in_is_visible_on_one_line(text: str) -> None:
    assert one_line(text).isprintable()
    assert printable(text).isprintable()


@given(st.text().filter(str.isprintable))
def test_what_is_visible_already_is_left_alone(text: str) -> None:
    assert printable(text) == text


def test_columns_are_aligned_by_what_the_eye_sees() -> None:
    rows = [("a", "日本", "x"), ("bcd", "e", "\x1b")]
    assert list(columns(rows)) == ["a    日本  x\n", "bcd  e     \\x1b\n"]


def test_no_rows_are_no_lines() -> None:
    assert list(columns([])) == []


@pytest.mark.parametrize(
    ("number", "noun", "words"),
    [
        (0, "error", "0 errors"),
        (1, "entry", "1 entry"),
        (2, "entry", "2 entries"),
        (1234, "note", "1,234 notes"),
    ],
)
def test_things_are_counted_in_english(number: int, noun: str, words: str) -> None:
    assert count(number, noun) == words
