"""With a fix that `why` proposes the version reaches its goal, and no other version is worse off."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from everpath.explanation import ExplainQuery, explain
from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.notation import parse
from everpath.model import Package
from everpath.resolvers import ResolverName, opm
from everpath.resolvers.cluster_extension import ClusterCatalog
from everpath.rules.fixes.edits import ChannelEdit, apply_edit
from everpath.simulate import InstalledVersion, Scenario, simulate_package
from everpath.upgrade_path.hops import PathEnd
from tests.support.everpath.strategies import drawings
from tests.support.tiers import examples

#: The best first.
ENDS = (PathEnd.HEAD, PathEnd.STRANDED, PathEnd.LOOP, PathEnd.ERROR)

BOTH: tuple[ResolverName, ...] = ("v0", "v1")

resolvers = st.sampled_from((BOTH, *((resolver,) for resolver in BOTH)))
unknown_versions = st.builds(
    InstalledVersion, st.just("p.v0.0.0"), st.sampled_from(("0.5.0", "1.0.5", "1.1.5", "2.0.0-rc.1", "9.0.0"))
)


def source_of(package: Package) -> ClusterCatalog:
    return ClusterCatalog("catalog", 0, PackageGraph(package))


def after(package: Package, edit: ChannelEdit) -> Package:
    graph = apply_edit(ChannelGraph(package.channels[0], package), edit)
    return package._replace(channels=(graph.channel,))


def ends(
    package: Package, resolvers: tuple[ResolverName, ...], csv: InstalledVersion | None = None
) -> dict[tuple[str, str], PathEnd]:
    """Return the ends of the paths of all versions, or of one, as `simulate` has them."""
    found = simulate_package([source_of(package)], Scenario(resolvers), [csv] if csv is not None else None)
    rows = (row for channel in found for line in channel.installed for row in line.paths)
    return {(row.resolver, row.installed or ""): row.end for row in rows}


@settings(max_examples=examples(40))
@given(drawings(), unknown_versions, resolvers)
def test_proposed_fix_reaches_the_goal_and_leaves_no_version_worse_off(
    drawing: str, unknown: InstalledVersion, resolvers: tuple[ResolverName, ...]
) -> None:
    catalog = parse(drawing)
    [package] = catalog.packages
    is_accepted = opm.validate_channel(ChannelGraph(package.channels[0], package)).is_valid
    before = ends(package, resolvers)
    for csv in (*(InstalledVersion(b.name, b.version) for b in package.bundles), unknown):
        query = ExplainQuery("p", "stable", csv, resolvers)
        for explanation in explain([source_of(package)], query, {"catalog": catalog}).explanations:
            for edit in (edit for fix in explanation.fixes for edit in fix.edits):
                fixed = after(package, edit)
                assert (
                    ends(fixed, (explanation.trace.resolver,), csv)[explanation.trace.resolver, csv.name]
                    is PathEnd.HEAD
                )
                now = ends(fixed, resolvers)
                worse = [key for key, end in before.items() if ENDS.index(now[key]) > ENDS.index(end)]
                assert worse == [], (csv, edit.text)
                graph = ChannelGraph(fixed.channels[0], fixed)
                assert opm.validate_channel(graph).is_valid or not is_accepted
