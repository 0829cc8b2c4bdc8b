"""Roads are what the policies say, for every entry and for whoever comes from elsewhere."""

from __future__ import annotations

from hypothesis import given

from everpath.graph import ChannelGraph
from everpath.layout.picture import Picture
from everpath.layout.roads import roads
from everpath.resolvers import olm_v0, olm_v1
from everpath.upgrade_paths.hops import Destination, End
from everpath.simulate import Asked
from graphs import channel_graph
from strategies import channel_graphs


@given(channel_graphs())
def test_the_next_hops_are_those_of_the_policies(graph: ChannelGraph) -> None:
    v0, v1 = roads(Picture(graph))
    hops = olm_v0.hops(graph)
    assert v0.is_broken == (hops.failure is not None)
    for name in graph.entries:
        if name not in hops.failures:
            assert v0.next[name] == hops.next.get(name)
        if v1.ends[name].end is not End.ERROR:
            assert v1.next[name] == olm_v1.hops(graph)[name]


@given(channel_graphs())
def test_every_entry_has_an_end_and_a_reason(graph: ChannelGraph) -> None:
    for each in roads(Picture(graph)):
        assert each.next.keys() == each.ends.keys() == graph.entries.keys()
        assert all(each.reason(name) for name in graph.entries)


def test_with_a_broken_channel_nobody_moves_and_everybody_is_told_why() -> None:
    v0, v1 = roads(Picture(channel_graph("c: a\nb: a\na")))
    assert v0.is_broken
    assert not v1.is_broken
    assert set(v0.next.values()) == {None}
    assert v0.ends["a"] == Destination("a", End.ERROR)
    assert "2 replacement chains were found" in v0.reason("a")
    assert v0.fresh.path == ()


def test_a_new_install_gets_what_the_policy_gives_it() -> None:
    v0, v1 = roads(Picture(channel_graph("1.0.1: 1.0.0 / 1.1.0\n1.1.0: 1.0.0\n1.0.0")))
    assert v0.fresh.path == ("1.0.1",)
    assert v1.fresh.path == ("1.1.0",)


def test_a_visitor_is_taken_in_by_a_range_and_follows_the_others() -> None:
    for each in roads(Picture(channel_graph("c: b\nb: a / - / <2.0.0\na"))):
        assert each.road(Asked("p.v0.5.0", "0.5.0")) == (("b", "c"), End.HEAD, "reaches the head in 2 hops")


def test_a_visitor_whom_nobody_accepts_stays_where_it_is() -> None:
    v0, _ = roads(Picture(channel_graph("b: a\na")))
    road = v0.road(Asked("p.v9.0.0", "9.0.0"))
    assert (road.path, road.end) == ((), End.STRANDED)
