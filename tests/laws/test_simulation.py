"""Laws of simulations, over random packages of one to three channels."""

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
from everpath.paths.resolver_hops import goals
from everpath.resolvers import PolicyName, extensions, olm_v1, subscriptions
from everpath.resolvers.arrivals import arrivals
from everpath.resolvers.decisions import Decision, Installed, Remark
from everpath.resolvers.extensions import Extension, Source
from everpath.resolvers.walks import End, walk
from everpath.rules.lint import check
from everpath.rules.waivers import Waiver
from everpath.simulate import Asked, Row, Scenario, Terms, rows, sheets
from everpath.simulate.ways import Book, ways
from everpath.versions import parse_or_none
from strategies import drawings

T = TypeVar("T")

_CRASHING = "<1.0.1 || || >=2.0.0"

# Packages take long to draw, and the first law has met what resolvers can do.
FEWER = settings(max_examples=40)


@st.composite
def packages(draw: st.DrawFn) -> str:
    """A drawing of up to three channels, with deprecated and prohibited bundles and crashing ranges."""
    channels = [draw(drawings()) for _ in range(draw(st.integers(1, 3)))]
    text = "\n".join(f"[c{i}]\n{drawing}" for i, drawing in enumerate(channels))
    names = sorted({line.partition("@")[0] for line in text.splitlines() if not line.startswith("[")})
    some = st.lists(st.sampled_from(names), max_size=2, unique=True)
    marks = [*(f"%deprecated {n}: old" for n in draw(some)), *(f"%prohibited {n}" for n in draw(some))]
    if draw(st.integers(0, 4)) == 0:
        text += f"\nlast@1.2.0: {draw(st.sampled_from(names))} / - / {_CRASHING}"
    return "\n".join([text, *marks])


def answered(text: str | Catalog, scenario: Scenario | None = None) -> list[Row]:
    catalog = parse(text) if isinstance(text, str) else text
    source = Source("c", 0, PackageGraph(catalog.packages[0]))
    return list(rows(sheets([source], scenario or Scenario())))


def judged(package: PackageGraph, row: Row, here: str | None) -> Decision:
    """One call of the resolver from one stop of a row."""
    graph = package.by_name[row.channel]
    bundle = package.package.by_name.get(here) if here is not None else None
    version = parse_or_none(bundle.version) if bundle is not None else None
    installed = Installed(here, version) if here is not None else None
    if row.policy == "v0":
        return subscriptions.resolve(graph, installed)
    return extensions.resolve(
        [Source("c", 0, package)], Extension(package.name, (graph.name,), "", False, installed)
    )


def agrees(package: PackageGraph, row: Row) -> None:
    """Each stop of a walk is the resolver's answer at the one before; at the last it stays or fails."""
    here = row.installed
    for stop in row.path:
        assert judged(package, row, here) == judged(package, row, here)._replace(next=stop, failure=None)
        here = stop
    if row.end is not End.LOOP:
        last = judged(package, row, here)
        assert last.next is None
        assert (last.failure is not None) == (row.end is End.ERROR)
        assert last.failure is None or last.failure.words in row.reason


@given(packages())
def test_rows_agree_with_single_calls_of_the_resolvers(text: str) -> None:
    package = PackageGraph(parse(text).packages[0])
    for row in answered(text):
        agrees(package, row)


@FEWER
@given(packages())
def test_fresh_rows_and_switches_agree_with_single_calls_too(text: str) -> None:
    package = PackageGraph(parse(text).packages[0])
    for row in (*answered(text, Scenario(fresh=True)), *answered(text, Scenario(switching=True))):
        agrees(package, row)


@FEWER
@given(packages())
def test_every_channel_entry_and_policy_has_one_row(text: str) -> None:
    package = PackageGraph(parse(text).packages[0])
    found = [(row.channel, row.installed, row.policy) for row in answered(text)]
    wanted = {(g.name, n, policy) for g in package.channels for n in g.entries for policy in ("v0", "v1")}
    assert len(found) == len(wanted)
    assert set(found) == wanted


@FEWER
@given(packages())
def test_every_walk_ends_or_is_reported_as_a_loop(text: str) -> None:
    for row in answered(text):
        stops = [row.installed, *row.path]
        repeated = len(set(stops)) < len(stops)
        assert repeated == (row.end is End.LOOP)
        assert len(set(stops)) >= len(stops) - 1
        if repeated:
            assert stops[-1] in stops[:-1]
        assert row.next == (row.path[0] if row.path else None)


@FEWER
@given(packages())
def test_whoever_stays_where_one_arrives_has_arrived_and_nobody_else(text: str) -> None:
    package = PackageGraph(parse(text).packages[0])
    for row in answered(text):
        there = arrivals(package.by_name[row.channel], row.policy)
        if row.end in (End.HEAD, End.STRANDED):
            assert (row.end is End.HEAD) == (row.last in there)
        assert row.reason


@FEWER
@given(packages())
def test_one_arrives_at_the_head_and_under_v1_at_a_head_that_it_installs(text: str) -> None:
    for graph in PackageGraph(parse(text).packages[0]).channels:
        assert arrivals(graph, "v0") == ((graph.head,) if graph.head else ())
        there = {*arrivals(graph, "v1")}
        assert there <= {graph.head, *olm_v1.fresh_installs(graph)}
        assert graph.head in (None, *there)
        assert there >= {*olm_v1.fresh_installs(graph)} & {*graph.heads}


@FEWER
@given(packages())
def test_the_same_question_has_the_same_answer(text: str) -> None:
    assert answered(text) == answered(text)


@FEWER
@given(packages())
def test_a_copy_of_the_catalog_with_a_lower_priority_changes_no_walk_of_v1(text: str) -> None:
    first, copy = (PackageGraph(parse(text).packages[0]) for _ in range(2))
    alone = rows(sheets([Source("a", 0, first)], Scenario(("v1",))))
    both = rows(sheets([Source("a", 5, first), Source("b", 0, copy)], Scenario(("v1",)), named=True))
    told = {(row.channel, row.installed): (row.path, row.end) for row in alone}
    assert {(row.channel, row.installed): (row.path, row.end) for row in both} == told


@FEWER
@given(packages(), st.booleans())
def test_roads_of_a_policy_are_the_walks_of_the_simulation(text: str, twice: bool) -> None:
    """Also where the channels are one channel, written several times."""
    [package] = parse(text).packages
    if twice:
        package = package._replace(channels=tuple(c._replace(name="c0") for c in package.channels))
    graphs = PackageGraph(package).by_name
    for row in answered(Catalog("c", (package,))):
        assert row.installed is not None
        net = build_hop_graph([graphs[row.channel]], row.policy)
        if row.installed in net.rank:
            assert net.successors(row.installed) == ((row.next,) if row.next else ())
            assert row.end is not End.HEAD or row.last in goals(graphs[row.channel], row.policy)


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
    ways = [
        [(r.channel, r.installed, r.path, r.end) for r in answered(each, only_v0)]
        for each in (catalog, Catalog("shuffled", (other,)))
    ]
    assert ways[0] == ways[1]


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
    found = check(catalog).findings
    waivers = [Waiver(finding.rule, "known", Place("everpath.yaml")) for finding in found]
    assert not check(catalog, waivers=waivers).findings
    assert answered(catalog) == before


@FEWER
@given(packages())
def test_terms_that_ask_for_nothing_change_no_walk(text: str) -> None:
    """Asking stop by stop, as for several catalogs, goes the ways that the answers in bulk go."""
    only_v1 = Scenario(("v1",))
    usual = {(r.channel, r.installed): r.path for r in answered(text, only_v1)}
    anything = only_v1._replace(terms=Terms(version_range=">=0.0.0-0"))
    assert {(r.channel, r.installed): r.path for r in answered(text, anything)} == usual


@FEWER
@given(packages())
def test_a_catalog_without_the_package_changes_nothing(text: str) -> None:
    package = PackageGraph(parse(text).packages[0])
    alone = list(rows(sheets([Source("c", 0, package)], Scenario())))
    beside = rows(sheets([Source("c", 0, package), Source("d", 5, None)], Scenario()))
    assert [(r.path, r.installed) for r in beside] == [(r.path, r.installed) for r in alone]


@FEWER
@given(packages())
def test_somebody_who_is_asked_for_is_answered_as_among_all(text: str) -> None:
    package = PackageGraph(parse(text).packages[0])
    source, every = Source("c", 0, package), answered(text)
    for name, bundle in package.package.by_name.items():
        found = rows(sheets([source], Scenario(), [Asked(name, bundle.version)]))
        assert list(found) == [row for row in every if row.installed == name]


_NAMES = st.sampled_from("abcdefgh")


@given(st.dictionaries(_NAMES, st.none() | _NAMES, max_size=8), st.dictionaries(_NAMES, st.none() | _NAMES))
def test_ways_are_walks_and_two_of_one_book_are_alike_by_their_numbers(
    one: dict[str, str | None], other: dict[str, str | None]
) -> None:
    book = Book()
    found = [(hops, ways(hops, hops, book)) for hops in (one, other)]
    every = [way for _, known in found for way in known.values()]
    for hops, known in found:
        for name, way in known.items():
            path = walk(hops, name)
            assert (tuple(way), len(way), way.first, way.last) == (
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
def test_whoever_listens_changes_no_decision(
    one: str, other: str, span: str, channels: tuple[str, ...]
) -> None:
    served = [
        Source(name, rank, PackageGraph(parse(text).packages[0]))
        for rank, (name, text) in enumerate([("a", one), ("b", other)])
    ]
    for package in (source.package for source in served if source.package is not None):
        for name, bundle in package.package.by_name.items():
            wanted = Extension("p", channels, span, installed=Installed(name, parse_or_none(bundle.version)))
            heard: list[Remark] = []
            assert extensions.resolve(served, wanted) == extensions.resolve(served, wanted, heard.append)


_EIGHT = ("1.0.0-rc.1", "1.0.0", "1.0.1", "1.1.0-alpha", "1.1.0", "1.2.0", "2.0.0", "3.0.0")


_FEW = st.sets(st.integers(0, 7), max_size=2)


@FEWER
@given(drawings(), st.permutations(_EIGHT), _FEW, _FEW, st.booleans())
@example("b3: b1 / - / <1.0.0 || || >=2.0.0\nb2: b0\nb1\nb0", _EIGHT, set(), set(), False)
@example("b2: b1\nb1: b0\nb0\nb3", _EIGHT, set(), {1}, False)
def test_the_rules_about_stranded_users_mean_those_whom_a_simulation_strands(
    drawing: str, versions: Sequence[str], deprecated: set[int], dependent: set[int], crashes: bool
) -> None:
    # Of equal versions v1 may take either: the rule counts on neither, a simulation follows one.
    lines = [
        re.sub(r"^b(\d)@[^:]+", lambda m: f"b{m[1]}@{versions[int(m[1])]}", line)
        for line in drawing.splitlines()
    ]
    if crashes:
        lines[0] = lines[0].replace("<", "<0.0.2 || || <")
    marks = [f"%deprecated b{n}: old" for n in deprecated if any(line.startswith(f"b{n}@") for line in lines)]
    marks += (f"%dependent b{n}" for n in dependent)
    catalog = parse("\n".join((*lines, *marks)))
    found = check(catalog).findings
    rules: dict[PolicyName, str] = {"v0": "EP206", "v1": "EP207"}
    for policy, rule in rules.items():
        rows = answered(catalog, Scenario(policies=(policy,)))
        ends = {row.path[-1] if row.path else row.installed for row in rows if row.end is End.STRANDED}
        assert {f.entry for f in found if f.rule == rule} == ends, policy
