"""Which OpenSearch version may follow which, and the table of releases."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkeeper.opensearch.view import Index
from searchkeeper.releases import UnknownRelease, newest, release, releases, releases_with
from searchkeeper.upgrade.version_policy import index_refusal, version_refusal
from searchkeeper.versions import Release, parse

OPERATOR = Release("0.4.0", (3, 4), "2.17.0", "3.4.0")


def reason(running: str | None, target: str) -> str | None:
    refusal = version_refusal(running, target, OPERATOR)
    return None if refusal is None else refusal.reason


@pytest.mark.parametrize(
    ("running", "target"),
    [(None, "2.19.4"), ("2.17.0", "2.19.4"), ("2.19.0", "3.4.0"), ("3.0.0", "3.0.1")],
)
def test_supported_upgrade_is_accepted(running: str | None, target: str) -> None:
    assert reason(running, target) is None


@pytest.mark.parametrize(
    ("running", "target", "expected"),
    [
        ("2.19.4", "2.19.3", "Downgrade"),
        ("3.0.0", "2.19.4", "Downgrade"),
        ("2.18.9", "3.0.0", "BelowFloor"),
        ("2.19.4", "3.4.1", "NewerThanOperator"),
        (None, "4.0.0", "NewerThanOperator"),
        (None, "2.16.9", "OlderThanOperator"),
        ("2.19.4", "latest", "UnparsableVersion"),
        ("2.19.4", "3.0", "UnparsableVersion"),
        ("2.19.4", "3.0.0-rc.1", "UnparsableVersion"),
        ("2.19.4", "3.0.0+build", "UnparsableVersion"),
        (None, "", "UnparsableVersion"),
    ],
)
def test_unsupported_upgrade_is_refused_with_its_reason(
    running: str | None, target: str, expected: str
) -> None:
    assert reason(running, target) == expected


def message(running: str, target: str, operator: Release = OPERATOR) -> str:
    refusal = version_refusal(running, target, operator)
    assert refusal is not None
    return f"{refusal.reason}: {refusal.message}"


def test_skipped_major_version_is_refused_with_the_version_to_set_first() -> None:
    ambitious = Release("9.0.0", (4,), "1.0.0", "9.0.0")
    assert message("1.3.0", "3.0.0", ambitious) == (
        "SkipsMajor: 1.3.0 to 3.0.0 skips a major version: set spec.version to 2.19.4 first"
    )
    assert message("2.19.4", "9.9.9").endswith(": set spec.version to 3.4.0 first")


def test_refusal_says_when_the_operator_does_not_support_the_next_major_version() -> None:
    assert message("3.4.0", "9.9.9").endswith(": 4.x comes first, which operator 0.4.0 does not support")


def test_version_below_the_floor_is_refused_with_the_version_to_set_first() -> None:
    assert message("2.17.0", "3.0.0") == (
        "BelowFloor: 3.0.0 cannot join a cluster older than 2.19.0, and 2.17.0 runs: "
        "set spec.version to 2.19.4 first"
    )


def test_skipped_major_version_below_the_floor_names_the_first_of_two_steps() -> None:
    """3.4.0 would be refused, too."""
    assert message("2.18.0", "4.0.0").endswith(": set spec.version to 2.19.4 first")


def test_refusal_says_when_the_operator_supports_no_version_that_helps() -> None:
    """2.18.0 would be accepted, but is below the floor as well."""
    old = Release("0.0.9", (1,), "2.17.0", "2.18.0")
    assert message("2.17.0", "3.0.0", old).endswith(
        ": 2.19.0 comes first, which operator 0.0.9 does not support"
    )


def test_running_version_is_accepted_by_a_release_that_would_not_start_it() -> None:
    assert version_refusal("2.17.0", "2.17.0", Release("0.4.0", (4,), "2.19.0", "3.4.0")) is None


NUMBERS = st.builds("{}.{}.{}".format, st.integers(1, 4), st.integers(0, 20), st.integers(0, 3))


@given(NUMBERS, NUMBERS)
def test_accepted_upgrade_never_downgrades_or_skips_a_major_version(running: str, target: str) -> None:
    if reason(running, target) is None:
        before, after = parse(running), parse(target)
        assert before is not None
        assert after is not None
        assert before <= after
        assert after.major - before.major <= 1


@given(NUMBERS, NUMBERS, st.sampled_from(releases()))
def test_version_to_set_first_is_never_refused_itself(running: str, target: str, operator: Release) -> None:
    refusal = version_refusal(running, target, operator)
    named = None if refusal is None else re.search(r"set spec.version to (\S+) first", refusal.message)
    if named is not None:
        assert version_refusal(running, named[1], operator) is None
        assert version_refusal(named[1], running, operator) is not None


def indices(*created_by: str) -> tuple[Index, ...]:
    return tuple(Index(f"i{number}", 1, version) for number, version in enumerate(created_by))


@pytest.mark.parametrize(
    ("created_by", "target", "is_refused"),
    [
        ("1.3.14", "3.4.0", True),
        ("0.7.10", "3.4.0", True),
        ("2.0.0", "3.4.0", False),
        ("0.6.8", "2.19.4", True),
        ("0.7.0", "2.19.4", False),
        ("1.0.0", "2.19.4", False),
        ("0.6.0", "1.3.0", False),
        ("0.5.6", "1.3.0", True),
        ("2.19.4", "4.0.0", True),
        ("1.3.14", "latest", False),
    ],
)
def test_version_refuses_indices_older_than_the_major_before(
    created_by: str, target: str, is_refused: bool
) -> None:
    assert (index_refusal(indices("3.0.0", created_by), target) is not None) is is_refused


def test_refusal_names_five_indices_and_counts_the_others() -> None:
    refusal = index_refusal(indices("1.3.14", "0.7.10", "2.19.4", *["1.0.0"] * 5), "3.4.0")
    assert refusal is not None
    assert (refusal.reason, refusal.message) == (
        "IncompatibleIndices",
        (
            "3.4.0 cannot open indices created by a version older than 2.0.0: i0 (1.3.14), "
            "i1 (Elasticsearch 7.10), i3 (1.0.0), i4 (1.0.0), i5 (1.0.0) and 2 more; reindex or delete them"
        ),
    )


def test_refusal_of_five_indices_names_all() -> None:
    refusal = index_refusal(indices(*["0.6.8"] * 5), "2.19.4")
    assert refusal is not None
    assert refusal.message.startswith(
        "2.19.4 cannot open indices created by a version older than Elasticsearch 7.0: i0 ("
    )
    assert refusal.message.endswith("i4 (Elasticsearch 6.8); reindex or delete them")


def test_releases_are_sorted_oldest_first() -> None:
    assert releases()[0].version == "0.1.0"
    assert newest() == releases()[-1]
    assert release("0.2.2").configurations == (1, 2)


def test_unknown_release_is_reported_with_the_known_ones() -> None:
    with pytest.raises(UnknownRelease, match=r"there is no release 9\.9\.9; there are 0\.1\.0"):
        release("9.9.9")


def test_releases_with_a_configuration_version() -> None:
    assert {each.version for each in releases_with(frozenset({1}))} == {
        "0.1.0",
        "0.1.1",
        "0.2.0",
        "0.2.1",
        "0.2.2",
    }
