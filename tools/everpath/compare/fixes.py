"""How to mend it: edits of the new channel, tried on a copy before they are advised."""

from __future__ import annotations

__all__ = ["Wound", "mended", "related", "spares"]

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from everpath.compare.causes import Cause
from everpath.compare.channel_paths import Roads
from everpath.compare.differences import Difference, Kind
from everpath.compare.outcomes import Meeting, Outcome
from everpath.compare.trials import Trials
from everpath.graph import ChannelGraph
from everpath.ranges import Range
from everpath.resolvers import opm
from everpath.rules.edits import Edit, add_skips, apply_edit, set_replaces
from everpath.versions import Version
from everpath.wording import join_names

#: So many names are added to skips; for more, one range is the shorter edit.
_MOST_SKIPPED: Final = 3


class Wound(NamedTuple):
    """What a cause did to some, under the policies of these meetings."""

    meetings: Sequence[Meeting]
    outcome: Outcome
    cause: Cause


def related(wounds: Iterable[Wound]) -> list[list[Wound]]:
    """Wounds whose causes share an edit, together."""
    groups: list[tuple[set[Difference], list[Wound]]] = []
    for wound in wounds:
        edits, alike = set(wound.cause.edits), [wound]
        for group in [group for group in groups if group[0] & edits]:
            groups.remove(group)
            edits, alike = group[0] | edits, [*group[1], *alike]
        groups.append((edits, alike))
    return [alike for _, alike in groups]


def mended(trials: Trials, meetings: Sequence[Meeting], wounds: Sequence[Wound]) -> Edit | None:
    """The first edit after which all victims go on, nobody is worse off, and opm is content if it can be.

    `wounds` are related, `meetings` are those of all policies. To take back what did it is tried last,
    and first where opm refuses what is left; it may leave those behind who were behind before. Cost: a walk
    of the channel for each edit that is tried.
    """
    new = trials.new
    edits = tuple(dict.fromkeys(edit for wound in wounds for edit in wound.cause.edits))
    back = [(Edit(join_names([edit.undo for edit in edits]), ()), trials.without(edits))] if edits else []
    is_refused = not opm.validate_channel(new).is_valid
    must_please = not is_refused or any(opm.validate_channel(graph).is_valid for _, graph in back)
    removed = bool(edits) and all(edit.kind is Kind.REMOVED for edit in edits)
    gentle = (
        (e, apply_edit(new, e)) for wound in wounds for e in _edits(wound.meetings[0], new, wound.cause)
    )
    for edit, trial in chain(back if removed and is_refused else (), gentle, back):
        is_pleasing = not must_please or opm.validate_channel(trial).is_valid
        if (
            is_pleasing
            and _helps_all(trials, trial, wounds)
            and all(spares(m.new, trials.meeting(m, trial).new, edits) for m in meetings)
        ):
            return edit
    for edit, trial in back:
        if _helps_all(trials, trial, wounds) and all(
            _restores(m, trials.meeting(m, trial).new, edits) for m in meetings
        ):
            return edit
    return None


def _restores(meeting: Meeting, after: Roads, edits: Sequence[Difference]) -> bool:
    """Whether whoever arrives now does so after an edit, too, or did not arrive before, either."""
    return spares(
        meeting.new, after, edits, {n for n in meeting.old.installed if not meeting.old.road(n).arrives}
    )


def _helps_all(trials: Trials, trial: ChannelGraph, wounds: Sequence[Wound]) -> bool:
    return all(
        trials.cured(meeting, trial, dict.fromkeys(wound.cause.victims, wound.outcome)) == wound.cause.victims
        for wound in wounds
        for meeting in wound.meetings
    )


def spares(
    before: Roads, after: Roads, edits: Sequence[Difference] = (), exempt: Collection[str] = ()
) -> bool:
    """Whether whoever arrives now does so after an edit, too; but for what is taken out again."""
    there = before.graph.entries if before.graph is not None else {}
    left = after.graph.entries if after.graph is not None else {}
    out = {edit.entry for edit in edits if edit.kind is Kind.ADDED} - left.keys()
    return all(
        after.entry_road(name).arrives
        for name in there
        if name not in out and name not in exempt and before.entry_road(name).arrives
    )


def _edits(meeting: Meeting, new: ChannelGraph, cause: Cause) -> Iterator[Edit]:
    """What a maintainer might do, the gentlest first."""
    stops = sorted({meeting.new.road(name).stop for name in cause.victims})
    target = new.head
    if target is not None:
        others = [stop for stop in stops if stop != target]
        if others:
            yield from _ranged(meeting, new, target, others)
            yield add_skips(new, target, others)
    yield from _joined(meeting, new)


def _ranged(meeting: Meeting, new: ChannelGraph, target: str, stops: Sequence[str]) -> Iterator[Edit]:
    """The range by which the head accepts all of them, in the channel or not."""
    versions = [version for stop in stops if (version := meeting.new.version(stop)) is not None]
    high = new.versions.get(target)
    if high is None or len(versions) < len(stops) or max(versions) >= high:
        return
    if len(stops) <= _MOST_SKIPPED and all(s in new.skippers or s not in new.entries for s in stops):
        yield add_skips(new, target, stops)
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
        yield set_replaces(new, highest, others[0])
    if old is not None and old.head in others and not new.entries[highest].replaces:
        edit = set_replaces(new, highest, old.head or "")
        rest = [name for name in others if name != old.head]
        if rest:
            entry = edit.entries[0]
            more = entry._replace(skips=(*entry.skips, *rest))
            yield Edit(f"{edit.text} and add {', '.join(rest)} to its skips", (more,))
    yield add_skips(new, highest, others)
