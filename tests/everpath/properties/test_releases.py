"""Properties of releases.yaml: the effect of a release on all installed versions."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from everpath.comparison import compare
from everpath.errors import UsageError
from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.catalog_loader import load
from everpath.loaders.releases.editing import edit_releases
from everpath.loaders.releases.formatting import format_releases
from everpath.loaders.releases.parser import parse_releases
from everpath.model import Catalog, Entry, Package
from everpath.ranges import Range
from everpath.releases.channel_edges import Edges, catalog_package
from everpath.releases.csv_edges import csv_edges
from everpath.releases.model import ReleasesFile, Variant
from everpath.releases.reconstruction import reconstruct_releases
from everpath.releases.release_plan import ReleasePlan, ReleaseRequest, SetChannels, apply_edits, plan_release
from everpath.releases.validation import find_problems
from everpath.resolvers import olm_v0, olm_v1, opm
from everpath.upgrade_path.hops import hops_from
from everpath.versions import parse
from tests.support.everpath.release_histories import EMPTY, history, release_requests
from tests.support.everpath.strategies import ranges
from tests.support.tiers import examples

# Each example is a history of up to nine releases, with all upgrade paths of all its channels.
SOME = settings(max_examples=examples(60))


def _hops(graph: ChannelGraph) -> list[dict[str, str | None]]:
    """Return the next hop of every version, under OLM v0 and v1."""
    first = olm_v0.next_hops(graph)
    assert first.failure is None, first.failure
    assert not first.failures
    return [dict(first.next), dict(olm_v1.next_hops(graph))]


@st.composite
def plain_history(draw: st.DrawFn, most: int = 8) -> ReleasesFile:
    """Return releases and z-streams, each in some channels; some are withdrawn."""
    so_far = EMPTY
    for _ in range(draw(st.integers(1, most))):
        so_far = _after(so_far, draw(release_requests(so_far))._replace(replaces=None, skips=())) or so_far
    assume(so_far.releases)
    return so_far


def _after(before: ReleasesFile, request: ReleaseRequest) -> ReleasesFile | None:
    """Return the file after a request; None if it is rejected."""
    try:
        return plan_release(before, request).source
    except UsageError:
        return None


@given(plain_history(), st.data())
@SOME
def test_release_strands_no_version(before: ReleasesFile, data: st.DataObject) -> None:
    after = _after(before, data.draw(release_requests(before))._replace(replaces=None, skips=()))
    assume(after is not None)
    assert after is not None
    old, new = PackageGraph(catalog_package(before)), PackageGraph(catalog_package(after))
    for graph in new.channels:
        assert opm.validate_channel(graph).is_valid
        for hops in _hops(graph):
            earlier = old.by_name[graph.name].entries if graph.name in old.by_name else {}
            for name in {*earlier, *graph.entries}:
                assert [name, *hops_from(hops, name)][-1] == graph.head, (graph.name, name, hops)


@given(plain_history())
@SOME
def test_withdrawn_release_is_never_installed(source: ReleasesFile) -> None:
    withdrawn = {source.csv_name(r) for r in source.releases if r.withdrawn is not None}
    for graph in PackageGraph(catalog_package(source)).channels:
        assert graph.head not in withdrawn
        for hops in _hops(graph):
            assert withdrawn.isdisjoint(filter(None, hops.values()))
            assert all(hops[name] for name in withdrawn & graph.entries.keys())
        assert olm_v0.new_install(graph) not in withdrawn
        assert olm_v1.new_install(graph) not in withdrawn


@given(plain_history(), st.data())
@SOME
def test_every_z_stream_release_upgrades_directly_to_the_latest(
    before: ReleasesFile, data: st.DataObject
) -> None:
    request = data.draw(release_requests(before))._replace(zstream=True, replaces=None, skips=())
    # A release that is only added to more channels need not be the latest there.
    assume(request.version not in before.by_version)
    after = _after(before, request)
    assume(after is not None)
    assert after is not None
    latest = after.releases[-1]
    name, version = after.csv_name(latest), latest.semver
    for graph in PackageGraph(catalog_package(after)).channels:
        if name not in graph.entries:
            continue
        for hops in _hops(graph):
            for other, there in graph.versions.items():
                if there.minor_stream == version.minor_stream and there < version:
                    assert hops[other] == name
        # Unpublished versions are covered too.
        virtual = [parse(f"{version.major}.{version.minor}.{patch}") for patch in range(version.patch)]
        assert all(each in graph.ranges[name].intervals for each in virtual)


@given(plain_history(), st.data())
@SOME
def test_every_version_reaches_the_head_of_a_catalog_with_some_releases(
    source: ReleasesFile, data: st.DataObject
) -> None:
    bounds = st.sampled_from([release.version for release in source.releases])
    shapes = ("<{}", "<={}", ">={}", "!={}", "!={} !={}", ">={} <={}")
    span = data.draw(st.sampled_from(shapes)).format(data.draw(bounds), data.draw(bounds))
    variant = Variant("some", span)
    assume(not find_problems(replace(source, catalogs=(variant,))))
    for graph in PackageGraph(catalog_package(source, variant)).channels:
        assert opm.validate_channel(graph).is_valid
        for hops in _hops(graph):
            for name in graph.entries:
                assert [name, *hops_from(hops, name)][-1] == graph.head, (span, graph.name, name, hops)


@given(ranges(), ranges())
def test_replacing_release_covers_what_both_covered(one: str, other: str) -> None:
    joined = Edges("a", (), one).absorb("b", Edges(None, (), other)).skip_range
    assert joined is not None
    assert Range.parse(joined).intervals == Range.parse(one).intervals | Range.parse(other).intervals


@given(history())
@SOME
def test_file_has_each_release_once_and_edits_are_complete(cuts: list[ReleasePlan]) -> None:
    before = EMPTY
    for done in cuts:
        assert apply_edits(before, done.edits) == done.source
        assert len(done.source.by_name) == len(done.source.releases)
        assert not find_problems(done.source)
        before = done.source


@given(history())
@SOME
def test_written_file_parses_to_the_same_releases(cuts: list[ReleasePlan]) -> None:
    for done in cuts[-1:]:
        assert parse_releases(format_releases(done.source, "s.json").encode(), "releases.yaml") == done.source


_COMMENTS = st.sampled_from(("# why", "#  two: {words", "# - version: 9.9.9", "#"))


@st.composite
def commented(draw: st.DrawFn, text: str) -> str:
    """Return the text with comments and blank lines between and after its lines."""
    lines = []
    for line in text.splitlines():
        indent = " " * draw(st.sampled_from((0, 2, 4, 6)))
        if draw(st.integers(0, 4)) == 0:
            lines.append(f"{indent}{draw(_COMMENTS)}")
        if draw(st.integers(0, 6)) == 0:
            lines.append("")
        lines.append(line + (f"   {draw(_COMMENTS)}" if draw(st.integers(0, 3)) == 0 else ""))
    return "\n".join([*lines, *draw(st.lists(_COMMENTS, max_size=1))]) + draw(st.sampled_from(("\n", "")))


@given(history(), st.data())
@SOME
def test_edit_keeps_every_other_line(cuts: list[ReleasePlan], data: st.DataObject) -> None:
    assume(cuts)
    text = data.draw(commented(format_releases(EMPTY, "s.json")))
    for done in cuts:
        edit = edit_releases(text.encode(), done.edits, "releases.yaml").decode()
        assert parse_releases(edit.encode(), "releases.yaml") == done.source
        left = iter(edit.splitlines())
        is_promoted = any(isinstance(each, SetChannels) for each in done.edits)
        for line in text.splitlines():
            is_edited = is_promoted and line.startswith("    channels:")
            if line.partition("#")[0].rstrip() != "releases: []" and not is_edited:
                assert line in left
        text = edit


@given(history())
@SOME
def test_releases_are_reconstructed_from_their_catalog(cuts: list[ReleasePlan]) -> None:
    for done in cuts[-1:]:
        whole = catalog_package(done.source)
        _same_graph(whole, catalog_package(reconstruct_releases(whole)))


@given(plain_history(), st.data())
@SOME
def test_releases_are_reconstructed_from_a_catalog_with_some_of_them(
    source: ReleasesFile, data: st.DataObject
) -> None:
    bound = data.draw(st.sampled_from([release.version for release in source.releases]))
    channel = data.draw(st.sampled_from(source.channel_names))
    span = data.draw(st.sampled_from(("<={}", ">={}", "!={}"))).format(bound)
    whole = catalog_package(source, Variant("some", span, data.draw(st.sampled_from([(), (channel,)]))))
    assume(whole.bundles and whole.channels)
    text = format_releases(reconstruct_releases(whole), "s.json").encode()
    _same_graph(whole, catalog_package(parse_releases(text, "releases.yaml")))


def _same_graph(one: Package, other: Package) -> None:
    """Return whether channels, edges and deprecations are the same."""
    edges = [
        {(c.name, e.name): (e.replaces, e.skips, e.skip_range) for c in p.channels for e in c.entries}
        for p in (one, other)
    ]
    assert edges[0] == edges[1]
    assert one.deprecations_by_name("olm.bundle").keys() == other.deprecations_by_name("olm.bundle").keys()
    assert one.default_channel == other.default_channel
    assert {b.name: (b.version, b.image) for b in one.bundles} == {
        b.name: (b.version, b.image) for b in other.bundles
    }


@pytest.mark.corpus
def test_every_package_of_operatorhub_is_reconstructed_with_its_upgrade_paths(operatorhub: Path) -> None:
    catalog = load(str(operatorhub / "operators")).catalog
    compared = 0
    for before in catalog.packages:
        text = format_releases(reconstruct_releases(before), "s.json").encode()
        after = catalog_package(parse_releases(text, "releases.yaml"))._replace(bundles=before.bundles)
        graphs = PackageGraph(after).by_name
        for graph in PackageGraph(before).channels:
            assert olm_v0.next_hops(graph) == olm_v0.next_hops(graphs[graph.name])
            assert olm_v1.next_hops(graph) == olm_v1.next_hops(graphs[graph.name])
            compared += 1
    assert len(catalog.packages) > 440
    assert compared > 700


@SOME
@given(history())
def test_bundles_without_the_catalog_strand_no_version(cuts: list[ReleasePlan]) -> None:
    """A CSV has one set of edges. A version that reaches the head in the catalog also does with the bundles.

    Catalogs with two heads are left out: opm rejects them.
    """
    assume(cuts)
    source = cuts[-1].source
    whole = catalog_package(source)
    assume(all(opm.validate_channel(graph).is_valid for graph in PackageGraph(whole).channels))

    def stated(entry: Entry) -> Entry:
        edges = csv_edges(whole, entry.name, source.default_channel)
        return entry._replace(replaces=edges.replaces, skips=edges.skips, skip_range=edges.skip_range)

    channels = tuple(c._replace(entries=tuple(map(stated, c.entries))) for c in whole.channels)
    bundles = whole._replace(channels=channels)
    comparison = compare(Catalog("catalog", (whole,)), Catalog("bundles", (bundles,)))
    assert not comparison.regression_count
