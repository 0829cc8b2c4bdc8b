"""Constraints of Masterminds/semver: which versions they contain, and errors."""

from __future__ import annotations

import pickle

import pytest

from everpath.ranges.masterminds import Constraint, ConstraintError
from everpath.versions import parse

VERSIONS = (
    "0.0.0", "0.0.1", "0.1.0", "0.2.3", "0.2.4", "1.0.0-rc.1", "1.0.0", "1.2.0", "1.2.3-rc.1", "1.2.3-rc.2",
    "1.2.3", "1.2.4", "1.3.0", "2.0.0-rc.1", "2.0.0",
)  # fmt: skip


def contained(text: str) -> str:
    constraint = Constraint.parse(text)
    return " ".join(v for v in VERSIONS if constraint.contains(parse(v)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1.2.3", "1.2.3"),
        ("=1.2.3", "1.2.3"),
        ("v1.2.3+build", "1.2.3"),
        ("1.2", "1.2.0 1.2.3 1.2.4"),
        ("1", "1.0.0 1.2.0 1.2.3 1.2.4 1.3.0"),
        ("1.x.9", "1.0.0 1.2.0 1.2.3 1.2.4 1.3.0"),
        ("=1.2.X", "1.2.0 1.2.3 1.2.4"),
        ("*", "0.0.0 0.0.1 0.1.0 0.2.3 0.2.4 1.0.0 1.2.0 1.2.3 1.2.4 1.3.0 2.0.0"),
        (">1.2.3", "1.2.4 1.3.0 2.0.0"),
        (">1.2", "1.3.0 2.0.0"),
        (">1", "2.0.0"),
        (">*", "0.0.1 0.1.0 0.2.3 0.2.4 1.0.0 1.2.0 1.2.3 1.2.4 1.3.0 2.0.0"),
        (">=1.2", "1.2.0 1.2.3 1.2.4 1.3.0 2.0.0"),
        ("=>1.3", "1.3.0 2.0.0"),
        ("<0.2", "0.0.0 0.0.1 0.1.0"),
        ("<=0.2", "0.0.0 0.0.1 0.1.0 0.2.3 0.2.4"),
        ("=<0", "0.0.0 0.0.1 0.1.0 0.2.3 0.2.4"),
        ("<=0.2.3", "0.0.0 0.0.1 0.1.0 0.2.3"),
        ("<=*", "0.0.0 0.0.1"),
        ("~1.2.3", "1.2.3 1.2.4"),
        ("~>1.2", "1.2.0 1.2.3 1.2.4"),
        ("~1", "1.0.0 1.2.0 1.2.3 1.2.4 1.3.0"),
        ("~0.0.0", "0.0.0 0.0.1 0.1.0 0.2.3 0.2.4 1.0.0 1.2.0 1.2.3 1.2.4 1.3.0 2.0.0"),
        ("~0.0", "0.0.0 0.0.1"),
        ("^1.2.3", "1.2.3 1.2.4 1.3.0"),
        ("^1.2", "1.2.0 1.2.3 1.2.4 1.3.0"),
        ("^0.2.3", "0.2.3 0.2.4"),
        ("^0.0", "0.0.0 0.0.1"),
        ("^0.0.1", "0.0.1"),
        ("^0", "0.0.0 0.0.1 0.1.0 0.2.3 0.2.4"),
        ("^*", "0.0.0"),
        ("!=1.2.x, >1", "2.0.0"),
        ("!=1, >=0.2", "0.2.3 0.2.4 2.0.0"),
        ("!=1.2, >=1", "1.0.0 1.3.0 2.0.0"),
        ("!=*, <0.2", "0.0.1 0.1.0"),
        ("!=1.2.3, ~1.2", "1.2.0 1.2.4"),
        ("0.2.3 - 1.2", "0.2.3 0.2.4 1.0.0 1.2.0 1.2.3 1.2.4"),
        (">=1.2 <1.3 || 2", "1.2.0 1.2.3 1.2.4 2.0.0"),
        ("0.2.3||2", "0.2.3 2.0.0"),
        ("\t>=\n1.3 ,\f<2 ", "1.3.0"),
    ],
)
def test_constraint_contains(text: str, expected: str) -> None:
    assert contained(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (">=1.2.3", "1.2.3 1.2.4 1.3.0 2.0.0"),
        (">=1.2.3-0", "1.2.3-rc.1 1.2.3-rc.2 1.2.3 1.2.4 1.3.0 2.0.0-rc.1 2.0.0"),
        (">=1.2.3-rc.2 <2", "1.2.3 1.2.4 1.3.0"),
        (">=1.2.3-rc.2 <2-0", "1.2.3-rc.2 1.2.3 1.2.4 1.3.0"),
        ("=1.2.3-rc.1", "1.2.3-rc.1"),
        ("~1.2.3-rc.2", "1.2.3-rc.2 1.2.3 1.2.4"),
        ("^1.2.3-rc.2", "1.2.3-rc.2 1.2.3 1.2.4 1.3.0"),
        ("1.2-rc.2", "1.2.0 1.2.3-rc.1 1.2.3-rc.2 1.2.3 1.2.4"),
        (">1.2-rc.2 <1.4-0", "1.3.0"),
        ("<=0-0", "0.0.0 0.0.1 0.1.0 0.2.3 0.2.4"),
        ("<2-rc.1 >1.3-0", ""),
        # Only != with three numbers matches pre-releases without naming one.
        ("!=1.2.3, !=0.2.3, !=1.2.0, !=0.1.0, !=0.0.0, !=0.0.1, !=0.2.4, !=1.3.0, !=2.0.0, !=1.0.0",
         "1.0.0-rc.1 1.2.3-rc.1 1.2.3-rc.2 1.2.4 2.0.0-rc.1"),
        ("!=1.2-rc.1 ~1-0", "1.0.0-rc.1 1.0.0 1.2.0 1.2.3-rc.2 1.2.3 1.2.4 1.3.0"),
    ],
)  # fmt: skip
def test_prereleases_match_only_comparisons_with_a_prerelease(text: str, expected: str) -> None:
    assert contained(text) == expected.strip()


def test_prerelease_number_of_more_than_64_bits_is_a_word() -> None:
    assert Constraint.parse("<1.0.0-18446744073709551616").contains(parse("1.0.0-9"))
    assert Constraint.parse(">1.0.0-18446744073709551616").contains(parse("1.0.0-9a"))
    assert not Constraint.parse(">1.0.0-18446744073709551615").contains(parse("1.0.0-9"))


def test_low_end_of_a_hyphen_range_includes_an_alternative() -> None:
    assert contained("0||1.2 - 1.3") == contained(">=0 || 1.2 <=1.3")
    assert contained("0 || 1.2 - 1.3") == contained("0 || >=1.2 <=1.3")


def test_two_hyphen_ranges_are_rewritten() -> None:
    assert contained("0.2.3 - 0.2.4 || 1.3 - 2.0") == "0.2.3 0.2.4 1.3.0 2.0.0"


@pytest.mark.parametrize(
    ("text", "named"), [(">=1.0.0", False), (">=1.0.0-0", True), ("1 || <2.0.0-rc.1", True), ("1.x-a", True)]
)
def test_names_prereleases(text: str, named: bool) -> None:
    assert Constraint.parse(text).names_prereleases is named


def error(text: str) -> ConstraintError:
    with pytest.raises(ConstraintError) as caught:
        Constraint.parse(text)
    return caught.value


@pytest.mark.parametrize(
    ("text", "marked", "reason", "upstream_message"),
    [
        ("", "", "it is empty", "improper constraint: "),
        (" \t", " \t", "it is empty", "improper constraint:  \t"),
        ("1 ||", "", "a comparison is missing before or after ||", "improper constraint: "),
        ("|| 1", "|", "a comparison is missing before or after ||", "improper constraint: "),
        ("1 || || 2", " ", "a comparison is missing before or after ||", "improper constraint:  "),
        ("==1", "=", "equality is written = or without an operator", "improper constraint: ==1"),
        ("1 !2", "!", "inequality is written !=", "improper constraint: 1 !2"),
        ("1 && 2", "&", "separate comparisons with a comma or a space", "improper constraint: 1 && 2"),
        ("1.2.3.4", ".", "a version has at most three numbers", "improper constraint: 1.2.3.4"),
        ("1,,2", ",", "write only one comma between two comparisons", "improper constraint: 1,,2"),
        ("1,", "", "a version is missing at the end", "improper constraint: 1,"),
        (">= ", "", "a version is missing at the end", "improper constraint: >= "),
        ("V1", "V", "the v before a version is a lower-case v", "improper constraint: V1"),
        (
            "1 >2<3",
            "<",
            "'<' is not part of an operator or a version",
            "improper constraint: 1 >2<3",
        ),
        (
            "1 || foo",
            "f",
            "'f' is not part of an operator or a version",
            "improper constraint:  foo",
        ),
        ("1 | 2 ~", "", "a version is missing at the end", "improper constraint: 1 | 2 ~"),
        (
            "1 - ",
            "-",
            "a hyphen range has two versions, and a space on either side of the -",
            "improper constraint: 1 - ",
        ),
        (
            "1 - 2 - 3",
            "-",
            "a hyphen range has two versions, and a space on either side of the -",
            "improper constraint: >= 1, <= 2 - 3",
        ),
        (
            ">=1.0 - 2.0",
            "-",
            "separate a hyphen range from other comparisons, and write no operator in it",
            "improper constraint: >=>= 1.0, <= 2.0 ",
        ),
        (
            "1 - 2 - 3,2 - 3",
            "-",
            "separate a hyphen range from other comparisons, and write no operator in it",
            "improper constraint: >= 1, <= >= 2, <= 3 ,2 - 3",
        ),
        (
            "1|2",
            "1|2",
            "the major number is neither a number nor one of x, X and *",
            "constraint Parser Error",
        ),
        (
            "1.2x",
            "2x",
            "the minor number is neither a number nor one of x, X and *",
            "constraint Parser Error",
        ),
        ("~1.2.03", "03", "the patch number has a leading zero", "constraint Parser Error"),
        (
            "1 18446744073709551616",
            "18446744073709551616",
            "the major number does not fit into 64 bits",
            "constraint Parser Error",
        ),
        ("1.0.0-a.01", "01", "a number in the pre-release has a leading zero", "constraint Parser Error"),
        ("01 || foo", "01", "the major number has a leading zero", "constraint Parser Error"),
        (
            "01 foo",
            "f",
            "'f' is not part of an operator or a version",
            "improper constraint: 01 foo",
        ),
        ("1 - 02", "02", "the major number has a leading zero", "constraint Parser Error"),
    ],
)
def test_error_has_span_reason_and_upstream_message(
    text: str, marked: str, reason: str, upstream_message: str
) -> None:
    found = error(text)
    assert (text[slice(*found.span)], found.reason, found.upstream_message) == (
        marked,
        reason,
        upstream_message,
    )


def test_error_is_shown_with_a_caret_and_can_be_pickled() -> None:
    found = error("1.2.3.4")
    assert found.pretty() == "1.2.3.4\n     ^ a version has at most three numbers"
    assert str(found) == "'1.2.3.4' is not a version constraint: a version has at most three numbers"
    assert str(pickle.loads(pickle.dumps(found))) == str(found)


def test_constraints_with_the_same_text_are_equal() -> None:
    assert Constraint.parse("1") == Constraint.parse("1")
    assert Constraint.parse("1") != Constraint.parse("1.x")
    assert str(Constraint.parse("1 - 2")) == "1 - 2"


def test_long_constraint_is_parsed_in_linear_time() -> None:
    """The regular expression of Masterminds takes exponential time for this text."""
    with pytest.raises(ConstraintError):
        Constraint.parse("1   " * 2_000 + "!")
