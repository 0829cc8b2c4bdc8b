"""Errors of ranges that do not parse: span, reason and fix."""

from __future__ import annotations

import pickle

import pytest

from everpath.ranges import Range, RangeError


def error(text: str) -> RangeError:
    with pytest.raises(RangeError) as caught:
        Range.parse(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "marked", "reason"),
    [
        ("<v1.2.0", "v", "a version starts with a digit, not with a v"),
        (">=0.2.0 < v0.3.1", "v", "a version starts with a digit, not with a v"),
        ("~1.2.3", "~", "OLM's ranges have no operator ~: write both bounds"),
        ("^1.2.3", "^", "OLM's ranges have no operator ^: write both bounds"),
        ("~> 1.2.3", "~> ", "OLM's ranges have no operator ~>: write both bounds"),
        ("=>1.0.0", "=>", "the operator is written >="),
        ("> >1.0.0", "> >", "'>>' is not an operator: use = != > >= < or <="),
        (">=1.0.0,<2.0.0", ",", "separate comparisons with a space, not with a comma"),
        (">=1.0.0<2.0.0", "<", "a space is missing before the operator"),
        ("<1.0.0||>2.0.0", "|", "|| needs a space on either side"),
        ("<1.0.0 ||>2.0.0", "||>", "|| needs a space on either side"),
        ("1.x||2.x", "1.x||2.x", "|| needs a space on either side"),
        (">=1.0.0\t<2.0.0", "\t", "separate comparisons with a plain space"),
        (">=1.0.X", "X", "the wildcard is a lower-case x"),
        ("> = 1.0.*", "*", "the wildcard is a lower-case x"),
        (">=1.2", "", "a version has three numbers, MAJOR.MINOR.PATCH"),
        (">=1.00.0", "0", "the minor number has a leading zero"),
        ("1.0.0 latest", "latest", "this comparison has no version"),
        ("1.0.0 ||", "||", "there is no comparison after the last ||"),
        ("|| 1.0.0", "||", "there is no comparison before the first ||"),
        ("", "", "it is empty"),
        ("  ", "  ", "it is empty"),
        ("1", "1", "a single character is not a comparison"),
        ("*", "*", "a wildcard needs a number before it; >=0.0.0-0 matches every version"),
        (" x", " x", "a wildcard needs a number before it; >=0.0.0-0 matches every version"),
        ("* 1", "* 1", "a single character is not a comparison"),
        (">=1.0.0 AND <2.0.0", "AND", "separate comparisons with a space, without a word"),
        (">=1.0.0 && <2.0.0", "&&", "separate comparisons with a space only"),
        ("<1.0.0 or >2.0.0", "or", "separate alternatives with ||, not with a word"),
        ("<1.0.0|>2.0.0", "|", "separate alternatives with ||, with a space on either side"),
        (
            ">1.0.0-next",
            ">1.0.0-next",
            "the x makes this a wildcard, and > accepts only N.x and N.N.x",
        ),
        (
            "1.0.0-alpha.x",
            "1.0.0-alpha.x",
            "the x makes this a wildcard, and = accepts only N.x and N.N.x",
        ),
        (
            ">=01.x",
            ">=01.x",
            "the x makes this a wildcard, read as 01.0.0: the major number has a leading zero",
        ),
    ],
)
def test_error_has_a_reason_and_a_span(text: str, marked: str, reason: str) -> None:
    found = error(text)
    assert found.reason == reason
    start, end = found.span
    assert text[start:end] == marked


def test_leftmost_error_is_reported() -> None:
    assert error("<v1.0.0 || >=2.0").span == (1, 2)


@pytest.mark.parametrize(
    ("text", "fix"),
    [
        ("<v1.2.0", "<1.2.0"),
        (">=3.6.x <v3.10.19", ">=3.6.x <3.10.19"),
        ("<=V0.10.1", "<=0.10.1"),
        (">=1.00.0", ">=1.0.0"),
        (">=1.2 <2", ">=1.2.0 <2.0.0"),
        (">=1.0.0, <2.0.0", ">=1.0.0 <2.0.0"),
        (">=1.0.0 && <2.0.0", ">=1.0.0 <2.0.0"),
        (">=1.0.0 AND <2.0.0", ">=1.0.0 <2.0.0"),
        ("<1.0.0-or or >2.0.0-and", "<1.0.0-or || >2.0.0-and"),
        ("~1", ">=1.0.0 <2.0.0"),
        ("^1", ">=1.0.0 <2.0.0"),
        ("~1.2", ">=1.2.0 <1.3.0"),
        ("^1.2", ">=1.2.0 <2.0.0"),
        ("^0.2", ">=0.2.0 <0.3.0"),
        ("^0", ">=0.0.0 <1.0.0"),
        (">=1.0.0<2.0.0", ">=1.0.0 <2.0.0"),
        (">=1.0.0-alpha<2.0.0", ">=1.0.0-alpha <2.0.0"),
        (">=1.0.0\t<2.0.0", ">=1.0.0 <2.0.0"),
        ("<1.0.0||>2.0.0", "<1.0.0 || >2.0.0"),
        ("<1.0.0 ||", "<1.0.0"),
        ("|| || <1.0.0", "<1.0.0"),
        ("=>1.0.0 =<2.0.0", ">=1.0.0 <=2.0.0"),
        ("≥1.0.0 ≤2.0.0 ≠1.5.0", ">=1.0.0 <=2.0.0 !=1.5.0"),
        ("~1.2.3", ">=1.2.3 <1.3.0"),
        ("~> v1.2.3", ">=1.2.3 <1.3.0"),
        ("^1.2.3", ">=1.2.3 <2.0.0"),
        ("^0.2.3", ">=0.2.3 <0.3.0"),
        ("^0.0.3", ">=0.0.3 <0.0.4"),
        (">=1.X", ">=1.x"),
        ("1.*.*", "1.x"),
        (">1.0.0-next", ">=1.0.0-next.0"),
        ("<=1.0.0-fix", "<1.0.0-fix.0"),
        ("=1.0.0-next", ">=1.0.0-next <1.0.0-next.0"),
    ],
)
def test_fix_is_suggested_where_the_intent_is_clear(text: str, fix: str) -> None:
    assert error(text).fix == fix
    assert error(text).hint == f"write '{fix}'"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "latest",
        "<1.0.0 || latest",
        "<1.0.0 latest",
        "*",
        "<=1.2",
        "=1.2",
        ">= <0.3.0",
        ">=1.0.0|<2.0.0",
        "~>1.2",
        "^1.2.3-rc.1",
        ">=vv1.0.0",
        ">=1.2.3.4",
        ">=2.0 <v1.0.0",
        "!=1.0.0-next",
        ">1.0.0-rc+x",
        ">=18446744073709551616.0.0",
    ],
)
def test_no_fix_is_suggested_where_the_intent_is_unclear(text: str) -> None:
    assert error(text).fix is None
    assert error(text).hint is None


def test_error_is_shown_with_carets_and_a_hint() -> None:
    assert error(">=0.2.0 < v0.3.1").pretty().split("\n") == [
        ">=0.2.0 < v0.3.1",
        "          ^ a version starts with a digit, not with a v",
        "write '>=0.2.0 <0.3.1'",
    ]
    assert error(">=1.0.0 latest").pretty().split("\n") == [
        ">=1.0.0 latest",
        "        ^^^^^^ this comparison has no version",
    ]


def test_error_is_one_sentence() -> None:
    assert str(error("<v1.2.0")) == "'<v1.2.0' is not a range: a version starts with a digit, not with a v"


def test_error_can_be_pickled() -> None:
    copy = pickle.loads(pickle.dumps(error("<v1.2.0")))
    assert (copy.text, copy.span, copy.fix) == ("<v1.2.0", (1, 2), "<1.2.0")


def test_each_call_raises_a_new_error() -> None:
    assert error("<v1.2.0") is not error("<v1.2.0")
