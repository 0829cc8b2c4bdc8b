"""The edits that cause a regression, found by undoing edits of a channel and resolving it again.

An edit is named only if the channel without it resolves the problem of the affected versions. Where no single
edit does, a minimal set of edits is named, each of which is necessary.
"""

from __future__ import annotations

__all__ = ["Cause", "causes", "merge_by_resolver"]

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from everpath.comparison.differences import Difference
from everpath.comparison.outcomes import ChannelPair, PathOutcome
from everpath.comparison.trials import ChannelTrials

#: Entries that are resolved in search of the causes in one channel; a trial resolves all of its entries.
_MAX_RESOLVED: Final = 30_000

#: Trials in a channel of any size: at least, and at most.
_FEWEST_TRIALS: Final = 12
_MAX_TRIALS: Final = 150

#: Number of searches for edits that only together cause a problem.
_MAX_GROUPS: Final = 3

#: Undoes edits and returns the versions whose problem that resolves.
_Trial = Callable[[Collection[Difference]], frozenset[str]]


class Cause(NamedTuple):
    """Edits that together cause a problem, and the affected versions. No edits: none was found."""

    edits: tuple[Difference, ...]
    affected: frozenset[str]


def causes(trials: ChannelTrials, pair: ChannelPair, affected: Mapping[str, PathOutcome]) -> list[Cause]:
    """Return the causes for some installed versions; each version is in exactly one of them."""
    edits = sorted(trials.edits, key=_is_remote(pair, affected))
    budget = _Budget(max(_FEWEST_TRIALS, min(_MAX_TRIALS, _MAX_RESOLVED // len(trials.new.entries))))

    def try_without(undone: Collection[Difference]) -> frozenset[str]:
        budget.left -= 1
        return trials.versions_without_problem(pair, trials.without(undone), affected)

    found = list(_single_edits(edits, frozenset(affected), try_without, budget))
    left = frozenset(affected).difference(*(cause.affected for cause in found))
    found += _groups_of_edits(edits, left, try_without, budget)
    left = left.difference(*(cause.affected for cause in found))
    return [*found, Cause((), left)] if left else found


def merge_by_resolver(
    trials: ChannelTrials, found: Sequence[tuple[ChannelPair, PathOutcome, Cause]]
) -> list[tuple[list[ChannelPair], PathOutcome, Cause]]:
    """Merge causes that affect the same versions under several resolvers, if the edits of one explain all.

    Cost: one resolution of the channel for each pair of causes with different edits.
    """
    groups: list[tuple[list[ChannelPair], PathOutcome, Cause]] = []
    for pair, outcome, cause in sorted(found, key=lambda each: -len(each[2].edits)):
        for pairs, other, wider in groups:
            if (
                other is outcome
                and wider.affected == cause.affected
                and _explains(trials, wider, cause, pair, outcome)
            ):
                pairs.append(pair)
                break
        else:
            groups.append(([pair], outcome, cause))
    return groups


def _explains(
    trials: ChannelTrials, wider: Cause, cause: Cause, pair: ChannelPair, outcome: PathOutcome
) -> bool:
    if wider.edits == cause.edits or not cause.edits:
        return wider.edits == cause.edits
    affected = dict.fromkeys(cause.affected, outcome)
    return trials.versions_without_problem(pair, trials.without(wider.edits), affected) == cause.affected


class _Budget:
    """Number of trials left; a third is reserved for groups of edits."""

    def __init__(self, trials: int) -> None:
        self.left = trials
        self.reserve = trials // 3


def _is_remote(pair: ChannelPair, affected: Collection[str]) -> Callable[[Difference], bool]:
    """Return a sort key: edits of entries at the ends of the affected paths first, as likely causes."""
    near: set[str] = set()
    for name in affected:
        near.update((name, pair.new.last(name), pair.old.path(name).next or name))
    for paths in (pair.old, pair.new):
        near.update(paths.goals)
        near.update(paths.graph.heads if paths.graph else ())
    return lambda difference: difference.entry not in near


def _single_edits(
    edits: Sequence[Difference], affected: frozenset[str], try_without: _Trial, budget: _Budget
) -> Iterator[Cause]:
    """Yield edits that are a cause alone, the one that affects most versions first."""
    resolved: list[tuple[Difference, frozenset[str]]] = []
    for edit in edits:
        if budget.left <= budget.reserve:
            break
        resolved.append((edit, try_without((edit,))))
        if resolved[-1][1] == affected:
            break
    left = affected
    while resolved and left:
        edit, names = max(resolved, key=lambda each: len(each[1] & left))
        if not names & left:
            return
        yield Cause((edit,), names & left)
        left -= names


def _groups_of_edits(
    edits: Sequence[Difference], affected: frozenset[str], try_without: _Trial, budget: _Budget
) -> Iterator[Cause]:
    """Yield edits that are a cause only together. Edits of one kind are tried before all edits."""
    for _ in range(_MAX_GROUPS):
        if not affected or budget.left <= 0:
            return
        name = min(affected)
        kinds = dict.fromkeys(edit.kind for edit in edits)
        by_kind = (tuple(edit for edit in edits if edit.kind is kind) for kind in kinds)
        group = next((g for g in (*by_kind, tuple(edits)) if len(g) > 1 and name in try_without(g)), None)
        if group is None:
            return
        needed = _minimize(group, name, try_without, budget)
        resolved = try_without(needed)
        yield Cause(needed, resolved & affected)
        affected -= resolved


def _minimize(
    edits: tuple[Difference, ...], name: str, try_without: _Trial, budget: _Budget
) -> tuple[Difference, ...]:
    """Drop edits, large parts first, as long as undoing the rest resolves the problem of a version."""
    size = len(edits) // 2
    while size:
        start = 0
        while start < len(edits) and budget.left > 0:
            fewer = edits[:start] + edits[start + size :]
            if fewer and name in try_without(fewer):
                edits = fewer
            else:
                start += size
        size //= 2
    return edits
