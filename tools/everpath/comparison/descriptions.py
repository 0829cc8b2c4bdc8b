"""Messages about outcomes and upgrade paths of a comparison."""

from __future__ import annotations

__all__ = ["describe_olm", "describe_path", "equal_version_reasons", "outcome_message", "stop_reasons"]

from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import Final

from everpath.comparison.installed_paths import InstalledPaths
from everpath.comparison.outcomes import ChannelPair, PathOutcome
from everpath.resolvers import olm_v1
from everpath.resolvers.resolution import CandidateResult, InstalledBundle, TraceStep
from everpath.resolvers.subscription import resolve
from everpath.upgrade_path.hops import PathEnd
from everpath.wording import count, join_hops, join_names

#: Longest path that is shown as a whole; of others, how many versions at the start and at the end.
_SHOWN_HOPS: Final = (7, 3, 2)

#: Versions at which paths end that are explained, and reasons for each.
_MAX_STOPS: Final = 3
_MAX_REASONS: Final = 3

#: Affected versions whose paths are searched for equal versions.
_MAX_SEARCHED: Final = 20


def outcome_message(pairs: Sequence[ChannelPair], outcome: PathOutcome, names: Sequence[str]) -> str:
    """Return the consequence of an outcome for the clusters on some versions."""
    clusters, olm, goal = f"Clusters on {join_names(names)}", describe_olm(pairs), _goal(pairs[0], names)
    failing = {"v0": "the namespace", "v1": "the ClusterExtension"}
    objects = " and ".join(failing[pair.resolver] for pair in pairs)
    return {
        PathOutcome.FAILING: f"{clusters} no longer get updates: {olm} cannot resolve {objects}",
        PathOutcome.STRANDED: f"{clusters} can no longer be upgraded to {goal} under {olm}",
        PathOutcome.DOWNGRADED: f"{clusters} are now upgraded through a lower version under {olm}",
        PathOutcome.DIFFERENT_PATH: f"{clusters} take a different upgrade path under {olm}",
        PathOutcome.STRANDED_BEFORE: f"{clusters} could not and cannot reach the head under {olm}",
        PathOutcome.FIXED: f"{clusters} could not reach the head before and now can under {olm}",
        PathOutcome.FURTHER: f"{clusters} keep their upgrade path, which continues to {goal}, under {olm}",
    }[outcome]


def describe_olm(pairs: Sequence[ChannelPair]) -> str:
    condition = " without channels in the ClusterExtension" if pairs[0].new.is_all_channels else ""
    return f"OLM {' and '.join(pair.resolver for pair in pairs)}{condition}"


def _goal(pair: ChannelPair, names: Iterable[str]) -> str:
    graph = pair.new.graph
    if pair.new.is_all_channels:
        last = {pair.old.last(name) for name in names}
        return min(last) if len(last) == 1 else "the versions that they reached before"
    if graph is None or not pair.new.goals:
        return "the head"
    return f"the head {graph.head}" if graph.head else f"the newest version {min(pair.new.goals)}"


def describe_path(paths: InstalledPaths, name: str) -> str:
    """Return the path of an installed version as `a → b → c (head)`."""
    path = paths.path(name)
    failure = (path.failure.message or path.failure.kind.value) if path.failure is not None else None
    if failure is not None and not path.hops:
        return f"{name}: {failure}"
    text, last = join_hops((name, *path.hops), *_SHOWN_HOPS), paths.last(name)
    if path.reaches_goal and paths.is_head(last):
        return f"{text} ({'head of a channel' if paths.is_all_channels else 'head'})"
    if path.reaches_goal and (not paths.is_all_channels or last in paths.top_entries):
        return f"{text} (newest)"
    if path.end is PathEnd.LOOP:
        return f"{text} (loop)"
    if failure is not None:
        return f"{text}: {failure}"
    return f"{text} (no further update)"


def stop_reasons(pair: ChannelPair, stops: Sequence[str]) -> Iterator[str]:
    """Yield why paths end at some versions, of many only the first."""
    for stop in stops[:_MAX_STOPS]:
        yield from _stop_reason(pair, stop)
    if len(stops) > _MAX_STOPS:
        yield f"{count(len(stops) - _MAX_STOPS, 'more version')} without a further update"


def _stop_reason(pair: ChannelPair, stop: str) -> Iterator[str]:
    graph, version = pair.new.graph, pair.new.version(stop)
    assert graph is not None  # otherwise the resolver fails
    path = pair.new.path(stop) if stop in pair.new.installed else None
    if path is not None and path.end is PathEnd.LOOP:
        yield f"the upgrade path is a loop: {join_hops((stop, *path.hops), *_SHOWN_HOPS)}"
        return
    if pair.resolver == "v0":
        steps: list[TraceStep] = []
        resolve(graph, InstalledBundle(stop, version), trace=steps.append)
        refused = [
            f"{step.edge}, but it {step.reason}"
            for step in steps
            if step.edge and step.result is CandidateResult.REFUSED
        ]
    else:
        edges = graph.sample_successors(stop, _MAX_REASONS)[0] if stop in graph.entries else []
        refused = [f"{edge}, but {olm_v1.rejection_reason(graph, stop, edge.successor)}" for edge in edges]
    yield from refused[:_MAX_REASONS]
    if not refused:
        covers = f", skips it or covers {version}" if version is not None else " or skips it"
        where = "any channel of the new package" if pair.new.is_all_channels else "the new channel"
        yield f"nothing in {where} replaces {stop}{covers}"


def equal_version_reasons(pairs: Sequence[ChannelPair], names: Iterable[str]) -> Iterator[str]:
    """Yield equal versions on a path: between them OLM v1's choice may differ from run to run."""
    paths = [each for pair in pairs for each in (pair.old, pair.new)]
    searched = ((each, name) for name in islice(names, _MAX_SEARCHED) for each in paths)
    groups = dict.fromkeys(tuple(sorted(g)) for each, name in searched if (g := each.equal_versions(name)))
    for group in islice(groups, _MAX_STOPS):
        yield f"{join_names(group)} have the same version; OLM v1 may choose either"
