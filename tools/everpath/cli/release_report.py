"""The report of a release: the channels before and after, and what the change does to installed versions."""

from __future__ import annotations

__all__ = ["comparison_documents", "release_lines", "source_diff"]

import difflib
from collections.abc import Iterator
from dataclasses import replace
from typing import Final

from everpath.app.project.release import ReleaseResult, VariantUpdate
from everpath.comparison import Change, ChangeKind
from everpath.graph import PackageGraph
from everpath.layout.drawing import channel_drawings
from everpath.model import Package
from everpath.reporters.colour import Paint
from everpath.reporters.comparison import json as comparison_json
from everpath.reporters.comparison import text as comparison_text
from everpath.reporters.comparison.report import ComparisonReport, DisplayOptions
from everpath.reporters.formatting import printable
from everpath.reporters.graph import tree_text
from everpath.resolvers import ResolverName
from everpath.rules.findings import Severity

_RESOLVERS: Final[tuple[ResolverName, ...]] = ("v0", "v1")


def release_lines(
    release: ReleaseResult, *, colour: bool, quiet: bool, expect_new_paths: bool
) -> Iterator[str]:
    """Yield the channels that change, before and after, and the effects on installed versions.

    With `expect_new_paths`, other upgrade paths than before are the purpose of the release and not reported.
    """
    for update in release.updates:
        if not quiet:
            yield from _channel_trees(update, colour=colour)
        if update.old.channels:
            expected = {ChangeKind.DIFFERENT_PATH} if expect_new_paths else set()
            severe = (c for c in update.comparison.changes if c.severity >= Severity.WARNING)
            changes = tuple(change for change in severe if change.kind not in expected)
            report = _comparison_report(update, changes)
            yield from comparison_text.render(report, DisplayOptions(colour=colour, is_brief=quiet))


def comparison_documents(release: ReleaseResult) -> Iterator[str]:
    """Yield the comparison of each existing catalog, as `everpath compare -o json` writes it."""
    for update in release.updates:
        if update.old.channels:
            report = _comparison_report(update, update.comparison.changes)
            yield "".join(comparison_json.render(report, DisplayOptions())).rstrip("\n")


def source_diff(release: ReleaseResult) -> Iterator[str]:
    """Yield the changes of releases.yaml as a unified diff."""
    name = str(release.edit.path)
    texts = (release.edit.old, release.edit.new)
    before, after = (text.decode(errors="replace").splitlines() for text in texts)
    for line in difflib.unified_diff(before, after, name, name, lineterm=""):
        yield f"{printable(line)}\n"


def _channel_trees(update: VariantUpdate, *, colour: bool) -> Iterator[str]:
    paint = Paint(colour)
    old, new = _edges(update.old), _edges(update.new)
    changed = {name for name in {*old, *new} if old.get(name) != new.get(name)}
    for heading, package in (("before", update.old), ("after", update.new)):
        graphs = [graph for graph in PackageGraph(package).channels if graph.name in changed]
        if graphs:
            if update.old.channels:
                yield f"{paint('cyan', f'{heading}{_of_variant(update)}')}\n\n"
            yield from tree_text.render(channel_drawings(graphs, ()), colour=colour)
            yield "\n"


def _edges(package: Package) -> dict[str, object]:
    return {
        channel.name: {e.name: (e.replaces, e.skips, e.skip_range) for e in channel.entries}
        for channel in package.channels
    }


def _comparison_report(update: VariantUpdate, changes: tuple[Change, ...]) -> ComparisonReport:
    return ComparisonReport(
        resolvers=_RESOLVERS,
        comparison=replace(update.comparison, changes=changes),
        old=f"the catalog{_of_variant(update)}",
        new=f"the new catalog{_of_variant(update)}",
    )


def _of_variant(update: VariantUpdate) -> str:
    return f" of {update.variant.name}" if update.variant.name else ""
