"""Properties of paths, constraints and mirrors of random channels, each compared with enumeration."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain, combinations, islice, pairwise
from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.graph import ChannelGraph, PackageGraph
from everpath.paths import path_counts
from everpath.paths.bundle_selector import SelectedBundles
from everpath.paths.constraints import ConstraintKind, PathConstraint, check_must_pass, check_never
from everpath.paths.hop_graph import PATH_RESOLVERS, HopGraph, PathResolver, build_hop_graph
from everpath.paths.mirror import reaching, reduced_channel
from everpath.paths.mirror_v0 import mirror_v0
from everpath.paths.mirror_v1 import mirror_v1
from everpath.paths.report import PathsQuery, report_paths
from everpath.paths.resolver_hops import next_hops, path_targets
from everpath.paths.set_cover import smallest_cover
from everpath.resolvers import olm_v0, olm_v1
from everpath.scc import strongly_connected_components
from everpath.upgrade_path.hops import hops_from
from everpath.versions import Version, parse
from tests.support.everpath.graphs import channel_graph
from tests.support.everpath.strategies import channel_graphs, drawings
from tests.support.tiers import examples


def _every_path(hop_graph: HopGraph, start: str, goal: str) -> Iterator[tuple[str, ...]]:
    waiting: list[tuple[str, ...]] = [(start,)]
    while waiting:
        path = waiting.pop()
        if path[-1] == goal:
            yield path
            continue
        waiting += [(*path, end) for end in hop_graph.successors(path[-1]) if end not in path]


@given(channel_graphs())
def test_hop_is_an_edge_to_an_installable_entry(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    installable = {*olm_v0.sort_channel(graph).chain, *olm_v1.ranking(graph)}
    for name in graph.entries:
        accepting = {edge.successor for edge in graph.successors(name)}
        assert set(hop_graph.successors(name)) == (accepting & installable) - {name}
        assert set(hop_graph.starts(name)) == {
            other for other in graph.entries if name in hop_graph.successors(other)
        }


@settings(max_examples=examples(50))
@given(channel_graphs())
def test_counts_and_lengths_are_those_of_all_paths(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    for goal in graph.entries:
        tallies = path_counts.path_counts(hop_graph, goal)
        for start in graph.entries:
            every = list(_every_path(hop_graph, start, goal))
            tally = tallies.get(start)
            if tally is None:
                assert not every
                continue
            assert tally.is_exact
            lengths = [len(path) - 1 for path in every]
            assert (tally.paths, tally.shortest, tally.longest) == (len(every), min(lengths), max(lengths))
            assert len(path_counts.longest_path(tallies, start)) == tally.longest + 1
            assert path_counts.longest_path(tallies, start) in every


@st.composite
def _rising(draw: st.DrawFn) -> str:
    """Return a channel in which every edge leads to a higher version: many paths and no loop."""
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
def test_counting_in_one_pass_equals_counting_by_components(drawing: str) -> None:
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
def test_hop_graph_is_ascending_if_every_hop_goes_to_a_higher_version(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    is_ascending = all(
        graph.versions[s] < graph.versions[e] for s in hop_graph.rank for e in hop_graph.successors(s)
    )
    assert hop_graph.is_ascending == is_ascending


@given(channel_graphs())
def test_hop_graph_of_a_channel_twice_is_that_of_the_channel(graph: ChannelGraph) -> None:
    for resolver in ("any", "v0"):
        one, two = build_hop_graph([graph], resolver), build_hop_graph([graph, graph], resolver)
        assert {n: one.successors(n) for n in one.rank} == {n: two.successors(n) for n in two.rank}
        assert {n: set(one.starts(n)) for n in one.rank} == {n: set(two.starts(n)) for n in two.rank}


@given(channel_graphs())
def test_listed_paths_are_sorted_by_length(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    start, *_, goal = [*graph.entries, *graph.entries]
    every = sorted(
        _every_path(hop_graph, start, goal),
        key=lambda path: (len(path), [hop_graph.rank[name] for name in path]),
    )
    assert list(islice(path_counts.paths_by_length(hop_graph, start, goal), 40)) == every[:40]


@given(channel_graphs())
def test_hops_of_the_resolvers_are_hops_that_the_edges_allow(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    for hops in (olm_v0.next_hops(graph).next, olm_v1.next_hops(graph)):
        for name in hops:
            path = (name, *hops_from(hops, name))
            assert all(end in hop_graph.successors(start) for start, end in pairwise(path))


@settings(max_examples=examples(50))
@given(channel_graphs())
def test_must_pass_finds_every_version_with_a_path_past_the_entry(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    for x in graph.entries:
        demand = PathConstraint(
            ConstraintKind.MUST_PASS, SelectedBundles(x, frozenset([x]), graph.versions[x])
        )
        for goal in graph.heads:
            if graph.versions[goal] < graph.versions[x] or goal == x:
                continue
            below = [n for n in graph.entries if graph.versions[n] < graph.versions[x] and n != goal]
            violating = {n for n in below if any(x not in path for path in _every_path(hop_graph, n, goal))}
            violation = check_must_pass(hop_graph, demand, goal)
            assert violating == (set(violation.starts) if violation else set())
            if violation:
                assert x not in violation.path
                assert violation.path in set(_every_path(hop_graph, violation.path[0], goal))
                assert violation.hop in set(pairwise(violation.path))


@settings(max_examples=examples(50))
@given(channel_graphs())
def test_never_finds_a_path_from_every_version_that_has_one(graph: ChannelGraph) -> None:
    hop_graph = build_hop_graph([graph])
    for y in graph.entries:
        demand = PathConstraint(ConstraintKind.NEVER, SelectedBundles(y, frozenset([y])))
        for start in graph.entries:
            violation = check_never(hop_graph, demand, start=start)
            possible = start != y and any(True for _ in _every_path(hop_graph, start, y))
            assert (violation is not None) == possible
            if violation:
                assert violation.path in set(_every_path(hop_graph, start, y))


@settings(max_examples=examples(60))
@given(channel_graphs(), st.sampled_from(PATH_RESOLVERS))
def test_pruning_an_unreachable_entry_never_makes_a_violated_constraint_hold(
    graph: ChannelGraph, resolver: PathResolver
) -> None:
    """With its bundle or without: an edge still names the entry, or a range contains its version."""
    landed = {end for start in graph.entries for end in build_hop_graph([graph]).successors(start)}
    for pruned in graph.entries.keys() - landed - set(path_targets(graph, resolver)):
        entry = graph.entries[pruned]
        if entry.replaces or entry.skips:
            continue  # then other entries depend on it
        if entry.skip_range:
            continue  # then versions outside of the channel are upgraded to it
        less = reduced_channel(graph, graph.entries.keys() - {pruned})
        if path_targets(less, resolver) != path_targets(graph, resolver):
            continue
        for name in less.entries:
            for kind in ConstraintKind:
                demand = PathConstraint(kind, SelectedBundles(name, frozenset([name]), graph.versions[name]))
                assert _holds(graph, resolver, demand) or not _holds(less, resolver, demand)


def _holds(graph: ChannelGraph, resolver: PathResolver, demand: PathConstraint) -> bool:
    query = PathsQuery(PackageGraph(graph.package), (graph,), resolver, constraints=(demand,))
    return report_paths(query).constraint_results[0].holds


def _subsets(graph: ChannelGraph) -> Iterator[frozenset[str]]:
    names = list(graph.entries)
    sizes = (combinations(names, size) for size in range(1, len(names) + 1))
    return (frozenset(names) for names in chain.from_iterable(sizes))


@settings(max_examples=examples(60))
@given(
    st.lists(st.integers(1, 255), max_size=10),
    st.dictionaries(st.sampled_from([1 << i for i in range(8)]), st.lists(st.integers(1, 255), max_size=2)),
)
def test_cover_is_the_smallest_of_all_sets(demands: list[int], implied: dict[int, list[int]]) -> None:
    found = smallest_cover(demands, implied)
    sets = (members for members in range(256) if _meets(members, demands, implied))
    assert _meets(found.members, demands, implied)
    assert found.at_least == min(members.bit_count() for members in sets) == found.members.bit_count()


def _meets(members: int, demands: list[int], implied: dict[int, list[int]]) -> bool:
    brought = (demand for bit, more in implied.items() if members & bit for demand in more)
    return all(demand & members for demand in chain(demands, brought))


@st.composite
def _with_deprecated(draw: st.DrawFn) -> ChannelGraph:
    """Return a random channel, of which some bundles may be deprecated."""
    drawing = draw(drawings())
    names = [line.partition("@")[0] for line in drawing.splitlines()]
    some = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    return channel_graph("\n".join([drawing, *(f"%deprecated {name}: old" for name in some)]))


_SINCE = st.none() | st.sampled_from(("1.0.1", "1.2.0")).map(parse)


@settings(max_examples=examples(80))
@given(channel_graphs(), _SINCE)
def test_v0_mirror_is_the_smallest_of_all_subsets(graph: ChannelGraph, since: Version | None) -> None:
    [kept] = (mirror := mirror_v0([graph], since)).channels
    if not kept.goals:
        assert set(kept.entries) == set(graph.entries)
        return
    installed = {name: graph.versions.get(name) for name in graph.entries}
    whole = reaching(next_hops(graph, "v0", installed), kept.goals)
    whole = {name for name in whole if since is None or graph.versions[name] >= since}
    assert set(kept.served) == whole
    assert whole <= reaching(next_hops(reduced_channel(graph, kept.entries), "v0", installed), kept.goals)
    for subset in _subsets(graph):
        if subset.issuperset(kept.goals):
            hops = next_hops(reduced_channel(graph, subset), "v0", installed)
            if whole <= reaching(hops, kept.goals):
                assert mirror.is_smallest
                assert len(kept.entries) == len(subset)
                return
    raise AssertionError("the whole channel serves all of its versions")


@settings(max_examples=examples(80))
@given(_with_deprecated(), _SINCE)
def test_v1_mirror_is_the_smallest_of_all_subsets(graph: ChannelGraph, since: Version | None) -> None:
    [kept] = (mirror := mirror_v1([graph], since)).channels
    if not kept.goals:
        assert set(kept.entries) == set(graph.entries)
        return
    installed = {name: graph.versions.get(name) for name in graph.entries}
    served = set(kept.served)
    reaching_goal = reaching(next_hops(graph, "v1", installed), kept.goals)
    assert served >= {name for name in reaching_goal if since is None or graph.versions[name] >= since}
    assert _serves_v1(graph, frozenset(kept.entries), served, kept.goals)
    smallest = next(s for s in _subsets(graph) if _serves_v1(graph, s, served, kept.goals))
    assert mirror.is_smallest
    assert len(kept.entries) == len(smallest)


def _serves_v1(graph: ChannelGraph, kept: frozenset[str], served: set[str], goals: Sequence[str]) -> bool:
    """True if all served versions reach a goal without a downgrade, and each goal or its equal is kept."""
    sort_keys = olm_v1.sort_keys(graph)
    if not all(any(sort_keys[name] == sort_keys[goal] for name in kept & {*goals}) for goal in goals):
        return False
    installed = {name: graph.versions.get(name) for name in graph.entries}
    hops = next_hops(reduced_channel(graph, kept), "v1", installed)
    downgrades = any(hops[name] and sort_keys[hops[name] or ""] < sort_keys[name] for name in served)
    return not downgrades and served <= reaching(hops, goals)


@settings(max_examples=examples(80))
@given(_with_deprecated())
def test_v1_mirror_reaches_a_goal_whichever_of_equal_versions_is_installed(
    graph: ChannelGraph,
) -> None:
    [kept] = mirror_v1([graph]).channels
    for name in kept.served if kept.goals else ():
        for choice in _choices(graph, name, kept.entries):
            assert _can_reach(graph, choice, kept.entries, kept.goals)


def _can_reach(graph: ChannelGraph, start: str, kept: Sequence[str], goals: Sequence[str]) -> bool:
    seen, waiting = {start}, [start]
    while waiting:
        new = _choices(graph, waiting.pop(), kept) - seen
        seen |= new
        waiting += new
    return not seen.isdisjoint(goals)


def _choices(graph: ChannelGraph, installed: str, kept: Sequence[str]) -> set[str]:
    """Return the highest entries that accept the installed one or equal it: OLM v1 takes one of them."""
    sort_keys = olm_v1.sort_keys(graph)
    accepting = {edge.successor for edge in graph.successors(installed)}
    accepting |= {name for name in kept if graph.versions[name] == graph.versions[installed]}
    found = {name: sort_keys[name] for name in accepting & {*kept}}
    return {name for name, sort_key in found.items() if sort_key == max(found.values())}
