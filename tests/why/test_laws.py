"""`why` says what the resolvers say, and what `simulate` says: of anything installed, in any channel."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.explain import ExplainQuery, explain
from everpath.graph import PackageGraph
from everpath.loaders.notation import parse
from everpath.resolvers import ResolverName, cluster_extension, subscription
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.resolution import CandidateResult
from everpath.simulate import InstalledVersion, Scenario, simulate_package
from everpath.upgrade_paths.hops import PathEnd
from strategies import drawings

POLICIES: tuple[ResolverName, ...] = ("v0", "v1")

installed = st.builds(
    InstalledVersion,
    st.sampled_from((*(f"b{n}" for n in range(8)), "gone", "unheard-of")),
    st.sampled_from(("1.0.0", "1.1.0-alpha", "1.2.0", "9.0.0")),
)


def entries(source: ClusterCatalog) -> list[InstalledVersion]:
    assert source.package is not None
    return [InstalledVersion(b.name, b.version) for b in source.package.package.bundles]


def drawn(drawing: str) -> ClusterCatalog:
    return ClusterCatalog("catalog", 0, PackageGraph(parse(drawing).packages[0]))


@given(drawings(), installed)
def test_the_decision_that_is_reported_is_the_resolver_s(drawing: str, stranger: InstalledVersion) -> None:
    source = drawn(drawing)
    assert source.package is not None
    for asked in (*entries(source), stranger, None):
        for story in explain([source], ExplainQuery("p", "stable", asked)).explanations:
            trace = story.trace
            here = asked.as_bundle(trace.resolver) if asked is not None else None
            if trace.resolver == "v0":
                expected = subscription.resolve(source.package.by_name["stable"], here)
            else:
                expected = cluster_extension.resolve(
                    [source], ClusterExtension("p", ("stable",), installed=here)
                )
            assert trace.decision == expected
            assert (trace.decision.next or "") in story.summary
            assert ("fails" in story.summary) == (expected.failure is not None)


@given(drawings(), installed)
def test_the_walk_that_is_reported_is_simulate_s(drawing: str, stranger: InstalledVersion) -> None:
    source = drawn(drawing)
    for asked in (*entries(source), stranger):
        explanations = explain([source], ExplainQuery("p", "stable", asked)).explanations
        scenario = Scenario(channels=frozenset(("stable",)))
        rows = [
            row
            for sheet in simulate_package([source], scenario, [asked])
            for line in sheet.installed
            for row in line.paths
        ]
        told = [
            (s.trace.resolver, s.trace.decision.next, s.trace.path.hops, s.trace.path.end)
            for s in explanations
        ]
        assert told == [(row.resolver, row.next, row.hops, row.end) for row in rows]


@settings(max_examples=30)
@given(drawings(), installed)
def test_who_arrives_has_nothing_to_mend_and_who_does_not_hears_a_reason(
    drawing: str, stranger: InstalledVersion
) -> None:
    catalog = parse(drawing)
    source = drawn(drawing)
    for asked in (*entries(source), stranger):
        explanation = explain([source], ExplainQuery("p", "stable", asked), {"catalog": catalog})
        assert explanation.reaches_goal == all(
            s.trace.path.end is PathEnd.HEAD for s in explanation.explanations
        )
        for story in explanation.explanations:
            if story.trace.path.end is PathEnd.HEAD:
                assert story.fixes == ()
            taken = [
                n for look in story.candidates if look.result is CandidateResult.TAKEN for n in look.names
            ]
            if story.trace.decision.next is not None:
                assert taken == [story.trace.decision.next]


@given(drawings(), st.sampled_from(POLICIES))
def test_every_entry_is_reported_of_once(drawing: str, policy: ResolverName) -> None:
    source = drawn(drawing)
    for asked in entries(source):
        for story in explain([source], ExplainQuery("p", "stable", asked, (policy,))).explanations:
            names = [name for look in story.candidates for name in look.names]
            assert len(names) == len(set(names))
            assert {remark.entry for remark in story.trace.steps} == set(names)
