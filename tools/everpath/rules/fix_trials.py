"""What an edit would do to everybody in a channel: a fix that mends one thing must break no other."""

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


class _Fate(IntEnum):
    """How a walk ends, the best first."""

    ARRIVES = auto()
    STAYS = auto()
    CIRCLES = auto()
    FAILS = auto()


#: What is said of somebody whom an edit would leave with a fate.
_WORDS: Mapping[_Fate, str] = {
    _Fate.STAYS: "would never move {} on",
    _Fate.CIRCLES: "would take {} in a circle",
    _Fate.FAILS: "would fail for {}",
}


#: An edit by its words and by whom it changes: several rules may advise the same.
_Key: TypeAlias = tuple[str, tuple[str, ...]]


def _key(edit: Edit) -> _Key:
    return edit.text, tuple(entry.name for entry in edit.entries)


class FixTrials:
    """A channel on copies of which edits are tried. Cost of each: O((edges + ranges) · log n)."""

    def __init__(self, graph: ChannelGraph) -> None:
        self._graph = graph
        self._tried: dict[_Key, tuple[ChannelGraph, str | None]] = {}
        self._found: dict[tuple[_Key, str], list[Flaw]] = {}

    def flaws_after(self, rule: Rule, edit: Edit) -> list[Flaw]:
        """What a rule would find after an edit."""
        key = _key(edit), rule.id
        if key not in self._found:
            self._found[key] = list(rule.check(self._result(edit)[0]))
        return self._found[key]

    def regression(self, edit: Edit) -> str | None:
        """Whom an edit would leave worse off than now, in words; None if nobody.

        Worse off is who arrives now and would not, or who would go in a circle or meet a failure; and
        everybody, if opm would refuse a channel that it accepts now, or find a fork that is not there now.
        """
        return self._result(edit)[1]

    def _result(self, edit: Edit) -> tuple[ChannelGraph, str | None]:
        key = _key(edit)
        if key not in self._tried:
            after = apply_edit(self._graph, edit)
            self._tried[key] = after, self.regression_in(after)
        return self._tried[key]

    def regression_in(self, after: ChannelGraph) -> str | None:
        """The same for a channel that has come out of this one in any way, with all of its entries."""
        return next(self._harms(after), None)

    def _harms(self, after: ChannelGraph) -> Iterator[str]:
        if self._is_accepted and not opm.validate_channel(after).is_valid:
            yield "opm would refuse the channel"
        for policy, before in self._fates.items():
            fates = _fates(after, policy)
            for name, fate in before.items():
                if fates[name] > fate:
                    yield f"OLM {policy} {_WORDS[fates[name]].format(name)}"
        for target in _forks(after):
            if target not in self._forks:
                yield f"several entries would replace {target}"

    @cached_property
    def _is_accepted(self) -> bool:
        return opm.validate_channel(self._graph).is_valid

    @cached_property
    def _fates(self) -> Mapping[ResolverName, Mapping[str, _Fate]]:
        return {"v0": _fates(self._graph, "v0"), "v1": _fates(self._graph, "v1")}

    @cached_property
    def _forks(self) -> frozenset[str]:
        return frozenset(_forks(self._graph))


def _fates(graph: ChannelGraph, policy: ResolverName) -> Mapping[str, _Fate]:
    """How the walk of every entry ends."""
    v0 = olm_v0.next_hops(graph)
    if policy == "v0" and v0.failure is not None:
        return dict.fromkeys(graph.entries, _Fate.FAILS)
    hops = v0.next if policy == "v0" else olm_v1.next_hops(graph)
    failing = v0.failures.keys() if policy == "v0" else _failing_v1(graph)
    moves = {name: None if name in failing else hop for name, hop in hops.items()}
    good = frozenset(path_goals(graph, policy))
    ends = last_entries(moves, graph.head, graph.entries)
    return {name: _fate(end, good, failing) for name, end in ends.items()}


def _failing_v1(graph: ChannelGraph) -> frozenset[str]:
    """Entries for which a range crashes OLM v1, or for which it chooses a bundle that it then refuses."""
    if graph.panicking_entries:
        from everpath.upgrade_paths.next_hops import next_hops_v1  # noqa: PLC0415 - hardly a range crashes anybody

        alone = PackageGraph(graph.package._replace(channels=(graph.channel,)))
        return frozenset(next_hops_v1(alone, graph).failures)
    bundles = ((name, graph.bundle(name)) for name in graph.entries)
    refused = {
        name for name, bundle in bundles if bundle is not None and cluster_extension.bundle_failure(bundle)
    }
    return frozenset(name for name, hop in olm_v1.next_hops(graph).items() if (hop or name) in refused)


def _fate(end: LastEntry, good: Container[str], failing: Container[str]) -> _Fate:
    if end.end is PathEnd.LOOP:
        return _Fate.CIRCLES
    if end.name in failing:
        return _Fate.FAILS
    return _Fate.ARRIVES if end.name in good else _Fate.STAYS


def _forks(graph: ChannelGraph) -> Iterator[str]:
    """Names that several entries replace of which none stands in another's line."""
    for target, replacers in graph.replacers.items():
        if len(graph.topmost(replacers)) > 1:
            yield target
