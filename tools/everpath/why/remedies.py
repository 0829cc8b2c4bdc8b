"""What to edit: what the rules say about whoever stands in the way, and edits that were tried.

A finding's fix is the rule's own. For what is in no channel no rule speaks; an edit for it is made to a copy
of the channel, and advised only if the resolver then moves on and opm is no less content.
"""

from __future__ import annotations

__all__ = ["Remedy", "remedies"]

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from typing import Final, NamedTuple

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Catalog, Package, Place
from everpath.policies import extensions, olm_v0, olm_v1, subscriptions
from everpath.policies.decisions import Decision, FailureKind
from everpath.policies.extensions import Extension, Source
from everpath.ranges import Range
from everpath.rules._edits import Edit, edited, safest, skipping
from everpath.rules._words import Nearby
from everpath.rules.check import Selection, check
from everpath.rules.findings import Finding, Severity
from everpath.why.accounts import Account, Question

_WORD: Final = re.compile(r"[\w.+-]*\w")

_MENDED: Final = re.compile(r"same cause as (?P<rule>EP\d+)\b")

#: Ranges that OLM ignores, or that mean something else than they seem to: whoever stays may be meant by one.
_RANGES: Final = frozenset(("EP301", "EP302", "EP303", "EP306", "EP308"))

#: Failures that no edit of the channel mends.
_NAMELESS: Final = frozenset((FailureKind.NO_STARTING_CSV, FailureKind.UNREADABLE_VERSION))

#: Says only that the two resolvers differ, which both accounts show.
_UNHELPFUL: Final = frozenset(("EP218",))


class Remedy(NamedTuple):
    """An edit, and the finding that it mends, if a rule has found it."""

    text: str
    message: str = ""
    rule: str | None = None
    name: str | None = None
    severity: Severity | None = None
    place: Place | None = None


def remedies(account: Account, question: Question, catalogs: Mapping[str, Catalog]) -> Iterator[Remedy]:
    """What would let a walk go on that ends before the head. Cost: the rules, for one package."""
    if account.is_content:
        return
    known = [c.by_name[question.package] for c in catalogs.values() if question.package in c.by_name]
    if known and (remedy := _without_entries(account, question, known)) is not None:
        yield remedy
        return
    if account.graph is None and account.policy == "v0":
        yield _other_channel(account, question)
        return
    if account.decision.failure is not None and account.decision.failure.kind in _NAMELESS:
        yield from _other_name(account, question)
        return
    source = account.source
    if source is not None and source.name in catalogs:
        found = _found(account, question, catalogs[source.name])
        yield from map(_as_remedy, sorted(found, key=lambda finding: _order(account, finding)))
    yield from _tried(account, question)


def _without_entries(account: Account, question: Question, packages: Sequence[Package]) -> Remedy | None:
    """For a package without channels, for channels that it has not, and for those without entries."""
    channels = {channel.name: channel for package in packages for channel in package.channels}
    if not channels:
        return Remedy(
            f"publish a channel of {question.package}, which has none, with an entry for each bundle"
        )
    chosen = [channels[name] for name in account.channels or channels if name in channels]
    if not chosen and account.policy == "v1":
        return Remedy(f"let channels name one that the package has ({', '.join(sorted(channels))})")
    if chosen and not any(channel.entries for channel in chosen):
        names = ", ".join(channel.name for channel in chosen)
        return Remedy(f"add entries to {names}: a channel without any serves nobody, and opm refuses it")
    return None


def _other_channel(account: Account, question: Question) -> Remedy:
    package = account.source.package if account.source is not None else None
    names = sorted(package.by_name) if package is not None else []
    near = get_close_matches(question.channel, names, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return Remedy(f"subscribe to a channel that the package has ({', '.join(names) or 'it has none'}){meant}")


def _other_name(account: Account, question: Question) -> Iterator[Remedy]:
    """For a startingCSV that the channel does not have; an unreadable version is not the catalog's."""
    if account.graph is not None and question.starting is not None:
        meant = Nearby(account.graph.entries).meant(question.starting)
        there = f"did you mean {meant}?" if meant else f"the head is {', '.join(account.graph.heads)}"
        yield Remedy(f"let startingCSV name an entry of {question.channel}: {there}")


def _found(account: Account, question: Question, catalog: Catalog) -> list[Finding]:
    """What concerns the walk, and its causes; what a cause's fix mends along is not told twice."""
    channels = frozenset(account.channels)
    selection = Selection(packages=frozenset((question.package,)), channels=channels, policy=account.policy)
    told = [f for f in check(catalog, selection).findings if _can_help(f)]
    subjects = _subjects(account)
    concerned = [f for f in told if f.rule in _RANGES or not subjects.isdisjoint(_words(f))]
    causes = {_cause(finding) for finding in concerned}
    found = [f for f in told if f in concerned or f.rule in causes]
    rules = {finding.rule for finding in found}
    return [finding for finding in found if _cause(finding) not in rules]


def _can_help(finding: Finding) -> bool:
    return finding.severity > Severity.NOTE and finding.rule not in _UNHELPFUL and not finding.unreadable


def _words(finding: Finding) -> Iterator[str]:
    for text in (finding.entry, finding.message, finding.fix):
        yield from _WORD.findall(text or "")


def _cause(finding: Finding) -> str | None:
    """The rule whose fix mends this along, if there is one."""
    told = _MENDED.match(finding.fix or "")
    return told["rule"] if told else None


def _subjects(account: Account) -> frozenset[str]:
    """Who is concerned: what is installed, where the walk ends, whoever would accept it, or is guilty."""
    names = {remark.entry for remark in account.remarks if remark.edge is not None}
    if account.installed is not None:
        names.add(account.installed.name)
    names.update(() if account.decision.failure is None else account.decision.failure.names)
    names.update(() if account.stop is None else (account.stop,))
    return frozenset(names)


def _order(account: Account, finding: Finding) -> tuple[int, bool, str]:
    return -finding.severity, finding.entry != account.stop, finding.rule


def _as_remedy(finding: Finding) -> Remedy:
    text = finding.fix or f"see `everpath rules {finding.rule}`"
    return Remedy(text, finding.message, finding.rule, finding.name, finding.severity, finding.place)


def _tried(account: Account, question: Question) -> Iterator[Remedy]:
    """Edits for something that is not in the channel, where nothing there accepts it."""
    graph, installed = account.graph, account.installed
    if graph is None or installed is None or installed.name in graph.entries or not _is_unaccepted(account):
        return
    target = olm_v0.fresh_install(graph) if account.policy == "v0" else olm_v1.fresh_install(graph)
    if target is None:
        return
    helpful = [e.text for e in _edits(account, graph, target) if _helps(account, question, graph, e)]
    if helpful:
        yield Remedy(", or ".join(helpful))
    else:
        above = f" above {installed.version}" if installed.version is not None else ""
        yield Remedy(
            f"publish a release{above} in {graph.name} that replaces {target} and skips {installed.name}"
        )


def _is_unaccepted(account: Account) -> bool:
    failure = account.decision.failure
    return account.decision.next is None and (failure is None or failure.kind is FailureKind.NO_BUNDLES)


def _edits(account: Account, graph: ChannelGraph, target: str) -> Iterator[Edit]:
    assert account.installed is not None  # who has nothing installed is not unaccepted
    yield skipping(graph, target, [account.installed.name])
    low, high = account.installed.version, graph.versions.get(target)
    if low is not None and high is not None and low < high:
        entry, wanted = graph.entries[target], f">={low} <{high}"
        known = graph.ranges.get(target)
        is_more = known is not None and not known.intervals.is_subset(Range.parse(wanted).intervals)
        span = f"{entry.skip_range} || {wanted}" if is_more else wanted
        yield Edit(f"give {target} the skipRange '{span}'", (entry._replace(skip_range=span),))


def _helps(account: Account, question: Question, graph: ChannelGraph, edit: Edit) -> bool:
    if safest(graph, [edit]) is None:
        return False
    decision = _decided(account, question, edited(graph, edit))
    return decision.failure is None and decision.next is not None


def _decided(account: Account, question: Question, trial: ChannelGraph) -> Decision:
    """The resolver's decision if the channel were as tried."""
    if account.policy == "v0":
        return subscriptions.resolve(trial, account.installed)
    assert account.source is not None and account.source.package is not None  # noqa: PT018 - its channel
    package = account.source.package.package
    channels = tuple(trial.channel if c.name == trial.name else c for c in package.channels)
    sources: Sequence[Source] = [
        account.source._replace(package=PackageGraph(replace(package, channels=channels)))
    ]
    terms = question.terms
    wanted = Extension(
        question.package, account.channels, terms.version_range, terms.self_certified, account.installed
    )
    return extensions.resolve(sources, wanted)
