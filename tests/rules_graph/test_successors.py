"""Forks, several successors, and where v0 and v1 part."""

from __future__ import annotations

import pytest

from graphs import findings, parse_report


def test_two_entries_replacing_one_are_a_fork() -> None:
    assert findings("c: a\nb: a\na", "EP203") == ["EP203 a: b and c both replace a"]


def test_three_entries_replacing_one_are_one_fork() -> None:
    assert findings("d: a\nc: a\nb: a\na", "EP203") == ["EP203 a: b, c and d all replace a"]


def test_a_fork_whose_loser_is_skipped_is_not_one() -> None:
    assert findings("c: a / b\nb: a\na", "EP203") == []


def test_a_fork_whose_loser_is_further_down_the_line_is_not_one() -> None:
    assert findings("d: a / c\nc: b\nb: a\na", "EP203") == []


def test_a_fork_whose_loser_stands_on_a_circle_in_the_line_is_not_one() -> None:
    assert findings("e: a / b\nb: e\nd: a / b\na", "EP203") == []


def test_a_fork_is_mended_by_skipping_the_older_rival() -> None:
    [finding] = parse_report("c: a\nb: a\na", "EP203")
    assert finding.fix == "add b to the skips of c"
    assert finding.because == ("c replaces a", "b replaces a")


def test_a_fork_beside_the_line_of_the_head_is_put_onto_it() -> None:
    [finding] = parse_report("1.2.0: 1.1.0 / 1.1.1\n1.1.1: 1.0.0\n1.1.0: 1.0.0\n1.0.0", "EP203")
    assert finding.fix == "set replaces: 1.1.0 on 1.1.1"


def test_a_name_replaced_twice_that_is_no_entry_is_a_fork_too() -> None:
    assert findings("c: x\nb: x", "EP203") == ["EP203 x: b and c both replace x"]


def test_several_successors_show_the_edges_by_name_and_those_that_are_taken() -> None:
    lines = [f"b{n}: b{n - 1} / - / <{n}.0.0" for n in range(9, 1, -1)]
    [finding] = [f for f in parse_report("\n".join([*lines, "b1"]), "EP209") if f.entry == "b1"]
    assert finding.message == "b1 has 8 successors: OLM v0 updates to b9; OLM v1 updates to b9"
    assert finding.because == ("b2 replaces b1", "the skipRange of b9 covers b1")


def test_one_entry_that_replaces_and_covers_is_one_successor() -> None:
    assert findings("b2: b1 / - / <2.0.0\nb1", "EP209") == []


def test_different_next_hops_are_a_divergence_with_both_edges() -> None:
    [finding] = parse_report("2.0.0: 1.0.0 / 3.0.0\n3.0.0: 1.0.0\n1.0.0", "EP218")[:1]
    assert (finding.entry, finding.message) == (
        "1.0.0",
        "from 1.0.0, OLM v0 updates to 2.0.0; OLM v1 updates to 3.0.0",
    )
    assert finding.because == ("2.0.0 replaces 1.0.0", "3.0.0 replaces 1.0.0")


def test_whoever_v0_strands_is_left_to_that_rule() -> None:
    assert findings("b3: - / b2\nb2: - / b1\nb1", "EP218") == []


def test_a_head_that_v1_moves_on_from_is_a_divergence() -> None:
    drawing = "1.0.0: 0.9.0 / 2.0.0\n2.0.0: 0.9.0 / - / >=1.0.0 <2.0.0\n0.9.0"
    assert "EP218 1.0.0: from 1.0.0, OLM v0 does not update; OLM v1 updates to 2.0.0" in findings(
        drawing, "EP218"
    )


def test_a_downgrade_only_v0_makes_is_a_divergence() -> None:
    [finding] = parse_report("x.v1.0.0: x.v2.0.0\nx.v2.0.0", "EP218")
    assert finding.fix == "republish x.v1.0.0 under a version above 2.0.0: semver ranks 1.0.0 below 2.0.0"


def test_a_downgrade_by_range_is_mended_at_the_range() -> None:
    [finding] = parse_report("b3: b2\nb2: b1 / - / >2.0.0\nb1", "EP218")
    assert (finding.entry, finding.fix) == ("b3", "remove the skipRange of b2")


def test_several_successors_of_a_channel_v0_cannot_order_say_so() -> None:
    [finding] = parse_report("b4\nb3: b1\nb2: b1\nb1", "EP209")
    assert finding.message == "b1 has 2 successors: OLM v0 fails; OLM v1 updates to b3"


def test_a_channel_v0_cannot_order_diverges_nowhere() -> None:
    assert findings("b2\nb1", "EP218") == []


def test_a_head_below_another_version_is_reported_with_both_installs() -> None:
    assert findings("b1: b2\nb2", "EP219") == [
        ("EP219 b1: b2 is a higher version than the head b1: OLM v0 installs b1, OLM v1 installs b2")
    ]


def test_a_head_equal_to_the_highest_version_is_fine() -> None:
    assert findings("b2@1.0.0+2: b1\nb1@1.0.0+1", "EP219") == []


def test_every_fork_is_reported() -> None:
    drawing = "f: e\ne: c\nd: c\nc: a\nb: a\na"
    assert findings(drawing, "EP203") == [
        "EP203 a: b and c both replace a",
        "EP203 c: d and e both replace c",
    ]


def test_an_entry_that_replaces_itself_is_no_rival() -> None:
    assert findings("b2: b2\nb1: b2", "EP203") == []


def test_a_fork_is_pointed_at_where_the_replaced_entry_is_written() -> None:
    assert parse_report("c: a\nb: a\na", "EP203")[0].place.pointer == (2,)
    assert parse_report("b: x\nc: x", "EP203")[0].place.pointer == (1,)


def test_a_fork_of_three_is_mended_by_skipping_the_two_older() -> None:
    [finding] = parse_report("d: a\nc: a\nb: a\na", "EP203")
    assert finding.fix == "add c and b to the skips of d"


def test_every_entry_with_several_successors_is_reported() -> None:
    found = parse_report("b5: b4 / b3, b2\nb4: b3\nb3: b2\nb2: b1\nb1", "EP209")
    assert [(f.entry, f.place.pointer) for f in found] == [("b2", (3, "name")), ("b3", (2, "name"))]


def test_an_entry_that_accepts_itself_is_not_among_its_successors() -> None:
    [finding] = parse_report("b3: b1 / b2\nb2: b1\nb1: - / - / <2.0.0", "EP209")
    assert finding.because == ("b3 replaces b1", "b2 replaces b1")


def test_several_successors_of_which_one_crashes_v0_say_so() -> None:
    [finding] = parse_report("b3: b2 / b1 / <0.1.0 || || =9.0.0\nb2: b1\nb1", "EP209")
    assert finding.message == "b1 has 2 successors: OLM v0 fails; OLM v1 updates to b3"


def test_a_channel_with_a_cycle_diverges_nowhere() -> None:
    assert findings("1.0.0: 2.0.0\n2.0.0: 3.0.0\n3.0.0: 2.0.0 / - / =1.0.0", "EP218") == []


def test_whoever_crashes_v0_is_left_to_that_rule() -> None:
    drawing = "2.0.0: 1.0.0 / 3.0.0{}\n3.0.0: 1.0.0\n1.0.0"
    assert findings(drawing.format(""), "EP218") != []
    assert findings(drawing.format(" / <0.1.0 || || =9.0.0"), "EP218") == []


def test_a_divergence_is_pointed_at_by_the_installed_name() -> None:
    [finding] = parse_report("x.v1.0.0: x.v2.0.0\nx.v2.0.0", "EP218")
    assert finding.place.pointer == (1, "name")


@pytest.mark.parametrize(
    ("drawing", "entry", "fix"),
    [
        # Two ways up.
        ("2.0.0: 1.0.0 / 3.0.0\n3.0.0: 1.0.0\n1.0.0", "1.0.0", "3.0.0 that replaces 2.0.0, {from} 1.0.0"),
        # v0 goes down, v1 up.
        ("1.0.0: 2.0.0 / 3.0.0\n3.0.0: 2.0.0\n2.0.0", "2.0.0", "3.0.0 that replaces 1.0.0, {from} 2.0.0"),
        # v0 has arrived, v1 has not.
        ("1.0.0: - / 2.0.0\n2.0.0: - / - / =1.0.0", "1.0.0", "2.0.0 that replaces 1.0.0, {from} 1.0.0"),
        # Equal to v0, a later release to v1.
        ("b@1.0.0+1: a\na@1.0.0+2", "a", "1.0.0+1 that replaces b, {from} 1.0.0+2"),
    ],
)
def test_where_no_one_edit_is_plain_a_release_joins_two_roads(drawing: str, entry: str, fix: str) -> None:
    [finding] = [f for f in parse_report(drawing, "EP218") if f.entry == entry]
    assert finding.fix == "publish a release above " + fix.replace("{from}", "with a skipRange from")


def test_a_road_to_an_entry_without_a_bundle_is_mended_with_that() -> None:
    found = parse_report("b3: b2\nb2?: b1\nb1", "EP218", "EP207")
    assert {f.fix for f in found} == {"fixed together with EP401 (b2)"}


def test_a_deprecation_that_parts_two_roads_may_go() -> None:
    [finding] = parse_report("b2: b1\nb1@one\n%deprecated b2: old", "EP218")
    assert finding.fix == (
        "remove the deprecation of b2, which OLM v1 avoids, "
        "or publish a release above 2.0.0 that replaces b2 and skips b1"
    )


@pytest.mark.parametrize(
    ("drawing", "fix"),
    [
        (
            "b3: b2 / b1\nb2: b1\nb1",
            "no action if the update to b3 is intended; else remove b1 from the skips of b3",
        ),
        (
            "b3: b2 / - / =1.0.0\nb2: b1\nb1",
            "no action if the update to b3 is intended; else remove the skipRange of b3",
        ),
        # No more of the range is taken away than is needed.
        (
            "b3: b2 / - / >=0.5.0 <2.0.0\nb2: b1\nb1",
            (
                "no action if the update to b3 is intended; "
                "else give b3 the skipRange '>=0.5.0 <1.0.0 || >1.0.0 <2.0.0'"
            ),
        ),
        # A range that has no part in it stays, and one without an end has none afterwards.
        (
            "b3: b2 / b1 / >=2.0.0 <3.0.0\nb2: b1\nb1",
            "no action if the update to b3 is intended; else remove b1 from the skips of b3",
        ),
        (
            "b3: b2 / - / >=1.0.0\nb2: b1\nb1",
            "no action if the update to b3 is intended; else give b3 the skipRange '>1.0.0'",
        ),
        ("b3: b1 / b2\nb2: - / - / =1.0.0\nb1", "no action if this is intended"),
        # Without that way OLM v0 would not update b1: b2 is skipped.
        ("b3: - / b2, b1\nb2: - / b1\nb1", "no action if the update to b3 is intended"),
        # One way of three less leaves two.
        ("b4: b3 / b1\nb3: b2 / b1\nb2: b1\nb1", "no action if the update to b4 is intended"),
        ("b3: - / b1, b2\nb2: - / - / =1.0.0\nb1", "no action: opm rejects the channel unless b3 skips b1"),
        # Without a bundle nobody knows its version: no range has a part in it.
        (
            "b3: b2 / b1 / <9.0.0\nb2: b1\nb1?",
            "no action if the update to b3 is intended; else remove b1 from the skips of b3",
        ),
    ],
)
def test_of_several_successors_the_one_that_is_taken_may_stay(drawing: str, fix: str) -> None:
    [finding] = parse_report(drawing, "EP209")
    assert finding.fix == fix


def test_a_downgrade_by_name_and_by_range_is_mended_at_the_version() -> None:
    [finding] = parse_report("b1: b2 / - / =2.0.0\nb2", "EP218")
    assert finding.fix == "republish b1 under a version above 2.0.0: semver ranks 1.0.0 below 2.0.0"


def test_a_head_below_another_version_says_why_and_what_to_do() -> None:
    [finding] = parse_report("b1: b2\nb2", "EP219")
    assert finding.place.pointer == (0, "name")
    assert finding.because == ("b1 replaces b2",)
    assert finding.fix == (
        "republish b1 under a version above 2.0.0: semver ranks 1.0.0 below 2.0.0; "
        "or remove b2 from the catalog and let b1 skip b2 instead of replacing it"
    )


@pytest.mark.parametrize(
    ("drawing", "edge"),
    [
        ("b2: b3\nb3: b1\nb1", "let b2 replace b1 and skip b3"),
        ("b2: b1 / b3\nb3: b1\nb1", "keep its name in the skips of b2"),
    ],
)
def test_what_is_taken_out_leaves_a_way_for_those_who_have_it(drawing: str, edge: str) -> None:
    [finding] = parse_report(drawing, "EP219")
    assert finding.fix == (
        "republish b2 under a version above 3.0.0: semver ranks 2.0.0 below 3.0.0; "
        f"or remove b3 from the catalog and {edge}"
    )


#: Two entries that opm cannot reach, so that it refuses the channel they are in.
ISLAND = "\nx: y\ny: x"


@pytest.mark.parametrize("island", ["", ISLAND])
def test_a_rival_off_the_chain_of_the_head_is_put_above_the_one_on_it(island: str) -> None:
    [finding] = parse_report(f"d: b / c\nc: a\nb: a\na{island}", "EP203")
    assert finding.fix == "set replaces: b on c"


def test_rivals_that_are_both_withdrawn_are_put_into_one_line() -> None:
    [finding] = parse_report("d: - / a, b, c\nc: a\nb: a\na", "EP203")
    assert finding.fix == "set replaces: b on c"


def test_a_rival_off_the_chain_of_the_head_is_skipped_by_the_one_on_it() -> None:
    [finding] = parse_report("d: c\nc: a\nb: a / b\na", "EP203")
    assert finding.fix == "add b to the skips of c"


def test_several_successors_show_the_edges_that_are_taken() -> None:
    drawing = "2.0.0: 1.5.0 / 3.0.0 / <1.5.0\n3.0.0: - / - / <1.5.0\n1.5.0: 1.0.0\n1.0.0"
    [finding] = parse_report(drawing, "EP209")
    assert finding.because == (
        "1.5.0 replaces 1.0.0",
        "the skipRange of 2.0.0 covers 1.0.0",
        "the skipRange of 3.0.0 covers 1.0.0",
    )


def test_of_many_successors_five_edges_are_shown_and_none_to_itself() -> None:
    [finding] = parse_report("\n".join(["a: - / a", *(f"b{n}: a" for n in range(7))]), "EP209")
    assert finding.because == tuple(f"b{n} replaces a" for n in range(5))
    [finding] = parse_report("b3: b1 / b2\nb2: b1\nb1: - / b1", "EP209")
    assert finding.because == ("b3 replaces b1", "b2 replaces b1")


def test_a_fork_that_no_safe_edit_makes_one_line_is_overtaken_by_a_release() -> None:
    [finding] = parse_report("b2: b3 / b2\nb1: b3\nb3", "EP203")
    assert finding.fix == "publish a release above 3.0.0 that replaces b1, with a skipRange from 3.0.0"


def test_a_fork_whose_loser_the_forked_entry_skips_is_not_one() -> None:
    assert findings("b5: b4\nb3: b4\nb4: - / b5", "EP203") == []


def test_a_newest_rival_that_the_head_stands_on_skips_the_older() -> None:
    [finding] = parse_report("b5: gone\nb1: gone / b1", "EP203")
    assert finding.fix == "add b1 to the skips of b5"


@pytest.mark.parametrize(
    ("drawing", "fix"),
    [
        # Only v0 moves on.
        (
            "b4: b1\nb1: b4\nb0: gone / b4",
            "no action if the update to b0 is intended",
        ),
        # Each takes another one: v1's is told.
        ("b3: b5 / b2\nb5: b2\nb2: - / b5", "no action if this is intended"),
        # The one that is taken has two edges, neither of which must stay.
        (
            "b3: b2 / b1 / =1.0.0\nb2: b1\nb1",
            (
                "no action if the update to b3 is intended; else remove b1 from the skips of b3 "
                "and remove the skipRange of b3"
            ),
        ),
    ],
)
def test_of_several_successors_the_one_that_v1_takes_or_else_v0_is_told(drawing: str, fix: str) -> None:
    found = [f.fix for f in parse_report(drawing, "EP209")]
    assert found[0] == fix


def test_in_a_long_channel_no_edit_is_tried_for_several_successors() -> None:
    for length, is_tried in ((20, True), (200, False)):
        chain = "\n".join(f"b{n}: b{n - 1}" for n in range(length, 3, -1))
        [finding] = parse_report(f"{chain}\nb3: b2 / b1\nb2: b1\nb1", "EP209")
        leave = "no action if the update to b3 is intended"
        assert finding.fix == (f"{leave}; else remove b1 from the skips of b3" if is_tried else leave)


@pytest.mark.parametrize(
    ("drawing", "fix"),
    [
        ("a@one\nb@one: - / a", "publish a release that replaces b and skips a"),
        ("b@one: a\na", "publish a release above 1.0.0 that replaces b, with a skipRange from 1.0.0"),
    ],
)
def test_versions_that_nobody_can_read_part_two_roads_as_well(drawing: str, fix: str) -> None:
    [finding] = parse_report(drawing, "EP218")
    assert finding.fix == fix


@pytest.mark.parametrize(
    ("drawing", "edge"),
    [
        ("b2: - / b3\nb3: b3", "keep its name in the skips of b2"),
        ("b3: b2\nb2: b3\nb0: b3", "let b2 skip b3 instead of replacing it"),
        ("b2: b3\nb1: b3\nb3: b0 / b1\nb0", "let b2 replace b0 and skip b3"),
    ],
)
def test_of_all_who_replace_what_is_taken_out_the_first_other_one_keeps_a_way(
    drawing: str, edge: str
) -> None:
    [finding] = parse_report(drawing, "EP219")
    assert str(finding.fix).endswith(f"or remove b3 from the catalog and {edge}")


def test_of_rivals_without_bundle_and_version_nobody_can_tell_which_is_newer() -> None:
    [finding] = parse_report("c\nb?: a\nd: a / c\na", "EP203")
    assert finding.fix == "add the olm.bundle document of b, then validate again"


def test_of_rivals_without_bundle_the_name_says_which_is_newer() -> None:
    [finding] = parse_report("op.v1.2.0?: op.v1.0.0\nop.v1.1.0: op.v1.0.0\nop.v1.0.0", "EP203")
    assert finding.fix == "add op.v1.1.0 to the skips of op.v1.2.0"
