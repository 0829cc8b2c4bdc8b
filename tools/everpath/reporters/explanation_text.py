"""An explanation as text: the decision first, then candidates, upgrade path and fixes."""

from __future__ import annotations

__all__ = ["text"]

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from everpath import __url__
from everpath.explain import (
    CandidateGroup,
    ClusterCheck,
    ExplainQuery,
    Explanation,
    ProposedFix,
    ResolverExplanation,
)
from everpath.reporters.colour import Paint
from everpath.reporters.explanation_json import ExplanationReport
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

_PAGE: Final = f"{__url__}/blob/main/docs/commands/why.md#checks-on-the-cluster"

#: Lines of what was candidates at, names on one of them, and fixes: a channel may have hundreds.
_MOST_CANDIDATES: Final = 12
_MOST_NAMES: Final = 2
_MOST_FIXES: Final = 5


def text(report: ExplanationReport) -> Iterator[str]:
    """Yield a section for each resolver, and checks for the cluster."""
    paint, explanation = Paint(report.colour), report.explanation
    yield f"{paint('bold', one_line(_title(explanation.query)))}\n"
    yield from (f"{one_line(sentence)}\n" for sentence in explanation.location)
    for each in explanation.explanations:
        yield "\n"
        yield from _explain_trace(each, report, paint)
    if not report.is_brief:
        yield "\n"
        yield from _checks(explanation, paint)


def _title(query: ExplainQuery) -> str:
    asked = query.installed
    version = f" ({asked.version})" if asked is not None and asked.version else ""
    installed = (
        f"{quote_empty(asked.name)}{version} is installed" if asked is not None else "nothing is installed"
    )
    return f"package {query.package}, channel {query.channel}: {installed}"


def _explain_trace(each: ResolverExplanation, report: ExplanationReport, paint: Paint) -> Iterator[str]:
    trace = each.trace
    yield f"{paint(_COLOURS[trace.path.end], one_line(each.summary))}\n"
    yield f"  resolved for {one_line(each.requester)}\n"
    yield from _candidates(each, paint)
    yield f"  {paint('bold', 'upgrade path:')} {one_line(each.path_summary)}\n"
    failure = trace.decision.failure
    if failure is not None and failure.message:
        yield f"  {paint('bold', 'error message:')} {one_line(failure.message)}\n"
    yield from _fixes(each.fixes, report, paint)
    for sentence in (*each.hints, *each.alternatives, *each.warnings):
        yield f"  {paint('cyan', 'note:')} {one_line(sentence)}\n"


def _candidates(each: ResolverExplanation, paint: Paint) -> Iterator[str]:
    """Yield the candidates, and the number of those left out."""
    if not each.candidates:
        return
    yield f"  {paint('bold', 'candidates:')}\n"
    shown = _foremost(each.candidates)
    rows = [(_names(group), group.result.value, group.text) for group in shown]
    yield from (f"    {line}" for line in columns(rows))
    if len(shown) < len(each.candidates):
        left = sum(len(group.names) for group in each.candidates) - sum(len(group.names) for group in shown)
        yield f"    and {left:,} more, none of which accepts it (-o json lists them)\n"


def _foremost(candidates: Sequence[CandidateGroup]) -> Sequence[CandidateGroup]:
    """Return accepted candidates, then the first of the others, in their order."""
    if len(candidates) <= _MOST_CANDIDATES:
        return candidates
    accepted = [
        group for group in candidates if group.edge is not None or group.result is not CandidateResult.REFUSED
    ]
    rest = [group for group in candidates if group not in accepted]
    chosen = [*accepted[:_MOST_CANDIDATES], *rest[: max(1, _MOST_CANDIDATES - len(accepted))]]
    return [group for group in candidates if group in chosen]


def _names(group: CandidateGroup) -> str:
    most = 1 if len(group.names) > _MOST_NAMES else _MOST_NAMES
    names = join_names([quote_empty(name) for name in group.names], most)
    return f"{names} of {group.catalog}" if group.catalog else names


def _fixes(fixes: Sequence[ProposedFix], report: ExplanationReport, paint: Paint) -> Iterator[str]:
    if not fixes:
        return
    yield f"  {paint('bold', 'fixes:')}\n"
    for fix in fixes[:_MOST_FIXES]:
        if fix.severity is not None:
            label = paint.severity(fix.severity, f"{fix.severity.word}[{fix.rule} {fix.name}]")
            yield f"    {label}: {one_line(fix.message)}{_where(fix, report)}\n"
        indent = "      " if fix.severity is not None else "    "
        yield f"{indent}{paint('green', 'fix:')} {one_line(fix.text)}\n"
    if (more := len(fixes) - _MOST_FIXES) > 0:
        yield f"    and {more:,} more (everpath validate-graph lists them)\n"


def _where(fix: ProposedFix, report: ExplanationReport) -> str:
    if fix.place is None:
        return ""
    found = report.locate(fix.place)
    steps = [one_line(str(step)) for step in (found.file, found.line, found.column) if step]
    return f" ({':'.join(steps)})" if steps else ""


def _checks(explanation: Explanation, paint: Paint) -> Iterator[str]:
    """Yield all checks; if every path reaches its goal, only the first for each resolver."""
    yield f"{paint('bold', 'Check on the cluster:')}\n"
    shown: Collection[ClusterCheck] = explanation.checks
    if explanation.reaches_goal:
        shown = {check.policy: check for check in reversed(explanation.checks)}.values()
    for check in explanation.checks:
        if check in shown:
            yield f"  {check.question}\n    {paint('dim', f'$ {check.command}')}\n"
    if more := len(explanation.checks) - len(shown):
        yield f"  and {more} more if the cluster behaves differently: see -o json and {_PAGE}\n"
