"""ChannelGraph and PackageGraph: versions, ranges, edges, heads and successors."""

from __future__ import annotations

import pytest

from everpath.graph import ChannelGraph, Edge, EdgeKind, PackageGraph
from everpath.model import Bundle, Channel, Csv, Entry, Package, Place
from everpath.versions import parse
from tests.support.everpath.graphs import channel_graph, package_graph

#: Crashes OLM for every version from 1.0.0 on. The first arm matches lower versions.
PANICS = "<1.0.0 || || >2.0.0"


def graph_of(*entries: Entry, versions: dict[str, str | None] | None = None) -> ChannelGraph:
    """Return a graph of entries that the notation cannot express."""
    place = Place("")
    bundles = tuple(Bundle(n, "p", v, place) for n, v in (versions or {}).items())
    channel = Channel("stable", "p", place, entries)
    return ChannelGraph(channel, Package("p", channels=(channel,), bundles=bundles))


def entry(name: str, *skips: str, replaces: str | None = None, skip_range: str | None = None) -> Entry:
    return Entry(name, Place(""), replaces, skips, skip_range)


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        (EdgeKind.REPLACES, "b replaces a"),
        (EdgeKind.SKIPS, "b skips a"),
        (EdgeKind.RANGE, "the skipRange of b covers a"),
    ],
)
def test_edge_is_shown_as_a_sentence(kind: EdgeKind, sentence: str) -> None:
    assert str(Edge("b", "a", kind)) == sentence


def test_edge_kinds_have_the_names_of_the_fields() -> None:
    assert [kind.value for kind in EdgeKind] == ["replaces", "skips", "skipRange"]


def test_versions_are_parsed_tolerantly() -> None:
    entries = [entry(name) for name in "abcd"]
    graph = graph_of(*entries, versions={"a": "v1.2", "b": "one", "c": None, "e": "1.0.0"})
    assert graph.versions == {"a": parse("1.2.0")}


def test_entry_without_a_bundle_has_no_version() -> None:
    assert channel_graph("b: a\na?").by_version == ("b",)


def test_stated_version_is_that_of_the_bundle_or_else_of_the_name() -> None:
    graph = channel_graph("a.v1.0.0@2.0.0\nb.v3.0.0?\nc?")
    assert {name: str(version) for name, version in graph.stated_versions.items()} == {
        "a.v1.0.0": "2.0.0",
        "b.v3.0.0": "3.0.0",
    }


def test_range_that_does_not_parse_is_ignored() -> None:
    graph = channel_graph("b3: - / - / <2.0.0\nb2: - / - / <v2\nb1")
    assert list(graph.ranges) == ["b3"]


def test_entries_are_sorted_by_version_then_name() -> None:
    graph = channel_graph("c@1.0.0\nb@1.0.0\nd@0.9.0\na@1.0.0-rc.1")
    assert graph.by_version == ("d", "a", "b", "c")
    assert graph.sorted_versions == tuple(graph.versions[name] for name in "dabc")


def test_replacers_and_skippers_are_in_the_order_of_entries() -> None:
    graph = channel_graph("c: gone / a\nb: gone / a\na")
    assert graph.replacers == {"gone": ("c", "b")}
    assert graph.skippers == {"a": ("c", "b")}


def test_entry_that_skips_a_name_twice_is_listed_once() -> None:
    graph = graph_of(entry("c", "a", "a"), entry("b", "a"), entry("a"))
    assert graph.skippers == {"a": ("c", "b")}


def test_empty_name_can_be_skipped_but_not_replaced() -> None:
    graph = graph_of(entry("b", "", replaces=""))
    assert (graph.replacers, graph.skippers) == ({}, {"": ("b",)})


def test_heads_are_neither_replaced_nor_skipped() -> None:
    graph = channel_graph("z\nb: r / s\nr\ns")
    assert graph.heads == ("b", "z")
    assert graph.head is None


def test_skip_range_does_not_affect_heads() -> None:
    assert channel_graph("b2: - / - / <2.0.0\nb1").heads == ("b1", "b2")


def test_head_exists_only_if_there_is_exactly_one() -> None:
    assert channel_graph("b: a\na").head == "b"
    assert channel_graph("b: a\na: b").head is None


def test_entry_that_replaces_and_skips_has_both_edges() -> None:
    assert list(channel_graph("b: a / a\na").named_edges("a")) == [
        Edge("b", "a", EdgeKind.REPLACES),
        Edge("b", "a", EdgeKind.SKIPS),
    ]


def test_successors_by_name_and_by_range() -> None:
    graph = channel_graph("b4: - / - / >2.0.0\nb3: - / b1 / <2.0.0\nb2: b1\nb1")
    assert list(graph.successors("b1")) == [
        Edge("b2", "b1", EdgeKind.REPLACES),
        Edge("b3", "b1", EdgeKind.SKIPS),
        Edge("b3", "b1", EdgeKind.RANGE),
    ]


def test_version_outside_the_channel_has_successors_by_range() -> None:
    graph = channel_graph("b2: b1 / - / >=0.5.0 <2.0.0\nb1")
    assert list(graph.successors("old", parse("0.6.0"))) == [Edge("b2", "old", EdgeKind.RANGE)]
    assert list(graph.successors("older", parse("0.4.0"))) == []
    assert list(graph.successors("unknown")) == []


def test_given_version_overrides_that_of_the_channel() -> None:
    graph = channel_graph("b3: - / - / <1.0.0\nb1")
    assert list(graph.successors("b1")) == []
    assert list(graph.successors("b1", parse("0.1.0"))) == [Edge("b3", "b1", EdgeKind.RANGE)]


def test_panicking_range_contains_only_versions_matched_before_the_panic() -> None:
    graph = channel_graph(f"b3: - / - / {PANICS}\nb2: - / - / <2.0.0\nb1\nlow@0.5.0")
    assert graph.panicking_entries == ("b3",)
    assert list(graph.successors("b1")) == [Edge("b2", "b1", EdgeKind.RANGE)]
    assert list(graph.edges_between("b3", "b1")) == []
    assert list(graph.edges_between("b3", "low")) == [Edge("b3", "low", EdgeKind.RANGE)]
    assert graph.successor_counts == {"b3": 0, "b2": 0, "b1": 1, "low": 2}
    assert graph.best_successors({"b3": 0, "b2": 1}) == {"b1": "b2", "low": "b3"}


def test_entry_without_a_version_has_successors_by_name_only() -> None:
    graph = channel_graph("b3: x / - / >=0.0.0\nb2: - / x\nx?\ny?")
    assert graph.successor_counts == {"b3": 0, "b2": 1, "x": 2, "y": 0}


def test_entry_is_not_counted_as_its_own_successor() -> None:
    graph = channel_graph("b2: b2 / b1\nb1: - / b1")
    assert graph.successor_counts == {"b2": 0, "b1": 1}


def test_edges_between_two_entries_include_every_kind() -> None:
    graph = channel_graph("b2: b1 / b1 / <2.0.0\nb1\nb0?")
    assert [edge.kind for edge in graph.edges_between("b2", "b1")] == list(EdgeKind)
    assert list(graph.edges_between("b2", "b0")) == []
    assert list(graph.edges_between("b1", "b2")) == []


def test_channel_by_name_is_the_first_of_that_name() -> None:
    first, again, fast = (
        Channel(name, "p", Place("", offset)) for offset, name in enumerate(("stable", "stable", "fast"))
    )
    package = PackageGraph(Package("p", channels=(first, again, fast)))
    assert {name: graph.channel for name, graph in package.by_name.items()} == {
        "stable": first,
        "fast": fast,
    }
    assert len(package.channels) == 3


def test_channels_by_entry() -> None:
    package = package_graph("[stable]\nb: a\na\n[fast]\nb")
    assert package.channels_by_entry == {"b": ("stable", "fast"), "a": ("stable",)}


def test_entry_below_another_is_not_topmost() -> None:
    assert channel_graph("c: b\nb: a\na").topmost("abc") == ("c",)
    assert channel_graph("c: - / b\nb: - / a\na").topmost("abc") == ("c",)


def test_topmost_entries_are_sorted_newest_first() -> None:
    assert channel_graph("b\nd: a\nc\na").topmost("abcd") == ("d", "c", "b")


def test_topmost_entries_without_a_version_come_last_by_name() -> None:
    assert channel_graph("z?\nd\ny?\nc\na?").topmost("zyacd") == ("d", "c", "a", "y", "z")


def test_single_entry_is_topmost() -> None:
    assert channel_graph("b: a\na").topmost(["a"]) == ("a",)
    assert channel_graph("b: a\na").topmost([]) == ()


def test_topmost_considers_paths_over_other_entries() -> None:
    graph = channel_graph("f: e\ne: d\nd: c\nc: b\nb: a\na\nz@9.0.0: a")
    assert graph.topmost("fa") == ("f",)
    assert graph.topmost("fbz") == ("z", "f")


def test_topmost_follows_skips_and_replaces() -> None:
    graph = channel_graph("f: x / e\ne: - / d, y\nd: c\nc")
    assert graph.topmost("fc") == ("f",)


def test_path_ends_at_a_name_that_is_not_an_entry() -> None:
    assert channel_graph("d: gone\nc: gone").topmost("cd") == ("d", "c")


def test_newest_entry_of_a_cycle_is_topmost() -> None:
    assert channel_graph("c: b\nb: a\na: c").topmost("abc") == ("c",)
    assert channel_graph("d: c\nc: b\nb: c\na").topmost("abcd") == ("d", "a")


def test_entry_that_leads_to_a_cycle_is_above_it() -> None:
    assert channel_graph("d: c\nc: b\nb: c / a\na").topmost("cda") == ("d",)
    assert channel_graph("r1@1.5.0: t / v\nv@1.1.0: r1\nr2@1.4.0: t / v\nt@1.0.0").topmost(["r1", "r2"]) == (
        "r2",
    )


def test_topmost_depends_on_edges_not_on_versions() -> None:
    assert channel_graph("a: c\nc: b\nb").topmost("abc") == ("a",)
    assert channel_graph("a: c\nb: c\nc").topmost("ac") == ("a",)


def test_entry_below_two_others_is_not_topmost() -> None:
    assert channel_graph("d: b\nc: b\nb: a\na").topmost("abcd") == ("d", "c")


def test_empty_replaces_is_not_an_edge_to_an_entry_with_empty_name() -> None:
    assert graph_of(entry("b", replaces=""), entry("")).topmost(["b", ""]) == ("", "b")


def test_head_below_is_the_newest_head_with_a_lower_version() -> None:
    graph = channel_graph("top@3.0.0\nb@2.0.0\nz@1.0.0\nc@1.0.0\nlow@0.1.0: gone\nnone?")
    assert [graph.head_below(n) for n in ("top", "b", "z", "c", "low", "none")] == [
        "b",
        "c",
        "low",
        "low",
        None,
        None,
    ]


def test_head_below_ignores_names() -> None:
    graph = channel_graph("h1@3.0.0\nh2@1.0.0\nh3@2.0.0\nx@2.5.0")
    assert graph.head_below("x") == "h3"


def test_skips_has_only_entries_that_skip() -> None:
    assert channel_graph("c: b / a, x\nb: a\na").skips == {"c": frozenset({"a", "x"})}


def test_sample_successors_has_all_edges_by_name_and_few_by_range() -> None:
    graph = channel_graph("d: a / - / <4.0.0\nc: - / a, c / <9.0.0\nb: - / - / <2.0.0\na: a / - / <=1.0.0")
    named = [Edge("d", "a", EdgeKind.REPLACES), Edge("c", "a", EdgeKind.SKIPS)]
    ranged = [Edge(name, "a", EdgeKind.RANGE) for name in "dcb"]
    assert graph.sample_successors("a", 0) == (named, 3)
    assert graph.sample_successors("a", 2) == ([*named, ranged[0], ranged[2]], 1)
    assert graph.sample_successors("a", 3) == graph.sample_successors("a", 9) == (named + ranged, 0)
    assert graph.sample_successors("gone", 9) == ([], 0)


def test_rendered_bundle_in_no_channel_is_found() -> None:
    """A bundle folder does not count: rendering adds it to the channels of its annotations."""
    place = Place("")
    channel = Channel("stable", "p", place, (entry("a"),))
    bundles = (
        Bundle("a", "p", "1.0.0", place),
        Bundle("b", "p", "2.0.0", place),
        Bundle("c", "p", "3.0.0", place, csv=Csv(place)),
    )
    assert PackageGraph(Package("p", channels=(channel,), bundles=bundles)).bundles_without_channel == ("b",)
