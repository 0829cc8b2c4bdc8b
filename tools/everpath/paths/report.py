"""The answer to one query about a package: its upgrade paths, its constraints, or its mirrors."""

from __future__ import annotations

__all__ = ["ConstraintResult", "ConstraintState", "GoalPaths", "PathsQuery", "PathsReport", "report_paths"]

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice
from typing import NamedTuple

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import OpmError
from everpath.paths.bundle_selector import SelectedBundles
from everpath.paths.constraints import (
    ConstraintKind,
    ConstraintViolation,
    PathConstraint,
    check_must_pass,
    check_never,
)
from everpath.paths.hop_graph import HopGraph, PathResolver, build_hop_graph
from everpath.paths.mirror import Mirror
from everpath.paths.mirror_v0 import mirror_v0
from everpath.paths.mirror_v1 import mirror_v1
from everpath.paths.outside_versions import named_versions, versions_in_ranges
from everpath.paths.path_counts import PathCount, longest_path, loops, path_counts, paths_by_length
from everpath.paths.reachability import reachable_from
from everpath.paths.resolver_hops import path_targets
from everpath.resolvers import olm_v1
from everpath.resolvers.resolution import FailureKind, InstalledBundle
from everpath.rules.opm_errors import opm_errors
from everpath.upgrade_path.goals import path_goals
from everpath.versions import Version


@dataclass(frozen=True, slots=True)
class PathsQuery:
    """A query about some channels of a package.

    `across`: paths may switch between the channels; otherwise each channel is examined alone. `start` and
    `goal` restrict the paths, `limit` is the number listed. `mirror` asks for the smallest one, `since`
    restricts the versions that it serves.
    """

    package: PackageGraph
    channels: tuple[ChannelGraph, ...]
    resolver: PathResolver = "any"
    across: bool = False
    start: InstalledBundle | None = None
    goal: SelectedBundles | None = None
    limit: int = 20
    constraints: tuple[PathConstraint, ...] = ()
    mirror: bool = False
    since: Version | None = None


@dataclass(frozen=True, slots=True)
class GoalPaths:
    """The upgrade paths to one goal, from all versions or from `start`.

    `listed` are the first paths from `start`, shortest first; `longest` is a longest path.
    `is_new_install`: the goal is not a head, but what OLM v1 installs first; `is_superseded`: an entry
    replaces or skips it.
    """

    hop_graph: HopGraph
    goal: str
    start: str | None
    counts: Mapping[str, PathCount]
    loops: tuple[tuple[str, ...], ...] = ()
    listed: tuple[tuple[str, ...], ...] = ()
    longest: tuple[str, ...] = ()
    is_new_install: bool = False
    is_superseded: bool = False

    @property
    def channels(self) -> tuple[str, ...]:
        return tuple(graph.name for graph in self.hop_graph.graphs)


class ConstraintState(StrEnum):
    HOLDS = "holds"
    VIOLATED = "violated"
    UNKNOWN = "unknown"


class ConstraintResult(NamedTuple):
    """The paths that violate a constraint, each with the hop graph that has it.

    `failing` are versions for which the resolver fails, so that their paths are unknown.
    """

    constraint: PathConstraint
    violations: tuple[tuple[HopGraph, ConstraintViolation], ...] = ()
    failing: tuple[str, ...] = ()

    @property
    def state(self) -> ConstraintState:
        if self.violations:
            return ConstraintState.VIOLATED
        return ConstraintState.UNKNOWN if self.failing else ConstraintState.HOLDS

    @property
    def holds(self) -> bool:
        return self.state is ConstraintState.HOLDS


class PathsReport(NamedTuple):
    """The results of a query, and what opm rejects of the package."""

    query: PathsQuery
    goal_paths: tuple[GoalPaths, ...] = ()
    constraint_results: tuple[ConstraintResult, ...] = ()
    mirrors: tuple[Mirror, ...] = ()
    hop_graphs: tuple[HopGraph, ...] = ()
    opm_errors: tuple[OpmError, ...] = ()


def report_paths(query: PathsQuery) -> PathsReport:
    """Answer a query. Paths are only counted if it has no constraints and no mirror. Cost: the edges."""
    hop_graphs = _hop_graphs(query)
    results = tuple(_check(query, hop_graphs, constraint) for constraint in query.constraints)
    mirrors: list[Mirror] = []
    if query.mirror and query.resolver != "v1":
        mirrors.append(mirror_v0(query.channels, query.since))
    if query.mirror and query.resolver != "v0":
        mirrors.append(mirror_v1(query.channels, query.since))
    goal_paths = () if results or mirrors else tuple(_goal_paths(query, hop_graphs))
    errors = opm_errors(query.package.package)
    return PathsReport(query, goal_paths, results, tuple(mirrors), hop_graphs, errors)


def _hop_graphs(query: PathsQuery) -> tuple[HopGraph, ...]:
    """Return one graph for each channel, or one for all; only those with goal and start, if there are any."""
    groups = [query.channels] if query.across else [(graph,) for graph in query.channels]
    installed = () if query.start is None else (query.start,)
    found = [build_hop_graph(group, query.resolver, installed) for group in groups if group]
    goal, start = query.goal, query.start
    found = [each for each in found if goal is None or goal.names & each.rank.keys()]
    with_start = [
        each
        for each in found
        if start is None
        or each.successors(start.name)
        or any(start.name in graph.entries for graph in each.graphs)
    ]
    return tuple(with_start or found)


def _goals(query: PathsQuery, hop_graph: HopGraph) -> Sequence[str]:
    if query.goal is None:
        found = (goal for graph in hop_graph.graphs for goal in path_targets(graph, hop_graph.resolver))
        return tuple(dict.fromkeys(found))
    return sorted(query.goal.names & hop_graph.rank.keys(), key=hop_graph.rank.__getitem__)


def _goal_paths(query: PathsQuery, hop_graphs: Sequence[HopGraph]) -> Iterator[GoalPaths]:
    start = query.start.name if query.start else None
    for hop_graph in hop_graphs:
        for goal in _goals(query, hop_graph):
            counts = path_counts(hop_graph, goal)
            listed: tuple[tuple[str, ...], ...] = ()
            if start is not None:
                listed = tuple(islice(paths_by_length(hop_graph, start, goal), query.limit))
            starts = [name for name in (hop_graph.rank if start is None else [start]) if name in counts]
            farthest = max(starts, key=lambda name: counts[name].longest, default=None)
            longest = longest_path(counts, farthest) if farthest is not None else ()
            is_new = _is_new_install(hop_graph, goal)
            is_superseded = is_new and not any(
                goal in path_goals(g, "v1") for g in hop_graph.effective_graphs
            )
            yield GoalPaths(
                hop_graph, goal, start, counts, loops(hop_graph), listed, longest, is_new, is_superseded
            )


def _is_new_install(hop_graph: HopGraph, goal: str) -> bool:
    graphs = hop_graph.effective_graphs
    if hop_graph.resolver != "v1" or any(goal == graph.head for graph in graphs):
        return False
    return any(goal in olm_v1.new_installs(graph) for graph in graphs)


def _check(query: PathsQuery, hop_graphs: Sequence[HopGraph], constraint: PathConstraint) -> ConstraintResult:
    violations: list[tuple[HopGraph, ConstraintViolation]] = []
    failing: dict[str, None] = {}
    for plain in hop_graphs:
        for hop_graph in _with_outside_versions(query, plain, constraint):
            found = [(hop_graph, violation) for violation in _violations(query, hop_graph, constraint)]
            failing |= dict.fromkeys(_failing(query, hop_graph))
            if found:
                violations += found
                break
    return ConstraintResult(constraint, tuple(violations), tuple(failing))


def _with_outside_versions(
    query: PathsQuery, hop_graph: HopGraph, constraint: PathConstraint
) -> Iterator[HopGraph]:
    """Yield the graph with versions that an entry names, then also with samples of versions in ranges.

    The second is examined only if the first has no violation: no cluster may have such a version.
    """
    if query.start is not None:
        yield hop_graph
        return
    graphs, resolver = hop_graph.graphs, hop_graph.resolver
    named = named_versions(graphs, resolver)
    yield build_hop_graph(graphs, resolver, named) if named else hop_graph
    version = constraint.subject.version
    sampled = tuple(versions_in_ranges(graphs, named, () if version is None else (version,)))
    if sampled:
        yield build_hop_graph(graphs, resolver, (*named, *sampled))


def _violations(
    query: PathsQuery, hop_graph: HopGraph, constraint: PathConstraint
) -> Iterator[ConstraintViolation]:
    start = query.start.name if query.start else None
    if constraint.kind is ConstraintKind.MUST_PASS:
        found = [check_must_pass(hop_graph, constraint, goal, start) for goal in _goals(query, hop_graph)]
    elif query.goal is None:
        found = [check_never(hop_graph, constraint, None, start)]
    else:
        found = [check_never(hop_graph, constraint, goal, start) for goal in _goals(query, hop_graph)]
    return (violation for violation in found if violation is not None)


def _failing(query: PathsQuery, hop_graph: HopGraph) -> list[str]:
    """Return the versions for which the resolver fails before they reach a goal."""
    arrived = _goals(query, hop_graph) if hop_graph.failures else ()
    if query.start is not None:
        reached = reachable_from(hop_graph, (query.start.name,))
        return [name for name in hop_graph.failures if name in reached and name not in arrived]
    # OLM v1 reports an outside version without an update as an error and keeps it: its path is known.
    found = [
        name
        for name, failure in hop_graph.failures.items()
        if name not in arrived and not (name in hop_graph.outside and failure.kind is FailureKind.NO_BUNDLES)
    ]
    entries = {name for name in found if name not in hop_graph.outside}
    if not entries:
        return found
    # A failure of the whole channel is listed for its entries, not for outside versions.
    channel_failures = hop_graph.channel_failures.values()
    return [n for n in found if n in entries or hop_graph.failures[n] not in channel_failures]
