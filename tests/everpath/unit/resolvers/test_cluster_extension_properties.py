"""Properties of the resolution of a ClusterExtension."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from everpath.graph import ChannelGraph, PackageGraph
from everpath.resolvers import olm_v1
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension, resolve
from everpath.resolvers.resolution import CandidateResult, InstalledBundle, Resolution, TraceStep
from tests.support.everpath.graphs import package_graph
from tests.support.everpath.strategies import drawings


@st.composite
def packages(draw: st.DrawFn) -> PackageGraph:
    """A package of one random channel, some of whose bundles are deprecated."""
    drawing = draw(drawings())
    names = [line.partition("@")[0] for line in drawing.splitlines()]
    deprecated = draw(st.lists(st.sampled_from(names), max_size=2, unique=True))
    return package_graph("\n".join([drawing, *(f"%deprecated {name}: old" for name in deprecated)]))


def from_entry(package: PackageGraph, name: str) -> ClusterExtension:
    version = package.channels[0].versions[name]
    return ClusterExtension(
        package.name, (package.channels[0].name,), installed=InstalledBundle(name, version)
    )


@given(packages())
def test_single_resolution_equals_next_hops(package: PackageGraph) -> None:
    graph: ChannelGraph = package.channels[0]
    hops = olm_v1.next_hops(graph)
    for name in graph.entries:
        decision = resolve([ClusterCatalog("c", 0, package)], from_entry(package, name))
        assert decision == Resolution(hops[name], None, "c", decision.deprecations)


@given(packages())
def test_a_fresh_install_is_the_first_of_the_ranking(package: PackageGraph) -> None:
    wanted = ClusterExtension(package.name, (package.channels[0].name,))
    assert resolve([ClusterCatalog("c", 0, package)], wanted).next == olm_v1.new_install(package.channels[0])


@given(st.lists(packages(), min_size=2, max_size=3), st.lists(st.integers(0, 2), min_size=3), st.randoms())
def test_the_order_of_catalogs_does_not_matter(
    found: list[PackageGraph], priorities: list[int], chance: Random
) -> None:
    sources = [ClusterCatalog(f"c{i}", priorities[i], package) for i, package in enumerate(found)]
    shuffled = chance.sample(sources, len(sources))
    for name in found[0].channels[0].entries:
        wanted = from_entry(found[0], name)
        one, other = resolve(sources, wanted), resolve(shuffled, wanted)
        assert one._replace(deprecations=None) == other._replace(deprecations=None)


@given(st.lists(packages(), min_size=1, max_size=2), st.sampled_from(("", ">=1.0.0", "<1.1.0", "1.x", "!=2")))
def test_trace_has_every_bundle_once_and_the_choice(found: list[PackageGraph], version_range: str) -> None:
    sources = [ClusterCatalog(f"c{i}", i, package) for i, package in enumerate(found)]
    for name in found[0].channels[0].entries:
        heard: list[TraceStep] = []
        wanted = from_entry(found[0], name)._replace(version_range=version_range)
        decision = resolve(sources, wanted, heard.append)
        assert sorted((r.catalog, r.entry) for r in heard) == sorted(
            (f"c{i}", b.name) for i, package in enumerate(found) for b in package.package.bundles
        )
        taken = [(r.entry, r.catalog) for r in heard if r.result is CandidateResult.TAKEN]
        assert taken == ([] if decision.failure else [(decision.next or name, decision.catalog)])
        assert decision == resolve(sources, wanted)
