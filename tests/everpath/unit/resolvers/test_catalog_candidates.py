"""What operator-controller stores of a package, and its candidates."""

from __future__ import annotations

import pytest

from everpath.graph import Edge, EdgeKind, PackageGraph
from everpath.resolvers.catalog_candidates import (
    Candidate,
    CandidateFilter,
    ClusterCatalog,
    best_candidate,
    served_channel,
    served_package,
    split_repeated_entries,
)
from everpath.resolvers.resolution import InstalledBundle, ResolutionFailure
from everpath.versions import parse_or_none
from tests.support.everpath.documents import Document, bundle, catalog, channel, deprecations
from tests.support.everpath.documents import package as declared
from tests.support.everpath.graphs import package_graph

PLAIN = (declared(), channel("op.v1.0.0", "op.v2.0.0"), bundle("op.v1.0.0"), bundle("op.v2.0.0"))


def _graph(*documents: Document) -> PackageGraph:
    return PackageGraph(catalog(*PLAIN, *documents).by_name["op"])


def _deprecated_names(graph: PackageGraph) -> list[list[str]]:
    return [[entry.name for entry in each.entries] for each in graph.package.deprecations]


def test_package_without_duplicates_is_served_unchanged() -> None:
    for graph in (_graph(), _graph(deprecations(("olm.bundle", "op.v1.0.0", "old")))):
        assert served_package(graph) is graph


def test_last_of_two_channels_with_one_name_is_served() -> None:
    served = served_package(_graph(channel("op.v2.0.0"), channel("op.v1.0.0", name="fast")))
    assert [(c.name, [*c.by_name]) for c in served.package.channels] == [
        ("stable", ["op.v2.0.0"]),
        ("fast", ["op.v1.0.0"]),
    ]
    assert len(served.package.bundles) == 2


def test_served_channel_is_unchanged_or_the_last_of_its_name() -> None:
    plain = _graph()
    package, graph = PackageGraph(plain.package), plain.channels[0]
    assert served_channel(package, graph) == (package, graph)
    twice = _graph(channel("op.v2.0.0"))
    package, served = served_channel(twice, twice.channels[0])
    assert (len(package.channels), [*served.entries]) == (1, ["op.v2.0.0"])


def test_last_of_two_bundles_with_one_name_is_served() -> None:
    served = served_package(_graph(bundle("op.v2.0.0", "2.0.0+1")))
    assert [b.version for b in served.package.bundles] == ["1.0.0", "2.0.0+1"]
    assert len(served.channels) == 1


def test_last_deprecations_document_is_served() -> None:
    documents = [deprecations(("olm.bundle", name, "old")) for name in ("a", "b", "c")]
    assert _deprecated_names(served_package(_graph(*documents[:2]))) == [["b"]]
    assert _deprecated_names(served_package(_graph(*documents))) == [["c"]]
    assert _deprecated_names(served_package(_graph(documents[0], channel("op.v1.0.0")))) == [["a"]]


@pytest.mark.parametrize("only", [declared(), channel("op.v1.0.0"), bundle("op.v1.0.0"), deprecations()])
def test_catalog_has_a_package_if_it_has_any_document_of_it(only: Document) -> None:
    """What is installed is read then, and stops everything if it has no version that parses."""
    package = PackageGraph(catalog(only).by_name["op"])
    assert isinstance(
        best_candidate(
            ClusterCatalog("c", 0, package), CandidateFilter(installed=InstalledBundle("x", None))
        ),
        ResolutionFailure,
    )


def test_a_bundle_in_no_channel_is_a_candidate_unless_channels_are_selected() -> None:
    source = ClusterCatalog("c", 0, _graph(bundle("op.v3.0.0")))
    for channels, name in (((), "op.v3.0.0"), (("stable",), "op.v2.0.0")):
        found = best_candidate(source, CandidateFilter(channels))
        assert isinstance(found, Candidate)
        assert found.bundle.name == name


@pytest.mark.parametrize("drawing", ["b3@2.0.0+1{}\nb2@2.0.0+2{}", "b2@2.0.0+2{}\nb3@2.0.0+1{}"])
def test_range_of_the_higher_version_is_the_edge(drawing: str) -> None:
    span = ": - / - / <2.0.0"
    source = ClusterCatalog("c", 0, package_graph(drawing.format(span, span)))
    found = best_candidate(source, CandidateFilter(installed=InstalledBundle("b1", parse_or_none("1.0.0"))))
    assert isinstance(found, Candidate)
    assert found.edge == Edge("b2", "b1", EdgeKind.RANGE)
    assert not found.is_installed


def test_edge_to_an_entry_without_a_bundle_has_no_candidate() -> None:
    source = ClusterCatalog("c", 0, package_graph("b9?: b1\nb2: b1\nb1"))
    found = best_candidate(source, CandidateFilter(installed=InstalledBundle("b1", parse_or_none("1.0.0"))))
    assert isinstance(found, Candidate)
    assert found.bundle.name == "b2"


def test_channel_is_split_only_if_it_has_an_entry_twice() -> None:
    [graph] = _graph().channels
    assert [*split_repeated_entries(graph)] == [graph]
    names = ("b", "a", "b", "a", "c", "b")
    [doubled] = PackageGraph(catalog(channel(*({"name": n} for n in names))).by_name["op"]).channels
    assert [[*layer.entries] for layer in split_repeated_entries(doubled)] == [
        ["b", "a", "c"],
        ["b", "a"],
        ["b"],
    ]
