"""A drawing of twice as many entries is twice as long, however they are connected."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import pytest

from everpath.layout.drawing import ChannelDrawing
from everpath.reporters.graph import graph_json, graph_page, svg
from tests.support.everpath.channel_drawings import without_findings

SHAPES = {
    "chain": "b{i}@1.{i}.0: b{below}",
    "heads": "b{i}@1.{i}.0",
    "ranges": "b{i}@1.{i}.0: b{below} / - / <1.{i}.0",
    "skips": "b{i}@1.{i}.0: b{below} / b0",
}


Render = Callable[[Sequence[ChannelDrawing]], Iterator[str]]


def length(render: Render, shape: str, entries: int) -> int:
    drawing = "\n".join(shape.format(i=i, below=i - 1) for i in range(1, entries))
    return len("".join(render([without_findings(f"{drawing}\nb0@1.0.0")])))


@pytest.mark.parametrize(
    "render", [graph_page.render, graph_json.render, svg.render], ids=["page", "json", "svg"]
)
@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_drawing_is_linear_in_the_entries(render: Render, shape: str) -> None:
    one, two, four = (length(render, shape, entries) for entries in (150, 300, 600))
    assert four - two < 2.3 * (two - one)
