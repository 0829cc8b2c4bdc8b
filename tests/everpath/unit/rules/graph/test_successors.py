"""Rules about forks, several successors, and differences between OLM v0 and v1."""

from __future__ import annotations

import pytest

from tests.support.everpath.graphs import findings, parse_report


def test_two_entries_replacing_one_are_a_fork() -> None:
    assert findings("c: a\nb: a\na", "EP203") == ["EP203 a: b and c both replace a"]


def test_three_entries_replacing_one_are_one_fork() -> None:
    assert findings("d: a\nc: a\nb: a\na", "EP203") == ["EP203 a: b, c and d all replace a"]


def test_fork_with_a_skipped_rival_is_not_reported() -> None:
    assert findings("c: a / b\nb: a\na", "EP203") == []


def test_fork_with_a_rival_on_the_chain_is_not_reported() -> None:
    assert findings("d: a / c\nc: b\nb: a\na", "EP203") == []


def test_fork_with_a_rival_on_a_cycle_of_the_chain_is_not_reported() -> None:
    assert findings("e: a / b\nb: e\nd: a / b\na", "EP203") == []


def test_fix_for_a_fork_skips_the_older_rival() -> None:
    [finding] = parse_report("c: a\nb: a\na", "EP203")
    assert finding.fix == "add b to the skips of c"
    assert finding.because == ("c replaces a", "b replaces a")


def test_fix_for_a_fork_outside_of_the_chain_joins_it() -> None:
    [finding] = parse_report("1.2.0: 1.1.0 / 1.1.1\n1.1.1: 1.0.0\n1.1.0: 1.0.0\n1.0.0", "EP203")
    assert finding.fix == "set replaces: 1.1.0 on 1.1.1"


def test_a_name_replaced_twice_that_is_no_entry_is_a_fork_too() -> None:
    assert findings("c: x\nb: x", "EP203") == ["EP203 x: b and c both replace x"]


def test_evidence_has_edges_by_name_and_followed_edges() -> None:
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


def test_stranded_version_is_no_divergence() -> None:
    assert findings("b3: - / b2\nb2: - / b1\nb1", "EP218") == []


def test_head_that_v1_updates_is_a_divergence() -> None:
    drawing = "1.0.0: 0.9.0 / 2.0.0\n2.0.0: 0.9.0 / - / >=1.0.0 <2.0.0\n0.9.0"
    assert "EP218 1.0.0: from 1.0.0, OLM v0 does not update; OLM v1 updates to 2.0.0" in findings(
        drawing, "EP218"
    )


def test_downgrade_by_v0_is_a_divergence() -> None:
    [finding] = parse_report("x.v1.0.0: x.v2.0.0\nx.v2.0.0", "EP218")
    assert finding.fix == "republish x.v1.0.0 under a version above 2.0.0: semver ranks 1.0.0 below 2.0.0"


def test_fix_for_a_downgrade_by_range_caps_the_range() -> None:
    [finding] = parse_report("b3: b2\nb2: b1 / - / >2.0.0\nb1", "EP218")
    assert (finding.entry, finding.fix) == ("b3", "remove the skipRange of b2")


def test_several_successors_mention_that_v0_fails() -> None:
    [finding] = parse_report("b4\nb3: b1\nb2: b1\nb1", "EP209")
    assert finding.message == "b1 has 2 successors: OLM v0 fails; OLM v1 updates to b3"


def test_channel_that_v0_cannot_sort_has_no_divergence() -> None:
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


def test_fork_is_reported_at_the_replaced_entry() -> None:
    assert parse_report("c: a\nb: a\na", "EP203")[0].place.pointer == (2,)
    assert parse_report("b: x\nc: x", "EP203")[0].place.pointer == (1,)


def test_fix_for_a_fork_of_three_skips_the_two_older() -> None:
    [finding] = parse_report("d: a\nc: a\nb: a\na", "EP203")
    assert finding.fix == "add c and b to the skips of d"


def test_every_entry_with_several_successors_is_reported() -> None:
    found = parse_report("b5: b4 / b3, b2\nb4: b3\nb3: b2\nb2: b1\nb1", "EP209")
    assert [(f.entry, f.place.pointer) for f in found] == [("b2", (3, "name")), ("b3", (2, "name"))]


def test_an_entry_that_accepts_itself_is_not_among_its_successors() -> None:
    [finding] = parse_report("b3: b1 / b2\nb2: b1\nb1: - / - / <2.0.0", "EP209")
    assert finding.because == ("b3 replaces b1", "b2 replaces b1")


def test_several_successors_mention_that_v0_panics() -> None:
    [finding] = parse_report("b3: b2 / b1 / <0.1.0 || || =9.0.0\nb2: b1\nb1", "EP209")
    assert finding.message == "b1 has 2 successors: OLM v0 fails; OLM v1 updates to b3"


def test_channel_with_a_cycle_has_no_divergence() -> None:
    assert findings("1.0.0: 2.0.0\n2.0.0: 3.0.0\n3.0.0: 2.0.0 / - / =1.0.0", "EP218") == []


def test_version_that_crashes_v0_is_no_divergence() -> None:
    drawing = "2.0.0: 1.0.0 / 3.0.0{}\n3.0.0: 1.0.0\n1.0.0"
    assert findings(drawing.format(""), "EP218") != []
    assert findings(drawing.format(" / <0.1.0 || || =9.0.0"), "EP218") == []


def test_divergence_is_reported_at_the_installed_name() -> None:
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
def test_fix_is_a_release_if_no_edit_aligns_the_hops(drawing: str, entry: str, fix: str) -> None:
    [finding] = [f for f in parse_report(drawing, "EP218") if f.entry == entry]
    assert finding.fix == "publish a release above " + fix.replace("{from}", "with a skipRange from")


def test_divergence_by_a_missing_bundle_is_fixed_together_with_it() -> None:
    found = parse_report("b3: b2\nb2?: b1\nb1", "EP218", "EP207")
    assert {f.fix for f in found} == {"fixed together with EP401 (b2)"}


def test_fix_removes_a_deprecation_that_causes_the_divergence() -> None:
    [finding] = parse_report("b2: b1\nb1@one\n%deprecated b2: old", "EP218")
    assert finding.fix == (
        "remove the deprecation of b2, which OLM v1 avoids, "
        "or publish a release above 2.0.0 that replaces b2 and skips b1"
    )


@pytest.mark.parametrize(
    ("drawing", "fix"),
    [
        ("b3: b2 / b1\nb2: b1\nb1", "no action if the update to b3 is intended"),
        ("b3: b2 / - / =1.0.0\nb2: b1\nb1", "no action if the update to b3 is intended"),
        ("b3: b2 / - / >=0.5.0 <2.0.0\nb2: b1\nb1", "no action if the update to b3 is intended"),
        ("b3: b2 / b1 / >=2.0.0 <3.0.0\nb2: b1\nb1", "no action if the update to b3 is intended"),
        ("b3: b2 / - / >=1.0.0\nb2: b1\nb1", "no action if the update to b3 is intended"),
        ("b3: b1 / b2\nb2: - / - / =1.0.0\nb1", "no action if this is intended"),
        # Without that way OLM v0 would not update b1: b2 is skipped.
        ("b3: - / b2, b1\nb2: - / b1\nb1", "no action if the update to b3 is intended"),
        # One way of three less leaves two.
        ("b4: b3 / b1\nb3: b2 / b1\nb2: b1\nb1", "no action if the update to b4 is intended"),
        ("b3: - / b1, b2\nb2: - / - / =1.0.0\nb1", "no action: opm rejects the channel unless b3 skips b1"),
        # Without a bundle it has no version, so that no range covers it.
        ("b3: b2 / b1 / <9.0.0\nb2: b1\nb1?", "no action if the update to b3 is intended"),
    ],
)
def test_several_successors_need_no_action_if_intended(drawing: str, fix: str) -> None:
    [finding] = parse_report(drawing, "EP209")
    assert finding.fix == fix


def test_fix_for_a_downgrade_by_name_is_another_version() -> None:
    [finding] = parse_report("b1: b2 / - / =2.0.0\nb2", "EP218")
    assert finding.fix == "republish b1 under a version above 2.0.0: semver ranks 1.0.0 below 2.0.0"


def test_head_below_another_version_has_reasons_and_a_fix() -> None:
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
def test_removal_of_a_version_keeps_an_edge_from_it(drawing: str, edge: str) -> None:
    [finding] = parse_report(drawing, "EP219")
    assert finding.fix == (
        "republish b2 under a version above 3.0.0: semver ranks 2.0.0 below 3.0.0; "
        f"or remove b3 from the catalog and {edge}"
    )


#: Two entries that opm cannot reach, so that it refuses the channel they are in.
ISLAND = "\nx: y\ny: x"


@pytest.mark.parametrize("island", ["", ISLAND])
def test_rival_outside_of_the_chain_is_put_above_the_one_on_it(island: str) -> None:
    [finding] = parse_report(f"d: b / c\nc: a\nb: a\na{island}", "EP203")
    assert finding.fix == "set replaces: b on c"


def test_withdrawn_rivals_are_put_on_one_chain() -> None:
    [finding] = parse_report("d: - / a, b, c\nc: a\nb: a\na", "EP203")
    assert finding.fix == "set replaces: b on c"


def test_rival_outside_of_the_chain_is_skipped_by_the_one_on_it() -> None:
    [finding] = parse_report("d: c\nc: a\nb: a / b\na", "EP203")
    assert finding.fix == "add b to the skips of c"


def test_evidence_has_followed_edges() -> None:
    drawing = "2.0.0: 1.5.0 / 3.0.0 / <1.5.0\n3.0.0: - / - / <1.5.0\n1.5.0: 1.0.0\n1.0.0"
    [finding] = parse_report(drawing, "EP209")
    assert finding.because == (
        "1.5.0 replaces 1.0.0",
        "the skipRange of 2.0.0 covers 1.0.0",
        "the skipRange of 3.0.0 covers 1.0.0",
    )


def test_at_most_five_edges_are_listed() -> None:
    [finding] = parse_report("\n".join(["a: - / a", *(f"b{n}: a" for n in range(7))]), "EP209")
    assert finding.because == tuple(f"b{n} replaces a" for n in range(5))
    [finding] = parse_report("b3: b1 / b2\nb2: b1\nb1: - / b1", "EP209")
    assert finding.because == ("b3 replaces b1", "b2 replaces b1")


def test_fix_for_a_fork_without_an_accepted_edit_is_a_release() -> None:
    [finding] = parse_report("b2: b3 / b2\nb1: b3\nb3", "EP203")
    assert finding.fix == "publish a release above 3.0.0 that replaces b1, with a skipRange from 3.0.0"


def test_fork_with_a_rival_that_the_replaced_entry_skips_is_not_reported() -> None:
    assert findings("b5: b4\nb3: b4\nb4: - / b5", "EP203") == []


def test_newest_rival_on_the_chain_skips_the_older() -> None:
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
        # The choice of v1 is shown if they differ.
        ("b3: b5 / b2\nb5: b2\nb2: - / b5", "no action if this is intended"),
        # The one that is taken has two edges, neither of which must stay.
        ("b3: b2 / b1 / =1.0.0\nb2: b1\nb1", "no action if the update to b3 is intended"),
    ],
)
def test_fix_names_the_successor_of_v1_or_else_of_v0(drawing: str, fix: str) -> None:
    found = [f.fix for f in parse_report(drawing, "EP209")]
    assert found[0] == fix


@pytest.mark.parametrize(
    ("drawing", "fix"),
    [
        ("a@one\nb@one: - / a", "publish a release that replaces b and skips a"),
        ("b@one: a\na", "publish a release above 1.0.0 that replaces b, with a skipRange from 1.0.0"),
    ],
)
def test_invalid_versions_can_cause_a_divergence(drawing: str, fix: str) -> None:
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
def test_first_other_replacer_of_a_removed_version_skips_it(drawing: str, edge: str) -> None:
    [finding] = parse_report(drawing, "EP219")
    assert str(finding.fix).endswith(f"or remove b3 from the catalog and {edge}")


def test_rivals_without_bundle_and_version_have_no_order() -> None:
    [finding] = parse_report("c\nb?: a\nd: a / c\na", "EP203")
    assert finding.fix == "add the olm.bundle document of b, then validate again"


def test_rivals_without_a_bundle_are_ranked_by_name() -> None:
    [finding] = parse_report("op.v1.2.0?: op.v1.0.0\nop.v1.1.0: op.v1.0.0\nop.v1.0.0", "EP203")
    assert finding.fix == "add op.v1.1.0 to the skips of op.v1.2.0"
