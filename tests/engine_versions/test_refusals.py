"""Which engine version may follow which."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from searchkeeper.releases import UnknownRelease, newest, release, releases, releases_with
from searchkeeper.versions import Release, parse, version_refusal

OPERATOR = Release("0.4.0", (3, 4), "2.17.0", "3.4.0")


def reason(running: str | None, target: str) -> str | None:
    found = version_refusal(running, target, OPERATOR)
    return None if found is None else found.reason


@pytest.mark.parametrize(
    ("running", "target"),
    [(None, "2.19.4"), ("2.17.0", "2.19.4"), ("2.19.0", "3.4.0"), ("3.0.0", "3.0.1")],
)
def test_a_way_the_engine_allows_is_open(running: str | None, target: str) -> None:
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
def test_any_other_way_is_refused_with_its_reason(running: str | None, target: str, expected: str) -> None:
    assert reason(running, target) == expected


def test_a_major_version_is_never_left_out() -> None:
    ambitious = Release("9.0.0", (4,), "1.0.0", "9.0.0")
    found = version_refusal("1.3.0", "3.0.0", ambitious)
    assert found is not None
    assert (found.reason, "go to 2.x first" in found.message) == ("SkipsMajor", True)


def test_nobody_is_sent_to_a_version_that_this_operator_refuses_without_a_word() -> None:
    near, far = version_refusal("2.19.4", "9.9.9", OPERATOR), version_refusal("3.4.0", "9.9.9", OPERATOR)
    assert near is not None
    assert far is not None
    assert near.message.endswith(": go to 3.x first")
    assert far.message.endswith(": go to 4.x first, which operator 0.4.0 does not know yet")


def test_what_runs_may_stay_whatever_this_release_would_start() -> None:
    assert version_refusal("2.17.0", "2.17.0", Release("0.4.0", (4,), "2.19.0", "3.4.0")) is None


def test_a_refusal_says_what_to_do() -> None:
    found = version_refusal("2.17.0", "3.0.0", OPERATOR)
    assert found is not None
    assert found.message == "3.0.0 can join no cluster older than 2.19.0: go from 2.17.0 there first"


NUMBERS = st.builds("{}.{}.{}".format, st.integers(1, 4), st.integers(0, 20), st.integers(0, 3))


@given(NUMBERS, NUMBERS)
def test_no_open_way_leads_down_or_over_a_major(running: str, target: str) -> None:
    if reason(running, target) is None:
        before, after = parse(running), parse(target)
        assert before is not None
        assert after is not None
        assert before <= after
        assert after.major - before.major <= 1


def test_the_table_has_every_release_of_the_catalog_oldest_first() -> None:
    assert releases()[0].version == "0.1.0"
    assert newest() == releases()[-1]
    assert release("0.2.2").configurations == (1, 2)


def test_a_release_that_is_none_is_named_with_those_that_are() -> None:
    with pytest.raises(UnknownRelease, match=r"there is no release 9\.9\.9; there are 0\.1\.0"):
        release("9.9.9")


def test_whoever_ships_a_procedure_can_be_asked_for() -> None:
    assert {each.version for each in releases_with(frozenset({1}))} == {
        "0.1.0",
        "0.1.1",
        "0.2.0",
        "0.2.1",
        "0.2.2",
    }
