"""Skip ranges: syntax, misleading syntax, and the versions that they cover."""

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
from everpath.rules.findings import Flaw, Severity
from everpath.rules.fixes.edits import ChannelEdit, cap_range, set_range
from everpath.rules.registry import channel_rule
from everpath.versions import underline
from everpath.wording import count, join_names

#: The number of affected entries listed in a message.
_MAX_LISTED: Final = 8


def _valid_ranges(graph: ChannelGraph) -> Iterator[tuple[Entry, Range]]:
    """Yield entries with a valid range."""
    for name, span in graph.ranges.items():
        yield graph.entries[name], span


@channel_rule("EP301", "range-unparsable", Severity.ERROR)
def range_unparsable(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every skipRange is a range that blang/semver, OLM's parser, accepts.

    OLM ignores an invalid range; opm rejects the catalog.
    Cost: one parse for each distinct range.
    """
    for entry in graph.entries.values():
        if not entry.skip_range:
            continue
        try:
            Range.parse(entry.skip_range)
        except RangeError as error:
            yield Flaw(
                entry.place.at("skipRange"),
                f"OLM ignores the skipRange of {entry.name}, because it is invalid: {error.reason}",
                because=(
                    *underline(error.text, *error.span, error.reason).splitlines(),
                    f"no version updates to {entry.name} by this range",
                ),
                fix=_range_edit(graph, entry, error.fix) or "write a range such as '>=1.0.0 <1.2.0'",
                entry=entry.name,
            )


def _range_edit(graph: ChannelGraph, entry: Entry, text: str | None) -> ChannelEdit | None:
    """Return an edit to the intended range; if that is harmful, to its part below the entry's version."""
    if not text:
        return None
    below = cap_range(graph, entry.name, Range.parse(text).intervals)
    return set_range(entry, text)._replace(fallback=below)


@channel_rule("EP302", "range-panics", Severity.ERROR)
def range_panics(graph: ChannelGraph) -> Iterator[Flaw]:
    """No skipRange has an empty arm between two `||`.

    The parser and opm accept it. OLM's resolver crashes when it evaluates a version that no earlier arm
    matches. Cost: one visit a range.
    """
    for entry, span in _valid_ranges(graph):
        if span.can_panic:
            spans = (~span.intervals).index_ranges(graph.sorted_versions)
            count = sum(end - start for start, end in spans)
            first = (graph.by_version[i] for i in islice(_indexes(spans), _MAX_LISTED))
            affected = join_names(first, _MAX_LISTED, total=count)
            arms = [arm.strip() for arm in span.text.split("||")]
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} crashes OLM: {entry.skip_range!r} has nothing between two ||",
                because=(f"the resolver dereferences nil when it evaluates {affected}",) if count else (),
                fix=_range_edit(graph, entry, " || ".join(filter(None, arms))),
                entry=entry.name,
            )


def _indexes(spans: Iterable[tuple[int, int]]) -> Iterator[int]:
    return (i for start, end in spans for i in range(start, end))


@channel_rule("EP303", "range-hazard", Severity.WARNING)
def range_hazard(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange means what it seems to mean.

    blang/semver ignores one-letter words, treats any x as a wildcard and has no hyphen ranges, without an
    error. Cost: one visit a range.
    """
    for entry, span in _valid_ranges(graph):
        if hazards := _misleading_parts(span):
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} is misleading: {hazards[0].message}",
                because=tuple(h.message for h in hazards[1:]),
                fix=_range_edit(graph, entry, _without_hazards(span))
                or f"`everpath range explain '{entry.skip_range}'` shows what it matches",
                entry=entry.name,
            )


def _without_hazards(span: Range) -> str | None:
    """Return the range with the fixes of all hazards applied; None if one has no fix."""
    # A range has at most one hazard a character.
    for _ in span.text:
        hazards = _misleading_parts(span)
        if not hazards:
            return span.text
        if hazards[0].fix is None:
            return None
        span = Range.parse(hazards[0].fix)
    return None


def _misleading_parts(span: Range) -> list[Hazard]:
    """Return hazards that no other rule reports: empty ranges and crashes have their own rules."""
    own = {HazardKind.EMPTY_ARM, HazardKind.NEVER} if span.intervals.is_empty else {HazardKind.EMPTY_ARM}
    return [h for h in span.hazards if h.changes_meaning and h.kind not in own]


@channel_rule("EP304", "range-includes-self", Severity.WARNING)
def range_includes_self(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange does not cover its own entry's version.

    For OLM such an entry is its own successor and up to date, even if another entry should replace it.
    Cost: one comparison a range.
    """
    for entry, span in _valid_ranges(graph):
        version = graph.versions.get(entry.name)
        if version is not None and span.intervals.contains(version):
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} covers its own version {version}",
                because=(f"{version} is in {entry.skip_range!r}",),
                fix=cap_range(graph, entry.name),
                entry=entry.name,
            )


@channel_rule("EP305", "range-includes-newer", Severity.WARNING)
def range_includes_newer(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange covers no version of the channel that is newer than its own entry's.

    OLM v0 downgrades the newer version to this one, if no entry nearer to the head is a successor.
    Cost: one binary search a range.
    """
    for entry, span in _valid_ranges(graph):
        covered, newer = _newer_entries(graph, entry.name, span)
        if covered:
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} covers {count(covered, 'newer version')}: {join_names(newer)}"
                + (" …" if covered > len(newer) else ""),
                because=tuple(f"{graph.versions[n]} is in {entry.skip_range!r}" for n in newer),
                fix=cap_range(graph, entry.name),
                entry=entry.name,
            )


def _newer_entries(graph: ChannelGraph, name: str, span: Range) -> tuple[int, list[str]]:
    """Return the number of entries above `name` that a range covers, and the first five."""
    version = graph.versions.get(name)
    if version is None:
        return 0, []
    above = bisect_right(graph.sorted_versions, version)
    spans = [(max(start, above), end) for start, end in span.intervals.index_ranges(graph.sorted_versions)]
    return sum(max(0, end - start) for start, end in spans), [
        graph.by_version[i] for i in islice(_indexes(spans), 5)
    ]


@channel_rule("EP306", "range-empty", Severity.WARNING)
def range_empty(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange can match some version.

    `>=1.7.0 <1.7.0` matches none. Cost: one visit a range.
    """
    for entry, span in _valid_ranges(graph):
        if span.intervals.is_empty and not _misleading_parts(span):
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} matches no version: {entry.skip_range!r}",
                fix=f"remove the skipRange of {entry.name}, or start it at a lower version",
                entry=entry.name,
            )


@channel_rule("EP307", "range-matches-nothing", Severity.NOTE)
def range_matches_nothing(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange covers some other entry of its channel.

    It was perhaps copied from an earlier release, or is for versions that were pruned.
    Cost: one binary search a range.
    """
    for entry, span in _valid_ranges(graph):
        covered = _indexes(span.intervals.index_ranges(graph.sorted_versions))
        if not span.intervals.is_empty and all(graph.by_version[i] == entry.name for i in covered):
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} covers no other entry of the channel: {entry.skip_range!r}",
                fix=_unused_range_fix(graph, entry.name, span),
                entry=entry.name,
            )


def _unused_range_fix(graph: ChannelGraph, name: str, span: Range) -> str:
    """Return advice for a range that covers no entry of the channel."""
    version, end = graph.versions.get(name), span.intervals.upper_bound
    if graph.package.is_single_bundle:
        return "no action: only this folder was read, and the releases it covers are in others"
    if version is not None and end is not None and end.version < version:
        return f"end it with <{version}, or remove it; no action if clusters run releases it covers"
    return "no action if clusters run releases it covers, pruned or of another channel; else remove it"


@channel_rule("EP308", "range-blank", Severity.WARNING)
def range_blank(graph: ChannelGraph) -> Iterator[Flaw]:
    """No skipRange is empty.

    OLM and opm ignore an empty one. opm rejects one of spaces: EP301. Cost: one pass.
    """
    for entry in graph.entries.values():
        if entry.skip_range == "":
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} is empty",
                fix="remove it, or write a range",
                entry=entry.name,
            )


@channel_rule("EP309", "range-open-ended", Severity.WARNING)
def range_open_ended(graph: ChannelGraph) -> Iterator[Flaw]:
    """A skipRange has an upper bound.

    Without one it covers all future releases: OLM v0 would downgrade a later version of another channel to
    this entry. Cost: one visit a range.
    """
    for entry, span in _valid_ranges(graph):
        if span.intervals.is_unbounded_above:
            yield Flaw(
                entry.place.at("skipRange"),
                f"the skipRange of {entry.name} has no upper bound: {entry.skip_range!r}",
                fix=cap_range(graph, entry.name) or f"end it with < and the version of {entry.name}",
                entry=entry.name,
            )
