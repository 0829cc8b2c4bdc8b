"""The grammar of ranges: tokens, operators, arms and wildcards, with the quirks of blang."""

from __future__ import annotations

import pytest

from everpath.ranges import Range, RangeError
from everpath.versions import parse


def meaning(text: str) -> str:
    """Return the comparisons that a range is evaluated as, with || between arms."""
    arms = Range.parse(text).expression.arms
    return " || ".join(" ".join(map(str, arm.comparators)) for arm in arms)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.0.0", "=1.0.0"),
        ("=1.0.0", "=1.0.0"),
        ("==1.0.0", "=1.0.0"),
        ("!1.0.0", "!=1.0.0"),
        ("!=1.0.0", "!=1.0.0"),
        (">1.0.0 >=1.0.0 <1.0.0 <=1.0.0", ">1.0.0 >=1.0.0 <1.0.0 <=1.0.0"),
        (">1.0.0 <2.0.0 || 3.0.0", ">1.0.0 <2.0.0 || =3.0.0"),
    ],
)
def test_operators_and_connectives(text: str, expected: str) -> None:
    assert meaning(text) == expected


def test_one_arm_and_all_its_terms_must_match() -> None:
    span = Range.parse(">=1.0.0 <2.0.0 || >=3.0.0 !=3.1.0")
    versions = ["0.9.0", "1.0.0", "2.0.0", "3.0.0", "3.1.0", "4.0.0"]
    assert [v for v in versions if span.contains(parse(v))] == ["1.0.0", "3.0.0", "4.0.0"]


def test_spaces_after_an_operator_do_not_separate_tokens() -> None:
    assert meaning(">  1.0.0   <   =  2.0.0") == ">1.0.0 <=2.0.0"


def test_space_after_an_exclamation_mark_separates_tokens() -> None:
    assert meaning("! 1.0.0") == "=1.0.0"


def test_token_of_one_character_is_ignored() -> None:
    assert meaning(">=1.0.0 | <2.0.0 - x 1 <") == ">=1.0.0 <2.0.0"


def test_token_of_one_character_with_two_bytes_is_not_ignored() -> None:
    with pytest.raises(RangeError):
        Range.parse("1.0.0 é")


def test_trailing_operator_is_ignored_unless_a_space_follows() -> None:
    assert meaning("1.0.0 >") == "=1.0.0"
    with pytest.raises(RangeError):
        Range.parse("1.0.0 > ")


def test_other_white_space_is_accepted_only_around_an_operator() -> None:
    assert meaning("\t>=\n1.0.0") == ">=1.0.0"
    assert meaning("\xa0>=\u20031.0.0") == ">=1.0.0"
    with pytest.raises(RangeError):
        Range.parse(">=1.0.0\t<2.0.0")


def test_white_space_unknown_to_go_is_refused() -> None:
    with pytest.raises(RangeError):
        Range.parse("\x1c>=1.0.0")


def test_digit_of_unicode_15_starts_a_version() -> None:
    with pytest.raises(RangeError):
        Range.parse("\N{KANNADA DIGIT ONE}1.x")
    with pytest.raises(RangeError):
        Range.parse("\U00011f501.x")


def test_digit_of_unicode_16_is_an_unknown_operator() -> None:
    assert meaning("\U00010d401.x") == "=1.0.0"


@pytest.mark.parametrize("text", ["", "   ", "x", "*", "1", "<", "||", "1.0.0 ||", "|| 1.0.0", "1.0.0 || <"])
def test_range_without_a_comparison_on_each_side_does_not_parse(text: str) -> None:
    with pytest.raises(RangeError):
        Range.parse(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.x", ">=1.0.0 <2.0.0"),
        ("=1.2.x", ">=1.2.0 <1.3.0"),
        (">1.x", ">=2.0.0"),
        (">1.2.x", ">=1.3.0"),
        (">=1.2.x", ">=1.2.0"),
        ("<1.2.x", "<1.2.0"),
        ("<=1.2.x", "<1.3.0"),
        ("<=1.x", "<2.0.0"),
        ("!=1.2.x", "<1.2.0 >=1.3.0"),
        ("!1.x", "<1.0.0 >=2.0.0"),
    ],
)
def test_wildcard_is_expanded_to_its_bounds(text: str, expected: str) -> None:
    assert meaning(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.x.x", ">=1.0.0 <1.1.0"),
        (">=1.0.x.x", ">=1.0.0"),
        (">=1.x.5", ">=1.0.5"),
        ("<1.2.x-rc.1", "<1.2.0-rc.1"),
        ("<1.0.0-alpha.x", "<1.0.0-alpha.0"),
        (">=1.0.0-next", ">=1.0.0-next"),
        ("x.1.0", "=1.0.0"),
        ("max1.0.0", "=1.0.0"),
        ("~1.x", "=1.0.0"),
        ("<v1.2.x", "=1.2.0"),
        (">1.+5.x", ">=1.6.0"),
        (">1.-1.x", ">=1.0.0"),
        ("<=1.007.x", "<1.8.0"),
        (f">1.{'0' * 5000}5.x", ">=1.6.0"),
        (">01.x", ">=2.0.0"),
        (">9223372036854775806.x", ">=9223372036854775807.0.0"),
    ],
)
def test_x_is_a_wildcard_anywhere_in_a_comparison(text: str, expected: str) -> None:
    assert meaning(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        ">1.0.0-next",
        "<=1.0.0-fix",
        "=1.0.0-next",
        "1.0.0-alpha.x",
        ">9223372036854775807.x",
        ">1.-5.x",
        ">=01.x",
        "1.2.3.x",
        "x.x",
        "1.xx",
        ">1.٣.x",
        "1.2.x.",
    ],
)
def test_wildcard_without_an_upper_bound_does_not_parse(text: str) -> None:
    with pytest.raises(RangeError):
        Range.parse(text)


def test_prereleases_are_compared_like_other_versions() -> None:
    rc = parse("1.0.0-rc.1")
    assert Range.parse("<1.0.0").contains(rc)
    assert not Range.parse(">=1.0.0").contains(rc)
    assert not Range.parse("<1.0.0-0").contains(rc)
    assert Range.parse("0.9.x").contains(parse("0.10.0-rc.1"))


def test_build_metadata_is_ignored() -> None:
    assert Range.parse("=1.0.0+a").contains(parse("1.0.0+b"))


def test_parsed_range_is_cached() -> None:
    assert Range.parse(">=1.0.0 <4.5.6") is Range.parse(">=1.0.0 <4.5.6")


def test_ranges_with_the_same_text_are_equal() -> None:
    assert Range.parse("1.0.0") != Range.parse("=1.0.0")
    assert len({Range.parse("1.0.0"), Range.parse("1.0.0")}) == 1
    assert str(Range.parse(" =1.0.0")) == " =1.0.0"
