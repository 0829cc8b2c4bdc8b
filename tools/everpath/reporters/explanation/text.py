"""An explanation as text: the decision first, then candidates, upgrade path and fixes."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Collection, Iterator, Sequence
from typing import Final

from everpath import __url__
from everpath.explanation import (
    CandidateGroup,
    ClusterCheck,
    Explanation,
    ProposedFix,
    ResolverExplanation,
)
from everpath.reporters.colour import Paint
from everpath.reporters.formatting import columns, one_line, quote_empty
from everpath.resolvers.resolution import CandidateResult
from everpath.upgrade_path.hops import PathEnd
from everpath.wording import join_names

_COLOURS: Final = {
    PathEnd.HEAD: "green",
    PathEnd.STRANDED: "yellow",
    PathEnd.LOOP: "red",
    PathEnd.ERROR: "red",
}

_PAGE: Final = f"{__url__}/blob/main/docs/commands/why.md#checks-on-the-cluster"

#: Numbers of candidates, of names on one line, and of fixes that are shown: a channel may have hundreds.
_MAX_CANDIDATES: Final = 12
_MAX_NAMES: Final = 2
_MAX_FIXES: Final = 5


def render(explanation: Explanation, *, colour: bool = False, is_brief: bool = False) -> Iterator[str]:
    """Yield a section for each resolver and, unless `is_brief` is set, the checks for the cluster."""
    paint, query = Paint(colour), explanation.query
    state = "nothing is installed"
    if (installed := query.installed) is not None:
        version = f" ({installed.version})" if installed.version else ""
        state = f"{quote_empty(installed.name)}{version} is installed"
    title = f"package {query.package}, channel {query.channel}: {state}"
    yield f"{paint('bold', one_line(title))}\n"
    yield from (f"{one_line(sentence)}\n" for sentence in explanation.location)
    for each in explanation.explanations:
        yield "\n"
        yield from _explanation(each, paint)
    if not is_brief:
        yield "\n"
        yield from _checks(explanation, paint)


def _explanation(each: ResolverExplanation, paint: Paint) -> Iterator[str]:
    trace = each.trace
    yield f"{paint(_COLOURS[trace.path.end], one_line(each.summary))}\n"
    yield f"  resolved for {one_line(each.requester)}\n"
    yield from _candidates(each.candidates, paint)
    yield f"  {paint('bold', 'upgrade path:')} {one_line(each.path_summary)}\n"
    failure = trace.decision.failure
    if failure is not None and failure.message:
        yield f"  {paint('bold', 'error message:')} {one_line(failure.message)}\n"
    yield from _fixes(each.fixes, paint)
    for sentence in (*each.hints, *each.alternatives, *each.warnings):
        yield f"  {paint('cyan', 'note:')} {one_line(sentence)}\n"


def _candidates(candidates: Sequence[CandidateGroup], paint: Paint) -> Iterator[str]:
    """Yield the candidates, and the number of those left out."""
    if not candidates:
        return
    yield f"  {paint('bold', 'candidates:')}\n"
    shown = _first_candidates(candidates)
    rows = []
    for group in shown:
        most = 1 if len(group.names) > _MAX_NAMES else _MAX_NAMES
        names = join_names([quote_empty(name) for name in group.names], most)
        catalog = f" of {group.catalog}" if group.catalog else ""
        rows.append((f"{names}{catalog}", group.result.value, group.text))
    yield from (f"    {line}" for line in columns(rows))
    if len(shown) < len(candidates):
        more = sum(len(group.names) for group in candidates) - sum(len(group.names) for group in shown)
        yield f"    and {more:,} more, none of which accepts it (-o json lists them)\n"


def _first_candidates(candidates: Sequence[CandidateGroup]) -> Sequence[CandidateGroup]:
    """Return accepted candidates, then the first of the others, in their order."""
    if len(candidates) <= _MAX_CANDIDATES:
        return candidates
    accepted = [
        group for group in candidates if group.edge is not None or group.result is not CandidateResult.REFUSED
    ]
    rest = [group for group in candidates if group not in accepted]
    chosen = [*accepted[:_MAX_CANDIDATES], *rest[: max(1, _MAX_CANDIDATES - len(accepted))]]
    return [group for group in candidates if group in chosen]


def _fixes(fixes: Sequence[ProposedFix], paint: Paint) -> Iterator[str]:
    if not fixes:
        return
    yield f"  {paint('bold', 'fixes:')}\n"
    for fix in fixes[:_MAX_FIXES]:
        indent = "    "
        if fix.severity is not None:
            label = paint.severity(fix.severity, f"{fix.severity.word}[{fix.rule} {fix.name}]")
            yield f"    {label}: {one_line(fix.message)}{_position_text(fix)}\n"
            indent = "      "
        yield f"{indent}{paint('green', 'fix:')} {one_line(fix.text)}\n"
    if (more := len(fixes) - _MAX_FIXES) > 0:
        yield f"    and {more:,} more (everpath validate-graph lists them)\n"


def _position_text(fix: ProposedFix) -> str:
    """Return ` (file:line:column)`, as far as known."""
    position = fix.position
    if position is None:
        return ""
    parts = [str(part) for part in (position.file, position.line, position.column) if part]
    return f" ({one_line(':'.join(parts))})" if parts else ""


def _checks(explanation: Explanation, paint: Paint) -> Iterator[str]:
    """Yield all checks; if every path reaches its goal, only the first for each resolver."""
    yield f"{paint('bold', 'Check on the cluster:')}\n"
    shown: Collection[ClusterCheck] = explanation.checks
    if explanation.reaches_goal:
        shown = {check.resolver: check for check in reversed(explanation.checks)}.values()
    for check in explanation.checks:
        if check in shown:
            yield f"  {check.question}\n    {paint('dim', f'$ {check.command}')}\n"
    if more := len(explanation.checks) - len(shown):
        yield f"  and {more} more if the cluster behaves differently: see -o json and {_PAGE}\n"
