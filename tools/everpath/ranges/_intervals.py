"""Sets of versions as sorted, disjoint intervals, closed under union, intersection and complement.

Every version has a next one: after a release X.Y.Z comes X.Y.(Z+1)-0, after a pre-release P comes P.0, and
the lowest version is 0.0.0-0. "After v" is therefore the same bound as "before the next version of v", every
set is a union of half-open intervals, and emptiness, equality and inclusion are exact: `>1.0.0 <1.0.1-0` is
empty, because no such version exists.
"""

from __future__ import annotations

__all__ = ["Bound", "Cut", "Interval", "IntervalSet"]

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from operator import and_, attrgetter, or_
from typing import Final, NamedTuple

from everpath.versions import UINT64_MAX, Key, Version

_key_of = attrgetter("key")
_ZERO: Final = (0, 0)


class Cut:
    """A bound between two consecutive versions.

    `key` is the key of the version after the cut; cuts with equal keys are equal. `version` and `is_after`
    are the bound as written, for example `>1.0.0`.
    """

    __slots__ = ("is_after", "key", "version")

    def __init__(self, key: Key, version: Version | None = None, *, is_after: bool = False) -> None:
        self.key: Final = key
        self.version: Final = version
        self.is_after: Final = is_after

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Cut) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Cut({self.key}, {self.version!r}, is_after={self.is_after})"

    @classmethod
    def before(cls, version: Version) -> Cut:
        return cls(version.key, version)

    @classmethod
    def after(cls, version: Version) -> Cut:
        return cls(_next_key(version), version, is_after=True)


def _next_key(version: Version) -> Key:
    """Return the key of the lowest version above a version."""
    major, minor, patch = version.major, version.minor, version.patch
    if version.prerelease:
        return (*version.key, _ZERO)
    if patch < UINT64_MAX:
        return (major, minor, patch + 1, 0, _ZERO)
    if minor < UINT64_MAX:
        return (major, minor + 1, 0, 0, _ZERO)
    return (major + 1, 0, 0, 0, _ZERO)


BOTTOM: Final = Cut((0, 0, 0, 0, _ZERO))
TOP: Final = Cut((UINT64_MAX + 1, 0, 0, 0, _ZERO))


class Bound(NamedTuple):
    """The first or last version of a set, and whether the set includes it."""

    version: Version
    inclusive: bool


class Interval(NamedTuple):
    """An interval of versions. A bound of None means that the interval is unbounded there."""

    low: Version | None
    low_inclusive: bool
    high: Version | None
    high_inclusive: bool


class IntervalSet:
    """A set of versions. It starts at the first of the ascending `cuts`, ends at the second, and so on.

    Sets with the same versions are equal. With n cuts, membership costs log n comparisons, and an operation
    on two sets costs one merge of their cuts.
    """

    __slots__ = ("cuts",)

    def __init__(self, cuts: tuple[Cut, ...] = ()) -> None:
        self.cuts: Final = cuts

    def __eq__(self, other: object) -> bool:
        return self.cuts == other.cuts if isinstance(other, IntervalSet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.cuts)

    def __repr__(self) -> str:
        return f"IntervalSet({self.cuts})"

    @classmethod
    def between(cls, low: Cut, high: Cut) -> IntervalSet:
        return cls((low, high)) if low.key < high.key else cls()

    @classmethod
    def all(cls) -> IntervalSet:
        return cls((BOTTOM, TOP))

    @classmethod
    def from_comparison(cls, operator: str, version: Version) -> IntervalSet:
        """Return the versions v for which `v operator version` is true. Raises ValueError."""
        before, after = Cut.before(version), Cut.after(version)
        match operator:
            case "<":
                return cls.between(BOTTOM, before)
            case "<=":
                return cls.between(BOTTOM, after)
            case ">":
                return cls.between(after, TOP)
            case ">=":
                return cls.between(before, TOP)
            case "=":
                return cls.between(before, after)
            case "!=":
                return ~cls.between(before, after)
        raise ValueError(operator)

    @classmethod
    def union(cls, sets: Iterable[IntervalSet]) -> IntervalSet:
        """Return the union of sets, in n log n."""
        return _reduce_pairwise(or_, [cls(), *sets])

    @classmethod
    def intersection(cls, sets: Iterable[IntervalSet]) -> IntervalSet:
        """Return the intersection of sets, in n log n; all versions if there are no sets."""
        return _reduce_pairwise(and_, [cls.all(), *sets])

    @property
    def is_empty(self) -> bool:
        """Whether no version can be in the set, published or not."""
        return not self.cuts

    @property
    def is_unbounded_above(self) -> bool:
        return bool(self.cuts) and self.cuts[-1] == TOP

    @property
    def is_unbounded_below(self) -> bool:
        return bool(self.cuts) and self.cuts[0] == BOTTOM

    @property
    def upper_bound(self) -> Bound | None:
        """The end of the highest interval; None for an empty set and for one that is unbounded above."""
        cut = self.cuts[-1] if self.cuts else TOP
        return None if cut == TOP or cut.version is None else Bound(cut.version, cut.is_after)

    @property
    def lower_bound(self) -> Bound | None:
        """The start of the lowest interval; None for an empty set and for one that is unbounded below."""
        cut = self.cuts[0] if self.cuts else BOTTOM
        return None if cut == BOTTOM or cut.version is None else Bound(cut.version, not cut.is_after)

    def contains(self, version: Version) -> bool:
        return bisect_right(self.cuts, version.key, key=_key_of) % 2 == 1

    __contains__ = contains

    def index_ranges(self, versions: Sequence[Version]) -> list[tuple[int, int]]:
        """Return which of these ascending versions are in the set, as non-empty half-open index ranges.

        Cost: two binary searches for each interval.
        """
        indexes = [bisect_left(versions, cut.key, key=_key_of) for cut in self.cuts]
        return [(i, j) for i, j in zip(indexes[::2], indexes[1::2], strict=True) if i < j]

    def is_subset(self, other: IntervalSet) -> bool:
        return (self & ~other).is_empty

    def __or__(self, other: IntervalSet) -> IntervalSet:
        return self._combine(other, or_)

    def __and__(self, other: IntervalSet) -> IntervalSet:
        return self._combine(other, and_)

    def __invert__(self) -> IntervalSet:
        inner = self.cuts[self.is_unbounded_below : len(self.cuts) - self.is_unbounded_above]
        start = () if self.is_unbounded_below else (BOTTOM,)
        end = () if self.is_unbounded_above else (TOP,)
        return IntervalSet((*start, *inner, *end))

    def __iter__(self) -> Iterator[Interval]:
        for low, high in zip(self.cuts[::2], self.cuts[1::2], strict=True):
            low_inclusive = low.version is not None and not low.is_after
            yield Interval(low.version, low_inclusive, high.version, high.is_after)

    def _combine(self, other: IntervalSet, keep: Callable[[bool, bool], bool]) -> IntervalSet:
        """Sweep over the cuts of both sets. `keep` says whether the versions up to the next cut are kept."""
        mine, theirs = frozenset(self.cuts), frozenset(other.cuts)
        in_mine = in_theirs = inside = False
        cuts = []
        for cut in sorted(mine | theirs, key=_key_of):
            in_mine ^= cut in mine
            in_theirs ^= cut in theirs
            if keep(in_mine, in_theirs) != inside:
                inside = not inside
                cuts.append(cut)
        return IntervalSet(tuple(cuts))


def _reduce_pairwise(
    combine: Callable[[IntervalSet, IntervalSet], IntervalSet], sets: list[IntervalSet]
) -> IntervalSet:
    while len(sets) > 1:
        odd = sets[-1:] if len(sets) % 2 else []
        sets = [combine(a, b) for a, b in zip(sets[::2], sets[1::2], strict=False)] + odd
    return sets[0]
