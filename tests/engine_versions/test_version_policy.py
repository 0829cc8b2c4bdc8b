"""Which OpenSearch version may follow which, and the table of releases."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkeeper.releases import UnknownRelease, newest, release, releases, releases_with
from searchkeeper.upgrade.version_policy import version_refusal
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


def test_skipped_major_version_is_refused() -> None:
    ambitious = Release("9.0.0", (4,), "1.0.0", "9.0.0")
    refusal = version_refusal("1.3.0", "3.0.0", ambitious)
    assert refusal is not None
    assert (refusal.reason, "upgrade to 2.x first" in refusal.message) == ("SkipsMajor", True)


def test_refusal_says_when_the_operator_does_not_support_the_next_major_version() -> None:
    near, far = version_refusal("2.19.4", "9.9.9", OPERATOR), version_refusal("3.4.0", "9.9.9", OPERATOR)
    assert near is not None
    assert far is not None
    assert near.message.endswith(": upgrade to 3.x first")
    assert far.message.endswith(": upgrade to 4.x first, which operator 0.4.0 does not support yet")


def test_running_version_is_accepted_by_a_release_that_would_not_start_it() -> None:
    assert version_refusal("2.17.0", "2.17.0", Release("0.4.0", (4,), "2.19.0", "3.4.0")) is None


def test_refusal_says_which_version_to_upgrade_to_first() -> None:
    refusal = version_refusal("2.17.0", "3.0.0", OPERATOR)
    assert refusal is not None
    assert refusal.message == "3.0.0 cannot join a cluster older than 2.19.0: upgrade 2.17.0 to that first"


NUMBERS = st.builds("{}.{}.{}".format, st.integers(1, 4), st.integers(0, 20), st.integers(0, 3))


@given(NUMBERS, NUMBERS)
def test_accepted_upgrade_never_downgrades_or_skips_a_major_version(running: str, target: str) -> None:
    if reason(running, target) is None:
        before, after = parse(running), parse(target)
        assert before is not None
        assert after is not None
        assert before <= after
        assert after.major - before.major <= 1


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
