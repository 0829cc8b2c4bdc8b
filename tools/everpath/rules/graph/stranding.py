"""Stranded users: installed versions from which nothing leads on."""

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

#: Ranges that are named as proof; a channel where everything covers everything has n for each of n entries.
_MOST_RANGES: Final = 10


@channel_rule("EP206", "stranded-v0", Severity.ERROR, policy="v0")
def stranded_v0(graph: ChannelGraph) -> Iterator[Flaw]:
    """Under OLM v0 every entry but the head has a next hop.

    A skipped entry is never a target, so an entry that only skipped ones accept is left behind for
    ever, silently; opm exempts skipped entries and accepts the catalog. Cost: O((edges + ranges) · log n).
    """
    hops = olm_v0.next_hops(graph)
    if hops.failure is not None:
        return
    stops = _stops(graph, hops.next, hops.failures)
    target = olm_v0.new_install(graph)
    by_range = _ranged_way_out(graph, stops, target)
    refusal = cache(partial(_refusal, graph))
    for place, followers in stops.items():
        yield Flaw(
            graph.entries[place].place.at("name"),
            f"OLM v0 never moves {place} on{_others(followers)}",
            because=_reasons(graph, place, refusal),
            fix=_way_out(graph, place, target, by_range),
            entry=place,
        )


def _stops(
    graph: ChannelGraph, hops: Mapping[str, str | None], failures: Collection[str]
) -> dict[str, list[str]]:
    """Last stops that are not the head, each with the entries that end there after a hop or more.

    Who meets a failure does not move either; but that is no stop, and a rule of its own tells of the cause.
    """
    ends = last_entries(_moves(hops, failures), graph.head, graph.entries)
    stranded = {n: d.name for n, d in ends.items() if d.end is PathEnd.STRANDED and d.name not in failures}
    stops: dict[str, list[str]] = {stop: [] for stop in stranded.values()}
    for name, stop in stranded.items():
        if name != stop:
            stops[stop].append(name)
    return stops


def _moves(hops: Mapping[str, str | None], failures: Collection[str]) -> Mapping[str, str | None]:
    """The next hop of everybody: who meets a failure stays."""
    return {name: None if name in failures else hop for name, hop in hops.items()}


def _nobody(place: str) -> str:
    return f"no entry replaces or skips {place}, or covers it with a skipRange"


def _ranged_way_out(graph: ChannelGraph, stops: Iterable[str], target: str | None) -> Edit | None:
    """The range by which `target` accepts every stop that must not be skipped. Cost: one look at each."""
    older = [stop for stop in stops if stop not in graph.skippers]
    return widen_range(graph, target, older) if target is not None else None


def _way_out(graph: ChannelGraph, place: str, target: str | None, by_range: Edit | None) -> str | Edit:
    """An edit that lets `target` accept a stranded entry, and with it the others that need it.

    To skip what nobody skips yet would cut off, in opm's eyes, whatever stands below it; a range never does.
    """
    if target is None or target == place:
        assert graph.head is not None  # or OLM v0 would strand nobody, it would fail
        rule = "EP505" if olm_v0.uninstallable(graph)[graph.head] == olm_v0.DEPRECATED_REASON else "EP427"
        return f"same cause as {rule} ({graph.head}), mended with it"
    by_name = add_skips(graph, target, [place])
    if place in graph.skippers:
        return by_name
    return (
        (by_range if _falls(graph, target, place) else None)
        or first_accepted_edit(graph, [by_name])
        or f"publish a release that replaces {graph.head} and skips {place}"
    )


def _way_up(graph: ChannelGraph, place: str, ways: Mapping[str, Edit | None]) -> str | Edit:
    """The same for v1, which goes to a higher version only."""
    absent = [e.successor for e in graph.named_edges(place) if graph.bundle(e.successor) is None]
    if absent:
        return f"same cause as EP401 ({absent[0]}), mended with it"
    for target, by_range in ways.items():
        if _falls(graph, target, place):
            return _way_out(graph, place, target, by_range)
    return _way_down(graph, place) + _way_over(graph, place, next((t for t in ways if t != place), place))


def _way_over(graph: ChannelGraph, place: str, top: str) -> str:
    also = f" and skips {place}" if top != place else ""
    return f"publish a release above {graph.versions.get(place, place)} that replaces {top}{also}"


def _way_down(graph: ChannelGraph, place: str) -> str:
    """To deprecate what was withdrawn: to v1 whatever accepts it is then the better one, though lower."""
    standings = olm_v1.sort_keys(graph)
    lower = [edge.successor for edge in graph.named_edges(place) if edge.successor != place]
    heir = min(lower, key=olm_v1.ranking(graph).__getitem__, default=None)
    if heir is None or not standings[heir][0] or any(bundle.csv for bundle in graph.package.bundles):
        return ""
    return f"deprecate {place} in olm.deprecations: OLM v1 then goes to {heir}; or "


def _others(followers: list[str]) -> str:
    return f"; {join_names(followers)} end{'s' if len(followers) == 1 else ''} there too" if followers else ""


def _reasons(graph: ChannelGraph, place: str, refusal: Callable[[str], str]) -> tuple[str, ...]:
    """Each edge to a place with the reason why nobody follows it; of many ranges some, and a count."""
    edges, more = graph.sample_successors(place, _MOST_RANGES)
    reasons = [f"{edge}, but {refusal(edge.successor)}" for edge in edges]
    if more:
        reasons.append(f"nobody follows {plural(more, 'more skipRange')} over it either")
    return tuple(reasons) or (_nobody(place),)


def _refusal(graph: ChannelGraph, successor: str) -> str:
    """Why an edge that exists leads nowhere under OLM v0."""
    if skippers := [s for s in graph.skippers.get(successor, ()) if s != successor]:
        return f"{skip_clause(skippers)} {successor}, so it is never a target"
    if successor in graph.skippers:
        return f"{successor} skips itself, so it is never a target"
    if obstacle := olm_v0.uninstallable(graph).get(successor):
        return f"{successor} {obstacle}, so it is never a target"
    return f"{successor} is not on the replaces chain of {graph.head}"


@channel_rule("EP207", "stranded-v1", Severity.ERROR, policy="v1")
def stranded_v1(graph: ChannelGraph) -> Iterator[Flaw]:
    """Under OLM v1 every entry leads, hop by hop, to the head or to a newest version that is not withdrawn.

    v1 takes the highest version that accepts the installed one and never looks at heads, so a piece of
    the channel that is connected only to itself keeps its users for ever. So does a newest version that
    was withdrawn, since what replaces or skips it is lower. Cost: O((edges + ranges) · log n).
    """
    good = path_goals(graph, "v1")
    stops = {place: followers for place, followers in _stops_v1(graph).items() if place not in good}
    ways = {t: _ranged_way_out(graph, stops, t) for t in good or olm_v1.new_installs(graph)}
    for place, followers in stops.items():
        yield Flaw(
            graph.entries[place].place.at("name"),
            f"OLM v1 never moves {place} on{_others(followers)}",
            because=_reasons(graph, place, partial(olm_v1.rejection_reason, graph, place)),
            fix=_way_up(graph, place, ways),
            entry=place,
        )


def _stops_v1(graph: ChannelGraph) -> dict[str, list[str]]:
    """Where nothing leads on under OLM v1. A failure strands nobody who would not be without it."""
    stops = _stops(graph, olm_v1.next_hops(graph), ())
    if not stops:
        return stops
    from everpath.upgrade_paths.next_hops import next_hops_v1  # noqa: PLC0415 - a channel without stops need not ask

    answers = next_hops_v1(PackageGraph(graph.package), graph)
    return _stops(graph, answers.next, answers.failures)


@channel_rule("EP208", "stranded-opm", Severity.ERROR)
def stranded_opm(graph: ChannelGraph) -> Iterator[Flaw]:
    """opm finds every entry on the replaces chain of the head, or skipped by somebody.

    opm stops following the chain at the first skipped entry and calls everything below it stranded; it
    refuses the catalog even where OLM would find a way. Cost: one walk.
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
        f"opm refuses the channel: {join_names(verdict.stranded)} {are} "
        f"neither on the replaces chain of {verdict.heads[0]} nor skipped",
        because=_halt(graph, last, target),
        fix=_way_on(graph, target, verdict.stranded, verdict.heads[0]),
        entry=newest,
    )


def _key(graph: ChannelGraph, name: str) -> tuple[object, ...]:
    version = graph.versions.get(name)
    return (version.key,) if version else ()


def _halt(graph: ChannelGraph, last: str, target: str | None) -> tuple[str, ...]:
    """Where opm's walk down from the head ends, and why."""
    if not target:
        return (f"the chain ends at {last}, which replaces nothing",)
    if skippers := graph.skippers.get(target):
        return (f"the chain stops at {last}, because {skip_clause(skippers)} {target}, which it replaces",)
    return (f"the chain ends at {last}, which replaces {target}, an entry this channel does not have",)


def _way_on(graph: ChannelGraph, target: str | None, stranded: tuple[str, ...], head: str) -> Edit:
    """To skip less where that alone pleases opm, else to skip all it calls stranded."""
    skip_all = add_skips(graph, head, stranded)
    if target and (skippers := graph.skippers.get(target)):
        go_on = remove_skip(graph, target, skippers)
        if opm.validate_channel(apply_edit(graph, go_on)).is_valid:
            return go_on._replace(alternative=skip_all)
    return skip_all


@channel_rule("EP210", "update-loop", Severity.ERROR, policy="v0")
def update_loop(graph: ChannelGraph) -> Iterator[Flaw]:
    """Following OLM v0 never leads back to a version one has left.

    A range that covers newer versions than its own entry makes OLM v0 go down, and then up again, for
    ever. Cost: O((edges + ranges) · log n).
    """
    hops = olm_v0.next_hops(graph)
    moves = _moves(hops.next, hops.failures)
    ends = last_entries(moves, graph.head, graph.entries)
    seen: set[str] = set()
    for destination in ends.values():
        if destination.end is not PathEnd.LOOP or destination.name in seen:
            continue
        circle = (destination.name, *hops_from(moves, destination.name))
        seen.update(circle)
        yield _loop(graph, circle)


def _loop(graph: ChannelGraph, circle: tuple[str, ...]) -> Flaw:
    pairs = list(itertools.pairwise(circle))
    # A circle is broken where it goes down, by a range rather than by name.
    down = min(pairs, key=lambda p: (not _falls(graph, *p), graph.entries[p[1]].replaces == p[0]))
    edges = tuple(edge for here, there in pairs for edge in graph.edges_between(there, here))
    return Flaw(
        graph.entries[down[1]].place.at("name"),
        f"OLM v0 goes in a circle: {' → '.join(circle)}",
        because=edges,
        fix=_turned_away(graph, *down),
        entry=down[1],
    )


def _turned_away(graph: ChannelGraph, installed: str, successor: str) -> str | Edit:
    """An entry that no longer accepts another one. To replace it no longer would make it a head."""
    kinds = {edge.kind for edge in graph.edges_between(successor, installed)}
    by_range = cap_range(graph, successor) if kinds == {EdgeKind.RANGE} else None
    return by_range or f"publish {successor} again with a version above {installed}'s, in its stead"


def _falls(graph: ChannelGraph, here: str, there: str) -> bool:
    first, second = graph.versions.get(here), graph.versions.get(there)
    return first is not None and second is not None and second < first
