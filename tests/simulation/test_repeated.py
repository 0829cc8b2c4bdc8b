"""Packages with repeated declarations: opm rejects them, OLM v1 uses the last, and every entry has a path."""

from __future__ import annotations

from everpath.graph import PackageGraph
from everpath.model import Package
from everpath.reporters.simulation_text import text
from everpath.resolvers.catalog_candidates import served_channel
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.simulate import ClusterExtensionOptions, Scenario
from everpath.upgrade_paths import ChannelPaths
from everpath.upgrade_paths.hops import PathEnd
from graphs import package_graph
from simulations import answered, brief, simulated, simulation_of


def package(drawing: str) -> Package:
    return package_graph(drawing).package


def served(said: Package) -> list[ClusterCatalog]:
    return [ClusterCatalog("catalog", 0, PackageGraph(said))]


def two_channels() -> list[ClusterCatalog]:
    first, second = package("b2: b1\nb1"), package("b4: b3\nb3")
    channels, bundles = first.channels + second.channels, first.bundles + second.bundles
    return served(first._replace(channels=channels, bundles=bundles))


def two_bundles() -> list[ClusterCatalog]:
    said = package("b2: b1\nb1")
    again = next(b for b in said.bundles if b.name == "b2")._replace(version="5.0.0")
    return served(said._replace(bundles=(*said.bundles, again)))


def two_deprecations() -> list[ClusterCatalog]:
    said = package("b3: b2\nb2: b1\nb1\n%deprecated b3: old")
    later = package("b2\n%deprecated b2: old").deprecations
    return served(said._replace(deprecations=said.deprecations + later))


def test_of_two_channels_with_one_name_v1_takes_the_last_and_every_entry_has_a_row() -> None:
    assert brief(answered(two_channels(), Scenario(("v1",)))) == [
        "v1 b4 head",
        "v1 b3 → b4 head",
        "v1 b2 error",
        "v1 b1 error",
    ]
    assert brief(answered(two_channels(), Scenario(("v0",)))) == [
        "v0 b4 stranded",
        "v0 b3 stranded",
        "v0 b2 head",
        "v0 b1 → b2 head",
    ]


def test_a_fresh_install_from_two_channels_with_one_name_is_of_the_last() -> None:
    assert brief(answered(two_channels(), Scenario(("v1",), new_install=True))) == ["v1 - → b4 head"]


def test_a_stream_of_the_first_of_two_channels_with_one_name_answers_for_the_last() -> None:
    found = two_channels()[0].package
    assert found is not None
    row = ChannelPaths(*served_channel(found, found.by_name["stable"]), "v1").path(None)
    assert brief([row]) == ["v1 - → b4 head"]


def test_of_two_bundles_with_one_name_v1_uses_the_last_and_stays_on_it() -> None:
    assert brief(answered(two_bundles(), Scenario(("v1",)), "b2")) == ["v1 b2 head"]
    assert {row.end for row in answered(two_bundles())} == {PathEnd.HEAD}
    several = Scenario(("v1",), options=ClusterExtensionOptions(version_range=">0"))
    assert brief(answered(two_bundles(), several)) == ["v1 b2 head", "v1 b1 → b2 head"]


def test_of_two_olm_deprecations_v1_reads_the_last_and_says_so() -> None:
    found = answered(two_deprecations(), Scenario(("v1",)))
    assert brief(found) == ["v1 b3 head", "v1 b2 → b3 head", "v1 b1 stranded"]
    assert found[-1].reason.endswith("b2 replaces b1, but b2 is deprecated and b1 is not")


def test_opm_is_said_to_refuse_what_is_said_twice() -> None:
    for sources, words in (
        (two_channels(), 'package "p" has duplicate channel "stable"'),
        (two_bundles(), 'package "p" has duplicate bundle "b2"'),
        (two_deprecations(), 'expected a maximum of one deprecation per package: "p"'),
    ):
        shown = "".join(text(simulation_of(simulated(sources), Scenario())))
        assert f"opm rejects this catalog: {words}" in shown
