"""A diagram has each entry once, in order of version, and each edge."""

from __future__ import annotations

from hypothesis import given

from everpath.graph import ChannelGraph
from everpath.layout.diagram import Diagram
from tests.support.everpath.graphs import channel_graph
from tests.support.everpath.strategies import channel_graphs


def named(picture: Diagram) -> set[tuple[str, str, str]]:
    names = [node.name for node in picture.nodes]
    return {(names[new], names[old], kind) for new, old, kind in picture.edges()}


@given(channel_graphs())
def test_the_diagram_has_exactly_the_edges_of_the_graph(graph: ChannelGraph) -> None:
    picture = Diagram(graph)
    edges = {(*edge[:2], edge.kind.value) for node in picture.nodes for edge in graph.successors(node.name)}
    assert named(picture) == edges


@given(channel_graphs())
def test_every_entry_and_every_name_it_refers_to_has_one_column(graph: ChannelGraph) -> None:
    names = [node.name for node in Diagram(graph).nodes]
    referred = {n for e in graph.entries.values() for n in (e.replaces, *e.skips) if n}
    assert sorted(names) == sorted(graph.entries.keys() | referred)


@given(channel_graphs())
def test_versions_ascend_from_left_to_right(graph: ChannelGraph) -> None:
    names = [node.name for node in Diagram(graph).nodes if node.name in graph.versions]
    assert tuple(names) == graph.by_version


def test_what_has_no_version_comes_first_so_that_no_range_seems_to_cover_it() -> None:
    picture = Diagram(channel_graph("c: b / gone / <3.0.0\nb: a\na\nold?"))
    assert [node.name for node in picture.nodes] == ["gone", "old", "a", "b", "c"]
    assert picture.covered_ranges[0].runs == ((2, 3),)


def test_a_range_with_a_hole_has_two_runs() -> None:
    picture = Diagram(channel_graph("d: c / - / <2.0.0 || >2.0.0 <4.0.0\nc: b\nb: a\na"))
    assert picture.covered_ranges[0].runs == ((0, 0), (2, 2))
    assert picture.covered_ranges[0].size == 2


def test_a_range_that_does_not_parse_covers_nothing_and_is_kept() -> None:
    [reach] = Diagram(channel_graph("b: a / - / nonsense\na")).covered_ranges
    assert (reach.text, reach.runs, reach.is_valid) == ("nonsense", (), False)


def test_states_are_those_that_the_resolvers_know() -> None:
    drawing = """
        c: a / b
        b: a
        a
        %deprecated a: too old
        %prohibited b
    """
    a, b, c = Diagram(channel_graph(drawing)).nodes
    assert (a.deprecated, a.is_skipped, a.is_head) == ("too old", False, False)
    assert (b.uninstallable, b.is_skipped) == ("carries olm.deprecated", True)
    assert c.is_head


def test_a_label_is_the_version_or_what_tells_names_apart() -> None:
    picture = Diagram(channel_graph("op.v1.1.0: op.v1.0.0 / op.v0.9.0\nop.v1.0.0"))
    assert [node.label for node in picture.nodes] == ["v0.9.0", "1.0.0", "1.1.0"]


def test_a_label_is_the_whole_name_where_names_begin_differently() -> None:
    picture = Diagram(channel_graph("op.v1.1.0: my.v1.0.0 / op.v0.9.0\nmy.v1.0.0"))
    assert picture.nodes[0].label == "op.v0.9.0"
