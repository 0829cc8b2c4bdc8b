"""Properties of simulations, for random packages of one to three channels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from random import Random
from typing import TypeVar

from hypothesis import example, given, settings
from hypothesis import strategies as st

from everpath.graph import PackageGraph
from everpath.loaders.notation import parse
from everpath.model import Catalog, Place
from everpath.paths.hop_graph import build_hop_graph
from everpath.paths.resolver_hops import path_targets
from everpath.resolvers import ResolverName, cluster_extension, olm_v1, subscription
from everpath.resolvers.cluster_extension import ClusterCatalog, ClusterExtension
from everpath.resolvers.resolution import InstalledBundle, Resolution, TraceStep
from everpath.rules.lint import lint
from everpath.rules.waivers import Waiver
from everpath.simulate import (
    ClusterExtensionOptions,
    InstalledVersion,
    Scenario,
    all_paths,
    simulate_package,
)
from everpath.upgrade_path.goals import path_goals
from everpath.upgrade_path.hops import PathEnd, PathInterner, hops_by_entry, hops_from
from everpath.upgrade_path.path import UpgradePath
from everpath.versions import parse_or_none
from tests.support.everpath.strategies import drawings
from tests.support.tiers import examples

T = TypeVar("T")

_CRASHING = "<1.0.1 || || >=2.0.0"

# Packages take long to generate, and the first property covers the resolvers.
FEWER = settings(max_examples=examples(40))


@st.composite
def packages(draw: st.DrawFn) -> str:
    """Return up to three channels, with deprecated and prohibited bundles and ranges that panic."""
    channels = [draw(drawings()) for _ in range(draw(st.integers(1, 3)))]
    text = "\n".join(f"[c{i}]\n{drawing}" for i, drawing in enumerate(channels))
    names = sorted({line.partition("@")[0] for line in text.splitlines() if not line.startswith("[")})
    some = st.lists(st.sampled_from(names), max_size=2, unique=True)
    marks = [*(f"%deprecated {n}: old" for n in draw(some)), *(f"%prohibited {n}" for n in draw(some))]
    if draw(st.integers(0, 4)) == 0:
        text += f"\nlast@1.2.0: {draw(st.sampled_from(names))} / - / {_CRASHING}"
    return "\n".join([text, *marks])


def answered(text: str | Catalog, scenario: Scenario | None = None) -> list[UpgradePath]:
    catalog = parse(text) if isinstance(text, str) else text
    source = ClusterCatalog("c", 0, PackageGraph(catalog.packages[0]))
    return list(all_paths(simulate_package([source], scenario or Scenario())))


def resolve_hop(package: PackageGraph, row: UpgradePath, here: str | None) -> Resolution:
    """Resolve one hop of a path."""
    graph = package.by_name[row.channel]
    bundle = package.package.by_name.get(here) if here is not None else None
    version = parse_or_none(bundle.version) if bundle is not None else None
    installed = InstalledBundle(here, version) if here is not None else None
    if row.resolver == "v0":
        return subscription.resolve(graph, installed)
    return cluster_extension.resolve(
        [ClusterCatalog("c", 0, package)], ClusterExtension(package.name, (graph.name,), "", False, installed)
    )


def agrees(package: PackageGraph, row: UpgradePath) -> None:
    """Return whether each hop is that of the resolver, which stays or fails at the last one."""
    here = row.installed
    for stop in row.hops:
        assert resolve_hop(package, row, here) == resolve_hop(package, row, here)._replace(
            next=stop, failure=None
        )
        here = stop
    if row.end is not PathEnd.LOOP:
        last = resolve_hop(package, row, here)
        assert last.next is None
        assert (last.failure is not None) == (row.end is PathEnd.ERROR)
        assert last.failure is None or last.failure.message in row.reason


@given(packages())
def test_rows_agree_with_single_calls_of_the_resolvers(text: str) -> None:
    package = PackageGraph(parse(text).packages[0])
    for row in answered(text):
        agrees(package, row)


@FEWER
@given(packages())
def test_new_installations_and_switches_agree_with_single_calls_of_the_resolvers(text: str) -> None:
    package = PackageGraph(parse(text).packages[0])
    for row in (*answered(text, Scenario(new_install=True)), *answered(text, Scenario(is_switch=True))):
        agrees(package, row)


@FEWER
@given(packages())
def test_every_channel_entry_and_resolver_has_one_row(text: str) -> None:
    package = PackageGraph(parse(text).packages[0])
    found = [(row.channel, row.installed, row.resolver) for row in answered(text)]
    wanted = {(g.name, n, resolver) for g in package.channels for n in g.entries for resolver in ("v0", "v1")}
    assert len(found) == len(wanted)
    assert set(found) == wanted


@FEWER
@given(packages())
def test_every_path_ends_or_is_a_loop(text: str) -> None:
    for row in answered(text):
        stops = [row.installed, *row.hops]
        repeated = len(set(stops)) < len(stops)
        assert repeated == (row.end is PathEnd.LOOP)
        assert len(set(stops)) >= len(stops) - 1
        if repeated:
            assert stops[-1] in stops[:-1]
        assert row.next == (row.hops[0] if row.hops else None)


@FEWER
@given(packages())
def test_path_reaches_the_head_if_and_only_if_it_ends_at_a_goal(text: str) -> None:
    package = PackageGraph(parse(text).packages[0])
    for row in answered(text):
        there = path_goals(package.by_name[row.channel], row.resolver)
        if row.end in (PathEnd.HEAD, PathEnd.STRANDED):
            assert (row.end is PathEnd.HEAD) == (row.last in there)
        assert row.reason


@FEWER
@given(packages())
def test_goal_is_the_head_and_under_v1_an_installable_head(text: str) -> None:
    for graph in PackageGraph(parse(text).packages[0]).channels:
        assert path_goals(graph, "v0") == ((graph.head,) if graph.head else ())
        there = {*path_goals(graph, "v1")}
        assert there <= {graph.head, *olm_v1.new_installs(graph)}
        assert graph.head in (None, *there)
        assert there >= {*olm_v1.new_installs(graph)} & {*graph.heads}


@FEWER
@given(packages())
def test_same_input_gives_the_same_paths(text: str) -> None:
    assert answered(text) == answered(text)


@FEWER
@given(packages())
def test_copy_of_the_catalog_with_a_lower_priority_changes_no_path_of_v1(text: str) -> None:
    first, copy = (PackageGraph(parse(text).packages[0]) for _ in range(2))
    alone = all_paths(simulate_package([ClusterCatalog("a", 0, first)], Scenario(("v1",))))
    both = all_paths(
        simulate_package(
            [ClusterCatalog("a", 5, first), ClusterCatalog("b", 0, copy)],
            Scenario(("v1",)),
            with_catalog_names=True,
        )
    )
    told = {(row.channel, row.installed): (row.hops, row.end) for row in alone}
    assert {(row.channel, row.installed): (row.hops, row.end) for row in both} == told


@FEWER
@given(packages(), st.booleans())
def test_paths_of_a_resolver_are_those_of_the_simulation(text: str, twice: bool) -> None:
    """Also if all channels are the same channel with other names."""
    [package] = parse(text).packages
    if twice:
        package = package._replace(channels=tuple(c._replace(name="c0") for c in package.channels))
    graphs = PackageGraph(package).by_name
    for row in answered(Catalog("c", (package,))):
        assert row.installed is not None
        net = build_hop_graph([graphs[row.channel]], row.resolver)
        if row.installed in net.rank:
            assert net.successors(row.installed) == ((row.next,) if row.next else ())
            assert row.end is not PathEnd.HEAD or row.last in path_targets(graphs[row.channel], row.resolver)


def shuffled(items: Sequence[T], chance: Random) -> tuple[T, ...]:
    return tuple(chance.sample(items, len(items)))


@FEWER
@given(packages(), st.randoms(use_true_random=False))
def test_v0_does_not_depend_on_the_order_of_documents(text: str, chance: Random) -> None:
    catalog = parse(text)
    [package] = catalog.packages
    other = package._replace(
        channels=shuffled(
            [c._replace(entries=shuffled(c.entries, chance)) for c in package.channels], chance
        ),
        bundles=shuffled(package.bundles, chance),
    )
    only_v0 = Scenario(("v0",))
    hops_by_entry = [
        [(r.channel, r.installed, r.hops, r.end) for r in answered(each, only_v0)]
        for each in (catalog, Catalog("shuffled", (other,)))
    ]
    assert hops_by_entry[0] == hops_by_entry[1]


@FEWER
@given(packages(), drawings())
def test_an_unrelated_channel_changes_nothing_in_this_one(text: str, other: str) -> None:
    strange = "\n".join(line.replace("b", "other-b") for line in other.splitlines())
    before = answered(text)
    after = [row for row in answered(f"{text}\n[unrelated]\n{strange}") if row.channel != "unrelated"]
    assert before == after


@FEWER
@given(packages())
def test_a_waived_finding_changes_no_simulation(text: str) -> None:
    catalog = parse(text)
    before = answered(catalog)
    found = lint(catalog).findings
    waivers = [Waiver(finding.rule, "known", Place("everpath.yaml")) for finding in found]
    assert not lint(catalog, waivers=waivers).findings
    assert answered(catalog) == before


@FEWER
@given(packages())
def test_options_without_effect_change_no_path(text: str) -> None:
    """Resolving hop by hop, as for several catalogs, gives the same paths as resolving all at once."""
    only_v1 = Scenario(("v1",))
    usual = {(r.channel, r.installed): r.hops for r in answered(text, only_v1)}
    anything = only_v1._replace(options=ClusterExtensionOptions(version_range=">=0.0.0-0"))
    assert {(r.channel, r.installed): r.hops for r in answered(text, anything)} == usual


@FEWER
@given(packages())
def test_a_catalog_without_the_package_changes_nothing(text: str) -> None:
    package = PackageGraph(parse(text).packages[0])
    alone = list(all_paths(simulate_package([ClusterCatalog("c", 0, package)], Scenario())))
    beside = all_paths(
        simulate_package([ClusterCatalog("c", 0, package), ClusterCatalog("d", 5, None)], Scenario())
    )
    assert [(r.hops, r.installed) for r in beside] == [(r.hops, r.installed) for r in alone]


@FEWER
@given(packages())
def test_a_selected_version_has_the_same_path_as_among_all(text: str) -> None:
    package = PackageGraph(parse(text).packages[0])
    source, every = ClusterCatalog("c", 0, package), answered(text)
    for name, bundle in package.package.by_name.items():
        found = all_paths(simulate_package([source], Scenario(), [InstalledVersion(name, bundle.version)]))
        assert list(found) == [row for row in every if row.installed == name]


_NAMES = st.sampled_from("abcdefgh")


@given(st.dictionaries(_NAMES, st.none() | _NAMES, max_size=8), st.dictionaries(_NAMES, st.none() | _NAMES))
def test_lazy_hops_equal_followed_hops_and_are_compared_by_number(
    one: dict[str, str | None], other: dict[str, str | None]
) -> None:
    book = PathInterner()
    found = [(hops, hops_by_entry(hops, hops, book)) for hops in (one, other)]
    every = [way for _, known in found for way in known.values()]
    for hops, known in found:
        for name, way in known.items():
            path = hops_from(hops, name)
            assert (tuple(way), len(way), way[0] if way else None, way[-1] if way else None) == (
                path,
                len(path),
                path[0] if path else None,
                path[-1] if path else None,
            )
            assert way == path
            assert hash(way) == hash(path)
    for way in every:
        assert [way == another for another in every] == [tuple(way) == tuple(another) for another in every]


@FEWER
@given(packages(), packages(), st.sampled_from(["", ">0", "<1.1", "!=1.0.0"]), st.sampled_from([(), ("c0",)]))
def test_a_trace_changes_no_resolution(one: str, other: str, span: str, channels: tuple[str, ...]) -> None:
    served = [
        ClusterCatalog(name, rank, PackageGraph(parse(text).packages[0]))
        for rank, (name, text) in enumerate([("a", one), ("b", other)])
    ]
    for package in (source.package for source in served if source.package is not None):
        for name, bundle in package.package.by_name.items():
            wanted = ClusterExtension(
                "p", channels, span, installed=InstalledBundle(name, parse_or_none(bundle.version))
            )
            heard: list[TraceStep] = []
            assert cluster_extension.resolve(served, wanted) == cluster_extension.resolve(
                served, wanted, heard.append
            )


_EIGHT = ("1.0.0-rc.1", "1.0.0", "1.0.1", "1.1.0-alpha", "1.1.0", "1.2.0", "2.0.0", "3.0.0")


_FEW = st.sets(st.integers(0, 7), max_size=2)


@FEWER
@given(drawings(), st.permutations(_EIGHT), _FEW, _FEW, st.booleans())
@example("b3: b1 / - / <1.0.0 || || >=2.0.0\nb2: b0\nb1\nb0", _EIGHT, set(), set(), False)
@example("b2: b1\nb1: b0\nb0\nb3", _EIGHT, set(), {1}, False)
def test_rules_about_stranded_versions_agree_with_the_simulation(
    drawing: str, versions: Sequence[str], deprecated: set[int], dependent: set[int], crashes: bool
) -> None:
    # OLM v1 may install either of equal versions: the rule relies on none, a simulation follows one.
    lines = [
        re.sub(r"^b(\d)@[^:]+", lambda m: f"b{m[1]}@{versions[int(m[1])]}", line)
        for line in drawing.splitlines()
    ]
    if crashes:
        lines[0] = lines[0].replace("<", "<0.0.2 || || <")
    marks = [f"%deprecated b{n}: old" for n in deprecated if any(line.startswith(f"b{n}@") for line in lines)]
    marks += (f"%dependent b{n}" for n in dependent)
    catalog = parse("\n".join((*lines, *marks)))
    found = lint(catalog).findings
    rules: dict[ResolverName, str] = {"v0": "EP206", "v1": "EP207"}
    for resolver, rule in rules.items():
        rows = answered(catalog, Scenario(resolvers=(resolver,)))
        ends = {row.hops[-1] if row.hops else row.installed for row in rows if row.end is PathEnd.STRANDED}
        assert {f.entry for f in found if f.rule == rule} == ends, resolver
