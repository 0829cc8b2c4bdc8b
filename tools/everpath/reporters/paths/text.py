"""Upgrade paths, constraints and mirrors as text."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Iterator, Sequence
from typing import Final

from everpath.graph import EdgeKind
from everpath.paths.constraints import ConstraintKind, ConstraintViolation
from everpath.paths.hop_graph import HopGraph
from everpath.paths.mirror import Mirror, MirroredChannel
from everpath.paths.path_counts import MOST_IN_LOOP, PathCount
from everpath.paths.report import ConstraintResult, GoalPaths, PathsQuery, PathsReport
from everpath.reporters.colour import Paint
from everpath.reporters.formatting import columns, one_line, quote_empty
from everpath.upgrade_path.reasons import failure_reason
from everpath.wording import count, join_names

_MAX_NAMES: Final = 6
_MAX_DIGITS: Final = 15

#: Number of opm's errors that are shown; opm itself stops at the first.
_MAX_OPM_ERRORS: Final = 3

_TITLES: Final = {
    "any": "all upgrade paths that edges allow",
    "v0": "upgrade paths of OLM v0",
    "v1": "upgrade paths of OLM v1",
}


def render(report: PathsReport, *, colour: bool = False) -> Iterator[str]:
    """Yield a paragraph for each goal, constraint and mirror, then warnings."""
    paint = Paint(colour)
    parts = [
        *(_goal_paths(report.query, each, paint) for each in report.goal_paths),
        *(_constraint_result(each, paint) for each in report.constraint_results),
        *(_mirror(report.query, each, paint) for each in report.mirrors),
    ]
    if not parts:
        yield "The channels have no entries, so there are no upgrade paths.\n"
    for number, part in enumerate(parts):
        yield "\n" if number else ""
        yield from part
    # A constraint holds trivially where the resolver makes no hops.
    for hop_graph in report.hop_graphs if report.constraint_results else ():
        yield from _failures(hop_graph, paint)
    # Catalogs are served by opm to OLM v0 only.
    for error in report.opm_errors[:_MAX_OPM_ERRORS] if report.query.resolver == "v0" else ():
        where = f"channel {error.channel}" if error.channel is not None else "the catalog"
        warning = f"opm rejects {where} and does not serve the catalog to OLM v0: {error.message}"
        yield f"{paint('yellow', 'warning')}: {one_line(warning)}\n"


def _goal_paths(query: PathsQuery, goal_paths: GoalPaths, paint: Paint) -> Iterator[str]:
    goal = quote_empty(goal_paths.goal)
    if goal_paths.is_new_install:
        goal += ", a new installation" + (" although it is superseded" if goal_paths.is_superseded else "")
    where = f"package {query.package.name}, {_channels(goal_paths.channels)}"
    yield f"{paint('bold', one_line(f'{where}: {_TITLES[query.resolver]} to {goal}'))}\n"
    yield from _failures(goal_paths.hop_graph, paint)
    for loop in goal_paths.loops:
        yield f"{paint('yellow', 'loop')}: {_names(loop)} can be upgraded to one another\n"
    yield "\n"
    yield from _paths_from_start(goal_paths) if goal_paths.start is not None else _table(goal_paths)


def _channels(names: Sequence[str]) -> str:
    return f"channel {names[0]}" if len(names) == 1 else f"channels {join_names(names, limit=None)}"


def _failures(hop_graph: HopGraph, paint: Paint) -> Iterator[str]:
    warning = paint("yellow", "warning")
    for channel, failure in hop_graph.channel_failures.items() if hop_graph.resolver != "v1" else ():
        entries = f" ({_names(failure.names)})" if failure.names else ""
        message = f"OLM v0 cannot resolve channel {channel}: {failure.kind.value}{entries}"
        yield f"{warning}: {one_line(message)}\n"
    if hop_graph.resolver == "any":
        return
    names_by_message: dict[str, list[str]] = {}
    for name, failure in hop_graph.failures.items():
        if failure not in hop_graph.channel_failures.values():
            names_by_message.setdefault(failure_reason(hop_graph.resolver, failure), []).append(name)
    for message, names in names_by_message.items():
        yield f"{warning}: at {_names(names)} {one_line(message)}\n"


def _table(goal_paths: GoalPaths) -> Iterator[str]:
    """Yield a row for each version except the goal, newest first."""
    rows = [("FROM", "VERSION", "PATHS", "SHORTEST", "LONGEST")]
    for name in goal_paths.hop_graph.rank:
        if name == goal_paths.goal:
            continue
        version, found = goal_paths.hop_graph.versions.get(name), goal_paths.counts.get(name)
        if found is None:
            cells = ("none", "", "")
        else:
            longest = f"{found.longest}" if found.is_exact else f"{found.longest} or more"
            cells = (_number(found), f"{found.shortest}", longest)
        rows.append((quote_empty(name), str(version or ""), *cells))
    yield from columns(rows)
    if len(goal_paths.longest) > 1:
        yield f"\nlongest: {_path(goal_paths.hop_graph, goal_paths.longest)}\n"


def _number(found: PathCount) -> str:
    """Return the number of paths, a large one as `about 1.3e45`."""
    text = f"{found.paths:,}" if found.paths < 10**_MAX_DIGITS else _scientific(found.paths)
    return text if found.is_exact else f"at least {text}"


def _scientific(number: int) -> str:
    """Format integers that no float can represent."""
    exponent = int((number.bit_length() - 1) * 0.30102999566)
    exponent += number >= 10 ** (exponent + 1)
    return f"about {number * 10 // 10**exponent / 10}e{exponent}"


def _paths_from_start(goal_paths: GoalPaths) -> Iterator[str]:
    """Yield the first paths from one version, and a longest one if it is not among them."""
    start, goal = goal_paths.start or "", goal_paths.goal
    found = goal_paths.counts.get(start)
    between = f"from {quote_empty(start)} to {quote_empty(goal)}"
    if start == goal:
        yield one_line(f"{quote_empty(start)} is the goal") + "\n"
        return
    if found is None:
        yield one_line(f"no upgrade path {between}") + "\n"
        return
    hops, noun = count(found.longest, "hop"), "upgrade path" if found.paths == 1 else "upgrade paths"
    lengths = hops if found.shortest == found.longest else f"{found.shortest} to {hops}"
    yield one_line(f"{_number(found)} {noun} {between} with {lengths}") + "\n"
    hop_graph = goal_paths.hop_graph
    rows = [(count(len(path) - 1, "hop"), _path(hop_graph, path)) for path in goal_paths.listed]
    if goal_paths.longest not in goal_paths.listed:
        rows.append(("longest", _path(hop_graph, goal_paths.longest)))
    yield from (f"  {line}" for line in columns(rows))
    if (more := found.paths - len(rows)) > 0:
        yield f"and {_number(found._replace(paths=more))} more (--limit lists more)\n"
    if not found.is_exact:
        yield (
            f"a loop has more than {MOST_IN_LOOP} entries: paths that go to a lower version in it "
            "are not counted\n"
        )


def _path(hop_graph: HopGraph, path: Sequence[str]) -> str:
    """Return `a -[replaces]-> b -[skips, skipRange]-> c`, with channels where there are several."""
    text = quote_empty(path[0])
    for hop in hop_graph.hops(path):
        edge = ", ".join(kind.value for kind in hop.kinds) or "same version"
        where = f" in {', '.join(hop.channels)}" if len(hop_graph.graphs) > 1 and hop.channels else ""
        text += f" -[{edge}{where}]-> {quote_empty(hop.end)}"
    return one_line(text)


def _names(names: Sequence[str]) -> str:
    if len(names) <= _MAX_NAMES:
        return one_line(join_names(names, limit=None))
    first = ", ".join(quote_empty(name) for name in names[: _MAX_NAMES - 1])
    return one_line(f"{first} and {len(names) - _MAX_NAMES + 1:,} more")


def _constraint_result(result: ConstraintResult, paint: Paint) -> Iterator[str]:
    subject = result.constraint.subject
    text = one_line(subject.text if " " not in subject.text else f"'{subject.text}'")
    must_pass = result.constraint.kind is ConstraintKind.MUST_PASS
    statement = f"every upgrade path passes {text}" if must_pass else f"no upgrade path lands on {text}"
    empty = "" if subject.names else "; no bundle is in that range"
    label = paint("green" if result.holds else "red", result.state.value)
    yield f"{label}: {statement}{empty}\n"
    if result.failing:
        yield f"  OLM fails for {_names(result.failing)}, so their upgrade paths are unknown\n"
    for hop_graph, violation in result.violations:
        yield from _violation(hop_graph, violation, must_pass=must_pass)


def _violation(hop_graph: HopGraph, violation: ConstraintViolation, *, must_pass: bool) -> Iterator[str]:
    where = one_line(_channels([graph.name for graph in hop_graph.graphs]))
    first, *rest = violation.path
    if violation.hop is None:
        yield f"  {where}: {one_line(quote_empty(first))} is what a new installation gets\n"
        return
    yield f"  {where}: {_path(hop_graph, violation.path)}\n"
    start, end = violation.hop
    [hop] = hop_graph.hops((start, end))
    by = f" by {join_names([kind.value for kind in hop.kinds])}" if hop.kinds else ""
    effect = f"which leads {'past' if must_pass else 'onto'} it"
    yield one_line(f"    {quote_empty(end)} accepts {quote_empty(start)}{by}, {effect}") + "\n"
    if first in hop_graph.outside:
        kinds = next(hop_graph.hops(violation.path)).kinds
        if EdgeKind.REPLACES in kinds or EdgeKind.SKIPS in kinds:
            note = f"is not an entry of the channel, but {quote_empty(rest[0])} names it: clusters may run it"
        else:
            note = "is not an entry of the channel; it is an example of a version in the same ranges"
        yield one_line(f"    {quote_empty(first)} {note}") + "\n"
    if others := [name for name in violation.starts if name != first]:
        yield f"    the same is possible from {_names(others)}\n"


def _mirror(query: PathsQuery, mirror: Mirror, paint: Paint) -> Iterator[str]:
    kept, total = len(mirror.bundles), mirror.total
    title = f"package {query.package.name}, OLM {mirror.resolver}: keep {kept} of {count(total, 'bundle')}"
    bound = "no mirror is smaller" if mirror.is_smallest else f"no mirror needs fewer than {mirror.at_least}"
    yield f"{paint('bold', one_line(title))}, {total - kept} can be left out; {bound}\n"
    for channel in mirror.channels:
        yield "\n"
        yield from _mirrored_channel(query, mirror, channel, paint)


def _mirrored_channel(
    query: PathsQuery, mirror: Mirror, channel: MirroredChannel, paint: Paint
) -> Iterator[str]:
    if not channel.goals:
        keep = f"all {count(channel.total, 'entry')}" if channel.total else "nothing"
        message = f"channel {channel.channel}: OLM {mirror.resolver} fails or reaches no goal; keep {keep}"
        yield one_line(message) + "\n"
        return
    summary = f"channel {channel.channel}: {len(channel.entries)} of {count(channel.total, 'entry')}"
    goals = " or ".join(quote_empty(name) for name in channel.goals if name in channel.entries)
    yield one_line(f"{summary}; {count(len(channel.served), 'version')} can be upgraded to {goals}") + "\n"
    bundles = query.package.package.by_name
    rows = [("KEEP", "VERSION", "REASON")]
    for name in channel.entries:
        bundle = bundles.get(name)
        version = (bundle.version or "") if bundle else ""
        rows.append((quote_empty(name), version, _reason_to_keep(mirror, channel, name)))
    yield from (f"  {line}" for line in columns(rows))
    if channel.cut_off:
        label = paint("yellow", "no upgrade path even in the whole channel")
        yield f"  {label}: {_names(channel.cut_off)}\n"
    if channel.offered:
        yield (
            f"  {paint('yellow', 'warning')}: {_names(channel.offered)} can be installed again: "
            "the entries that skip it are left out\n"
        )


def _reason_to_keep(mirror: Mirror, channel: MirroredChannel, name: str) -> str:
    if name in channel.goals:
        return "goal of all upgrade paths" if len(channel.goals) == 1 else "goal of upgrade paths"
    if by := channel.needed_by.get(name):
        return f"without it {_names(by)} {'has' if len(by) == 1 else 'have'} no upgrade path"
    if mirror.resolver == "v0":
        return "part of the replaces chain: without it the channel has two heads"
    is_needed_elsewhere = any(name in other.needed_by or name in other.goals for other in mirror.channels)
    return "needed in another channel" if is_needed_elsewhere else "equivalent to other kept entries"
