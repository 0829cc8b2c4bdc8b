"""Everpath and OLM v1 have the same result for every version of every package of OperatorHub."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from everpath.graph import PackageGraph
from everpath.loaders.catalog_loader import load
from everpath.model import Entry, Package
from everpath.resolvers import olm_v1
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension, resolve
from everpath.resolvers.resolution import FailureKind, InstalledBundle, Resolution
from everpath.versions import parse_or_none
from tests.everpath.conformance.oracle import Answer, Oracle
from tests.everpath.conformance.oracle import Question as Asked
from tests.support.everpath.documents import Document, bundle, channel, package, text

pytestmark = [pytest.mark.conformance, pytest.mark.corpus]


def test_every_version_of_every_package(
    oracle_v1: Oracle, operatorhub: Path, record_property: Callable[[str, object], None]
) -> None:
    """With all channels, and with each; for each, `next_hops` of the whole channel is compared too."""
    graphs = [PackageGraph(found) for found in load(str(operatorhub), cache=None).catalog.packages]
    asked = [(graph, selected) for graph in graphs for selected in ((), *((c.name,) for c in graph.channels))]
    counts: Counter[str] = Counter()
    answers = oracle_v1.ask_many(question(graph.package, selected) for graph, selected in asked)
    for (graph, selected), answer in zip(asked, answers, strict=True):
        running = installations(graph.package)
        for installed, pick in zip(running, answer["picks"], strict=True):
            ours = resolve(
                [ClusterCatalog("hub", 0, graph)], ClusterExtension(graph.name, selected, installed=installed)
            )
            assert fate(ours, installed) == their_fate(pick), f"{graph.name} {selected} {installed}"
            count(counts, installed, ours)
            if selected and installed.name in graph.by_name[selected[0]].entries and ours.failure is None:
                assert olm_v1.next_hops(graph.by_name[selected[0]])[installed.name] == ours.next
                counts["as in bulk"] += 1
    shown = ", ".join(f"{number:,} {what}" for what, number in counts.items())
    record_property("counted", f"OLM v1, OperatorHub: {len(graphs)} packages, {shown}, 0 disagreements")
    assert counts["moves"] > 5_000


def installations(found: Package) -> list[InstalledBundle]:
    return [
        InstalledBundle(b.name, version)
        for b in found.bundles
        if (version := parse_or_none(b.version)) is not None
    ]


def question(found: Package, selected: tuple[str, ...]) -> Asked:
    return {
        "ask": "extension",
        "catalogs": [{"name": "hub", "priority": 0, "text": text(documents(found))}],
        "package": found.name,
        "channels": selected,
        "installed": [{"name": i.name, "version": str(i.version)} for i in installations(found)],
    }


def documents(found: Package) -> Iterator[Document]:
    yield package(found.name)
    for each in found.channels:
        yield channel(*map(entry, each.entries), name=each.name, package=found.name)
    for b in found.bundles:
        others = [{"type": p.type, "value": {}} for p in b.properties if p.type != "olm.package"]
        yield bundle(b.name, b.version or "none", *others, package=found.name)


def entry(stated: Entry) -> Document:
    fields = {"replaces": stated.replaces, "skips": list(stated.skips), "skipRange": stated.skip_range}
    return {"name": stated.name, **{key: value for key, value in fields.items() if value}}


def fate(decision: Resolution, installed: InstalledBundle) -> str:
    return decision.failure.message if decision.failure is not None else decision.next or installed.name


def their_fate(pick: Answer) -> str:
    found: str = pick.get("error") or pick["name"]
    return found


def count(counts: Counter[str], installed: InstalledBundle, decision: Resolution) -> None:
    counts["questions"] += 1
    if decision.failure is not None:
        counts[decision.failure.kind] += 1
        assert decision.failure.kind in (FailureKind.NO_BUNDLES, FailureKind.HAS_DEPENDENCIES)
    else:
        counts["stays" if decision.next is None else "moves"] += 1
