"""Validate a catalog that exists only as blobs, as `opm validate` does."""

from __future__ import annotations

__all__ = ["rejection_reason"]

from collections.abc import Sequence

from everpath.graph import PackageGraph
from everpath.loaders.fbc.fields import ProblemCollector
from everpath.loaders.fbc.schemas import SchemaDecoder
from everpath.loaders.sources import Sources
from everpath.model import Place
from everpath.model.builder import CatalogBuilder
from everpath.opm_render.bundles import BUNDLE, Blob
from everpath.resolvers import opm
from everpath.rules.findings import Severity
from everpath.rules.lint import Selection, lint
from everpath.rules.opm_errors import OPM_RULES, range_errors


def rejection_reason(blobs: Sequence[Blob]) -> str | None:
    """Return the first reason for which `opm validate` rejects a catalog, or None."""
    if any(blob["schema"] == BUNDLE and not blob.get("name") for blob in blobs):
        return "a bundle without a name"
    builder = CatalogBuilder()
    decoder = SchemaDecoder(builder, thorough=True)
    for index, blob in enumerate(blobs):
        collector = ProblemCollector(Sources())
        collector.set_subject(blob)
        decoder.add(blob, Place("", index), collector)
    catalog = builder.build("")
    for finding in lint(catalog, Selection(rules=OPM_RULES)).findings:
        if finding.severity is Severity.ERROR:
            return finding.message
    for package in catalog.packages:
        for graph in PackageGraph(package).channels:
            if (error := opm.validate_channel(graph).error) is not None:
                return f"channel {graph.name}: {error}"
        for range_error in range_errors(package):
            return f"channel {range_error.channel}: {range_error.message}"
    return None
