"""How to mend it: edits of the new channel, tried on a copy before they are advised."""

from __future__ import annotations

__all__ = ["mended"]

from collections.abc import Iterator, Sequence
from typing import Final

from everpath.compare.causes import Cause, cured
from everpath.compare.differences import Kind
from everpath.compare.outcomes import Meeting, Outcome
from everpath.compare.roads import Roads, installations
from everpath.graph import ChannelGraph
from everpath.ranges import Range
from everpath.rules._edits import Edit, edited, replacing, safest, skipping
from everpath.versions import Version

#: So many names are added to skips; for more, one range is the shorter edit.
_MOST_SKIPPED: Final = 3


def mended(meetings: Sequence[Meeting], cause: Cause, outcome: Outcome) -> str | None:
    """The first edit after which all victims go on, nobody else is worse off, and opm is no less content.

    `meetings` are those of the policies under which they are victims. Cost: a walk of the channel for each
    edit that is tried, and they are few.
    """
    new = meetings[0].new.graph
    if new is None:
        return None
    for edit in _edits(meetings[0], new, cause):
        if safest(new, [edit]):
            trial = edited(new, edit)
            if all(_helps(meeting, trial, cause, outcome) for meeting in meetings):
                return edit.text
    return None


def _helps(meeting: Meeting, trial: ChannelGraph, cause: Cause, outcome: Outcome) -> bool:
    if cured(meeting, trial, dict.fromkeys(cause.victims, outcome)) != cause.victims:
        return False
    before, now = meeting.new, installations(trial)
    after = Roads(trial, before.policy, now, (trial.package.name, trial.name))
    there = before.graph.entries if before.graph is not None else ()
    return all(after.entry_road(name).arrives for name in there if before.entry_road(name).arrives)


def _edits(meeting: Meeting, new: ChannelGraph, cause: Cause) -> Iterator[Edit]:
    """What a maintainer might do, the gentlest first."""
    stops = sorted({meeting.new.road(name).stop for name in cause.victims})
    target = new.head
    if target is not None:
        others = [stop for stop in stops if stop != target]
        if others:
            yield from _ranged(meeting, new, target, others)
            yield skipping(new, target, others)
    yield from _joined(meeting, new)
    if any(edit.kind is Kind.REMOVED for edit in cause.edits):
        yield from _put_back(meeting, cause)


def _ranged(meeting: Meeting, new: ChannelGraph, target: str, stops: Sequence[str]) -> Iterator[Edit]:
    """The range by which the head accepts all of them, in the channel or not."""
    versions = [version for stop in stops if (version := meeting.new.version(stop)) is not None]
    high = new.versions.get(target)
    if high is None or len(versions) < len(stops) or max(versions) >= high:
        return
    if len(stops) <= _MOST_SKIPPED and all(s in new.skippers or s not in new.entries for s in stops):
        yield skipping(new, target, stops)
    yield _covering(new, target, min(versions), high)


def _covering(new: ChannelGraph, target: str, low: Version, high: Version) -> Edit:
    entry, wanted = new.entries[target], f">={low} <{high}"
    known = new.ranges.get(target)
    is_more = known is not None and not known.intervals.is_subset(Range.parse(wanted).intervals)
    span = f"{entry.skip_range} || {wanted}" if is_more else wanted
    return Edit(f"give {target} the skipRange '{span}'", (entry._replace(skip_range=span),))


def _joined(meeting: Meeting, new: ChannelGraph) -> Iterator[Edit]:
    """One head of several: the one of the highest version takes the others' place."""
    ranked = sorted((n for n in new.heads if n in new.versions), key=lambda n: (new.versions[n].key, n))
    if len(new.heads) < 2 or len(ranked) < len(new.heads):
        return
    *others, highest = ranked
    old = meeting.old.graph
    if len(others) == 1 and not new.entries[highest].replaces:
        yield replacing(new, highest, others[0])
    if old is not None and old.head in others and not new.entries[highest].replaces:
        edit = replacing(new, highest, old.head or "")
        rest = [name for name in others if name != old.head]
        if rest:
            entry = edit.entries[0]
            more = entry._replace(skips=(*entry.skips, *rest))
            yield Edit(f"{edit.text} and add {', '.join(rest)} to its skips", (more,))
    yield skipping(new, highest, others)


def _put_back(meeting: Meeting, cause: Cause) -> Iterator[Edit]:
    """What was removed, as it was."""
    old = meeting.old.graph
    names = [edit.entry for edit in cause.edits if edit.kind is Kind.REMOVED]
    if old is not None and len(names) == len(cause.edits):
        entries = tuple(old.entries[name] for name in names)
        yield Edit(f"put {', '.join(names)} back into this channel", entries)
