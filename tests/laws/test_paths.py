"""Laws of roads, demands and mirrors, over random channels, each against the slow way."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, islice, pairwise
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.graph import ChannelGraph, PackageGraph
from everpath.paths import path_counts
from everpath.paths.bundle_selector import SelectedBundles
from everpath.paths.constraints import Constraint, ConstraintKind, check_must_pass, check_never
from everpath.paths.hop_graph import PATH_RESOLVERS, HopGraph, PathResolver, build_hop_graph
from everpath.paths.mirror import reaching, reduced_channel
from everpath.paths.mirror_v0 import mirror_v0
from everpath.paths.mirror_v1 import mirror_v1
from everpath.paths.report import PathsQuery, report_paths
from everpath.paths.resolver_hops import goals, next_hops
from everpath.paths.set_cover import smallest_cover
from everpath.resolvers import olm_v0, olm_v1
from everpath.scc import strongly_connected_components
from everpath.upgrade_paths.hops import hops_from
from everpath.versions import Version, parse
from graphs import channel_graph
from strategies import channel_graphs, drawings


def _every_road(hop_graph: HopGraph, start: str, goal: str) -> Iterator[tuple[str, ...]]:
    waiting: list[tuple[str, ...]] = [(start,)]
    while waiting:
        road = waiting.pop()
        if road[-1] == goal:
            yield road
            continue
        waiting += [(*road, end) for end in hop_graph.successors(road[-1]) if end not in road]


@given(channel_graphs())
def test_a_hop_is_an_edge_to_something_installable(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    installable = {*olm_v0.sort_channel(graph).chain, *olm_v1.ranking(graph)}
    for name in graph.entries:
        accepting = {edge.successor for edge in graph.successors(name)}
        assert set(hop_graph.successors(name)) == (accepting & installable) - {name}
        assert set(hop_graph.starts(name)) == {
            other for other in graph.entries if name in hop_graph.successors(other)
        }


@settings(max_examples=50)
@given(channel_graphs())
def test_counts_and_lengths_are_those_of_all_roads(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    for goal in graph.entries:
        tallies = path_counts.path_counts(hop_graph, goal)
        for start in graph.entries:
            every = list(_every_road(hop_graph, start, goal))
            tally = tallies.get(start)
            if tally is None:
                assert not every
                continue
            assert tally.is_exact
            lengths = [len(road) - 1 for road in every]
            assert (tally.paths, tally.shortest, tally.longest) == (len(every), min(lengths), max(lengths))
            assert len(path_counts.longest_path(tallies, start)) == tally.longest + 1
            assert path_counts.longest_path(tallies, start) in every


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
    hop_graph = build_hop_graph([graph])
    assert hop_graph.is_ascending
    assert not any(
        len(group) > 1
        for group in strongly_connected_components(
            {name: hop_graph.successors(name) for name in hop_graph.rank}
        )
    )
    for goal in graph.entries:
        swept = path_counts.path_counts(hop_graph, goal)
        with patch.object(HopGraph, "is_ascending", new=False):
            assert path_counts.path_counts(hop_graph, goal) == swept


@given(channel_graphs())
def test_where_all_go_up_there_is_no_loop(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    going_up = all(
        graph.versions[s] < graph.versions[e] for s in hop_graph.rank for e in hop_graph.successors(s)
    )
    assert hop_graph.is_ascending == going_up


@given(channel_graphs())
def test_a_network_of_one_channel_twice_is_that_of_the_channel(graph: ChannelGraph) -> None:
    for policy in ("any", "v0"):
        one, two = build_hop_graph([graph], policy), build_hop_graph([graph, graph], policy)
        assert {n: one.successors(n) for n in one.rank} == {n: two.successors(n) for n in two.rank}
        assert {n: set(one.starts(n)) for n in one.rank} == {n: set(two.starts(n)) for n in two.rank}


@given(channel_graphs())
def test_the_first_roads_are_all_roads_shortest_first(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    start, *_, goal = [*graph.entries, *graph.entries]
    every = sorted(
        _every_road(hop_graph, start, goal),
        key=lambda road: (len(road), [hop_graph.rank[name] for name in road]),
    )
    assert list(islice(path_counts.paths_by_length(hop_graph, start, goal), 40)) == every[:40]


@given(channel_graphs())
def test_what_a_resolver_does_is_among_what_the_edges_allow(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    for hops in (olm_v0.next_hops(graph).next, olm_v1.next_hops(graph)):
        for name in hops:
            road = (name, *hops_from(hops, name))
            assert all(end in hop_graph.successors(start) for start, end in pairwise(road))


@settings(max_examples=50)
@given(channel_graphs())
def test_a_road_passes_or_offends(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    for x in graph.entries:
        demand = Constraint(ConstraintKind.MUST_PASS, SelectedBundles(x, frozenset([x]), graph.versions[x]))
        for goal in graph.heads:
            if graph.versions[goal] < graph.versions[x] or goal == x:
                continue
            below = [n for n in graph.entries if graph.versions[n] < graph.versions[x] and n != goal]
            guilty = {n for n in below if any(x not in road for road in _every_road(hop_graph, n, goal))}
            violation = check_must_pass(hop_graph, demand, goal)
            assert guilty == (set(violation.starts) if violation else set())
            if violation:
                assert x not in violation.path
                assert violation.path in set(_every_road(hop_graph, violation.path[0], goal))
                assert violation.hop in set(pairwise(violation.path))


@settings(max_examples=50)
@given(channel_graphs())
def test_landing_on_y_is_found_from_wherever_it_is_possible(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    for y in graph.entries:
        demand = Constraint(ConstraintKind.NEVER, SelectedBundles(y, frozenset([y])))
        for start in graph.entries:
            violation = check_never(hop_graph, demand, start=start)
            possible = start != y and any(True for _ in _every_road(hop_graph, start, y))
            assert (violation is not None) == possible
            if violation:
                assert violation.path in set(_every_road(hop_graph, start, y))


@settings(max_examples=60)
@given(channel_graphs(), st.sampled_from(PATH_RESOLVERS))
def test_pruning_whom_nobody_lands_on_never_makes_a_broken_demand_hold(
    graph: ChannelGraph, policy: PathResolver
) -> None:
    """With its bundle or without: an edge still names it, or a range holds its version."""
    landed = {end for start in graph.entries for end in build_hop_graph([graph]).successors(start)}
    for pruned in graph.entries.keys() - landed - set(goals(graph, policy)):
        entry = graph.entries[pruned]
        if entry.replaces or entry.skips:
            continue  # then it holds others in their places
        if entry.skip_range:
            continue  # then versions outside of the channel land on it
        less = reduced_channel(graph, graph.entries.keys() - {pruned})
        if goals(less, policy) != goals(graph, policy):
            continue
        for name in less.entries:
            for kind in ConstraintKind:
                demand = Constraint(kind, SelectedBundles(name, frozenset([name]), graph.versions[name]))
                assert _holds(graph, policy, demand) or not _holds(less, policy, demand)


def _holds(graph: ChannelGraph, policy: PathResolver, demand: Constraint) -> bool:
    question = PathsQuery(PackageGraph(graph.package), (graph,), policy, constraints=(demand,))
    return report_paths(question).constraint_results[0].holds


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
    whole = reaching(next_hops(graph, "v0", everyone), kept.goals)
    whole = {name for name in whole if since is None or graph.versions[name] >= since}
    assert set(kept.served) == whole
    assert whole <= reaching(next_hops(reduced_channel(graph, kept.entries), "v0", everyone), kept.goals)
    for subset in _subsets(graph):
        if subset.issuperset(kept.goals):
            hops = next_hops(reduced_channel(graph, subset), "v0", everyone)
            if whole <= reaching(hops, kept.goals):
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
    arrived = reaching(next_hops(graph, "v1", everyone), kept.goals)
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
    hops = next_hops(reduced_channel(graph, kept), "v1", everyone)
    going_down = any(hops[name] and standings[hops[name] or ""] < standings[name] for name in served)
    return not going_down and served <= reaching(hops, goals)


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
