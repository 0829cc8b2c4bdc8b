"""How a range is read: tokens, operators, arms, and which of blang's quirks each test holds on to."""

from __future__ import annotations

import pytest

from everpath.ranges import Range, RangeError
from everpath.versions import parse


def reading(text: str) -> str:
    """The comparisons a range is evaluated as, arms separated by ||."""
    arms = Range.parse(text).expression.arms
    return " || ".join(" ".join(map(str, arm.comparators)) for arm in arms)


@pytest.mark.parametrize(
    ("text", "read_as"),
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
def test_every_operator_and_both_connectives(text: str, read_as: str) -> None:
    assert reading(text) == read_as


def test_arms_are_alternatives_and_terms_must_all_hold() -> None:
    span = Range.parse(">=1.0.0 <2.0.0 || >=3.0.0 !=3.1.0")
    versions = ["0.9.0", "1.0.0", "2.0.0", "3.0.0", "3.1.0", "4.0.0"]
    assert [v for v in versions if span.contains(parse(v))] == ["1.0.0", "3.0.0", "4.0.0"]


def test_spaces_behind_a_comparison_sign_do_not_separate() -> None:
    assert reading(">  1.0.0   <   =  2.0.0") == ">1.0.0 <=2.0.0"


def test_a_bang_is_no_comparison_sign() -> None:
    assert reading("! 1.0.0") == "=1.0.0"


def test_a_single_character_is_thrown_away() -> None:
    assert reading(">=1.0.0 | <2.0.0 - x 1 <") == ">=1.0.0 <2.0.0"


def test_a_single_character_of_two_bytes_is_not() -> None:
    with pytest.raises(RangeError):
        Range.parse("1.0.0 é")


def test_a_trailing_sign_is_thrown_away_only_without_a_space_behind_it() -> None:
    assert reading("1.0.0 >") == "=1.0.0"
    with pytest.raises(RangeError):
        Range.parse("1.0.0 > ")


def test_other_white_space_is_forgiven_around_an_operator_only() -> None:
    assert reading("\t>=\n1.0.0") == ">=1.0.0"
    assert reading("\xa0>=\u20031.0.0") == ">=1.0.0"
    with pytest.raises(RangeError):
        Range.parse(">=1.0.0\t<2.0.0")


def test_what_go_does_not_call_space_is_not_forgiven() -> None:
    with pytest.raises(RangeError):
        Range.parse("\x1c>=1.0.0")


def test_a_digit_of_unicode_15_starts_a_version_on_every_python() -> None:
    with pytest.raises(RangeError):
        Range.parse("\N{KANNADA DIGIT ONE}1.x")
    with pytest.raises(RangeError):
        Range.parse("\U00011f501.x")


def test_a_digit_of_unicode_16_is_an_operator_nobody_knows() -> None:
    assert reading("\U00010d401.x") == "=1.0.0"


@pytest.mark.parametrize("text", ["", "   ", "x", "*", "1", "<", "||", "1.0.0 ||", "|| 1.0.0", "1.0.0 || <"])
def test_a_range_has_something_on_either_side(text: str) -> None:
    with pytest.raises(RangeError):
        Range.parse(text)


@pytest.mark.parametrize(
    ("text", "read_as"),
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
def test_a_wildcard_is_its_bounds(text: str, read_as: str) -> None:
    assert reading(text) == read_as


@pytest.mark.parametrize(
    ("text", "read_as"),
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
def test_an_x_counts_wherever_it_stands(text: str, read_as: str) -> None:
    assert reading(text) == read_as


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
def test_a_wildcard_that_has_no_bound_does_not_parse(text: str) -> None:
    with pytest.raises(RangeError):
        Range.parse(text)


def test_prereleases_have_no_special_place() -> None:
    rc = parse("1.0.0-rc.1")
    assert Range.parse("<1.0.0").contains(rc)
    assert not Range.parse(">=1.0.0").contains(rc)
    assert not Range.parse("<1.0.0-0").contains(rc)
    assert Range.parse("0.9.x").contains(parse("0.10.0-rc.1"))


def test_build_metadata_is_ignored() -> None:
    assert Range.parse("=1.0.0+a").contains(parse("1.0.0+b"))


def test_a_range_is_read_once() -> None:
    assert Range.parse(">=1.0.0 <4.5.6") is Range.parse(">=1.0.0 <4.5.6")


def test_ranges_are_equal_when_they_are_written_alike() -> None:
    assert Range.parse("1.0.0") != Range.parse("=1.0.0")
    assert len({Range.parse("1.0.0"), Range.parse("1.0.0")}) == 1
    assert str(Range.parse(" =1.0.0")) == " =1.0.0"
