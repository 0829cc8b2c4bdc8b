"""Edits: their text, and the channel after them."""

from __future__ import annotations

import pytest

from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.notation import format_channel
from everpath.model import Csv, Entry, Place
from everpath.rules.fixes.edits import (
    ChannelEdit,
    add_skips,
    apply_edit,
    cap_range,
    join_edits,
    remove_replaces,
    widen_range,
)
from everpath.rules.fixes.verify import Violation, verify_fixes
from everpath.rules.registry import all_rules
from tests.support.everpath.documents import catalog, channel, package
from tests.support.everpath.graphs import channel_graph


def fix(graph: ChannelGraph, rule: str) -> ChannelEdit:
    """The edit that a rule advises; the only one, or the first."""
    [asked] = [found for found in all_rules() if found.id == rule]
    [violation, *_] = verify_fixes(graph, [Violation(asked, flaw) for flaw in asked.check(graph)])
    edit = violation.flaw.fix
    assert isinstance(edit, ChannelEdit)
    return edit


def after(drawing: str, rule: str) -> str:
    """The channel after the edit that a rule advises."""
    graph = channel_graph(drawing)
    return format_channel(apply_edit(graph, fix(graph, rule)).channel)


@pytest.mark.parametrize(
    ("drawing", "expected"),
    [
        ("b3: b2\nb2: b3\nb1: b0 / b3, b2\nb0: - / b1", "b3: b2\nb2\nb1: b0 / b2\nb0: - / b1"),
        ("b3: b3 / b3", "b3"),
    ],
)
def test_edit_for_a_head_removes_all_edges_to_it_and_no_others(drawing: str, expected: str) -> None:
    assert after(drawing, "EP201") == expected


@pytest.mark.parametrize(
    ("drawing", "rule", "expected"),
    [
        ("c: b\nb: a\na: b", "EP204", "c: b\nb: a\na"),
        ("b2: - / b2", "EP211", "b2"),
        ("b3: b2\nb2: - / b2", "EP211", "b3: b2\nb2"),
        ("b3\nb2: - / b2, b1\nb1", "EP211", "b3: - / b2\nb2: - / b1\nb1"),
        ("op.v1.1.0: op-1.0.0\nop.v1.0.0", "EP212", "op.v1.1.0: op.v1.0.0\nop.v1.0.0"),
        ("b3: b2 / b2\nb2", "EP216", "b3: b2\nb2"),
        ("b2: b1 / - / =2.0.0\nb1", "EP304", "b2: b1\nb1"),
        ("b3\nb2: b1\nb1", "EP207", "b3: - / - / >=2.0.0 <3.0.0\nb2: b1\nb1"),
    ],
)
def test_text_of_an_edit_describes_its_entries(drawing: str, rule: str, expected: str) -> None:
    assert after(drawing, rule) == expected


def test_edit_of_empty_items_keeps_the_other_skips() -> None:
    made = catalog(package(), channel({"name": "b", "skips": ["a", "", ""]}, {"name": "a"}))
    graph = PackageGraph(made.packages[0]).channels[0]
    assert format_channel(apply_edit(graph, fix(graph, "EP217")).channel) == "b: - / a\na"


def test_removing_replaces_keeps_the_other_edges() -> None:
    graph = channel_graph("b3: b2 / b1 / <1.0.0\nb2\nb1")
    assert (
        format_channel(apply_edit(graph, remove_replaces(graph, "b3")).channel)
        == "b3: - / b1 / <1.0.0\nb2\nb1"
    )


def in_repository(csv: Csv) -> ChannelGraph:
    """b3: b2 above b1, where b2 is in another channel and has a CSV of its own."""
    graph = channel_graph("[stable]\nb3: b2\nb1\n[fast]\nb2")
    bundles = tuple(b._replace(csv=csv) if b.name == "b2" else b for b in graph.package.bundles)
    return ChannelGraph(graph.channel, graph.package._replace(bundles=bundles))


@pytest.mark.parametrize(
    ("csv", "words"),
    [
        (Csv(Place("csv"), replaces="b1", skips=("x",), skip_range="<1.0.0"), ", with replaces: b1"),
        (Csv(Place("csv"), skips=("b1", "x"), skip_range="<1.0.0"), ""),
    ],
)
def test_added_entry_of_a_repository_has_the_edges_of_its_csv(csv: Csv, words: str) -> None:
    graph = in_repository(csv)
    edit = fix(graph, "EP202")
    assert str(edit) == f"add b2 to this channel{words}, or add b1 to the skips of b3"
    assert edit.entries == (Entry("b2", graph.channel.place, csv.replaces, csv.skips, csv.skip_range),)


def test_bundle_without_an_edge_to_the_second_head_is_not_added() -> None:
    assert str(fix(in_repository(Csv(Place("csv"), replaces="b0")), "EP202")) == "add b1 to the skips of b3"


@pytest.mark.parametrize(
    ("span", "covered", "wanted"),
    [
        ("-", "b2, b1", ">=1.0.0 <3.0.0"),
        ("<2.0.0", "b1", "<2.0.0 || >=1.0.0 <3.0.0"),
        (">=1.5.0 <2.0.0", "b1", ">=1.0.0 <3.0.0"),  # what was covered before is covered again
        ("-", "b1, b4", ">=1.0.0 <3.0.0"),
    ],
)
def test_widened_range_starts_at_the_lowest_version(span: str, covered: str, wanted: str) -> None:
    graph = channel_graph(f"b4: b3\nb3: b2 / - / {span}\nb2: b1\nb1")
    edit = widen_range(graph, "b3", covered.split(", "))
    assert edit is not None
    assert edit.text == f"give b3 the skipRange '{wanted}'"


@pytest.mark.parametrize("covered", ["b4", "b3", "b4, b3", "x"])
def test_range_is_not_widened_for_versions_that_are_not_older(covered: str) -> None:
    assert widen_range(channel_graph("b4: b3\nb3: x\nx?"), "b3", covered.split(", ")) is None


@pytest.mark.parametrize(
    ("span", "left"),
    [
        (">=1.0.0 <=3.0.0", ">=1.0.0 <2.0.0"),
        ("=1.0.0 || >1.5.0", "=1.0.0 || >1.5.0 <2.0.0"),
        ("<=1.0.0 || =2.0.0", "<=1.0.0"),
    ],
)
def test_capped_range_keeps_all_intervals_below_the_version(span: str, left: str) -> None:
    graph = channel_graph(f"b2: b1 / - / {span}\nb1")
    edit = cap_range(graph, "b2")
    assert edit is not None
    assert edit.text == f"give b2 the skipRange '{left}'"


def test_edits_of_different_entries_are_joined() -> None:
    graph = channel_graph("b2: b1\nb1")
    both = join_edits(add_skips(graph, "b2", ["x"]), add_skips(graph, "b1", ["y"]))
    assert both is not None
    assert both.text == "add x to the skips of b2 and add y to the skips of b1"
    assert format_channel(apply_edit(graph, both).channel) == "b2: b1 / x\nb1: - / y"


def test_edits_of_one_entry_are_not_joined() -> None:
    graph = channel_graph("b2: b1\nb1")
    assert join_edits(add_skips(graph, "b2", ["x"]), add_skips(graph, "b2", ["y"])) is None
