"""Fixes for regressions: edits of the new channel that were tried on a copy."""

from __future__ import annotations

__all__ = ["Regression", "find_fix", "group_by_edits", "keeps_all_goals", "resolves_all"]

from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import chain
from typing import Final, NamedTuple

from everpath.comparison.causes import Cause
from everpath.comparison.differences import Difference, EditKind
from everpath.comparison.installed_paths import InstalledPaths
from everpath.comparison.outcomes import ChannelPair, PathOutcome
from everpath.comparison.trials import ChannelTrials
from everpath.graph import ChannelGraph
from everpath.ranges import Range
from everpath.resolvers import opm
from everpath.rules.fixes.edits import ChannelEdit, add_skips, apply_edit, set_range, set_replaces
from everpath.wording import join_names

#: Names that are added to `skips`; for more, a range is the shorter edit.
_MAX_SKIPPED: Final = 3


class Regression(NamedTuple):
    """The outcome for the versions that a cause affects, under the resolvers of these pairs."""

    pairs: Sequence[ChannelPair]
    outcome: PathOutcome
    cause: Cause


def group_by_edits(regressions: Iterable[Regression]) -> list[list[Regression]]:
    """Group regressions whose causes share an edit: their fixes might contradict each other."""
    groups: list[tuple[set[Difference], list[Regression]]] = []
    for regression in regressions:
        edits, members = set(regression.cause.edits), [regression]
        for group in [group for group in groups if group[0] & edits]:
            groups.remove(group)
            edits, members = group[0] | edits, [*group[1], *members]
        groups.append((edits, members))
    return [members for _, members in groups]


def find_fix(
    trials: ChannelTrials, pairs: Sequence[ChannelPair], regressions: Sequence[Regression]
) -> ChannelEdit | None:
    """Return the first edit that resolves all regressions, harms no other version, and that opm accepts.

    `regressions` are a group, `pairs` are those of all resolvers. Undoing the causing edits is tried last, or
    first if opm rejects the channel because entries were removed. It may leave versions stranded that were
    before. Cost: one resolution of the channel for each edit that is tried.
    """
    new = trials.new
    edits = tuple(dict.fromkeys(edit for regression in regressions for edit in regression.cause.edits))
    undo = (
        [(ChannelEdit(join_names([edit.undo for edit in edits]), ()), trials.without(edits))] if edits else []
    )
    is_rejected = not opm.validate_channel(new).is_valid
    must_be_valid = not is_rejected or any(opm.validate_channel(graph).is_valid for _, graph in undo)
    only_removals = bool(edits) and all(edit.kind is EditKind.REMOVED for edit in edits)
    small_edits = (
        (edit, apply_edit(new, edit))
        for regression in regressions
        for edit in _candidate_edits(regression.pairs[0], new, regression.cause)
    )
    for edit, trial in chain(undo if only_removals and is_rejected else (), small_edits, undo):
        if (
            (not must_be_valid or opm.validate_channel(trial).is_valid)
            and resolves_all(trials, trial, regressions)
            and all(keeps_all_goals(pair.new, trials.pair(pair, trial).new, edits) for pair in pairs)
        ):
            return edit
    for edit, trial in undo:
        stranded_before = [{n for n in p.old.installed if not p.old.path(n).reaches_goal} for p in pairs]
        if resolves_all(trials, trial, regressions) and all(
            keeps_all_goals(pair.new, trials.pair(pair, trial).new, edits, names)
            for pair, names in zip(pairs, stranded_before, strict=True)
        ):
            return edit
    return None


def resolves_all(trials: ChannelTrials, trial: ChannelGraph, regressions: Sequence[Regression]) -> bool:
    """Return whether no regression is left in a copy of the channel."""
    for regression in regressions:
        affected = dict.fromkeys(regression.cause.affected, regression.outcome)
        for pair in regression.pairs:
            if trials.versions_without_problem(pair, trial, affected) != regression.cause.affected:
                return False
    return True


def keeps_all_goals(
    before: InstalledPaths,
    after: InstalledPaths,
    edits: Sequence[Difference] = (),
    exempt: Collection[str] = (),
) -> bool:
    """Return whether all entries that reach a goal still do, except those that undone edits had added."""
    entries = before.graph.entries if before.graph is not None else {}
    remaining = after.graph.entries if after.graph is not None else {}
    removed = {edit.entry for edit in edits if edit.kind is EditKind.ADDED} - remaining.keys()
    return all(
        after.entry_path(name).reaches_goal
        for name in entries
        if name not in removed and name not in exempt and before.entry_path(name).reaches_goal
    )


def _candidate_edits(pair: ChannelPair, new: ChannelGraph, cause: Cause) -> Iterator[ChannelEdit]:
    """Yield edits to try, the least intrusive first."""
    stops = sorted({pair.new.last(name) for name in cause.affected})
    if (head := new.head) is not None and (others := [stop for stop in stops if stop != head]):
        versions = [version for stop in others if (version := pair.new.version(stop)) is not None]
        high = new.versions.get(head)
        if high is not None and len(versions) == len(others) and max(versions) < high:
            is_safe_to_skip = all(stop in new.skippers or stop not in new.entries for stop in others)
            if len(others) <= _MAX_SKIPPED and is_safe_to_skip:
                yield add_skips(new, head, others)
            entry, wanted, known = new.entries[head], f">={min(versions)} <{high}", new.ranges.get(head)
            if known is not None and not known.intervals.is_subset(Range.parse(wanted).intervals):
                wanted = f"{entry.skip_range} || {wanted}"
            yield set_range(entry, wanted)
        yield add_skips(new, head, others)
    yield from _merged_heads(pair.old.graph, new)


def _merged_heads(old: ChannelGraph | None, new: ChannelGraph) -> Iterator[ChannelEdit]:
    """Yield edits by which the highest of several heads replaces or skips the others."""
    ranked = sorted((n for n in new.heads if n in new.versions), key=lambda n: (new.versions[n].key, n))
    if len(new.heads) < 2 or len(ranked) < len(new.heads):
        return
    *others, highest = ranked
    if len(others) == 1 and not new.entries[highest].replaces:
        yield set_replaces(new, highest, others[0])
    if old is not None and old.head in others and not new.entries[highest].replaces:
        edit = set_replaces(new, highest, old.head or "")
        if rest := [name for name in others if name != old.head]:
            [entry] = edit.entries
            more = entry._replace(skips=(*entry.skips, *rest))
            yield ChannelEdit(f"{edit.text} and add {', '.join(rest)} to its skips", (more,))
    yield add_skips(new, highest, others)
