"""A range in words: what it matches, what becomes of pre-releases, what it does without saying so.

Sentences are made from the set of versions the range matches, not from its text, so that they hold for
every way to write it.
"""

from __future__ import annotations

__all__ = ["PublishedVersions", "RangeExplanation", "explain_range"]

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from everpath.ranges._hazards import Hazard
from everpath.ranges._intervals import Cut, Interval, IntervalSet
from everpath.ranges._range import Range
from everpath.versions import Version, parse, underline

# Nobody reads further, and each sentence looks at the whole set.
_MOST_BOUNDS: Final = 20

# Of the versions of a catalog more would bury the sentences; -o json has them all.
_MOST_VERSIONS: Final = 20

_EVERY: Final = "every version "


class PublishedVersions(NamedTuple):
    """What a range does to the versions there are, lowest first."""

    matched: tuple[Version, ...]
    unmatched: tuple[Version, ...]
    crashing: tuple[Version, ...]

    @property
    def lines(self) -> tuple[str, ...]:
        """How many and which; a group without members is not mentioned, except that nothing matches."""
        total = len(self.matched) + len(self.unmatched) + len(self.crashing)
        said = [f"published versions matched, {len(self.matched)} of {total}{_listed(self.matched)}"]
        if self.unmatched:
            said.append(f"not matched, {len(self.unmatched)}{_listed(self.unmatched)}")
        if self.crashing:
            said.append(f"crashing OLM's resolver, {len(self.crashing)}{_listed(self.crashing)}")
        return tuple(said)


class RangeExplanation(NamedTuple):
    """Everything there is to say about a range, part by part."""

    text: str
    meaning: tuple[str, ...]
    prereleases: tuple[str, ...]
    hazards: tuple[Hazard, ...]
    published: PublishedVersions | None = None

    @property
    def lines(self) -> tuple[str, ...]:
        """All of it as lines of text: meaning, pre-releases, published versions, hazards with carets."""
        said = [*self.meaning, *self.prereleases]
        if self.published is not None:
            said.extend(self.published.lines)
        for hazard in self.hazards:
            said.extend(("", *underline(self.text, *hazard.span, hazard.message).split("\n")))
            if hazard.fix is not None:
                said.append(f"write '{hazard.fix}'")
        return tuple(said)


def explain_range(span: Range, published: Iterable[Version] | None = None) -> RangeExplanation:
    """The range in sentences; with published versions, also which of them it matches.

    Cost: a few sentences for each bound, and one evaluation for each published version.
    """
    return RangeExplanation(
        span.text,
        tuple(_meaning(span)),
        tuple(_prereleases(span.intervals)),
        span.hazards,
        None if published is None else _sorted_out(span, published),
    )


def _meaning(span: Range) -> Iterator[str]:
    matched = span.intervals
    exceptions = [point for interval in ~matched if (point := _only(interval)) is not None]
    if matched.is_empty:
        yield "matches no version at all"
    elif matched == IntervalSet.all():
        yield "matches every version"
    elif len(exceptions) == len((~matched).cuts) // 2:
        yield f"matches every version except {_joined(map(str, map(_without_build, exceptions)), 'and')}"
    else:
        yield f"matches {_alternatives(list(map(_in_words, matched)))}"
    if span.can_panic and matched != IntervalSet.all():
        yield "crashes OLM's resolver on every other version"


def _alternatives(phrases: list[str]) -> str:
    """`every version below 0.5.0, or from 1.0.0 on`: what two neighbours begin with is said once."""
    pairs = zip(["", *phrases], phrases, strict=False)
    said = [phrase.removeprefix(_EVERY) if before.startswith(_EVERY) else phrase for before, phrase in pairs]
    return ", or ".join(said)


def _in_words(interval: Interval) -> str:
    low, high = _without_build(interval.low), _without_build(interval.high)
    if _only(interval) is not None:
        return f"exactly {low}"
    if low is not None and high is not None:
        start = "included" if interval.low_inclusive else "excluded"
        end = "included" if interval.high_inclusive else "excluded"
        return f"{_EVERY}from {low} ({start}) to {high} ({end})"
    if low is not None:
        return f"{_EVERY}from {low} on" if interval.low_inclusive else f"{_EVERY}above {low}"
    return f"{_EVERY}up to {high} (included)" if interval.high_inclusive else f"{_EVERY}below {high}"


def _only(interval: Interval) -> Version | None:
    """The single version of an interval that has just one."""
    is_closed = interval.low_inclusive and interval.high_inclusive
    return interval.low if is_closed and interval.low == interval.high else None


def _without_build(version: Version | None) -> str | None:
    return None if version is None else version.text.partition("+")[0]


def _prereleases(matched: IntervalSet) -> Iterator[str]:
    """One sentence for each release at a bound, then one for what lies between bounds."""
    bounds = {bound for interval in matched for bound in (interval.low, interval.high) if bound is not None}
    releases = sorted({_release(bound) for bound in bounds})
    for release in releases[:_MOST_BOUNDS]:
        yield _at_release(release, matched)
    if len(releases) > _MOST_BOUNDS:
        yield f"and {len(releases) - _MOST_BOUNDS} more bounds"
    if any(_only(interval) is None for interval in matched):
        yield "anywhere inside, a pre-release is matched like any other version"


def _at_release(release: Version, matched: IntervalSet) -> str:
    example = f"such as {release}-rc.1"
    all_of_them = IntervalSet.between(Cut.before(parse(f"{release}-0")), Cut.before(release))
    among = matched & all_of_them
    if among.is_empty:
        advice = f"; >={release}-0 would include them" if _starts_at(release, matched) else ""
        return f"pre-releases of {release}, {example}, are not matched{advice}"
    if among == all_of_them:
        advice = f"; <{release}-0 would leave them out" if _stops_at(release, matched) else ""
        return f"pre-releases of {release}, {example}, are matched{advice}"
    return f"of the pre-releases of {release}, it matches {_joined(map(_in_words, among), 'and')}"


def _starts_at(release: Version, matched: IntervalSet) -> bool:
    """Whether an interval of more than one version begins with this release."""
    return any(interval.low_inclusive and interval.low == release != _only(interval) for interval in matched)


def _stops_at(release: Version, matched: IntervalSet) -> bool:
    """Whether an interval ends before this release, and none goes on right behind it."""
    goes_on = Cut.after(release) in matched.cuts
    return not goes_on and any(i.high == release and not i.high_inclusive for i in matched)


def _release(version: Version) -> Version:
    return parse(f"{version.major}.{version.minor}.{version.patch}")


def _sorted_out(span: Range, published: Iterable[Version]) -> PublishedVersions:
    matched: list[Version] = []
    unmatched: list[Version] = []
    crashing: list[Version] = []
    for version in sorted(published):
        if span.panics_on(version):
            crashing.append(version)
        else:
            (matched if span.contains(version) else unmatched).append(version)
    return PublishedVersions(tuple(matched), tuple(unmatched), tuple(crashing))


def _listed(versions: tuple[Version, ...]) -> str:
    if not versions:
        return ""
    more = len(versions) - _MOST_VERSIONS
    named = ", ".join(map(str, versions[:_MOST_VERSIONS]))
    return f": {named} and {more:,} more (-o json lists them)" if more > 0 else f": {named}"


def _joined(words: Iterable[str], conjunction: str) -> str:
    *rest, last = words
    return f"{', '.join(rest)} {conjunction} {last}" if rest else last
