"""One cause, one fix: findings that another one's fix mends say so and do not offer their own.

A replaces that leads nowhere makes a second head, strands whoever stands below it under OLM v1, and perhaps
under v0 too. All of that is reported; but three fixes for it, each right by itself, would mend it thrice.
What goes with what is not guessed: the edit is made to a copy of the channel, which is judged again.
"""

from __future__ import annotations

__all__ = ["Judged", "traced"]

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from everpath.graph import ChannelGraph
from everpath.rules._edits import Edit, edited
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import Rule

#: A channel with more findings than this is broken as a whole, and judging it again and again costs too much.
_MOST_FOUND: Final = 100

#: How many edits are tried in a channel; one with more causes than that has its errors mended in turns.
_MOST_TRIED: Final = 8

#: An edit is repeated beside what it mends along, unless it is longer than a line or two.
_LONGEST: Final = 200


class Judged(NamedTuple):
    """A flaw and the rule that found it."""

    rule: Rule
    flaw: Flaw

    @property
    def severity(self) -> Severity:
        return self.rule.severity if self.flaw.severity is None else self.flaw.severity

    @property
    def key(self) -> tuple[str, str | None]:
        return self.rule.id, self.flaw.entry


class _Cure(NamedTuple):
    """A finding whose edit was tried, and what else went with it."""

    by: Judged
    edit: Edit
    mended: frozenset[tuple[str, str | None]]


def traced(graph: ChannelGraph, found: Sequence[Judged]) -> list[Judged]:
    """The findings of one channel; whatever a finding's edit mends along names that finding in its fix.

    Where several would do, the edit that mends the most is the one, of equals the worst finding's. Cost:
    nothing for a channel without errors, or with more than a hundred findings; else a second judgement of it
    for each edit, of which at most eight are tried.
    """
    serious = [j for j in found if j.severity > Severity.NOTE]
    if not 2 <= len(serious) <= _MOST_FOUND or all(j.severity < Severity.ERROR for j in serious):
        return list(found)
    causes: dict[tuple[str, str | None], _Cure] = {}
    for cure in sorted(_cures(graph, serious), key=lambda c: (-len(c.mended), -c.by.severity, c.by.rule.id)):
        if cure.by.key not in causes:
            causes |= {key: cure for key in cure.mended if key not in causes}
    return [_told(judged, causes.get(judged.key)) for judged in found]


def _cures(graph: ChannelGraph, serious: Sequence[Judged]) -> list[_Cure]:
    rules = {j.rule.id: j.rule for j in serious}
    before = {j.key for j in serious}
    tried = sorted((j for j in serious if isinstance(j.flaw.fix, Edit)), key=lambda j: -j.severity)
    cures = []
    for judged in tried[:_MOST_TRIED]:
        assert isinstance(judged.flaw.fix, Edit)
        after = _keys(edited(graph, judged.flaw.fix), rules.values())
        worse = {rule for rule, _ in after - before}
        mended = frozenset(key for key in before - after if key[0] not in worse)
        if judged.key in mended:
            cures.append(_Cure(judged, judged.flaw.fix, mended))
    return cures


def _keys(graph: ChannelGraph, rules: Iterable[Rule]) -> set[tuple[str, str | None]]:
    judged = (Judged(rule, flaw) for rule in rules for flaw in rule.check(graph))
    return {j.key for j in judged if j.severity > Severity.NOTE}


def _told(judged: Judged, cure: _Cure | None) -> Judged:
    """A finding, with the fix of its cause if that is another one."""
    if cure is None or cure.by.key == judged.key:
        return judged
    rule, entry = cure.by.key
    where = f"{rule} ({entry})" if entry else rule
    edit = f": {cure.edit.text}" if len(cure.edit.text) <= _LONGEST else ""
    fix = f"same cause as {where}, mended with it{edit}"
    return judged._replace(flaw=judged.flaw._replace(fix=fix))
