"""Laws of comparing catalogs, over random channels and random edits of them."""

from __future__ import annotations

from hypothesis import assume, example, given, settings
from hypothesis import strategies as st

from everpath.compare import PathOutcome, Scope, compare
from everpath.compare.all_channels import AllChannels, AllChannelsComparison
from everpath.compare.changes import ChangeKind
from everpath.compare.channels import compare_channel
from everpath.compare.differences import EditKind, differences, without_edits
from everpath.compare.installed_paths import InstalledPaths, installations
from everpath.compare.matrix import compare_sequence
from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.notation import parse
from everpath.model import Catalog
from everpath.resolvers import ResolverName, olm_v0, olm_v1
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.cluster_extension import resolve as resolve_v1
from everpath.resolvers.resolution import InstalledBundle
from everpath.resolvers.subscription import resolve as resolve_v0
from everpath.upgrade_paths import UpgradePath, hops_from
from everpath.versions import parse as parse_version
from graphs import channel_graph
from strategies import drawings

POLICIES: tuple[ResolverName, ...] = ("v0", "v1")
WHERE = ("p", "stable")
HURTING = (ChangeKind.STRANDED, ChangeKind.FAILING)

# Each example is two channels and a trial for every edit between them.
FEW = settings(max_examples=50)


@st.composite
def edited(draw: st.DrawFn) -> tuple[str, str]:
    """A drawing, and the same after one to four edits: lines taken from another drawing, or left out."""
    lines = {line.partition("@")[0]: line for line in draw(drawings()).splitlines()}
    others = {line.partition("@")[0]: line for line in draw(drawings()).splitlines()}
    before = "\n".join(lines.values())
    for name in draw(st.lists(st.sampled_from(sorted(lines | others)), min_size=1, max_size=4, unique=True)):
        lines = {n: line for n, line in lines.items() if n != name}
        if name in others and draw(st.booleans()):
            lines[name] = others[name]
    assume(lines)
    return before, "\n".join(lines.values())


def _met(old: ChannelGraph, new: ChannelGraph) -> dict[tuple[str, ResolverName], PathOutcome]:
    rows = compare_channel(old, new, POLICIES, WHERE).rows
    return {(row.installed, row.resolver): row.outcome for row in rows}


@given(drawings())
def test_a_catalog_compared_with_itself_strands_nobody_and_changes_nothing(drawing: str) -> None:
    comparison = compare(parse(drawing), parse(drawing))
    assert set(comparison.counts) <= {PathOutcome.SAME, PathOutcome.STRANDED_BEFORE}
    assert {change.kind for change in comparison.changes} <= {ChangeKind.STRANDED_BEFORE}


def _with_one_head(drawing: str) -> str:
    """The drawing with a head above all it has, and without ranges over releases that are yet to come.

    Such a range leads from the new release back down, in a circle: that does strand.
    """
    graph, top = channel_graph(drawing), parse_version("9.0.0")
    lines = dict(zip(graph.entries, drawing.splitlines(), strict=True))
    for name in graph.coverage.covering(top):
        lines[name] = lines[name].rpartition(" / ")[0]
    return "\n".join([f"head@8.0.0: - / {', '.join(graph.heads) or '-'}", *lines.values()])


@given(drawings())
def test_a_release_on_top_of_the_head_strands_nobody_who_reached_it(drawing: str) -> None:
    before = _with_one_head(drawing)
    old, new = channel_graph(before), channel_graph(f"{before}\ntop@9.0.0: head")
    assert old.head == "head"
    for row in compare_channel(old, new, POLICIES, WHERE).rows:
        if row.old.reaches_goal and row.old.last == old.head:
            assert row.outcome is PathOutcome.FURTHER
            assert len(row.new.hops) == len(row.old.hops) + 1
        elif not row.old.reaches_goal:
            assert not row.outcome.is_regression


@given(edited(), edited())
@FEW
def test_packages_are_compared_each_by_itself(one: tuple[str, str], other: tuple[str, str]) -> None:
    def both(place: int) -> Catalog:
        parts = (parse(one[place], "p"), parse(other[place], "q"))
        return Catalog("both", tuple(package for part in parts for package in part.packages))

    together = compare(both(0), both(1))
    apart = [compare(both(0), both(1), Scope(packages=frozenset((name,)))) for name in "pq"]
    assert together.rows == apart[0].rows + apart[1].rows
    assert together.changes == apart[0].changes + apart[1].changes


@given(edited())
@FEW
def test_whoever_is_stranded_is_stranded_by_the_resolver_itself(pair: tuple[str, str]) -> None:
    old, new = map(channel_graph, pair)
    for row in compare_channel(old, new, ("v0",), WHERE).rows:
        here = InstalledBundle(row.installed, old.versions.get(row.installed))
        path, failure = _followed_v0(new, here)
        assert (path[0] if path else None) == row.new.next
        assert (failure is None) == (row.new.failure is None)
        if row.outcome is PathOutcome.STRANDED:
            assert (path[-1] if path else row.installed) != new.head


def _followed_v0(graph: ChannelGraph, installed: InstalledBundle) -> tuple[list[str], object]:
    """Asks OLM v0 after every hop, as a cluster does."""
    path: list[str] = []
    while True:
        decision = resolve_v0(graph, installed)
        if decision.next is None or decision.next in path:
            return path, decision.failure
        path.append(decision.next)
        installed = InstalledBundle(decision.next, graph.versions.get(decision.next))


@given(edited())
@FEW
def test_under_v1_the_first_hop_is_the_one_of_a_cluster_extension(pair: tuple[str, str]) -> None:
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
def test_without_channels_the_hops_are_those_of_a_cluster_extension_without(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    old, new = (parse(f"[x]\n{one[i]}\n[y]\n{other[i]}") for i in range(2))
    packages = [PackageGraph(catalog.packages[0]) for catalog in (old, new)]
    sources = [ClusterCatalog("catalog", 0, package) for package in packages]
    for row in AllChannelsComparison(AllChannels(packages[0]), AllChannels(packages[1])).rows:
        extension = ClusterExtension("p", installed=InstalledBundle(row.installed, row.version))
        for source, road in zip(sources, (row.old, row.new), strict=True):
            decision = resolve_v1([source], extension)
            assert decision.next == road.next
            assert decision.failure is None or decision.failure == road.failure


@given(edited(), edited())
@settings(max_examples=20)
def test_the_edits_that_hurt_whoever_names_no_channel_are_found(
    one: tuple[str, str], other: tuple[str, str]
) -> None:
    old, new = (parse(f"[x]\n{one[i]}\n[y]\n{other[i]}") for i in range(2))
    found = compare(old, new, Scope(resolvers=("v1",)))
    hurt = {row.installed for row in found.without_channels if row.outcome.is_regression}
    known = {row.installed for row in found.rows if row.outcome.is_regression}
    told = [c for c in found.changes if c.channel is None and c.kind in HURTING]
    assert {name for change in told for name in change.installed} <= hurt - known
    assert all(change.edits and change.fix for change in told)
    for name in hurt.difference(known, *(change.installed for change in told)):
        [row] = [row for row in found.without_channels if row.installed == name]
        assert any(_ends(row.new) == _ends(r.new) for r in found.rows if r.installed == name)


def _ends(path: UpgradePath) -> tuple[object, ...]:
    return path.next, path.end, path.last, len(path.hops)


@given(drawings())
def test_to_name_the_only_channel_is_to_name_none(drawing: str) -> None:
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
def test_the_edit_that_did_it_taken_back_lets_its_victims_go_on(pair: tuple[str, str]) -> None:
    old, new = map(channel_graph, pair)
    before = _met(old, new)
    explained: set[tuple[str, ResolverName]] = set()
    for change in compare_channel(old, new, POLICIES, WHERE).regressions():
        if change.kind not in HURTING:
            continue
        assert change.edits, "in a channel this small every cause is found"
        healed = _met(old, without_edits(old, new, change.edits))
        for name in change.installed:
            for policy in change.resolvers:
                assert before[name, policy].is_regression
                assert not healed[name, policy].is_regression
                explained.add((name, policy))
    assert explained == {key for key, outcome in before.items() if outcome.is_regression}


@given(edited())
@FEW
def test_an_advised_edit_is_for_all_who_are_hurt(pair: tuple[str, str]) -> None:
    old, new = map(channel_graph, pair)
    for change in compare_channel(old, new, POLICIES, WHERE).regressions():
        assert (change.fix is not None) == change.kind.severity.name.startswith("ERROR")


@given(edited())
@FEW
@example(("b0: - / b0, gone / -", "b0: - / gone, b0 / -"))
def test_all_edits_taken_back_are_the_old_channel(pair: tuple[str, str]) -> None:
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
def test_the_same_channel_has_no_edits(drawing: str) -> None:
    assert not differences(channel_graph(drawing), channel_graph(drawing))


@given(edited())
@FEW
def test_two_catalogs_in_a_row_are_a_comparison(pair: tuple[str, str]) -> None:
    old, new = map(parse, pair)
    found = compare_sequence([old, new])
    rows = {(r.installed, r.resolver): r.outcome for r in compare(old, new).rows}
    told = {(r.installed, r.resolver): r.outcomes[0] for r in found.rows if r.outcomes[0] is not None}
    assert told == rows
    assert found.stranded == compare(old, new).stranded


@given(drawings())
def test_roads_of_entries_are_the_hops_of_the_policies(drawing: str) -> None:
    graph = channel_graph(drawing)
    v0, v1 = (InstalledPaths(graph, policy, installations(graph), WHERE) for policy in POLICIES)
    hops = olm_v0.next_hops(graph)
    for name in graph.entries:
        fails = hops.failure is not None or name in hops.failures
        assert v0.path(name).next == (None if fails else hops.next[name])
        assert v1.path(name).next == olm_v1.next_hops(graph)[name]
        assert tuple(v1.path(name).hops) == hops_from(olm_v1.next_hops(graph), name)


def test_a_removed_entry_comes_back_with_its_bundle() -> None:
    old, new = channel_graph("b: a\na@1.2.3"), channel_graph("b")
    [edge, removed] = differences(old, new)
    assert (edge.kind, removed.kind) == (EditKind.REPLACES, EditKind.REMOVED)
    assert str(without_edits(old, new, [removed]).versions["a"]) == "1.2.3"
    assert new.package._replace() == new.package
