"""`parse_tolerant`: versions as OLM v0 reads them in spec.version of a CSV."""

from __future__ import annotations

from string import ascii_letters

import pytest

from everpath.versions import VersionError, parse_tolerant


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("1.2.3", "1.2.3"),
        ("v1.2.3", "1.2.3"),
        (" \t\n1.2.3\r ", "1.2.3"),
        ("\u2003v1.2.3\xa0\x85", "1.2.3"),
        ("1", "1.0.0"),
        ("v1.2", "1.2.0"),
        ("01.002.0003", "1.2.3"),
        ("00", "0.0.0"),
        ("0.0", "0.0.0"),
        ("1.2.00-rc1", "1.2.0-rc1"),
        ("1.2.-rc1", "1.2.0-rc1"),
        ("1.2.+b", "1.2.0+b"),
        ("1.2.0+007", "1.2.0+007"),
    ],
)
def test_tolerant_parse_accepts_what_blang_accepts(text: str, version: str) -> None:
    assert str(parse_tolerant(text)) == version


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("", 0, "a version starts with a digit"),
        ("v", 1, "a version starts with a digit"),
        ("V1.2.3", 0, "is not allowed in a number"),
        ("vv1.2.3", 1, "is not allowed in a number"),
        ("v 1.2.3", 1, "is not allowed in a number"),
        ("1.2-rc", 3, "all three numbers"),
        ("1+b", 1, "all three numbers"),
        (" v1-2", 3, "all three numbers"),
        ("1.2.-", 4, "the patch number is missing"),
        ("1.2.3-rc.01", 9, "leading zero"),
        ("v01.02.x", 7, "'x' is not allowed in a number"),
        ("001.2.3.4", 7, "'.' is not allowed in a number"),
        ("..", 0, "a version starts with a digit"),
        ("1..", 2, "the minor number is missing"),
        ("\x1c1.2.3", 0, "is not allowed in a number"),
        ("1.2.3\u200b", 5, "is not allowed in a number"),
    ],
)
def test_tolerant_parse_refuses_what_blang_refuses(text: str, position: int, reason: str) -> None:
    with pytest.raises(VersionError) as caught:
        parse_tolerant(text)
    assert (caught.value.text, caught.value.position) == (text, position)
    assert reason in caught.value.reason


@pytest.mark.parametrize("letter", ascii_letters)
def test_tolerant_parse_refuses_letters_in_numbers(letter: str) -> None:
    with pytest.raises(VersionError) as caught:
        parse_tolerant(f"1.{letter}2.3")
    assert caught.value.position == 2
