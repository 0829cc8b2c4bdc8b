"""Packages with repeated declarations: opm rejects them, OLM v1 uses the last, and every entry has a path."""

from __future__ import annotations

from everpath.graph import PackageGraph
from everpath.model import Package
from everpath.reporters.simulation.text import text
from everpath.resolvers.catalog_candidates import served_channel
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import ClusterExtensionOptions, Scenario
from everpath.upgrade_path.channel_paths import ChannelPaths
from everpath.upgrade_path.hops import PathEnd
from tests.support.everpath.graphs import package_graph
from tests.support.everpath.simulations import channel_results, short_texts, simulation_report, upgrade_paths


def parse_package(drawing: str) -> Package:
    return package_graph(drawing).package


def one_catalog(package: Package) -> list[ClusterCatalog]:
    return [ClusterCatalog("catalog", 0, PackageGraph(package))]


def two_channels() -> list[ClusterCatalog]:
    first, second = parse_package("b2: b1\nb1"), parse_package("b4: b3\nb3")
    channels, bundles = first.channels + second.channels, first.bundles + second.bundles
    return one_catalog(first._replace(channels=channels, bundles=bundles))


def two_bundles() -> list[ClusterCatalog]:
    package = parse_package("b2: b1\nb1")
    again = next(b for b in package.bundles if b.name == "b2")._replace(version="5.0.0")
    return one_catalog(package._replace(bundles=(*package.bundles, again)))


def two_deprecations() -> list[ClusterCatalog]:
    package = parse_package("b3: b2\nb2: b1\nb1\n%deprecated b3: old")
    later = parse_package("b2\n%deprecated b2: old").deprecations
    return one_catalog(package._replace(deprecations=package.deprecations + later))


def test_v1_uses_the_last_of_two_channels_and_every_entry_has_a_path() -> None:
    assert short_texts(upgrade_paths(two_channels(), Scenario(("v1",)))) == [
        "v1 b4 head",
        "v1 b3 → b4 head",
        "v1 b2 error",
        "v1 b1 error",
    ]
    assert short_texts(upgrade_paths(two_channels(), Scenario(("v0",)))) == [
        "v0 b4 stranded",
        "v0 b3 stranded",
        "v0 b2 head",
        "v0 b1 → b2 head",
    ]


def test_new_installation_uses_the_last_of_two_channels() -> None:
    assert short_texts(upgrade_paths(two_channels(), Scenario(("v1",), new_install=True))) == [
        "v1 - → b4 head"
    ]


def test_entry_of_the_first_of_two_channels_has_a_path_in_the_last() -> None:
    found = two_channels()[0].package
    assert found is not None
    row = ChannelPaths(*served_channel(found, found.by_name["stable"]), "v1").path(None)
    assert short_texts([row]) == ["v1 - → b4 head"]


def test_v1_uses_the_last_of_two_bundles() -> None:
    assert short_texts(upgrade_paths(two_bundles(), Scenario(("v1",)), "b2")) == ["v1 b2 head"]
    assert {row.end for row in upgrade_paths(two_bundles())} == {PathEnd.HEAD}
    several = Scenario(("v1",), options=ClusterExtensionOptions(version_range=">0"))
    assert short_texts(upgrade_paths(two_bundles(), several)) == ["v1 b2 head", "v1 b1 → b2 head"]


def test_v1_uses_the_last_of_two_olm_deprecations() -> None:
    found = upgrade_paths(two_deprecations(), Scenario(("v1",)))
    assert short_texts(found) == ["v1 b3 head", "v1 b2 → b3 head", "v1 b1 stranded"]
    assert found[-1].reason.endswith("b2 replaces b1, but b2 is deprecated and b1 is not")


def test_text_has_the_error_of_opm_for_repeated_declarations() -> None:
    for sources, words in (
        (two_channels(), 'package "p" has duplicate channel "stable"'),
        (two_bundles(), 'package "p" has duplicate bundle "b2"'),
        (two_deprecations(), 'expected a maximum of one deprecation per package: "p"'),
    ):
        shown = "".join(text(simulation_report(channel_results(sources), Scenario())))
        assert f"opm rejects this catalog: {words}" in shown
