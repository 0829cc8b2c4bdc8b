"""Properties of comparisons, for random channels and random edits of them."""

from __future__ import annotations

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from everpath.comparison import ComparisonScope, PathOutcome, compare
from everpath.comparison.all_channels import AllChannels, AllChannelsComparison
from everpath.comparison.changes import ChangeKind
from everpath.comparison.channels import compare_channel
from everpath.comparison.differences import EditKind, differences, without_edits
from everpath.comparison.installed_paths import InstalledPaths, installations
from everpath.comparison.matrix import compare_sequence
from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.notation import parse
from everpath.model import Catalog
from everpath.resolvers import ResolverName, olm_v0, olm_v1
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.cluster_extension import resolve as resolve_v1
from everpath.resolvers.resolution import InstalledBundle
from everpath.resolvers.subscription import resolve as resolve_v0
from everpath.upgrade_path.hops import hops_from
from everpath.upgrade_path.path import UpgradePath
from everpath.versions import parse as parse_version
from tests.support.everpath.graphs import channel_graph
from tests.support.everpath.strategies import drawings
from tests.support.tiers import examples

RESOLVERS: tuple[ResolverName, ...] = ("v0", "v1")
WHERE = ("p", "stable")
REGRESSIONS = (ChangeKind.STRANDED, ChangeKind.FAILING)

# Each example is two channels and a trial for every edit between them.
FEW = settings(max_examples=examples(50))


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str]:
    """Return a drawing before and after one to four edits: lines of another drawing, or removed lines."""
    lines = {line.partition("@")[0]: line for line in draw(drawings()).splitlines()}
    others = {line.partition("@")[0]: line for line in draw(drawings()).splitlines()}
    before = "\n".join(lines.values())
    for name in draw(st.lists(st.sampled_from(sorted(lines | others)), min_size=1, max_size=4, unique=True)):
        lines = {n: line for n, line in lines.items() if n != name}
        if name in others and draw(st.booleans()):
            lines[name] = others[name]
    assume(lines)
    return before, "\n".join(lines.values())


def _outcomes(old: ChannelGraph, new: ChannelGraph) -> dict[tuple[str, ResolverName], PathOutcome]:
    rows = compare_channel(old, new, RESOLVERS, WHERE).rows
    return {(row.installed, row.resolver): row.outcome for row in rows}


@given(drawings())
def test_catalog_compared_with_itself_has_no_changes(drawing: str) -> None:
    comparison = compare(parse(drawing), parse(drawing))
    assert set(comparison.counts) <= {PathOutcome.SAME, PathOutcome.STRANDED_BEFORE}
    assert {change.kind for change in comparison.changes} <= {ChangeKind.STRANDED_BEFORE}


def _with_one_head(drawing: str) -> str:
    """Return the drawing with a head above all entries, and without ranges that contain later releases.

    Such a range leads from a later release down in a loop, and strands.
    """
    graph, top = channel_graph(drawing), parse_version("9.0.0")
    lines = dict(zip(graph.entries, drawing.splitlines(), strict=True))
    for name in graph.coverage.covering(top):
        lines[name] = lines[name].rpartition(" / ")[0]
    return "\n".join([f"head@8.0.0: - / {', '.join(graph.heads) or '-'}", *lines.values()])


@given(drawings())
def test_new_head_strands_no_version_that_reached_the_old_head(drawing: str) -> None:
    before = _with_one_head(drawing)
    old, new = channel_graph(before), channel_graph(f"{before}\ntop@9.0.0: head")
    assert old.head == "head"
    for row in compare_channel(old, new, RESOLVERS, WHERE).rows:
        if row.old.reaches_goal and row.old.last == old.head:
            assert row.outcome is PathOutcome.FURTHER
            assert len(row.new.hops) == len(row.old.hops) + 1
        elif not row.old.reaches_goal:
            assert not row.outcome.is_regression


@given(edited(), edited())
@FEW
def test_packages_are_compared_independently(one: tuple[str, str], other: tuple[str, str]) -> None:
    def both(place: int) -> Catalog:
        parts = (parse(one[place], "p"), parse(other[place], "q"))
        return Catalog("both", tuple(package for part in parts for package in part.packages))

    together = compare(both(0), both(1))
    apart = [compare(both(0), both(1), ComparisonScope(packages=frozenset((name,)))) for name in "pq"]
    assert together.rows == apart[0].rows + apart[1].rows
    assert together.changes == apart[0].changes + apart[1].changes


@given(edited())
@FEW
def test_v0_paths_are_those_of_repeated_resolution(pair: tuple[str, str]) -> None:
    old, new = map(channel_graph, pair)
    for row in compare_channel(old, new, ("v0",), WHERE).rows:
        here = InstalledBundle(row.installed, old.versions.get(row.installed))
        path, failure = _repeated_resolution(new, here)
        assert (path[0] if path else None) == row.new.next
        assert (failure is None) == (row.new.failure is None)
        if row.outcome is PathOutcome.STRANDED:
            assert (path[-1] if path else row.installed) != new.head


def _repeated_resolution(graph: ChannelGraph, installed: InstalledBundle) -> tuple[list[str], object]:
    """Resolve with OLM v0 after every hop, as a cluster does."""
    path: list[str] = []
    while True:
        decision = resolve_v0(graph, installed)
        if decision.next is None or decision.next in path:
            return path, decision.failure
        path.append(decision.next)
        installed = InstalledBundle(decision.next, graph.versions.get(decision.next))


@given(edited())
@FEW
def test_v1_first_hop_is_that_of_a_cluster_extension(pair: tuple[str, str]) -> None:
    old, new = map(channel_graph, pair)
    source = ClusterCatalog("catalog", 0, PackageGraph(new.package))
    for row in compare_channel(old, new, ("v1",), WHERE).rows:
        extension = ClusterExtension("p", ("stable",), installed=InstalledBundle(row.installed, row.version))
        decision = resolve_v1([source], extension)
        assert decision.next == row.new.next
        assert (decision.failure is None) == (row.new.failure is None)
        assert decision.failure is None or row.new.failure is None or decision.failure == row.new.failure


@given(edited(), edited())
@FEW
def test_hops_without_channels_are_those_of_a_cluster_extension_without_channels(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    old, new = (parse(f"[x]\n{one[i]}\n[y]\n{other[i]}") for i in range(2))
    packages = [PackageGraph(catalog.packages[0]) for catalog in (old, new)]
    sources = [ClusterCatalog("catalog", 0, package) for package in packages]
    for row in AllChannelsComparison(AllChannels(packages[0]), AllChannels(packages[1])).rows:
        extension = ClusterExtension("p", installed=InstalledBundle(row.installed, row.version))
        for source, path in zip(sources, (row.old, row.new), strict=True):
            decision = resolve_v1([source], extension)
            assert decision.next == path.next
            assert decision.failure is None or decision.failure == path.failure


@given(edited(), edited())
@settings(max_examples=examples(20))
def test_regressions_without_channels_have_edits_and_a_fix(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    old, new = (parse(f"[x]\n{one[i]}\n[y]\n{other[i]}") for i in range(2))
    found = compare(old, new, ComparisonScope(resolvers=("v1",)))
    stranded = {row.installed for row in found.without_channels if row.outcome.is_regression}
    known = {row.installed for row in found.rows if row.outcome.is_regression}
    reported = [c for c in found.changes if c.channel is None and c.kind in REGRESSIONS]
    assert {name for change in reported for name in change.installed} <= stranded - known
    assert all(change.edits and change.fix for change in reported)
    for name in stranded.difference(known, *(change.installed for change in reported)):
        [row] = [row for row in found.without_channels if row.installed == name]
        assert any(_ends(row.new) == _ends(r.new) for r in found.rows if r.installed == name)


def _ends(path: UpgradePath) -> tuple[object, ...]:
    return path.next, path.end, path.last, len(path.hops)


@given(drawings())
def test_extension_with_the_only_channel_has_the_paths_of_one_without_channels(drawing: str) -> None:
    graph = channel_graph(drawing)
    whole = AllChannels(PackageGraph(graph.package))
    known = {name: graph.versions.get(name) for name in graph.entries}
    named = InstalledPaths(graph, "v1", known, WHERE)
    for name, path in whole.paths(known).items():
        by_name = named.path(name)
        assert path.hops == by_name.hops
        assert (path.failure is None) == (by_name.failure is None)


@given(edited())
@FEW
def test_undoing_the_cause_ends_the_regression(pair: tuple[str, str]) -> None:
    old, new = map(channel_graph, pair)
    before = _outcomes(old, new)
    explained: set[tuple[str, ResolverName]] = set()
    for change in compare_channel(old, new, RESOLVERS, WHERE).regressions():
        if change.kind not in REGRESSIONS:
            continue
        assert change.edits, "in a channel this small every cause is found"
        undone = _outcomes(old, without_edits(old, new, change.edits))
        for name in change.installed:
            for resolver in change.resolvers:
                assert before[name, resolver].is_regression
                assert not undone[name, resolver].is_regression
                explained.add((name, resolver))
    assert explained == {key for key, outcome in before.items() if outcome.is_regression}


@given(edited())
@FEW
def test_every_regression_of_severity_error_has_a_fix(pair: tuple[str, str]) -> None:
    old, new = map(channel_graph, pair)
    for change in compare_channel(old, new, RESOLVERS, WHERE).regressions():
        assert (change.fix is not None) == change.kind.severity.name.startswith("ERROR")


@given(edited())
@FEW
@example(("b0: - / b0, gone / -", "b0: - / gone, b0 / -"))
def test_undoing_all_edits_restores_the_old_channel(pair: tuple[str, str]) -> None:
    old, new = map(channel_graph, pair)
    again = without_edits(old, new, differences(old, new))
    # The order of skips has no meaning, so that a change of it is no edit.
    edges = [
        {
            name: (entry.replaces, sorted(entry.skips), entry.skip_range)
            for name, entry in graph.entries.items()
        }
        for graph in (again, old)
    ]
    assert edges[0] == edges[1]
    assert {n: str(v) for n, v in again.versions.items()} == {n: str(v) for n, v in old.versions.items()}
    assert olm_v0.next_hops(again).next == olm_v0.next_hops(old).next
    assert not differences(old, again)


@given(drawings())
def test_unchanged_channel_has_no_edits(drawing: str) -> None:
    assert not differences(channel_graph(drawing), channel_graph(drawing))


@given(edited())
@FEW
def test_matrix_of_two_catalogs_is_their_comparison(pair: tuple[str, str]) -> None:
    old, new = map(parse, pair)
    found = compare_sequence([old, new])
    rows = {(r.installed, r.resolver): r.outcome for r in compare(old, new).rows}
    outcomes = {(r.installed, r.resolver): r.outcomes[0] for r in found.rows if r.outcomes[0] is not None}
    assert outcomes == rows
    assert found.regression_count == compare(old, new).regression_count


@given(drawings())
def test_paths_of_entries_are_the_hops_of_the_resolvers(drawing: str) -> None:
    graph = channel_graph(drawing)
    v0, v1 = (InstalledPaths(graph, resolver, installations(graph), WHERE) for resolver in RESOLVERS)
    hops = olm_v0.next_hops(graph)
    for name in graph.entries:
        fails = hops.failure is not None or name in hops.failures
        assert v0.path(name).next == (None if fails else hops.next[name])
        assert v1.path(name).next == olm_v1.next_hops(graph)[name]
        assert tuple(v1.path(name).hops) == hops_from(olm_v1.next_hops(graph), name)


def test_undoing_a_removal_restores_entry_and_bundle() -> None:
    old, new = channel_graph("b: a\na@1.2.3"), channel_graph("b")
    [edge, removed] = differences(old, new)
    assert (edge.kind, removed.kind) == (EditKind.REPLACES, EditKind.REMOVED)
    assert str(without_edits(old, new, [removed]).versions["a"]) == "1.2.3"
