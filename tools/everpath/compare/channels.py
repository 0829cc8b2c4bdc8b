"""One channel in two catalogs: a row for everybody who may have something of it, and what to say of them."""

from __future__ import annotations

__all__ = ["TRACED", "UNMENDED", "ChannelComparison", "changed", "compare_channel", "why_stopped"]

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Final, NamedTuple

from everpath.compare.causes import Cause, causes, shared
from everpath.compare.changes import Change, ChangeKind
from everpath.compare.channel_paths import Installations, Road, Roads, installations
from everpath.compare.differences import Difference
from everpath.compare.fixes import Wound, mended, related
from everpath.compare.outcomes import Meeting, Outcome, Row
from everpath.compare.trials import Trials
from everpath.graph import ChannelGraph
from everpath.model import Place
from everpath.resolvers import ResolverName, olm_v1
from everpath.resolvers.resolution import CandidateResult, InstalledBundle, TraceStep
from everpath.resolvers.subscription import resolve
from everpath.rules.edits import Edit
from everpath.upgrade_paths.hops import PathEnd
from everpath.wording import join_names, plural

#: Outcomes for which the edits that did it are looked for.
TRACED: Final = (Outcome.FAILING, Outcome.STRANDED, Outcome.DOWNGRADED, Outcome.ROAD)

UNMENDED: Final = Edit("compare smaller steps: no edit, taken back, was found to mend it", ())

#: Roads are spelled out up to this many hops.
_MOST_HOPS: Final = 6

#: Stops that are explained one by one, and reasons that are given for each.
_MOST_STOPS: Final = 3
_MOST_REASONS: Final = 3

#: So many of those whom a change concerns are asked whether their roads are chance.
_MOST_ASKED: Final = 20


class ChannelComparison(NamedTuple):
    """All rows of a channel, and the changes in it that concern somebody who has it installed."""

    meetings: tuple[Meeting, ...]
    rows: tuple[Row, ...]

    def changes(self) -> Iterator[Change]:
        """Who is hurt or surprised, by what did it. Cost: a walk of the channel for each edit tried."""
        victims = [(meeting, self._victims(meeting.old.policy)) for meeting in self.meetings]
        if not any(hurt for _, hurt in victims):
            return
        old, new = self.meetings[0].old.graph, self.meetings[0].new.graph
        if old is None or new is None:
            return  # who loses a whole channel, or all that is in it, is told so
        trials = Trials(old, new)
        found = [
            (meeting, outcome, cause)
            for meeting, hurt in victims
            for outcome, names in hurt.items()
            for cause in causes(trials, meeting, dict.fromkeys(names, outcome))
        ]
        wounds = [
            Wound(sorted(meetings, key=lambda m: m.old.policy), outcome, cause)
            for meetings, outcome, cause in shared(trials, found)
        ]
        fixes: dict[int, Edit] = {}
        # What one cause did to several is mended at once: two fixes might not go together.
        for alike in related([wound for wound in wounds if wound.outcome.hurts]):
            fixes.update(dict.fromkeys(map(id, alike), _fix(trials, self.meetings, alike)))
        for wound in wounds:
            yield changed(*wound, fixes.get(id(wound)))

    def _victims(self, policy: ResolverName) -> Mapping[Outcome, Sequence[str]]:
        found: dict[Outcome, list[str]] = {outcome: [] for outcome in TRACED}
        for row in self.rows:
            if row.policy == policy and row.outcome in found:
                found[row.outcome].append(row.installed)
        return {outcome: names for outcome, names in found.items() if names}

    def notes(self) -> Iterator[Change]:
        """What is for the record: who was stranded before, who no longer is, who goes further."""
        for outcome in (Outcome.BEFORE, Outcome.MENDED, Outcome.FURTHER):
            by_policies: dict[tuple[str, ...], list[str]] = {}
            for name, policies in self._of(outcome).items():
                by_policies.setdefault(tuple(policies), []).append(name)
            for policies, names in by_policies.items():
                meetings = [m for m in self.meetings if m.old.policy in policies]
                yield _note(meetings, outcome, names)
        for meeting in self.meetings:
            before = self._of(Outcome.BEFORE)
            if behind := [n for n in before if meeting.old.policy in before[n] and meeting.falls_behind(n)]:
                note = _note([meeting], Outcome.BEFORE, behind)
                stop = "stops" if len(behind) == 1 else "stop"
                who = join_names(note.installed)
                words = (
                    f"{who} could not reach the head before, and now {stop} earlier, under {_olm([meeting])}"
                )
                yield note._replace(kind=ChangeKind.BEHIND, message=words)

    def _of(self, outcome: Outcome) -> Mapping[str, Sequence[str]]:
        found: dict[str, list[str]] = {}
        for row in self.rows:
            if row.outcome is outcome:
                found.setdefault(row.installed, []).append(row.policy)
        return found


def compare_channel(
    old: ChannelGraph | None,
    new: ChannelGraph | None,
    policies: Iterable[ResolverName],
    where: tuple[str, str],
    installed: Installations | None = None,
) -> ChannelComparison:
    """A row for each installed version (all of the old channel's, if not given) under each policy."""
    installed = (installations(old) if old is not None else {}) if installed is None else installed
    meetings = tuple(
        Meeting(Roads(old, policy, installed, where), Roads(new, policy, installed, where))
        for policy in policies
    )
    rows = tuple(meeting.row(name, where) for name in installed for meeting in meetings)
    return ChannelComparison(meetings, rows)


def changed(meetings: Sequence[Meeting], outcome: Outcome, cause: Cause, fix: Edit | None) -> Change:
    """What a cause did to its victims, under the policies of these meetings, and what mends it."""
    first, note = meetings[0], _note(meetings, outcome, cause.victims)
    who = list(note.installed)
    return note._replace(
        because=(*(_reasons(first, who) if outcome is Outcome.STRANDED else ()), *_chances(meetings, who)),
        edits=cause.edits,
        fix=fix.text if fix is not None else None,
        mended=fix.entries if fix is not None else (),
        place=_place(first, cause.edits, who),
    )


def _note(meetings: Sequence[Meeting], outcome: Outcome, names: Iterable[str]) -> Change:
    first = meetings[0]
    who = _oldest_first(first, names)
    graph = first.new.graph or first.old.graph
    assert graph is not None  # there is somebody
    return Change(
        ChangeKind(outcome.value),
        graph.package.name,
        None if first.new.spans else graph.name,
        _message(meetings, outcome, who),
        installed=tuple(who),
        policies=tuple(m.old.policy for m in meetings),
        was=_spelled(first.old, who[0]),
        now=_spelled(first.new, who[0]),
        place=graph.channel.place,
        in_old=first.new.graph is None,
    )


def _oldest_first(meeting: Meeting, names: Iterable[str]) -> list[str]:
    installed = meeting.old.installed
    return sorted(names, key=lambda n: ((v := installed.get(n)) is not None, v.key if v else (), n))


def _message(meetings: Sequence[Meeting], outcome: Outcome, who: Sequence[str]) -> str:
    names, olm, goal = join_names(who), _olm(meetings), _goal(meetings[0], who)
    go = "goes" if len(who) == 1 else "go"
    return {
        Outcome.FAILING: f"{olm} no longer {_resolve(meetings)} of whoever has {names}",
        Outcome.STRANDED: f"{names} can no longer reach {goal} under {olm}",
        Outcome.DOWNGRADED: f"{olm} now takes {names} down to a lower version on the way",
        Outcome.ROAD: f"{names} {go} another way under {olm}",
        Outcome.BEFORE: f"{names} could not reach the head before, and cannot now, under {olm}",
        Outcome.MENDED: f"{names} could not reach the head before, and now can, under {olm}",
        Outcome.FURTHER: f"{names} {go} on as before, and further to {goal}, under {olm}",
    }[outcome]


def _resolve(meetings: Sequence[Meeting]) -> str:
    whose = {"v0": "the namespace", "v1": "the ClusterExtension"}
    verb = "resolves" if len(meetings) == 1 else "resolve"
    return f"{verb} {' and '.join(whose[meeting.old.policy] for meeting in meetings)}"


def _olm(meetings: Sequence[Meeting]) -> str:
    unnamed = " where no channels are named" if meetings[0].new.spans else ""
    return f"OLM {' and '.join(meeting.old.policy for meeting in meetings)}{unnamed}"


def _goal(meeting: Meeting, who: Iterable[str]) -> str:
    graph = meeting.new.graph
    if meeting.new.spans:
        stops = {meeting.old.road(name).stop for name in who}
        return min(stops) if len(stops) == 1 else "what they reached before"
    if graph is None or not meeting.new.homes:
        return "the head"
    return f"the head {graph.head}" if graph.head else f"the newest version {min(meeting.new.homes)}"


def _spelled(roads: Roads, name: str) -> str:
    """A road as one reads it: `a → b → c, the head`."""
    road = roads.road(name)
    if road.failure is not None and road.next is None:
        return f"{name}: {road.failure.message or road.failure.kind.value}"
    path = (name, *roads.path(name))
    return f"{_shown(path)}{_ending(roads, road, alone=len(path) == 1)}"


def _shown(path: Sequence[str]) -> str:
    if len(path) > _MOST_HOPS + 1:
        path = (*path[:3], f"… {len(path) - 5} more …", *path[-2:])
    return " → ".join(path)


def _ending(roads: Roads, road: Road, *, alone: bool) -> str:
    if road.end is PathEnd.HEAD and roads.is_head(road.stop):
        return f"{' is' if alone else ','} the head{' of a channel' * roads.spans}"
    if road.end is PathEnd.HEAD and (not roads.spans or road.stop in roads.summits):
        return " stays where it is, the newest that OLM v1 takes" if alone else ", the newest"
    if road.end is PathEnd.LOOP:
        return ", in a circle"
    if road.failure is not None:
        return f": {road.failure.message or road.failure.kind.value}"
    return ", and no further" if not alone else " stays where it is"


def _reasons(meeting: Meeting, who: Sequence[str]) -> Iterator[str]:
    """Why each stop is one."""
    stops = list(dict.fromkeys(meeting.new.road(name).stop for name in who))
    yield from why_stopped(meeting, stops)


def why_stopped(meeting: Meeting, stops: Sequence[str]) -> Iterator[str]:
    """Why nobody goes on from some entries, of many the first."""
    for stop in stops[:_MOST_STOPS]:
        yield from _why_stop(meeting, stop)
    if len(stops) > _MOST_STOPS:
        yield f"so do {plural(len(stops) - _MOST_STOPS, 'more version')} stop where nothing leads on"


def _chances(meetings: Sequence[Meeting], who: Iterable[str]) -> Iterator[str]:
    """Where a road is what it is by chance: the next time that OLM v1 looks, it may be another one."""
    roads = [each for meeting in meetings for each in (meeting.old, meeting.new)]
    asked = ((each, name) for name in islice(who, _MOST_ASKED) for each in roads)
    ties = dict.fromkeys(tuple(sorted(tie)) for each, name in asked if (tie := each.tied(name)))
    for tie in islice(ties, _MOST_STOPS):
        yield f"between {join_names(tie)}, which have the same version, OLM v1 chooses by chance"


def _why_stop(meeting: Meeting, stop: str) -> Iterator[str]:
    graph, version = meeting.new.graph, meeting.new.version(stop)
    assert graph is not None  # else the resolver fails
    road = meeting.new.road(stop) if stop in meeting.new.installed else None
    if road is not None and road.end is PathEnd.LOOP:
        yield f"OLM goes in a circle: {_shown((stop, *meeting.new.path(stop)))}"
        return
    refused: list[str] = []
    if meeting.new.policy == "v0":
        heard: list[TraceStep] = []
        resolve(graph, InstalledBundle(stop, version), trace=heard.append)
        refused = [
            f"{r.edge}, but it {r.reason}" for r in heard if r.edge and r.result is CandidateResult.REFUSED
        ]
    else:
        edges = graph.sample_successors(stop, _MOST_REASONS)[0] if stop in graph.entries else []
        refused = [f"{edge}, but {olm_v1.rejection_reason(graph, stop, edge.successor)}" for edge in edges]
    yield from refused[:_MOST_REASONS]
    if not refused:
        covers = f", skips it or covers {version}" if version is not None else " or skips it"
        where = "any channel of the new package" if meeting.new.spans else "the new channel"
        yield f"nothing in {where} replaces {stop}{covers}"


def _fix(trials: Trials, meetings: Sequence[Meeting], wounds: Sequence[Wound]) -> Edit:
    """An edit that was tried, for all of them."""
    if (edit := mended(trials, meetings, wounds)) is not None:
        return edit
    if wounds[0].cause.edits:
        words = "compare smaller steps: more than this was edited, and no edit that was tried mends it all"
        return Edit(words, ())
    return UNMENDED


def _place(meeting: Meeting, edits: Sequence[Difference], who: Sequence[str]) -> Place:
    """Where the edit shows; else where the first of them stands, or its channel."""
    graph = meeting.new.graph or meeting.old.graph
    assert graph is not None
    if edits:
        return edits[0].place
    stop = meeting.new.road(who[0]).stop
    return graph.entries[stop].place.at("name") if stop in graph.entries else graph.channel.place
