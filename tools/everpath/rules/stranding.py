"""Stranded users: installed versions from which nothing leads on."""

from __future__ import annotations

__all__ = ["stranded_opm", "stranded_v0", "stranded_v1", "update_loop"]

import itertools
from collections.abc import Iterable, Iterator, Mapping

from everpath.graph import ChannelGraph, Edge
from everpath.policies import olm_v0, olm_v1, opm
from everpath.policies.walks import Destination, End, destinations, walk
from everpath.rules._edits import safest, skipping
from everpath.rules._words import listed, skip, widened
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import channel_rule


@channel_rule("EP206", "stranded-v0", Severity.ERROR, policy="v0")
def stranded_v0(graph: ChannelGraph) -> Iterator[Flaw]:
    """Under OLM v0 every entry but the head has a next hop.

    A skipped entry is never a target, so an entry that only skipped ones accept is left behind for
    ever, silently; opm exempts skipped entries and accepts the catalog. Cost: O((edges + ranges) · log n).
    """
    hops = olm_v0.hops(graph)
    if hops.failure is not None:
        return
    ends = destinations(hops.next, graph.head, graph.entries)
    stops = dict(_gathered(ends, End.STRANDED))
    for place, followers in stops.items():
        refused = tuple(_refused(graph, e) for e in graph.successors(place) if e.successor != place)
        yield Flaw(
            graph.entries[place].place.at("name"),
            f"OLM v0 never moves {place} on{_others(followers)}",
            because=refused or (_nobody(place),),
            fix=_way_out(graph, place, stops, olm_v0.fresh_install(graph)),
            entry=place,
        )


def _gathered(ends: Mapping[str, Destination], end: End) -> Iterator[tuple[str, list[str]]]:
    """Last stops of one kind, each with the entries that end there after a hop or more."""
    stops: dict[str, list[str]] = {d.name: [] for d in ends.values() if d.end is end}
    for name, destination in ends.items():
        if destination.end is end and name != destination.name:
            stops[destination.name].append(name)
    yield from stops.items()


def _nobody(place: str) -> str:
    return f"no entry replaces or skips {place}, or covers it with a skipRange"


def _way_out(graph: ChannelGraph, place: str, stops: Iterable[str], target: str | None) -> str | None:
    """An edit that lets `target` accept a stranded entry, and with it the others that need it.

    To skip what nobody skips yet would cut off, in opm's eyes, whatever stands below it; a range never does.
    """
    if target is None or target == place:
        return f"publish a release above {graph.head} that OLM may install and that accepts {place}"
    by_name = skipping(graph, target, [place])
    if place in graph.skippers:
        return by_name.text
    older = [stop for stop in stops if stop not in graph.skippers and stop != target]
    return widened(graph, target, older) or safest(graph, [by_name])


def _others(followers: list[str]) -> str:
    return f"; {listed(followers)} end{'s' if len(followers) == 1 else ''} there too" if followers else ""


def _refused(graph: ChannelGraph, edge: Edge) -> str:
    """Why an edge that exists leads nowhere under OLM v0."""
    if skippers := [s for s in graph.skippers.get(edge.successor, ()) if s != edge.successor]:
        return f"{edge}, but {skip(skippers)} {edge.successor}, so it is never a target"
    if edge.successor in graph.skippers:
        return f"{edge}, but {edge.successor} skips itself, so it is never a target"
    if obstacle := olm_v0.prohibited(graph).get(edge.successor):
        return f"{edge}, but {edge.successor} {obstacle}, so it is never a target"
    return f"{edge}, but {edge.successor} is not on the replaces chain of {graph.head}"


@channel_rule("EP207", "stranded-v1", Severity.ERROR, policy="v1")
def stranded_v1(graph: ChannelGraph) -> Iterator[Flaw]:
    """Under OLM v1 every entry leads, hop by hop, to the newest version or to the head.

    v1 takes the highest version that accepts the installed one and never looks at heads, so a piece of
    the channel that is connected only to itself keeps its users for ever.
    Cost: O((edges + ranges) · log n).
    """
    best = olm_v1.fresh_install(graph)
    ends = destinations(olm_v1.hops(graph), graph.head, graph.entries)
    stops = dict(_gathered(ends, End.STRANDED))
    for place, followers in stops.items():
        if place == best or place not in olm_v1.ranking(graph):
            continue
        lower = tuple(e for e in graph.successors(place) if e.successor != place)
        yield Flaw(
            graph.entries[place].place.at("name"),
            f"OLM v1 never moves {place} on{_others(followers)}",
            because=tuple(f"{e}, but v1 does not go to a lower version" for e in lower) or (_nobody(place),),
            fix=_way_out(graph, place, stops, graph.head or best),
            entry=place,
        )


@channel_rule("EP208", "stranded-opm", Severity.ERROR)
def stranded_opm(graph: ChannelGraph) -> Iterator[Flaw]:
    """opm finds every entry on the replaces chain of the head, or skipped by somebody.

    opm stops following the chain at the first skipped entry and calls everything below it stranded; it
    refuses the catalog even where OLM would find a way. Cost: one walk.
    """
    verdict = opm.verdict(graph)
    if not verdict.stranded:
        return
    last = next(name for name in reversed(verdict.chain) if name in graph.entries)
    target = graph.entries[last].replaces
    newest = max(verdict.stranded, key=lambda n: (n in graph.versions, *_key(graph, n)))
    are = "is" if len(verdict.stranded) == 1 else "are"
    yield Flaw(
        graph.entries[newest].place.at("name"),
        f"opm refuses the channel: {listed(verdict.stranded)} {are} "
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
        return (f"the chain stops at {last}, because {skip(skippers)} {target}, which it replaces",)
    return (f"the chain ends at {last}, which replaces {target}, an entry this channel does not have",)


def _all_of(names: tuple[str, ...]) -> str:
    return listed(names) if len(names) <= 8 else f"all {len(names)}"


def _way_on(graph: ChannelGraph, target: str | None, stranded: tuple[str, ...], head: str) -> str:
    skip_all = f"add {_all_of(stranded)} to the skips of {head}"
    if target in graph.entries and (skippers := graph.skippers.get(target or "")):
        return f"remove {target} from the skips of {listed(skippers)}, or {skip_all}"
    return skip_all


@channel_rule("EP210", "update-loop", Severity.ERROR, policy="v0")
def update_loop(graph: ChannelGraph) -> Iterator[Flaw]:
    """Following OLM v0 never leads back to a version one has left.

    A range that covers newer versions than its own entry makes OLM v0 go down, and then up again, for
    ever. Cost: O((edges + ranges) · log n).
    """
    hops = olm_v0.hops(graph)
    ends = destinations(hops.next, graph.head, graph.entries)
    seen: set[str] = set()
    for destination in ends.values():
        if destination.end is not End.LOOP or destination.name in seen:
            continue
        circle = (destination.name, *walk(hops.next, destination.name))
        seen.update(circle)
        yield _loop(graph, circle)


def _loop(graph: ChannelGraph, circle: tuple[str, ...]) -> Flaw:
    pairs = list(itertools.pairwise(circle))
    down = next((p for p in pairs if _falls(graph, *p)), pairs[-1])
    edges = tuple(edge for here, there in pairs for edge in graph.accepts(there, here))
    return Flaw(
        graph.entries[down[1]].place.at("name"),
        f"OLM v0 goes in a circle: {' → '.join(circle)}",
        because=edges,
        fix=f"let {down[1]} accept only versions below its own, not {down[0]}",
        entry=down[1],
    )


def _falls(graph: ChannelGraph, here: str, there: str) -> bool:
    first, second = graph.versions.get(here), graph.versions.get(there)
    return first is not None and second is not None and second < first
