"""Proposed fixes: those of rules that concern the path, and edits that were tried.

The fix of a finding is that of its rule. For a version in no channel there is no rule, and edits are
computed. Both are tried on a copy of the channel, and proposed only if the installed version then reaches its
goal and no other is worse off.
"""

from __future__ import annotations

__all__ = ["ProposedFix", "propose_fixes"]

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from everpath.explanation.fix_search import FixSearch
from everpath.explanation.trace import ExplainQuery, ResolverTrace
from everpath.graph import Edge, PackageGraph
from everpath.model import Catalog, Package, Place, SourcePosition
from everpath.resolvers.resolution import FailureKind
from everpath.rules.findings import Finding, Fix, Flaw, Severity
from everpath.rules.fixes.edits import ChannelEdit, DeferredFix, FixedWith
from everpath.rules.lint import CATALOG_SUBJECTS, Selection, channel_violations, lint, to_finding
from everpath.wording import NameSuggestions

#: Rules about ranges that OLM ignores or interprets otherwise; such a range may be meant for the installed
#: version.
_RANGES: Final = frozenset(("EP301", "EP302", "EP303", "EP306", "EP308"))

#: Failures that no edit of the channel fixes.
_NOT_FIXABLE: Final = frozenset((FailureKind.NO_STARTING_CSV, FailureKind.UNREADABLE_VERSION))

#: Reports only that the resolvers differ, which the explanations show.
_UNHELPFUL: Final = frozenset(("EP218",))

#: Report that clusters on an entry get no further updates: of no use to paths that end elsewhere.
_STRANDED: Final = frozenset(("EP206", "EP207"))

#: Number of findings whose edits are tried; each trial resolves the channel.
_MAX_TRIED: Final = 12


class ProposedFix(NamedTuple):
    """A fix, the finding that it belongs to, if any, and its edits.

    `position` is None until the place is located.
    """

    text: str
    message: str = ""
    rule: str | None = None
    name: str | None = None
    severity: Severity | None = None
    place: Place | None = None
    edits: tuple[ChannelEdit, ...] = ()
    position: SourcePosition | None = None


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
    search = FixSearch.of(trace, query)
    catalog = catalogs.get(trace.source.name) if trace.source is not None else None
    if search is not None:
        candidates = list(_rule_fixes(trace, query, catalog, search)) if catalog is not None else []
        yield from _helpful_fixes(trace, search, candidates)


def _rule_fixes(
    trace: ResolverTrace, query: ExplainQuery, catalog: Catalog, search: FixSearch
) -> Iterator[ProposedFix]:
    """Yield the fixes of rules, the most severe first."""
    found = _relevant_findings(trace, query, catalog)
    for finding, flaw in sorted(found, key=lambda f: (-f[0].severity, f[0].entry != trace.last, f[0].rule)):
        edit = flaw.fix if flaw is not None and isinstance(flaw.fix, ChannelEdit) else None
        text = finding.fix or f"see `everpath rules {finding.rule}`"
        if finding.rule in _RANGES:
            # The range that was probably meant; if no rule knows it, the range that is needed here.
            edit = edit or search.covering_range(finding.entry or "")
            if edit is None or not search.helps(edit):
                continue
            text = edit.text
        edits = tuple(e for e in (edit, edit.alternative) if e is not None) if edit is not None else ()
        yield ProposedFix(
            text, finding.message, finding.rule, finding.name, finding.severity, finding.place, edits
        )


def _helpful_fixes(
    trace: ResolverTrace, search: FixSearch, candidates: Sequence[ProposedFix]
) -> Iterator[ProposedFix]:
    """Yield candidates without edits, and those whose edits help; if none does, other edits or a release."""
    with_edits = [fix for fix in candidates if fix.edits]
    candidates = [fix for fix in candidates if not fix.edits or fix in with_edits[:_MAX_TRIED]]
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
        yield fix._replace(text=f"fixed alone, it does not help {_subject(trace)} reach its goal", edits=())
    has_error = any(fix.severity is Severity.ERROR for fix in candidates if not fix.edits)
    yield from _other_fixes(trace, search, [fix.edits[0] for fix in insufficient], is_last=not has_error)


def _other_fixes(
    trace: ResolverTrace, search: FixSearch, suggested: Sequence[ChannelEdit], *, is_last: bool
) -> Iterator[ProposedFix]:
    """Yield edits that no rule suggests; `is_last`: if there is none, yield a text that says so."""
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
        return ProposedFix(f"add entries to {names}: opm rejects a channel without entries")
    return None


def _other_channel(trace: ResolverTrace, query: ExplainQuery) -> ProposedFix:
    package = trace.source.package if trace.source is not None else None
    names = sorted(package.by_name) if package is not None else []
    near = NameSuggestions(names).most_similar(query.channel)
    meant = f"; did you mean {near}?" if near else ""
    return ProposedFix(
        f"subscribe to a channel that the package has ({', '.join(names) or 'it has none'}){meant}"
    )


def _starting_csv_fix(trace: ResolverTrace, query: ExplainQuery) -> Iterator[ProposedFix]:
    """For a startingCSV that the channel does not have; an unreadable version is not the catalog's."""
    if trace.graph is not None and query.starting_csv is not None:
        meant = NameSuggestions(trace.graph.entries).suggest(query.starting_csv)
        there = f"did you mean {meant}?" if meant else f"the head is {', '.join(trace.graph.heads)}"
        yield ProposedFix(f"let startingCSV name an entry of {query.channel}: {there}")


def _relevant_findings(
    trace: ResolverTrace, query: ExplainQuery, catalog: Catalog
) -> list[tuple[Finding, Flaw | None]]:
    """Return findings that concern the path, and their causes; not those that the fix of a cause resolves.

    Findings of channel rules have their flaw. Each edit is tried alone, so deferred fixes are left out.
    """
    selection = Selection(
        packages=frozenset((query.package,)), channels=frozenset(trace.channels), resolver=trace.resolver
    )
    others = lint(catalog, selection._replace(subjects=CATALOG_SUBJECTS - {"channel"})).findings
    candidates: list[tuple[Finding, Flaw | None]] = [(finding, None) for finding in others]
    for graph in PackageGraph(catalog.by_name[query.package]).channels:
        if selection.has_channel(graph.name):
            candidates += (
                (to_finding(rule, flaw, query.package, graph.name), flaw)
                for rule, flaw in channel_violations(graph, selection)
            )
    candidates = [each for each in candidates if _can_help(trace, each[0])]
    candidates.sort(key=lambda each: each[0].sort_key)
    subjects = _subjects(trace)
    concerned = [
        (finding, flaw)
        for finding, flaw in candidates
        if finding.rule in _RANGES or not subjects.isdisjoint(_names(finding, flaw))
    ]
    causes = {flaw.fix.rule for _, flaw in concerned if flaw is not None and isinstance(flaw.fix, FixedWith)}
    found = [each for each in candidates if each in concerned or each[0].rule in causes]
    rules = {finding.rule for finding, _ in found}
    return [(finding, flaw) for finding, flaw in found if flaw is None or _is_own_fix(flaw.fix, rules)]


def _is_own_fix(fix: Fix | None, rules: Collection[str]) -> bool:
    """Return whether a fix can be tried alone, and is not that of a finding of one of these rules."""
    return not isinstance(fix, DeferredFix) and not (isinstance(fix, FixedWith) and fix.rule in rules)


def _can_help(trace: ResolverTrace, finding: Finding) -> bool:
    concerns_other_entry = finding.rule in _STRANDED and finding.entry != trace.last
    is_unhelpful = finding.rule in _UNHELPFUL or concerns_other_entry
    return finding.severity > Severity.NOTE and not is_unhelpful and not finding.unreadable


def _names(finding: Finding, flaw: Flaw | None) -> set[str | None]:
    """Return the entries that a finding is about, those of its evidence, and those that its fix changes."""
    names = {finding.entry}
    if flaw is not None:
        names.update(name for edge in flaw.because if isinstance(edge, Edge) for name in edge[:2])
        names.update(entry.name for entry in (flaw.fix.entries if isinstance(flaw.fix, ChannelEdit) else ()))
    return names


def _subjects(trace: ResolverTrace) -> frozenset[str]:
    """Return the installed version, the end of the path, accepting entries and the causes of a failure."""
    names = {step.entry for step in trace.steps if step.edge is not None}
    if trace.installed is not None:
        names.add(trace.installed.name)
    names.update(() if trace.decision.failure is None else trace.decision.failure.names)
    names.update(() if trace.last is None else (trace.last,))
    return frozenset(names)
