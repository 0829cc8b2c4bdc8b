"""`parse`: strict versions, as opm accepts them."""

from __future__ import annotations

import pickle
from string import ascii_letters

import pytest

from everpath.versions import Version, VersionError, parse, parse_or_none

LARGEST = str(2**64 - 1)
TOO_LARGE = str(2**64)


def test_version_has_numbers_prerelease_and_build() -> None:
    version = parse("1.2.3-rc.1+build.007")
    assert (version.major, version.minor, version.patch) == (1, 2, 3)
    assert version.prerelease == ("rc", 1)
    assert version.build == ("build", "007")
    assert version.text == str(version) == "1.2.3-rc.1+build.007"
    assert version.is_prerelease
    assert version.minor_stream == (1, 2)


def test_release_is_not_a_prerelease() -> None:
    assert not parse("1.2.3").is_prerelease
    assert parse("1.2.3").build == ()


@pytest.mark.parametrize(
    "text",
    [
        "0.0.0",
        "1.2.3--",
        "1.2.3---a.-",
        "1.2.3-0a",
        "1.2.3-00a",
        "1.2.3+00",
        "1.2.3+-",
        "1.2.3-a+b-c.d",
        f"{LARGEST}.{LARGEST}.{LARGEST}-{LARGEST}",
    ],
)
def test_valid_semver_is_accepted(text: str) -> None:
    assert str(parse(text)) == text


@pytest.mark.parametrize(
    ("text", "position", "reason"),
    [
        ("", 0, "a version starts with a digit"),
        ("v1.2.3", 0, "not with a v"),
        ("V1.2.3", 0, "not with a v"),
        (" 1.2.3", 0, "a version starts with a digit"),
        ("latest", 0, "a version starts with a digit"),
        ("1", 1, "three numbers"),
        ("1.2", 3, "three numbers"),
        ("1.2-rc.1", 3, "after all three numbers"),
        ("1+b", 1, "after all three numbers"),
        ("1..3", 2, "the minor number is missing"),
        ("1.2.", 4, "the patch number is missing"),
        ("1.2.-rc", 4, "the patch number is missing"),
        (".2.3", 0, "a version starts with a digit"),
        ("01.2.3", 0, "the major number has a leading zero"),
        ("1.02.3", 2, "the minor number has a leading zero"),
        ("1.2.03", 4, "the patch number has a leading zero"),
        (f"{TOO_LARGE}.0.0", 0, "the major number does not fit into 64 bits"),
        (f"0.0.{TOO_LARGE}", 4, "the patch number does not fit into 64 bits"),
        (f"1.2.3-a.{TOO_LARGE}", 8, "does not fit into 64 bits"),
        (f"{10**20}.0.0", 0, "does not fit into 64 bits"),
        (f"1.2.3-{10**20}", 6, "does not fit into 64 bits"),
        (f"{'9' * 5000}.0.0", 0, "does not fit into 64 bits"),
        (f"1.2.3-{'9' * 5000}", 6, "does not fit into 64 bits"),
        ("1.2.3.4", 5, "'.' is not allowed in a number"),
        (f"{LARGEST}.2.x", 23, "'x' is not allowed in a number"),
        ("1.2.x", 4, "'x' is not allowed in a number"),
        ("1.22x.3", 4, "'x' is not allowed in a number"),
        ("1.2.3\n", 5, "is not allowed in a number"),
        ("1٣.2.3", 1, "is not allowed in a number"),
        ("1.2.٣", 4, "is not allowed in a number"),
        ("1.2.3-", 6, "the pre-release has an empty identifier"),
        ("1.2.3-a..b", 8, "the pre-release has an empty identifier"),
        ("1.2.3-a.01", 8, "a number in the pre-release has a leading zero"),
        ("1.2.3-a_b", 7, "'_' is not allowed in a pre-release"),
        ("1.2.3-a-b_c", 9, "'_' is not allowed in a pre-release"),
        ("1.2.3-٣", 6, "is not allowed in a pre-release"),
        ("1.2.3+", 6, "the build has an empty identifier"),
        ("1.2.3-a+b.", 10, "the build has an empty identifier"),
        ("1.2.3+a+b", 7, "'+' is not allowed in a build"),
        ("1.2.3+01._", 9, "'_' is not allowed in a build"),
    ],
)
def test_invalid_version_is_refused_with_position_and_reason(text: str, position: int, reason: str) -> None:
    with pytest.raises(VersionError) as caught:
        parse(text)
    assert caught.value.position == position
    assert reason in caught.value.reason


@pytest.mark.parametrize("letter", ascii_letters)
def test_letter_in_a_number_is_refused(letter: str) -> None:
    with pytest.raises(VersionError) as inside:
        parse(f"1.2.{letter}")
    assert (inside.value.position, inside.value.reason) == (4, f"{letter!r} is not allowed in a number")
    with pytest.raises(VersionError) as first:
        parse(f"{letter}1.2.3")
    hint = ", not with a v" if letter in "vV" else ""
    assert (first.value.position, first.value.reason) == (0, f"a version starts with a digit{hint}")


def test_error_is_shown_with_a_caret() -> None:
    with pytest.raises(VersionError) as caught:
        parse("1.2.x-rc")
    assert caught.value.pretty() == "1.2.x-rc\n    ^ 'x' is not allowed in a number"
    assert str(caught.value) == "'1.2.x-rc' is not a version: 'x' is not allowed in a number"


def test_unprintable_character_does_not_move_the_caret() -> None:
    with pytest.raises(VersionError) as caught:
        parse("1\t.2.3")
    assert caught.value.pretty().split("\n")[:1] == ["1·.2.3"]


def test_error_can_be_pickled() -> None:
    with pytest.raises(VersionError) as caught:
        parse("1.2")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (copy.text, copy.position, copy.reason) == ("1.2", 3, caught.value.reason)
    assert caught.value.args == ("1.2", 3, caught.value.reason)


def test_parsed_version_is_cached() -> None:
    assert parse("4.5.6-once") is parse("4.5.6-once")


def test_parse_or_none_returns_none_for_none_and_invalid_text() -> None:
    assert parse_or_none(None) is None
    assert parse_or_none("v1.2.3") is None
    assert parse_or_none("1.2.3") == parse("1.2.3")


def test_version_is_immutable() -> None:
    with pytest.raises(AttributeError):
        parse("1.2.3").major = 2


def test_version_is_not_equal_to_other_types() -> None:
    assert parse("1.2.3") != "1.2.3"
    assert parse("1.2.3") != None  # noqa: E711


def test_order_is_that_of_the_semver_specification() -> None:
    texts = [
        "0.0.0-0",
        "1.0.0-0",
        "1.0.0-2",
        "1.0.0-10",
        "1.0.0--",
        "1.0.0-A",
        "1.0.0-alpha",
        "1.0.0-alpha.1",
        "1.0.0-alpha.beta",
        "1.0.0-beta",
        "1.0.0-beta.2",
        "1.0.0-beta.11",
        "1.0.0-rc.1",
        "1.0.0",
        "1.0.1-0",
        "2.0.0",
        "10.0.0",
    ]
    assert [str(v) for v in sorted(map(parse, reversed(texts)))] == texts


def test_versions_that_differ_in_build_metadata_are_equal() -> None:
    twins: set[Version] = {parse("1.0.0+1"), parse("1.0.0+2"), parse("1.0.0")}
    assert len(twins) == 1


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("9" * 120, "9" * 120),
        ("9" * 121, "9" * 120 + "…"),
        ("1.0.0-" + "a" * 200 + "_" + "b" * 200, "…" + "a" * 60 + "_" + "b" * 59 + "…"),
        ("1.0.0-" + "a" * 200 + "_", "…" + "a" * 60 + "_"),
    ],
)
def test_error_in_a_long_text_shows_the_part_around_it(text: str, shown: str) -> None:
    with pytest.raises(VersionError) as raised:
        parse(text)
    line, caret = raised.value.pretty().splitlines()
    assert line == shown
    assert line[caret.index("^")] == text[raised.value.position]
