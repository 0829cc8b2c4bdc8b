"""Many edits of one long list keep the list once."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable

import pytest

from everpath.graph import ChannelGraph
from everpath.rules.fixes.edits import ChannelEdit, add_skips, remove_skip
from tests.support.everpath.graphs import channel_graph

EDITS: dict[str, Callable[[ChannelGraph, int], ChannelEdit]] = {
    "another name is skipped": lambda graph, i: add_skips(graph, "head", [f"a{i}"]),
    "a name is no longer skipped": lambda graph, i: remove_skip(graph, f"b{i}", ["head"]),
}


def _bytes(edit: Callable[[ChannelGraph, int], ChannelEdit], size: int) -> int:
    """Return the memory of one edit for each skipped name."""
    graph = channel_graph(f"head@2.0.0: - / {', '.join(f'b{i}' for i in range(size))}")
    assert len(graph.entries["head"].skips) == size
    tracemalloc.start()
    try:
        edits = [edit(graph, i) for i in range(size)]
        assert len(edits[0].entries[0].skips) == size + (1 if "add" in edits[0].text else -1)
        del edits[0]
        return tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS)
def test_memory_of_edits_is_linear_in_the_list(
    edit: Callable[[ChannelGraph, int], ChannelEdit],
) -> None:
    little, much = (_bytes(edit, size) for size in (100, 1000))
    assert much <= 12 * little
