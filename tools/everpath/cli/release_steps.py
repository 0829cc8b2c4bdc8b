"""What a release does to a catalog: before, after, and to whom; in words, or as JSON."""

from __future__ import annotations

__all__ = ["Step", "as_json", "reasons_against", "step", "told"]

import os
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Final, NamedTuple

from everpath.app.project import Project
from everpath.cli.project import variant_package
from everpath.cli.terminal import wants_colour
from everpath.compare import Change, ChangeKind, Comparison, compare
from everpath.graph import ChannelGraph, PackageGraph
from everpath.layout.scene import scenes
from everpath.loaders import source_positions
from everpath.model import Catalog, Package
from everpath.releases.channel_edges import catalog_package
from everpath.releases.model import Variant
from everpath.reporters.colour import Paint
from everpath.reporters.comparison import ComparisonReport
from everpath.resolvers import ResolverName
from everpath.rules.findings import Severity

_POLICIES: Final[tuple[ResolverName, ...]] = ("v0", "v1")


class Step(NamedTuple):
    """One catalog before and after; the project is the one after."""

    project: Project
    variant: Variant
    old: Package
    new: Package
    comparison: Comparison


def step(old: Project, new: Project, variant: Variant) -> Step:
    """A catalog that is new has nobody to strand: it is compared with itself as it would have been before."""
    before, after = variant_package(old, variant), catalog_package(new.source, variant)
    # What is published says more of a bundle than the source, and some of it keeps OLM from installing it.
    known = before.by_name
    after = after._replace(bundles=tuple(known.get(b.name, b) for b in after.bundles))
    comparison = compare(Catalog("old", (before,)), Catalog("new", (after,)))
    return Step(new, variant, before, after, comparison)


def reasons_against(comparison: Comparison) -> Iterator[str]:
    """Why a release is refused, if it is."""
    if comparison.stranded or comparison.errors:
        yield "somebody would be stranded"
    if any(change.kind is ChangeKind.REFUSED for change in comparison.changes):
        yield "opm would refuse the catalog"


def told(step: Step, *, is_quiet: bool, roads_are_meant: bool) -> Iterator[str]:
    """The channels that change, before and after, and what that does to whom."""
    paint = Paint(wants_colour(sys.stdout, os.environ))
    if not is_quiet:
        changed = _changed(step)
        for word, whole in (("before", step.old), ("after", step.new)):
            graphs = [graph for graph in PackageGraph(whole).channels if graph.name in changed]
            if graphs:
                if step.old.channels:
                    yield f"{paint('cyan', f'{word}{_of_catalog(step)}')}\n\n"
                yield from _drawn(graphs, colour=paint.on)
                yield "\n"
    if not step.old.channels:
        return
    from everpath.reporters import comparison_text  # noqa: PLC0415 - beside the view of the graph

    changes = _worth_telling(step.comparison, roads_are_meant=roads_are_meant)
    yield from comparison_text.render(
        replace(_comparison(step, changes), colour=paint.on, is_brief=is_quiet),
    )


def as_json(steps: Sequence[Step]) -> Iterator[str]:
    """Each catalog that is there already, as `everpath compare -o json` tells it."""
    from everpath.reporters import comparison_json  # noqa: PLC0415

    for each in steps:
        if each.old.channels:
            yield "".join(comparison_json.render(_comparison(each, each.comparison.changes))).rstrip("\n")


def _comparison(step: Step, changes: tuple[Change, ...]) -> ComparisonReport:
    return ComparisonReport(
        resolvers=_POLICIES,
        locate=lambda place: source_positions.locate(place, step.project.sources),
        show=Severity.WARNING,
        comparison=replace(step.comparison, changes=changes),
        old=f"the catalog{_of_catalog(step)}",
        new=f"the new catalog{_of_catalog(step)}",
    )


def _of_catalog(step: Step) -> str:
    return f" of {step.variant.name}" if step.variant.name else ""


def _worth_telling(comparison: Comparison, *, roads_are_meant: bool) -> tuple[Change, ...]:
    """Who is hurt or surprised. Other roads are no surprise where that is what the release is for."""
    is_meant = {ChangeKind.DIFFERENT_PATH} if roads_are_meant else set()
    grave = (change for change in comparison.changes if change.severity >= Severity.WARNING)
    return tuple(change for change in grave if change.kind not in is_meant)


def _changed(step: Step) -> set[str]:
    def edges(whole: Package) -> dict[str, object]:
        return {
            c.name: {e.name: (e.replaces, e.skips, e.skip_range) for e in c.entries} for c in whole.channels
        }

    old, new = edges(step.old), edges(step.new)
    return {name for name in {*old, *new} if old.get(name) != new.get(name)}


def _drawn(graphs: Sequence[ChannelGraph], *, colour: bool) -> Iterator[str]:
    from everpath.reporters import tree_text  # noqa: PLC0415

    return tree_text.render(scenes(graphs, ()), colour=colour)
