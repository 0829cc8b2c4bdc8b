"""Properties of the resolution of a Subscription."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.notation import parse as parse_drawing
from everpath.resolvers import olm_v0
from everpath.resolvers.resolution import CandidateResult, FailureKind, InstalledBundle, Resolution, TraceStep
from everpath.resolvers.subscription import resolve
from everpath.versions import parse
from tests.support.everpath.strategies import channel_graphs, drawings

VERSIONS = ("0.0.1", "1.0.0-rc.1", "1.0.0", "1.1.0-alpha", "1.1.5", "2.0.0", "9.0.0")


def prohibiting(graph: ChannelGraph, names: frozenset[str]) -> ChannelGraph:
    lines = "\n".join(f"%prohibited {name}" for name in sorted(names))
    extra = {b.name: b.properties for b in parse_drawing(f"{lines}\n" + "\n".join(names)).packages[0].bundles}
    bundles = tuple(b._replace(properties=extra.get(b.name, b.properties)) for b in graph.package.bundles)
    return ChannelGraph(graph.channel, graph.package._replace(bundles=bundles))


#: Channels in which some entries may not be installed and one range may crash OLM.
graphs = st.builds(prohibiting, channel_graphs(), st.frozensets(st.sampled_from(("b0", "b1", "b2"))))

#: What may be installed: entries, names that are referred to or not, with their own or another version.
anything = st.none() | st.builds(
    InstalledBundle,
    st.sampled_from((*(f"b{n}" for n in range(8)), "gone", "unheard-of")),
    st.none() | st.sampled_from(VERSIONS).map(parse),
)


@given(graphs)
def test_single_resolution_equals_the_one_of_the_whole_channel(graph: ChannelGraph) -> None:
    hops = olm_v0.next_hops(graph)
    for name in graph.entries:
        for version in (None, graph.versions.get(name)):
            decision = resolve(graph, InstalledBundle(name, version))
            assert decision.failure == (hops.failure or hops.failures.get(name))
            if decision.failure is None:
                assert decision.next == hops.next[name]


@given(graphs)
def test_new_subscription_gets_the_new_install(graph: ChannelGraph) -> None:
    decision = resolve(graph, None)
    assert decision.next == olm_v0.new_install(graph)
    assert (decision.failure is None) == (decision.next is not None)


@given(graphs, anything, st.none() | st.sampled_from(("b0", "b1", "gone")), st.randoms(use_true_random=False))
def test_neither_resolution_nor_trace_depends_on_the_order_in_the_file(
    graph: ChannelGraph, installed: InstalledBundle | None, starting: str | None, random: Random
) -> None:
    entries = list(graph.channel.entries)
    random.shuffle(entries)
    other = ChannelGraph(graph.channel._replace(entries=tuple(entries)), graph.package)
    assert resolve_traced(graph, installed, starting) == resolve_traced(other, installed, starting)


@given(graphs, anything, st.none() | st.sampled_from(("b0", "b1", "gone")))
def test_trace_does_not_change_the_resolution(
    graph: ChannelGraph, installed: InstalledBundle | None, starting: str | None
) -> None:
    decision, remarks = resolve_traced(graph, installed, starting)
    assert decision == resolve(graph, installed, starting_csv=starting)
    taken = [
        r.entry
        for r in remarks
        if r.result is CandidateResult.TAKEN and r.entry != (installed and installed.name)
    ]
    assert taken == ([decision.next] if decision.next is not None else [])


@given(graphs, anything)
def test_the_trace_has_every_entry_once_unless_olm_fails(
    graph: ChannelGraph, installed: InstalledBundle | None
) -> None:
    decision, remarks = resolve_traced(graph, installed, None)
    names = [remark.entry for remark in remarks]
    if decision.failure is None or decision.failure.kind is FailureKind.NOTHING_INSTALLABLE:
        assert sorted(names) == sorted(graph.entries)
    else:
        assert sorted(names) == sorted(set(decision.failure.names))


@given(graphs, anything)
def test_traced_candidates_are_in_the_order_of_the_resolver(
    graph: ChannelGraph, installed: InstalledBundle | None
) -> None:
    decision, remarks = resolve_traced(graph, installed, None)
    if installed is None or decision.failure is not None:
        return
    heard = [r.entry for r in remarks if r.result is not CandidateResult.REFUSED]
    edges = olm_v0.candidates(graph, installed.name, installed.version)
    assert heard == list(dict.fromkeys(edge.successor for edge in edges))


@given(drawings(), anything)
def test_valid_channel_never_fails_an_upgrade(drawing: str, installed: InstalledBundle | None) -> None:
    """Also no matter what is installed: OLM v0 stays where nothing accepts."""
    graph = PackageGraph(parse_drawing(drawing).packages[0]).channels[0]
    if olm_v0.sort_channel(graph).failure is None and installed is not None:
        assert resolve(graph, installed).failure is None


def resolve_traced(
    graph: ChannelGraph, installed: InstalledBundle | None, starting: str | None
) -> tuple[Resolution, list[TraceStep]]:
    remarks: list[TraceStep] = []
    return resolve(graph, installed, starting_csv=starting, trace=remarks.append), remarks
