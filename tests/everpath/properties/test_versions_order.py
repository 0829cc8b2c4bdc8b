"""Versions are ordered as in SemVer 2, and `str` is the inverse of `parse`."""

from __future__ import annotations

from collections.abc import Callable

import semver
from hypothesis import given
from hypothesis import strategies as st

from everpath.versions import Version, VersionError, parse, parse_or_none, parse_tolerant
from tests.support.everpath.version_strategies import any_text, version_texts, versions


def _sign(a: Version, b: Version) -> int:
    return (a > b) - (a < b)


def _error(parser: Callable[[str], Version], text: str) -> VersionError | None:
    try:
        parser(text)
    except VersionError as error:
        return error
    return None


@given(version_texts(), version_texts())
def test_order_agrees_with_the_semver_package(a: str, b: str) -> None:
    assert _sign(parse(a), parse(b)) == semver.Version.parse(a).compare(b)


@given(versions(), versions())
def test_exactly_one_of_less_equal_greater_holds(a: Version, b: Version) -> None:
    assert [a < b, a == b, a > b].count(True) == 1
    assert (a <= b) == (a < b or a == b)
    assert (a >= b) == (a > b or a == b)


@given(versions(), versions(), versions())
def test_order_is_transitive(a: Version, b: Version, c: Version) -> None:
    low, middle, high = sorted([a, b, c])
    assert low <= middle <= high
    assert low <= high


@given(versions(), versions())
def test_equal_versions_have_equal_hashes(a: Version, b: Version) -> None:
    assert a != b or hash(a) == hash(b)


@given(versions())
def test_build_metadata_is_ignored_in_comparison(version: Version) -> None:
    other = parse(f"{version.text.partition('+')[0]}+other")
    assert other == version
    assert hash(other) == hash(version)
    assert other.key == version.key


@given(version_texts())
def test_str_of_a_parsed_version_is_the_text(text: str) -> None:
    assert str(parse(text)) == text


@given(any_text())
def test_parse_accepts_what_the_semver_package_accepts_within_64_bits(text: str) -> None:
    try:
        expected = semver.Version.parse(text)
    except ValueError:
        assert parse_or_none(text) is None
        return
    numbers = [expected.major, expected.minor, expected.patch]
    numbers += [int(i) for i in (expected.prerelease or "").split(".") if i.isdigit()]
    assert (parse_or_none(text) is not None) == (max(numbers) < 2**64)


@given(any_text())
def test_error_position_is_in_the_text(text: str) -> None:
    for error in filter(None, (_error(parse, text), _error(parse_tolerant, text))):
        assert error.text == text
        assert 0 <= error.position <= len(text)
        assert error.reason in error.pretty()


@given(version_texts(), st.sampled_from(["", " ", "\t"]), st.sampled_from(["", "v"]))
def test_tolerant_parse_accepts_strict_versions_with_space_and_v(text: str, space: str, prefix: str) -> None:
    assert parse_tolerant(f"{space}{prefix}{text}{space}").text == text


@given(any_text())
def test_result_of_tolerant_parse_is_a_strict_version(text: str) -> None:
    try:
        version = parse_tolerant(text)
    except VersionError:
        assert parse_or_none(text) is None
    else:
        assert parse(str(version)).text == version.text
