"""Number of paths, and the shortest and longest of them."""

from __future__ import annotations

from itertools import islice

from everpath.graph import ChannelGraph, EdgeKind, PackageGraph
from everpath.paths import path_counts
from everpath.paths.hop_graph import build_hop_graph
from everpath.paths.mirror_v1 import mirror_v1
from everpath.paths.resolver_hops import path_targets
from everpath.resolvers.resolution import InstalledBundle
from everpath.versions import parse
from tests.support.everpath.graphs import channel_graph, package_graph

DIAMOND = """
    d: b / - / >=1.0.0 <3.0.0
    c: a
    b: a / c
    a
"""


def test_a_path_names_the_kinds_of_edge_of_each_hop() -> None:
    hop_graph = build_hop_graph([channel_graph(DIAMOND)])
    [first, second] = hop_graph.hops(("a", "b", "d"))
    assert first.kinds == (EdgeKind.REPLACES,)
    assert second.kinds == (EdgeKind.REPLACES, EdgeKind.RANGE)


def test_paths_come_shortest_first_and_by_the_newest_entries() -> None:
    hop_graph = build_hop_graph([channel_graph(DIAMOND)])
    assert list(path_counts.paths_by_length(hop_graph, "a", "d")) == [
        ("a", "d"),
        ("a", "b", "d"),
        ("a", "c", "b", "d"),
    ]


def test_two_kinds_of_edge_are_one_path() -> None:
    hop_graph = build_hop_graph([channel_graph("b: a / a / <2.0.0\na")])
    assert path_counts.path_counts(hop_graph, "b")["a"].paths == 1


def test_a_thousand_entries_with_countless_paths_are_counted_exactly() -> None:
    chain = (f"b{i}: b{i - 1} / - / <{i}.0.0" for i in range(1000, 1, -1))
    hop_graph = build_hop_graph([channel_graph("\n".join([*chain, "b1"]))])
    tally = path_counts.path_counts(hop_graph, "b1000")["b1"]
    assert (tally.paths, tally.shortest, tally.longest) == (2**998, 1, 999)
    assert len(list(islice(path_counts.paths_by_length(hop_graph, "b1", "b1000"), 20))) == 20


def test_a_loop_is_reported_and_passed_once() -> None:
    hop_graph = build_hop_graph([channel_graph("d: c\nc: b / - / <2.0.0\nb: a / c\na")])
    assert path_counts.loops(hop_graph) == (("c", "b"),)
    assert list(path_counts.paths_by_length(hop_graph, "a", "d")) == [("a", "c", "d"), ("a", "b", "c", "d")]
    assert path_counts.path_counts(hop_graph, "d")["a"].paths == 2


def test_beyond_a_dozen_entries_of_one_loop_the_count_is_a_lower_bound() -> None:
    """Every entry accepts all others. The goal ends all paths, and so is not in the loop."""
    rows = [f"b{i}: - / - / >=0.0.1" for i in range(14, 0, -1)]
    tallies = path_counts.path_counts(build_hop_graph([channel_graph("\n".join(rows))]), "b14")
    assert (tallies["b1"].paths, tallies["b1"].is_exact) == (2**12, False)
    tallies = path_counts.path_counts(build_hop_graph([channel_graph("\n".join(rows[1:]))]), "b13")
    assert (tallies["b1"].paths, tallies["b1"].is_exact) == (108_505_112, True)


def test_an_entry_of_a_large_loop_that_only_descends_has_its_shortest_path() -> None:
    up = "\n".join(f"b{i}: b{i - 1}" for i in range(14, 1, -1))
    hop_graph = build_hop_graph([channel_graph(f"goal@0.1.0: b1\n{up}\nb1: - / b14")])
    tallies = path_counts.path_counts(hop_graph, "goal")
    assert (tallies["b14"].paths, tallies["b14"].shortest, tallies["b14"].is_exact) == (1, 2, False)
    assert path_counts.longest_path(tallies, "b14") == ("b14", "b1", "goal")


def test_an_uninstallable_entry_is_on_no_path() -> None:
    """A prohibited bundle is no target of v0, but v1 takes it; without a bundle an entry is in v0's order."""
    assert build_hop_graph([channel_graph("c: b\nb: a\na\n%prohibited b")]).successors("a") == ("b",)
    assert build_hop_graph([channel_graph("c: b\nb?: a\na")]).successors("a") == ("b",)
    assert build_hop_graph([channel_graph("c: b / b\nb?: a\na")]).successors("a") == ()


def test_one_may_start_outside_of_the_channel() -> None:
    graph = channel_graph("c: b / - / >=1.0.0 <1.5.0\nb")
    assert build_hop_graph([graph], "any", [InstalledBundle("x", parse("1.2.0"))]).successors("x") == ("c",)
    assert build_hop_graph([graph], "v0", [InstalledBundle("x", parse("1.2.0"))]).successors("x") == ("c",)
    assert build_hop_graph([graph], "v1", [InstalledBundle("x", parse("1.2.0"))]).successors("x") == ("c",)
    assert build_hop_graph([graph], "any", [InstalledBundle("x", None)]).successors("x") == ()


def test_a_resolver_takes_one_path() -> None:
    graph = channel_graph(DIAMOND)
    assert list(path_counts.paths_by_length(build_hop_graph([graph], "v0"), "a", "d")) == [("a", "d")]
    assert list(path_counts.paths_by_length(build_hop_graph([graph], "v1"), "a", "d")) == [("a", "d")]


def test_a_channel_that_v0_cannot_resolve_has_no_paths() -> None:
    hop_graph = build_hop_graph([channel_graph("c: a\nb: a\na")], "v0")
    assert hop_graph.successors("a") == ()
    assert list(hop_graph.channel_failures) == ["stable"]


def test_paths_lead_to_every_head_and_under_v1_to_the_first_of_the_ranking() -> None:
    graph = channel_graph("b: a\nc: a\na")
    assert path_targets(graph) == path_targets(graph, "v0") == ("b", "c")
    assert path_targets(graph, "v1") == ("c",)
    assert path_targets(channel_graph("b: a\na: b")) == ("b",)


def test_across_channels_a_path_may_switch() -> None:
    package = package_graph("[old]\nb: a\na\n[new]\nc: b\nb")
    assert list(path_counts.paths_by_length(build_hop_graph(package.channels), "a", "c")) == [("a", "b", "c")]
    assert list(path_counts.paths_by_length(build_hop_graph(package.channels, "v0"), "a", "c")) == [
        ("a", "b", "c")
    ]
    assert list(path_counts.paths_by_length(build_hop_graph(package.channels, "v1"), "a", "c")) == [
        ("a", "b", "c")
    ]
    [hop, _] = build_hop_graph(package.channels).hops(("a", "b", "c"))
    assert hop.channels == ("old",)


def test_the_same_edge_in_two_channels_is_one_path() -> None:
    package = package_graph("[old]\nb: a\na\n[new]\nb: - / - / <2.0.0\na")
    assert path_counts.path_counts(build_hop_graph(package.channels), "b")["a"].paths == 1


def test_v1_takes_the_paths_that_its_resolver_takes_where_versions_are_equal() -> None:
    hop_graph = build_hop_graph([channel_graph("b1@1.0.0\nb2@2.0.0: b1\nb3@2.0.0: b2")], "v1")
    assert (hop_graph.successors("b1"), hop_graph.successors("b2")) == (("b2",), ())


def test_v1_arrives_at_the_head_or_at_what_it_would_install() -> None:
    assert path_targets(channel_graph("c: b\nb"), "v1") == ("c",)
    assert path_targets(channel_graph("b@1.0.0: c\nc@2.0.0"), "v1") == ("b", "c")


def test_a_hop_by_a_channel_of_the_same_name_has_the_kind_of_its_edge_alone() -> None:
    channels = (channel_graph("c: b\nb: - / a\na").channel, channel_graph("b: a\na").channel)
    bundles = channel_graph("c: b\nb: a\na").package.bundles
    package = channel_graph("a").package._replace(channels=channels, bundles=bundles)
    [hop] = build_hop_graph([PackageGraph(package).by_name["stable"]], "v1").hops(("a", "b"))
    assert (hop.kinds, hop.channels) == ((EdgeKind.REPLACES,), ("stable",))


def test_of_two_bundles_of_one_name_v1_goes_by_the_last() -> None:
    graph = channel_graph("b: a\na")
    [unread] = channel_graph("a@bad").package.bundles
    package = graph.package._replace(bundles=(*graph.package.bundles, unread))
    for graphs in (PackageGraph(package).channels, PackageGraph(package).channels * 2):
        hop_graph = build_hop_graph(graphs, "v1")
        assert (hop_graph.successors("a"), [*hop_graph.failures]) == ((), ["a"])


def test_a_hop_by_an_entry_that_is_written_again_has_the_kind_of_its_edge() -> None:
    twice = channel_graph("b: a / - / -\na")
    again = twice.channel.entries[0]._replace(replaces=None)
    graph = ChannelGraph(twice.channel._replace(entries=(again, *twice.channel.entries)), twice.package)
    [hop] = build_hop_graph([graph], "v1").hops(("a", "b"))
    assert hop.kinds == (EdgeKind.REPLACES,)


def test_with_several_channels_too_no_version_goes_where_v1_fails() -> None:
    package = package_graph("[x]\nb3: b2 / - / <1.0.0 || || >5.0.0\nb2: b1\nb1\n[y]\nb1")
    hop_graph = build_hop_graph(package.channels, "v1")
    assert hop_graph.successors("b1") == ()
    assert "b1" in hop_graph.failures


def test_of_two_channels_of_one_name_v1_goes_by_the_last() -> None:
    channels = (channel_graph("c: b").channel, channel_graph("b: a\na").channel)
    bundles = channel_graph("c: b\nb: a\na").package.bundles
    package = channel_graph("a").package._replace(channels=channels, bundles=bundles)
    graph = PackageGraph(package).by_name["stable"]
    hop_graph = build_hop_graph([graph], "v1")
    assert (hop_graph.successors("a"), hop_graph.successors("b")) == (("b",), ())
    assert path_targets(graph, "v1") == ("b",)
    assert mirror_v1([graph]).bundles == ("c",)
