"""Edits that let one installed version arrive: each was made to a copy of the channel, and harms nobody."""

from __future__ import annotations

__all__ = ["Mending"]

from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property, reduce
from typing import Final

from everpath.explain.trace import Account, Question, accounts
from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Bundle, Catalog, Entry
from everpath.ranges import Range
from everpath.resolvers import ResolverName, olm_v0, olm_v1
from everpath.rules.edits import Edit, add_skips, apply_edit, join_edits, set_range
from everpath.rules.fix_conflicts import FindingKey
from everpath.rules.fix_trials import FixTrials
from everpath.rules.fixes import Violation, verify_fixes
from everpath.rules.lint import Selection
from everpath.rules.registry import rules_for_subjects
from everpath.upgrade_paths.goals import path_goals
from everpath.versions import Version
from everpath.wording import join_names

#: Stands for a release still to come, in a channel where one is tried.
_NEXT: Final = "the next release"


class Mending:
    """The channel that an account follows, and what would let its walk arrive."""

    def __init__(self, account: Account, question: Question, graph: ChannelGraph) -> None:
        assert account.source is not None  # whose channel it is
        self._account = account
        self._question = question
        self._graph = graph
        self._source = account.source
        self._trials = FixTrials(graph)

    @classmethod
    def of(cls, account: Account, question: Question) -> Mending | None:
        """None where no single channel is followed, so that there is nothing to make copies of."""
        graph = account.graph
        return cls(account, question, graph) if graph is not None and account.source is not None else None

    def advised(self, catalog: Catalog, selection: Selection) -> dict[FindingKey, Edit]:
        """The edits that rules advise for the channel, by rule, entry and place. Cost: the rules."""
        package = PackageGraph(catalog.by_name[self._question.package])
        graph = package.by_name[self._graph.name]
        rules = [rule for rule in rules_for_subjects(("channel",)) if selection.has_rule(rule)]
        found = verify_fixes(graph, [Violation(rule, flaw) for rule in rules for flaw in rule.check(graph)])
        return {
            (rule.id, flaw.entry, flaw.place): flaw.fix for rule, flaw in found if isinstance(flaw.fix, Edit)
        }

    def helps(self, edit: Edit) -> bool:
        """Whether what is installed arrives after an edit, and nobody is worse off."""
        return self._trials.regression(edit) is None and self._arrives(apply_edit(self._graph, edit))

    def together(self, edits: Iterable[Edit]) -> Edit | None:
        """Several edits at once, of two for one entry the first; where that is not enough, with a way in."""
        whole = _whole(edits)
        if self.helps(whole):
            return whole
        both = (_in_turn(whole, way) for way in self._after(whole).ways_up())
        return next((edit for edit in both if self.helps(edit)), None)

    def _after(self, edit: Edit) -> Mending:
        return Mending(self._account, self._question, apply_edit(self._graph, edit))

    def release_after(self, edits: Iterable[Edit]) -> str | None:
        """Several edits and then a release, in words, where that lets it arrive and harms nobody."""
        whole = _whole(edits)
        release = self._after(whole).release() if self._trials.regression(whole) is None else None
        return f"{whole.text}, then {release}" if release is not None else None

    def ways_up(self) -> list[Edit]:
        """Edits by which what a new install gets, or where walks should end, accepts what is installed."""
        installed = self._account.installed
        low = installed.version if installed is not None else None
        targets = [t for t in self._targets if low is None or not self._is_below(t, low)]
        return [edit for t in targets for edit in self._ways_to(t) if self.helps(edit)]

    def ways_down(self) -> list[Edit]:
        """The same where what is installed is higher than all of that: who reads it must see so."""
        installed = self._account.installed
        if installed is None or (low := installed.version) is None:
            return []
        names = [t for t in self._targets if self._is_below(t, low) and t != installed.name]
        edits = ((t, add_skips(self._graph, t, [installed.name])) for t in names)
        return [
            edit._replace(text=f"{edit.text}, which takes it down from {low} to {self._graph.versions[t]}")
            for t, edit in edits
            if self.helps(edit)
        ]

    @cached_property
    def _targets(self) -> list[str]:
        policy = self._account.policy
        fresh = olm_v0.new_install(self._graph) if policy == "v0" else olm_v1.new_install(self._graph)
        return [t for t in dict.fromkeys((fresh, *path_goals(self._graph, policy))) if t is not None]

    def _is_below(self, target: str, version: Version) -> bool:
        own = self._graph.versions.get(target)
        return own is not None and own < version

    def _ways_to(self, target: str) -> Iterator[Edit]:
        installed = self._account.installed
        if installed is None or installed.name == target:
            return
        yield add_skips(self._graph, target, [installed.name])
        by_range = self.covering(target)
        if by_range is not None:
            yield by_range

    def covering(self, name: str) -> Edit | None:
        """The range by which an entry accepts what is installed, and all between; None without versions."""
        installed, high = self._account.installed, self._graph.versions.get(name)
        low = installed.version if installed is not None else None
        if low is None or high is None or low >= high:
            return None
        known, wanted = self._graph.ranges.get(name), f">={low} <{high}"
        is_more = known is not None and not known.intervals.is_subset(Range.parse(wanted).intervals)
        entry = self._graph.entries[name]
        return set_range(entry, f"{entry.skip_range} || {wanted}" if is_more else wanted)

    def release(self) -> str | None:
        """The release to publish, in words, where that lets it arrive and harms nobody."""
        graph, installed = self._graph, self._account.installed
        versions = [*graph.versions.values()]
        versions += [installed.version] if installed is not None and installed.version is not None else []
        if not versions or not graph.heads:
            return None
        newest, *others = graph.topmost(graph.heads)
        outside = installed is not None and installed.name not in graph.entries and installed.version is None
        skips = (*others, *([installed.name] if installed is not None and outside else []))
        low, high = min(versions), max(versions)
        if not self._would_do(newest, skips, low, high):
            return None
        also = f" and skips {join_names(skips)}" if skips else ""
        return (
            f"publish a release above {high} in {graph.name} that replaces {newest}{also}, "
            f"with a skipRange from {low}"
        )

    def _would_do(self, replaces: str, skips: tuple[str, ...], low: Version, high: Version) -> bool:
        graph, package = self._graph, self._graph.package
        version = f"{high.major}.{high.minor}.{high.patch + 1}"
        bundle = Bundle(_NEXT, package.name, version, graph.channel.place)
        entry = Entry(_NEXT, graph.channel.place, replaces, skips, f">={low} <{version}")
        channel = graph.channel._replace(entries=(*graph.channel.entries, entry))
        after = ChannelGraph(channel, package._replace(bundles=(*package.bundles, bundle)))
        return self._trials.regression_in(after) is None and self._arrives(after)

    def _arrives(self, after: ChannelGraph) -> bool:
        """Whether the walk arrives in a changed channel, and the other resolver's, too, if it does now."""
        would = self._content(after)
        is_own = would.get(self._account.policy, False)
        return is_own and all(would[policy] for policy, arrives in self._now.items() if arrives)

    @cached_property
    def _now(self) -> Mapping[ResolverName, bool]:
        return self._content(self._graph)

    def _content(self, graph: ChannelGraph) -> Mapping[ResolverName, bool]:
        """Whether what is installed arrives, under each resolver that is asked."""
        channels = (graph.channel if c.name == graph.name else c for c in graph.package.channels)
        package = PackageGraph(graph.package._replace(channels=tuple(channels)))
        found = accounts([self._source._replace(package=package)], self._question)
        return {account.policy: account.is_content for account in found}


def _whole(edits: Iterable[Edit]) -> Edit:
    """Several edits as one; of two for one entry the first."""
    return reduce(lambda first, second: join_edits(first, second) or first, edits)


def _in_turn(first: Edit, second: Edit) -> Edit:
    """Two edits of which the second was made up for the channel after the first."""
    entries = {entry.name: entry for entry in (*first.entries, *second.entries)}
    return Edit(f"{first.text} and {second.text}", tuple(entries.values()))
