"""What the views of a comparison share: what was compared, how to find lines, and what it comes to."""

from __future__ import annotations

__all__ = ["COMPARISON_FORMATS", "ToldComparison", "ToldMatrix", "Unread", "cut", "since", "view"]

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import Final, NamedTuple

from everpath.compare.catalogs import Comparison
from everpath.compare.changes import Change, ChangeKind, cut_off_unnamed
from everpath.compare.differences import Difference, Kind
from everpath.compare.matrix import Matrix, Move
from everpath.compare.outcomes import Outcome
from everpath.compare.properties import Property
from everpath.loaders.location import SourcePosition
from everpath.model import Place
from everpath.reporters.formatting import count, join_names
from everpath.reporters.lint_report import Workspace
from everpath.resolvers import ResolverName
from everpath.rules.findings import Severity

#: What `-o` may say, the default first.
COMPARISON_FORMATS: Final = ("text", "json", "markdown", "github")

_MODULES: Final = {name: f"everpath.reporters.comparison_{name}" for name in COMPARISON_FORMATS}

_MOST_LETTERS: Final = 500

_OUTCOMES: Final = {
    Outcome.FAILING: "no longer resolved",
    Outcome.STRANDED: "stranded",
    Outcome.DOWNGRADED: "sent down on the way",
    Outcome.ROAD: "arriving another way",
    Outcome.BEFORE: "stranded before already",
    Outcome.MENDED: "stranded no longer",
    Outcome.FURTHER: "going further than before",
    Outcome.SAME: "unchanged",
}


class Unread(NamedTuple):
    """A part of a catalog that could not be read, and so was not compared."""

    catalog: str
    place: Place
    message: str


@dataclass(frozen=True, slots=True)
class _Told:
    """How a report is told: with which lines, from which severity on, in colour or not, to what end."""

    policies: tuple[ResolverName, ...]
    locate: Callable[[Place], SourcePosition]
    show: Severity = Severity.WARNING
    workspace: Workspace = field(default_factory=Workspace)
    colour: bool = False
    brief: bool = False
    unread: tuple[Unread, ...] = ()

    def shown(self, changes: Sequence[Change]) -> list[Change]:
        return [change for change in changes if change.severity >= self.show]

    def where(self, change: Change) -> str:
        """`file:line:column`, as far as it is known."""
        if change.place is None:
            return ""
        location = self.locate(change.place)
        return ":".join(str(step) for step in (location.file, location.line, location.column) if step)


@dataclass(frozen=True, slots=True)
class ToldComparison(_Told):
    """Two catalogs, by the names they were given, and what was found."""

    comparison: Comparison = field(kw_only=True)
    old: str = field(kw_only=True)
    new: str = field(kw_only=True)

    @property
    def summary(self) -> str:
        """What became of whom, in one sentence."""
        comparison = self.comparison
        counts = [(comparison.counts.get(o, 0), words) for o, words in _OUTCOMES.items()]
        found = [f"{number:,} {words}" for number, words in counts if number] or ["nobody to follow"]
        sizes = ((comparison.packages, "package"), (comparison.channels, "channel"))
        looked_at = " and ".join(count(number, noun) for number, noun in sizes)
        return (
            f"Of {count(len(comparison.rows), 'installed version')} in {looked_at} "
            f"({_each(self.policies)}): {join_names(found)}.{_unnamed(comparison.changes)}"
        )

    @property
    def properties(self) -> Iterator[tuple[str, Property]]:
        """The three properties, in words."""
        held = self.comparison.properties
        yield "any operator found in the old catalog has a replacement in the new one", held.found_in_old
        yield "any operator found in the new catalog has one, too", held.found_in_new
        yield "any z-stream release goes straight to the latest of its stream, or past it", held.z_streams

    @property
    def unsaid(self) -> str:
        """What is not shown, with the option that shows it; empty when there is nothing."""
        hidden = len(self.comparison.changes) - len(self.shown(self.comparison.changes))
        return f"{count(hidden, 'note')} not shown (--all lists them)." if hidden else ""


@dataclass(frozen=True, slots=True)
class ToldMatrix(_Told):
    """Catalogs in a row, by their names, and what was found."""

    matrix: Matrix = field(kw_only=True)
    catalogs: tuple[str, ...] = field(kw_only=True)

    @property
    def summary(self) -> str:
        """How many moves cut somebody off."""
        rows, moves = len(self.matrix.rows), self.matrix.moves
        bad = sum(move.stranded + cut_off_unnamed(move.changes) > 0 for move in moves)
        verdict = f"{bad} of {count(len(moves), 'move')} cut{'s' * (bad == 1)} somebody off"
        verdict = verdict if bad else "no move cuts anybody off"
        if dead := sum(_leaves_behind(move) for move in moves):
            verdict += f"; {dead} add{'s' * (dead == 1)} a release without a replacement"
        counted = count(rows, "installed version")
        return f"Of {counted} in {count(len(self.catalogs), 'catalog')} ({_each(self.policies)}): {verdict}."


def _unnamed(changes: Sequence[Change]) -> str:
    number = cut_off_unnamed(changes)
    return f" Where no channels are named, OLM v1 cuts off {number:,} more." if number else ""


def _leaves_behind(move: Move) -> bool:
    return any(change.kind is ChangeKind.DEAD_END for change in move.changes)


def cut(words: str) -> str:
    """Words that a terminal can show: OLM names every head that it finds, and there may be thousands."""
    if len(words) <= _MOST_LETTERS:
        return words
    return f"{words[:_MOST_LETTERS]}… (-o json has all of it)"


def since(edits: Sequence[Difference], most: int = 10) -> list[str]:
    """What did it, a line each; entries that were taken out are told together."""
    removed = [edit.entry for edit in edits if edit.kind is Kind.REMOVED]
    lines = [edit.words for edit in edits if edit.kind is not Kind.REMOVED or len(removed) == 1]
    if len(removed) > 1:
        shown = removed if len(removed) <= most else [*removed[:most], f"{len(removed) - most:,} more"]
        lines.append(f"{join_names(shown)} were taken out")
    more = len(lines) - most
    return [*lines[:most], f"and {more:,} more edits (-o json lists them)"] if more > 0 else lines


def _each(policies: Sequence[ResolverName]) -> str:
    return f"each counted under OLM {' and '.join(policies)}" if len(policies) > 1 else f"OLM {policies[0]}"


def view(name: str) -> Callable[[ToldComparison | ToldMatrix], Iterator[str]]:
    """The view of that name. Raises KeyError if there is none."""
    render: Callable[[ToldComparison | ToldMatrix], Iterator[str]] = import_module(_MODULES[name]).render
    return render
