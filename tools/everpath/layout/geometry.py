"""Coordinates of a drawing: one column for each node, ordered by version, and space for every edge.

No two nodes share a column, so a vertical stroke in a column crosses no other node. Chains of replaces are
rows. Skips lie above them and ranges below, each on a level that no other item uses over the same columns.
Cost: O((nodes + edges) · log nodes).
"""

from __future__ import annotations

__all__ = ["Band", "Layout", "Point", "Stroke", "compute_layout"]

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from everpath.graph import EdgeKind
from everpath.layout.diagram import CoveredRange, Diagram
from everpath.layout.levels import Levels
from everpath.layout.replaces_chains import ReplacesChain

#: With more columns, labels are slanted and columns closer.
MAX_FLAT_COLUMNS: Final = 12
#: Angle of slanted labels in degrees.
SLANT: Final = 50
#: Longer labels are cut.
MAX_LABEL_LENGTH: Final = 20

RADIUS: Final = 7
_MARGIN: Final = 24
_CHARACTER_WIDTH: Final = 6.7
#: Slanted columns share the width of a screen within these limits.
_MIN_PITCH: Final = 30.0
_MAX_PITCH: Final = 60.0
_SCREEN_WIDTH: Final = 960.0
_ROW_HEIGHT: Final = 36
#: Minimum space above and below the rows, where hops are drawn.
_MIN_SPACE: Final = 46
#: Distance of levels; smaller if they would need more than the maximum.
_LEVEL_HEIGHT: Final = 10.0
_MAX_LEVELS_HEIGHT: Final = 220.0


class Point(NamedTuple):
    x: float
    y: float


class Stroke(NamedTuple):
    """The drawing of one edge, of everything that one entry skips, or of one range.

    `paths` are polylines; the last one ends at the successor. `bars` are the columns that a range covers.
    """

    kind: EdgeKind
    successor: int
    targets: tuple[int, ...]
    paths: tuple[tuple[Point, ...], ...]
    bars: tuple[tuple[Point, Point], ...] = ()


class Band(NamedTuple):
    """The columns of one minor version, from left to right."""

    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Layout:
    """All coordinates. `axis` is the y coordinate of labels, `lane` the thickness of a bar."""

    width: float
    height: float
    axis: float
    is_slanted: bool
    spots: tuple[Point, ...]
    strokes: tuple[Stroke, ...]
    bands: tuple[Band, ...]
    lane: float


class _Comb(NamedTuple):
    """Edges that are drawn above the rows: from several columns up, across, and down to the successor."""

    kind: EdgeKind
    successor: int
    targets: tuple[int, ...]


def compute_layout(diagram: Diagram) -> Layout:
    """Return the coordinates of all nodes and edges of a diagram."""
    return _LayoutBuilder(diagram).build()


class _LayoutBuilder:
    """Assigns rows and levels first, then heights, then strokes."""

    def __init__(self, diagram: Diagram) -> None:
        self.diagram = diagram
        self.size = len(diagram.nodes)
        self.is_slanted = self.size > MAX_FLAT_COLUMNS
        longest = min(MAX_LABEL_LENGTH, max((len(node.label) for node in diagram.nodes), default=0))
        self.label_width = longest * _CHARACTER_WIDTH
        flat, slanted = max(72.0, self.label_width + 20), _SCREEN_WIDTH / max(1, self.size)
        self.pitch = round(min(_MAX_PITCH, max(_MIN_PITCH, slanted)), 1) if self.is_slanted else flat
        self._assign_rows()
        self._assign_combs()
        self._assign_ranges()
        self._measure()

    def _assign_rows(self) -> None:
        """Put the main chain into the first row. The shorter another chain is, the closer its row."""
        levels = Levels(self.size)
        main, *others = self.diagram.chains or (ReplacesChain(()),)
        self.rows: dict[int, int] = {}
        for chain in [main, *sorted(others, key=lambda c: (c.reach[1] - c.reach[0], c.reach))]:
            row = levels.place(*chain.reach) if chain.columns else 0
            self.rows.update(dict.fromkeys(chain.columns, row))
        self.row_count = max(1, levels.height)

    def _assign_combs(self) -> None:
        """Put skips, and replaces that leave a row, above the rows; the widest at the top."""
        chains = self.diagram.chains
        joined = {(chain.columns[-1], chain.joint) for chain in chains}
        chained = {pair for chain in chains for pair in pairwise(chain.columns)}
        combs = [
            _Comb(EdgeKind.REPLACES, new, (old,))
            for new, old in self.diagram.replaces.items()
            if (new, old) not in chained and (new, old) not in joined
        ]
        combs += [_Comb(EdgeKind.SKIPS, skips.successor, skips.targets) for skips in self.diagram.skips]
        combs.sort(key=lambda comb: _by_width(comb.successor, comb.targets))
        levels = Levels(self.size)
        self.combs = [(comb, levels.place(*_extent(comb.successor, comb.targets))) for comb in combs]
        self.comb_levels = levels.height

    def _assign_ranges(self) -> None:
        """Put ranges below the rows, the widest at the bottom."""
        levels = Levels(self.size)
        ordered = sorted(self.diagram.covered_ranges, key=lambda r: _by_width(r.successor, _run_ends(r)))
        self.ranges = [(r, levels.place(*_extent(r.successor, _run_ends(r)))) for r in ordered]
        self.range_levels = levels.height

    def _measure(self) -> None:
        self.comb_step = min(_LEVEL_HEIGHT, _MAX_LEVELS_HEIGHT / max(1, self.comb_levels))
        self.range_step = min(_LEVEL_HEIGHT, _MAX_LEVELS_HEIGHT / max(1, self.range_levels))
        rise = self.label_width * math.sin(math.radians(SLANT)) if self.is_slanted else 12
        self.axis = round(_MARGIN + rise, 1)
        self.top = round(self.axis + max(_MIN_SPACE, 26 + self.comb_levels * self.comb_step), 1)
        self.bottom = self.top + (self.row_count - 1) * _ROW_HEIGHT
        self.height = round(self.bottom + max(_MIN_SPACE, 26 + self.range_levels * self.range_step) + 8, 1)
        lean = self.label_width * math.cos(math.radians(SLANT)) if self.is_slanted else 0
        self.width = round(2 * _MARGIN + max(1, self.size) * self.pitch + lean, 1)

    def spot(self, column: int) -> Point:
        row = self.rows.get(column, 0)
        return Point(round(_MARGIN + (column + 0.5) * self.pitch, 1), self.top + row * _ROW_HEIGHT)

    def build(self) -> Layout:
        return Layout(
            width=self.width,
            height=self.height,
            axis=self.axis,
            is_slanted=self.is_slanted,
            spots=tuple(map(self.spot, range(self.size))),
            strokes=(*self._range_strokes(), *self._comb_strokes(), *self._chain_strokes()),
            bands=tuple(self._bands()),
            lane=round(min(5.0, self.range_step * 0.55), 2),
        )

    def _chain_strokes(self) -> Iterator[Stroke]:
        """Yield replaces along the rows. A chain that branches off turns in the column of its joint."""
        for chain in self.diagram.chains:
            for new, old in pairwise(chain.columns):
                yield Stroke(EdgeKind.REPLACES, new, (old,), ((self.spot(old), self.spot(new)),))
            if chain.joint is not None:
                new = chain.columns[-1]
                start, end = self.spot(chain.joint), self.spot(new)
                path = (start, Point(start.x, end.y), end)
                yield Stroke(EdgeKind.REPLACES, new, (chain.joint,), (path,))

    def _comb_strokes(self) -> Iterator[Stroke]:
        for comb, level in self.combs:
            height = round(self.top - 20 - level * self.comb_step, 1)
            yield Stroke(comb.kind, comb.successor, comb.targets, tuple(self._comb_paths(comb, height)))

    def _comb_paths(self, comb: _Comb, height: float) -> Iterator[tuple[Point, ...]]:
        """Yield a line up from each target; the outermost ones continue to the successor.

        Lines leave a target on the right and enter the successor on the left.
        """
        end = self.spot(comb.successor)
        landing = (Point(end.x - 3, height), Point(end.x - 3, end.y))
        lowest, highest = min(comb.targets), max(comb.targets)
        if highest < comb.successor:
            outermost = {lowest}
        else:
            outermost = {highest} if lowest > comb.successor else {lowest, highest}
        for target in sorted(comb.targets, key=lambda t: t in outermost):
            start = self.spot(target)
            up = (Point(start.x + 3, start.y), Point(start.x + 3, height))
            yield (*up, *landing) if target in outermost else up

    def _range_strokes(self) -> Iterator[Stroke]:
        for covered, level in self.ranges:
            end = self.spot(covered.successor)
            height = round(self.bottom + 24 + level * self.range_step, 1)
            bars = tuple(
                (Point(self.spot(first).x - 8, height), Point(self.spot(last).x + 8, height))
                for first, last in covered.runs
            )
            far = [point for bar in bars for point in bar] or [Point(end.x - 14, height)]
            path = (max(far, key=lambda p: abs(p.x - end.x)), Point(end.x, height), end)
            targets = tuple(column for run in covered.runs for column in run)
            yield Stroke(EdgeKind.RANGE, covered.successor, targets, (path,), bars)

    def _bands(self) -> Iterator[Band]:
        start, nodes = 0, self.diagram.nodes
        for column in range(1, self.size + 1):
            if column == self.size or nodes[column].stream != nodes[start].stream:
                yield Band(round(_MARGIN + start * self.pitch, 1), round(_MARGIN + column * self.pitch, 1))
                start = column


def _extent(successor: int, targets: tuple[int, ...]) -> tuple[int, int]:
    return min(successor, *targets), max(successor, *targets)


def _run_ends(covered: CoveredRange) -> tuple[int, ...]:
    """Return the first and last columns of all runs. A range without runs lies below its own entry."""
    return tuple(c for run in covered.runs for c in run) or (covered.successor,)


def _by_width(successor: int, targets: tuple[int, ...]) -> tuple[int, int, int]:
    first, last = _extent(successor, targets)
    return last - first, successor, first
