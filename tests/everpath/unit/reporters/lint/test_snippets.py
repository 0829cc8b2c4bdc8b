"""The line of the input and the caret below it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from everpath.model import SourcePosition
from everpath.reporters.formatting import display_width
from everpath.reporters.lint.snippet import snippet


def under_the_caret(source: str, column: int, end: int) -> str:
    shown = snippet(SourcePosition("f", 1, column, end, source))
    assert shown is not None
    return shown.line[shown.indent : shown.indent + shown.length]


def test_the_caret_is_below_the_value() -> None:
    assert under_the_caret("  replaces: a.v1", 13, 17) == "a.v1"


def test_a_tab_and_a_control_character_move_the_caret() -> None:
    assert under_the_caret("\t\x1bname: a", 9, 10) == "a"


def test_a_wide_character_is_two_columns() -> None:
    shown = snippet(SourcePosition("f", 1, 3, 4, "日本a"))
    assert shown is not None
    assert (shown.indent, shown.length) == (4, 1)


def test_a_line_of_megabytes_is_cut_on_both_sides() -> None:
    source = "x" * 1_000_000 + "HERE" + "y" * 1_000_000
    shown = snippet(SourcePosition("f", 1, 1_000_001, 1_000_005, source))
    assert shown is not None
    assert len(shown.line) < 200
    assert shown.line[shown.indent : shown.indent + shown.length] == "HERE"
    assert shown.line[0] == shown.line[-1] == "…"


def test_a_long_value_is_cut() -> None:
    shown = snippet(SourcePosition("f", 1, 1, 10_001, "x" * 10_000))
    assert shown is not None
    assert shown.line == "x" * 150 + "…"
    assert shown.length == 150


def test_a_column_behind_the_end_points_at_the_end() -> None:
    shown = snippet(SourcePosition("f", 1, 300, 301, "abc"))
    assert shown is not None
    assert (shown.line, shown.indent, shown.length) == ("abc", 3, 1)


def test_tabs_are_blanks_and_blanks_at_the_end_are_dropped() -> None:
    shown = snippet(SourcePosition("f", 1, 2, 3, "\ta\t  "))
    assert shown is not None
    assert shown.line == "    a"


@pytest.mark.parametrize("source", ["", "   "])
def test_a_blank_line_is_not_shown(source: str) -> None:
    assert snippet(SourcePosition("f", 1, 1, 2, source)) is None


def test_a_place_without_a_line_shows_nothing() -> None:
    assert snippet(SourcePosition("f", 0, 0, 0, "text")) is None


@given(st.text(min_size=1), st.integers(0, 300), st.integers(0, 300))
def test_the_caret_never_leaves_the_line_by_more_than_one(source: str, column: int, end: int) -> None:
    shown = snippet(SourcePosition("f", 1, column, end, source))
    if shown is not None:
        assert shown.line.isprintable()
        assert shown.length >= 1
        assert shown.indent + shown.length <= display_width(shown.line) + 1
