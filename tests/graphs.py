"""Graphs for tests, drawn in everpath's own notation, and the sentences the rules say about them."""

from __future__ import annotations

__all__ = ["channel_graph", "findings", "package_graph", "parse_report", "rule_ids"]

from textwrap import dedent

from everpath.graph import ChannelGraph, PackageGraph
from everpath.loaders.notation import parse
from everpath.model import Catalog
from everpath.rules.findings import Finding
from everpath.rules.lint import Selection, lint
from everpath.rules.registry import find_rules


def package_graph(drawing: str) -> PackageGraph:
    """The package of a drawing."""
    return PackageGraph(parse(dedent(drawing)).packages[0])


def channel_graph(drawing: str) -> ChannelGraph:
    """The first channel of a drawing."""
    return package_graph(drawing).channels[0]


def findings(subject: str | Catalog, *rules: str) -> list[str]:
    """What the named rules say of a drawing or a catalog, as `ID entry: message`."""
    return [
        f"{f.rule} {f.entry or f.channel or f.package or '-'}: {f.message}"
        for f in parse_report(subject, *rules)
    ]


def parse_report(subject: str | Catalog, *rules: str) -> tuple[Finding, ...]:
    """What the named rules find in a drawing or a catalog."""
    catalog = parse(dedent(subject)) if isinstance(subject, str) else subject
    return lint(catalog, Selection(rules=find_rules(rules))).findings


def rule_ids(subject: str | Catalog) -> set[str]:
    """Ids of all rules that have something to say."""
    catalog = parse(dedent(subject)) if isinstance(subject, str) else subject
    return {finding.rule for finding in lint(catalog).findings}
