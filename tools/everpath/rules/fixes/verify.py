"""Verify the suggested fixes of a channel on copies of it, and find findings with a common cause.

A `replaces` of a missing name makes a second head and strands clusters under OLM v1, perhaps under OLM v0 as
well. All of that is reported, but three independent fixes would be wrong. So every edit is applied to a copy
of the channel, which is linted again. A finding that the edit of another one fixes refers to it. An edit that
does not fix its finding, or makes an upgrade path worse, is not suggested. The remaining edits are tried
together.
"""

from __future__ import annotations

__all__ = ["Violation", "verify_fixes"]

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from everpath.graph import ChannelGraph
from everpath.rules.findings import Fix, Flaw, Severity
from everpath.rules.fixes.conflicts import FindingKey, SuggestedFix, resolve_conflicts
from everpath.rules.fixes.edits import ChannelEdit, DeferredFix, FixedWith, join_edits, next_release_advice
from everpath.rules.registry import Rule
from everpath.wording import join_names

if TYPE_CHECKING:
    from everpath.rules.fixes.trials import FixTrials

#: Fixes are not tried in a channel with more findings.
_MAX_FINDINGS: Final = 100

#: Each edit is tried on a copy of the channel. Edits are tried until all copies together have this number of
#: entries, so fewer in a long channel, but not fewer than the minimum.
_MAX_COPIED_ENTRIES: Final = 10_000
_MIN_TRIALS: Final = 8

#: The number of edits that are tried for what else they fix.
_MAX_COMMON_TRIALS: Final = 8

#: The number of edits that are tried together with one that is harmful by itself.
_MAX_JOINED: Final = 3

#: The length up to which the text of an edit is repeated for findings that it fixes as well.
_MAX_REPEATED_LENGTH: Final = 200

#: A finding by its rule and entry, as users see it.
_RuleAndEntry: TypeAlias = tuple[str, str | None]


class Violation(NamedTuple):
    """A flaw and the rule that yields it."""

    rule: Rule
    flaw: Flaw

    @property
    def severity(self) -> Severity:
        return self.rule.severity if self.flaw.severity is None else self.flaw.severity

    @property
    def rule_and_entry(self) -> _RuleAndEntry:
        return self.rule.id, self.flaw.entry

    @property
    def key(self) -> FindingKey:
        return *self.rule_and_entry, self.flaw.place

    def with_fix(self, fix: Fix | None) -> Violation:
        return self._replace(flaw=self.flaw._replace(fix=fix))


class _CommonFix(NamedTuple):
    """A violation, its edit, and all findings that the edit fixes."""

    by: Violation
    edit: ChannelEdit
    fixed: frozenset[_RuleAndEntry]


def verify_fixes(graph: ChannelGraph, violations: Sequence[Violation]) -> list[Violation]:
    """Return the violations of a channel with fixes that were tried on a copy of it.

    A violation that the edit of another one fixes refers to that one. Of several such edits the one that
    fixes the most is chosen, then the one of the worst finding. An edit that does not help, or is harmful,
    is replaced by another one or by advice.
    Cost: nothing for a channel without edits or with more than 100 violations; else a copy for each edit,
    and a second lint run for each of eight edits if there are errors.
    """
    with_edits = [v for v in violations if isinstance(v.flaw.fix, ChannelEdit)]
    serious = [v for v in violations if v.severity > Severity.NOTE]
    if not with_edits or max(len(with_edits), len(serious)) > _MAX_FINDINGS:
        return list(violations)
    from everpath.rules.fixes.trials import FixTrials  # noqa: PLC0415 - most channels need no trials

    trials = FixTrials(graph)
    limit = max(_MIN_TRIALS, _MAX_COPIED_ENTRIES // len(graph.entries))
    verified = _Verification(graph, trials).verify(with_edits, limit)
    violations = [verified.get(id(v.flaw), v) for v in violations]
    serious = [v for v in violations if v.severity > Severity.NOTE]
    common = _common_fixes(trials, serious)
    suggested = _suggested_fixes(violations, common)
    rules = {v.rule.id: v.rule for v in violations}
    replacements = resolve_conflicts(graph, trials, rules, suggested, limit)
    return [_final_fix(v, common.get(v.rule_and_entry), replacements) for v in violations]


class _Verification:
    """Tries the edits of violations, and replaces those that do not help or are harmful."""

    def __init__(self, graph: ChannelGraph, trials: FixTrials) -> None:
        self._graph = graph
        self._trials = trials
        #: The first violation with an edit that helps, and that edit, by its text.
        self._good: dict[str, tuple[Violation, ChannelEdit]] = {}

    def verify(self, violations: Sequence[Violation], limit: int) -> dict[int, Violation]:
        """Return the violations with a fix that helps, or advice, by the identity of their flaw.

        Only the worst `limit` violations are tried and returned.
        """
        tried = sorted(violations, key=lambda v: -v.severity)[:limit]
        own = [(v, self._own_fix(v)) for v in tried]
        return {id(v.flaw): v.with_fix(fix or self._joined_fix(v) or self._advice(v)) for v, fix in own}

    def _own_fix(self, violation: Violation) -> ChannelEdit | None:
        """The first of the violation's edits that helps, with its alternative if that helps as well."""
        fix = _edit_of(violation)
        candidates = [fix, fix.alternative, fix.fallback]
        good = [e for e in candidates if isinstance(e, ChannelEdit) and self._helps(violation, e)]
        if not good:
            return None
        self._good.setdefault(good[0].text, (violation, good[0]))
        has_alternative = len(good) > 1 and good[1] is fix.alternative
        return good[0]._replace(alternative=good[1] if has_alternative else None)

    def _helps(self, violation: Violation, edit: ChannelEdit) -> bool:
        """Whether an edit fixes a violation and makes no upgrade path worse."""
        if self._trials.regression(edit) is not None:
            return False
        after = self._trials.flaws_after(violation.rule, edit)
        return all((flaw.entry, flaw.place) != (violation.flaw.entry, violation.flaw.place) for flaw in after)

    def _joined_fix(self, violation: Violation) -> ChannelEdit | None:
        """The edit together with one of another finding, or after all of them, if that helps."""
        fix = _edit_of(violation)
        others = [edit for _, edit in self._good.values()]
        pairs = [join_edits(other, fix) for other in others[:_MAX_JOINED]]
        candidates = (edit for edit in (*pairs, self._after_all(fix)) if edit is not None)
        return next((edit for edit in candidates if self._helps(violation, edit)), None)

    def _after_all(self, fix: ChannelEdit) -> ChannelEdit | None:
        """The edit after all other suggested edits; its text names their findings."""
        combined, names = fix, list[str]()
        for other, edit in self._good.values():
            if (more := join_edits(edit, combined)) is not None:
                combined = more
                names.append(f"{other.rule.id} ({other.flaw.entry})")
        text = f"{fix.text}, after all other fixes: {join_names(names, 3)}"
        return combined._replace(text=text, copied=fix.copied) if names else None

    def _advice(self, violation: Violation) -> str:
        """Advice if no edit helps."""
        fix = _edit_of(violation)
        if isinstance(fix.fallback, str):
            return fix.fallback
        regression = self._trials.regression(fix)
        side_effect = f" without side effects ({regression})" if regression is not None else ""
        release = next_release_advice(self._graph, violation.flaw.entry or "")
        return f"no single edit of the channel fixes this{side_effect}: {release}"


def _edit_of(violation: Violation) -> ChannelEdit:
    assert isinstance(violation.flaw.fix, ChannelEdit)
    return violation.flaw.fix


def _common_fixes(trials: FixTrials, serious: Sequence[Violation]) -> dict[_RuleAndEntry, _CommonFix]:
    """Map findings to the edit that fixes them. Without errors the search is not worth its cost."""
    by_finding: dict[_RuleAndEntry, _CommonFix] = {}
    if all(v.severity < Severity.ERROR for v in serious):
        return by_finding
    rules = {v.rule.id: v.rule for v in serious}
    before = {v.rule_and_entry for v in serious}
    with_edits = sorted(
        (v for v in serious if isinstance(v.flaw.fix, ChannelEdit)), key=lambda v: -v.severity
    )
    candidates = []
    for violation in with_edits[:_MAX_COMMON_TRIALS]:
        edit = _edit_of(violation)
        after = [Violation(rule, flaw) for rule in rules.values() for flaw in trials.flaws_after(rule, edit)]
        worse = {v.rule.id for v in after if v.severity > Severity.NOTE and v.rule_and_entry not in before}
        fixed = frozenset(key for key in before - {v.rule_and_entry for v in after} if key[0] not in worse)
        if violation.rule_and_entry in fixed and trials.regression(edit) is None:
            candidates.append(_CommonFix(violation, edit, fixed))
    for fix in sorted(candidates, key=lambda c: (-len(c.fixed), -c.by.severity, c.by.rule.id)):
        if fix.by.rule_and_entry not in by_finding:
            by_finding |= {key: fix for key in fix.fixed if key not in by_finding}
    return by_finding


def _suggested_fixes(
    violations: Sequence[Violation], common: Mapping[_RuleAndEntry, _CommonFix]
) -> list[SuggestedFix]:
    """The edits to suggest: those of the worst findings first, then those that fix the most."""
    fixed: dict[_RuleAndEntry, set[FindingKey]] = {}
    for violation in violations:
        if (fix := common.get(violation.rule_and_entry)) is not None:
            fixed.setdefault(fix.by.rule_and_entry, set()).add(violation.key)
    suggested = []
    for violation in violations:
        key, edit = violation.rule_and_entry, violation.flaw.fix
        is_own = key not in common or common[key].by.rule_and_entry == key
        if is_own and isinstance(edit, ChannelEdit):
            fixes = frozenset({violation.key} | fixed.get(key, set()))
            suggested.append((violation.severity, SuggestedFix(violation.key, edit, fixes)))
    suggested.sort(key=lambda pair: (-pair[0], -len(pair[1].fixes)))
    return [fix for _, fix in suggested]


def _final_fix(
    violation: Violation,
    common: _CommonFix | None,
    replacements: Mapping[FindingKey, ChannelEdit | DeferredFix],
) -> Violation:
    """Return the violation with its own fix, or a reference to the finding that is fixed with it."""
    if common is None or common.by.rule_and_entry == violation.rule_and_entry:
        return violation.with_fix(replacements.get(violation.key, violation.flaw.fix))
    fix = replacements.get(common.by.key, common.edit)
    is_repeated = isinstance(fix, DeferredFix) or len(fix.text) <= _MAX_REPEATED_LENGTH
    return violation.with_fix(FixedWith(*common.by.rule_and_entry, fix if is_repeated else None))
