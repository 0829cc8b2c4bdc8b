"""Describes a range in words: what it matches, whether it matches pre-releases, and its hazards.

The sentences are derived from the set of matched versions, so ranges that match the same have the same ones.
"""

from __future__ import annotations

__all__ = ["PublishedVersions", "RangeExplanation", "explain_range"]

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from everpath.ranges._hazards import Hazard
from everpath.ranges._intervals import Cut, Interval, IntervalSet
from everpath.ranges._range import Range
from everpath.versions import Version, parse, underline

# The time for all sentences grows with the square of this.
_MAX_BOUNDS: Final = 20

# The text output names at most this many; -o json has all versions.
_MAX_VERSIONS: Final = 20

_EVERY: Final = "every version "


class PublishedVersions(NamedTuple):
    """The versions of a catalog by what a range does with them, each group in ascending order."""

    matched: tuple[Version, ...]
    unmatched: tuple[Version, ...]
    crashing: tuple[Version, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """Number and names of each group. Groups without versions are left out, except the matched ones."""
        total = len(self.matched) + len(self.unmatched) + len(self.crashing)
        lines = [f"matches {len(self.matched)} of {total} published versions{_list_versions(self.matched)}"]
        if self.unmatched:
            lines.append(f"does not match {len(self.unmatched)}{_list_versions(self.unmatched)}")
        if self.crashing:
            lines.append(f"crashes OLM's resolver on {len(self.crashing)}{_list_versions(self.crashing)}")
        return tuple(lines)


class RangeExplanation(NamedTuple):
    """The description of a range, part by part."""

    text: str
    meaning: tuple[str, ...]
    prereleases: tuple[str, ...]
    hazards: tuple[Hazard, ...]
    published: PublishedVersions | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """The whole description: meaning, pre-releases, published versions, hazards with carets."""
        lines = [*self.meaning, *self.prereleases]
        if self.published is not None:
            lines.extend(self.published.lines)
        for hazard in self.hazards:
            lines.extend(("", *underline(self.text, *hazard.span, hazard.message).split("\n")))
            if hazard.fix is not None:
                lines.append(f"write '{hazard.fix}'")
        return tuple(lines)


def explain_range(version_range: Range, published: Iterable[Version] | None = None) -> RangeExplanation:
    """Describe a range in sentences. With published versions, also say which of them it matches."""
    return RangeExplanation(
        version_range.text,
        tuple(_describe_meaning(version_range)),
        tuple(_describe_prereleases(version_range.intervals)),
        version_range.hazards,
        None if published is None else _group_versions(version_range, published),
    )


def _describe_meaning(version_range: Range) -> Iterator[str]:
    matched = version_range.intervals
    exceptions = [version for interval in ~matched if (version := _single_version(interval)) is not None]
    if matched.is_empty:
        yield "matches no version"
    elif matched == IntervalSet.all():
        yield "matches every version"
    elif len(exceptions) == len((~matched).cuts) // 2:
        yield f"matches every version except {_join_with_and(map(_without_build, exceptions))}"
    else:
        # Of two phrases in a row that begin with "every version", the second is shortened.
        phrases = [_describe_interval(interval) for interval in matched]
        shortened = (
            phrase.removeprefix(_EVERY) if previous.startswith(_EVERY) else phrase
            for previous, phrase in zip(["", *phrases], phrases, strict=False)
        )
        yield f"matches {', or '.join(shortened)}"
    if version_range.can_panic and matched != IntervalSet.all():
        yield "crashes OLM's resolver on every other version"


def _describe_interval(interval: Interval) -> str:
    low = _without_build(interval.low) if interval.low else None
    high = _without_build(interval.high) if interval.high else None
    if _single_version(interval) is not None:
        return f"exactly {low}"
    if low is not None and high is not None:
        start = "included" if interval.low_inclusive else "excluded"
        end = "included" if interval.high_inclusive else "excluded"
        return f"{_EVERY}from {low} ({start}) to {high} ({end})"
    if low is not None:
        return f"{_EVERY}from {low} on" if interval.low_inclusive else f"{_EVERY}above {low}"
    return f"{_EVERY}up to {high} (included)" if interval.high_inclusive else f"{_EVERY}below {high}"


def _single_version(interval: Interval) -> Version | None:
    """Return the version of an interval that has only one."""
    is_closed = interval.low_inclusive and interval.high_inclusive
    return interval.low if is_closed and interval.low == interval.high else None


def _without_build(version: Version) -> str:
    return version.text.partition("+")[0]


def _describe_prereleases(matched: IntervalSet) -> Iterator[str]:
    """Yield a sentence for each release at a bound, and one for the versions between bounds."""
    bounds = {bound for interval in matched for bound in (interval.low, interval.high) if bound is not None}
    releases = sorted({parse(f"{bound.major}.{bound.minor}.{bound.patch}") for bound in bounds})
    for release in releases[:_MAX_BOUNDS]:
        yield _describe_prereleases_of(release, matched)
    if len(releases) > _MAX_BOUNDS:
        yield f"and {len(releases) - _MAX_BOUNDS} more bounds"
    if any(_single_version(interval) is None for interval in matched):
        yield "all other pre-releases within the range are matched"


def _describe_prereleases_of(release: Version, matched: IntervalSet) -> str:
    example = f"such as {release}-rc.1"
    prereleases = IntervalSet.between(Cut.before(parse(f"{release}-0")), Cut.before(release))
    matched_prereleases = matched & prereleases
    if matched_prereleases.is_empty:
        hint = f"; >={release}-0 would include them" if _starts_at(release, matched) else ""
        return f"pre-releases of {release}, {example}, are not matched{hint}"
    if matched_prereleases == prereleases:
        hint = f"; <{release}-0 would exclude them" if _ends_before(release, matched) else ""
        return f"pre-releases of {release}, {example}, are matched{hint}"
    phrases = map(_describe_interval, matched_prereleases)
    return f"of the pre-releases of {release}, it matches {_join_with_and(phrases)}"


def _starts_at(release: Version, matched: IntervalSet) -> bool:
    """Return whether an interval of more than one version starts with this release."""
    return any(
        interval.low_inclusive and interval.low == release != _single_version(interval)
        for interval in matched
    )


def _ends_before(release: Version, matched: IntervalSet) -> bool:
    """Return whether an interval ends before this release and none continues right after it."""
    continues = Cut.after(release) in matched.cuts
    return not continues and any(i.high == release and not i.high_inclusive for i in matched)


def _group_versions(version_range: Range, published: Iterable[Version]) -> PublishedVersions:
    matched: list[Version] = []
    unmatched: list[Version] = []
    crashing: list[Version] = []
    for version in sorted(published):
        if version_range.panics_on(version):
            crashing.append(version)
        elif version_range.contains(version):
            matched.append(version)
        else:
            unmatched.append(version)
    return PublishedVersions(tuple(matched), tuple(unmatched), tuple(crashing))


def _list_versions(versions: tuple[Version, ...]) -> str:
    if not versions:
        return ""
    more = len(versions) - _MAX_VERSIONS
    names = ", ".join(map(str, versions[:_MAX_VERSIONS]))
    return f": {names} and {more:,} more (-o json lists them)" if more > 0 else f": {names}"


def _join_with_and(words: Iterable[str]) -> str:
    *rest, last = words
    return f"{', '.join(rest)} and {last}" if rest else last
