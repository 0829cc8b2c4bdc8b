"""Carets below the part of a text that is wrong."""

from __future__ import annotations

import pytest

from everpath.versions import underline

#: Two hundred characters, no two neighbours alike.
LONG = "0123456789" * 20


@pytest.mark.parametrize(
    ("start", "end", "carets"),
    [(2, 4, "  ^^"), (0, 1, "^"), (2, 2, "  ^"), (4, 99, "    ^^"), (6, 7, "      ^")],
)
def test_every_character_of_a_part_has_a_caret_and_there_is_always_one(
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
def test_of_a_long_text_the_carets_stay_below_what_is_shown(
    start: int, end: int, first: int, last: int
) -> None:
    line, carets = underline(LONG, start, end, "why").splitlines()
    before, behind = "…" * (first > 0), "…" * (last < len(LONG))
    assert line == f"{before}{LONG[first:last]}{behind}"
    begin = start - first + len(before)
    assert carets == f"{' ' * begin}{'^' * (min(end, last) - start)} why"


def test_a_text_is_long_from_the_hundred_and_twenty_first_character_on() -> None:
    assert underline(LONG[:120], 100, 101, "why").startswith(f"{LONG[:120]}\n")
    assert underline(LONG[:121], 100, 101, "why").startswith(f"…{LONG[40:121]}\n")
