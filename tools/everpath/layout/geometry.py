"""Coordinates for a picture: a column for each node, left to right by version, and room for every edge.

No two nodes share a column, so an upright stroke in a column meets no node but its own. Lines of replaces lie
in rows of their own; above them what is skipped, below them what ranges cover, each on a level that nothing
else has over the same columns. Cost: O((nodes + edges) · log nodes).
"""

from __future__ import annotations

__all__ = ["Band", "Layout", "Point", "Stroke", "layout"]

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import Final, NamedTuple

from everpath.graph import EdgeKind
from everpath.layout.replaces_chains import Line
from everpath.layout.diagram import Picture, Reach
from everpath.layout.levels import Stack

#: Up to so many columns have labels that lie flat; more stand closer, their labels slanted.
FEW: Final = 12
#: Degrees by which slanted labels rise.
SLANT: Final = 50
#: Characters of a label that are shown.
LONGEST_LABEL: Final = 20

RADIUS: Final = 7
_MARGIN: Final = 24
_CHARACTER: Final = 6.7
#: Slanted columns share a screen as long as they can, and are never closer than their labels allow.
_PITCH: Final = 30.0
_WIDEST: Final = 60.0
_SCREEN: Final = 960.0
_ROW: Final = 36
#: Where roads are lit: at least so much is left free above the rows and below them.
_SKY: Final = 46
#: Levels keep this distance, or less where so many would take more than the most.
_LEVEL: Final = 10.0
_MOST_SKY: Final = 220.0


class Point(NamedTuple):
    x: float
    y: float


class Stroke(NamedTuple):
    """The drawing of one edge, of all that one entry skips, or of one range.

    `paths` are corners to be joined; the last of `paths` ends at the successor if `has_tip`. `bars` are the
    stretches that a range covers.
    """

    kind: EdgeKind
    successor: int
    targets: tuple[int, ...]
    paths: tuple[tuple[Point, ...], ...]
    bars: tuple[tuple[Point, Point], ...] = ()
    has_tip: bool = True


class Band(NamedTuple):
    """The columns of one minor version, from its left to its right."""

    left: float
    right: float


@dataclass(frozen=True, slots=True)
class Layout:
    """Where everything is. `axis` is the height at which labels stand, `lane` the thickness of a bar."""

    width: float
    height: float
    axis: float
    is_slanted: bool
    spots: tuple[Point, ...]
    strokes: tuple[Stroke, ...]
    bands: tuple[Band, ...]
    lane: float


def layout(picture: Picture) -> Layout:
    """Places for all nodes and edges of a picture."""
    return _Plan(picture).drawn()


class _Plan:
    """A layout in the making: rows and levels first, then heights, then strokes."""

    def __init__(self, picture: Picture) -> None:
        self.picture = picture
        self.size = len(picture.nodes)
        self.is_slanted = self.size > FEW
        self.longest = min(LONGEST_LABEL, max((len(node.label) for node in picture.nodes), default=0))
        flat, slanted = max(72.0, self.longest * _CHARACTER + 20), _SCREEN / max(1, self.size)
        self.pitch = round(min(_WIDEST, max(_PITCH, slanted)), 1) if self.is_slanted else flat
        self._stack_rows()
        self._stack_sky()
        self._stack_ground()
        self._measure()

    def _stack_rows(self) -> None:
        """The main line at the top; the shorter another is, the closer it lies."""
        rows = Stack(self.size)
        main, *others = self.picture.lines or (Line(()),)
        self.rows: dict[int, int] = {}
        for line in [main, *sorted(others, key=lambda each: (each.reach[1] - each.reach[0], each.reach))]:
            row = rows.place(*line.reach) if line.columns else 0
            self.rows.update(dict.fromkeys(line.columns, row))
        self.row_count = max(1, rows.height)

    def _stack_sky(self) -> None:
        """Combs over what is skipped, and the replaces that go back; the widest at the top."""
        joined = {(line.columns[-1], line.joint) for line in self.picture.lines}
        chained = {pair for line in self.picture.lines for pair in pairwise(line.columns)}
        combs: list[tuple[EdgeKind, int, tuple[int, ...]]] = [
            (EdgeKind.REPLACES, new, (old,))
            for new, old in self.picture.replaces.items()
            if (new, old) not in chained and (new, old) not in joined
        ]
        combs += [(EdgeKind.SKIPS, skips.successor, skips.targets) for skips in self.picture.skips]
        sky = Stack(self.size)
        self.combs = [(*comb, sky.place(*_extent(comb[1], comb[2]))) for comb in sorted(combs, key=_by_width)]
        self.sky_levels = sky.height

    def _stack_ground(self) -> None:
        """Ranges, the widest at the bottom."""
        ground = Stack(self.size)
        ordered = sorted(self.picture.reaches, key=lambda reach: _by_width((0, *_ends(reach))))
        self.reaches = [(reach, ground.place(*_extent(*_ends(reach)))) for reach in ordered]
        self.ground_levels = ground.height

    def _measure(self) -> None:
        self.sky_step = min(_LEVEL, _MOST_SKY / max(1, self.sky_levels))
        self.ground_step = min(_LEVEL, _MOST_SKY / max(1, self.ground_levels))
        rise = self.longest * _CHARACTER * math.sin(math.radians(SLANT)) if self.is_slanted else 12
        self.axis = round(_MARGIN + rise, 1)
        self.top = round(self.axis + max(_SKY, 26 + self.sky_levels * self.sky_step), 1)
        self.bottom = self.top + (self.row_count - 1) * _ROW
        self.height = round(self.bottom + max(_SKY, 26 + self.ground_levels * self.ground_step) + 8, 1)
        lean = self.longest * _CHARACTER * math.cos(math.radians(SLANT)) if self.is_slanted else 0
        self.width = round(2 * _MARGIN + max(1, self.size) * self.pitch + lean, 1)

    def spot(self, column: int) -> Point:
        return Point(
            round(_MARGIN + (column + 0.5) * self.pitch, 1), self.top + self.rows.get(column, 0) * _ROW
        )

    def drawn(self) -> Layout:
        strokes = (*self._ranged(), *self._combed(), *self._lined())
        return Layout(
            width=self.width,
            height=self.height,
            axis=self.axis,
            is_slanted=self.is_slanted,
            spots=tuple(map(self.spot, range(self.size))),
            strokes=strokes,
            bands=tuple(self._bands()),
            lane=round(min(5.0, self.ground_step * 0.55), 2),
        )

    def _lined(self) -> Iterator[Stroke]:
        """Replaces along the rows; at a joint the line turns in the joint's column."""
        for line in self.picture.lines:
            for new, old in pairwise(line.columns):
                yield self._stroke(new, old, (self.spot(old), self.spot(new)))
            if line.joint is not None:
                new, start = line.columns[-1], self.spot(line.joint)
                end = self.spot(new)
                yield self._stroke(new, line.joint, (start, Point(start.x, end.y), end))

    def _stroke(self, new: int, old: int, path: tuple[Point, ...]) -> Stroke:
        return Stroke(EdgeKind.REPLACES, new, (old,), (path,))

    def _combed(self) -> Iterator[Stroke]:
        for kind, successor, targets, level in self.combs:
            height = round(self.top - 20 - level * self.sky_step, 1)
            yield Stroke(kind, successor, targets, tuple(self._teeth(successor, targets, height)))

    def _teeth(self, successor: int, targets: tuple[int, ...], height: float) -> Iterator[tuple[Point, ...]]:
        """What is skipped goes up on the right of its node, the successor is entered on the left."""
        end = self.spot(successor)
        landing = (Point(end.x - 3, height), Point(end.x - 3, end.y))
        lowest, highest = min(targets), max(targets)
        turning = {lowest} if highest < successor else {highest} if lowest > successor else {lowest, highest}
        for target in sorted(targets, key=lambda t: t in turning):
            start = self.spot(target)
            tooth = (Point(start.x + 3, start.y), Point(start.x + 3, height))
            yield (*tooth, *landing) if target in turning else tooth

    def _ranged(self) -> Iterator[Stroke]:
        for reach, level in self.reaches:
            end = self.spot(reach.successor)
            height = round(self.bottom + 24 + level * self.ground_step, 1)
            bars = tuple(self._bar(first, last, height) for first, last in reach.runs)
            far = [bar for pair in bars for bar in pair] or [Point(end.x - 14, height)]
            path = (max(far, key=lambda p: abs(p.x - end.x)), Point(end.x, height), end)
            targets = tuple(column for run in reach.runs for column in run)
            yield Stroke(EdgeKind.RANGE, reach.successor, targets, (path,), bars)

    def _bar(self, first: int, last: int, height: float) -> tuple[Point, Point]:
        return Point(self.spot(first).x - 8, height), Point(self.spot(last).x + 8, height)

    def _bands(self) -> Iterator[Band]:
        start, nodes = 0, self.picture.nodes
        for column in range(1, self.size + 1):
            if column == self.size or nodes[column].stream != nodes[start].stream:
                yield Band(round(_MARGIN + start * self.pitch, 1), round(_MARGIN + column * self.pitch, 1))
                start = column


def _extent(successor: int, targets: tuple[int, ...]) -> tuple[int, int]:
    return min(successor, *targets), max(successor, *targets)


def _ends(reach: Reach) -> tuple[int, tuple[int, ...]]:
    """A range that covers nobody still takes the place below its own entry."""
    return reach.successor, tuple(c for run in reach.runs for c in run) or (reach.successor,)


def _by_width(comb: tuple[object, int, tuple[int, ...]]) -> tuple[int, int, int]:
    first, last = _extent(comb[1], comb[2])
    return last - first, comb[1], first
