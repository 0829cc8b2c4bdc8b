"""A simulation for people: a table a channel, OLM v0 and v1 side by side, then why some do not arrive."""

from __future__ import annotations

__all__ = ["text"]

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, repeat
from textwrap import wrap
from typing import Final

from everpath.model import OpmError
from everpath.reporters.colour import Paint
from everpath.reporters.formatting import columns, count, join_names, one_line, quote_empty
from everpath.reporters.simulation import Simulation
from everpath.simulate import ChannelResult, ClusterExtensionOptions, InstalledResult
from everpath.upgrade_paths import PathEnd, UpgradePath

# A walk in a column: the first stops, and the last.
_MOST_STOPS: Final = 4
_MOST_NAMES: Final = 5

#: How wide a walk that is told as a whole may be.
_WIDTH: Final = 100

#: Where OLM v1 arrives that is no head: what the same ClusterExtension would install afresh.
_GOAL: Final = "goal"

_UNSERVED: Final = (
    "No pod of OLM v0 serves a catalog that opm refuses: clusters keep the last one that was served."
)

_COLOURS: Final = {
    PathEnd.HEAD: "green",
    PathEnd.STRANDED: "yellow",
    PathEnd.LOOP: "red",
    PathEnd.ERROR: "red",
}
_COUNTED: Final = {
    PathEnd.HEAD: ("reaches the head", "reach the head"),
    PathEnd.STRANDED: ("is stranded", "are stranded"),
    PathEnd.LOOP: ("goes in a circle", "go in a circle"),
    PathEnd.ERROR: ("meets an error", "meet an error"),
}


def text(simulation: Simulation) -> Iterator[str]:
    """A section for each channel, and one line that sums up, unless that is not wanted."""
    paint, refused = Paint(simulation.colour), _Refused(simulation)
    for sheet, *alike in _told(simulation, refused):
        yield f"{paint('bold', one_line(_title(sheet)))}\n"
        yield from refused.lines(sheet, paint)
        yield "\n"
        if sheet.installed:
            yield from _sheet(simulation, sheet, [each.channel for each in alike], paint)
    if simulation.brief:
        return
    yield f"{_summary(simulation)}\n"
    if not refused.is_empty:
        yield f"{_UNSERVED}\n"
    if simulation.whole and len(simulation.sheets) > 1 and any(_is_long(row) for row in simulation.rows):
        yield "Long walks are cut short; -c CHANNEL shows one as a whole, -o json has all.\n"


def _told(simulation: Simulation, refused: _Refused) -> Iterable[list[ChannelResult]]:
    """The channels, each by itself; as one those in which nobody who is asked for moves, for one reason."""
    groups: dict[object, list[ChannelResult]] = {}
    for sheet in simulation.sheets:
        if _is_shown(sheet):
            key = _standstill(sheet) if simulation.whole and sheet.installed else None
            groups.setdefault((key, refused.of(sheet)) if key else id(sheet), []).append(sheet)
    return groups.values()


def _standstill(sheet: ChannelResult) -> tuple[object, ...] | None:
    """Why nobody moves in a channel, whatever its name; None if somebody does, or has arrived."""
    rows = [row for line in sheet.installed for row in line.paths]
    if any(row.end is PathEnd.HEAD or len(row.hops) for row in rows):
        return None
    channel = re.compile(rf"(?<![\w.-]){re.escape(sheet.channel)}(?![\w.-])")
    said = ((row.resolver, row.installed, row.end, channel.sub("*", row.reason)) for row in rows)
    return (sheet.catalog, sheet.package, *said)


def _sheet(simulation: Simulation, sheet: ChannelResult, alike: Sequence[str], paint: Paint) -> Iterator[str]:
    yield from _table(simulation, sheet)
    if simulation.whole and len(simulation.sheets) == 1:
        yield from _whole_walks(sheet)
    yield from _reasons(sheet, paint, is_usual=simulation.scenario.options == ClusterExtensionOptions())
    if simulation.manual:
        yield from _plans(sheet, paint)
    if alike:
        yield f"  The same in {count(len(alike), 'other channel')}: {one_line(_some(alike))}\n"
    yield "\n"


class _Refused:
    """What opm refuses: of a channel that is shown above its table, all else of a package above the first."""

    def __init__(self, simulation: Simulation) -> None:
        self._left: dict[str, list[tuple[str | None, OpmError]]] = {}
        self._shown = {(s.catalog, s.package, s.channel) for s in simulation.sheets if _is_shown(s)}
        for catalog, refusal in simulation.refused:
            self._left.setdefault(refusal.package, []).append((catalog, refusal))
        self.is_empty = not self._left

    def of(self, sheet: ChannelResult) -> tuple[str, ...]:
        """What is refused of the channel itself, as long as it has not been told."""
        own = ((catalog, each) for catalog, each in self._left.get(sheet.package, ()))
        return tuple(each.message for catalog, each in own if (catalog, each.channel) == _place(sheet))

    def lines(self, sheet: ChannelResult, paint: Paint) -> Iterator[str]:
        """What is to be told above a table. Nothing is told twice."""
        left = self._left.pop(sheet.package, [])
        told = [each for each in left if self._is_due(*each, sheet)]
        self._left[sheet.package] = [each for each in left if each not in told]
        for catalog, refusal in told:
            is_own = (catalog, refusal.channel) == _place(sheet)
            where = "this channel" if is_own else f"channel {refusal.channel}"
            said = f"opm refuses {where if refusal.channel is not None else 'this catalog'}"
            yield f"{paint('yellow', one_line(said))}: {one_line(refusal.message)}\n"

    def _is_due(self, catalog: str | None, refusal: OpmError, sheet: ChannelResult) -> bool:
        if sheet.graph is None:
            return True
        has_table = (catalog, sheet.package, refusal.channel) in self._shown
        return (catalog, refusal.channel) == _place(sheet) or (catalog == sheet.catalog and not has_table)


def _place(sheet: ChannelResult) -> tuple[str | None, str] | None:
    """The catalog and the channel that a sheet is about; None: several channels."""
    return (sheet.catalog, sheet.channel) if sheet.graph is not None else None


def _is_shown(sheet: ChannelResult) -> bool:
    """A channel that is empty has nobody, and is shown for what opm says of it."""
    return bool(sheet.installed) or (sheet.graph is not None and not sheet.graph.entries)


def _title(sheet: ChannelResult) -> str:
    catalog = f"catalog {sheet.catalog}, " if sheet.catalog is not None else ""
    if sheet.graph is None:
        channels = "all channels" if sheet.channel == "*" else f"channels {sheet.channel} as one"
        return f"{catalog}package {sheet.package}, {channels}"
    heads = sheet.graph.heads
    head = f"head {heads[0]}" if len(heads) == 1 else f"{len(heads) or 'no'} heads"
    default = " (default)" if sheet.is_default else ""
    entries = count(len(sheet.graph.entries), "entry")
    return f"{catalog}package {sheet.package}, channel {sheet.channel}{default}: {entries}, {head}"


def _table(simulation: Simulation, sheet: ChannelResult) -> Iterator[str]:
    policies = [p for p in ("v0", "v1") if any(getattr(line, p) is not None for line in sheet.installed)]
    marks = any(line.differs for line in sheet.installed)
    switching = simulation.scenario.is_switch
    titles = ["INSTALLED", *(["FROM"] if switching else []), *(f"OLM {policy}" for policy in policies)]
    rows = [["", *titles] if marks else titles]
    for line in sheet.installed:
        cells = [_installed(line.installed), *([_from(line)] if switching else [])]
        cells += _walks(sheet, line)
        rows.append([("≠" if line.differs else ""), *cells] if marks else cells)
    yield from (f"  {row}" for row in columns(rows))


def _from(line: InstalledResult) -> str:
    return ", ".join(next(line.paths).origins)


def _walks(sheet: ChannelResult, line: InstalledResult) -> Iterator[str]:
    for row in line.paths:
        if row.resolver == "v1" and _echoes(line, sheet):
            yield "the same"
        else:
            yield _walk(row, sheet)


def _stands_out(row: UpgradePath, sheet: ChannelResult) -> bool:
    """Whether a walk like another has something of its own: its error, or another catalog."""
    return row.end is PathEnd.ERROR or any(_is_elsewhere(source, sheet) for source in row.sources)


def _is_elsewhere(source: str | None, sheet: ChannelResult) -> bool:
    return sheet.catalog is not None and source != sheet.catalog


def _installed(name: str | None) -> str:
    return "nothing" if name is None else quote_empty(name)


def _is_long(row: UpgradePath) -> bool:
    return len(row.hops) > _MOST_STOPS + 1


def _whole_walks(sheet: ChannelResult) -> Iterator[str]:
    """What the table cuts, in lines that fit a terminal; what both OLMs do once."""
    for line in sheet.installed:
        long = [
            row for row in line.paths if _is_long(row) and (row.resolver == "v0" or not _echoes(line, sheet))
        ]
        for row in long:
            sources = row.sources or repeat(sheet.catalog)
            stops = [_stop(stop, source, sheet) for stop, source in zip(row.hops, sources, strict=False)]
            lines = wrap(one_line(" → ".join(stops)), _WIDTH, break_long_words=False, break_on_hyphens=False)
            yield f"\n  {one_line(_installed(row.installed))} under OLM {row.resolver}, {len(stops)} hops:\n"
            yield from (f"    {each}\n" for each in lines)


def _echoes(line: InstalledResult, sheet: ChannelResult) -> bool:
    """Whether OLM v1 does what v0 does."""
    return (
        line.v0 is not None and line.v1 is not None and not line.differs and not _stands_out(line.v1, sheet)
    )


def _walk(row: UpgradePath, sheet: ChannelResult) -> str:
    """`0.2.0 → 0.3.0: head`; where nothing happens `stays: stranded`. Versions are shorter than names."""
    if not len(row.hops):
        return "error" if row.end is PathEnd.ERROR else f"stays: {_end(row, sheet)}"
    length, sources = len(row.hops), row.sources or repeat(sheet.catalog)
    stops = zip(row.hops, sources, strict=False)
    if not _is_long(row):
        shown = [_stop(stop, source, sheet) for stop, source in stops]
    else:
        shown = [_stop(stop, source, sheet) for stop, source in islice(stops, _MOST_STOPS - 1)]
        last = _stop(row.last or "", row.sources[-1] if row.sources else sheet.catalog, sheet)
        shown += [f"({length - _MOST_STOPS:,} more)", last]
    return f"{' → '.join(shown)}: {_end(row, sheet)}"


def _stop(name: str, source: str | None, sheet: ChannelResult) -> str:
    label = sheet.versions.get(name, quote_empty(name))
    return f"{label} of {source}" if _is_elsewhere(source, sheet) else label


def _end(row: UpgradePath, sheet: ChannelResult) -> str:
    """The end in a word. What a range makes the last stop of is no head, nor is one of several heads."""
    alone = sheet.graph if sheet.catalog is None else None
    return (
        _GOAL if row.end is PathEnd.HEAD and alone is not None and row.last != alone.head else row.end.value
    )


def _reasons(sheet: ChannelResult, paint: Paint, *, is_usual: bool) -> Iterator[str]:
    """Each reason once, for all who end by it; why somebody arrives at the head needs no words.

    Nor does it where there is none, or where it was not asked for.
    """
    is_headed = is_usual and sheet.graph is not None and sheet.graph.head is not None
    told: dict[tuple[str, PathEnd, str], list[UpgradePath]] = {}
    goals: set[str | None] = set()
    for line in sheet.installed:
        for row in line.paths:
            beside = is_headed and _end(row, sheet) == _GOAL and row.last not in goals
            if row.end is not PathEnd.HEAD or row.installed is None or beside:
                told.setdefault((row.resolver, row.end, row.reason), []).append(row)
                goals.add(row.last if beside else None)
    if told:
        yield "\n"
    for (policy, end, reason), rows in told.items():
        yield f"  {paint(_COLOURS[end], f'OLM {policy}, {_end(rows[0], sheet)}')}: {one_line(reason)}\n"
        travelled = [row.installed for row in rows if len(row.hops) and row.installed is not None]
        if end is PathEnd.STRANDED and travelled:
            yield f"    reached from {one_line(_some(travelled))}\n"


def _some(names: Sequence[str]) -> str:
    shown = [quote_empty(name) for name in names[:_MOST_NAMES]]
    return join_names([*shown, f"{len(names) - _MOST_NAMES:,} more"] if names[_MOST_NAMES:] else shown)


def _plans(sheet: ChannelResult, paint: Paint) -> Iterator[str]:
    """One InstallPlan a hop, each of which waits for somebody's approval."""
    yield f"\n  {paint('bold', 'InstallPlans')}: one a hop, and each waits for somebody to approve it\n"
    planned = [row for line in sheet.installed if (row := line.v0) is not None and len(row.hops)]
    if not planned:
        yield "  none\n"
    for row in planned:
        stops = [f"{number}. {stop}" for number, stop in enumerate(row.hops, 1)]
        yield f"  {one_line(_installed(row.installed))}: {one_line('  '.join(stops))}\n"


def _summary(simulation: Simulation) -> str:
    every = list(simulation.rows)
    parts = [
        f"{count(len(every), 'walk')} in {count(len({(r.package, r.channel) for r in every}), 'channel')}"
    ]
    ends = {p: Counter(row.end for row in every if row.resolver == p) for p in simulation.scenario.resolvers}
    parts += [
        f"OLM {policy}: {_ends(found, 'the head' if policy == 'v0' else _aim(simulation))}"
        for policy, found in ends.items()
        if found
    ]
    if all(ends.values()) and len(ends) > 1:
        differing = sum(line.differs for sheet in simulation.sheets for line in sheet.installed)
        parts.append(f"≠ marks {count(differing, 'difference')}" if differing else "no difference")
    return f"{'; '.join(parts)}."


def _aim(simulation: Simulation) -> str:
    """What those have arrived at who use OLM v1."""
    if simulation.scenario.options != ClusterExtensionOptions():
        return "the goal"
    lines = ((line, sheet) for sheet in simulation.sheets for line in sheet.installed)
    is_mixed = any(line.v1 is not None and _end(line.v1, sheet) == _GOAL for line, sheet in lines)
    return "the head or goal" if is_mixed else "the head"


def _ends(ends: Mapping[PathEnd, int], aim: str) -> str:
    said = join_names([f"{ends[end]:,} {_COUNTED[end][ends[end] > 1]}" for end in PathEnd if ends.get(end)])
    return said.replace("the head", aim)
