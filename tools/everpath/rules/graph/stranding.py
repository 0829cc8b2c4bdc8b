"""Stranded versions: installed versions that get no further update, and update loops."""

from __future__ import annotations

__all__ = ["stranded_opm", "stranded_v0", "stranded_v1", "update_loop"]

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Final

from everpath.graph import ChannelGraph, EdgeKind, PackageGraph
from everpath.resolvers import olm_v0, olm_v1, opm
from everpath.rules.edits import (
    Edit,
    add_skips,
    apply_edit,
    cap_range,
    first_accepted_edit,
    remove_skip,
    widen_range,
)
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import channel_rule
from everpath.upgrade_paths.goals import path_goals
from everpath.upgrade_paths.hops import PathEnd, hops_from, last_entries
from everpath.wording import join_names, plural, skip_clause

#: The number of ranges listed as evidence: n entries can each be covered by n ranges.
_MAX_RANGES: Final = 10


@channel_rule("EP206", "stranded-v0", Severity.ERROR, policy="v0")
def stranded_v0(graph: ChannelGraph) -> Iterator[Flaw]:
    """Under OLM v0 every entry but the head has a next hop.

    OLM v0 never installs a skipped entry. An entry that only skipped entries replace or cover gets no
    updates, and no error is shown. opm accepts the catalog. Cost: O((edges + ranges) · log n).
    """
    hops = olm_v0.next_hops(graph)
    if hops.failure is not None:
        return
    stops = _stops(graph, hops.next, hops.failures)
    target = olm_v0.new_install(graph)
    by_range = _range_fix(graph, stops, target)
    refusal = cache(partial(_refusal, graph))
    for place, followers in stops.items():
        yield Flaw(
            graph.entries[place].place.at("name"),
            f"clusters on {place} get no further updates under OLM v0{_followers_clause(followers)}",
            because=_reasons(graph, place, refusal),
            fix=_fix_v0(graph, place, target, by_range),
            entry=place,
        )


def _stops(
    graph: ChannelGraph, hops: Mapping[str, str | None], failures: Collection[str]
) -> dict[str, list[str]]:
    """Map every last entry that is not the head to the entries whose upgrade path ends there.

    An entry for which the resolver fails is not included: another rule reports the failure.
    """
    ends = last_entries(_moves(hops, failures), graph.head, graph.entries)
    stranded = {n: d.name for n, d in ends.items() if d.end is PathEnd.STRANDED and d.name not in failures}
    stops: dict[str, list[str]] = {stop: [] for stop in stranded.values()}
    for name, stop in stranded.items():
        if name != stop:
            stops[stop].append(name)
    return stops


def _moves(hops: Mapping[str, str | None], failures: Collection[str]) -> Mapping[str, str | None]:
    """The next hop of every entry; None if the resolver fails for it."""
    return {name: None if name in failures else hop for name, hop in hops.items()}


def _range_fix(graph: ChannelGraph, stops: Iterable[str], target: str | None) -> Edit | None:
    """The edit that covers every stranded entry that is not skipped yet with the range of `target`."""
    older = [stop for stop in stops if stop not in graph.skippers]
    return widen_range(graph, target, older) if target is not None else None


def _fix_v0(graph: ChannelGraph, place: str, target: str | None, by_range: Edit | None) -> str | Edit:
    """The edit that makes `target` a successor of a stranded entry.

    opm ends the replaces chain at a skipped entry, so a new skip can strand entries below it; a range cannot.
    """
    if target is None or target == place:
        assert graph.head is not None  # without a head OLM v0 fails
        rule = "EP505" if olm_v0.uninstallable(graph)[graph.head] == olm_v0.DEPRECATED_REASON else "EP427"
        return f"fixed together with {rule} ({graph.head})"
    by_name = add_skips(graph, target, [place])
    if place in graph.skippers:
        return by_name
    return (
        (by_range if _falls(graph, target, place) else None)
        or first_accepted_edit(graph, [by_name])
        or f"publish a release that replaces {graph.head} and skips {place}"
    )


def _fix_v1(graph: ChannelGraph, place: str, ways: Mapping[str, Edit | None]) -> str | Edit:
    """The same for OLM v1, which updates to higher versions only."""
    absent = [e.successor for e in graph.named_edges(place) if graph.bundle(e.successor) is None]
    if absent:
        return f"fixed together with EP401 ({absent[0]})"
    for target, by_range in ways.items():
        if _falls(graph, target, place):
            return _fix_v0(graph, place, target, by_range)
    return _deprecate_fix(graph, place) + _next_release_fix(
        graph, place, next((t for t in ways if t != place), place)
    )


def _next_release_fix(graph: ChannelGraph, place: str, top: str) -> str:
    also = f" and skips {place}" if top != place else ""
    return f"publish a release above {graph.versions.get(place, place)} that replaces {top}{also}"


def _deprecate_fix(graph: ChannelGraph, place: str) -> str:
    """Advice to deprecate the entry: OLM v1 then prefers a lower version that replaces or skips it."""
    standings = olm_v1.sort_keys(graph)
    lower = [edge.successor for edge in graph.named_edges(place) if edge.successor != place]
    heir = min(lower, key=olm_v1.ranking(graph).__getitem__, default=None)
    if heir is None or not standings[heir][0] or any(bundle.csv for bundle in graph.package.bundles):
        return ""
    return f"deprecate {place} in olm.deprecations, and OLM v1 updates to {heir}; or "


def _followers_clause(followers: list[str]) -> str:
    return f"; updates from {join_names(followers)} end there" if followers else ""


def _reasons(graph: ChannelGraph, place: str, refusal: Callable[[str], str]) -> tuple[str, ...]:
    """The edges from an entry, each with the reason why OLM does not follow it; of many ranges a sample."""
    edges, more = graph.sample_successors(place, _MAX_RANGES)
    reasons = [f"{edge}, but {refusal(edge.successor)}" for edge in edges]
    if more:
        reasons.append(f"OLM does not follow {plural(more, 'more skipRange')} either")
    return tuple(reasons) or (f"no entry replaces or skips {place}, or covers it with a skipRange",)


def _refusal(graph: ChannelGraph, successor: str) -> str:
    """Why OLM v0 does not follow an edge."""
    if skippers := [s for s in graph.skippers.get(successor, ()) if s != successor]:
        return f"{skip_clause(skippers)} {successor}, so OLM v0 never installs it"
    if successor in graph.skippers:
        return f"{successor} skips itself, so OLM v0 never installs it"
    if obstacle := olm_v0.uninstallable(graph).get(successor):
        return f"{successor} {obstacle}, so OLM v0 never installs it"
    return f"{successor} is not on the replaces chain of {graph.head}"


@channel_rule("EP207", "stranded-v1", Severity.ERROR, policy="v1")
def stranded_v1(graph: ChannelGraph) -> Iterator[Flaw]:
    """Under OLM v1 every upgrade path ends at the head or at a highest version that is not skipped.

    OLM v1 updates to the highest version with an edge from the installed one, whatever the head is. It gets
    stuck in a part of the channel without edges to the rest, and on a highest version that was skipped,
    because its replacement is lower. Cost: O((edges + ranges) · log n).
    """
    good = path_goals(graph, "v1")
    # A second channel of the same name can lead to an entry that only it has; the finding is reported there.
    stops = {
        place: followers
        for place, followers in _stops_v1(graph).items()
        if place not in good and place in graph.entries
    }
    ways = {t: _range_fix(graph, stops, t) for t in good or olm_v1.new_installs(graph)}
    for place, followers in stops.items():
        yield Flaw(
            graph.entries[place].place.at("name"),
            f"clusters on {place} get no further updates under OLM v1{_followers_clause(followers)}",
            because=_reasons(graph, place, partial(olm_v1.rejection_reason, graph, place)),
            fix=_fix_v1(graph, place, ways),
            entry=place,
        )


def _stops_v1(graph: ChannelGraph) -> dict[str, list[str]]:
    """The entries where upgrade paths of OLM v1 end too early, without those for which it fails."""
    stops = _stops(graph, olm_v1.next_hops(graph), ())
    if not stops:
        return stops
    from everpath.upgrade_paths.next_hops import next_hops_v1  # noqa: PLC0415 - few channels need it

    answers = next_hops_v1(PackageGraph(graph.package), graph)
    return _stops(graph, answers.next, answers.failures)


@channel_rule("EP208", "stranded-opm", Severity.ERROR)
def stranded_opm(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every entry is on the replaces chain of the head, or is skipped.

    opm ends the chain at the first skipped entry and calls all entries below it stranded. It rejects the
    catalog even if OLM can update from them. Cost: one pass over the chain.
    """
    verdict = opm.validate_channel(graph)
    if not verdict.stranded:
        return
    last = next(name for name in reversed(verdict.chain) if name in graph.entries)
    target = graph.entries[last].replaces
    newest = max(verdict.stranded, key=lambda n: (n in graph.versions, *_key(graph, n)))
    are = "is" if len(verdict.stranded) == 1 else "are"
    yield Flaw(
        graph.entries[newest].place.at("name"),
        f"opm rejects the channel: {join_names(verdict.stranded)} {are} "
        f"neither on the replaces chain of {verdict.heads[0]} nor skipped",
        because=_chain_end(graph, last, target),
        fix=_stranded_opm_fix(graph, target, verdict.stranded, verdict.heads[0]),
        entry=newest,
    )


def _key(graph: ChannelGraph, name: str) -> tuple[object, ...]:
    version = graph.versions.get(name)
    return (version.key,) if version else ()


def _chain_end(graph: ChannelGraph, last: str, target: str | None) -> tuple[str, ...]:
    """Where the replaces chain ends for opm, and why."""
    if not target:
        return (f"the chain ends at {last}: it replaces nothing",)
    if skippers := graph.skippers.get(target):
        return (f"the chain ends at {last}: it replaces {target}, which {skip_clause(skippers)}",)
    return (f"the chain ends at {last}: it replaces {target}, which is not in the channel",)


def _stranded_opm_fix(graph: ChannelGraph, target: str | None, stranded: tuple[str, ...], head: str) -> Edit:
    """Remove the skip that ends the chain if opm then accepts the channel; else skip all stranded entries."""
    skip_all = add_skips(graph, head, stranded)
    if target and (skippers := graph.skippers.get(target)):
        go_on = remove_skip(graph, target, skippers)
        if opm.validate_channel(apply_edit(graph, go_on)).is_valid:
            return go_on._replace(alternative=skip_all)
    return skip_all


@channel_rule("EP210", "update-loop", Severity.ERROR, policy="v0")
def update_loop(graph: ChannelGraph) -> Iterator[Flaw]:
    """OLM v0 never returns to a version that it has left.

    A range that covers versions above its own entry makes OLM v0 downgrade and upgrade without end.
    Cost: O((edges + ranges) · log n).
    """
    hops = olm_v0.next_hops(graph)
    moves = _moves(hops.next, hops.failures)
    ends = last_entries(moves, graph.head, graph.entries)
    seen: set[str] = set()
    for destination in ends.values():
        if destination.end is not PathEnd.LOOP or destination.name in seen:
            continue
        loop = (destination.name, *hops_from(moves, destination.name))
        seen.update(loop)
        yield _loop(graph, loop)


def _loop(graph: ChannelGraph, loop: tuple[str, ...]) -> Flaw:
    pairs = list(itertools.pairwise(loop))
    # Break the loop at a downgrade, and rather at a range than at replaces.
    down = min(pairs, key=lambda p: (not _falls(graph, *p), graph.entries[p[1]].replaces == p[0]))
    edges = tuple(edge for here, there in pairs for edge in graph.edges_between(there, here))
    return Flaw(
        graph.entries[down[1]].place.at("name"),
        f"OLM v0 updates without end: {' → '.join(loop)}",
        because=edges,
        fix=_break_loop(graph, *down),
        entry=down[1],
    )


def _break_loop(graph: ChannelGraph, installed: str, successor: str) -> str | Edit:
    """Remove an edge by range. Without its `replaces` edge the installed entry would become a head."""
    kinds = {edge.kind for edge in graph.edges_between(successor, installed)}
    by_range = cap_range(graph, successor) if kinds == {EdgeKind.RANGE} else None
    return by_range or f"republish {successor} under a version above that of {installed}"


def _falls(graph: ChannelGraph, here: str, there: str) -> bool:
    first, second = graph.versions.get(here), graph.versions.get(there)
    return first is not None and second is not None and second < first
