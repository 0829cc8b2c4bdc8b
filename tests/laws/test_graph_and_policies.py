"""Laws of the graph and of the three policies, over random channels."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from everpath.graph import ChannelGraph
from everpath.loaders.notation import draw, parse
from everpath.resolvers import olm_v0, olm_v1, opm
from everpath.resolvers.walks import End, destinations, walk
from everpath.rules.check import check
from graphs import channel_graph
from strategies import channel_graphs, drawings


def _others(graph: ChannelGraph, name: str) -> set[str]:
    return {edge.successor for edge in graph.successors(name)} - {name}


@given(channel_graphs())
def test_counting_successors_agrees_with_listing_them(graph: ChannelGraph) -> None:
    assert graph.successor_counts == {name: len(_others(graph, name)) for name in graph.entries}


def _line(graph: ChannelGraph, name: str) -> set[str]:
    """All that an entry replaces or skips, and theirs; itself, if it stands on a circle."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        entry = graph.entries[waiting.pop()]
        below = {name for name in (entry.replaces, *entry.skips) if name and name in graph.entries} - found
        found |= below
        waiting += below
    return found


@given(channel_graphs(), st.randoms(use_true_random=False))
def test_rivals_are_unrelated_if_none_stands_in_another_s_line(graph: ChannelGraph, chance: Random) -> None:
    names = [name for name in graph.entries if chance.random() < 0.7]
    ranked = sorted(names, key=graph._newest_first)
    lines = {name: _line(graph, name) for name in names}

    def yields_to(place: int, name: str) -> bool:
        """Of two in each other's line the newer one stays."""
        over = ((other, ranked.index(other)) for other in names if name in lines[other] and other != name)
        return any(other not in lines[name] or rank < place for other, rank in over)

    assert graph.topmost(names) == tuple(n for i, n in enumerate(ranked) if not yields_to(i, n))


@given(channel_graphs(), st.randoms(use_true_random=False))
def test_the_nearest_of_a_sweep_is_the_nearest_of_a_list(graph: ChannelGraph, chance: Random) -> None:
    names = list(graph.entries)
    chance.shuffle(names)
    rank = {name: i for i, name in enumerate(names[: len(names) // 2 + 1])}
    brute = {}
    for name in graph.entries:
        accepting = [e.successor for e in graph.successors(name) if e.successor in rank]
        if accepting:
            brute[name] = min(accepting, key=rank.__getitem__)
    assert graph.best_successors(rank) == brute


@given(channel_graphs())
def test_v0_answers_one_question_as_it_answers_all(graph: ChannelGraph) -> None:
    hops = olm_v0.hops(graph)
    for name in graph.entries if hops.failure is None else ():
        first = next((e.successor for e in olm_v0.candidates(graph, name)), None)
        assert hops.next[name] == (None if first == name else first)


@given(channel_graphs())
def test_v1_answers_one_question_as_it_answers_all(graph: ChannelGraph) -> None:
    hops = olm_v1.hops(graph)
    for name in graph.entries:
        assert hops[name] == next((e.successor for e in olm_v1.candidates(graph, name)), None)


@given(drawings(), st.randoms(use_true_random=False))
def test_v0_does_not_depend_on_the_order_of_entries(drawing: str, chance: Random) -> None:
    lines = drawing.splitlines()
    chance.shuffle(lines)
    one, other = channel_graph(drawing), channel_graph("\n".join(lines))
    assert olm_v0.hops(one).next == olm_v0.hops(other).next
    assert opm.verdict(one).accepted == opm.verdict(other).accepted


@given(channel_graphs())
def test_v0_never_sends_anybody_to_a_skipped_entry(graph: ChannelGraph) -> None:
    assert not {n for n in olm_v0.hops(graph).next.values() if n} & set(graph.skippers)


@given(channel_graphs())
def test_v1_never_goes_down(graph: ChannelGraph) -> None:
    for name, target in olm_v1.hops(graph).items():
        assert target is None or graph.versions[target] >= graph.versions[name]


@given(channel_graphs())
def test_v1_never_walks_in_circles(graph: ChannelGraph) -> None:
    ends = destinations(olm_v1.hops(graph), graph.head, graph.entries)
    assert all(d.end is not End.LOOP for d in ends.values())


@given(channel_graphs())
def test_the_destination_is_where_the_walk_ends(graph: ChannelGraph) -> None:
    hops = olm_v0.hops(graph).next
    for name, destination in destinations(hops, graph.head, graph.entries).items():
        path = (name, *walk(hops, name))
        if destination.end is End.LOOP:
            assert path[-1] in path[:-1]
        else:
            assert destination.name == path[-1]


@given(channel_graphs())
def test_what_opm_accepts_has_one_head(graph: ChannelGraph) -> None:
    verdict = opm.verdict(graph)
    assert not verdict.accepted or graph.head == verdict.heads[0]


@given(drawings())
def test_every_channel_can_be_checked(drawing: str) -> None:
    report = check(parse(drawing))
    assert all(finding.message and finding.rule for finding in report.findings)


@given(drawings())
def test_a_drawing_of_a_channel_draws_it_again(drawing: str) -> None:
    [channel] = parse(drawing).packages[0].channels
    [again] = parse(draw(channel)).packages[0].channels
    assert [e._replace(place=channel.place) for e in again.entries] == [
        e._replace(place=channel.place) for e in channel.entries
    ]
