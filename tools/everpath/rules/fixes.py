"""One cause, one fix: findings that another one's fix mends say so and do not offer their own.

A replaces that leads nowhere makes a second head, strands whoever stands below it under OLM v1, and perhaps
under v0 too. All of that is reported; but three fixes for it, each right by itself, would mend it thrice.
What goes with what is not guessed: the edit is made to a copy of the channel, which is judged again. So is
every other edit: one that does not mend its finding, or leaves somebody worse off, is not advised. What is
left is tried together.
"""

from __future__ import annotations

__all__ = ["Violation", "verify_fixes"]

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from everpath.graph import ChannelGraph
from everpath.rules.edits import Edit, join_edits, next_release_advice
from everpath.rules.findings import Flaw, Severity
from everpath.rules.fix_conflicts import FindingKey, SuggestedFix, resolve_conflicts
from everpath.rules.registry import Rule
from everpath.wording import join_names

if TYPE_CHECKING:
    from everpath.rules.fix_trials import FixTrials

#: A channel with more findings than this is broken as a whole, and judging it again and again costs too much.
_MOST_FOUND: Final = 100

#: How many edits are tried for what else they mend; a channel with more causes is mended in turns.
_MOST_TRIED: Final = 8

#: Entries of all copies that are made of a channel; of a long one with many findings not every edit is tried.
_MOST_COPIED: Final = 10_000

#: How many edits are tried together with one that would harm somebody by itself.
_MOST_JOINED: Final = 3

#: An edit is repeated beside what it mends along, unless it is longer than a line or two.
_LONGEST: Final = 200


#: A finding by its rule and its entry, as people are told of it.
Key: TypeAlias = tuple[str, str | None]


class Violation(NamedTuple):
    """A flaw and the rule that found it."""

    rule: Rule
    flaw: Flaw

    @property
    def severity(self) -> Severity:
        return self.rule.severity if self.flaw.severity is None else self.flaw.severity

    @property
    def key(self) -> Key:
        return self.rule.id, self.flaw.entry

    @property
    def mark(self) -> FindingKey:
        return *self.key, self.flaw.place


class _Cure(NamedTuple):
    """A finding whose edit was tried, and what else went with it."""

    by: Violation
    edit: Edit
    mended: frozenset[Key]


def verify_fixes(graph: ChannelGraph, found: Sequence[Violation]) -> list[Violation]:
    """The findings of one channel; whatever a finding's edit mends along names that finding in its fix.

    Where several would do, the edit that mends the most is the one, of equals the worst finding's. An edit
    that does harm, or does not help, gives way to another one, or to advice.
    Cost: nothing for a channel without edits to advise, or with more than a hundred of them; else a copy of
    it for each edit, and a second judgement of it for each of eight where there are errors.
    """
    edits = [j for j in found if isinstance(j.flaw.fix, Edit)]
    serious = [j for j in found if j.severity > Severity.NOTE]
    needed = [j for j in edits if _left_alone(j) is j]
    if not edits or max(len(needed), len(serious)) > _MOST_FOUND:
        return [_left_alone(j) for j in found]
    from everpath.rules.fix_trials import FixTrials  # noqa: PLC0415 - a channel without edits to try needs no policies

    trials = FixTrials(graph)
    proven = _Proof(graph, trials, edits).proven
    found = [proven.get(id(j.flaw)) or _left_alone(j) for j in found]
    serious = [j for j in found if j.severity > Severity.NOTE]
    causes = _causes(trials, serious)
    offers = _offers(found, causes)
    rules = {j.rule.id: j.rule for j in found}
    said = resolve_conflicts(graph, trials, rules, offers, _most(graph))
    return [_told(judged, causes.get(judged.key), said) for judged in found]


def _most(graph: ChannelGraph) -> int:
    """How many edits are tried on copies of a channel."""
    return max(_MOST_TRIED, _MOST_COPIED // len(graph.entries))


class _Proof:
    """Findings with edits, each with one that was tried, or with advice where none helps and does no harm."""

    def __init__(self, graph: ChannelGraph, trials: FixTrials, edits: Sequence[Violation]) -> None:
        self._graph = graph
        self._trials = trials
        self._tried = sorted(edits, key=lambda j: -j.severity)[: _most(graph)]
        self._good: dict[str, tuple[Violation, Edit]] = {}
        first = {id(j.flaw): (j, self._alone(j)) for j in self._tried}
        #: By the identity of the flaw that was found.
        self.proven = {
            key: j._replace(flaw=j.flaw._replace(fix=fix or self._second_best(j)))
            for key, (j, fix) in first.items()
        }

    def _alone(self, judged: Violation) -> Edit | None:
        """The first of a finding's own edits that will do, with the next one that will, too."""
        fix = judged.flaw.fix
        assert isinstance(fix, Edit)
        offered = [fix, fix.alternative, fix.fallback]
        good = [e for e in offered if isinstance(e, Edit) and self._is_good(judged, e)]
        if not good:
            return None
        if not fix.prefix:
            self._good.setdefault(good[0].text, (judged, good[0]))
        is_shown = len(good) > 1 and good[1] is fix.alternative
        return good[0]._replace(alternative=good[1] if is_shown else None)

    def _second_best(self, judged: Violation) -> Edit | str:
        """What is advised where none of a finding's own edits will do."""
        left = _left_alone(judged).flaw.fix
        return left if isinstance(left, str) else self._together(judged) or self._advice(judged)

    def _is_good(self, judged: Violation, edit: Edit) -> bool:
        """Whether an edit mends a finding and leaves nobody worse off."""
        if self._trials.regression(edit) is not None:
            return False
        after = self._trials.flaws_after(judged.rule, edit)
        return all((flaw.entry, flaw.place) != (judged.flaw.entry, judged.flaw.place) for flaw in after)

    def _together(self, judged: Violation) -> Edit | None:
        """The edit with one that is advised beside it and takes the harm away, or after all of them."""
        fix = judged.flaw.fix
        assert isinstance(fix, Edit)
        others = [edit for _, edit in self._good.values()]
        pairs = [join_edits(other, fix) for other in others[:_MOST_JOINED]]
        tried = (pair for pair in (*pairs, self._at_last(fix)) if pair is not None)
        return next((pair for pair in tried if self._is_good(judged, pair)), None)

    def _at_last(self, fix: Edit) -> Edit | None:
        """An edit after all others that are advised, which are told by their findings."""
        whole, first = fix, list[str]()
        for other, edit in self._good.values():
            if (more := join_edits(edit, whole)) is not None:
                whole = more
                first.append(f"{other.rule.id} ({other.flaw.entry})")
        return (
            whole._replace(text=f"{fix.text}, after all other fixes: {join_names(first, 3)}")
            if first
            else None
        )

    def _advice(self, judged: Violation) -> str:
        """What is left to say where no edit will do."""
        fix = judged.flaw.fix
        assert isinstance(fix, Edit)
        if isinstance(fix.fallback, str):
            return fix.fallback
        harm = self._trials.regression(fix)
        without = f" without harm ({harm})" if harm is not None else ""
        release = next_release_advice(self._graph, judged.flaw.entry or "")
        return f"no single edit of the channel mends it{without}: {release}"


def _left_alone(judged: Violation) -> Violation:
    """A finding whose edit was not tried, without it if it may as well be left."""
    fix = judged.flaw.fix
    if isinstance(fix, Edit) and fix.prefix:
        return judged._replace(flaw=judged.flaw._replace(fix=fix.fallback))
    return judged


def _causes(trials: FixTrials, serious: Sequence[Violation]) -> dict[Key, _Cure]:
    """For findings that an edit mends: that edit. Where there are no errors, nothing is traced."""
    causes: dict[Key, _Cure] = {}
    if all(j.severity < Severity.ERROR for j in serious):
        return causes
    for cure in sorted(_cures(trials, serious), key=lambda c: (-len(c.mended), -c.by.severity, c.by.rule.id)):
        if cure.by.key not in causes:
            causes |= {key: cure for key in cure.mended if key not in causes}
    return causes


def _offers(found: Sequence[Violation], causes: Mapping[Key, _Cure]) -> list[SuggestedFix]:
    """The edits that are advised, those of the worst findings first, then those that mend the most."""
    mended: dict[Key, set[FindingKey]] = {}
    for judged in found:
        if (cure := causes.get(judged.key)) is not None:
            mended.setdefault(cure.by.key, set()).add(judged.mark)
    own = [j for j in found if j.key not in causes or causes[j.key].by.key == j.key]
    offers = [
        (j.severity, SuggestedFix(j.mark, j.flaw.fix, frozenset({j.mark} | mended.get(j.key, set()))))
        for j in own
        if isinstance(j.flaw.fix, Edit) and not j.flaw.fix.prefix
    ]
    return [offer for _, offer in sorted(offers, key=lambda o: (-o[0], -len(o[1].mends)))]


def _cures(trials: FixTrials, serious: Sequence[Violation]) -> list[_Cure]:
    rules = {j.rule.id: j.rule for j in serious}
    before = {j.key for j in serious}
    tried = sorted((j for j in serious if isinstance(j.flaw.fix, Edit)), key=lambda j: -j.severity)
    cures = []
    for judged in tried[:_MOST_TRIED]:
        assert isinstance(judged.flaw.fix, Edit)
        after = [
            Violation(r, flaw) for r in rules.values() for flaw in trials.flaws_after(r, judged.flaw.fix)
        ]
        worse = {j.rule.id for j in after if j.severity > Severity.NOTE and j.key not in before}
        mended = frozenset(key for key in before - {j.key for j in after} if key[0] not in worse)
        if judged.key in mended and trials.regression(judged.flaw.fix) is None:
            cures.append(_Cure(judged, judged.flaw.fix, mended))
    return cures


def _told(judged: Violation, cure: _Cure | None, said: Mapping[FindingKey, Edit | str]) -> Violation:
    """A finding with its fix, or that of its cause; `said` is what is advised in the stead of edits."""
    if cure is None or cure.by.key == judged.key:
        fix = said.get(judged.mark, judged.flaw.fix)
        return judged._replace(flaw=judged.flaw._replace(fix=fix))
    rule, entry = cure.by.key
    where = f"{rule} ({entry})" if entry else rule
    advice = said.get(cure.by.mark, cure.edit)
    return judged._replace(flaw=judged.flaw._replace(fix=f"same cause as {where}{_ending(advice)}"))


def _ending(advice: Edit | str) -> str:
    """What is said behind the cause: its edit, or what has to be done before there is one."""
    if isinstance(advice, str):
        return f": {advice}"
    return ", mended with it" + (f": {advice.text}" if len(advice.text) <= _LONGEST else "")
