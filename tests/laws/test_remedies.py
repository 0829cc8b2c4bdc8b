"""Whoever follows a fix of `why` arrives, and leaves nobody worse off."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.explain import ExplainQuery, explain
from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.notation import parse
from everpath.model import Package
from everpath.resolvers import ResolverName, opm
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.rules.edits import Edit, apply_edit
from everpath.simulate import InstalledVersion, Scenario, simulate_package
from everpath.upgrade_paths.hops import PathEnd
from strategies import drawings

#: The best first.
FATES = (PathEnd.HEAD, PathEnd.STRANDED, PathEnd.LOOP, PathEnd.ERROR)

BOTH: tuple[ResolverName, ...] = ("v0", "v1")

policies = st.sampled_from((BOTH, *((policy,) for policy in BOTH)))
strangers = st.builds(
    InstalledVersion, st.just("p.v0.0.0"), st.sampled_from(("0.5.0", "1.0.5", "1.1.5", "2.0.0-rc.1", "9.0.0"))
)


def source_of(package: Package) -> ClusterCatalog:
    return ClusterCatalog("catalog", 0, PackageGraph(package))


def after(package: Package, edit: Edit) -> Package:
    graph = apply_edit(ChannelGraph(package.channels[0], package), edit)
    return package._replace(channels=(graph.channel,))


def ends(
    package: Package, policies: tuple[ResolverName, ...], asked: InstalledVersion | None = None
) -> dict[tuple[str, str], PathEnd]:
    """Where everybody ends, or somebody, as `simulate` says it."""
    found = simulate_package([source_of(package)], Scenario(policies), [asked] if asked is not None else None)
    rows = (row for sheet in found for line in sheet.installed for row in line.paths)
    return {(row.resolver, row.installed or ""): row.end for row in rows}


@settings(max_examples=40)
@given(drawings(), strangers, policies)
def test_whoever_follows_a_remedy_arrives_and_leaves_nobody_worse_off(
    drawing: str, stranger: InstalledVersion, asking: tuple[ResolverName, ...]
) -> None:
    catalog = parse(drawing)
    [package] = catalog.packages
    is_accepted = opm.validate_channel(ChannelGraph(package.channels[0], package)).is_valid
    before = ends(package, asking)
    for asked in (*(InstalledVersion(b.name, b.version) for b in package.bundles), stranger):
        query = ExplainQuery("p", "stable", asked, asking)
        for story in explain([source_of(package)], query, {"catalog": catalog}).explanations:
            for edit in (edit for fix in story.fixes for edit in fix.edits):
                mended = after(package, edit)
                assert (
                    ends(mended, (story.trace.resolver,), asked)[story.trace.resolver, asked.name]
                    is PathEnd.HEAD
                )
                left = ends(mended, asking)
                worse = [who for who, end in before.items() if FATES.index(left[who]) > FATES.index(end)]
                assert worse == [], (asked, edit.text)
                graph = ChannelGraph(mended.channels[0], mended)
                assert opm.validate_channel(graph).is_valid or not is_accepted
