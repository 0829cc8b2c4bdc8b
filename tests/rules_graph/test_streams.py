"""Patches of a minor, withdrawn releases, channels."""

from __future__ import annotations

from everpath.rules.findings import Severity
from graphs import findings, parse_report


def test_a_patch_that_cannot_reach_the_latest_patch_is_reported() -> None:
    drawing = """
        1.5.0: 1.4.0 / 1.4.1
        1.4.1: - / 1.4.0
        1.4.0
        1.4.2
    """
    assert findings(drawing, "EP231") == [
        "EP231 1.4.2: 1.4.2 is the latest patch of its minor, but 1.4.0 and 1.4.1 cannot reach it"
    ]


def test_a_patch_overtaken_by_the_next_minor_is_only_noted() -> None:
    drawing = "1.5.0: 1.4.1 / 1.4.0\n1.4.1"
    assert findings(drawing + "\n1.4.0", "EP231") == [
        "EP231 1.4.1: 1.4.1 is the latest patch of its minor, but 1.4.0 cannot reach it"
    ]
    assert parse_report(drawing + "\n1.4.0", "EP231")[0].severity is Severity.NOTE


def test_patches_that_step_up_one_by_one_reach_the_latest() -> None:
    assert findings("1.4.2: 1.4.1\n1.4.1: 1.4.0\n1.4.0", "EP231") == []


def test_a_range_over_the_minor_reaches_the_latest() -> None:
    assert findings("1.4.2: 1.3.0 / - / >=1.4.0 <1.4.2\n1.4.1: 1.4.0\n1.4.0: 1.3.0\n1.3.0", "EP231") == []


def test_a_withdrawn_latest_patch_is_not_waited_for() -> None:
    assert findings("1.5.0: 1.4.1 / 1.4.2\n1.4.2: 1.4.1\n1.4.1: 1.4.0\n1.4.0", "EP231") == []


def test_prereleases_of_a_minor_reach_its_latest_patch() -> None:
    assert findings("1.4.1: 1.4.0\n1.4.0\n1.4.0-rc.1", "EP231") != []
    assert findings("1.4.1: 1.4.0\n1.4.0: 1.4.0-rc.1\n1.4.0-rc.1", "EP231") == []


def test_a_patch_that_accepts_the_latest_one_comes_after_it() -> None:
    assert findings("s@1.0.1-1: r\nr@1.0.1", "EP231") == []


def test_an_entry_that_only_skips_itself_is_not_withdrawn() -> None:
    assert findings("b2: b1 / b2\nb1", "EP232") == []


def test_a_withdrawn_release_that_v1_still_offers_is_reported() -> None:
    assert findings("b3: - / b2\nb2: - / b1\nb1", "EP232") == [
        "EP232 b2: b3 skips b2, yet OLM v1 sends whoever runs b1 to it"
    ]


def test_a_withdrawn_release_that_nobody_is_sent_to_is_fine() -> None:
    assert findings("b3: b1 / b2\nb2: b1\nb1", "EP232") == []


def test_a_channel_reached_by_a_range_can_be_switched_to() -> None:
    assert findings("[stable]\nb3: b2 / - / <3.0.0\nb2\n[old]\nb1", "EP233") == []


def test_a_channel_reached_by_name_can_be_switched_to() -> None:
    assert findings("[stable]\nb3: b2\nb2: b1\n[old]\nb1", "EP233") == []


def test_a_channel_with_older_versions_only_is_not_switched_to() -> None:
    assert findings("[old]\nb1\n[stable]\nb3: b1\nb2\n", "EP233") == []


def test_edges_that_differ_because_a_channel_lacks_an_entry_are_no_drift() -> None:
    assert findings("[stable]\nb3: b2\nb2: b1\nb1\n[fast]\nb3: b1\nb1", "EP234") == []
