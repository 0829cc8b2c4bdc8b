"""What skip ranges say and whom they cover."""

from __future__ import annotations

from graphs import findings, parse_report


def test_a_range_that_does_not_parse_shows_where_and_how_to_write_it() -> None:
    [finding] = parse_report("b2: b1 / - / >=1.0.0 <v2.0.0\nb1", "EP301")
    assert finding.message.startswith("the skipRange of b2 does not parse: ")
    assert finding.fix == "write '>=1.0.0 <2.0.0'"
    assert finding.place.pointer[-1] == "skipRange"


def test_an_empty_arm_is_mended_by_removing_it() -> None:
    [finding] = parse_report("b2: b1 / - / <1.0.0 || || >2.0.0\nb1", "EP302")
    assert finding.fix == "write '<1.0.0 || >2.0.0'"
    assert finding.because == ("asked about b2 and b1, the resolver dereferences nil",)


def test_a_plain_range_has_no_hazard() -> None:
    assert findings("b2: b1 / - / >=1.0.0 <2.0.0\nb1", "EP303") == []


def test_a_range_over_its_own_version_is_reported() -> None:
    assert findings("b2: b1 / - / >=1.0.0 <2.0.1\nb1", "EP304") == [
        "EP304 b2: the skipRange of b2 covers 2.0.0, its own version"
    ]


def test_a_prerelease_lies_inside_the_range_below_its_release() -> None:
    assert findings("a@0.0.5-rc.1: - / - / >=0.0.0 <0.0.5", "EP304") != []


def test_a_range_over_newer_versions_counts_them() -> None:
    assert findings("b4: b3\nb3: b2\nb2: b1 / - / >=1.0.0\nb1", "EP305") == [
        "EP305 b2: the skipRange of b2 covers 2 newer versions: b3 and b4"
    ]


def test_a_range_that_ends_where_it_begins_is_empty() -> None:
    assert findings("b2: b1 / - / >=1.7.0 <1.7.0\nb1", "EP306") == [
        "EP306 b2: the skipRange of b2 matches no version at all: '>=1.7.0 <1.7.0'"
    ]


def test_a_range_misread_as_empty_is_left_to_the_misreading() -> None:
    [finding] = parse_report("b2: b1 / - / 1.0.0 - 2.0.0\nb1", "EP303", "EP306")
    assert (finding.rule, finding.fix) == ("EP303", "write '>=1.0.0 <=2.0.0'")


def test_a_range_over_nobody_is_noted() -> None:
    assert findings("b3: b2 / - / <1.0.0\nb2", "EP307") == [
        "EP307 b3: the skipRange of b3 covers no other entry of the channel: '<1.0.0'"
    ]


def test_an_empty_range_is_not_reported_twice() -> None:
    assert findings("b2: b1 / - / >=1.7.0 <1.7.0\nb1", "EP307") == []


def test_a_range_over_itself_alone_covers_nobody() -> None:
    assert findings("b3: b2 / - / =3.0.0\nb2", "EP307") != []


def test_a_range_without_an_upper_end_is_reported() -> None:
    [finding] = parse_report("b2: b1 / - / >=1.0.0\nb1", "EP309")
    assert finding.fix == "end it with <2.0.0"
