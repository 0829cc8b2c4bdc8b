"""The upgrade graph as one SVG image, without scripts; the same channels give the same bytes.

Labels are text, so versions can be selected and searched. Nodes and edges have titles, which browsers show
and screen readers announce. The page of `-o html` contains the same drawings.
"""

from __future__ import annotations

__all__ = ["asset", "draw_channel", "render"]

import math
from collections.abc import Iterator, Sequence
from html import escape
from importlib.resources import files
from itertools import pairwise

from everpath.graph import EdgeKind
from everpath.layout.captions import edge_text, heading, node_text, path_texts
from everpath.layout.diagram import Node
from everpath.layout.drawing import ChannelDrawing
from everpath.layout.geometry import MAX_LABEL_LENGTH, RADIUS, SLANT, Layout, Point, Stroke
from everpath.layout.paths import DrawnPaths
from everpath.reporters.formatting import one_line

_CORNER = 7.0
_GAP = 26
_KEY = 58
_LINE = 18
_NARROWEST = 360.0
#: Widths of a character.
_HEADING = 8.3
_CAPTION = 6.8
#: Longer paths are shortened in the caption.
_MAX_NAMES = 8
_LONGEST = 400


def asset(name: str) -> str:
    """Return the content of a stylesheet, script or HTML fragment of everpath."""
    return (files("everpath.reporters.graph") / "assets" / name).read_text(encoding="utf-8")


def render(drawings: Sequence[ChannelDrawing]) -> Iterator[str]:
    """Yield one image: the channels below each other, with the paths of what is installed."""
    captions = [[_truncate(text) for text in path_texts(drawing, _MAX_NAMES)] for drawing in drawings]
    widths = [_NARROWEST]
    for drawing, texts in zip(drawings, captions, strict=True):
        # The widths of texts are estimated.
        headings = [len(_truncate(heading(drawing))) * _HEADING, *(len(text) * _CAPTION for text in texts)]
        widths += [drawing.layout.width, *(length + 48 for length in headings)]
    heights = [d.layout.height + _GAP + _LINE * len(t) for d, t in zip(drawings, captions, strict=True)]
    width, height = max(widths), sum(heights) + _KEY
    package = drawings[0].diagram.package if drawings else ""
    yield (
        f'<svg xmlns="http://www.w3.org/2000/svg" class="everpath" role="img" viewBox="0 0 {_n(width)} '
        f'{_n(height)}" width="{_n(width)}" height="{_n(height)}" aria-labelledby="title desc">\n'
    )
    yield f'<title id="title">Upgrade graph of {_text(package)}</title>\n'
    yield f'<desc id="desc">{_text(" ".join(heading(drawing) for drawing in drawings))}</desc>\n'
    yield f"<style>\n{asset('graph.css')}</style>\n"
    yield f'<rect class="paper" width="{_n(width)}" height="{_n(height)}"/>\n'
    top = 0.0
    for drawing, texts, tall in zip(drawings, captions, heights, strict=True):
        yield f'<g transform="translate(0 {_n(top + _GAP)})">\n'
        yield f'<text class="heading" x="24" y="0">{_text(_truncate(heading(drawing)))}</text>\n'
        yield from draw_channel(drawing)
        for number, text in enumerate(texts):
            height = drawing.layout.height + _LINE * (number + 0.5)
            yield f'<text class="caption" x="24" y="{_n(height)}">{_text(text)}</text>\n'
        yield "</g>\n"
        top += tall
    yield from _legend(top + 14)
    yield "</svg>\n"


def _truncate(text: str) -> str:
    """Shorten a text that would be wider than the drawing."""
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def draw_channel(drawing: ChannelDrawing, *, is_live: bool = False) -> Iterator[str]:
    """Yield bands, edges, paths and nodes of one channel; each edge and each node is a line.

    With `is_live`, nodes are buttons, and the script of the page draws the paths.
    """
    plan = drawing.layout
    top, tall = _n(plan.axis + 6), _n(plan.height - plan.axis - 10)
    bands = (f"M{_n(b.left)} {top}h{_n(b.right - b.left)}v{tall}H{_n(b.left)}z" for b in plan.bands[::2])
    yield f'<path class="band" d="{"".join(bands)}"/>\n'
    yield '<g class="edges">\n'
    for stroke in plan.strokes:
        yield from _stroke(drawing, stroke)
    yield '</g>\n<g class="paths">\n'
    for drawn in () if is_live else drawing.paths:
        yield from _hops(drawing, drawn)
    yield '</g>\n<g class="nodes">\n'
    for column in range(len(drawing.diagram.nodes)):
        yield from _node(drawing, column, is_live=is_live)
    yield "</g>\n"


def _stroke(drawing: ChannelDrawing, stroke: Stroke) -> Iterator[str]:
    covered = drawing.diagram.range_of.get(stroke.successor) if stroke.kind is EdgeKind.RANGE else None
    kind = f"{stroke.kind.value}{'' if covered is None or covered.is_valid else ' ignored'}"
    ends = f'data-to="{stroke.successor}" data-from="{" ".join(map(str, stroke.targets))}"'
    yield f'<g class="edge {kind}" {ends}><title>{_text(edge_text(drawing.diagram, stroke))}</title>'
    lane = drawing.layout.lane
    for start, end in stroke.bars:
        yield (
            f'<rect class="bar" x="{_n(start.x)}" y="{_n(start.y - lane / 2)}" width="{_n(end.x - start.x)}" '
            f'height="{_n(lane)}" rx="{_n(lane / 2)}"/>'
        )
    inset = [_inset(path, stroke.kind) for path in stroke.paths]
    yield f'<path d="{" ".join(map(_round_corners, inset))}"/>'
    yield f'<path class="tip" d="{_tip(inset[-1])}"/></g>\n'


def _inset(path: tuple[Point, ...], kind: EdgeKind) -> list[Point]:
    """Shorten a polyline to the borders of its nodes, with space for the arrowhead."""
    points = list(path)
    is_tooth = kind is not EdgeKind.REPLACES and len(points) == 2
    if kind is not EdgeKind.RANGE:
        points[0] = _towards(points[0], points[1], RADIUS)
    if not is_tooth:
        points[-1] = _towards(points[-1], points[-2], RADIUS + 1)
    return points


def _towards(start: Point, end: Point, distance: float) -> Point:
    length = math.dist(start, end) or 1.0
    share = min(1.0, distance / length)
    return Point(start.x + (end.x - start.x) * share, start.y + (end.y - start.y) * share)


def _round_corners(points: list[Point]) -> str:
    """Return path data with rounded corners."""
    parts = [f"M{_at(points[0])}"]
    for (before, corner), (_, after) in pairwise(pairwise(points)):
        radius = min(_CORNER, math.dist(before, corner) / 2, math.dist(corner, after) / 2)
        into, out = _towards(corner, before, radius), _towards(corner, after, radius)
        parts.append(f"L{_at(into)}Q{_at(corner)} {_at(out)}")
    parts.append(f"L{_at(points[-1])}")
    return "".join(parts)


def _tip(points: list[Point]) -> str:
    """Return an arrowhead at the last point. A marker would need an id that is unique in the page."""
    end, before = points[-1], points[-2]
    length = math.dist(before, end) or 1.0
    dx, dy = (end.x - before.x) / length, (end.y - before.y) / length
    left = Point(end.x - 6 * dx - 3.2 * dy, end.y - 6 * dy + 3.2 * dx)
    right = Point(end.x - 6 * dx + 3.2 * dy, end.y - 6 * dy - 3.2 * dx)
    return f"M{_at(end)}L{_at(left)}L{_at(right)}Z"


def _hops(drawing: ChannelDrawing, drawn: DrawnPaths) -> Iterator[str]:
    """Yield OLM v0 above the row and OLM v1, dashed, below it: colour is not the only difference."""
    nodes, spots = drawing.diagram.nodes, drawing.layout.spots
    side = -1 if drawn.resolver == "v0" else 1
    for old, new in drawing.hops_of_installed(drawn):
        path, tip = _arc(drawing.layout, spots[old], spots[new], side)
        words = f"OLM {drawn.resolver}: {nodes[old].name} updates to {nodes[new].name}"
        yield f'<g class="hop {drawn.resolver} lit">'
        yield f'<title>{_text(words)}</title><path d="{path}"/><path class="tip" d="{tip}"/></g>\n'


def _arc(plan: Layout, start: Point, end: Point, side: int) -> tuple[str, str]:
    ceiling = start.y - plan.axis if side < 0 else plan.height - start.y
    lift = side * min(ceiling - 12, 20 + abs(end.x - start.x) * 0.16) / 0.75
    lean = (end.x - start.x) * 0.22
    rim = side * (RADIUS + 1)
    first, last = Point(start.x, start.y + rim), Point(end.x, end.y + rim)
    bend_in, bend_out = Point(start.x + lean, start.y + lift), Point(end.x - lean, end.y + lift)
    return f"M{_at(first)}C{_at(bend_in)} {_at(bend_out)} {_at(last)}", _tip([bend_out, last])


def _node(drawing: ChannelDrawing, column: int, *, is_live: bool) -> Iterator[str]:
    node, spot = drawing.diagram.nodes[column], drawing.layout.spots[column]
    live = ' role="button" tabindex="-1" aria-pressed="false"' if is_live else ""
    yield f'<g class="{" ".join(["node", *_marks(drawing, node)])}" data-i="{column}"{live}>'
    yield f"<title>{_text(node_text(drawing, column))}</title>"
    yield _label(drawing.layout, node, spot)
    yield f'<circle class="halo" cx="{_n(spot.x)}" cy="{_n(spot.y)}" r="{RADIUS + 6}"/>'
    yield f'<circle class="dot" cx="{_n(spot.x)}" cy="{_n(spot.y)}" r="{RADIUS}"/>'
    yield from _symbols(drawing, node, spot)
    yield "</g>\n"


def _label(plan: Layout, node: Node, spot: Point) -> str:
    text = one_line(node.label)
    short = text if len(text) <= MAX_LABEL_LENGTH else f"{text[: MAX_LABEL_LENGTH - 1]}…"
    turn = f' transform="rotate({-SLANT} {_n(spot.x)} {_n(plan.axis)})"' if plan.is_slanted else ""
    anchor = "" if plan.is_slanted else ' text-anchor="middle"'
    return f'<text class="label" x="{_n(spot.x)}" y="{_n(plan.axis)}"{anchor}{turn}>{_text(short)}</text>'


def _marks(drawing: ChannelDrawing, node: Node) -> Iterator[str]:
    """Yield the CSS classes of a node."""
    states = {
        "head": node.is_head,
        "skipped": node.is_skipped,
        "deprecated": node.deprecated is not None,
        "prohibited": node.uninstallable is not None,
        "absent": node.entry is None,
        "bare": node.entry is not None and not node.has_bundle,
    }
    yield from (state for state, holds in states.items() if holds)
    if (worst_severity := drawing.worst_severity(node.name)) is not None:
        yield worst_severity.word


def _symbols(drawing: ChannelDrawing, node: Node, spot: Point) -> Iterator[str]:
    """Yield shapes that show states without colour."""
    x, y = spot
    is_crossed = node.uninstallable is not None or node.deprecated is not None
    if node.is_head and not is_crossed:
        yield f'<circle class="core" cx="{_n(x)}" cy="{_n(y)}" r="3"/>'
    if is_crossed:
        yield f'<path class="cross" d="M{_n(x - 3)} {_n(y - 3)}l6 6m0 -6l-6 6"/>'
    if drawing.worst_severity(node.name) is not None:
        yield f'<path class="badge" d="M{_n(x + 8)} {_n(y - 15)}l5.5 9.5h-11z"/>'
        yield f'<path class="bang" d="M{_n(x + 8)} {_n(y - 11.6)}v2.8m0 1.2v1"/>'


def _legend(top: float) -> Iterator[str]:
    """Yield the legend of edges."""
    yield f'<g class="legend" transform="translate(24 {_n(top)})">\n'
    yield '<g class="edge replaces"><path d="M0 0H26"/></g><text x="34" y="4">replaces</text>\n'
    yield '<g class="edge skips"><path d="M100 0H126"/></g><text x="134" y="4">skips</text>\n'
    yield '<g class="edge skipRange"><rect class="bar" x="184" y="-2.5" width="26" height="5" rx="2.5"/></g>'
    yield '<text x="218" y="4">skipRange</text>\n</g>\n'


def _at(point: Point) -> str:
    return f"{_n(point.x)} {_n(point.y)}"


def _n(value: float) -> str:
    """Format a coordinate with at most one decimal."""
    return f"{round(value, 1) + 0.0:.1f}".removesuffix(".0")


def _text(text: str) -> str:
    """Escape text of a catalog and put it on one line."""
    return escape(one_line(text))
