"""`why` says what the resolvers say, and what `simulate` says: of anything installed, in any channel."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.explain import Question, explain
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
def test_the_decision_that_is_told_is_the_resolver_s(drawing: str, stranger: InstalledVersion) -> None:
    source = drawn(drawing)
    assert source.package is not None
    for asked in (*entries(source), stranger, None):
        for story in explain([source], Question("p", "stable", asked)).stories:
            account = story.account
            here = asked.as_bundle(account.policy) if asked is not None else None
            if account.policy == "v0":
                expected = subscription.resolve(source.package.by_name["stable"], here)
            else:
                expected = cluster_extension.resolve(
                    [source], ClusterExtension("p", ("stable",), installed=here)
                )
            assert account.decision == expected
            assert (account.decision.next or "") in story.verdict
            assert ("fails" in story.verdict) == (expected.failure is not None)


@given(drawings(), installed)
def test_the_walk_that_is_told_is_simulate_s(drawing: str, stranger: InstalledVersion) -> None:
    source = drawn(drawing)
    for asked in (*entries(source), stranger):
        stories = explain([source], Question("p", "stable", asked)).stories
        scenario = Scenario(channels=frozenset(("stable",)))
        rows = [
            row
            for sheet in simulate_package([source], scenario, [asked])
            for line in sheet.installed
            for row in line.paths
        ]
        told = [(s.account.policy, s.account.decision.next, s.account.path, s.account.end) for s in stories]
        assert told == [(row.resolver, row.next, row.hops, row.end) for row in rows]


@settings(max_examples=30)
@given(drawings(), installed)
def test_who_arrives_has_nothing_to_mend_and_who_does_not_hears_a_reason(
    drawing: str, stranger: InstalledVersion
) -> None:
    catalog = parse(drawing)
    source = drawn(drawing)
    for asked in (*entries(source), stranger):
        explanation = explain([source], Question("p", "stable", asked), {"catalog": catalog})
        assert explanation.is_content == all(s.account.end is PathEnd.HEAD for s in explanation.stories)
        for story in explanation.stories:
            if story.account.end is PathEnd.HEAD:
                assert story.remedies == ()
            taken = [n for look in story.looked if look.verdict is CandidateResult.TAKEN for n in look.names]
            if story.account.decision.next is not None:
                assert taken == [story.account.decision.next]


@given(drawings(), st.sampled_from(POLICIES))
def test_every_entry_is_told_of_once(drawing: str, policy: ResolverName) -> None:
    source = drawn(drawing)
    for asked in entries(source):
        for story in explain([source], Question("p", "stable", asked, (policy,))).stories:
            names = [name for look in story.looked for name in look.names]
            assert len(names) == len(set(names))
            assert {remark.entry for remark in story.account.remarks} == set(names)
