"""`underline`: carets under a part of a text."""

from __future__ import annotations

import pytest

from everpath.versions import underline

#: Two hundred characters.
LONG = "0123456789" * 20


@pytest.mark.parametrize(
    ("start", "end", "carets"),
    [(2, 4, "  ^^"), (0, 1, "^"), (2, 2, "  ^"), (4, 99, "    ^^"), (6, 7, "      ^")],
)
def test_every_character_of_the_span_has_a_caret_and_an_empty_span_has_one(
    start: int, end: int, carets: str
) -> None:
    assert underline("abcdef", start, end, "why") == f"abcdef\n{carets} why"


@pytest.mark.parametrize(
    ("start", "end", "first", "last"),
    [
        (0, 3, 0, 120),
        (60, 70, 0, 120),
        (61, 70, 1, 121),
        (100, 130, 40, 160),
        (100, 200, 40, 160),
        (190, 195, 130, 200),
    ],
)
def test_carets_of_a_long_text_are_below_the_part_that_is_shown(
    start: int, end: int, first: int, last: int
) -> None:
    line, carets = underline(LONG, start, end, "why").splitlines()
    prefix, suffix = "…" * (first > 0), "…" * (last < len(LONG))
    assert line == f"{prefix}{LONG[first:last]}{suffix}"
    begin = start - first + len(prefix)
    assert carets == f"{' ' * begin}{'^' * (min(end, last) - start)} why"


def test_text_of_more_than_120_characters_is_cut() -> None:
    assert underline(LONG[:120], 100, 101, "why").startswith(f"{LONG[:120]}\n")
    assert underline(LONG[:121], 100, 101, "why").startswith(f"…{LONG[40:121]}\n")
