"""All 4,096 channels of three entries, one missing name and no self edges, and the published counts."""

from __future__ import annotations

from itertools import chain, combinations, product

import pytest

from everpath.graph import ChannelGraph
from everpath.resolvers import olm_v0, opm
from everpath.resolvers.resolution import FailureKind
from everpath.upgrade_path.hops import PathEnd, last_entries
from tests.support.everpath.graphs import channel_graph

_NAMES = ("b1", "b2", "b3")


def _edges(name: str) -> list[str]:
    """Every combination of one replaces and some skips, over the two other entries and a missing name."""
    others = [n for n in _NAMES if n != name]
    skips = list(chain.from_iterable(combinations(others, n) for n in range(3)))
    return [f"{r} / {', '.join(s) or '-'}" for r in ("-", *others, "gone") for s in skips]


@pytest.fixture(scope="module")
def accepted() -> list[ChannelGraph]:
    """The channels of three entries that opm accepts."""
    drawings = product(*([f"{name}: {edges}" for edges in _edges(name)] for name in _NAMES))
    graphs = [channel_graph("\n".join(lines)) for lines in drawings]
    assert len(graphs) == 4096
    return [graph for graph in graphs if opm.validate_channel(graph).is_valid]


def test_opm_accepts_1146_of_4096(accepted: list[ChannelGraph]) -> None:
    assert len(accepted) == 1146


@pytest.mark.exhaustive
def test_v0_fails_with_a_cycle_on_72_that_opm_accepts(accepted: list[ChannelGraph]) -> None:
    failures = [olm_v0.next_hops(graph).failure for graph in accepted]
    assert [f.kind for f in failures if f].count(FailureKind.CYCLE) == 72


def test_v0_strands_a_version_in_414_graphs_that_opm_accepts(accepted: list[ChannelGraph]) -> None:
    assert sum(_strands(graph) for graph in accepted) == 414


def _strands(graph: ChannelGraph) -> bool:
    hops = olm_v0.next_hops(graph)
    ends = last_entries(hops.next, (graph.head,), graph.entries)
    return hops.failure is None and any(d.end is PathEnd.STRANDED for d in ends.values())


def test_some_entry_has_several_raw_successors_in_792_that_v0_can_order(accepted: list[ChannelGraph]) -> None:
    ambiguous = [graph for graph in accepted if max(graph.successor_counts.values()) > 1]
    assert sum(olm_v0.next_hops(graph).failure is None for graph in ambiguous) == 792


def test_only_120_graphs_satisfy_the_invariant(accepted: list[ChannelGraph]) -> None:
    assert sum(_is_clean(graph) for graph in accepted) == 120


def _is_clean(graph: ChannelGraph) -> bool:
    """Every entry but the head has exactly one successor, and OLM v0 installs it."""
    one_each = max(graph.successor_counts.values()) <= 1
    return one_each and olm_v0.next_hops(graph).failure is None and not _strands(graph)
