"""Try edits on copies of a channel: a suggested fix must not make another upgrade path worse."""

from __future__ import annotations

__all__ = ["FixTrials"]

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Final, TypeAlias

from everpath.graph import ChannelGraph, PackageGraph
from everpath.resolvers import ResolverName, cluster_extension, olm_v0, olm_v1, opm
from everpath.rules.findings import Flaw
from everpath.rules.fixes.edits import ChannelEdit, apply_edit
from everpath.rules.registry import Rule
from everpath.upgrade_path.goals import path_goals
from everpath.upgrade_path.hops import PathEnd, last_entries

#: The ends of upgrade paths, the best first.
_ENDS: Final = tuple(PathEnd)

#: The message for an entry whose upgrade path would end worse after an edit.
_MESSAGES: Final[Mapping[PathEnd, str]] = {
    PathEnd.STRANDED: "would not update {}",
    PathEnd.LOOP: "would update {} without end",
    PathEnd.ERROR: "would fail for {}",
}

#: An edit by its text and entries: several rules can suggest the same.
_EditKey: TypeAlias = tuple[str, tuple[str, ...]]


def _edit_key(edit: ChannelEdit) -> _EditKey:
    return edit.text, tuple(entry.name for entry in edit.entries)


class FixTrials:
    """Trials of edits on copies of a channel. Cost of each: O((edges + ranges) · log n)."""

    def __init__(self, graph: ChannelGraph) -> None:
        self._graph = graph
        self._tried: dict[_EditKey, tuple[ChannelGraph, str | None]] = {}
        self._found: dict[tuple[_EditKey, str], list[Flaw]] = {}

    def flaws_after(self, rule: Rule, edit: ChannelEdit) -> list[Flaw]:
        """Return the flaws that a rule reports after an edit."""
        key = _edit_key(edit), rule.id
        if key not in self._found:
            self._found[key] = list(rule.check(self._result(edit)[0]))
        return self._found[key]

    def regression(self, edit: ChannelEdit) -> str | None:
        """Return what an edit would make worse, or None.

        That is an upgrade path that ends worse than before, a channel that opm would no longer accept, or a
        new fork.
        """
        return self._result(edit)[1]

    def _result(self, edit: ChannelEdit) -> tuple[ChannelGraph, str | None]:
        key = _edit_key(edit)
        if key not in self._tried:
            after = apply_edit(self._graph, edit)
            self._tried[key] = after, self.regression_in(after)
        return self._tried[key]

    def regression_in(self, after: ChannelGraph) -> str | None:
        """Return what is worse in a changed copy of the channel, which has all of its entries, or None."""
        return next(self._regressions(after), None)

    def _regressions(self, after: ChannelGraph) -> Iterator[str]:
        if opm.validate_channel(self._graph).is_valid and not opm.validate_channel(after).is_valid:
            yield "opm would reject the channel"
        for resolver, ends_before in self._path_ends.items():
            ends = _path_ends(after, resolver)
            for name, before in ends_before.items():
                end = ends[name]
                if end is not before and _ENDS.index(end) > _ENDS.index(before):
                    yield f"OLM {resolver} {_MESSAGES[end].format(name)}"
        for target in _forks(after):
            if target not in self._forks:
                yield f"several entries would replace {target}"

    @cached_property
    def _path_ends(self) -> Mapping[ResolverName, Mapping[str, PathEnd]]:
        return {"v0": _path_ends(self._graph, "v0"), "v1": _path_ends(self._graph, "v1")}

    @cached_property
    def _forks(self) -> frozenset[str]:
        return frozenset(_forks(self._graph))


def _path_ends(graph: ChannelGraph, resolver: ResolverName) -> Mapping[str, PathEnd]:
    """Return how the upgrade path of every entry ends."""
    v0 = olm_v0.next_hops(graph)
    if resolver == "v0" and v0.failure is not None:
        return dict.fromkeys(graph.entries, PathEnd.ERROR)
    hops = v0.next if resolver == "v0" else olm_v1.next_hops(graph)
    failures = v0.failures if resolver == "v0" else _failing_v1(graph)
    last = last_entries(hops, frozenset(path_goals(graph, resolver)), graph.entries, failures)
    return {name: entry.end for name, entry in last.items()}


def _failing_v1(graph: ChannelGraph) -> frozenset[str]:
    """Entries for which a range crashes OLM v1, or for which it selects a bundle that it rejects."""
    if graph.panicking_entries:
        from everpath.upgrade_path.next_hops import next_hops_v1  # noqa: PLC0415 - few ranges crash OLM

        alone = PackageGraph(graph.package._replace(channels=(graph.channel,)))
        return frozenset(next_hops_v1(alone, graph).failures)
    bundles = ((name, graph.bundle(name)) for name in graph.entries)
    refused = {
        name for name, bundle in bundles if bundle is not None and cluster_extension.bundle_failure(bundle)
    }
    return frozenset(name for name, hop in olm_v1.next_hops(graph).items() if (hop or name) in refused)


def _forks(graph: ChannelGraph) -> Iterator[str]:
    """Yield names that several entries replace, none of them on the replaces chain of another."""
    for target, replacers in graph.replacers.items():
        if len(graph.topmost(replacers)) > 1:
            yield target
