"""An explanation for people: the verdict first, then what was looked at, the road, and what to do."""

from __future__ import annotations

__all__ = ["text"]

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from everpath import __url__
from everpath.explain import Check, Explanation, Look, Question, Remedy, Story
from everpath.reporters.colour import Paint
from everpath.reporters.explanation_json import Told
from everpath.reporters.formatting import columns, one_line, quote_empty
from everpath.resolvers.resolution import CandidateResult
from everpath.upgrade_paths.hops import PathEnd
from everpath.wording import join_names

_COLOURS: Final = {
    PathEnd.HEAD: "green",
    PathEnd.STRANDED: "yellow",
    PathEnd.LOOP: "red",
    PathEnd.ERROR: "red",
}

_PAGE: Final = f"{__url__}/blob/main/docs/commands/why.md#what-no-catalog-can-tell"

#: Lines of what was looked at, names on one of them, and remedies: a channel may have hundreds.
_MOST_LOOKS: Final = 12
_MOST_NAMES: Final = 2
_MOST_REMEDIES: Final = 5


def text(told: Told) -> Iterator[str]:
    """A section for each resolver, and what to ask the cluster."""
    paint, explanation = Paint(told.colour), told.explanation
    yield f"{paint('bold', one_line(_title(explanation.question)))}\n"
    yield from (f"{one_line(sentence)}\n" for sentence in explanation.whereabouts)
    for story in explanation.stories:
        yield "\n"
        yield from _story(story, told, paint)
    if not told.brief:
        yield "\n"
        yield from _checks(explanation, paint)


def _title(question: Question) -> str:
    asked = question.asked
    version = f" ({asked.version})" if asked is not None and asked.version else ""
    installed = (
        f"{quote_empty(asked.name)}{version} is installed" if asked is not None else "nothing is installed"
    )
    return f"package {question.package}, channel {question.channel}: {installed}"


def _story(story: Story, told: Told, paint: Paint) -> Iterator[str]:
    account = story.account
    yield f"{paint(_COLOURS[account.end], one_line(story.verdict))}\n"
    yield f"  asked for {one_line(story.asker)}\n"
    yield from _looks(story, paint)
    yield f"  {paint('bold', 'the road:')} {one_line(story.road)}\n"
    failure = account.decision.failure
    if failure is not None and failure.message:
        yield f"  {paint('bold', 'in its own words:')} {one_line(failure.message)}\n"
    yield from _remedies(story.remedies, told, paint)
    for sentence in (*story.hints, *story.elsewhere, *story.cautions):
        yield f"  {paint('cyan', 'note:')} {one_line(sentence)}\n"


def _looks(story: Story, paint: Paint) -> Iterator[str]:
    """What was looked at, and how many lines are left out."""
    if not story.looked:
        return
    yield f"  {paint('bold', 'looked at:')}\n"
    shown = _foremost(story.looked)
    rows = [(_names(look), look.verdict.value, look.text) for look in shown]
    yield from (f"    {line}" for line in columns(rows))
    if len(shown) < len(story.looked):
        left = sum(len(look.names) for look in story.looked) - sum(len(look.names) for look in shown)
        yield f"    and {left:,} more, none of which accepts it (-o json lists them)\n"


def _foremost(looked: Sequence[Look]) -> Sequence[Look]:
    """Those that were accepted or taken, then the first of the others; in their order."""
    if len(looked) <= _MOST_LOOKS:
        return looked
    weighty = [
        look for look in looked if look.edge is not None or look.verdict is not CandidateResult.REFUSED
    ]
    rest = [look for look in looked if look not in weighty]
    chosen = [*weighty[:_MOST_LOOKS], *rest[: max(1, _MOST_LOOKS - len(weighty))]]
    return [look for look in looked if look in chosen]


def _names(look: Look) -> str:
    most = 1 if len(look.names) > _MOST_NAMES else _MOST_NAMES
    names = join_names([quote_empty(name) for name in look.names], most)
    return f"{names} of {look.catalog}" if look.catalog else names


def _remedies(remedies: Sequence[Remedy], told: Told, paint: Paint) -> Iterator[str]:
    if not remedies:
        return
    yield f"  {paint('bold', 'to mend it:')}\n"
    for remedy in remedies[:_MOST_REMEDIES]:
        if remedy.severity is not None:
            label = paint.severity(remedy.severity, f"{remedy.severity.word}[{remedy.rule} {remedy.name}]")
            yield f"    {label}: {one_line(remedy.message)}{_where(remedy, told)}\n"
        indent = "      " if remedy.severity is not None else "    "
        yield f"{indent}{paint('green', 'fix:')} {one_line(remedy.text)}\n"
    if (more := len(remedies) - _MOST_REMEDIES) > 0:
        yield f"    and {more:,} more (everpath validate-graph lists them)\n"


def _where(remedy: Remedy, told: Told) -> str:
    if remedy.place is None:
        return ""
    found = told.locate(remedy.place)
    steps = [one_line(str(step)) for step in (found.file, found.line, found.column) if step]
    return f" ({':'.join(steps)})" if steps else ""


def _checks(explanation: Explanation, paint: Paint) -> Iterator[str]:
    """All where something is wrong; else the first for each resolver, in case the cluster does otherwise."""
    yield f"{paint('bold', 'What no catalog can tell, and the cluster can:')}\n"
    shown: Collection[Check] = explanation.checks
    if explanation.is_content:
        shown = {check.policy: check for check in reversed(explanation.checks)}.values()
    for check in explanation.checks:
        if check in shown:
            yield f"  {check.question}\n    {paint('dim', f'$ {check.command}')}\n"
    if more := len(explanation.checks) - len(shown):
        yield f"  and {more} more if the cluster does otherwise: -o json has them, and {_PAGE}\n"
