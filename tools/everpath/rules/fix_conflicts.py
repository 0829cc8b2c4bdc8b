"""Fixes followed together: whoever makes all the edits of one report must not meet errors it did not have.

Each edit is right by itself. But a broken channel hides what else is wrong with it, and two edits may each
take away the way that the other one counts on. So the edits of a channel are also made to one copy, all of
them.
"""

from __future__ import annotations

__all__ = ["SuggestedFix", "is_deferred", "resolve_conflicts"]

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from everpath.graph import ChannelGraph
from everpath.model import Place
from everpath.rules.edits import Edit, merge_edits
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule, rules_for_subjects
from everpath.wording import join_names

if TYPE_CHECKING:
    from everpath.rules.fix_trials import FixTrials

#: A finding by its rule, its entry and its place: an entry may be wrong in two ways.
FindingKey: TypeAlias = tuple[str, str | None, Place]

#: How many findings are named that have to be mended before another one.
_MOST_FIRST = 3


#: How advice begins and ends that is only about other advice.
_MEND, _FIRST = "mend ", " first, then ask again"


class SuggestedFix(NamedTuple):
    """A finding's edit, and all findings that it is said to mend, its own among them."""

    mark: FindingKey
    edit: Edit
    mends: frozenset[FindingKey]


def resolve_conflicts(
    graph: ChannelGraph,
    trials: FixTrials,
    rules: Mapping[str, Rule],
    offers: Sequence[SuggestedFix],
    most: int,
) -> dict[FindingKey, Edit | str]:
    """What is advised in the stead of edits that cannot be made together with those before them.

    That is the first of an edit's alternatives that can, else to ask again after those. No more than `most`
    edits are tried in turn; the others wait. Cost: nothing for one edit; a copy that is judged by all rules
    for two or more; where that finds something new, a copy for each.
    """
    if len(offers) < 2:
        return {}
    trial = _Trial(graph, trials, rules)
    if trial.whole(offers) is not None:
        return {}
    return trial.in_turn(offers, most)


def is_deferred(fix: str) -> bool:
    """Whether a fix is none by itself, but waits for that of another finding."""
    return fix.startswith(_MEND) and fix.endswith(_FIRST)


class _Trial:
    """Copies of a channel with several edits each."""

    def __init__(self, graph: ChannelGraph, trials: FixTrials, rules: Mapping[str, Rule]) -> None:
        self._graph = graph
        self._trials = trials
        self._rules = rules

    def whole(self, offers: Sequence[SuggestedFix]) -> Edit | None:
        """All edits as one, if they can be made together."""
        made: Edit | None = offers[0].edit
        for offer in offers[1:]:
            made = merge_edits(self._graph, made, offer.edit) if made is not None else None
        mends = frozenset[FindingKey]().union(*(offer.mends for offer in offers))
        return made if made is not None and self._is_good(made, mends, self._before) else None

    def in_turn(self, offers: Sequence[SuggestedFix], most: int) -> dict[FindingKey, Edit | str]:
        """Each edit after those before it, of equal ones the first: what has to be said otherwise."""
        first, *others = offers
        made, mends, kept = first.edit, first.mends, [first.mark]
        known = self._before | self._errors(made)
        said: dict[FindingKey, Edit | str] = {}
        for place, offer in enumerate(others, start=2):
            mends |= offer.mends
            fits = self._fitting(made, offer, mends, known) if place <= most else None
            if fits is None:
                mends -= offer.mends
                said[offer.mark] = f"{_MEND}{_named(kept)}{_FIRST}"
                continue
            choice, made = fits
            said[offer.mark] = self._said(offer, choice, made, kept)
            kept.append(offer.mark)
        return said

    def _fitting(
        self, made: Edit, offer: SuggestedFix, mends: frozenset[FindingKey], known: frozenset[str]
    ) -> tuple[Edit, Edit] | None:
        """The first choice that can be made after others, and all of them with it."""
        offered = (offer.edit, offer.edit.alternative, offer.edit.fallback)
        for choice in (e for e in offered if isinstance(e, Edit)):
            after = merge_edits(self._graph, made, choice)
            if after is not None and self._is_good(after, mends, known):
                return choice._replace(alternative=None), after
        return None

    def _said(self, offer: SuggestedFix, choice: Edit, made: Edit, kept: Sequence[FindingKey]) -> Edit:
        """A choice; one that is no good by itself is told, and made, after those it counts on."""
        if self._mends(choice, offer.mends):
            return choice
        return made._replace(text=f"{choice.text}, after {_named(kept)}")

    def _is_good(self, edit: Edit, mends: frozenset[FindingKey], known: frozenset[str]) -> bool:
        """Whether an edit mends what it is for, and breaks no rule but those that are known to be broken."""
        return self._mends(edit, mends) and self._errors(edit) <= known

    def _mends(self, edit: Edit, mends: frozenset[FindingKey]) -> bool:
        """Whether an edit harms nobody and leaves none of these findings."""
        if self._trials.regression(edit) is not None:
            return False
        asked = {rule for rule, *_ in mends}
        found = {rule: self._trials.flaws_after(self._rules[rule], edit) for rule in asked}
        return mends.isdisjoint((rule, f.entry, f.place) for rule, flaws in found.items() for f in flaws)

    @cached_property
    def _before(self) -> frozenset[str]:
        return frozenset(rule.id for rule in _strict() if any(map(_is_error, rule.check(self._graph))))

    def _errors(self, edit: Edit) -> frozenset[str]:
        """The rules of which a channel would have errors after an edit."""
        return frozenset(
            rule.id for rule in _strict() if any(map(_is_error, self._trials.flaws_after(rule, edit)))
        )


def _strict() -> Iterator[Rule]:
    """The rules about channels that have errors."""
    return (rule for rule in rules_for_subjects({"channel"}) if rule.severity is Severity.ERROR)


def _is_error(flaw: Flaw) -> bool:
    return flaw.severity in (None, Severity.ERROR)


def _named(marks: Sequence[FindingKey]) -> str:
    return join_names((f"{rule} ({entry})" if entry else rule for rule, entry, _ in marks), _MOST_FIRST)
