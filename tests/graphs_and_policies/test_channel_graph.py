"""The graph of a channel: names, versions and ranges understood, and who accepts whom."""

from __future__ import annotations

import pytest

from everpath.graph import Abstract, ChannelGraph, Edge, EdgeKind, PackageGraph
from everpath.model import Bundle, Channel, Csv, Entry, Package, Place
from everpath.versions import parse
from graphs import channel_graph, package_graph

#: Crashes OLM for every version from 1.0.0 on; below it the first arm answers.
PANICS = "<1.0.0 || || >2.0.0"


def graph_of(*entries: Entry, versions: dict[str, str | None] | None = None) -> ChannelGraph:
    """A graph of entries that no drawing can draw."""
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
def test_an_edge_reads_as_a_sentence(kind: EdgeKind, sentence: str) -> None:
    assert str(Edge("b", "a", kind)) == sentence


def test_edges_are_called_after_the_fields_that_make_them() -> None:
    assert [kind.value for kind in EdgeKind] == ["replaces", "skips", "skipRange"]


def test_a_name_without_an_entry_is_a_node_too() -> None:
    graph = channel_graph("b: gone")
    assert graph.node("b") is graph.entries["b"]
    assert graph.node("gone") == Abstract("gone")


def test_versions_are_read_as_tolerantly_as_olm_reads_them() -> None:
    entries = [entry(name) for name in "abcd"]
    graph = graph_of(*entries, versions={"a": "v1.2", "b": "one", "c": None, "e": "1.0.0"})
    assert graph.versions == {"a": parse("1.2.0")}


def test_an_entry_without_a_bundle_has_no_version() -> None:
    assert channel_graph("b: a\na?").by_version == ("b",)


def test_a_version_is_stated_by_the_bundle_and_only_without_one_by_the_name() -> None:
    graph = channel_graph("a.v1.0.0@2.0.0\nb.v3.0.0?\nc?")
    assert {name: str(version) for name, version in graph.stated_versions.items()} == {
        "a.v1.0.0": "2.0.0",
        "b.v3.0.0": "3.0.0",
    }


def test_a_range_that_does_not_parse_is_as_if_it_were_not_there() -> None:
    graph = channel_graph("b3: - / - / <2.0.0\nb2: - / - / <v2\nb1")
    assert list(graph.ranges) == ["b3"]


def test_entries_are_ordered_by_version_and_equal_ones_by_name() -> None:
    graph = channel_graph("c@1.0.0\nb@1.0.0\nd@0.9.0\na@1.0.0-rc.1")
    assert graph.by_version == ("d", "a", "b", "c")
    assert graph.sorted_versions == tuple(graph.versions[name] for name in "dabc")


def test_replacers_and_skippers_of_a_name_come_in_the_order_of_entries() -> None:
    graph = channel_graph("c: gone / a\nb: gone / a\na")
    assert graph.replacers == {"gone": ("c", "b")}
    assert graph.skippers == {"a": ("c", "b")}


def test_an_entry_that_skips_a_name_twice_skips_it_once() -> None:
    graph = graph_of(entry("c", "a", "a"), entry("b", "a"), entry("a"))
    assert graph.skippers == {"a": ("c", "b")}


def test_an_empty_name_is_skipped_but_never_replaced() -> None:
    graph = graph_of(entry("b", "", replaces=""))
    assert (graph.replacers, graph.skippers) == ({}, {"": ("b",)})


def test_heads_are_neither_replaced_nor_skipped_and_sorted() -> None:
    graph = channel_graph("z\nb: r / s\nr\ns")
    assert graph.heads == ("b", "z")
    assert graph.head is None


def test_a_range_makes_and_unmakes_no_head() -> None:
    assert channel_graph("b2: - / - / <2.0.0\nb1").heads == ("b1", "b2")


def test_one_head_is_the_head() -> None:
    assert channel_graph("b: a\na").head == "b"
    assert channel_graph("b: a\na: b").head is None


def test_an_entry_that_replaces_and_skips_gives_both_edges() -> None:
    assert list(channel_graph("b: a / a\na").named_edges("a")) == [
        Edge("b", "a", EdgeKind.REPLACES),
        Edge("b", "a", EdgeKind.SKIPS),
    ]


def test_successors_are_found_by_name_and_by_range() -> None:
    graph = channel_graph("b4: - / - / >2.0.0\nb3: - / b1 / <2.0.0\nb2: b1\nb1")
    assert list(graph.successors("b1")) == [
        Edge("b2", "b1", EdgeKind.REPLACES),
        Edge("b3", "b1", EdgeKind.SKIPS),
        Edge("b3", "b1", EdgeKind.RANGE),
    ]


def test_an_installed_version_from_elsewhere_is_accepted_by_range() -> None:
    graph = channel_graph("b2: b1 / - / >=0.5.0 <2.0.0\nb1")
    assert list(graph.successors("old", parse("0.6.0"))) == [Edge("b2", "old", EdgeKind.RANGE)]
    assert list(graph.successors("older", parse("0.4.0"))) == []
    assert list(graph.successors("unknown")) == []


def test_a_given_version_counts_instead_of_the_channel_s_own() -> None:
    graph = channel_graph("b3: - / - / <1.0.0\nb1")
    assert list(graph.successors("b1")) == []
    assert list(graph.successors("b1", parse("0.1.0"))) == [Edge("b3", "b1", EdgeKind.RANGE)]


def test_a_range_that_crashes_olm_accepts_only_what_stands_before_the_crash() -> None:
    graph = channel_graph(f"b3: - / - / {PANICS}\nb2: - / - / <2.0.0\nb1\nlow@0.5.0")
    assert graph.panicking_entries == ("b3",)
    assert list(graph.successors("b1")) == [Edge("b2", "b1", EdgeKind.RANGE)]
    assert list(graph.edges_between("b3", "b1")) == []
    assert list(graph.edges_between("b3", "low")) == [Edge("b3", "low", EdgeKind.RANGE)]
    assert graph.successor_counts == {"b3": 0, "b2": 0, "b1": 1, "low": 2}
    assert graph.best_successors({"b3": 0, "b2": 1}) == {"b1": "b2", "low": "b3"}


def test_an_entry_without_a_version_is_accepted_by_name_alone() -> None:
    graph = channel_graph("b3: x / - / >=0.0.0\nb2: - / x\nx?\ny?")
    assert graph.successor_counts == {"b3": 0, "b2": 1, "x": 2, "y": 0}


def test_who_accepts_itself_is_not_counted() -> None:
    graph = channel_graph("b2: b2 / b1\nb1: - / b1")
    assert graph.successor_counts == {"b2": 0, "b1": 1}


def test_one_entry_accepts_another_by_each_edge_it_has() -> None:
    graph = channel_graph("b2: b1 / b1 / <2.0.0\nb1\nb0?")
    assert [edge.kind for edge in graph.edges_between("b2", "b1")] == list(EdgeKind)
    assert list(graph.edges_between("b2", "b0")) == []
    assert list(graph.edges_between("b1", "b2")) == []


def test_a_channel_of_a_package_is_found_by_name_the_first_of_each() -> None:
    first, again, fast = (
        Channel(name, "p", Place("", offset)) for offset, name in enumerate(("stable", "stable", "fast"))
    )
    package = PackageGraph(Package("p", channels=(first, again, fast)))
    assert {name: graph.channel for name, graph in package.by_name.items()} == {
        "stable": first,
        "fast": fast,
    }
    assert len(package.channels) == 3


def test_memberships_are_the_channels_that_hold_a_name() -> None:
    package = package_graph("[stable]\nb: a\na\n[fast]\nb")
    assert package.channels_by_entry == {"b": ("stable", "fast"), "a": ("stable",)}


# Which of several rivals stand in nobody's line.


def test_a_rival_in_the_line_of_another_is_no_rival() -> None:
    assert channel_graph("c: b\nb: a\na").topmost("abc") == ("c",)
    assert channel_graph("c: - / b\nb: - / a\na").topmost("abc") == ("c",)


def test_rivals_in_nobody_s_line_come_newest_first() -> None:
    assert channel_graph("b\nd: a\nc\na").topmost("abcd") == ("d", "c", "b")


def test_rivals_without_a_version_come_last_by_name() -> None:
    assert channel_graph("z?\nd\ny?\nc\na?").topmost("zyacd") == ("d", "c", "a", "y", "z")


def test_one_rival_is_related_to_nobody() -> None:
    assert channel_graph("b: a\na").topmost(["a"]) == ("a",)
    assert channel_graph("b: a\na").topmost([]) == ()


def test_a_line_is_followed_through_entries_that_are_no_rivals() -> None:
    graph = channel_graph("f: e\ne: d\nd: c\nc: b\nb: a\na\nz@9.0.0: a")
    assert graph.topmost("fa") == ("f",)
    assert graph.topmost("fbz") == ("z", "f")


def test_a_line_is_followed_by_skips_and_replaces_alike() -> None:
    graph = channel_graph("f: x / e\ne: - / d, y\nd: c\nc")
    assert graph.topmost("fc") == ("f",)


def test_a_line_stops_at_a_name_that_is_no_entry() -> None:
    assert channel_graph("d: gone\nc: gone").topmost("cd") == ("d", "c")


def test_entries_on_a_circle_stand_in_each_other_s_line() -> None:
    assert channel_graph("c: b\nb: a\na: c").topmost("abc") == ("c",)
    assert channel_graph("d: c\nc: b\nb: c\na").topmost("abcd") == ("d", "a")


def test_an_entry_on_a_circle_is_in_the_line_of_whoever_leads_there() -> None:
    assert channel_graph("d: c\nc: b\nb: c / a\na").topmost("cda") == ("d",)
    assert channel_graph("r1@1.5.0: t / v\nv@1.1.0: r1\nr2@1.4.0: t / v\nt@1.0.0").topmost(["r1", "r2"]) == (
        "r2",
    )


def test_a_rival_that_a_lower_version_accepts_is_in_its_line() -> None:
    assert channel_graph("a: c\nc: b\nb").topmost("abc") == ("a",)
    assert channel_graph("a: c\nb: c\nc").topmost("ac") == ("a",)


def test_an_entry_two_rivals_lead_to_is_in_both_lines() -> None:
    assert channel_graph("d: b\nc: b\nb: a\na").topmost("abcd") == ("d", "c")


def test_a_missing_name_leads_nowhere_even_if_an_entry_has_none() -> None:
    assert graph_of(entry("b", replaces=""), entry("")).topmost(["b", ""]) == ("", "b")


def test_the_head_below_is_the_newest_of_lower_version() -> None:
    graph = channel_graph("top@3.0.0\nb@2.0.0\nz@1.0.0\nc@1.0.0\nlow@0.1.0: gone\nnone?")
    assert [graph.head_below(n) for n in ("top", "b", "z", "c", "low", "none")] == [
        "b",
        "c",
        "low",
        "low",
        None,
        None,
    ]


def test_the_head_below_is_found_by_version_whatever_the_names_are() -> None:
    graph = channel_graph("h1@3.0.0\nh2@1.0.0\nh3@2.0.0\nx@2.5.0")
    assert graph.head_below("x") == "h3"


def test_only_who_skips_somebody_is_among_the_skips() -> None:
    assert channel_graph("c: b / a, x\nb: a\na").skips == {"c": frozenset({"a", "x"})}


def test_some_successors_are_all_by_name_and_a_few_by_range() -> None:
    graph = channel_graph("d: a / - / <4.0.0\nc: - / a, c / <9.0.0\nb: - / - / <2.0.0\na: a / - / <=1.0.0")
    named = [Edge("d", "a", EdgeKind.REPLACES), Edge("c", "a", EdgeKind.SKIPS)]
    ranged = [Edge(name, "a", EdgeKind.RANGE) for name in "dcb"]
    assert graph.sample_successors("a", 0) == (named, 3)
    assert graph.sample_successors("a", 2) == ([*named, ranged[0], ranged[2]], 1)
    assert graph.sample_successors("a", 3) == graph.sample_successors("a", 9) == (named + ranged, 0)
    assert graph.sample_successors("gone", 9) == ([], 0)


def test_a_stray_is_a_rendered_bundle_in_no_channel() -> None:
    """A bundle's folder is none: what its CSV asks for puts it into a channel when it is rendered."""
    place = Place("")
    channel = Channel("stable", "p", place, (entry("a"),))
    bundles = (
        Bundle("a", "p", "1.0.0", place),
        Bundle("b", "p", "2.0.0", place),
        Bundle("c", "p", "3.0.0", place, csv=Csv(place)),
    )
    assert PackageGraph(Package("p", channels=(channel,), bundles=bundles)).bundles_without_channel == ("b",)
