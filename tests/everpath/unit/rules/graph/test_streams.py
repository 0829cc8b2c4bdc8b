"""Rules about patches, withdrawn releases and channels."""

from __future__ import annotations

import pytest

from everpath.graph import ChannelGraph
from everpath.model import Csv, Place
from everpath.rules.findings import Severity
from everpath.rules.graph.streams import withdrawn_target
from tests.support.everpath.graphs import channel_graph, findings, parse_report


def test_a_patch_that_cannot_reach_the_latest_patch_is_reported() -> None:
    drawing = """
        1.5.0: 1.4.0 / 1.4.1
        1.4.1: - / 1.4.0
        1.4.0
        1.4.2
    """
    assert findings(drawing, "EP231") == [
        "EP231 1.4.2: 1.4.0 and 1.4.1 cannot update to 1.4.2, the latest patch of the minor version"
    ]


def test_patch_that_v0_updates_past_the_latest_is_a_note() -> None:
    drawing = "1.5.0: 1.4.1 / 1.4.0\n1.4.1"
    assert findings(drawing + "\n1.4.0", "EP231") == [
        "EP231 1.4.1: 1.4.0 cannot update to 1.4.1, the latest patch of the minor version"
    ]
    assert parse_report(drawing + "\n1.4.0", "EP231")[0].severity is Severity.NOTE


def test_patches_that_replace_each_other_reach_the_latest() -> None:
    assert findings("1.4.2: 1.4.1\n1.4.1: 1.4.0\n1.4.0", "EP231") == []


def test_a_range_over_the_minor_reaches_the_latest() -> None:
    assert findings("1.4.2: 1.3.0 / - / >=1.4.0 <1.4.2\n1.4.1: 1.4.0\n1.4.0: 1.3.0\n1.3.0", "EP231") == []


def test_withdrawn_patch_is_not_the_latest() -> None:
    assert findings("1.5.0: 1.4.1 / 1.4.2\n1.4.2: 1.4.1\n1.4.1: 1.4.0\n1.4.0", "EP231") == []


def test_prereleases_of_a_minor_reach_its_latest_patch() -> None:
    assert findings("1.4.1: 1.4.0\n1.4.0\n1.4.0-rc.1", "EP231") != []
    assert findings("1.4.1: 1.4.0\n1.4.0: 1.4.0-rc.1\n1.4.0-rc.1", "EP231") == []


def test_patch_that_is_a_successor_of_the_latest_is_not_reported() -> None:
    assert findings("s@1.0.1-1: r\nr@1.0.1", "EP231") == []


def test_v1_rejects_an_update_with_dependencies() -> None:
    [finding, _] = parse_report("b3: b2\nb2: b1\nb1\n%dependent b3\n%dependent b2", "EP235")
    assert (finding.entry, finding.severity) == ("b2", Severity.WARNING)
    assert (
        finding.message
        == "clusters on b1 get no update under OLM v1: b2 has dependencies, which OLM v1 rejects"
    )
    assert finding.place.pointer == (1, "name")
    assert finding.because == ("b2 has the property olm.package.required", "b2 replaces b1")
    assert finding.fix == (
        "no action if the package is only for OLM v0; else publish a release above 3.0.0 that replaces b3, "
        "with a skipRange from 1.0.0, without olm.package.required"
    )


def test_suggested_release_covers_the_lowest_affected_version() -> None:
    [finding] = parse_report("b3: b2\nb2: b1\nb1\n%dependent b3", "EP235")
    assert finding.because[1:] == ("b3 replaces b2",)
    assert "with a skipRange from 2.0.0" in str(finding.fix)


def test_dependencies_of_new_installs_are_a_note() -> None:
    [finding] = parse_report("b2: b1\nb1\n%dependent b2\n%dependent b1", "EP235")
    assert (finding.entry, finding.severity) == ("b2", Severity.NOTE)
    assert (
        finding.message
        == "a new ClusterExtension fails under OLM v1: b2 has dependencies, which OLM v1 rejects"
    )


def test_dependencies_of_a_release_that_v1_does_not_install_are_accepted() -> None:
    assert findings("b3: - / b2, b1\nb2: b1\nb1\n%dependent b2", "EP235") == []
    assert findings("b3: - / b2?, b1\nb1", "EP235") == []


def test_an_entry_that_only_skips_itself_is_not_withdrawn() -> None:
    assert findings("b2: b1 / b2\nb1", "EP232") == []


def test_withdrawn_release_that_v1_installs_is_reported() -> None:
    assert findings("b3: - / b2\nb2: - / b1\nb1", "EP232") == [
        "EP232 b2: OLM v1 installs b2 on clusters on b1, although b3 skips it"
    ]


def test_withdrawn_release_that_v1_does_not_install_is_accepted() -> None:
    assert findings("b3: b1 / b2\nb2: b1\nb1", "EP232") == []


def test_a_channel_reached_by_a_range_can_be_switched_to() -> None:
    assert findings("[stable]\nb3: b2 / - / <3.0.0\nb2\n[old]\nb1", "EP233") == []


def test_a_channel_reached_by_name_can_be_switched_to() -> None:
    assert findings("[stable]\nb3: b2\nb2: b1\n[old]\nb1", "EP233") == []


def test_a_channel_with_older_versions_only_is_not_switched_to() -> None:
    assert findings("[old]\nb1\n[stable]\nb3: b1\nb2\n", "EP233") == []


def test_edges_that_differ_because_a_channel_lacks_an_entry_are_no_drift() -> None:
    assert findings("[stable]\nb3: b2\nb2: b1\nb1\n[fast]\nb3: b1\nb1", "EP234") == []


def test_every_minor_version_with_a_missed_patch_is_reported() -> None:
    drawing = "1.6.1\n1.6.0\n1.5.1: 1.5.0\n1.5.0\n1.4.1\n1.4.0"
    assert [f.entry for f in parse_report(drawing, "EP231")] == ["1.4.1", "1.6.1"]


def test_missed_patches_are_listed_and_covered_by_the_fix() -> None:
    [finding] = parse_report("\n".join(["1.4.6", *(f"1.4.{n}" for n in range(6))]), "EP231")
    assert finding.place.pointer == (0, "name")
    assert finding.because == tuple(
        f"there is no upgrade path from 1.4.{n} to 1.4.6 within the minor version" for n in range(5)
    )
    assert finding.fix == "give 1.4.6 the skipRange '>=1.4.0 <1.4.6'"


@pytest.mark.parametrize(
    ("drawing", "severity"),
    [
        ("1.5.0: 1.4.2 / 1.4.1, 1.4.0\n1.4.2\n1.4.1\n1.4.0", Severity.NOTE),  # all move on to 1.5.0
        ("1.5.0: 1.4.2 / 1.4.1\n1.4.2\n1.4.1\n1.4.0: - / 1.4.0", Severity.WARNING),  # 1.4.0 never moves
        ("h?: 1.4.1 / 1.4.0\n1.4.1\n1.4.0", Severity.WARNING),  # h has no version
        ("1.4.1: 1.5.0\n1.5.0: 1.4.0\n1.4.0", Severity.NOTE),  # there, if by a detour
        ("1.4.1\n1.4.0", Severity.WARNING),  # v0 fails in a channel with two heads
    ],
)
def test_missed_patch_is_a_note_if_v0_updates_to_the_latest_or_past_it(
    drawing: str, severity: Severity
) -> None:
    [finding] = parse_report(drawing, "EP231")
    assert finding.severity is severity


def test_withdrawn_latest_patch_without_edges_does_not_count() -> None:
    assert findings("1.5.0: 1.4.1 / 1.4.2\n1.4.2\n1.4.1: 1.4.0\n1.4.0", "EP231") == []


def test_a_patch_that_is_skipped_by_the_latest_reaches_it() -> None:
    assert findings("1.4.2: 1.4.1 / 1.4.0\n1.4.1\n1.4.0", "EP231") == []


def test_a_patch_below_the_range_of_the_latest_does_not_reach_it() -> None:
    assert findings("1.4.2: - / - / >=1.4.1 <1.4.2\n1.4.1\n1.4.0", "EP231") == [
        "EP231 1.4.2: 1.4.0 cannot update to 1.4.2, the latest patch of the minor version"
    ]


def test_a_rebuild_of_the_latest_patch_must_reach_it_too() -> None:
    assert findings("b@1.4.1+2\na@1.4.1+1", "EP231") == [
        "EP231 b: a cannot update to b, the latest patch of the minor version"
    ]


def test_withdrawn_target_is_reported_with_its_skippers() -> None:
    [finding] = parse_report("b3: - / b2\nb4: b3 / b2\nb2: - / b1, b2\nb1", "EP232")
    assert finding.place.pointer == (2, "name")
    assert finding.message == "OLM v1 installs b2 on clusters on b1, although b3 and b4 skip it"
    assert finding.because == ("b3 skips b2", "b4 skips b2", "b2 skips b2")
    assert finding.fix == "give b4 the skipRange '>=1.0.0 <4.0.0'"


def test_every_channel_without_a_possible_switch_is_a_note() -> None:
    drawing = "[empty]\nx?\n[fast]\nb5: b2\nb2\n[stable]\nb4: b3\nb3\n[old]\nb1"
    found = parse_report(drawing, "EP233")
    assert [(f.channel, f.message) for f in found] == [
        ("fast", "3 versions of other channels cannot switch to fast: b1, b3 and b4"),
        ("stable", "2 versions of other channels cannot switch to stable: b1 and b2"),
    ]
    assert found[0].fix == "to allow the switch, give b5 the skipRange '>=1.0.0 <5.0.0'"


def test_a_channel_that_skips_a_version_can_be_switched_to() -> None:
    assert findings("[stable]\nb3: - / b1\n[old]\nb1", "EP233") == []


def test_a_channel_whose_top_is_equal_to_a_version_is_not_switched_to() -> None:
    assert findings("[stable]\nb2\n[old]\nc@2.0.0", "EP233") == []


def test_channel_without_a_single_head_gets_a_range() -> None:
    no_head, two_heads = "[stable]\nb3: b2\nb2: b3\n[old]\nb1", "[stable]\nb3\nb2\n[old]\nb1"
    fix = "to allow the switch, give b3 the skipRange '>=1.0.0 <3.0.0'"
    assert parse_report(no_head, "EP233")[0].fix == fix
    assert parse_report(two_heads, "EP233")[0].fix == fix


def test_head_below_the_other_versions_needs_a_release_above_them() -> None:
    found = parse_report("[stable]\nb1: b4\nb4\n[old]\nb2", "EP233")
    assert found[-1].fix == "give a release of stable above them a skipRange from 2.0.0"


def test_a_withdrawn_release_that_is_the_highest_is_deprecated_or_succeeded() -> None:
    [finding] = parse_report("b2: b1 / b3\nb3: b1\nb1", "EP232")
    assert finding.fix == (
        "deprecate b3 in olm.deprecations, and OLM v1 prefers others; "
        "or publish a release above 3.0.0 that skips b3"
    )


def test_every_drift_is_reported_in_the_later_channel() -> None:
    drawing = """
        [stable]
        b4: b3
        b3: b2
        b2
        b1
        [fast]
        b1
        b2
        b3: b1
        b4: b2
    """
    found = parse_report(drawing, "EP234")
    assert [(f.entry, f.channel) for f in found] == [("b3", "fast"), ("b4", "fast")]
    assert found[0].place.pointer[1:] == ("replaces",)
    assert found[0].fix == "make it replace b2 here as well, unless the difference is intended"


@pytest.mark.parametrize("silent", ["b3", "b3: gone"])
def test_a_channel_in_which_an_entry_replaces_none_of_its_own_is_not_compared(silent: str) -> None:
    drawing = f"[old]\n{silent}\nb2\nb1\n[stable]\nb3: b2\nb2\nb1\n[fast]\nb3: b1\nb2\nb1"
    assert findings(drawing, "EP234") == ["EP234 b3: b3 replaces b1 in fast, but b2 in stable"]


def test_an_edge_that_the_first_channel_could_not_have_is_no_drift() -> None:
    assert findings("[stable]\nb3: b2\nb2\n[fast]\nb3: b1\nb2\nb1", "EP234") == []


def test_a_patch_equal_to_the_latest_needs_a_patch_above_both() -> None:
    [finding] = parse_report("c@1.0.0\nb@1.0.0\na@1.0.0-rc.1", "EP231")
    assert finding.fix == "publish a patch above 1.0.0 that skips a and b"


def test_a_patch_equal_to_the_latest_needs_a_patch_above_both_where_no_edit_is_tried() -> None:
    minors = (f"c{n}@1.{n}.0\nb{n}@1.{n}.0\na{n}@1.{n}.0-rc.1" for n in range(101))
    found = parse_report("\n".join(minors), "EP231")
    assert {f.fix for f in found} == {
        f"publish a patch above 1.{n}.0 that skips a{n} and b{n}" for n in range(101)
    }


def test_fix_uses_a_release_that_is_not_withdrawn() -> None:
    [finding] = parse_report("b5: b3\nb3: b1\nb1: - / b5, b3", "EP232")[:1]
    assert finding.entry == "b3"
    assert finding.fix == (
        "deprecate b3 in olm.deprecations, and OLM v1 prefers others; "
        "or publish a release above 3.0.0 that skips b3"
    )


def test_without_valid_versions_the_fix_is_no_range() -> None:
    found = parse_report("b5@one: b2\nb2@one: b0\nb0: - / b5", "EP232")
    assert [f.fix for f in found if f.entry == "b5"] == [
        (
            "deprecate b5 in olm.deprecations, and OLM v1 prefers others; "
            "or publish a release above b5 that skips b5"
        )
    ]


def test_fix_for_a_repository_suggests_no_deprecation() -> None:
    graph = channel_graph("b2: b1 / b3\nb3: b1\nb1")
    first, *others = graph.package.bundles
    bundles = (first._replace(csv=Csv(Place("csv"))), *others)
    flaws = withdrawn_target(ChannelGraph(graph.channel, graph.package._replace(bundles=bundles)))
    assert [flaw.fix for flaw in flaws] == ["publish a release above 3.0.0 that skips b3"]


def elsewhere(count: int) -> str:
    """A channel, and another one with so many versions that have no way into it."""
    return "\n".join(["[stable]", "top@9.0.0", "[old]", *(f"v1.{n}.0" for n in range(count))])


@pytest.mark.parametrize(("count", "more"), [(8, ""), (9, " and 1 more"), (10, " and 2 more")])
def test_at_most_eight_versions_that_cannot_switch_are_listed(count: int, more: str) -> None:
    [finding] = parse_report(elsewhere(count), "EP233")
    names = [f"v1.{n}.0" for n in range(8)]
    named = ", ".join(names) if more else f"{', '.join(names[:-1])} and {names[-1]}"
    assert finding.message == f"{count} versions of other channels cannot switch to stable: {named}{more}"


def test_versions_that_cannot_switch_are_sorted_by_version_then_name() -> None:
    drawing = "[stable]\ntop@9.0.0\n[old]\nd@1.0.0\nc@3.0.0\nb@2.0.0\na@3.0.0"
    [finding] = parse_report(drawing, "EP233")
    assert finding.message.endswith(": d, b, a and c")
    assert finding.fix == "to allow the switch, give top the skipRange '>=1.0.0 <9.0.0'"


def test_only_versions_without_an_edge_are_counted() -> None:
    drawing = "[stable]\nb5: b4 / - / <=2.0.0\nb4\n[old]\nb3: b2\nb2: b1\nb1"
    assert findings(drawing, "EP233") == [
        "EP233 stable: 1 version of other channels cannot switch to stable: b3"
    ]


@pytest.mark.parametrize(
    ("stable", "fix"),
    [
        # Two entries without a single head, one of them with a version.
        ("x?: b4\nb4: - / x", "to allow the switch, give b4 the skipRange '>=1.0.0 <4.0.0'"),
        ("x?: b4\nb4", "give a release of stable above them a skipRange from 1.0.0"),
        ("h@1.0.0: b4\nb4", "give a release of stable above them a skipRange from 1.0.0"),
        ("b4: - / - / =3.0.0", "to allow the switch, give b4 the skipRange '=3.0.0 || >=1.0.0 <4.0.0'"),
    ],
)
def test_fix_gives_the_head_a_range_if_possible(stable: str, fix: str) -> None:
    [finding] = parse_report(f"[stable]\n{stable}\n[old]\nb1", "EP233")[:1]
    assert (finding.channel, finding.fix) == ("stable", fix)


def test_a_minor_that_is_withdrawn_as_a_whole_has_no_latest_patch_to_reach() -> None:
    assert findings("op.v2.0.0: - / op.v1.0.0, op.v1.0.1\nop.v1.0.1\nop.v1.0.0", "EP231") == []
