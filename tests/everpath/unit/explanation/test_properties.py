"""Explanations of random channels agree with the resolvers and with `simulate`."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.explanation import ExplainQuery, explain
from everpath.graph import PackageGraph
from everpath.loaders.notation import parse
from everpath.resolvers import ResolverName, cluster_extension, subscription
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.resolution import CandidateResult
from everpath.simulate import InstalledVersion, Scenario, simulate_package
from everpath.upgrade_path.hops import PathEnd
from tests.support.everpath.strategies import drawings
from tests.support.tiers import examples

RESOLVERS: tuple[ResolverName, ...] = ("v0", "v1")

installed = st.builds(
    InstalledVersion,
    st.sampled_from((*(f"b{n}" for n in range(8)), "gone", "unknown")),
    st.sampled_from(("1.0.0", "1.1.0-alpha", "1.2.0", "9.0.0")),
)


def entries(source: ClusterCatalog) -> list[InstalledVersion]:
    assert source.package is not None
    return [InstalledVersion(b.name, b.version) for b in source.package.package.bundles]


def drawn(drawing: str) -> ClusterCatalog:
    return ClusterCatalog("catalog", 0, PackageGraph(parse(drawing).packages[0]))


@given(drawings(), installed)
def test_explained_decision_is_that_of_the_resolver(drawing: str, unknown: InstalledVersion) -> None:
    source = drawn(drawing)
    assert source.package is not None
    for csv in (*entries(source), unknown, None):
        for each in explain([source], ExplainQuery("p", "stable", csv)).explanations:
            trace = each.trace
            here = csv.as_bundle(trace.resolver) if csv is not None else None
            if trace.resolver == "v0":
                expected = subscription.resolve(source.package.by_name["stable"], here)
            else:
                expected = cluster_extension.resolve(
                    [source], ClusterExtension("p", ("stable",), installed=here)
                )
            assert trace.decision == expected
            assert (trace.decision.next or "") in each.summary
            assert ("fails" in each.summary) == (expected.failure is not None)


@given(drawings(), installed)
def test_explained_path_is_that_of_simulate(drawing: str, unknown: InstalledVersion) -> None:
    source = drawn(drawing)
    for csv in (*entries(source), unknown):
        explanations = explain([source], ExplainQuery("p", "stable", csv)).explanations
        scenario = Scenario(channels=frozenset(("stable",)))
        rows = [
            row
            for channel in simulate_package([source], scenario, [csv])
            for line in channel.installed
            for row in line.paths
        ]
        explained = [
            (s.trace.resolver, s.trace.decision.next, s.trace.path.hops, s.trace.path.end)
            for s in explanations
        ]
        assert explained == [(row.resolver, row.next, row.hops, row.end) for row in rows]


@settings(max_examples=examples(30))
@given(drawings(), installed)
def test_version_that_reaches_the_head_has_no_fixes(drawing: str, unknown: InstalledVersion) -> None:
    catalog = parse(drawing)
    source = drawn(drawing)
    for csv in (*entries(source), unknown):
        explanation = explain([source], ExplainQuery("p", "stable", csv), {"catalog": catalog})
        assert explanation.reaches_goal == all(
            s.trace.path.end is PathEnd.HEAD for s in explanation.explanations
        )
        for each in explanation.explanations:
            if each.trace.path.end is PathEnd.HEAD:
                assert each.fixes == ()
            taken = [
                n for group in each.candidates if group.result is CandidateResult.TAKEN for n in group.names
            ]
            if each.trace.decision.next is not None:
                assert taken == [each.trace.decision.next]


@given(drawings(), st.sampled_from(RESOLVERS))
def test_every_candidate_is_listed_once(drawing: str, resolver: ResolverName) -> None:
    source = drawn(drawing)
    for csv in entries(source):
        for each in explain([source], ExplainQuery("p", "stable", csv, (resolver,))).explanations:
            names = [name for group in each.candidates for name in group.names]
            assert len(names) == len(set(names))
            assert {step.entry for step in each.trace.steps} == set(names)
