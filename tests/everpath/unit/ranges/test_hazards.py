"""Hazards of ranges: kind, span, message and fix."""

from __future__ import annotations

import time

import pytest

from everpath.ranges import Hazard, HazardKind, Range


def only_hazard(text: str, *, but: HazardKind | None = None) -> Hazard:
    (found,) = (hazard for hazard in Range.parse(text).hazards if hazard.kind != but)
    return found


def marked(text: str, hazard: Hazard) -> str:
    return text[slice(*hazard.span)]


@pytest.mark.parametrize(
    "text",
    [
        ">=1.0.0 <2.0.0",
        "> = 1.0.0",
        "!1.0.0",
        "1.2.x",
        ">=1.x.x",
        "<1.x.x",
        "!=1.0.0 !=2.0.0",
        "<1.0.0 || >=2.0.0",
        ">=1.0.0-rc.1 <1.0.0",
        "\t>=1.0.0",
        ">=0.0.0-0",
    ],
)
def test_range_without_hazards(text: str) -> None:
    assert Range.parse(text).hazards == ()


@pytest.mark.parametrize(
    ("text", "kind", "span_text", "fix"),
    [
        (">=1.0.0 <", "dropped-token", "<", None),
        (">=1.0.0 | <2.0.0", "dropped-token", "|", None),
        (">=1.0.0 , <2.0.0", "dropped-token", ",", ">=1.0.0 <2.0.0"),
        (">=1.0.0 & <2.0.0", "dropped-token", "&", ">=1.0.0 <2.0.0"),
        ("1.0.0 , 1.0.0", "dropped-token", ",", "1.0.0 1.0.0"),
        (">=1.0.0 - <2.0.0", "dropped-token", "-", None),
        (">=1.0.0 - 2.0.0", "dropped-token", "-", None),
        ("1.0.0 - <2.0.0", "dropped-token", "-", None),
        ("- 1.0.0", "dropped-token", "-", None),
        ("1.0.0 -", "dropped-token", "-", None),
        ("1.0.0 || - 2.0.0", "dropped-token", "-", None),
        ("1.0.0 - || 2.0.0", "dropped-token", "-", None),
        ("! >=1.0.0", "dropped-token", "!", None),
        ("1.0.0 !", "dropped-token", "!", None),
        ("2.0.0 ! || 1.0.0", "dropped-token", "!", None),
        ("! 1.0.0", "lost-negation", "! 1.0.0", "!=1.0.0"),
        (">=0.1.0 ! =1.0.0", "lost-negation", "! =1.0.0", ">=0.1.0 !=1.0.0"),
        ("1.0.0 - 1.0.0", "hyphen-range", "1.0.0 - 1.0.0", ">=1.0.0 <=1.0.0"),
        ("~1.x", "swallowed-operator", "~1.x", "1.x"),
        ("<v1.2.x", "swallowed-operator", "<v1.2.x", "<1.2.x"),
        ("=>1.2.x", "swallowed-operator", "=>1.2.x", ">=1.2.x"),
        ("x.1.0", "swallowed-operator", "x.1.0", None),
        ("1.x.x", "narrow-wildcard", "1.x.x", "1.x"),
        (">= 0.5.0 <=1.x.x", "narrow-wildcard", "<=1.x.x", ">= 0.5.0 <=1.x"),
        (">1.007.x", "lenient-number", ">1.007.x", ">=1.8.0"),
        ("<=1.+5.x", "lenient-number", "<=1.+5.x", "<1.6.0"),
        (">=1.x.5", "x-as-zero", ">=1.x.5", ">=1.0.5"),
        ("<1.2.x-rc", "x-as-zero", "<1.2.x-rc", "<1.2.0-rc"),
        (">=1.0.0-next <2.0.0", "x-in-word", ">=1.0.0-next", None),
        (">=1.0.0+b.1 <2.0.0", "ignored-build", ">=1.0.0+b.1", ">=1.0.0 <2.0.0"),
        (">=1.7.0 <1.7.0", "never", ">=1.7.0 <1.7.0", None),
        ("0.5.0 || <1.0.0 >2.0.0", "never", "<1.0.0 >2.0.0", None),
        ("<0.0.0-0", "never", "<0.0.0-0", None),
        (">1.0.0 <1.0.1-0", "never", ">1.0.0 <1.0.1-0", None),
        ("<1.0.0 || || >2.0.0", "empty-arm", "|| ||", "<1.0.0 || >2.0.0"),
    ],
)
def test_hazard_has_kind_span_and_fix(text: str, kind: str, span_text: str, fix: str | None) -> None:
    found = only_hazard(text)
    assert (found.kind, marked(text, found), found.fix) == (kind, span_text, fix)


def test_fix_of_a_hyphen_range_has_both_bounds() -> None:
    found = only_hazard(">=0.1.0 || 1.0.0 - 2.0.0", but=HazardKind.NEVER)
    assert found.kind == HazardKind.HYPHEN_RANGE
    assert found.message == "the - is ignored: this requires 1.0.0 and 2.0.0 at the same time"
    assert found.fix == ">=0.1.0 || >=1.0.0 <=2.0.0"


def test_fix_of_a_negated_wildcard_has_two_arms() -> None:
    found = only_hazard("!=1.2.x", but=HazardKind.NEVER)
    assert (found.kind, found.span) == ("negated-wildcard", (0, 7))
    assert found.message == "this requires <1.2.0 and >=1.3.0 at the same time, which is never true"
    assert found.fix == "<1.2.0 || >=1.3.0"


def test_fix_of_a_negated_wildcard_repeats_the_other_comparisons() -> None:
    found = only_hazard("0.1.0 || >=1.0.0 !1.2.x <2.0.0", but=HazardKind.NEVER)
    assert found.fix == "0.1.0 || >=1.0.0 <1.2.0 <2.0.0 || >=1.0.0 >=1.3.0 <2.0.0"
    assert only_hazard("!=1.2.x || 3.0.0", but=HazardKind.NEVER).fix == "<1.2.0 || >=1.3.0 || 3.0.0"


def test_neighbouring_empty_arms_have_one_fix() -> None:
    first, second = Range.parse(" 1.0.0  ||  || || 2.0.0").hazards
    assert first.kind == second.kind == HazardKind.EMPTY_ARM
    assert first.fix == second.fix == "1.0.0 || 2.0.0"


def test_arm_of_ignored_characters_is_empty() -> None:
    kinds = [hazard.kind for hazard in Range.parse("1.0.0 || x - || 2.0.0").hazards]
    assert kinds == [HazardKind.EMPTY_ARM, HazardKind.DROPPED_TOKEN, HazardKind.DROPPED_TOKEN]


def test_hazards_are_in_the_order_of_the_text() -> None:
    text = "1.x.x || ~2.x || >=3.0.0+b -"
    found = [marked(text, hazard) for hazard in Range.parse(text).hazards]
    assert found == ["1.x.x", "~2.x", ">=3.0.0+b", "-"]


def test_hazards_with_the_same_span_have_a_fixed_order() -> None:
    kinds = [hazard.kind for hazard in Range.parse("!=1.x.x").hazards]
    assert kinds == ["negated-wildcard", "narrow-wildcard", "never"]


def test_sign_in_a_wildcard_is_not_build_metadata() -> None:
    assert [hazard.kind for hazard in Range.parse(">1.+5.x").hazards] == [HazardKind.LENIENT_NUMBER]


def test_message_about_build_metadata_shows_the_comparison() -> None:
    assert only_hazard(">=1.0.0+b.1 <2.0.0").message == "build metadata is ignored: this is read as >=1.0.0"


def test_only_an_x_in_a_word_does_not_change_the_meaning() -> None:
    assert not only_hazard(">=1.0.0-next").changes_meaning
    assert only_hazard(">=1.x.5").changes_meaning


@pytest.mark.parametrize("text", ["max1.0.0-next", "=<1.2.x-rc"])
def test_fix_that_would_not_parse_is_left_out(text: str) -> None:
    (found,) = (h for h in Range.parse(text).hazards if h.kind == HazardKind.SWALLOWED_OPERATOR)
    assert found.fix is None


@pytest.mark.parametrize("text", ["1.0.0 || || 2.0.0", "!=1.x", "1.x.x"])
def test_very_long_range_has_no_fix(text: str) -> None:
    padding = " || 9.0.0" * 300
    assert any(hazard.fix is not None for hazard in Range.parse(text).hazards)
    assert all(hazard.fix is None for hazard in Range.parse(text + padding).hazards)


@pytest.mark.parametrize(
    "text",
    [
        "1.0.0" + " - 1.0.0" * 5_000,
        "1.0.0" + " ||" * 5_000 + " 2.0.0",
        " ".join(f"!={n}.x" for n in range(5_000)),
        "1.0.0 " + "x " * 5_000,
    ],
    ids=["hyphens", "empty arms", "negated wildcards", "single characters"],
)
def test_many_hazards_do_not_take_quadratic_time(text: str) -> None:
    start = time.process_time()
    assert len(Range.parse(text).hazards) >= 4_999
    assert time.process_time() - start < 5


@pytest.mark.parametrize(
    ("text", "fix"),
    [(">=1.0.0 <1.3.0 |", ">=1.0.0 <1.3.0"), ("| >=1.0.0", ">=1.0.0"), ("<1.0.0 | <2.0.0", None)],
)
def test_fix_removes_a_single_bar_only_at_either_end(text: str, fix: str | None) -> None:
    assert [h.fix for h in Range.parse(text).hazards] == [fix]


def test_message_about_a_single_bar_mentions_two() -> None:
    (hazard,) = (h for h in Range.parse("<1.0.0 | <2.0.0").hazards if h.kind == "dropped-token")
    assert hazard.message == "a single '|' is ignored; || separates alternatives"
    assert only_hazard("<1.0.0 , <2.0.0").message == "a single ',' is ignored"


@pytest.mark.parametrize("text", ["1.0.0 || || 2.0.0", "!=1.x", "1.x.x"])
def test_range_of_more_than_2000_characters_has_no_fix(text: str) -> None:
    fixes = {
        size: {h.fix for h in Range.parse(text.rjust(size)).hazards if h.kind != "never"}
        for size in (2000, 2001)
    }
    assert None not in fixes[2000]
    assert fixes[2001] == {None}
