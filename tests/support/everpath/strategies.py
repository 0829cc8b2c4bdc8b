"""Random channels for property tests, with few names and versions, so that edges overlap."""

from __future__ import annotations

__all__ = ["channel_graphs", "drawings", "ranges"]

from hypothesis import strategies as st

from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.notation import parse

_VERSIONS = ("1.0.0-rc.1", "1.0.0", "1.0.1", "1.1.0-alpha", "1.1.0", "1.2.0", "2.0.0", "2.0.0+build.1")
_NAMES = tuple(f"b{n}" for n in range(8))
_BOUNDS = st.sampled_from(("0.0.1", "1.0.0", "1.0.1", "1.1.0", "1.2.0", "2.0.0", "3.0.0"))


@st.composite
def ranges(draw: st.DrawFn) -> str:
    """Return usual ranges: between two versions, below one, above one, or a union."""
    low, high = draw(_BOUNDS), draw(_BOUNDS)
    shapes = (f">={low} <{high}", f"<{high}", f">{low}", f"<{low} || >={high}", f"!={low}")
    return draw(st.sampled_from(shapes))


@st.composite
def drawings(draw: st.DrawFn) -> str:
    """Return up to eight entries in the notation, with edges to any entry, to itself or to unknown names."""
    names = draw(st.lists(st.sampled_from(_NAMES), min_size=1, max_size=8, unique=True))
    target = st.sampled_from((*names, "gone"))
    lines = []
    for name in names:
        replaces = draw(st.none() | target) or "-"
        skips = ", ".join(draw(st.lists(target, max_size=2, unique=True))) or "-"
        span = draw(st.none() | ranges()) or "-"
        lines.append(f"{name}@{draw(st.sampled_from(_VERSIONS))}: {replaces} / {skips} / {span}")
    return "\n".join(lines)


def channel_graphs() -> st.SearchStrategy[ChannelGraph]:
    """Return the graph of a random channel."""
    return drawings().map(lambda text: PackageGraph(parse(text).packages[0]).channels[0])
