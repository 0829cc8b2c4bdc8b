"""Laws of roads, demands and mirrors, over random channels, each against the slow way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, islice, pairwise
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.graph import ChannelGraph, PackageGraph
from everpath.paths import path_counts
from everpath.paths.bundle_selector import Subject
from everpath.paths.constraints import Demand, DemandKind, must_pass, never
from everpath.paths.hop_graph import POLICIES, Network, Policy, goals, hops_of, network
from everpath.paths.mirror import arriving, kept_in
from everpath.paths.mirror_v0 import mirror_v0
from everpath.paths.mirror_v1 import mirror_v1
from everpath.paths.report import Question, roadbook
from everpath.paths.set_cover import smallest_cover
from everpath.resolvers import olm_v0, olm_v1
from everpath.scc import strongly_connected_components
from everpath.upgrade_paths.hops import hops_from
from everpath.versions import Version, parse
from graphs import channel_graph
from strategies import channel_graphs, drawings


def _every_road(net: Network, start: str, goal: str) -> Iterator[tuple[str, ...]]:
    waiting: list[tuple[str, ...]] = [(start,)]
    while waiting:
        road = waiting.pop()
        if road[-1] == goal:
            yield road
            continue
        waiting += [(*road, end) for end in net.ahead(road[-1]) if end not in road]


@given(channel_graphs())
def test_a_hop_is_an_edge_to_something_installable(graph: ChannelGraph) -> None:
    net = network([graph])
    installable = {*olm_v0.sort_channel(graph).chain, *olm_v1.ranking(graph)}
    for name in graph.entries:
        accepting = {edge.successor for edge in graph.successors(name)}
        assert set(net.ahead(name)) == (accepting & installable) - {name}
        assert set(net.starts(name)) == {other for other in graph.entries if name in net.ahead(other)}


@settings(max_examples=50)
@given(channel_graphs())
def test_counts_and_lengths_are_those_of_all_roads(graph: ChannelGraph) -> None:
    net = network([graph])
    for goal in graph.entries:
        tallies = path_counts.tallies(net, goal)
        for start in graph.entries:
            every = list(_every_road(net, start, goal))
            tally = tallies.get(start)
            if tally is None:
                assert not every
                continue
            assert tally.is_exact
            lengths = [len(road) - 1 for road in every]
            assert (tally.roads, tally.shortest, tally.longest) == (len(every), min(lengths), max(lengths))
            assert len(path_counts.longest_road(tallies, start)) == tally.longest + 1
            assert path_counts.longest_road(tallies, start) in every


@st.composite
def _rising(draw: st.DrawFn) -> str:
    """A channel in which every edge leads up: no loop, and much to count."""
    size = draw(st.integers(2, 9))
    below = {i: [f"b{j}" for j in range(1, i)] for i in range(1, size + 1)}
    lines = []
    for i, names in below.items():
        replaces = draw(st.sampled_from([*names, "-"]))
        skips = (
            ", ".join(draw(st.lists(st.sampled_from(names), max_size=2, unique=True)) if names else []) or "-"
        )
        low, high = sorted(draw(st.tuples(st.integers(0, i), st.integers(0, i))))
        span = draw(st.sampled_from([f">={low}.0.0 <{high}.0.0", f"<{low}.0.0 || >={low}.5.0 <{i}.0.0", "-"]))
        lines.append(f"b{i}: {replaces} / {skips} / {span}")
    return "\n".join(lines)


@given(_rising())
def test_a_sweep_counts_what_one_by_one_is_counted(drawing: str) -> None:
    graph = channel_graph(drawing)
    net = network([graph])
    assert net.goes_up
    assert not any(
        len(group) > 1
        for group in strongly_connected_components({name: net.ahead(name) for name in net.place})
    )
    for goal in graph.entries:
        swept = path_counts.tallies(net, goal)
        with patch.object(Network, "goes_up", new=False):
            assert path_counts.tallies(net, goal) == swept


@given(channel_graphs())
def test_where_all_go_up_there_is_no_loop(graph: ChannelGraph) -> None:
    net = network([graph])
    going_up = all(graph.versions[s] < graph.versions[e] for s in net.place for e in net.ahead(s))
    assert net.goes_up == going_up


@given(channel_graphs())
def test_a_network_of_one_channel_twice_is_that_of_the_channel(graph: ChannelGraph) -> None:
    for policy in ("any", "v0"):
        one, two = network([graph], policy), network([graph, graph], policy)
        assert {n: one.ahead(n) for n in one.place} == {n: two.ahead(n) for n in two.place}
        assert {n: set(one.starts(n)) for n in one.place} == {n: set(two.starts(n)) for n in two.place}


@given(channel_graphs())
def test_the_first_roads_are_all_roads_shortest_first(graph: ChannelGraph) -> None:
    net = network([graph])
    start, *_, goal = [*graph.entries, *graph.entries]
    every = sorted(
        _every_road(net, start, goal), key=lambda road: (len(road), [net.place[name] for name in road])
    )
    assert list(islice(path_counts.first_roads(net, start, goal), 40)) == every[:40]


@given(channel_graphs())
def test_what_a_resolver_does_is_among_what_the_edges_allow(graph: ChannelGraph) -> None:
    net = network([graph])
    for hops in (olm_v0.next_hops(graph).next, olm_v1.next_hops(graph)):
        for name in hops:
            road = (name, *hops_from(hops, name))
            assert all(end in net.ahead(start) for start, end in pairwise(road))


@settings(max_examples=50)
@given(channel_graphs())
def test_a_road_passes_or_offends(graph: ChannelGraph) -> None:
    net = network([graph])
    for x in graph.entries:
        demand = Demand(DemandKind.MUST_PASS, Subject(x, frozenset([x]), graph.versions[x]))
        for goal in graph.heads:
            if graph.versions[goal] < graph.versions[x] or goal == x:
                continue
            below = [n for n in graph.entries if graph.versions[n] < graph.versions[x] and n != goal]
            guilty = {n for n in below if any(x not in road for road in _every_road(net, n, goal))}
            offence = must_pass(net, demand, goal)
            assert guilty == (set(offence.starts) if offence else set())
            if offence:
                assert x not in offence.road
                assert offence.road in set(_every_road(net, offence.road[0], goal))
                assert offence.culprit in set(pairwise(offence.road))


@settings(max_examples=50)
@given(channel_graphs())
def test_landing_on_y_is_found_from_wherever_it_is_possible(graph: ChannelGraph) -> None:
    net = network([graph])
    for y in graph.entries:
        demand = Demand(DemandKind.NEVER, Subject(y, frozenset([y])))
        for start in graph.entries:
            offence = never(net, demand, start=start)
            possible = start != y and any(True for _ in _every_road(net, start, y))
            assert (offence is not None) == possible
            if offence:
                assert offence.road in set(_every_road(net, start, y))


@settings(max_examples=60)
@given(channel_graphs(), st.sampled_from(POLICIES))
def test_pruning_whom_nobody_lands_on_never_makes_a_broken_demand_hold(
    graph: ChannelGraph, policy: Policy
) -> None:
    """With its bundle or without: an edge still names it, or a range holds its version."""
    landed = {end for start in graph.entries for end in network([graph]).ahead(start)}
    for pruned in graph.entries.keys() - landed - set(goals(graph, policy)):
        entry = graph.entries[pruned]
        if entry.replaces or entry.skips:
            continue  # then it holds others in their places
        if entry.skip_range:
            continue  # then versions outside of the channel land on it
        less = kept_in(graph, graph.entries.keys() - {pruned})
        if goals(less, policy) != goals(graph, policy):
            continue
        for name in less.entries:
            for kind in DemandKind:
                demand = Demand(kind, Subject(name, frozenset([name]), graph.versions[name]))
                assert _holds(graph, policy, demand) or not _holds(less, policy, demand)


def _holds(graph: ChannelGraph, policy: Policy, demand: Demand) -> bool:
    question = Question(PackageGraph(graph.package), (graph,), policy, demands=(demand,))
    return roadbook(question).verdicts[0].holds


def _subsets(graph: ChannelGraph) -> Iterator[frozenset[str]]:
    names = list(graph.entries)
    sizes = (combinations(names, size) for size in range(1, len(names) + 1))
    return (frozenset(names) for names in chain.from_iterable(sizes))


@settings(max_examples=60)
@given(
    st.lists(st.integers(1, 255), max_size=10),
    st.dictionaries(st.sampled_from([1 << i for i in range(8)]), st.lists(st.integers(1, 255), max_size=2)),
)
def test_a_cover_is_the_smallest_of_all_sets(demands: list[int], implied: dict[int, list[int]]) -> None:
    found = smallest_cover(demands, implied)
    sets = (members for members in range(256) if _meets(members, demands, implied))
    assert _meets(found.members, demands, implied)
    assert found.at_least == min(members.bit_count() for members in sets) == found.members.bit_count()


def _meets(members: int, demands: list[int], implied: dict[int, list[int]]) -> bool:
    brought = (demand for bit, more in implied.items() if members & bit for demand in more)
    return all(demand & members for demand in chain(demands, brought))


@st.composite
def _with_deprecated(draw: st.DrawFn) -> ChannelGraph:
    """A random channel, of which some bundles may be deprecated."""
    drawing = draw(drawings())
    names = [line.partition("@")[0] for line in drawing.splitlines()]
    some = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    return channel_graph("\n".join([drawing, *(f"%deprecated {name}: old" for name in some)]))


_SINCE = st.none() | st.sampled_from(("1.0.1", "1.2.0")).map(parse)


@settings(max_examples=80)
@given(channel_graphs(), _SINCE)
def test_the_v0_mirror_is_the_smallest_of_all_subsets(graph: ChannelGraph, since: Version | None) -> None:
    [kept] = (mirror := mirror_v0([graph], since)).channels
    if not kept.goals:
        assert set(kept.entries) == set(graph.entries)
        return
    everyone = {name: graph.versions.get(name) for name in graph.entries}
    whole = arriving(hops_of(graph, "v0", everyone), kept.goals)
    whole = {name for name in whole if since is None or graph.versions[name] >= since}
    assert set(kept.served) == whole
    assert whole <= arriving(hops_of(kept_in(graph, kept.entries), "v0", everyone), kept.goals)
    for subset in _subsets(graph):
        if subset.issuperset(kept.goals):
            hops = hops_of(kept_in(graph, subset), "v0", everyone)
            if whole <= arriving(hops, kept.goals):
                assert mirror.is_smallest
                assert len(kept.entries) == len(subset)
                return
    raise AssertionError("the whole channel serves whom it serves")


@settings(max_examples=80)
@given(_with_deprecated(), _SINCE)
def test_the_v1_mirror_is_the_smallest_of_all_subsets(graph: ChannelGraph, since: Version | None) -> None:
    [kept] = (mirror := mirror_v1([graph], since)).channels
    if not kept.goals:
        assert set(kept.entries) == set(graph.entries)
        return
    everyone = {name: graph.versions.get(name) for name in graph.entries}
    served = set(kept.served)
    arrived = arriving(hops_of(graph, "v1", everyone), kept.goals)
    assert served >= {name for name in arrived if since is None or graph.versions[name] >= since}
    assert _serves_v1(graph, frozenset(kept.entries), served, kept.goals)
    smallest = next(s for s in _subsets(graph) if _serves_v1(graph, s, served, kept.goals))
    assert mirror.is_smallest
    assert len(kept.entries) == len(smallest)


def _serves_v1(graph: ChannelGraph, kept: frozenset[str], served: set[str], goals: Sequence[str]) -> bool:
    """Everybody served ends at a goal, nobody goes down to it, and every goal or its equal is kept."""
    standings = olm_v1.sort_keys(graph)
    if not all(any(standings[name] == standings[goal] for name in kept & {*goals}) for goal in goals):
        return False
    everyone = {name: graph.versions.get(name) for name in graph.entries}
    hops = hops_of(kept_in(graph, kept), "v1", everyone)
    going_down = any(hops[name] and standings[hops[name] or ""] < standings[name] for name in served)
    return not going_down and served <= arriving(hops, goals)


@settings(max_examples=80)
@given(_with_deprecated())
def test_whichever_of_equal_versions_v1_takes_in_its_mirror_a_goal_can_be_reached(
    graph: ChannelGraph,
) -> None:
    [kept] = mirror_v1([graph]).channels
    for name in kept.served if kept.goals else ():
        for choice in _choices(graph, name, kept.entries):
            assert _can_arrive(graph, choice, kept.entries, kept.goals)


def _can_arrive(graph: ChannelGraph, start: str, kept: Sequence[str], goals: Sequence[str]) -> bool:
    met, waiting = {start}, [start]
    while waiting:
        new = _choices(graph, waiting.pop(), kept) - met
        met |= new
        waiting += new
    return not met.isdisjoint(goals)


def _choices(graph: ChannelGraph, installed: str, kept: Sequence[str]) -> set[str]:
    """Of those who accept what is installed, and of its equals, the highest: OLM v1 takes one of them."""
    standings = olm_v1.sort_keys(graph)
    accepting = {edge.successor for edge in graph.successors(installed)}
    accepting |= {name for name in kept if graph.versions[name] == graph.versions[installed]}
    found = {name: standings[name] for name in accepting & {*kept}}
    return {name for name, standing in found.items() if standing == max(found.values())}
