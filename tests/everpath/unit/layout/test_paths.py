"""Drawn paths are those of the resolvers, for entries and for other versions."""

from __future__ import annotations

from hypothesis import given

from everpath.graph import ChannelGraph
from everpath.layout.diagram import Diagram
from everpath.layout.paths import drawn_paths
from everpath.resolvers import olm_v0, olm_v1
from everpath.simulate import InstalledVersion
from everpath.upgrade_path.hops import PathEnd
from tests.support.everpath.graphs import channel_graph
from tests.support.everpath.strategies import channel_graphs


@given(channel_graphs())
def test_the_next_hops_are_those_of_the_resolvers(graph: ChannelGraph) -> None:
    v0, v1 = drawn_paths(Diagram(graph))
    hops = olm_v0.next_hops(graph)
    assert v0.is_broken == (hops.failure is not None)
    for name in graph.entries:
        if name not in hops.failures:
            assert v0.by_entry[name].next == hops.next.get(name)
        if v1.by_entry[name].end is not PathEnd.ERROR:
            assert v1.by_entry[name].next == olm_v1.next_hops(graph)[name]


@given(channel_graphs())
def test_every_entry_has_an_end_and_a_reason(graph: ChannelGraph) -> None:
    for each in drawn_paths(Diagram(graph)):
        assert each.by_entry.keys() == graph.entries.keys()
        assert all(each.by_entry[name].reason for name in graph.entries)


def test_in_a_broken_channel_every_path_has_the_failure_as_reason() -> None:
    v0, v1 = drawn_paths(Diagram(channel_graph("c: a\nb: a\na")))
    assert v0.is_broken
    assert not v1.is_broken
    assert {path.next for path in v0.by_entry.values()} == {None}
    assert (v0.by_entry["a"].last, v0.by_entry["a"].end) == ("a", PathEnd.ERROR)
    assert "2 replacement chains were found" in v0.by_entry["a"].reason
    assert tuple(v0.path(None).hops) == ()


def test_a_new_install_gets_what_the_resolver_chooses() -> None:
    v0, v1 = drawn_paths(Diagram(channel_graph("1.0.1: 1.0.0 / 1.1.0\n1.1.0: 1.0.0\n1.0.0")))
    assert tuple(v0.path(None).hops) == ("1.0.1",)
    assert tuple(v1.path(None).hops) == ("1.1.0",)


def test_a_version_outside_the_channel_enters_by_a_range() -> None:
    for each in drawn_paths(Diagram(channel_graph("c: b\nb: a / - / <2.0.0\na"))):
        path = each.path(InstalledVersion("p.v0.5.0", "0.5.0"))
        assert (tuple(path.hops), path.end, path.reason) == (
            ("b", "c"),
            PathEnd.HEAD,
            "reaches the head in 2 hops",
        )


def test_a_version_outside_the_channel_without_an_edge_stays() -> None:
    v0, _ = drawn_paths(Diagram(channel_graph("b: a\na")))
    path = v0.path(InstalledVersion("p.v9.0.0", "9.0.0"))
    assert (path.hops, path.end) == ((), PathEnd.STRANDED)
