"""Stranded versions: installed versions that get no further update, and update loops."""

from __future__ import annotations

__all__ = ["stranded_opm", "stranded_v0", "stranded_v1", "update_loop"]

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import cache, partial
from typing import Final

from everpath.graph import ChannelGraph, EdgeKind, PackageGraph
from everpath.resolvers import olm_v0, olm_v1, opm
from everpath.rules.findings import Fix, Flaw, Severity
from everpath.rules.fixes.edits import (
    ChannelEdit,
    FixedWith,
    add_skips,
    apply_edit,
    cap_range,
    first_accepted_edit,
    remove_skip,
    widen_range,
)
from everpath.rules.registry import channel_rule
from everpath.upgrade_path.goals import path_goals
from everpath.upgrade_path.hops import PathEnd, hops_from, last_entries
from everpath.wording import count, join_names, skip_clause

#: The number of ranges listed as evidence: n entries can each be covered by n ranges.
_MAX_RANGES: Final = 10


@channel_rule("EP206", "stranded-v0", Severity.ERROR, resolver="v0")
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
    rejection_reason = cache(partial(_rejection_reason, graph))
    for place, followers in stops.items():
        yield Flaw(
            graph.entries[place].place.at("name"),
            f"clusters on {place} get no further updates under OLM v0{_followers_clause(followers)}",
            because=_reasons(graph, place, rejection_reason),
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
    """Return the next hop of every entry; None if the resolver fails for it."""
    return {name: None if name in failures else hop for name, hop in hops.items()}


def _range_fix(graph: ChannelGraph, stops: Iterable[str], target: str | None) -> ChannelEdit | None:
    """Return the edit that covers every stranded entry that is not skipped with the range of `target`."""
    older = [stop for stop in stops if stop not in graph.skippers]
    return widen_range(graph, target, older) if target is not None else None


def _fix_v0(graph: ChannelGraph, place: str, target: str | None, by_range: ChannelEdit | None) -> Fix:
    """Return the edit that makes `target` a successor of a stranded entry.

    opm ends the replaces chain at a skipped entry, so a new skip can strand entries below it; a range cannot.
    """
    if target is None or target == place:
        assert graph.head is not None  # without a head OLM v0 fails
        rule = "EP505" if olm_v0.uninstallable(graph)[graph.head] == olm_v0.DEPRECATED_REASON else "EP427"
        return FixedWith(rule, graph.head)
    by_name = add_skips(graph, target, [place])
    if place in graph.skippers:
        return by_name
    return (
        (by_range if graph.is_lower(place, target) else None)
        or first_accepted_edit(graph, [by_name])
        or f"publish a release that replaces {graph.head} and skips {place}"
    )


def _fix_v1(graph: ChannelGraph, place: str, ways: Mapping[str, ChannelEdit | None]) -> Fix:
    """Return the same for OLM v1, which updates to higher versions only."""
    absent = [e.successor for e in graph.named_edges(place) if graph.bundle(e.successor) is None]
    if absent:
        return FixedWith("EP401", absent[0])
    for target, by_range in ways.items():
        if graph.is_lower(place, target):
            return _fix_v0(graph, place, target, by_range)
    top = next((t for t in ways if t != place), place)
    also = f" and skips {place}" if top != place else ""
    release = f"publish a release above {graph.versions.get(place, place)} that replaces {top}{also}"
    return _deprecate_fix(graph, place) + release


def _deprecate_fix(graph: ChannelGraph, place: str) -> str:
    """Return advice to deprecate the entry: OLM v1 then prefers a lower version that replaces or skips it."""
    successors = [edge.successor for edge in graph.named_edges(place) if edge.successor != place]
    best = min(successors, key=olm_v1.ranking(graph).__getitem__, default=None)
    deprecated = graph.package.deprecations_by_name("olm.bundle")
    if best is None or best in deprecated or not graph.package.is_rendered:
        return ""
    return f"deprecate {place} in olm.deprecations, and OLM v1 updates to {best}; or "


def _followers_clause(followers: list[str]) -> str:
    return f"; updates from {join_names(followers)} end there" if followers else ""


def _reasons(graph: ChannelGraph, place: str, rejection_reason: Callable[[str], str]) -> tuple[str, ...]:
    """Return the edges from an entry, and why OLM does not follow them; of many ranges a sample."""
    edges, more = graph.sample_successors(place, _MAX_RANGES)
    reasons = [f"{edge}, but {rejection_reason(edge.successor)}" for edge in edges]
    if more:
        reasons.append(f"OLM does not follow {count(more, 'more skipRange')} either")
    return tuple(reasons) or (f"no entry replaces or skips {place}, or covers it with a skipRange",)


def _rejection_reason(graph: ChannelGraph, successor: str) -> str:
    """Return why OLM v0 does not follow an edge."""
    if skippers := [s for s in graph.skippers.get(successor, ()) if s != successor]:
        return f"{skip_clause(skippers)} {successor}, so OLM v0 never installs it"
    if successor in graph.skippers:
        return f"{successor} skips itself, so OLM v0 never installs it"
    if obstacle := olm_v0.uninstallable(graph).get(successor):
        return f"{successor} {obstacle}, so OLM v0 never installs it"
    return f"{successor} is not on the replaces chain of {graph.head}"


@channel_rule("EP207", "stranded-v1", Severity.ERROR, resolver="v1")
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
    """Return the entries where upgrade paths of OLM v1 end too early, without those for which it fails."""
    stops = _stops(graph, olm_v1.next_hops(graph), ())
    if not stops:
        return stops
    from everpath.upgrade_path.next_hops import next_hops_v1  # noqa: PLC0415 - few channels need it

    answers = next_hops_v1(PackageGraph(graph.package), graph)
    return _stops(graph, answers.next, answers.failures)


@channel_rule("EP208", "stranded-opm", Severity.ERROR)
def stranded_opm(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every entry is on the replaces chain of the head, or is skipped.

    opm ends the chain at the first skipped entry and calls all entries below it stranded. It rejects the
    catalog even if OLM can update from them. Cost: one pass over the chain.
    """
    validation = opm.validate_channel(graph)
    if not validation.stranded:
        return
    last = next(name for name in reversed(validation.chain) if name in graph.entries)
    target = graph.entries[last].replaces
    newest = max(validation.stranded, key=lambda n: graph.versions[n].key if n in graph.versions else ())
    are = "is" if len(validation.stranded) == 1 else "are"
    yield Flaw(
        graph.entries[newest].place.at("name"),
        f"opm rejects the channel: {join_names(validation.stranded)} {are} "
        f"neither on the replaces chain of {validation.heads[0]} nor skipped",
        because=_chain_end(graph, last, target),
        fix=_stranded_opm_fix(graph, target, validation.stranded, validation.heads[0]),
        entry=newest,
    )


def _chain_end(graph: ChannelGraph, last: str, target: str | None) -> tuple[str, ...]:
    """Return where the replaces chain ends for opm, and why."""
    if not target:
        return (f"the chain ends at {last}: it replaces nothing",)
    if skippers := graph.skippers.get(target):
        return (f"the chain ends at {last}: it replaces {target}, which {skip_clause(skippers)}",)
    return (f"the chain ends at {last}: it replaces {target}, which is not in the channel",)


def _stranded_opm_fix(
    graph: ChannelGraph, target: str | None, stranded: tuple[str, ...], head: str
) -> ChannelEdit:
    """Remove the skip that ends the chain if opm then accepts the channel; else skip all stranded entries."""
    skip_all = add_skips(graph, head, stranded)
    if target and (skippers := graph.skippers.get(target)):
        go_on = remove_skip(graph, target, skippers)
        if opm.validate_channel(apply_edit(graph, go_on)).is_valid:
            return go_on._replace(alternative=skip_all)
    return skip_all


@channel_rule("EP210", "update-loop", Severity.ERROR, resolver="v0")
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
        yield _loop_flaw(graph, loop)


def _loop_flaw(graph: ChannelGraph, loop: tuple[str, ...]) -> Flaw:
    pairs = list(itertools.pairwise(loop))
    # Break the loop at a downgrade, and rather at a range than at replaces.
    installed, successor = min(
        pairs, key=lambda p: (not graph.is_lower(p[1], p[0]), graph.entries[p[1]].replaces == p[0])
    )
    # Without its `replaces` edge the installed entry would become a head, so only a range is removed.
    kinds = {edge.kind for edge in graph.edges_between(successor, installed)}
    by_range = cap_range(graph, successor) if kinds == {EdgeKind.RANGE} else None
    return Flaw(
        graph.entries[successor].place.at("name"),
        f"OLM v0 updates without end: {' → '.join(loop)}",
        because=tuple(edge for here, there in pairs for edge in graph.edges_between(there, here)),
        fix=by_range or f"republish {successor} under a version above that of {installed}",
        entry=successor,
    )
