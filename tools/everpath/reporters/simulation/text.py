"""The report of `everpath simulate` for people: a table for each channel with both resolvers, and reasons."""

from __future__ import annotations

__all__ = ["text"]

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, repeat
from textwrap import wrap
from typing import Final

from everpath.model import OpmError
from everpath.reporters.colour import Paint
from everpath.reporters.formatting import columns, one_line, quote_empty
from everpath.reporters.simulation.report import SimulationReport
from everpath.simulate import ChannelResult, ClusterExtensionOptions, InstalledResult
from everpath.upgrade_path.hops import PathEnd
from everpath.upgrade_path.path import UpgradePath
from everpath.wording import count, join_names

#: Hops of a path that the table shows: the first ones and the last.
_MAX_HOPS: Final = 4
_MAX_NAMES: Final = 5
_WIDTH: Final = 100

_NOT_SERVED: Final = (
    "OLM v0 does not serve a catalog that opm rejects: clusters keep the last version of the catalog."
)

_COLOURS: Final = {
    PathEnd.HEAD: "green",
    PathEnd.STRANDED: "yellow",
    PathEnd.LOOP: "red",
    PathEnd.ERROR: "red",
}
_SUMMARY_VERBS: Final = {
    PathEnd.HEAD: ("reaches {goal}", "reach {goal}"),
    PathEnd.STRANDED: ("is stranded", "are stranded"),
    PathEnd.LOOP: ("updates in a cycle", "update in a cycle"),
    PathEnd.ERROR: ("fails", "fail"),
}


def text(simulation: SimulationReport) -> Iterator[str]:
    """Yield a section for each channel and, unless `is_brief` is set, a summary."""
    paint, errors = Paint(simulation.colour), _OpmErrors(simulation)
    for result, *similar in _group_channels(simulation, errors):
        yield f"{paint('bold', one_line(_title(result)))}\n"
        yield from errors.take(result, paint)
        yield "\n"
        if result.installed:
            yield from _section(simulation, result, paint)
            if similar:
                others = one_line(_join_some([each.channel for each in similar]))
                yield f"  The same in {count(len(similar), 'other channel')}: {others}\n"
            yield "\n"
    if simulation.is_brief:
        return
    yield f"{_summary(simulation)}\n"
    if simulation.opm_errors:
        yield f"{_NOT_SERVED}\n"
    is_cut = simulation.with_full_paths and len(simulation.results) > 1
    if is_cut and any(_is_long(path) for path in simulation.paths):
        yield "Long paths are shortened; -c CHANNEL shows one in full, -o json has all hops.\n"


def _group_channels(simulation: SimulationReport, errors: _OpmErrors) -> Iterable[list[ChannelResult]]:
    """Group channels in which no cluster gets updates, for the same reason; other channels are single."""
    groups: dict[object, list[ChannelResult]] = {}
    for result in simulation.results:
        if _is_shown(result):
            key = result.no_update_causes if simulation.with_full_paths and result.installed else None
            groups.setdefault((key, errors.of(result)) if key else id(result), []).append(result)
    return groups.values()


def _section(simulation: SimulationReport, result: ChannelResult, paint: Paint) -> Iterator[str]:
    yield from _table(result, is_switch=simulation.scenario.is_switch)
    if simulation.with_full_paths and len(simulation.results) == 1:
        yield from _full_paths(result)
    yield from _reasons(result, paint, is_default=simulation.scenario.options == ClusterExtensionOptions())
    if simulation.is_manual:
        yield from _install_plans(result, paint)


class _OpmErrors:
    """Errors of opm that are not shown yet. Those of a channel precede its table, others the first table."""

    def __init__(self, simulation: SimulationReport) -> None:
        self._left: dict[str, list[tuple[str | None, OpmError]]] = {}
        self._shown = {(r.catalog, r.package, r.channel) for r in simulation.results if _is_shown(r)}
        for catalog, error in simulation.opm_errors:
            self._left.setdefault(error.package, []).append((catalog, error))

    def of(self, result: ChannelResult) -> tuple[str, ...]:
        """Return the errors of the channel itself that are not shown yet."""
        left = self._left.get(result.package, ())
        return tuple(error.message for catalog, error in left if _is_about(result, catalog, error))

    def take(self, result: ChannelResult, paint: Paint) -> Iterator[str]:
        """Yield the errors to show above a table; none is shown twice."""
        shown, left = list[tuple[str | None, OpmError]](), list[tuple[str | None, OpmError]]()
        for catalog, error in self._left.get(result.package, ()):
            has_table = (catalog, result.package, error.channel) in self._shown
            is_due = result.graph is None or _is_about(result, catalog, error)
            is_due = is_due or (catalog == result.catalog and not has_table)
            (shown if is_due else left).append((catalog, error))
        self._left[result.package] = left
        for catalog, error in shown:
            where = "this channel" if _is_about(result, catalog, error) else f"channel {error.channel}"
            title = f"opm rejects {where if error.channel is not None else 'this catalog'}"
            yield f"{paint('yellow', one_line(title))}: {one_line(error.message)}\n"


def _is_about(result: ChannelResult, catalog: str | None, error: OpmError) -> bool:
    is_channel = (catalog, error.channel) == (result.catalog, result.channel)
    return result.graph is not None and is_channel


def _is_shown(result: ChannelResult) -> bool:
    """Whether a channel has rows, or is empty: opm rejects that."""
    return bool(result.installed) or (result.graph is not None and not result.graph.entries)


def _title(result: ChannelResult) -> str:
    catalog = f"catalog {result.catalog}, " if result.catalog is not None else ""
    if result.graph is None:
        channels = "all channels" if result.channel == "*" else f"channels {result.channel} together"
        return f"{catalog}package {result.package}, {channels}"
    heads = result.graph.heads
    head = f"head {heads[0]}" if len(heads) == 1 else f"{len(heads) or 'no'} heads"
    default = " (default)" if result.is_default else ""
    entries = count(len(result.graph.entries), "entry")
    return f"{catalog}package {result.package}, channel {result.channel}{default}: {entries}, {head}"


def _table(result: ChannelResult, *, is_switch: bool) -> Iterator[str]:
    resolvers = [r for r in ("v0", "v1") if any(getattr(each, r) is not None for each in result.installed)]
    has_differences = any(each.differs for each in result.installed)
    titles = ["INSTALLED", *(["FROM"] if is_switch else []), *(f"OLM {resolver}" for resolver in resolvers)]
    rows = [["", *titles] if has_differences else titles]
    for each in result.installed:
        cells = [_installed_text(each.installed)]
        if is_switch:
            cells.append(", ".join(next(each.paths).origins))
        for path in each.paths:
            is_same = path.resolver == "v1" and _is_same_as_v0(each, result)
            cells.append("the same" if is_same else _path_text(path, result))
        rows.append(["≠" if each.differs else "", *cells] if has_differences else cells)
    yield from (f"  {row}" for row in columns(rows))


def _installed_text(name: str | None) -> str:
    return "nothing" if name is None else quote_empty(name)


def _is_same_as_v0(installed: InstalledResult, result: ChannelResult) -> bool:
    """Whether the path of OLM v1 is not shown: it equals that of v0, without an error or another catalog."""
    v1 = installed.v1
    if installed.v0 is None or v1 is None or installed.differs or v1.end is PathEnd.ERROR:
        return False
    return not any(_is_other_catalog(source, result) for source in v1.sources)


def _is_other_catalog(source: str | None, result: ChannelResult) -> bool:
    return result.catalog is not None and source != result.catalog


def _is_long(path: UpgradePath) -> bool:
    return len(path.hops) > _MAX_HOPS + 1


def _path_text(path: UpgradePath, result: ChannelResult) -> str:
    """Return `0.2.0 → 0.3.0: head`, or `stays: stranded`. Versions are shorter than names."""
    if not path.hops:
        return "error" if path.end is PathEnd.ERROR else f"stays: {_end(path, result)}"
    hops = _hop_texts(path, result)
    if _is_long(path):
        source = path.sources[-1] if path.sources else result.catalog
        last = _hop_text(path.last or "", source, result)
        more = f"({len(path.hops) - _MAX_HOPS:,} more)"
        return f"{' → '.join([*islice(hops, _MAX_HOPS - 1), more, last])}: {_end(path, result)}"
    return f"{' → '.join(hops)}: {_end(path, result)}"


def _hop_texts(path: UpgradePath, result: ChannelResult) -> Iterator[str]:
    sources: Iterable[str | None] = path.sources or repeat(result.catalog)
    return (_hop_text(hop, source, result) for hop, source in zip(path.hops, sources, strict=False))


def _hop_text(name: str, source: str | None, result: ChannelResult) -> str:
    label = result.versions.get(name, quote_empty(name))
    return f"{label} of {source}" if _is_other_catalog(source, result) else label


def _end(path: UpgradePath, result: ChannelResult) -> str:
    return "goal" if result.ends_at_other_goal(path) else path.end.value


def _full_paths(result: ChannelResult) -> Iterator[str]:
    """Yield the paths that the table shortens, in lines that fit a terminal."""
    for installed in result.installed:
        for path in installed.paths:
            if not _is_long(path) or (path.resolver == "v1" and _is_same_as_v0(installed, result)):
                continue
            hops = " → ".join(_hop_texts(path, result))
            name = one_line(_installed_text(path.installed))
            yield f"\n  {name} under OLM {path.resolver}, {len(path.hops)} hops:\n"
            lines = wrap(one_line(hops), _WIDTH, break_long_words=False, break_on_hyphens=False)
            yield from (f"    {line}\n" for line in lines)


def _reasons(result: ChannelResult, paint: Paint, *, is_default: bool) -> Iterator[str]:
    """Yield each reason once.

    A path to the head needs no reason. A path to another goal needs one if the channel has a head and
    the ClusterExtension has no options.
    """
    has_head = is_default and result.graph is not None and result.graph.head is not None
    paths_by_reason: dict[tuple[str, PathEnd, str], list[UpgradePath]] = {}
    goals: set[str | None] = set()
    for installed in result.installed:
        for path in installed.paths:
            is_new_goal = has_head and result.ends_at_other_goal(path) and path.last not in goals
            if path.end is not PathEnd.HEAD or path.installed is None or is_new_goal:
                paths_by_reason.setdefault((path.resolver, path.end, path.reason), []).append(path)
                goals.add(path.last if is_new_goal else None)
    if paths_by_reason:
        yield "\n"
    for (resolver, end, reason), paths in paths_by_reason.items():
        title = f"OLM {resolver}, {_end(paths[0], result)}"
        yield f"  {paint(_COLOURS[end], title)}: {one_line(reason)}\n"
        starts = [path.installed for path in paths if path.hops and path.installed is not None]
        if end is PathEnd.STRANDED and starts:
            yield f"    reached from {one_line(_join_some(starts))}\n"


def _join_some(names: Sequence[str]) -> str:
    shown = [quote_empty(name) for name in names[:_MAX_NAMES]]
    return join_names(
        [*shown, f"{len(names) - _MAX_NAMES:,} more"] if names[_MAX_NAMES:] else shown, limit=None
    )


def _install_plans(result: ChannelResult, paint: Paint) -> Iterator[str]:
    yield f"\n  {paint('bold', 'InstallPlans')}: one for each hop; each waits for approval\n"
    paths = [each.v0 for each in result.installed if each.v0 is not None and each.v0.hops]
    if not paths:
        yield "  none\n"
    for path in paths:
        hops = "  ".join(f"{number}. {hop}" for number, hop in enumerate(path.hops, 1))
        yield f"  {one_line(_installed_text(path.installed))}: {one_line(hops)}\n"


def _summary(simulation: SimulationReport) -> str:
    paths = list(simulation.paths)
    channels = {(path.package, path.channel) for path in paths}
    parts = [f"{count(len(paths), 'upgrade path')} in {count(len(channels), 'channel')}"]
    resolvers = simulation.scenario.resolvers
    ends = {r: Counter(path.end for path in paths if path.resolver == r) for r in resolvers}
    for resolver, counts in ends.items():
        if counts:
            goal = "the head" if resolver == "v0" else _goal_text(simulation)
            verbs = {end: _SUMMARY_VERBS[end][counts[end] > 1].format(goal=goal) for end in counts}
            ends_text = join_names([f"{counts[end]:,} {verbs[end]}" for end in PathEnd if end in counts])
            parts.append(f"OLM {resolver}: {ends_text}")
    if all(ends.values()) and len(ends) > 1:
        differing = sum(each.differs for result in simulation.results for each in result.installed)
        parts.append(f"≠ marks {count(differing, 'difference')}" if differing else "no difference")
    return f"{'; '.join(parts)}."


def _goal_text(simulation: SimulationReport) -> str:
    """Return where paths of OLM v1 end well."""
    if simulation.scenario.options != ClusterExtensionOptions():
        return "the goal"
    paths = ((each.v1, result) for result in simulation.results for each in result.installed)
    has_goals = any(path is not None and result.ends_at_other_goal(path) for path, result in paths)
    return "the head or goal" if has_goals else "the head"
