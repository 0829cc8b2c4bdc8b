"""Sets of versions as sorted, disjoint intervals, closed under union, intersection and complement.

The order of versions has no gaps to guess about: the version right after a release X.Y.Z is X.Y.(Z+1)-0,
the one right after a pre-release P is P.0, and the lowest of all is 0.0.0-0. "After v" is therefore the same
place as "before the next version of v", every set is a union of half-open intervals, and emptiness, equality
and inclusion are exact: `>1.0.0 <1.0.1-0` is empty because no version exists there.
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
    """A place between two neighbouring versions.

    Cuts are equal when no version lies between them; `version` and `after` only remember how it was written.
    """

    __slots__ = ("after", "key", "version")

    def __init__(self, key: Key, version: Version | None = None, *, after: bool = False) -> None:
        self.key: Final = key
        self.version: Final = version
        self.after: Final = after

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Cut) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"Cut({self.key}, {self.version!r}, after={self.after})"

    @classmethod
    def before(cls, version: Version) -> Cut:
        return cls(version.key, version)

    @classmethod
    def behind(cls, version: Version) -> Cut:
        return cls(_next_key(version), version, after=True)


def _next_key(version: Version) -> Key:
    """The key of the lowest version above this one."""
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
    """Where a set of versions starts or ends, and whether that version is in it."""

    version: Version
    inclusive: bool


class Interval(NamedTuple):
    """One unbroken run of versions; a bound of None is open without end."""

    low: Version | None
    low_inclusive: bool
    high: Version | None
    high_inclusive: bool


class IntervalSet:
    """A set of versions. `cuts` ascend strictly: the set begins at the first, stops at the second, and so on.

    Equal sets compare equal however they were made. With n cuts, membership costs log n comparisons, an
    operation on two sets one merge of their cuts.
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
        """The versions v for which "v operator version" holds; operators as blang normalises them."""
        before, behind = Cut.before(version), Cut.after(version)
        match operator:
            case "<":
                return cls.between(BOTTOM, before)
            case "<=":
                return cls.between(BOTTOM, behind)
            case ">":
                return cls.between(behind, TOP)
            case ">=":
                return cls.between(before, TOP)
            case "=":
                return cls.between(before, behind)
            case "!=":
                return ~cls.between(before, behind)
        raise ValueError(operator)

    @classmethod
    def union(cls, sets: Iterable[IntervalSet]) -> IntervalSet:
        """All of them in one; combined in pairs, so that many sets cost n log n rather than n squared."""
        return _in_pairs(or_, [cls(), *sets])

    @classmethod
    def intersection(cls, sets: Iterable[IntervalSet]) -> IntervalSet:
        """What they have in common; every version where there are none."""
        return _in_pairs(and_, [cls.all(), *sets])

    @property
    def is_empty(self) -> bool:
        """Whether no version, published or not, could ever be in the set."""
        return not self.cuts

    @property
    def is_unbounded_above(self) -> bool:
        return bool(self.cuts) and self.cuts[-1] == TOP

    @property
    def is_unbounded_below(self) -> bool:
        return bool(self.cuts) and self.cuts[0] == BOTTOM

    @property
    def upper_bound(self) -> Bound | None:
        """The end of the highest interval; None for a set that is empty or has no end."""
        cut = self.cuts[-1] if self.cuts else TOP
        return None if cut == TOP or cut.version is None else Bound(cut.version, cut.is_after)

    @property
    def lower_bound(self) -> Bound | None:
        """The start of the lowest interval; None for a set that is empty or has no start."""
        cut = self.cuts[0] if self.cuts else BOTTOM
        return None if cut == BOTTOM or cut.version is None else Bound(cut.version, not cut.is_after)

    def contains(self, version: Version) -> bool:
        return bisect_right(self.cuts, version.key, key=_key_of) % 2 == 1

    __contains__ = contains

    def index_ranges(self, versions: Sequence[Version]) -> list[tuple[int, int]]:
        """Which of these ascending versions are in the set: half-open index ranges, none empty.

        Cost: two binary searches an interval, whatever the number of versions.
        """
        places = [bisect_left(versions, cut.key, key=_key_of) for cut in self.cuts]
        return [(i, j) for i, j in zip(places[::2], places[1::2], strict=True) if i < j]

    def is_subset(self, other: IntervalSet) -> bool:
        return (self & ~other).is_empty

    def __or__(self, other: IntervalSet) -> IntervalSet:
        return self._combined(other, or_)

    def __and__(self, other: IntervalSet) -> IntervalSet:
        return self._combined(other, and_)

    def __invert__(self) -> IntervalSet:
        inner = self.cuts[self.is_unbounded_below : len(self.cuts) - self.is_unbounded_above]
        start = () if self.is_unbounded_below else (BOTTOM,)
        end = () if self.is_unbounded_above else (TOP,)
        return IntervalSet((*start, *inner, *end))

    def __iter__(self) -> Iterator[Interval]:
        for low, high in zip(self.cuts[::2], self.cuts[1::2], strict=True):
            yield Interval(
                low.version, low.version is not None and not low.is_after, high.version, high.is_after
            )

    def _combined(self, other: IntervalSet, keep: Callable[[bool, bool], bool]) -> IntervalSet:
        """A sweep from the lowest cut to the highest; `keep` says what to do between two of them."""
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


def _in_pairs(
    combine: Callable[[IntervalSet, IntervalSet], IntervalSet], sets: list[IntervalSet]
) -> IntervalSet:
    while len(sets) > 1:
        odd = sets[-1:] if len(sets) % 2 else []
        sets = [combine(a, b) for a, b in zip(sets[::2], sets[1::2], strict=False)] + odd
    return sets[0]
