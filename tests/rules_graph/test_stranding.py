"""Users from whom nothing leads on."""

from __future__ import annotations

from graphs import findings, parse_report


def test_the_edge_that_does_not_count_is_told_with_its_reason() -> None:
    [finding] = parse_report("b3: - / b2\nb2: - / b1\nb1", "EP206")
    assert finding.because == ("b2 skips b1, but b3 skips b2, so it is never a target",)
    assert finding.fix == "add b1 to the skips of b3"


def test_what_nobody_skips_is_taken_in_by_a_range() -> None:
    [finding] = parse_report("b3\nb2: b1\nb1", "EP207")
    assert finding.fix == "give b3 the skipRange '>=2.0.0 <3.0.0'"


def test_a_range_that_is_there_is_extended() -> None:
    [finding] = parse_report("b3: - / - / <1.0.0\nb2: b1\nb1", "EP207")
    assert finding.fix == "give b3 the skipRange '<1.0.0 || =2.0.0'"


def test_the_fix_of_a_stranded_entry_mends_it() -> None:
    assert findings("b3: - / b2, b1\nb2: - / b1\nb1", "EP206") == []


def test_entries_that_end_at_a_stranded_one_are_told_with_it() -> None:
    drawing = "b4: b3 / b3\nb3: b2\nb2: b1\nb1"
    assert findings(drawing, "EP206") == ["EP206 b2: OLM v0 never moves b2 on; b1 ends there too"]


def test_an_entry_off_the_chain_accepts_nobody_under_v0() -> None:
    [finding] = [f for f in parse_report("b4\nb3: b1 / b3\nb1: - / b1", "EP206") if f.entry == "b1"]
    assert finding.because == ("b3 replaces b1, but b3 skips itself, so it is never a target",)


def test_a_prohibited_entry_is_no_way_on() -> None:
    [finding] = parse_report("b2: b1\nb1\n%prohibited b2", "EP206")
    assert finding.because == ("b2 replaces b1, but b2 carries olm.deprecated, so it is never a target",)


def test_a_channel_without_a_unique_head_is_left_to_that_rule_under_v0() -> None:
    assert findings("b2\nb1", "EP206") == []


def test_v1_strands_whoever_is_below_the_lower_of_two_heads() -> None:
    assert findings("b4: b3\nb3\nb2: b1\nb1", "EP207") == [
        "EP207 b2: OLM v1 never moves b2 on; b1 ends there too"
    ]


def test_v1_leaves_the_highest_version_in_peace() -> None:
    assert findings("1.0.1: 1.0.0 / 1.1.0\n1.1.0: 1.0.0\n1.0.0", "EP207") == []


def test_v1_tells_of_the_lower_version_it_does_not_go_to() -> None:
    [finding] = parse_report("b4\nb2: - / b3\nb3: - / b2", "EP207")
    assert finding.because == ("b2 skips b3, but v1 does not go to a lower version",)


def test_opm_calls_stranded_what_is_below_a_skipped_entry() -> None:
    [finding] = parse_report("b4: b3\nb3: b2 / b2\nb2: b1\nb1", "EP208")
    assert finding.message == (
        "opm refuses the channel: b1 is neither on the replaces chain of b4 nor skipped"
    )
    assert finding.because == ("the chain stops at b3, because b3 skips b2, which it replaces",)
    assert finding.fix == "remove b2 from the skips of b3, or add b1 to the skips of b4"


def test_opm_calls_stranded_what_is_below_the_end_of_the_chain() -> None:
    [finding] = parse_report("b4: - / b3\nb3: b2\nb2: b1\nb1: - / b2", "EP208")
    assert finding.because == ("the chain ends at b4, which replaces nothing",)


def test_opm_calls_stranded_what_is_below_a_missing_entry() -> None:
    [finding] = parse_report("b4: b9 / b3\nb3: b2\nb2: b1\nb1: - / b2", "EP208")
    assert finding.because == (
        "the chain ends at b4, which replaces b9, an entry this channel does not have",
    )


def test_a_range_over_newer_versions_makes_v0_go_in_circles() -> None:
    [finding] = parse_report("b3: b2\nb2: b1 / - / >=1.0.0 <2.0.0 || >2.0.0\nb1", "EP210")
    assert finding.message == "OLM v0 goes in a circle: b3 → b2 → b3"
    assert finding.entry == "b2"
    assert finding.fix == "let b2 accept only versions below its own, not b3"


def test_a_head_that_accepts_itself_is_up_to_date_and_no_loop() -> None:
    assert findings("b3: b2 / - / >=1.0.0\nb2: b1 / - / >=1.0.0\nb1", "EP210") == []
