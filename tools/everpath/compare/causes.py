"""Which edit did it: found by taking edits back, one at a time, and looking who is well again.

Nothing is guessed. An edit is named only if the channel without it lets its victims go on; where no single
edit will do, the fewest that were found to be needed together are named, each of them indispensable.
"""

from __future__ import annotations

__all__ = ["Cause", "causes", "shared"]

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from everpath.compare.differences import Difference
from everpath.compare.outcomes import Meeting, Outcome
from everpath.compare.trials import Trials

#: How many entries are walked in search of the causes of one channel: its trials cost that many each.
_MOST_WALKED: Final = 30_000

#: And yet so many edits are tried in a channel, however large it is; and in a small one no more than that.
_FEWEST_TRIED: Final = 12
_MOST_TRIED: Final = 150

#: How often edits that only hurt together are looked for, for different victims.
_MOST_GROUPS: Final = 3

#: The edits that were taken back, and the names that this cures.
Trial = Callable[[Collection[Difference]], frozenset[str]]


class Cause(NamedTuple):
    """Edits that together did it, and to whom. None are named where they were too many to try."""

    edits: tuple[Difference, ...]
    victims: frozenset[str]


def causes(trials: Trials, meeting: Meeting, victims: Mapping[str, Outcome]) -> list[Cause]:
    """The causes of what became of some installed versions, each of which is in one of them."""
    edits = sorted(trials.edits, key=_nearness(meeting, victims))
    budget = _Budget(max(_FEWEST_TRIED, min(_MOST_TRIED, _MOST_WALKED // len(trials.new.entries))))
    cured_by = _tried(trials, meeting, victims, budget)
    found = list(_alone(edits, frozenset(victims), cured_by, budget))
    left = frozenset(victims).difference(*(cause.victims for cause in found))
    found += _together(edits, left, cured_by, budget)
    left = left.difference(*(cause.victims for cause in found))
    return [*found, Cause((), left)] if left else found


def shared(
    trials: Trials, found: Sequence[tuple[Meeting, Outcome, Cause]]
) -> list[tuple[list[Meeting], Outcome, Cause]]:
    """Causes with the same victims under several policies, as one where the edits of one are enough for all.

    Cost: a walk of the channel for each pair of causes whose edits differ.
    """
    groups: list[tuple[list[Meeting], Outcome, Cause]] = []
    for meeting, outcome, cause in sorted(found, key=lambda each: -len(each[2].edits)):
        for meetings, other, wider in groups:
            if (
                other is outcome
                and wider.victims == cause.victims
                and _explains(trials, wider, cause, meeting, outcome)
            ):
                meetings.append(meeting)
                break
        else:
            groups.append(([meeting], outcome, cause))
    return groups


def _explains(trials: Trials, wider: Cause, cause: Cause, meeting: Meeting, outcome: Outcome) -> bool:
    if wider.edits == cause.edits or not cause.edits:
        return wider.edits == cause.edits
    victims = dict.fromkeys(cause.victims, outcome)
    return trials.cured(meeting, trials.without(wider.edits), victims) == cause.victims


class _Budget:
    """How many trials may still be made."""

    def __init__(self, trials: int) -> None:
        self.left = trials
        #: What the search for single edits leaves for that of several.
        self.reserve = trials // 3

    def spend(self) -> bool:
        self.left -= 1
        return self.left >= 0


def _nearness(meeting: Meeting, victims: Iterable[str]) -> Callable[[Difference], bool]:
    """Edits of entries that the victims stop at or went to come first: most causes are there."""
    near: set[str] = set()
    for name in victims:
        near.update((name, meeting.new.road(name).stop, meeting.old.road(name).next or name))
    for roads in (meeting.old, meeting.new):
        near.update(roads.homes)
        near.update(roads.graph.heads if roads.graph else ())
    return lambda difference: difference.entry not in near


def _tried(trials: Trials, meeting: Meeting, victims: Mapping[str, Outcome], budget: _Budget) -> Trial:
    def cured_by(undone: Collection[Difference]) -> frozenset[str]:
        budget.spend()
        return trials.cured(meeting, trials.without(undone), victims)

    return cured_by


def _alone(
    edits: Sequence[Difference], victims: frozenset[str], cured_by: Trial, budget: _Budget
) -> Iterator[Cause]:
    """Edits that did it alone, the one with the most victims first."""
    cures: list[tuple[Difference, frozenset[str]]] = []
    for edit in edits:
        if budget.left <= budget.reserve:
            break
        cures.append((edit, cured_by((edit,))))
        if cures[-1][1] == victims:
            break
    left = victims
    while cures and left:
        edit, cured_names = max(cures, key=lambda cure: len(cure[1] & left))
        if not cured_names & left:
            return
        yield Cause((edit,), cured_names & left)
        left -= cured_names


def _together(
    edits: Sequence[Difference], victims: frozenset[str], cured_by: Trial, budget: _Budget
) -> Iterator[Cause]:
    """Edits that did it only together. All of one kind, such as removed entries, are tried before all."""
    for _ in range(_MOST_GROUPS):
        if not victims or budget.left <= 0:
            return
        first = min(victims)
        suffices = _saves(first, cured_by)
        kinds = (tuple(e for e in edits if e.kind is kind) for kind in dict.fromkeys(e.kind for e in edits))
        start = next((some for some in (*kinds, tuple(edits)) if len(some) > 1 and suffices(some)), None)
        if start is None:
            return
        needed = _reduced(start, suffices, budget)
        well = cured_by(needed)
        yield Cause(needed, well & victims)
        victims -= well


def _saves(name: str, cured_by: Trial) -> Callable[[Collection[Difference]], bool]:
    return lambda undone: name in cured_by(undone)


def _reduced(
    edits: tuple[Difference, ...], suffices: Callable[[Collection[Difference]], bool], budget: _Budget
) -> tuple[Difference, ...]:
    """Leaves out large parts first, then smaller ones, as long as the rest will do."""
    size = len(edits) // 2
    while size:
        start = 0
        while start < len(edits) and budget.left > 0:
            fewer = edits[:start] + edits[start + size :]
            if fewer and suffices(fewer):
                edits = fewer
            else:
                start += size
        size //= 2
    return edits
