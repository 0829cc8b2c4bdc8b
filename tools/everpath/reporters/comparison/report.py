"""The report of a comparison, which every reporter of `everpath compare` gets."""

from __future__ import annotations

__all__ = [
    "COMPARISON_FORMATS",
    "ComparisonReport",
    "DisplayOptions",
    "MatrixReport",
    "UnreadPart",
    "describe_edits",
    "position_text",
    "reporter",
    "truncate",
]

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final, NamedTuple, TypeAlias

from everpath.comparison.catalogs import Comparison
from everpath.comparison.changes import Change, regressions_without_channels
from everpath.comparison.differences import Difference, EditKind
from everpath.comparison.matrix import Matrix
from everpath.comparison.outcomes import PathOutcome
from everpath.comparison.properties import PropertyResult
from everpath.model import SourcePosition
from everpath.reporters.lint.lint_report import Workspace
from everpath.resolvers import ResolverName
from everpath.rules.findings import Severity
from everpath.wording import count, join_names

#: Values of `-o`, the default first.
COMPARISON_FORMATS: Final = ("text", "json", "markdown", "github")

_MAX_CHARACTERS: Final = 500

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
    position: SourcePosition
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _ComparisonBase:
    """What both kinds of report have."""

    resolvers: tuple[ResolverName, ...]
    unread_parts: tuple[UnreadPart, ...] = ()
    warnings: tuple[str, ...] = ()

    def _olm(self) -> str:
        if len(self.resolvers) == 1:
            return f"OLM {self.resolvers[0]}"
        return f"each counted under OLM {' and '.join(self.resolvers)}"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonReport(_ComparisonBase):
    """The comparison of two catalogs, `old` and `new`."""

    comparison: Comparison
    old: str
    new: str

    @property
    def summary(self) -> str:
        """The number of versions with each outcome, in one sentence."""
        comparison = self.comparison
        numbers = ((comparison.counts.get(outcome, 0), words) for outcome, words in _OUTCOMES.items())
        outcomes = [f"{number:,} {words}" for number, words in numbers if number] or ["nothing to compare"]
        versions = count(len(comparison.rows), "installed version")
        sizes = f"{count(comparison.packages, 'package')} and {count(comparison.channels, 'channel')}"
        more = regressions_without_channels(comparison.changes)
        return f"Of {versions} in {sizes} ({self._olm()}): {join_names(outcomes, limit=None)}." + (
            f" Without channels in the ClusterExtension, OLM v1 cuts off {more:,} more." if more else ""
        )

    @property
    def properties(self) -> Iterator[tuple[str, PropertyResult]]:
        """The three properties with their descriptions."""
        found_in_old, found_in_new, z_streams = self.comparison.properties
        yield "every operator of the old catalog has a replacement in the new one", found_in_old
        yield "every operator of the new catalog has a replacement", found_in_new
        yield "every z-stream release is upgraded to the latest of its stream, or beyond", z_streams


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixReport(_ComparisonBase):
    """The comparison of a sequence of catalogs, with their names."""

    matrix: Matrix
    catalogs: tuple[str, ...]

    @property
    def summary(self) -> str:
        """The number of catalog updates with regressions."""
        updates = self.matrix.updates
        bad = sum(update.cut_off_count > 0 for update in updates)
        result = "no catalog update cuts off clusters"
        if bad:
            result = f"{bad} of {count(len(updates), 'catalog update')} cut{'s' * (bad == 1)} off clusters"
        if dead := sum(update.has_dead_end for update in updates):
            result += f"; {dead} add{'s' * (dead == 1)} a release without a replacement"
        versions = count(len(self.matrix.rows), "installed version")
        return f"Of {versions} in {count(len(self.catalogs), 'catalog')} ({self._olm()}): {result}."


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayOptions:
    """What is shown of a report, and how. `show` is the lowest severity of the changes that are shown."""

    show: Severity = Severity.WARNING
    workspace: Workspace = field(default_factory=Workspace)
    colour: bool = False
    is_brief: bool = False

    def visible_changes(self, changes: Sequence[Change]) -> list[Change]:
        return [change for change in changes if change.severity >= self.show]


_Reporter: TypeAlias = Callable[[ComparisonReport | MatrixReport, DisplayOptions], Iterator[str]]


def reporter(name: str) -> _Reporter:
    """Return the reporter of a format. Raises KeyError for an unknown one."""
    if name not in COMPARISON_FORMATS:
        raise KeyError(name)
    render: _Reporter = import_module(f"everpath.reporters.comparison.{name}").render
    return render


def position_text(change: Change) -> str:
    """Return `file:line:column` of a change, as far as known."""
    position = change.position
    if position is None:
        return ""
    return ":".join(str(part) for part in (position.file, position.line, position.column) if part)


def truncate(text: str) -> str:
    """Shorten a text: OLM's errors name every head, and there may be thousands."""
    if len(text) <= _MAX_CHARACTERS:
        return text
    return f"{text[:_MAX_CHARACTERS]}… (complete in -o json)"


def describe_edits(edits: Sequence[Difference], most: int = 10) -> list[str]:
    """Describe edits, one in a line; removed entries share a line."""
    removed = [edit.entry for edit in edits if edit.kind is EditKind.REMOVED]
    lines = [edit.description for edit in edits if edit.kind is not EditKind.REMOVED or len(removed) == 1]
    if len(removed) > 1:
        shown = removed if len(removed) <= most else [*removed[:most], f"{len(removed) - most:,} more"]
        lines.append(f"{join_names(shown, limit=None)} were removed")
    more = len(lines) - most
    return [*lines[:most], f"and {more:,} more edits (-o json lists them)"] if more > 0 else lines
