"""What to edit: what the rules say about whoever stands in the way, and edits that were tried.

A finding's fix is the rule's own. For what is in no channel no rule speaks, and an edit is made up. Either is
made to a copy of the channel, and advised only if what is installed then arrives and nobody is worse off.
"""

from __future__ import annotations

__all__ = ["Remedy", "remedies"]

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import get_close_matches
from typing import Final, NamedTuple

from everpath.explain.fix_search import Mending
from everpath.explain.trace import Account, Question
from everpath.model import Catalog, Package, Place
from everpath.resolvers.resolution import FailureKind
from everpath.rules.edits import Edit
from everpath.rules.findings import Finding, Severity
from everpath.rules.fix_conflicts import is_deferred
from everpath.rules.fixes import FIXED_TOGETHER
from everpath.rules.lint import Selection, lint
from everpath.wording import NameSuggestions, shorten_names

_WORD: Final = re.compile(r"[\w.+-]*\w")

#: Ranges that OLM ignores, or that mean something else than they seem to: whoever stays may be meant by one.
_RANGES: Final = frozenset(("EP301", "EP302", "EP303", "EP306", "EP308"))

#: Failures that no edit of the channel mends.
_NAMELESS: Final = frozenset((FailureKind.NO_STARTING_CSV, FailureKind.UNREADABLE_VERSION))

#: Says only that the two resolvers differ, which both accounts show.
_UNHELPFUL: Final = frozenset(("EP218",))


#: Say of an entry that it is left behind: of no use to who ends elsewhere.
_STRANDED: Final = frozenset(("EP206", "EP207"))

#: How many findings have their edits tried: a channel may have hundreds, and each costs a walk through it.
_MOST_TRIED: Final = 12

#: What is said of a finding whose own fix would do no harm, and would not be enough.
_NOT_ALONE: Final = "mended alone, it does not let"


class Remedy(NamedTuple):
    """What to do, and the finding that it mends, if a rule has found it; `edits` are those it speaks of."""

    text: str
    message: str = ""
    rule: str | None = None
    name: str | None = None
    severity: Severity | None = None
    place: Place | None = None
    edits: tuple[Edit, ...] = ()


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
    mending = Mending.of(account, question)
    catalog = catalogs.get(source.name) if source is not None else None
    told = list(_told(account, question, catalog, mending)) if catalog is not None else []
    yield from told if mending is None else _proven(account, mending, told)


def _told(
    account: Account, question: Question, catalog: Catalog, mending: Mending | None
) -> Iterator[Remedy]:
    """What the rules advise, the worst first."""
    selection = _selection(account, question)
    # Here each edit is tried by itself: one that waits for another says nothing about who asks.
    found = [finding for finding in _found(account, catalog, selection) if not is_deferred(finding.fix or "")]
    edits = mending.advised(catalog, selection) if mending is not None and found else {}
    for finding in sorted(found, key=lambda finding: _order(account, finding)):
        edit = edits.get((finding.rule, finding.entry, finding.place))
        if mending is None or finding.rule not in _RANGES:
            yield _as_remedy(finding, edit)
        elif (better := edit or mending.covering(finding.entry or "")) is not None and mending.helps(better):
            # What was probably meant; where no rule knows that, what is needed here.
            yield _as_remedy(finding._replace(fix=better.text), better)


def _proven(account: Account, mending: Mending, told: Sequence[Remedy]) -> Iterator[Remedy]:
    """Advice as it is, and of edits those that help; where none does, one that is made up, or a release."""
    with_edits = [remedy for remedy in told if remedy.edits]
    told = [r for r in told if not r.edits or r in with_edits[:_MOST_TRIED]]
    tried = [(remedy, [e for e in remedy.edits if mending.helps(e)]) for remedy in told]
    for remedy, helpful in tried:
        if helpful:
            yield remedy._replace(text=", or ".join(e.text for e in helpful), edits=tuple(helpful))
        elif not remedy.edits:
            yield remedy
    if any(helpful for _, helpful in tried):
        return
    futile = [remedy for remedy in told if remedy.edits]
    for remedy in futile:
        yield remedy._replace(text=f"{_NOT_ALONE} {_who(account)} arrive", edits=())
    is_advised = any(remedy.severity is Severity.ERROR for remedy in told if not remedy.edits)
    yield from _made_up(account, mending, [r.edits[0] for r in futile], is_last=not is_advised)


def _made_up(
    account: Account, mending: Mending, advised: Sequence[Edit], *, is_last: bool
) -> Iterator[Remedy]:
    """Edits that no rule advises; `is_last`: where there is none, say so."""
    whole = mending.together(advised) if advised else None
    edits = mending.ways_up() or ([whole] if whole is not None else [])
    release = mending.release() if not edits else None
    if not edits and release is None and advised:
        release = mending.release_after(advised)
    edits = edits or mending.ways_down()
    ways = [*([release] if release is not None else []), *(edit.text for edit in edits)]
    if edits:
        yield Remedy(", or ".join(ways), edits=tuple(edits))
    elif is_last:
        none = f"no single edit was found that lets {_who(account)} arrive and leaves nobody worse off"
        yield Remedy(": ".join((none, *ways)))


def _who(account: Account) -> str:
    return account.installed.name if account.installed is not None else "a new install"


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
        meant = NameSuggestions(account.graph.entries).suggest(question.starting)
        there = f"did you mean {meant}?" if meant else f"the head is {', '.join(account.graph.heads)}"
        yield Remedy(f"let startingCSV name an entry of {question.channel}: {there}")


def _selection(account: Account, question: Question) -> Selection:
    channels = frozenset(account.channels)
    return Selection(packages=frozenset((question.package,)), channels=channels, policy=account.policy)


def _found(account: Account, catalog: Catalog, selection: Selection) -> list[Finding]:
    """What concerns the walk, and its causes; what a cause's fix mends along is not told twice."""
    told = [f for f in lint(catalog, selection).findings if _can_help(account, f)]
    # Messages have the short names of entries.
    subjects = {shorten_names(name, package) for name in _subjects(account) for package in selection.packages}
    subjects |= _subjects(account)
    concerned = [f for f in told if f.rule in _RANGES or not subjects.isdisjoint(_words(f))]
    causes = {_cause(finding) for finding in concerned}
    found = [f for f in told if f in concerned or f.rule in causes]
    rules = {finding.rule for finding in found}
    return [finding for finding in found if _cause(finding) not in rules]


def _can_help(account: Account, finding: Finding) -> bool:
    is_other_s = finding.rule in _STRANDED and finding.entry != account.stop
    is_mute = finding.rule in _UNHELPFUL or is_other_s
    return finding.severity > Severity.NOTE and not is_mute and not finding.unreadable


def _words(finding: Finding) -> Iterator[str]:
    for text in (finding.entry, finding.message, finding.fix):
        yield from _WORD.findall(text or "")


def _cause(finding: Finding) -> str | None:
    """The rule whose fix mends this along, if there is one."""
    told = FIXED_TOGETHER.match(finding.fix or "")
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


def _as_remedy(finding: Finding, edit: Edit | None) -> Remedy:
    text = finding.fix or f"see `everpath rules {finding.rule}`"
    edits = tuple(e for e in (edit, edit.alternative) if e is not None) if edit is not None else ()
    return Remedy(text, finding.message, finding.rule, finding.name, finding.severity, finding.place, edits)
