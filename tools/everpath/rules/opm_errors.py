"""What `opm validate` refuses of a package, for commands that answer all the same.

The rules that mirror opm know it; of channels' graphs `resolvers.opm` has opm's own words.
"""

from __future__ import annotations

__all__ = ["OPM_RULES", "Refusal", "opm_errors", "range_errors"]

from collections.abc import Iterator
from typing import Final, NamedTuple

from everpath.graph import PackageGraph
from everpath.model import Catalog, Package, Place
from everpath.ranges import Range
from everpath.resolvers import opm
from everpath.resolvers.go_quote import go_quote
from everpath.rules.findings import Finding, Severity
from everpath.rules.lint import Selection, lint

#: The rules whose errors are laws of `opm validate`; tests hold each of them against opm.
OPM_RULES: Final = frozenset(
    f"EP{number}"
    for numbers in (range(101, 111), range(401, 409), range(421, 424), range(501, 504))
    for number in numbers
)

#: A range that does not parse.
_RANGE: Final = "EP301"

#: A channel without entries, of which `resolvers.opm` has the words.
_EMPTY: Final = "EP110"


class Refusal(NamedTuple):
    """One thing that opm refuses the catalog for; `channel` is None where it is no matter of a channel.

    `rule` is the one that says so, None for the graph of a channel. Of several of one kind the first is told,
    and how many `more` there are.
    """

    package: str
    channel: str | None
    text: str
    place: Place
    rule: str | None = None
    fix: str | None = None
    more: int = 0

    @property
    def words(self) -> str:
        return f"{self.text} (and {self.more} others of this kind)" if self.more else self.text


def opm_errors(package: Package) -> tuple[Refusal, ...]:
    """All that opm refuses of a package: first what is no matter of a channel. O(entries + bundles).

    opm stops at the first of them. None: it accepts the package.
    """
    findings = lint(Catalog("", (package,)), Selection(rules=OPM_RULES - {_EMPTY})).findings
    found: dict[tuple[str | None, str], Refusal] = {}
    for refusal in [
        *_broken_laws(package, findings),
        *_nameless(package),
        *_broken_graphs(package),
        *range_errors(package),
    ]:
        key = (refusal.channel, refusal.rule or refusal.text)
        first = found.setdefault(key, refusal)
        if first is not refusal and refusal.rule is not None:
            found[key] = first._replace(more=first.more + 1)
    return tuple(sorted(found.values(), key=lambda each: each.channel or ""))


def _broken_laws(package: Package, findings: tuple[Finding, ...]) -> Iterator[Refusal]:
    for finding in findings:
        if finding.severity is Severity.ERROR:
            # Of two channels of one name it is the package that is refused.
            channel = finding.channel if finding.rule != "EP108" else None
            words = _own_words(package, finding) or finding.message
            yield Refusal(package.name, channel, words, finding.place, finding.rule, finding.fix)


def _nameless(package: Package) -> Iterator[Refusal]:
    """The one unsafe name (EP111) that opm refuses, too."""
    if (bundle := package.by_name.get("")) is not None:
        yield Refusal(package.name, None, "a bundle has no name", bundle.place, "EP111", "give it its name")


def _own_words(package: Package, finding: Finding) -> str | None:
    """What opm itself says of what stands there twice."""
    whose = f"package {go_quote(package.name)}"
    match finding.rule:
        case "EP108" if finding.channel is not None:
            return f"{whose} has duplicate channel {go_quote(finding.channel)}"
        case "EP403" if finding.entry is not None:
            return f"{whose} has duplicate bundle {go_quote(finding.entry)}"
        case "EP502" if finding.place in {document.place for document in package.deprecations}:
            return f"expected a maximum of one deprecation per package: {go_quote(package.name)}"
    return None


def range_errors(package: Package) -> Iterator[Refusal]:
    """Ranges that OLM would ignore (EP301), those of nothing but blanks (EP308) among them."""
    for channel in package.channels:
        for entry in channel.entries:
            if entry.skip_range and Range.parse_or_none(entry.skip_range) is None:
                words = f"invalid skipRange {go_quote(entry.skip_range)} of {entry.name}"
                place = entry.place.at("skipRange")
                fix = "`everpath range explain` says what is wrong with it"
                yield Refusal(package.name, channel.name, words, place, _RANGE, fix)


def _broken_graphs(package: Package) -> Iterator[Refusal]:
    for graph in PackageGraph(package).channels:
        if (words := opm.validate_channel(graph).error) is not None:
            yield Refusal(package.name, graph.name, words, graph.channel.place)
