"""Skip ranges: what they say, what blang's parser makes of it, and whom they cover."""

from __future__ import annotations

__all__ = [
    "range_blank",
    "range_empty",
    "range_hazard",
    "range_includes_newer",
    "range_includes_self",
    "range_matches_nothing",
    "range_open_ended",
    "range_panics",
    "range_unparsable",
]

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Final

from everpath.graph import ChannelGraph
from everpath.model import Entry
from everpath.ranges import Hazard, HazardKind, Range, RangeError
from everpath.rules.edits import Edit, cap_range, set_range
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import channel_rule
from everpath.versions import underline
from everpath.wording import join_names, plural

#: Victims of a crash that a finding names.
_MOST_VICTIMS: Final = 8


def _ranged(graph: ChannelGraph) -> Iterator[tuple[Entry, Range]]:
    """Entries whose range parses."""
    for name, span in graph.ranges.items():
        yield graph.entries[name], span


@channel_rule("EP301", "range-unparsable", Severity.ERROR)
def range_unparsable(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every skipRange is a range that blang/semver, OLM's parser, accepts.

    OLM ignores one it cannot read as if it were not there; opm refuses the catalog.
    Cost: one parse for each distinct range.
    """
    for entry in graph.entries.values():
        if not (entry.skip_range or "").strip():
            continue
        try:
            Range.parse(entry.skip_range or "")
        except RangeError as error:
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} does not parse: {error.reason}",
                because=(
                    *underline(error.text, *error.span, error.reason).splitlines(),
                    "OLM ignores a range it cannot read: nobody is offered this entry by it",
                ),
                fix=_rewritten(graph, entry, error.fix) or "write a range such as '>=1.0.0 <1.2.0'",
                entry=entry.name,
            )


def _rewritten(graph: ChannelGraph, entry: Entry, text: str | None) -> Edit | None:
    """A range as it was probably meant; where that does harm, as much of it as is below its own entry."""
    if not text:
        return None
    below = cap_range(graph, entry.name, Range.parse(text).intervals)
    return set_range(entry, text)._replace(fallback=below)


@channel_rule("EP302", "range-panics", Severity.ERROR)
def range_panics(graph: ChannelGraph) -> Iterator[Flaw]:
    """No skipRange has an empty arm between two `||`.

    The parser accepts it, and OLM's resolver crashes as soon as it is asked about a version that no
    earlier arm matches. opm accepts it too. Cost: one look at each range.
    """
    for entry, span in _ranged(graph):
        if span.can_panic:
            spans = (~span.intervals).index_ranges(graph.sorted_versions)
            count = sum(end - start for start, end in spans)
            first = (graph.by_version[i] for i in islice(_places(spans), _MOST_VICTIMS))
            victims = join_names(first, _MOST_VICTIMS, total=count)
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} crashes OLM: {entry.skip_range!r} has nothing between two ||",
                because=(f"asked about {victims}, the resolver dereferences nil",) if count else (),
                fix=_rewritten(graph, entry, _without_empty_arms(span.text)),
                entry=entry.name,
            )


def _places(spans: Iterable[tuple[int, int]]) -> Iterator[int]:
    return (i for start, end in spans for i in range(start, end))


def _without_empty_arms(text: str) -> str:
    return " || ".join(arm.strip() for arm in text.split("||") if arm.strip())


@channel_rule("EP303", "range-hazard", Severity.WARNING)
def range_hazard(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange means what it seems to mean.

    blang drops one-letter words, reads any x as a wildcard and knows no hyphen ranges, all in silence.
    Cost: one look at each range.
    """
    for entry, span in _ranged(graph):
        if hazards := _misreadings(span):
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} does not mean what it says: {hazards[0].message}",
                because=tuple(h.message for h in hazards[1:]),
                fix=_rewritten(graph, entry, _meant(span))
                or f"`everpath range explain '{entry.skip_range}'` says what it matches",
                entry=entry.name,
            )


def _meant(span: Range) -> str | None:
    """A range with the fix of each misreading in turn; None where that leaves one."""
    # No range has more of them than signs.
    for _ in span.text:
        hazards = _misreadings(span)
        if not hazards:
            return span.text
        if hazards[0].fix is None:
            return None
        span = Range.parse(hazards[0].fix)
    return None


def _misreadings(span: Range) -> list[Hazard]:
    """Hazards that no other rule is about: a range that is empty as a whole, or crashes, has its own."""
    own = {HazardKind.EMPTY_ARM, HazardKind.NEVER} if span.intervals.is_empty else {HazardKind.EMPTY_ARM}
    return [h for h in span.hazards if h.changes_meaning and h.kind not in own]


@channel_rule("EP304", "range-includes-self", Severity.WARNING)
def range_includes_self(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange does not cover its own entry's version.

    An entry that accepts itself is "up to date" in OLM's eyes, even where an older one should move it.
    Cost: one comparison for each range.
    """
    for entry, span in _ranged(graph):
        version = graph.versions.get(entry.name)
        if version is not None and span.intervals.contains(version):
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} covers {version}, its own version",
                because=(f"{version} is in {entry.skip_range!r}",),
                fix=cap_range(graph, entry.name),
                entry=entry.name,
            )


@channel_rule("EP305", "range-includes-newer", Severity.WARNING)
def range_includes_newer(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange covers no version of the channel that is newer than its own entry's.

    OLM v0 would "upgrade" the newer one to this older one, if nothing nearer to the head accepts it.
    Cost: one binary search for each range.
    """
    for entry, span in _ranged(graph):
        count, newer = _newer(graph, entry.name, span)
        if count:
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} covers {plural(count, 'newer version')}: {join_names(newer)}"
                + (" …" if count > len(newer) else ""),
                because=tuple(f"{graph.versions[n]} is in {entry.skip_range!r}" for n in newer),
                fix=cap_range(graph, entry.name),
                entry=entry.name,
            )


def _newer(graph: ChannelGraph, name: str, span: Range) -> tuple[int, list[str]]:
    """How many entries above `name` a range covers, and the first few of them."""
    version = graph.versions.get(name)
    if version is None:
        return 0, []
    above = bisect_right(graph.sorted_versions, version)
    spans = [(max(start, above), end) for start, end in span.intervals.index_ranges(graph.sorted_versions)]
    return sum(max(0, end - start) for start, end in spans), [
        graph.by_version[i] for i in islice(_places(spans), 5)
    ]


@channel_rule("EP306", "range-empty", Severity.WARNING)
def range_empty(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange can match some version.

    One such as `>=1.7.0 <1.7.0` matches none at all. Cost: one look at each range.
    """
    for entry, span in _ranged(graph):
        if span.intervals.is_empty and not _misreadings(span):
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} matches no version at all: {entry.skip_range!r}",
                fix=f"remove the skipRange of {entry.name}, or start it at a lower version",
                entry=entry.name,
            )


@channel_rule("EP307", "range-matches-nothing", Severity.NOTE)
def range_matches_nothing(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange covers some other entry of its channel.

    Perhaps it was copied from an earlier release, or is there for versions that were pruned.
    Cost: one binary search for each range.
    """
    for entry, span in _ranged(graph):
        covered = _places(span.intervals.index_ranges(graph.sorted_versions))
        if not span.intervals.is_empty and all(graph.by_version[i] == entry.name for i in covered):
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} covers no other entry of the channel: {entry.skip_range!r}",
                fix=_raised(graph, entry.name, span),
                entry=entry.name,
            )


def _raised(graph: ChannelGraph, name: str, span: Range) -> str:
    """What to do about a range that reaches nobody here."""
    version, end = graph.versions.get(name), span.intervals.upper_bound
    if graph.package.is_one_release:
        return "leave it: only this folder was read, and the releases it covers are in others"
    if version is not None and end is not None and end.version < version:
        return f"end it with <{version}, or remove it; leave it, if users have releases it covers"
    return "leave it, if users have releases it covers, pruned or of another channel; else remove it"


@channel_rule("EP308", "range-blank", Severity.WARNING)
def range_blank(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange that is written says something.

    An empty one is ignored. Cost: one pass.
    """
    for entry in graph.entries.values():
        if entry.skip_range is not None and not entry.skip_range.strip():
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} is empty",
                fix="remove it, or write a range",
                entry=entry.name,
            )


@channel_rule("EP309", "range-open-ended", Severity.WARNING)
def range_open_ended(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange has an upper end.

    Without one it covers every release still to come: a user of a later version, from another channel,
    would be "upgraded" back to this entry by OLM v0. Cost: one look at each range.
    """
    for entry, span in _ranged(graph):
        if span.intervals.is_unbounded_above:
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} has no upper end: {entry.skip_range!r}",
                fix=cap_range(graph, entry.name) or f"end it with < and the version of {entry.name}",
                entry=entry.name,
            )
