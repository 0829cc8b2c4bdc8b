"""Incremental validation of an edit agrees with opm's validation of the edited channel."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from everpath.graph import ChannelGraph
from everpath.model import Entry
from everpath.resolvers import opm
from everpath.resolvers.opm_revalidation import is_valid_after
from everpath.rules.fixes.edits import ChannelEdit, apply_edit
from tests.support.everpath.graphs import channel_graph
from tests.support.tiers import examples


@st.composite
def _accepted(draw: st.DrawFn) -> ChannelGraph:
    """Return a replaces chain with skipped entries, which may have other edges than the chain."""
    size = draw(st.integers(1, 7))
    lines = []
    for i in reversed(range(size)):
        below = [f"b{j}" for j in range(i)] or ["gone"]
        replaces = draw(st.sampled_from(["-", *below, *below[-1:] * 4]))
        skips = draw(st.lists(st.sampled_from([*below, "gone"]), max_size=2, unique=True))
        lines.append(f"b{i}: {replaces} / {', '.join(skips) or '-'}")
    graph = channel_graph("\n".join(lines))
    assume(opm.validate_channel(graph).is_valid)
    return graph


@st.composite
def _changed(draw: st.DrawFn, graph: ChannelGraph) -> tuple[Entry, ...]:
    names = st.sampled_from((*graph.entries, "gone", "new"))
    entries = []
    for name in draw(st.lists(names, min_size=1, max_size=3, unique=True)):
        entry = graph.entries.get(name) or Entry(name, graph.channel.place)
        replaces = draw(st.sampled_from((entry.replaces, None, *graph.entries, "gone", "new")))
        skips = draw(st.just(entry.skips) | st.lists(names, max_size=3, unique=True).map(tuple))
        entries.append(entry._replace(replaces=replaces, skips=skips))
    return tuple(entries)


@settings(max_examples=examples(400))
@given(st.data())
def test_edit_has_the_same_result_as_the_edited_channel(data: st.DataObject) -> None:
    graph = data.draw(_accepted())
    changed = data.draw(_changed(graph))
    assert (
        is_valid_after(graph, changed)
        == opm.validate_channel(apply_edit(graph, ChannelEdit("", changed))).is_valid
    )


@pytest.mark.parametrize(
    ("name", "target", "accepted"), [("a", "c", False), ("b", "c", True), ("c", "b", False)]
)
def test_entry_that_replaces_another_must_reach_all_entries(name: str, target: str, accepted: bool) -> None:
    graph = channel_graph("a: b\nb: c\nc")
    changed = graph.entries[name]._replace(replaces=target)
    assert is_valid_after(graph, [changed]) is accepted


def test_validation_of_a_long_chain_ends_at_the_change() -> None:
    names = [f"b{n}" for n in range(12, 0, -1)]
    graph = channel_graph("\n".join(f"{above}: {below}" for above, below in pairwise([*names, "gone"])))
    for name, below in pairwise(names[:-1]):
        ended = graph.entries[name]._replace(replaces=None, skips=(below,))
        assert not is_valid_after(graph, [ended])


def test_head_can_be_exchanged_with_an_entry_that_it_skips() -> None:
    graph = channel_graph("c: - / b, a\nb: a\na")
    changed = (graph.entries["c"]._replace(skips=()), graph.entries["a"]._replace(skips=("c",)))
    assert is_valid_after(graph, changed)
