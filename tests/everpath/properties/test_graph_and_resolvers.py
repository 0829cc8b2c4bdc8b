"""Properties of the graph and of the three resolvers, for random channels."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from everpath.graph import ChannelGraph
from everpath.loaders.notation import format_channel, parse
from everpath.resolvers import olm_v0, olm_v1, opm
from everpath.rules.lint import lint
from everpath.upgrade_path.hops import PathEnd, hops_from, last_entries
from tests.support.everpath.graphs import channel_graph
from tests.support.everpath.strategies import channel_graphs, drawings


def _others(graph: ChannelGraph, name: str) -> set[str]:
    return {edge.successor for edge in graph.successors(name)} - {name}


@given(channel_graphs())
def test_successor_counts_agree_with_successors(graph: ChannelGraph) -> None:
    assert graph.successor_counts == {name: len(_others(graph, name)) for name in graph.entries}


def _reachable(graph: ChannelGraph, name: str) -> set[str]:
    """Return all entries that an entry replaces or skips, directly or over others."""
    found: set[str] = set()
    pending = [name]
    while pending:
        entry = graph.entries[pending.pop()]
        targets = {name for name in (entry.replaces, *entry.skips) if name and name in graph.entries} - found
        found |= targets
        pending += targets
    return found


@given(channel_graphs(), st.randoms(use_true_random=False))
def test_topmost_agrees_with_reachability(graph: ChannelGraph, chance: Random) -> None:
    names = [name for name in graph.entries if chance.random() < 0.7]
    ranked = sorted(names, key=graph._newest_first_key)
    below = {name: _reachable(graph, name) for name in names}

    def is_below_another(index: int, name: str) -> bool:
        """Of two entries in one cycle, the newer one is topmost."""
        above = ((other, ranked.index(other)) for other in names if name in below[other] and other != name)
        return any(other not in below[name] or rank < index for other, rank in above)

    assert graph.topmost(names) == tuple(n for i, n in enumerate(ranked) if not is_below_another(i, n))


@given(channel_graphs(), st.randoms(use_true_random=False))
def test_best_successors_agree_with_successors(graph: ChannelGraph, chance: Random) -> None:
    names = list(graph.entries)
    chance.shuffle(names)
    rank = {name: i for i, name in enumerate(names[: len(names) // 2 + 1])}
    expected = {}
    for name in graph.entries:
        accepting = [e.successor for e in graph.successors(name) if e.successor in rank]
        if accepting:
            expected[name] = min(accepting, key=rank.__getitem__)
    assert graph.best_successors(rank) == expected


@given(channel_graphs())
def test_v0_has_the_same_hop_for_one_entry_as_for_all(graph: ChannelGraph) -> None:
    hops = olm_v0.next_hops(graph)
    for name in graph.entries if hops.failure is None else ():
        first = next((e.successor for e in olm_v0.candidates(graph, name)), None)
        assert hops.next[name] == (None if first == name else first)


@given(channel_graphs())
def test_v1_has_the_same_hop_for_one_entry_as_for_all(graph: ChannelGraph) -> None:
    hops = olm_v1.next_hops(graph)
    for name in graph.entries:
        assert hops[name] == next((e.successor for e in olm_v1.candidates(graph, name)), None)


@given(drawings(), st.randoms(use_true_random=False))
def test_v0_does_not_depend_on_the_order_of_entries(drawing: str, chance: Random) -> None:
    lines = drawing.splitlines()
    chance.shuffle(lines)
    one, other = channel_graph(drawing), channel_graph("\n".join(lines))
    assert olm_v0.next_hops(one).next == olm_v0.next_hops(other).next
    assert opm.validate_channel(one).is_valid == opm.validate_channel(other).is_valid


@given(channel_graphs())
def test_v0_never_installs_a_skipped_entry(graph: ChannelGraph) -> None:
    assert not {n for n in olm_v0.next_hops(graph).next.values() if n} & set(graph.skippers)


@given(channel_graphs())
def test_v1_never_downgrades(graph: ChannelGraph) -> None:
    for name, target in olm_v1.next_hops(graph).items():
        assert target is None or graph.versions[target] >= graph.versions[name]


@given(channel_graphs())
def test_v1_has_no_loops(graph: ChannelGraph) -> None:
    ends = last_entries(olm_v1.next_hops(graph), (graph.head,), graph.entries)
    assert all(d.end is not PathEnd.LOOP for d in ends.values())


@given(channel_graphs())
def test_last_entry_is_the_end_of_the_path(graph: ChannelGraph) -> None:
    hops = olm_v0.next_hops(graph).next
    for name, destination in last_entries(hops, (graph.head,), graph.entries).items():
        path = (name, *hops_from(hops, name))
        if destination.end is PathEnd.LOOP:
            assert path[-1] in path[:-1]
        else:
            assert destination.name == path[-1]


@given(channel_graphs())
def test_what_opm_accepts_has_one_head(graph: ChannelGraph) -> None:
    verdict = opm.validate_channel(graph)
    assert not verdict.is_valid or graph.head == verdict.heads[0]


@given(drawings())
def test_every_channel_can_be_linted(drawing: str) -> None:
    report = lint(parse(drawing))
    assert all(finding.message and finding.rule for finding in report.findings)


@given(drawings())
def test_formatted_channel_parses_to_the_same_channel(drawing: str) -> None:
    [channel] = parse(drawing).packages[0].channels
    [again] = parse(format_channel(channel)).packages[0].channels
    assert [e._replace(place=channel.place) for e in again.entries] == [
        e._replace(place=channel.place) for e in channel.entries
    ]
