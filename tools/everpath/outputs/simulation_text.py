"""A simulation for people: a table a channel, OLM v0 and v1 side by side, then why some do not arrive."""

from __future__ import annotations

__all__ = ["text"]

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice, repeat
from typing import Final

from everpath.graph import ChannelGraph
from everpath.outputs.colour import Paint
from everpath.outputs.plain import columns, count, listed, one_line, spelled
from everpath.outputs.simulation import Simulation
from everpath.policies import opm
from everpath.policies.quoting import quoted
from everpath.policies.walks import End
from everpath.simulation import Line, Row, Sheet, Terms

# A walk in a column: the first stops, and the last.
_MOST_STOPS: Final = 4
_MOST_NAMES: Final = 5

#: Where OLM v1 arrives that is no head: what the same ClusterExtension would install afresh.
_GOAL: Final = "goal"

_COLOURS: Final = {End.HEAD: "green", End.STRANDED: "yellow", End.LOOP: "red", End.ERROR: "red"}
_COUNTED: Final = {
    End.HEAD: ("reaches the head", "reach the head"),
    End.STRANDED: ("is stranded", "are stranded"),
    End.LOOP: ("goes in a circle", "go in a circle"),
    End.ERROR: ("meets an error", "meet an error"),
}


def text(simulation: Simulation) -> Iterator[str]:
    """A section for each channel, and one line that sums up."""
    paint = Paint(simulation.colour)
    for sheet in simulation.sheets:
        if sheet.lines:
            yield from _sheet(simulation, sheet, paint)
    yield f"{_summary(simulation)}\n"


def _sheet(simulation: Simulation, sheet: Sheet, paint: Paint) -> Iterator[str]:
    yield f"{paint('bold', one_line(_title(sheet)))}\n"
    if sheet.graph is not None and (repeated := _repeated(sheet.graph)):
        yield f"{paint('yellow', 'opm refuses this catalog')}: {one_line(repeated)}\n"
    elif sheet.graph is not None and (complaint := opm.verdict(sheet.graph).words):
        yield f"{paint('yellow', 'opm refuses this channel')}: {one_line(complaint)}\n"
    yield "\n"
    yield from _table(simulation, sheet)
    yield from _reasons(sheet, paint, is_usual=simulation.scenario.terms == Terms())
    if simulation.manual:
        yield from _plans(sheet, paint)
    yield "\n"


def _repeated(graph: ChannelGraph) -> str | None:
    """What opm says of a package in which this channel, a bundle or the deprecations are said twice."""
    package = graph.package
    whose = f"package {quoted(package.name)}"
    if sum(channel.name == graph.name for channel in package.channels) > 1:
        return f"{whose} has duplicate channel {quoted(graph.name)}"
    if len(package.by_name) < len(package.bundles):
        twice = next(b.name for b in package.bundles if package.by_name[b.name] is not b)
        return f"{whose} has duplicate bundle {quoted(twice)}"
    if len(package.deprecations) > 1:
        return f"expected a maximum of one deprecation per package: {quoted(package.name)}"
    return None


def _title(sheet: Sheet) -> str:
    catalog = f"catalog {sheet.catalog}, " if sheet.catalog is not None else ""
    if sheet.graph is None:
        channels = "all channels" if sheet.channel == "*" else f"channels {sheet.channel} as one"
        return f"{catalog}package {sheet.package}, {channels}"
    heads = sheet.graph.heads
    head = f"head {heads[0]}" if len(heads) == 1 else f"{len(heads) or 'no'} heads"
    default = " (default)" if sheet.is_default else ""
    entries = count(len(sheet.graph.entries), "entry")
    return f"{catalog}package {sheet.package}, channel {sheet.channel}{default}: {entries}, {head}"


def _table(simulation: Simulation, sheet: Sheet) -> Iterator[str]:
    policies = [p for p in ("v0", "v1") if any(getattr(line, p) is not None for line in sheet.lines)]
    marks = any(line.differs for line in sheet.lines)
    switching = simulation.scenario.switching
    titles = ["INSTALLED", *(["FROM"] if switching else []), *(f"OLM {policy}" for policy in policies)]
    rows = [["", *titles] if marks else titles]
    for line in sheet.lines:
        cells = [_installed(line.installed), *([_from(line)] if switching else [])]
        cells += _walks(simulation, sheet, line)
        rows.append([("≠" if line.differs else ""), *cells] if marks else cells)
    yield from (f"  {row}" for row in columns(rows))


def _from(line: Line) -> str:
    return ", ".join(next(line.rows).origins)


def _walks(simulation: Simulation, sheet: Sheet, line: Line) -> Iterator[str]:
    for row in line.rows:
        if row.policy == "v1" and line.v0 is not None and not line.differs and not _stands_out(row, sheet):
            yield "the same"
        else:
            yield _walk(row, sheet, whole=simulation.whole)


def _stands_out(row: Row, sheet: Sheet) -> bool:
    """Whether a walk like another has something of its own: its error, or another catalog."""
    return row.end is End.ERROR or any(_is_elsewhere(source, sheet) for source in row.sources)


def _is_elsewhere(source: str | None, sheet: Sheet) -> bool:
    return sheet.catalog is not None and source != sheet.catalog


def _installed(name: str | None) -> str:
    return "nothing" if name is None else spelled(name)


def _walk(row: Row, sheet: Sheet, *, whole: bool) -> str:
    """`0.2.0 → 0.3.0: head`; where nothing happens `stays: stranded`. Versions are shorter than names."""
    if not len(row.way):
        return "error" if row.end is End.ERROR else f"stays: {_end(row, sheet)}"
    length, sources = len(row.way), row.sources or repeat(sheet.catalog)
    stops = zip(row.way, sources, strict=False)
    if whole or length <= _MOST_STOPS + 1:
        shown = [_stop(stop, source, sheet) for stop, source in stops]
    else:
        shown = [_stop(stop, source, sheet) for stop, source in islice(stops, _MOST_STOPS - 1)]
        last = _stop(row.last or "", row.sources[-1] if row.sources else sheet.catalog, sheet)
        shown += [f"({length - _MOST_STOPS:,} more)", last]
    return f"{' → '.join(shown)}: {_end(row, sheet)}"


def _stop(name: str, source: str | None, sheet: Sheet) -> str:
    label = sheet.versions.get(name, spelled(name))
    return f"{label} of {source}" if _is_elsewhere(source, sheet) else label


def _end(row: Row, sheet: Sheet) -> str:
    """The end in a word. What a range makes the last stop of is no head, nor is one of several heads."""
    alone = sheet.graph if sheet.catalog is None else None
    return _GOAL if row.end is End.HEAD and alone is not None and row.last != alone.head else row.end.value


def _reasons(sheet: Sheet, paint: Paint, *, is_usual: bool) -> Iterator[str]:
    """Each reason once, for all who end by it; why somebody arrives at the head needs no words.

    Nor does it where there is none, or where it was not asked for.
    """
    is_headed = is_usual and sheet.graph is not None and sheet.graph.head is not None
    told: dict[tuple[str, End, str], list[Row]] = {}
    goals: set[str | None] = set()
    for line in sheet.lines:
        for row in line.rows:
            beside = is_headed and _end(row, sheet) == _GOAL and row.last not in goals
            if row.end is not End.HEAD or row.installed is None or beside:
                told.setdefault((row.policy, row.end, row.reason), []).append(row)
                goals.add(row.last if beside else None)
    if told:
        yield "\n"
    for (policy, end, reason), rows in told.items():
        yield f"  {paint(_COLOURS[end], f'OLM {policy}, {_end(rows[0], sheet)}')}: {one_line(reason)}\n"
        travelled = [row.installed for row in rows if len(row.way) and row.installed is not None]
        if end is End.STRANDED and travelled:
            yield f"    reached from {one_line(_some(travelled))}\n"


def _some(names: Sequence[str]) -> str:
    shown = [spelled(name) for name in names[:_MOST_NAMES]]
    return listed([*shown, f"{len(names) - _MOST_NAMES:,} more"] if names[_MOST_NAMES:] else shown)


def _plans(sheet: Sheet, paint: Paint) -> Iterator[str]:
    """One InstallPlan a hop, each of which waits for somebody's approval."""
    yield f"\n  {paint('bold', 'InstallPlans')}: one a hop, and each waits for somebody to approve it\n"
    planned = [row for line in sheet.lines if (row := line.v0) is not None and len(row.way)]
    if not planned:
        yield "  none\n"
    for row in planned:
        stops = [f"{number}. {stop}" for number, stop in enumerate(row.path, 1)]
        yield f"  {one_line(_installed(row.installed))}: {one_line('  '.join(stops))}\n"


def _summary(simulation: Simulation) -> str:
    every = list(simulation.rows)
    parts = [
        f"{count(len(every), 'walk')} in {count(len({(r.package, r.channel) for r in every}), 'channel')}"
    ]
    ends = {p: Counter(row.end for row in every if row.policy == p) for p in simulation.scenario.policies}
    parts += [
        f"OLM {policy}: {_ends(found, 'the head' if policy == 'v0' else _aim(simulation))}"
        for policy, found in ends.items()
        if found
    ]
    if all(ends.values()) and len(ends) > 1:
        differing = sum(line.differs for sheet in simulation.sheets for line in sheet.lines)
        parts.append(f"≠ marks {count(differing, 'difference')}" if differing else "no difference")
    return f"{'; '.join(parts)}."


def _aim(simulation: Simulation) -> str:
    """What those have arrived at who use OLM v1."""
    if simulation.scenario.terms != Terms():
        return "the goal"
    lines = ((line, sheet) for sheet in simulation.sheets for line in sheet.lines)
    is_mixed = any(line.v1 is not None and _end(line.v1, sheet) == _GOAL for line, sheet in lines)
    return "the head or goal" if is_mixed else "the head"


def _ends(ends: Mapping[End, int], aim: str) -> str:
    said = listed([f"{ends[end]:,} {_COUNTED[end][ends[end] > 1]}" for end in End if ends.get(end)])
    return said.replace("the head", aim)
