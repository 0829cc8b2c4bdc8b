"""Upgrade paths, constraints and mirrors as JSON (docs/schemas/paths.schema.json)."""

from __future__ import annotations

__all__ = ["VERSION", "render"]

import json
from collections.abc import Iterator, Sequence
from typing import Any, Final

from everpath.graph import PackageGraph
from everpath.paths.hop_graph import HopGraph
from everpath.paths.mirror import Mirror
from everpath.paths.path_counts import PathCount
from everpath.paths.report import ConstraintResult, GoalPaths, PathsReport

#: Raised when a field changes its meaning or is removed; fields may be added at any time.
VERSION: Final = 2

# Python converts no integer with more than 4,300 digits.
_MAX_PATHS: Final = 10**4000

Json = dict[str, Any]


def render(report: PathsReport) -> Iterator[str]:
    """Yield one JSON object."""
    query = report.query
    head = {"version": VERSION, "package": query.package.name, "resolver": query.resolver}
    yield json.dumps(head, ensure_ascii=False)[:-1]
    errors = [{"channel": each.channel, "message": each.message} for each in report.opm_errors]
    parts: dict[str, list[Json]] = {
        **({"opmErrors": errors} if errors else {}),
        "goals": [_goal_paths(each) for each in report.goal_paths],
        "constraints": [_constraint_result(each) for each in report.constraint_results],
        "mirrors": [_mirror(query.package, mirror) for mirror in report.mirrors],
    }
    for key, rows in parts.items():
        lines = ",\n  ".join(json.dumps(row, ensure_ascii=False) for row in rows)
        yield f',\n "{key}": [\n  {lines}\n ]' if rows else f',\n "{key}": []'
    yield "}\n"


def _goal_paths(goal_paths: GoalPaths) -> Json:
    hop_graph, start, goal = goal_paths.hop_graph, goal_paths.start, goal_paths.goal
    names = [start] if start is not None else [name for name in hop_graph.rank if name != goal]
    return {
        "channels": list(goal_paths.channels),
        "from": start,
        "to": goal,
        "channelFailures": [
            {"channel": channel, "kind": failure.kind.value, "entries": list(failure.names)}
            for channel, failure in hop_graph.channel_failures.items()
        ],
        "failures": [
            {"from": name, "kind": failure.kind.value, "message": failure.message}
            for name, failure in hop_graph.failures.items()
        ],
        "loops": [list(loop) for loop in goal_paths.loops],
        "counts": [
            {
                "from": name,
                "fromVersion": str(version) if (version := hop_graph.versions.get(name)) else None,
                **_count(goal_paths.counts.get(name)),
            }
            for name in names
        ],
        "paths": [_path(hop_graph, path) for path in goal_paths.listed],
        "longestPath": _path(hop_graph, goal_paths.longest) if goal_paths.longest else None,
    }


def _count(count: PathCount | None) -> Json:
    if count is None:
        return {"paths": 0, "exact": True, "shortest": None, "longest": None}
    paths = min(count.paths, _MAX_PATHS)
    is_exact = count.is_exact and paths == count.paths
    return {"paths": paths, "exact": is_exact, "shortest": count.shortest, "longest": count.longest}


def _path(hop_graph: HopGraph, path: Sequence[str]) -> Json:
    hops = [
        {
            "from": hop.start,
            "to": hop.end,
            "kinds": [kind.value for kind in hop.kinds],
            "channels": list(hop.channels),
        }
        for hop in hop_graph.hops(path)
    ]
    return {"entries": list(path), "hops": hops}


def _constraint_result(result: ConstraintResult) -> Json:
    constraint = result.constraint
    return {
        "kind": constraint.kind.value,
        "subject": constraint.subject.text,
        "names": sorted(constraint.subject.names),
        "holds": result.holds,
        "failing": list(result.failing),
        "violations": [
            {
                "channels": [graph.name for graph in hop_graph.graphs],
                "path": _path(hop_graph, violation.path),
                "hop": None
                if violation.hop is None
                else dict(zip(("from", "to"), violation.hop, strict=True)),
                "starts": list(violation.starts),
                "outside": [name for name in violation.starts if name in hop_graph.outside],
            }
            for hop_graph, violation in result.violations
        ],
    }


def _mirror(package: PackageGraph, mirror: Mirror) -> Json:
    bundles = ((name, package.package.by_name.get(name)) for name in mirror.bundles)
    return {
        "resolver": mirror.resolver,
        "kept": len(mirror.bundles),
        "total": mirror.total,
        "atLeast": mirror.at_least,
        "isSmallest": mirror.is_smallest,
        "bundles": [
            {
                "name": name,
                "version": bundle.version if bundle else None,
                "image": (bundle.image or None) if bundle else None,
            }
            for name, bundle in bundles
        ],
        "channels": [
            {
                "channel": channel.channel,
                "head": next(iter(channel.goals), None),
                "goals": list(channel.goals),
                "total": channel.total,
                "entries": list(channel.entries),
                "served": list(channel.served),
                "cutOff": list(channel.cut_off),
                "neededBy": {name: list(by) for name, by in channel.needed_by.items()},
                "offered": list(channel.offered),
            }
            for channel in mirror.channels
        ],
    }
