"""Proposed fixes: those of rules that concern the path, and edits that were tried.

The fix of a finding is that of its rule. For a version in no channel there is no rule, and edits are
computed. Both are tried on a copy of the channel, and proposed only if the installed version then reaches its
goal and no other is worse off.
"""

from __future__ import annotations

__all__ = ["ProposedFix", "propose_fixes"]

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from everpath.explain.fix_search import FixSearch
from everpath.explain.trace import ExplainQuery, ResolverTrace
from everpath.model import Catalog, Package, Place
from everpath.resolvers.resolution import FailureKind
from everpath.rules.edits import Edit
from everpath.rules.findings import Finding, Severity
from everpath.rules.fix_conflicts import is_deferred
from everpath.rules.fixes import FIXED_TOGETHER
from everpath.rules.lint import Selection, lint
from everpath.wording import NameSuggestions, shorten_names

_WORD: Final = re.compile(r"[\w.+-]*\w")

#: Rules about ranges that OLM ignores or interprets otherwise; such a range may be meant for the installed
#: version.
_RANGES: Final = frozenset(("EP301", "EP302", "EP303", "EP306", "EP308"))

#: Failures that no edit of the channel fixes.
_NOT_FIXABLE: Final = frozenset((FailureKind.NO_STARTING_CSV, FailureKind.UNREADABLE_VERSION))

#: Reports only that the resolvers differ, which the explanations show.
_UNHELPFUL: Final = frozenset(("EP218",))


#: Report of an entry that it is left behind: of no use to who ends alternatives.
_STRANDED: Final = frozenset(("EP206", "EP207"))

#: Number of findings whose edits are tried; each trial resolves the channel.
_MOST_TRIED: Final = 12

#: Text for a finding whose fix is harmless, but not sufficient.
_NOT_ALONE: Final = "fixed alone, it does not help"


class ProposedFix(NamedTuple):
    """A fix, the finding that it belongs to, if any, and its edits."""

    text: str
    message: str = ""
    rule: str | None = None
    name: str | None = None
    severity: Severity | None = None
    place: Place | None = None
    edits: tuple[Edit, ...] = ()


def propose_fixes(
    trace: ResolverTrace, query: ExplainQuery, catalogs: Mapping[str, Catalog]
) -> Iterator[ProposedFix]:
    """Yield fixes for a path that does not reach its goal. Cost: the rules, for one package."""
    if trace.reaches_goal:
        return
    known = [c.by_name[query.package] for c in catalogs.values() if query.package in c.by_name]
    if known and (fix := _empty_package_fix(trace, query, known)) is not None:
        yield fix
        return
    if trace.graph is None and trace.resolver == "v0":
        yield _other_channel(trace, query)
        return
    if trace.decision.failure is not None and trace.decision.failure.kind in _NOT_FIXABLE:
        yield from _starting_csv_fix(trace, query)
        return
    source = trace.source
    search = FixSearch.of(trace, query)
    catalog = catalogs.get(source.name) if source is not None else None
    candidates = list(_rule_fixes(trace, query, catalog, search)) if catalog is not None else []
    yield from candidates if search is None else _tried_fixes(trace, search, candidates)


def _rule_fixes(
    trace: ResolverTrace, query: ExplainQuery, catalog: Catalog, search: FixSearch | None
) -> Iterator[ProposedFix]:
    """Yield the fixes of rules, the most severe first."""
    selection = _selection(trace, query)
    # Each edit is tried alone here, so fixes that are deferred to another one are skipped.
    found = [
        finding
        for finding in _relevant_findings(trace, catalog, selection)
        if not is_deferred(finding.fix or "")
    ]
    edits = search.suggested_edits(catalog, selection) if search is not None and found else {}
    for finding in sorted(found, key=lambda finding: _order(trace, finding)):
        edit = edits.get((finding.rule, finding.entry, finding.place))
        if search is None or finding.rule not in _RANGES:
            yield _as_fix(finding, edit)
        elif (better := edit or search.covering_range(finding.entry or "")) is not None and search.helps(
            better
        ):
            # The range that was probably meant; if no rule knows it, the range that is needed here.
            yield _as_fix(finding._replace(fix=better.text), better)


def _tried_fixes(
    trace: ResolverTrace, search: FixSearch, candidates: Sequence[ProposedFix]
) -> Iterator[ProposedFix]:
    """Yield texts, and the edits that help; if none does, computed edits or a new release."""
    with_edits = [fix for fix in candidates if fix.edits]
    candidates = [r for r in candidates if not r.edits or r in with_edits[:_MOST_TRIED]]
    tried = [(fix, [e for e in fix.edits if search.helps(e)]) for fix in candidates]
    for fix, helpful in tried:
        if helpful:
            yield fix._replace(text=", or ".join(e.text for e in helpful), edits=tuple(helpful))
        elif not fix.edits:
            yield fix
    if any(helpful for _, helpful in tried):
        return
    insufficient = [fix for fix in candidates if fix.edits]
    for fix in insufficient:
        yield fix._replace(text=f"{_NOT_ALONE} {_subject(trace)} reach its goal", edits=())
    is_advised = any(fix.severity is Severity.ERROR for fix in candidates if not fix.edits)
    yield from _computed_fixes(trace, search, [r.edits[0] for r in insufficient], is_last=not is_advised)


def _computed_fixes(
    trace: ResolverTrace, search: FixSearch, suggested: Sequence[Edit], *, is_last: bool
) -> Iterator[ProposedFix]:
    """Yield computed edits; `is_last`: if there is none, yield a text that says so."""
    joined = search.combine(suggested) if suggested else None
    edits = search.edits_to_goals() or ([joined] if joined is not None else [])
    release = search.new_release() if not edits else None
    if not edits and release is None and suggested:
        release = search.release_after_edits(suggested)
    edits = edits or search.downgrades()
    options = [*([release] if release is not None else []), *(edit.text for edit in edits)]
    if edits:
        yield ProposedFix(", or ".join(options), edits=tuple(edits))
    elif is_last:
        goal = f"{_subject(trace)} reaches its goal and no version is worse off"
        none = f"no single edit was found with which {goal}"
        yield ProposedFix(": ".join((none, *options)))


def _subject(trace: ResolverTrace) -> str:
    return trace.installed.name if trace.installed is not None else "a new install"


def _empty_package_fix(
    trace: ResolverTrace, query: ExplainQuery, packages: Sequence[Package]
) -> ProposedFix | None:
    """For a package without channels, for channels that it has not, and for those without entries."""
    channels = {channel.name: channel for package in packages for channel in package.channels}
    if not channels:
        return ProposedFix(
            f"publish a channel of {query.package}, which has none, with an entry for each bundle"
        )
    chosen = [channels[name] for name in trace.channels or channels if name in channels]
    if not chosen and trace.resolver == "v1":
        return ProposedFix(f"let channels name one that the package has ({', '.join(sorted(channels))})")
    if chosen and not any(channel.entries for channel in chosen):
        names = ", ".join(channel.name for channel in chosen)
        return ProposedFix(f"add entries to {names}: a channel without any serves nobody, and opm refuses it")
    return None


def _other_channel(trace: ResolverTrace, query: ExplainQuery) -> ProposedFix:
    package = trace.source.package if trace.source is not None else None
    names = sorted(package.by_name) if package is not None else []
    near = get_close_matches(query.channel, names, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return ProposedFix(
        f"subscribe to a channel that the package has ({', '.join(names) or 'it has none'}){meant}"
    )


def _starting_csv_fix(trace: ResolverTrace, query: ExplainQuery) -> Iterator[ProposedFix]:
    """For a startingCSV that the channel does not have; an unreadable version is not the catalog's."""
    if trace.graph is not None and query.starting_csv is not None:
        meant = NameSuggestions(trace.graph.entries).suggest(query.starting_csv)
        there = f"did you mean {meant}?" if meant else f"the head is {', '.join(trace.graph.heads)}"
        yield ProposedFix(f"let startingCSV name an entry of {query.channel}: {there}")


def _selection(trace: ResolverTrace, query: ExplainQuery) -> Selection:
    channels = frozenset(trace.channels)
    return Selection(packages=frozenset((query.package,)), channels=channels, policy=trace.resolver)


def _relevant_findings(trace: ResolverTrace, catalog: Catalog, selection: Selection) -> list[Finding]:
    """Return findings that concern the path, and their causes; not those that the fix of a cause resolves."""
    candidates = [f for f in lint(catalog, selection).findings if _can_help(trace, f)]
    # Messages have the short names of entries.
    subjects = {shorten_names(name, package) for name in _subjects(trace) for package in selection.packages}
    subjects |= _subjects(trace)
    concerned = [f for f in candidates if f.rule in _RANGES or not subjects.isdisjoint(_words(f))]
    causes = {_cause(finding) for finding in concerned}
    found = [f for f in candidates if f in concerned or f.rule in causes]
    rules = {finding.rule for finding in found}
    return [finding for finding in found if _cause(finding) not in rules]


def _can_help(trace: ResolverTrace, finding: Finding) -> bool:
    concerns_other_entry = finding.rule in _STRANDED and finding.entry != trace.last
    is_unhelpful = finding.rule in _UNHELPFUL or concerns_other_entry
    return finding.severity > Severity.NOTE and not is_unhelpful and not finding.unreadable


def _words(finding: Finding) -> Iterator[str]:
    for text in (finding.entry, finding.message, finding.fix):
        yield from _WORD.findall(text or "")


def _cause(finding: Finding) -> str | None:
    """Return the rule whose fix also resolves this finding, if any."""
    match = FIXED_TOGETHER.match(finding.fix or "")
    return match["rule"] if match else None


def _subjects(trace: ResolverTrace) -> frozenset[str]:
    """Return the installed version, the end of the path, accepting entries and the causes of a failure."""
    names = {remark.entry for remark in trace.steps if remark.edge is not None}
    if trace.installed is not None:
        names.add(trace.installed.name)
    names.update(() if trace.decision.failure is None else trace.decision.failure.names)
    names.update(() if trace.last is None else (trace.last,))
    return frozenset(names)


def _order(trace: ResolverTrace, finding: Finding) -> tuple[int, bool, str]:
    return -finding.severity, finding.entry != trace.last, finding.rule


def _as_fix(finding: Finding, edit: Edit | None) -> ProposedFix:
    text = finding.fix or f"see `everpath rules {finding.rule}`"
    edits = tuple(e for e in (edit, edit.alternative) if e is not None) if edit is not None else ()
    return ProposedFix(
        text, finding.message, finding.rule, finding.name, finding.severity, finding.place, edits
    )
