"""One channel in two catalogs: the outcome for every installed version, and the changes to report."""

from __future__ import annotations

__all__ = ["NO_FIX_FOUND", "REPORTED_OUTCOMES", "ChannelComparison", "compare_channel", "regression_change"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, NamedTuple

from everpath.comparison.causes import causes, merge_by_resolver
from everpath.comparison.changes import Change, ChangeKind
from everpath.comparison.descriptions import (
    describe_olm,
    describe_path,
    equal_version_reasons,
    outcome_message,
    stop_reasons,
)
from everpath.comparison.fixes import Regression, find_fix, group_by_edits
from everpath.comparison.installed_paths import Installations, InstalledPaths, installations
from everpath.comparison.outcomes import ChannelPair, PathOutcome, VersionOutcome
from everpath.comparison.trials import ChannelTrials
from everpath.graph import ChannelGraph
from everpath.resolvers import ResolverName
from everpath.rules.fixes.edits import ChannelEdit
from everpath.wording import join_names

#: Outcomes that are reported with the edits that cause them.
REPORTED_OUTCOMES: Final = (
    PathOutcome.FAILING,
    PathOutcome.STRANDED,
    PathOutcome.DOWNGRADED,
    PathOutcome.DIFFERENT_PATH,
)

NO_FIX_FOUND: Final = ChannelEdit("compare smaller steps: undoing no edit was found to fix this", ())

_TOO_MANY_EDITS: Final = ChannelEdit("compare smaller steps: no edit that was tried fixes all of this", ())


class ChannelComparison(NamedTuple):
    """The outcomes for one channel; `pairs` has one pair of channels for each resolver."""

    pairs: tuple[ChannelPair, ...]
    rows: tuple[VersionOutcome, ...]

    def regressions(self) -> Iterator[Change]:
        """Yield the regressions and changed paths, by cause. Cost: a resolution for each edit tried."""
        affected = [(pair, self._versions_by_outcome(pair.resolver)) for pair in self.pairs]
        if not any(outcomes for _, outcomes in affected):
            return
        old, new = self.pairs[0].old.graph, self.pairs[0].new.graph
        if old is None or new is None:
            return  # a removed or emptied channel is reported as such
        trials = ChannelTrials(old, new)
        found = [
            (pair, outcome, cause)
            for pair, outcomes in affected
            for outcome, names in outcomes.items()
            for cause in causes(trials, pair, dict.fromkeys(names, outcome))
        ]
        regressions = [
            Regression(sorted(pairs, key=lambda pair: pair.resolver), outcome, cause)
            for pairs, outcome, cause in merge_by_resolver(trials, found)
        ]
        fixes: dict[int, ChannelEdit] = {}
        for group in group_by_edits([each for each in regressions if each.outcome.is_regression]):
            fix = find_fix(trials, self.pairs, group)
            if fix is None:
                fix = _TOO_MANY_EDITS if group[0].cause.edits else NO_FIX_FOUND
            fixes.update(dict.fromkeys(map(id, group), fix))
        for regression in regressions:
            yield regression_change(regression, fixes.get(id(regression)))

    def _versions_by_outcome(self, resolver: ResolverName) -> Mapping[PathOutcome, Sequence[str]]:
        found: dict[PathOutcome, list[str]] = {outcome: [] for outcome in REPORTED_OUTCOMES}
        for row in self.rows:
            if row.resolver == resolver and row.outcome in found:
                found[row.outcome].append(row.installed)
        return {outcome: names for outcome, names in found.items() if names}

    def notes(self) -> Iterator[Change]:
        """Yield versions that were stranded before, that no longer are, and paths that continue further."""
        for outcome in (PathOutcome.STRANDED_BEFORE, PathOutcome.FIXED, PathOutcome.FURTHER):
            by_resolvers: dict[tuple[str, ...], list[str]] = {}
            for name, resolvers in self._resolvers_with(outcome).items():
                by_resolvers.setdefault(tuple(resolvers), []).append(name)
            for resolvers, names in by_resolvers.items():
                pairs = [pair for pair in self.pairs if pair.resolver in resolvers]
                yield _outcome_change(pairs, outcome, names)
        stranded = self._resolvers_with(PathOutcome.STRANDED_BEFORE)
        for pair in self.pairs:
            names = [n for n in stranded if pair.resolver in stranded[n] and pair.is_further_behind(n)]
            if names:
                change = _outcome_change([pair], PathOutcome.STRANDED_BEFORE, names)
                message = (
                    f"Clusters on {join_names(change.installed)} could not reach the head before, "
                    f"and now stop at a lower version under {describe_olm([pair])}"
                )
                yield change._replace(kind=ChangeKind.FURTHER_BEHIND, message=message)

    def _resolvers_with(self, outcome: PathOutcome) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if row.outcome is outcome:
                found.setdefault(row.installed, []).append(row.resolver)
        return found


def compare_channel(
    old: ChannelGraph | None,
    new: ChannelGraph | None,
    resolvers: Iterable[ResolverName],
    where: tuple[str, str],
    installed: Installations | None = None,
) -> ChannelComparison:
    """Compare a channel for each installed version (default: all entries of the old one) and resolver."""
    if installed is None:
        installed = installations(old) if old is not None else {}
    pairs = tuple(
        ChannelPair(
            InstalledPaths(old, resolver, installed, where), InstalledPaths(new, resolver, installed, where)
        )
        for resolver in resolvers
    )
    rows = tuple(pair.version_outcome(name, where) for name in installed for pair in pairs)
    return ChannelComparison(pairs, rows)


def regression_change(regression: Regression, fix: ChannelEdit | None) -> Change:
    """Return the change that reports a regression or a changed path."""
    pairs, outcome, cause = regression
    change = _outcome_change(pairs, outcome, cause.affected)
    new, names = pairs[0].new, change.installed
    reasons: list[str] = []
    if outcome is PathOutcome.STRANDED:
        reasons += stop_reasons(pairs[0], list(dict.fromkeys(new.last(name) for name in names)))
    place, last = change.place, new.last(names[0])
    if cause.edits:
        place = cause.edits[0].place
    elif new.graph is not None and last in new.graph.entries:
        place = new.graph.entries[last].place.at("name")
    return change._replace(
        reasons=(*reasons, *equal_version_reasons(pairs, names)),
        edits=cause.edits,
        fix=fix.text if fix is not None else None,
        fix_entries=fix.entries if fix is not None else (),
        place=place,
    )


def _outcome_change(pairs: Sequence[ChannelPair], outcome: PathOutcome, names: Iterable[str]) -> Change:
    first = pairs[0]
    installed = first.old.installed
    lowest_first = sorted(names, key=lambda n: ((v := installed.get(n)) is not None, v.key if v else (), n))
    graph = first.new.graph or first.old.graph
    assert graph is not None  # there are installed versions
    return Change(
        ChangeKind(outcome.value),
        graph.package.name,
        None if first.new.is_all_channels else graph.name,
        outcome_message(pairs, outcome, lowest_first),
        installed=tuple(lowest_first),
        resolvers=tuple(pair.resolver for pair in pairs),
        old_path=describe_path(first.old, lowest_first[0]),
        new_path=describe_path(first.new, lowest_first[0]),
        place=graph.channel.place,
        in_old=first.new.graph is None,
    )
