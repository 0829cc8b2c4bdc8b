"""Roads, demands and mirrors as JSON (docs/schemas/paths.schema.json)."""

from __future__ import annotations

__all__ = ["VERSION", "render"]

import json
from collections.abc import Iterator
from typing import Any, Final

from everpath.graph import PackageGraph
from everpath.paths.constraints import Offence
from everpath.paths.hop_graph import Network
from everpath.paths.mirror import Kept, Mirror
from everpath.paths.path_counts import Road, Tally
from everpath.paths.report import Roadbook, Survey, Verdict

#: Raised when a field changes its meaning or goes away; new fields may come at any time.
VERSION: Final = 1

# Python writes no integer of more digits than 4,300.
_MOST_ROADS: Final = 10**4000

Json = dict[str, Any]


def render(book: Roadbook) -> Iterator[str]:
    """One JSON object."""
    question = book.question
    head = {"version": VERSION, "package": question.package.name, "policy": question.policy}
    yield json.dumps(head, ensure_ascii=False)[:-1]
    refused = [{"channel": each.channel, "words": each.words} for each in book.refused]
    parts: dict[str, list[Json]] = {
        **({"refused": refused} if refused else {}),
        "surveys": [_survey(survey) for survey in book.surveys],
        "demands": [_verdict(verdict) for verdict in book.verdicts],
        "mirrors": [_mirror(question.package, mirror) for mirror in book.mirrors],
    }
    for key, rows in parts.items():
        lines = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows)
        yield f',\n "{key}": [\n  {lines}\n ]' if rows else f',\n "{key}": []'
    yield "}\n"


def _survey(survey: Survey) -> Json:
    net = survey.network
    names = [survey.start] if survey.start is not None else [n for n in net.place if n != survey.goal]
    return {
        "channels": list(survey.channels),
        "from": survey.start,
        "to": survey.goal,
        "failures": [
            {"channel": channel, "kind": failure.kind.value, "entries": list(failure.names)}
            for channel, failure in net.failures.items()
        ],
        "stuck": [
            {"from": name, "kind": failure.kind.value, "words": failure.message}
            for name, failure in net.stuck.items()
        ],
        "loops": [list(loop) for loop in survey.loops],
        "counts": [
            {"from": n, "fromVersion": _version(net, n), **_tally(survey.tallies.get(n))} for n in names
        ],
        "roads": [_road(net, road) for road in survey.listed],
        "longestRoad": _road(net, survey.longest) if survey.longest else None,
    }


def _version(net: Network, name: str) -> str | None:
    version = net.versions.get(name)
    return None if version is None else str(version)


def _tally(tally: Tally | None) -> Json:
    if tally is None:
        return {"roads": 0, "exact": True, "shortest": None, "longest": None}
    roads = min(tally.roads, _MOST_ROADS)
    exact = tally.is_exact and roads == tally.roads
    return {"roads": roads, "exact": exact, "shortest": tally.shortest, "longest": tally.longest}


def _road(net: Network, road: Road) -> Json:
    hops = [
        {
            "from": hop.start,
            "to": hop.end,
            "kinds": [k.value for k in hop.kinds],
            "channels": list(hop.channels),
        }
        for hop in net.hops(road)
    ]
    return {"entries": list(road), "hops": hops}


def _verdict(verdict: Verdict) -> Json:
    demand = verdict.demand
    return {
        "kind": demand.kind.value,
        "subject": demand.subject.text,
        "names": sorted(demand.subject.names),
        "holds": verdict.holds,
        "stuck": list(verdict.stuck),
        "offences": [_offence(net, offence) for net, offence in verdict.offences],
    }


def _offence(net: Network, offence: Offence) -> Json:
    culprit = offence.culprit
    return {
        "channels": [graph.name for graph in net.graphs],
        "road": _road(net, offence.road),
        "culprit": None if culprit is None else {"from": culprit[0], "to": culprit[1]},
        "starts": list(offence.starts),
        "absent": [name for name in offence.starts if name in net.absent],
    }


def _mirror(package: PackageGraph, mirror: Mirror) -> Json:
    return {
        "policy": mirror.policy,
        "kept": len(mirror.bundles),
        "total": mirror.total,
        "atLeast": mirror.at_least,
        "isSmallest": mirror.is_smallest,
        "bundles": [_bundle(package, name) for name in mirror.bundles],
        "channels": [_kept(kept) for kept in mirror.channels],
    }


def _bundle(package: PackageGraph, name: str) -> Json:
    bundle = package.package.by_name.get(name)
    return {
        "name": name,
        "version": bundle.version if bundle else None,
        "image": (bundle.image or None) if bundle else None,
    }


def _kept(kept: Kept) -> Json:
    return {
        "channel": kept.channel,
        "head": next(iter(kept.goals), None),
        "goals": list(kept.goals),
        "total": kept.total,
        "entries": list(kept.entries),
        "served": list(kept.served),
        "cutOff": list(kept.cut_off),
        "neededBy": {name: list(by) for name, by in kept.needed_by.items()},
        "offered": list(kept.offered),
    }
