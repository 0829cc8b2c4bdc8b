"""The results of the real code and of everpath in the same types, so that `==` compares them."""

from __future__ import annotations

__all__ = [
    "Complaints",
    "Fates",
    "opm_by_everpath",
    "opm_by_oracle",
    "questions",
    "v0_by_everpath",
    "v0_by_oracle",
]

import re
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.notation import parse
from everpath.model import Property
from everpath.ranges import Range, RangeError
from everpath.resolvers import olm_v0, opm
from everpath.resolvers.resolution import FailureKind
from everpath.versions import parse as parse_version
from tests.everpath.conformance.oracle import Answer, Question
from tests.everpath.conformance.random_graphs import OUTSIDERS
from tests.everpath.conformance.small_graphs import SmallGraph, as_catalog, as_channel

_GRAPH_COMPLAINTS: Final = ("no channel head", "multiple channel heads", "detected cycle", "channel contains")
_FAILURES: Final = {
    "no channel heads (": FailureKind.NO_HEAD,
    "a unique replacement chain": FailureKind.SEVERAL_HEADS,
    "a cycle exists": FailureKind.CYCLE,
    "panic: ": FailureKind.PANIC,
}

#: For each installed name, and "" for a new installation: the next hop, None if it stays, or `failure: …`.
Fates = Mapping[str, str | None]


@dataclass(frozen=True, slots=True)
class Complaints:
    """The errors of opm for a channel."""

    graph: str | None
    ranges: frozenset[str]
    twins: bool

    @property
    def none(self) -> bool:
        return self == Complaints(None, frozenset(), twins=False)


def questions(graph: SmallGraph, outsider: str) -> tuple[Question, Question]:
    """Return questions for opm, and for OLM with every entry and other installed versions."""
    installed = [*graph.names, *({"name": name, "version": outsider} for name in OUTSIDERS)]
    return (
        {"ask": "opm", "catalog": as_catalog(graph)},
        {"ask": "v0", "channel": as_channel(graph), "installed": installed},
    )


def opm_by_oracle(answer: Answer) -> Complaints:
    """Parse opm's tree of errors, which has a random order. Raises an error for unknown lines."""
    assert answer["accepts"] or answer["stage"] == "validate", answer["error"]
    lines = [line.lstrip("│├└─ ") for line in answer.get("error", "").splitlines()]
    known = ("invalid index:", "invalid package", "invalid channel", "invalid bundle")
    graph = [line for line in lines if line.startswith(_GRAPH_COMPLAINTS)]
    ranges = frozenset(m[1] for line in lines if (m := re.match(r'invalid skipRange "(.*?)": ', line)))
    twins = any(line.startswith("duplicate versions") for line in lines)
    named = len(graph) + sum(
        line.startswith((*known, "invalid skipRange", "duplicate versions")) for line in lines
    )
    assert named == len(lines), answer["error"]
    complaints = Complaints(graph[0] if graph else None, ranges, twins)
    assert complaints.none == answer["accepts"], answer
    return complaints


def opm_by_everpath(graph: SmallGraph) -> Complaints:
    ranges = frozenset(e.skip_range for e in graph.entries if e.skip_range and not _parses(e.skip_range))
    versions = Counter(e.version for e in graph.entries)
    return Complaints(
        _graph_complaint(opm.validate_channel(_model(graph))), ranges, max(versions.values()) > 1
    )


def _graph_complaint(verdict: opm.ChannelValidation) -> str | None:
    if not verdict.heads:
        return "no channel head found in graph"
    if len(verdict.heads) > 1:
        return f"multiple channel heads found in graph: {', '.join(verdict.heads)}"
    if verdict.cycle:
        return f"detected cycle in replaces chain of upgrade graph: {' -> '.join(verdict.cycle)}"
    if verdict.stranded:
        return f"channel contains one or more stranded bundles: {', '.join(verdict.stranded)}"
    return None


def _parses(text: str) -> bool:
    try:
        Range.parse(text)
    except RangeError:
        return False
    return True


def v0_by_oracle(graph: SmallGraph, answer: Answer) -> Fates:
    picks = zip((*graph.names, *OUTSIDERS), answer["installed"], strict=True)
    return {"": _fresh(answer["fresh"]), **{name: _fate(outcome) for name, outcome in picks}}


def _fresh(outcome: Answer) -> str | None:
    """OLM reports unsatisfiable constraints if every installable entry is prohibited."""
    return None if (outcome["error"] or "").startswith("constraints not satisfiable") else _fate(outcome)


def _fate(outcome: Answer) -> str | None:
    error = outcome["error"]
    if error is None:
        pick: str | None = outcome["pick"]
        return pick
    kinds = [kind for beginning, kind in _FAILURES.items() if error.startswith(beginning)]
    return _failure(kinds[0]) if kinds else f"unexpected: {error}"


def v0_by_everpath(graph: SmallGraph, outsider: str) -> Fates:
    """Return the results of `next_hops`, and of `candidates` for other installed versions."""
    model = _model(graph)
    hops = olm_v0.next_hops(model)
    if hops.failure is not None:
        return dict.fromkeys(("", *graph.names, *OUTSIDERS), _failure(hops.failure.kind))
    fates = {
        "": olm_v0.new_install(model),
        **{name: _candidate(model, name, outsider) for name in OUTSIDERS},
    }
    for name in graph.names:
        fates[name] = _failure(hops.failures[name].kind) if name in hops.failures else hops.next[name]
        if name not in hops.failures:
            assert fates[name] == _candidate(model, name, None), (
                f"hops and candidates differ about {name}:\n{graph}"
            )
    return fates


def _candidate(model: ChannelGraph, installed: str, version: str | None) -> str | None:
    """Return the first candidate. Panics are not among the candidates, so a caller must check them."""
    parsed = parse_version(version) if version else None
    chain = olm_v0.sort_channel(model).chain
    if parsed and any(model.ranges[n].panics_on(parsed) for n in model.panicking_entries if n in chain):
        return _failure(FailureKind.PANIC)
    edge = next(olm_v0.candidates(model, installed, parsed), None)
    return edge.successor if edge and edge.successor != installed else None


def _failure(kind: FailureKind) -> str:
    return f"failure: {kind.value}"


def _model(graph: SmallGraph) -> ChannelGraph:
    (package,) = parse(str(graph)).packages
    stated = {e.name: e.properties for e in graph.entries if e.doubled}
    bundles = tuple(
        b._replace(
            properties=(*b.properties, *(Property(**p, place=b.place) for p in stated.get(b.name, ())))
        )
        for b in package.bundles
    )
    return PackageGraph(package._replace(bundles=bundles)).channels[0]
