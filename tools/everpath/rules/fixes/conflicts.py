"""Resolve conflicts between the suggested fixes of a channel, so that all can be applied together.

Each fix is right by itself, but two edits can remove the edges that the other one needs, and a broken channel
hides other errors. So all edits of a channel are also applied to one copy.
"""

from __future__ import annotations

__all__ = ["FindingKey", "SuggestedFix", "resolve_conflicts"]

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from everpath.graph import ChannelGraph
from everpath.model import Place
from everpath.rules.findings import Flaw, Severity
from everpath.rules.fixes.edits import ChannelEdit, DeferredFix, merge_edits
from everpath.rules.registry import Rule, rules_for_subjects
from everpath.wording import join_names

if TYPE_CHECKING:
    from everpath.rules.fixes.trials import FixTrials

#: A finding by its rule, entry and place.
FindingKey: TypeAlias = tuple[str, str | None, Place]

#: The number of findings named that must be fixed before another one.
_MAX_NAMED = 3


class SuggestedFix(NamedTuple):
    """The edit for a finding, and all findings that it fixes, including its own."""

    key: FindingKey
    edit: ChannelEdit
    fixes: frozenset[FindingKey]


def resolve_conflicts(
    graph: ChannelGraph,
    trials: FixTrials,
    rules: Mapping[str, Rule],
    suggested: Sequence[SuggestedFix],
    limit: int,
) -> dict[FindingKey, ChannelEdit | DeferredFix]:
    """Return other fixes for edits that cannot be applied together with those before them.

    That is an alternative of the edit, or a `DeferredFix`: validate again after the other fixes. At most
    `limit` edits are tried; the others are deferred. Cost: nothing for one edit; a copy and a lint run with
    all rules for two or more; if that reports something new, a copy for each.
    """
    if len(suggested) < 2:
        return {}
    combined_trials = _CombinedTrials(graph, trials, rules)
    if combined_trials.combine(suggested) is not None:
        return {}
    return combined_trials.apply_in_turn(suggested, limit)


class _CombinedTrials:
    """Trials of several edits on one copy of a channel."""

    def __init__(self, graph: ChannelGraph, trials: FixTrials, rules: Mapping[str, Rule]) -> None:
        self._graph = graph
        self._trials = trials
        self._rules = rules

    def combine(self, suggested: Sequence[SuggestedFix]) -> ChannelEdit | None:
        """All edits as one; None if they cannot be applied together."""
        combined: ChannelEdit | None = suggested[0].edit
        for fix in suggested[1:]:
            combined = merge_edits(self._graph, combined, fix.edit) if combined is not None else None
        fixes = frozenset[FindingKey]().union(*(fix.fixes for fix in suggested))
        return (
            combined if combined is not None and self._is_acceptable(combined, fixes, self._before) else None
        )

    def apply_in_turn(
        self, suggested: Sequence[SuggestedFix], limit: int
    ) -> dict[FindingKey, ChannelEdit | DeferredFix]:
        """Apply the edits one after the other and return other fixes for those that cannot be applied."""
        first, *others = suggested
        combined, fixes, applied = first.edit, first.fixes, [first.key]
        known = self._before | self._errors(combined)
        replacements: dict[FindingKey, ChannelEdit | DeferredFix] = {}
        for place, fix in enumerate(others, start=2):
            fixes |= fix.fixes
            applicable = self._first_applicable(combined, fix, fixes, known) if place <= limit else None
            if applicable is None:
                fixes -= fix.fixes
                replacements[fix.key] = DeferredFix(f"fix {_join_keys(applied)} first, then validate again")
                continue
            choice, combined = applicable
            if not self._fixes(choice, fix.fixes):
                # The alternative needs the earlier edits.
                text = f"{choice.text}, after {_join_keys(applied)}"
                choice = combined._replace(text=text, copied=choice.copied)
            replacements[fix.key] = choice
            applied.append(fix.key)
        return replacements

    def _first_applicable(
        self, combined: ChannelEdit, fix: SuggestedFix, fixes: frozenset[FindingKey], known: frozenset[str]
    ) -> tuple[ChannelEdit, ChannelEdit] | None:
        """The first alternative that can be applied after the others, and the combined edit."""
        candidates = (fix.edit, fix.edit.alternative, fix.edit.fallback)
        for choice in (e for e in candidates if isinstance(e, ChannelEdit)):
            after = merge_edits(self._graph, combined, choice)
            if after is not None and self._is_acceptable(after, fixes, known):
                return choice._replace(alternative=None), after
        return None

    def _is_acceptable(self, edit: ChannelEdit, fixes: frozenset[FindingKey], known: frozenset[str]) -> bool:
        """Whether an edit fixes its findings and adds errors of known rules only."""
        return self._fixes(edit, fixes) and self._errors(edit) <= known

    def _fixes(self, edit: ChannelEdit, fixes: frozenset[FindingKey]) -> bool:
        """Whether an edit fixes all these findings without a regression."""
        if self._trials.regression(edit) is not None:
            return False
        rules = {rule for rule, *_ in fixes}
        found = {rule: self._trials.flaws_after(self._rules[rule], edit) for rule in rules}
        return fixes.isdisjoint((rule, f.entry, f.place) for rule, flaws in found.items() for f in flaws)

    @cached_property
    def _before(self) -> frozenset[str]:
        return frozenset(rule.id for rule in _error_rules() if any(map(_is_error, rule.check(self._graph))))

    def _errors(self, edit: ChannelEdit) -> frozenset[str]:
        """The rules that report errors after an edit."""
        return frozenset(
            rule.id for rule in _error_rules() if any(map(_is_error, self._trials.flaws_after(rule, edit)))
        )


def _error_rules() -> Iterator[Rule]:
    """The channel rules with severity error."""
    return (rule for rule in rules_for_subjects({"channel"}) if rule.severity is Severity.ERROR)


def _is_error(flaw: Flaw) -> bool:
    return flaw.severity in (None, Severity.ERROR)


def _join_keys(keys: Sequence[FindingKey]) -> str:
    return join_names((f"{rule} ({entry})" if entry else rule for rule, entry, _ in keys), _MAX_NAMED)
