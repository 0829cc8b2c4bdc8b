"""Heads and cycles."""

from __future__ import annotations

from everpath.model import Bundle, Catalog, Channel, Entry, Package, Place
from tests.support.everpath.graphs import findings, parse_report


def test_entries_that_all_replace_each_other_leave_no_head() -> None:
    assert findings("b2: b1\nb1: b2", "EP201") == [
        "EP201 b2: the channel has no head: every entry is replaced or skipped, even b2"
    ]


def test_an_empty_channel_is_not_a_channel_without_head() -> None:
    assert findings("[stable]", "EP201") == []


def test_two_unconnected_chains_have_two_heads() -> None:
    assert findings("b3: b2\nb2\nb1", "EP202") == [
        "EP202 b1: the channel has 2 heads; only b3 should be one: nothing replaces or skips b1"
    ]


def test_a_second_head_is_joined_at_the_tail_of_the_first() -> None:
    [finding] = parse_report("b3: b2\nb2\nb1", "EP202")
    assert finding.fix == "set replaces: b1 on b2"
    assert finding.because == ("b2 replaces nothing",)


def test_a_second_head_newer_than_the_tail_is_skipped_instead() -> None:
    [finding] = parse_report("b4: b1\nb2\nb1", "EP202")
    assert finding.fix == "add b2 to the skips of b4"


def test_reason_for_a_second_head_is_the_edge_that_omits_it() -> None:
    [finding] = parse_report("b5: b4\nb4: b2\nb3: b1\nb2: b1\nb1", "EP202")
    assert finding.because == ("b4 replaces b2 and not b3",)
    [finding] = parse_report("b5: b4\nb4: b2\nb2: b1\nb1\nb0: gone", "EP202")
    assert finding.because == ("b1 replaces nothing",)


def test_reason_for_a_chain_with_increasing_versions_is_its_end() -> None:
    [finding] = parse_report("b5: b6\nb6: b1\nb3\nb1", "EP202")
    assert finding.because == ("b1 replaces nothing",)


def test_head_without_a_bundle_is_ranked_by_its_name() -> None:
    [finding] = parse_report("op.v1.2.0?: op.v1.1.1\nop.v1.1.0: op.v1.0.0\nop.v1.0.0", "EP202")
    assert finding.entry == "op.v1.1.0"
    assert finding.fix == "set replaces: op.v1.1.0 on op.v1.2.0"


def test_heads_without_bundle_and_version_have_no_order() -> None:
    for drawing, missing in (("b\na?", "a"), ("b?\na", "b"), ("b?\na?", "a and b")):
        [finding] = parse_report(drawing, "EP202")
        assert finding.fix == f"add the olm.bundle document of {missing}, then validate again"


def test_head_without_a_bundle_is_suggested_for_a_misspelled_name() -> None:
    """Also where it is not older: what is spelt so nearly alike says more than a version."""
    for version in ("3.0.0", "1.1.0"):
        [finding] = parse_report(f"z@{version}: op.v1.1.O\nop.v1.1.0?", "EP202")
        assert finding.fix == "set replaces: op.v1.1.0 on z"


def test_fix_adds_the_connecting_entry_of_another_channel() -> None:
    [finding] = parse_report("[stable]\nb3: b2\nb1\n[fast]\nb2: b1\nb1", "EP202")
    assert finding.fix == "add b2 to this channel, with replaces: b1, or add b1 to the skips of b3"
    assert finding.because == ("b3 replaces b2", "b2 is in the package but not in this channel")


def test_reason_mentions_that_ranges_do_not_count_for_heads() -> None:
    [finding] = parse_report("b3: - / - / >=1.0.0 <3.0.0\nb1", "EP202")
    assert (
        finding.because[-1]
        == "a skipRange covers b1, but only replaces and skips decide which entries are heads"
    )


def test_every_further_head_has_its_own_finding() -> None:
    assert [f.entry for f in parse_report("b3\nb2\nb1", "EP202")] == ["b1", "b2"]


def test_several_heads_are_joined_one_below_the_other() -> None:
    fixes = {f.entry: f.fix for f in parse_report("b3\nb2\nb1", "EP202")}
    assert fixes == {"b2": "set replaces: b2 on b3", "b1": "set replaces: b1 on b2"}


def test_newest_head_is_kept() -> None:
    assert "only b3 should be one" in findings("b1\nb3", "EP202")[0]


def test_cycle_below_the_head_is_reported() -> None:
    [finding] = parse_report("b4: b3\nb3: b2\nb2: b1\nb1: b3", "EP204")
    assert finding.message == "entries replace each other in a cycle: b3 → b2 → b1 → b3"
    assert finding.because == ("b3 replaces b2", "b2 replaces b1", "b1 replaces b3")
    assert finding.fix == "remove replaces: b3 from b1"


def test_cycle_that_opm_detects_is_not_hidden() -> None:
    assert findings("b4: b3\nb3: b2\nb2: b1\nb1: b3", "EP205") == []


def test_fix_for_a_hidden_cycle_removes_the_edge_to_a_higher_version() -> None:
    [finding] = parse_report("b3: b1 / b2\nb2: b1\nb1: b2", "EP205")
    assert finding.fix == "remove replaces: b2 from b1"


def test_fix_for_a_channel_without_head_is_at_the_newest_entry() -> None:
    [finding] = parse_report("b1: b2\nb2: b1\nb0: - / b2, b0", "EP201")
    assert (finding.entry, finding.place.pointer) == ("b2", (1, "name"))
    assert finding.because == ("b1 replaces b2", "b0 skips b2")
    assert finding.fix == "remove b2 from replaces of b1 and skips of b0"


def test_fix_without_versions_is_at_the_first_entry() -> None:
    [finding] = parse_report("y?: x\nx?: y", "EP201")
    assert (finding.entry, finding.fix) == ("y", "remove y from replaces of x")


def test_second_head_is_reported_at_its_name() -> None:
    [finding] = parse_report("b3: b2\nb2\nb1", "EP202")
    assert finding.place.pointer == (2, "name")


def test_a_chain_that_ends_at_a_name_that_exists_nowhere_is_joined_there() -> None:
    [finding] = parse_report("b3: gone\nb1", "EP202")
    assert finding.because == ("b3 replaces gone", "gone does not exist")
    assert finding.fix == "set replaces: b1 on b3"


def test_misspelled_name_of_the_second_head_is_corrected() -> None:
    drawing = "[stable]\nop.v1.1.0: op-v1.0.0\nop.v1.0.0\n[fast]\nop-v1.0.0"
    [finding] = parse_report(drawing, "EP202")
    assert finding.fix == "set replaces: op.v1.0.0 on op.v1.1.0"


def test_second_head_that_may_be_newer_is_skipped() -> None:
    for drawing in ("b@1.0.0\na@1.0.0", "b\na@-", "b: y\ny?\na"):
        [finding] = parse_report(drawing, "EP202")
        assert finding.fix == "add a to the skips of b"


def test_fix_for_a_cycle_without_versions_is_where_it_closes() -> None:
    [finding] = parse_report("d?: c\nc?: b\nb?: a\na?: c", "EP204")
    assert (finding.entry, finding.place.pointer) == ("a", (3, "replaces"))
    assert finding.fix == "remove replaces: c from a"


def test_chains_into_one_cycle_have_different_tails() -> None:
    drawing = "h9: a\nh8: b\nh7: x\nx: b\nh6: a\nh5\na@21.0.0: b\nb@21.1.0: c\nc@21.2.0: a"
    tails = {f.entry: f.because[0] for f in parse_report(drawing, "EP202")}
    assert tails == {
        "h8": "c replaces a",
        "h7": "a replaces b",
        "h6": "a replaces b",
        "h5": "c replaces a",
    }


def test_chains_that_join_have_one_tail() -> None:
    drawing = "h9: c\nh8: c\nh7: b\nh6\nc@21.2.0: b\nb@21.1.0: a\na@21.0.0"
    assert {f.because for f in parse_report(drawing, "EP202")} == {("a replaces nothing",)}


def test_misspelled_name_of_a_newer_second_head_is_corrected() -> None:
    [finding] = parse_report("op.v1.2.0@1.0.0: op.1.1.0\nop.v1.1.0@1.0.0", "EP202")
    assert finding.fix == "set replaces: op.v1.1.0 on op.v1.2.0"


def test_tail_is_not_suggested_for_its_own_replaces() -> None:
    [finding] = parse_report("op.v1.1.0: op-v1.1.0\nop.v1.0.0", "EP202")
    assert finding.fix == "set replaces: op.v1.0.0 on op.v1.1.0"


def test_misspelled_name_of_another_entry_is_not_set_to_the_second_head() -> None:
    drawing = "op.v1.2.0: op.v1.1.0\nop.v1.1.0: op.1.2.0\nop.v1.0.0"
    [finding] = parse_report(drawing, "EP202")
    assert finding.fix == "add op.v1.0.0 to the skips of op.v1.2.0"


def test_tail_without_replaces_is_not_joined_to_an_entry_without_a_name() -> None:
    place = Place("")
    entries = (Entry("c", place, replaces=""), Entry("b", place), Entry("", place))
    bundles = tuple(
        Bundle(e.name, "p", v, place) for e, v in zip(entries, ("3.0.0", "2.0.0", "1.0.0"), strict=True)
    )
    package = Package("p", channels=(Channel("stable", "p", place, entries),), bundles=bundles)
    _, found = parse_report(Catalog("", (package,)), "EP202")
    assert (found.entry, found.because) == ("b", ("c replaces nothing",))
