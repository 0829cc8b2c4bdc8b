"""Graphs that `opm validate` accepts and that strand, surprise or crash users, one test a class.

Drawn as in everpath's notation; b1 < b2 < b3 have the versions 1.0.0, 2.0.0, 3.0.0.
"""

from __future__ import annotations

import pytest

from everpath.resolvers import olm_v0, olm_v1, opm
from tests.support.everpath.graphs import channel_graph, findings, rule_ids


def test_s1_transitive_skip_strands_v0_users_below_a_skipped_entry() -> None:
    drawing = """
        b3: - / b2
        b2: - / b1
        b1
    """
    assert opm.validate_channel(channel_graph(drawing)).is_valid
    assert findings(drawing, "EP206") == ["EP206 b1: clusters on b1 get no further updates under OLM v0"]
    assert findings(drawing, "EP207") == []


def test_s2_self_skip_strands_under_both_resolvers() -> None:
    drawing = """
        b2
        b1: - / b1
    """
    assert opm.validate_channel(channel_graph(drawing)).is_valid
    assert {"EP206", "EP207", "EP211"} <= rule_ids(drawing)


def test_s3_unconnected_entries_that_skip_each_other_pass_opm_and_are_stranded() -> None:
    drawing = """
        b3
        b2: - / b1
        b1: - / b2
    """
    assert opm.validate_channel(channel_graph(drawing)).is_valid
    assert findings(drawing, "EP206") == [
        "EP206 b1: clusters on b1 get no further updates under OLM v0",
        "EP206 b2: clusters on b2 get no further updates under OLM v0",
    ]
    assert findings(drawing, "EP207") == [
        "EP207 b2: clusters on b2 get no further updates under OLM v1; updates from b1 end there"
    ]


@pytest.mark.parametrize(
    "drawing",
    [
        "b3: b2 / b1, b2\nb2: b1\nb1: b2",
        "b2: b1 / b1\nb1: b1",
        "b3: b1 / b2\nb2: b1\nb1: b2",
    ],
)
def test_s4_cycle_behind_a_skipped_entry_fails_every_subscription(drawing: str) -> None:
    assert opm.validate_channel(channel_graph(drawing)).is_valid
    assert "EP205" in rule_ids(drawing)


def test_s5_two_raw_successors_are_named_with_the_choice_of_each_resolver() -> None:
    drawing = """
        b3: b1 / b2
        b2: b1
        b1
    """
    assert opm.validate_channel(channel_graph(drawing)).is_valid
    assert findings(drawing, "EP209") == [
        "EP209 b1: b1 has 2 successors: OLM v0 updates to b3; OLM v1 updates to b3"
    ]


def test_s6_rolled_back_release_is_what_v1_installs() -> None:
    drawing = """
        1.0.1: 1.0.0 / 1.1.0
        1.1.0: 1.0.0
        1.0.0
    """
    assert opm.validate_channel(channel_graph(drawing)).is_valid
    assert {"EP207", "EP209", "EP218", "EP219", "EP220", "EP232"} <= rule_ids(drawing)
    assert findings(drawing, "EP232") == [
        "EP232 1.1.0: OLM v1 installs 1.1.0 on clusters on 1.0.0 and new clusters, although 1.0.1 skips it"
    ]


def test_s7_version_inverted_edge_downgrades_under_v0_only() -> None:
    drawing = """
        x.v1.0.0: x.v2.0.0
        x.v2.0.0
    """
    graph = channel_graph(drawing)
    assert opm.validate_channel(graph).is_valid
    assert olm_v0.next_hops(graph).next["x.v2.0.0"] == "x.v1.0.0"
    assert olm_v1.next_hops(graph)["x.v2.0.0"] is None
    assert {"EP207", "EP218", "EP219", "EP220"} <= rule_ids(drawing)


def test_s8_open_ended_range_takes_in_itself_and_everything_to_come() -> None:
    assert {"EP304", "EP309"} <= rule_ids("1.0.0: - / - / >=0.1.0")


def test_s9_range_on_a_skipped_entry_helps_only_v1() -> None:
    drawing = """
        b3: - / b2
        b2: b1 / - / >=0.1.0 <2.0.0
        b1
    """
    graph = channel_graph(drawing)
    assert olm_v0.next_hops(graph).next["b1"] is None
    assert olm_v1.next_hops(graph)["b1"] == "b2"
    assert {"EP206", "EP221"} <= rule_ids(drawing)


def test_s10_range_beats_the_direct_replacer_when_it_is_nearer_to_the_head() -> None:
    drawing = """
        b4: b3 / - / >=2.0.0 <4.0.0
        b3: b2 / - / >=1.0.0 <3.0.0
        b2: b1
        b1
    """
    graph = channel_graph(drawing)
    assert olm_v0.next_hops(graph).next == {"b4": None, "b3": "b4", "b2": "b4", "b1": "b3"}
    assert findings(drawing, "EP209") == [
        "EP209 b1: b1 has 2 successors: OLM v0 updates to b3; OLM v1 updates to b3",
        "EP209 b2: b2 has 2 successors: OLM v0 updates to b4; OLM v1 updates to b4",
    ]


def test_s11_misspelled_replaces_hidden_by_skips_is_named() -> None:
    drawing = """
        b3: b2-typo / b2, b1
        b2: b1
        b1
    """
    assert opm.validate_channel(channel_graph(drawing)).is_valid
    assert findings(drawing, "EP212") == ["EP212 b3: b3 replaces b2-typo, which is not in the package"]


def test_s12_range_that_crashes_olm_is_reported_with_the_affected_versions() -> None:
    drawing = "b2: b1 / - / <1.0.0 || || >2.0.0\nb1"
    assert findings(drawing, "EP302") == [
        "EP302 b2: the skipRange of b2 crashes OLM: '<1.0.0 || || >2.0.0' has nothing between two ||"
    ]


@pytest.mark.parametrize("text", ["! 1.0.0", "1.0.0 - 2.0.0", "!=1.2.x", ">=1.0.0 <", "1.x.x"])
def test_s13_misleading_range_is_reported_with_a_reason(text: str) -> None:
    assert rule_ids(f"b2: b1 / - / {text}\nb1") & {"EP303", "EP306"}


@pytest.mark.parametrize("drawing", ["[stable/1]\nb1", "a/v1"])
def test_s14_slash_in_a_name_breaks_the_namespace(drawing: str) -> None:
    assert "EP111" in rule_ids(drawing)


def test_s17_versions_that_differ_by_build_metadata_only_are_equal() -> None:
    assert "EP409" in rule_ids("b2@1.0.0+2: b1\nb1@1.0.0+1")


def test_s18_version_without_an_edge_into_another_channel_is_listed() -> None:
    drawing = """
        [stable]
        b3: b2
        b2
        [old]
        b1
    """
    assert findings(drawing, "EP233") == [
        "EP233 stable: 1 version of other channels cannot switch to stable: b1"
    ]


def test_s18_entry_that_replaces_another_one_in_another_channel_drifts() -> None:
    drawing = """
        [stable]
        b3: b2
        b2: b1
        b1
        [fast]
        b3: b1 / b2
        b2: b1
        b1
    """
    assert findings(drawing, "EP234") == ["EP234 b3: b3 replaces b1 in fast, but b2 in stable"]


def test_s19_deprecated_and_prohibited_heads_are_reported() -> None:
    assert "EP504" in rule_ids("b2: b1\nb1\n%deprecated b2: old")
    assert "EP505" in rule_ids("b2: b1\nb1\n%prohibited b2")


def test_a_plain_chain_has_nothing_to_report() -> None:
    assert rule_ids("b3: b2\nb2: b1\nb1") == set()
