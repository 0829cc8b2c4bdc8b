"""Graphs for tests in everpath's notation, and their findings."""

from __future__ import annotations

__all__ = ["channel_graph", "findings", "package_graph", "parse_report", "rule_ids"]

from textwrap import dedent

from everpath.graph import ChannelGraph, PackageGraph
from everpath.layout.drawing import channel_drawings
from everpath.loaders.notation import parse
from everpath.model import Catalog
from everpath.reporters.graph import tree_text
from everpath.rules.findings import Finding
from everpath.rules.lint import Selection, lint
from everpath.rules.registry import find_rules
from tests.support import failure_context


def package_graph(drawing: str) -> PackageGraph:
    """Return the package of a graph in the notation."""
    return PackageGraph(_catalog(drawing).packages[0])


def channel_graph(drawing: str) -> ChannelGraph:
    """Return the first channel of a graph in the notation."""
    return package_graph(drawing).channels[0]


def findings(subject: str | Catalog, *rules: str) -> list[str]:
    """Lint a graph or a catalog with some rules, and return the findings as `ID entry: message`."""
    return [
        f"{f.rule} {f.entry or f.channel or f.package or '-'}: {f.message}"
        for f in parse_report(subject, *rules)
    ]


def parse_report(subject: str | Catalog, *rules: str) -> tuple[Finding, ...]:
    """Lint a graph or a catalog with some rules, and return the findings."""
    return lint(_catalog(subject), Selection(rules=find_rules(rules))).findings


def rule_ids(subject: str | Catalog) -> set[str]:
    """Return the ids of all rules with findings."""
    return {finding.rule for finding in lint(_catalog(subject)).findings}


def _catalog(subject: str | Catalog) -> Catalog:
    """Return the catalog of a notation, or the catalog itself. A failed test shows its graphs."""
    catalog = parse(dedent(subject)) if isinstance(subject, str) else subject
    failure_context.add("graphs", lambda: _drawings(catalog))
    return catalog


def _drawings(catalog: Catalog) -> str:
    """Return the channels of the first packages as trees."""
    channels = [channel for package in catalog.packages[:3] for channel in PackageGraph(package).channels]
    return "".join(tree_text.render(channel_drawings(channels, ()), colour=False))
