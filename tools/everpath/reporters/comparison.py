"""Data that all reporters of a comparison share: input names, locations, summary."""

from __future__ import annotations

__all__ = [
    "COMPARISON_FORMATS",
    "ComparisonReport",
    "MatrixReport",
    "UnreadPart",
    "describe_edits",
    "reporter",
    "truncate",
]

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final, NamedTuple

from everpath.compare.catalogs import Comparison
from everpath.compare.changes import Change, regressions_without_channels
from everpath.compare.differences import Difference, EditKind
from everpath.compare.matrix import Matrix
from everpath.compare.outcomes import PathOutcome
from everpath.compare.properties import Property
from everpath.loaders.location import SourcePosition
from everpath.model import Place
from everpath.reporters.formatting import count, join_names
from everpath.reporters.lint_report import Workspace
from everpath.resolvers import ResolverName
from everpath.rules.findings import Severity

#: Values of `-o`, the default first.
COMPARISON_FORMATS: Final = ("text", "json", "markdown", "github")

_MODULES: Final = {name: f"everpath.reporters.comparison_{name}" for name in COMPARISON_FORMATS}

_MOST_CHARACTERS: Final = 500

_OUTCOMES: Final = {
    PathOutcome.FAILING: "failing",
    PathOutcome.STRANDED: "stranded",
    PathOutcome.DOWNGRADED: "upgraded through a lower version",
    PathOutcome.DIFFERENT_PATH: "with a different upgrade path",
    PathOutcome.STRANDED_BEFORE: "already stranded before",
    PathOutcome.FIXED: "no longer stranded",
    PathOutcome.FURTHER: "upgraded further than before",
    PathOutcome.SAME: "unchanged",
}


class UnreadPart(NamedTuple):
    """A part of a catalog that could not be read and was not compared."""

    catalog: str
    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class _ReportOptions:
    """Options of a report; `show` is the lowest severity that is shown."""

    resolvers: tuple[ResolverName, ...]
    locate: Callable[[Place], SourcePosition]
    show: Severity = Severity.WARNING
    workspace: Workspace = field(default_factory=Workspace)
    colour: bool = False
    is_brief: bool = False
    unread_parts: tuple[UnreadPart, ...] = ()

    def shown(self, changes: Sequence[Change]) -> list[Change]:
        return [change for change in changes if change.severity >= self.show]

    def where(self, change: Change) -> str:
        """Return `file:line:column`, as far as known."""
        if change.place is None:
            return ""
        location = self.locate(change.place)
        return ":".join(str(step) for step in (location.file, location.line, location.column) if step)


@dataclass(frozen=True, slots=True)
class ComparisonReport(_ReportOptions):
    """The comparison of two catalogs, with their names on the command line."""

    comparison: Comparison = field(kw_only=True)
    old: str = field(kw_only=True)
    new: str = field(kw_only=True)

    @property
    def summary(self) -> str:
        """The number of versions with each outcome, in one sentence."""
        comparison = self.comparison
        counts = [(comparison.counts.get(o, 0), words) for o, words in _OUTCOMES.items()]
        found = [f"{number:,} {words}" for number, words in counts if number] or ["nothing to compare"]
        sizes = ((comparison.packages, "package"), (comparison.channels, "channel"))
        compared = " and ".join(count(number, noun) for number, noun in sizes)
        return (
            f"Of {count(len(comparison.rows), 'installed version')} in {compared} "
            f"({_each(self.resolvers)}): {join_names(found)}.{_unnamed(comparison.changes)}"
        )

    @property
    def properties(self) -> Iterator[tuple[str, Property]]:
        """The three properties with their descriptions."""
        held = self.comparison.properties
        yield "every operator of the old catalog has a replacement in the new one", held.found_in_old
        yield "every operator of the new catalog has a replacement", held.found_in_new
        yield "every z-stream release is upgraded to the latest of its stream, or beyond", held.z_streams

    @property
    def hidden_notes(self) -> str:
        """The number of changes that are not shown; empty if all are."""
        hidden = len(self.comparison.changes) - len(self.shown(self.comparison.changes))
        return f"{count(hidden, 'note')} not shown (--all lists them)." if hidden else ""


@dataclass(frozen=True, slots=True)
class MatrixReport(_ReportOptions):
    """The comparison of a sequence of catalogs, with their names."""

    matrix: Matrix = field(kw_only=True)
    catalogs: tuple[str, ...] = field(kw_only=True)

    @property
    def summary(self) -> str:
        """The number of updates with regressions."""
        rows, updates = len(self.matrix.rows), self.matrix.updates
        bad = sum(update.cut_off > 0 for update in updates)
        verdict = f"{bad} of {count(len(updates), 'catalog update')} cut{'s' * (bad == 1)} off clusters"
        verdict = verdict if bad else "no catalog update cuts off clusters"
        if dead := sum(update.has_dead_end for update in updates):
            verdict += f"; {dead} add{'s' * (dead == 1)} a release without a replacement"
        counted = count(rows, "installed version")
        return f"Of {counted} in {count(len(self.catalogs), 'catalog')} ({_each(self.resolvers)}): {verdict}."


def _unnamed(changes: Sequence[Change]) -> str:
    number = regressions_without_channels(changes)
    return f" Without channels in the ClusterExtension, OLM v1 cuts off {number:,} more." if number else ""


def truncate(text: str) -> str:
    """Shorten a text: OLM's errors name every head, and there may be thousands."""
    if len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[:_MOST_CHARACTERS]}… (complete in -o json)"


def describe_edits(edits: Sequence[Difference], most: int = 10) -> list[str]:
    """Describe edits, one in a line; removed entries share a line."""
    removed = [edit.entry for edit in edits if edit.kind is EditKind.REMOVED]
    lines = [edit.description for edit in edits if edit.kind is not EditKind.REMOVED or len(removed) == 1]
    if len(removed) > 1:
        shown = removed if len(removed) <= most else [*removed[:most], f"{len(removed) - most:,} more"]
        lines.append(f"{join_names(shown)} were removed")
    more = len(lines) - most
    return [*lines[:most], f"and {more:,} more edits (-o json lists them)"] if more > 0 else lines


def _each(policies: Sequence[ResolverName]) -> str:
    return f"each counted under OLM {' and '.join(policies)}" if len(policies) > 1 else f"OLM {policies[0]}"


def reporter(name: str) -> Callable[[ComparisonReport | MatrixReport], Iterator[str]]:
    """Return the reporter of a format. Raises KeyError for an unknown one."""
    render: Callable[[ComparisonReport | MatrixReport], Iterator[str]] = import_module(_MODULES[name]).render
    return render
