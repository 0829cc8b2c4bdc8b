"""Descriptions of ranges in words."""

from __future__ import annotations

import pytest

from everpath.ranges import Range
from everpath.ranges.explain import PublishedVersions, explain_range
from everpath.versions import parse

FROM_RC = "every version from 1.0.0-rc.1 (included) to 1.0.0 (excluded)"
OTHERS = "all other pre-releases within the range are matched"


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        (">=1.0.0 <1.2.3", "matches every version from 1.0.0 (included) to 1.2.3 (excluded)"),
        (">1.0.0 <=2.0.0", "matches every version from 1.0.0 (excluded) to 2.0.0 (included)"),
        (">=1.0.0", "matches every version from 1.0.0 on"),
        (">1.0.0", "matches every version above 1.0.0"),
        ("<=1.0.0", "matches every version up to 1.0.0 (included)"),
        ("<1.0.0", "matches every version below 1.0.0"),
        ("1.0.0+build", "matches exactly 1.0.0"),
        ("!=1.0.0+build", "matches every version except 1.0.0"),
        ("!=1.0.0 !=1.1.0 !=1.2.0", "matches every version except 1.0.0, 1.1.0 and 1.2.0"),
        ("<1.0.0 || 2.0.0", "matches every version below 1.0.0, or exactly 2.0.0"),
        ("<0.5.0 || >=1.0.0", "matches every version below 0.5.0, or from 1.0.0 on"),
        (
            "1.0.0 || >4.0.0",
            "matches exactly 1.0.0, or every version above 4.0.0",
        ),
        ("1.0.0 - 2.0.0", "matches no version"),
        ("<1.0.0 || >=1.0.0", "matches every version"),
        (">=0.0.0-0 || || 1.0.0", "matches every version"),
    ],
)
def test_meaning(text: str, meaning: str) -> None:
    assert explain_range(Range.parse(text)).meaning == (meaning,)


def test_crash_is_part_of_the_meaning() -> None:
    assert explain_range(Range.parse("<1.0.0 || || >2.0.0")).meaning == (
        "matches every version below 1.0.0",
        "crashes OLM's resolver on every other version",
    )


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (
            ">=1.0.0 <2.0.0",
            [
                "pre-releases of 1.0.0, such as 1.0.0-rc.1, are not matched; >=1.0.0-0 would include them",
                "pre-releases of 2.0.0, such as 2.0.0-rc.1, are matched; <2.0.0-0 would exclude them",
                OTHERS,
            ],
        ),
        (
            ">=1.0.0-0 <2.0.0-0",
            [
                "pre-releases of 1.0.0, such as 1.0.0-rc.1, are matched",
                "pre-releases of 2.0.0, such as 2.0.0-rc.1, are not matched",
                OTHERS,
            ],
        ),
        (">1.0.0", ["pre-releases of 1.0.0, such as 1.0.0-rc.1, are not matched", OTHERS]),
        ("<=1.0.0", ["pre-releases of 1.0.0, such as 1.0.0-rc.1, are matched", OTHERS]),
        ("1.0.0", ["pre-releases of 1.0.0, such as 1.0.0-rc.1, are not matched"]),
        ("!=1.0.0", ["pre-releases of 1.0.0, such as 1.0.0-rc.1, are matched", OTHERS]),
        (
            ">=1.0.0-rc.1",
            [
                f"of the pre-releases of 1.0.0, it matches {FROM_RC}",
                OTHERS,
            ],
        ),
        ("1.0.0 2.0.0", []),
    ],
)
def test_prereleases(text: str, sentences: list[str]) -> None:
    assert list(explain_range(Range.parse(text)).prereleases) == sentences


def test_sentences_about_prereleases_agree_with_evaluation() -> None:
    version_range = Range.parse(">=1.0.0 <2.0.0")
    assert not version_range.contains(parse("1.0.0-rc.1"))
    assert Range.parse(">=1.0.0-0 <2.0.0").contains(parse("1.0.0-rc.1"))
    assert version_range.contains(parse("2.0.0-rc.1"))
    assert not Range.parse(">=1.0.0 <2.0.0-0").contains(parse("2.0.0-rc.1"))


def test_only_the_first_twenty_bounds_are_described() -> None:
    text = " || ".join(f"{n}.0.0" for n in range(100))
    assert explain_range(Range.parse(text)).prereleases[-1] == "and 80 more bounds"


def test_published_versions_are_grouped_by_match() -> None:
    published = [parse(v) for v in ["2.0.0", "1.5.0", "1.0.0-rc.1", "2.0.0-rc.1", "1.0.0"]]
    assert explain_range(Range.parse("1.x"), published).published == PublishedVersions(
        matched=(parse("1.0.0"), parse("1.5.0"), parse("2.0.0-rc.1")),
        unmatched=(parse("1.0.0-rc.1"), parse("2.0.0")),
        crashing=(),
    )


def test_published_versions_that_crash_have_their_own_line() -> None:
    published = [parse("0.5.0"), parse("1.5.0"), parse("3.0.0")]
    assert explain_range(Range.parse("<1.0.0 || || >2.0.0"), published).lines[-6:-4] == (
        "matches 1 of 3 published versions: 0.5.0",
        "crashes OLM's resolver on 2: 1.5.0, 3.0.0",
    )


def test_lines_of_an_explanation() -> None:
    published = [parse("1.0.0"), parse("2.0.0")]
    assert explain_range(Range.parse("! 1.0.0"), published).lines == (
        "matches exactly 1.0.0",
        "pre-releases of 1.0.0, such as 1.0.0-rc.1, are not matched",
        "matches 1 of 2 published versions: 1.0.0",
        "does not match 1: 2.0.0",
        "",
        "! 1.0.0",
        "^^^^^^^ the ! is separated from the version and ignored: this is read as =1.0.0",
        "write '!=1.0.0'",
    )


def test_lines_without_published_versions() -> None:
    assert explain_range(Range.parse("1.0.0")).published is None
    assert explain_range(Range.parse("1.0.0")).lines == (
        "matches exactly 1.0.0",
        "pre-releases of 1.0.0, such as 1.0.0-rc.1, are not matched",
    )


def test_line_for_no_matching_published_version() -> None:
    assert explain_range(Range.parse("1.0.0"), [parse("2.0.0")]).lines[-2:] == (
        "matches 0 of 1 published versions",
        "does not match 1: 2.0.0",
    )


def test_long_list_of_published_versions_is_shortened() -> None:
    versions = tuple(parse(f"1.0.{patch}") for patch in range(1021))
    (line,) = PublishedVersions(versions, (), ()).lines
    assert line.startswith("matches 1021 of 1021 published versions: 1.0.0, 1.0.1, ")
    assert line.endswith(", 1.0.19 and 1,001 more (-o json lists them)")
    (line,) = PublishedVersions(versions[:20], (), ()).lines
    assert line.endswith(", 1.0.18, 1.0.19")
