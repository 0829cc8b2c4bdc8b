"""Try edits on copies of a channel: a suggested fix must not make another upgrade path worse."""

from __future__ import annotations

__all__ = ["FixTrials"]

from collections.abc import Container, Iterator, Mapping
from enum import IntEnum, auto
from functools import cached_property
from typing import TypeAlias

from everpath.graph import ChannelGraph, PackageGraph
from everpath.resolvers import ResolverName, cluster_extension, olm_v0, olm_v1, opm
from everpath.rules.edits import Edit, apply_edit
from everpath.rules.findings import Flaw
from everpath.rules.registry import Rule
from everpath.upgrade_paths.goals import path_goals
from everpath.upgrade_paths.hops import LastEntry, PathEnd, last_entries


class _Outcome(IntEnum):
    """How an upgrade path ends, the best first."""

    ARRIVES = auto()
    STAYS = auto()
    CIRCLES = auto()
    FAILS = auto()


#: The message for an entry that an edit would leave with an outcome.
_MESSAGES: Mapping[_Outcome, str] = {
    _Outcome.STAYS: "would not update {}",
    _Outcome.CIRCLES: "would update {} without end",
    _Outcome.FAILS: "would fail for {}",
}


#: An edit by its text and entries: several rules can suggest the same.
_Key: TypeAlias = tuple[str, tuple[str, ...]]


def _key(edit: Edit) -> _Key:
    return edit.text, tuple(entry.name for entry in edit.entries)


class FixTrials:
    """Trials of edits on copies of a channel. Cost of each: O((edges + ranges) · log n)."""

    def __init__(self, graph: ChannelGraph) -> None:
        self._graph = graph
        self._tried: dict[_Key, tuple[ChannelGraph, str | None]] = {}
        self._found: dict[tuple[_Key, str], list[Flaw]] = {}

    def flaws_after(self, rule: Rule, edit: Edit) -> list[Flaw]:
        """Return the flaws that a rule reports after an edit."""
        key = _key(edit), rule.id
        if key not in self._found:
            self._found[key] = list(rule.check(self._result(edit)[0]))
        return self._found[key]

    def regression(self, edit: Edit) -> str | None:
        """Return what an edit would make worse, or None.

        That is an upgrade path that ends worse than before, a channel that opm would no longer accept, or a
        new fork.
        """
        return self._result(edit)[1]

    def _result(self, edit: Edit) -> tuple[ChannelGraph, str | None]:
        key = _key(edit)
        if key not in self._tried:
            after = apply_edit(self._graph, edit)
            self._tried[key] = after, self.regression_in(after)
        return self._tried[key]

    def regression_in(self, after: ChannelGraph) -> str | None:
        """The same for a changed copy of the channel that has all of its entries."""
        return next(self._harms(after), None)

    def _harms(self, after: ChannelGraph) -> Iterator[str]:
        if self._is_accepted and not opm.validate_channel(after).is_valid:
            yield "opm would reject the channel"
        for policy, before in self._outcomes.items():
            outcomes = _outcomes(after, policy)
            for name, outcome in before.items():
                if outcomes[name] > outcome:
                    yield f"OLM {policy} {_MESSAGES[outcomes[name]].format(name)}"
        for target in _forks(after):
            if target not in self._forks:
                yield f"several entries would replace {target}"

    @cached_property
    def _is_accepted(self) -> bool:
        return opm.validate_channel(self._graph).is_valid

    @cached_property
    def _outcomes(self) -> Mapping[ResolverName, Mapping[str, _Outcome]]:
        return {"v0": _outcomes(self._graph, "v0"), "v1": _outcomes(self._graph, "v1")}

    @cached_property
    def _forks(self) -> frozenset[str]:
        return frozenset(_forks(self._graph))


def _outcomes(graph: ChannelGraph, policy: ResolverName) -> Mapping[str, _Outcome]:
    """How the upgrade path of every entry ends."""
    v0 = olm_v0.next_hops(graph)
    if policy == "v0" and v0.failure is not None:
        return dict.fromkeys(graph.entries, _Outcome.FAILS)
    hops = v0.next if policy == "v0" else olm_v1.next_hops(graph)
    failing = v0.failures.keys() if policy == "v0" else _failing_v1(graph)
    moves = {name: None if name in failing else hop for name, hop in hops.items()}
    good = frozenset(path_goals(graph, policy))
    ends = last_entries(moves, graph.head, graph.entries)
    return {name: _outcome(end, good, failing) for name, end in ends.items()}


def _failing_v1(graph: ChannelGraph) -> frozenset[str]:
    """Entries for which a range crashes OLM v1, or for which it selects a bundle that it rejects."""
    if graph.panicking_entries:
        from everpath.upgrade_paths.next_hops import next_hops_v1  # noqa: PLC0415 - hardly a range crashes anybody

        alone = PackageGraph(graph.package._replace(channels=(graph.channel,)))
        return frozenset(next_hops_v1(alone, graph).failures)
    bundles = ((name, graph.bundle(name)) for name in graph.entries)
    refused = {
        name for name, bundle in bundles if bundle is not None and cluster_extension.bundle_failure(bundle)
    }
    return frozenset(name for name, hop in olm_v1.next_hops(graph).items() if (hop or name) in refused)


def _outcome(end: LastEntry, good: Container[str], failing: Container[str]) -> _Outcome:
    if end.end is PathEnd.LOOP:
        return _Outcome.CIRCLES
    if end.name in failing:
        return _Outcome.FAILS
    return _Outcome.ARRIVES if end.name in good else _Outcome.STAYS


def _forks(graph: ChannelGraph) -> Iterator[str]:
    """Yield names that several entries replace, none of them on the replaces chain of another."""
    for target, replacers in graph.replacers.items():
        if len(graph.topmost(replacers)) > 1:
            yield target
