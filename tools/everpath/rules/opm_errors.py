"""The errors with which `opm validate` rejects a package, for commands that run in spite of them."""

from __future__ import annotations

__all__ = ["OPM_RULES", "opm_errors", "range_errors"]

from collections import Counter
from collections.abc import Iterator
from typing import Final

from everpath.graph import PackageGraph
from everpath.model import Catalog, OpmError, Package
from everpath.ranges import Range
from everpath.resolvers import opm
from everpath.resolvers.go_quote import go_quote
from everpath.rules.findings import Finding, Severity
from everpath.rules.lint import Selection, lint

#: The rules whose errors `opm validate` reports as well. Tests compare each with opm.
OPM_RULES: Final = frozenset(
    f"EP{number}"
    for numbers in (range(101, 111), range(401, 409), range(421, 424), range(501, 504))
    for number in numbers
)

#: A range that does not parse.
_RANGE_UNPARSABLE: Final = "EP301"

#: A channel without entries. `resolvers.opm` has opm's message for it.
_EMPTY_CHANNEL: Final = "EP110"


def opm_errors(package: Package) -> tuple[OpmError, ...]:
    """Return all errors of opm for a package, those of the whole package first. O(entries + bundles).

    opm itself stops at the first error. Of several errors of one rule in a channel, the first is returned
    with their number.
    """
    findings = lint(Catalog("", (package,)), Selection(rules=OPM_RULES - {_EMPTY_CHANNEL})).findings
    errors = [
        *_rule_errors(package, findings),
        *_unnamed_bundle_errors(package),
        *_graph_errors(package),
        *range_errors(package),
    ]
    first: dict[tuple[str | None, str], OpmError] = {}
    counts: Counter[tuple[str | None, str]] = Counter()
    for error in errors:
        key = (error.channel, error.rule or error.message)
        first.setdefault(key, error)
        counts[key] += error.rule is not None
    for key, error in first.items():
        if counts[key] > 1:
            error.message += f" (and {counts[key] - 1} others of this kind)"
    return tuple(sorted(first.values(), key=lambda error: error.channel or ""))


def _rule_errors(package: Package, findings: tuple[Finding, ...]) -> Iterator[OpmError]:
    for finding in findings:
        if finding.severity is Severity.ERROR:
            yield OpmError(
                _opm_message(package, finding) or finding.message,
                finding.place,
                finding.fix,
                package=package.name,
                # For two channels with one name opm rejects the package.
                channel=finding.channel if finding.rule != "EP108" else None,
                rule=finding.rule,
            )


def _unnamed_bundle_errors(package: Package) -> Iterator[OpmError]:
    """Yield the error for the only unsafe name (EP111) that opm rejects as well."""
    if (bundle := package.by_name.get("")) is not None:
        yield OpmError(
            "a bundle has no name", bundle.place, "add its name", package=package.name, rule="EP111"
        )


def _opm_message(package: Package, finding: Finding) -> str | None:
    """Return opm's own message for duplicates."""
    subject = f"package {go_quote(package.name)}"
    match finding.rule:
        case "EP108" if finding.channel is not None:
            return f"{subject} has duplicate channel {go_quote(finding.channel)}"
        case "EP403" if finding.entry is not None:
            return f"{subject} has duplicate bundle {go_quote(finding.entry)}"
        case "EP502" if finding.place in {document.place for document in package.deprecations}:
            return f"expected a maximum of one deprecation per package: {go_quote(package.name)}"
    return None


def range_errors(package: Package) -> Iterator[OpmError]:
    """Yield the errors for skip ranges that do not parse (EP301). opm accepts an empty one (EP308)."""
    for channel in package.channels:
        for entry in channel.entries:
            if entry.skip_range and Range.parse_or_none(entry.skip_range) is None:
                yield OpmError(
                    f"invalid skipRange {go_quote(entry.skip_range)} of {entry.name}",
                    entry.place.at("skipRange"),
                    "`everpath range explain` shows the error",
                    package=package.name,
                    channel=channel.name,
                    rule=_RANGE_UNPARSABLE,
                )


def _graph_errors(package: Package) -> Iterator[OpmError]:
    for graph in PackageGraph(package).channels:
        if (message := opm.validate_channel(graph).error) is not None:
            yield OpmError(message, graph.channel.place, package=package.name, channel=graph.name)
