"""Roads, demands and mirrors for people."""

from __future__ import annotations

__all__ = ["render"]

from collections.abc import Iterator, Sequence
from typing import Final

from everpath.graph import EdgeKind
from everpath.paths.constraints import DemandKind, Offence
from everpath.paths.hop_graph import Network
from everpath.paths.mirror import Kept, Mirror
from everpath.paths.path_counts import MOST_IN_LOOP, Road, Tally
from everpath.paths.report import Question, Roadbook, Survey, Verdict
from everpath.reporters.colour import Paint
from everpath.reporters.formatting import columns, count, join_names, one_line, quote_empty
from everpath.resolvers import olm_v1
from everpath.upgrade_paths.goals import path_goals
from everpath.upgrade_paths.reasons import failing

_MOST_NAMES: Final = 6
_MOST_DIGITS: Final = 15

#: Refusals of opm that are told; it stops at the first itself.
_MOST_REFUSALS: Final = 3

_WHOSE: Final = {
    "any": "every road the edges allow",
    "v0": "the road OLM v0 takes",
    "v1": "the road OLM v1 takes",
}


def render(book: Roadbook, *, colour: bool = False) -> Iterator[str]:
    """What was asked for, a paragraph each."""
    paint = Paint(colour)
    parts = [
        *(_survey(book.question, survey, paint) for survey in book.surveys),
        *(_verdict(verdict, paint) for verdict in book.verdicts),
        *(_mirror(book.question, mirror, paint) for mirror in book.mirrors),
    ]
    if not parts:
        yield "There are no entries, and so no roads.\n"
    for number, part in enumerate(parts):
        yield "\n" if number else ""
        yield from part
    # A demand holds easily where nobody goes anywhere.
    for net in book.networks if book.verdicts else ():
        yield from _failures(net, paint)
    # Only OLM v0 has opm serve its catalogs.
    for refusal in book.refused[:_MOST_REFUSALS] if book.question.policy == "v0" else ():
        where = f"channel {refusal.channel}" if refusal.channel is not None else "the catalog"
        said = f"opm refuses {where}, and no pod of OLM v0 serves it: {refusal.words}"
        yield f"{paint('yellow', 'warning')}: {one_line(said)}\n"


def _survey(question: Question, survey: Survey, paint: Paint) -> Iterator[str]:
    where = f"package {question.package.name}, {_channels(survey.channels)}"
    yield f"{paint('bold', one_line(f'{where}: {_WHOSE[question.policy]} to {_goal(survey)}'))}\n"
    yield from _failures(survey.network, paint)
    for loop in survey.loops:
        yield f"{paint('yellow', 'loop')}: {_names(loop)} lead to one another\n"
    yield "\n"
    yield from _listed(survey) if survey.start is not None else _table(survey)


def _goal(survey: Survey) -> str:
    """Where the roads lead. Under v1 there may be two such places, so that it says which this is."""
    name, graphs = survey.goal, survey.network.followed
    if survey.network.policy != "v1" or any(name == graph.head for graph in graphs):
        return quote_empty(name)
    if name not in {first for graph in graphs for first in olm_v1.new_installs(graph)}:
        return quote_empty(name)
    withdrawn = not any(name in path_goals(graph, "v1") for graph in graphs)
    more = ", though it is withdrawn" if withdrawn else ""
    return f"{quote_empty(name)}, which it installs afresh{more}"


def _channels(names: Sequence[str]) -> str:
    return f"channel {names[0]}" if len(names) == 1 else f"channels {join_names(names)}"


def _failures(net: Network, paint: Paint) -> Iterator[str]:
    for channel, failure in net.failures.items() if net.policy != "v1" else ():
        because = f" ({_names(failure.names)})" if failure.names else ""
        said = f"OLM v0 resolves nothing in channel {channel}: {failure.kind.value}{because}"
        yield f"{paint('yellow', 'warning')}: {one_line(said)}\n"
    if net.policy != "any":
        told: dict[str, list[str]] = {}
        for name, failure in net.stuck.items():
            if failure not in net.failures.values():
                told.setdefault(failing(net.policy, failure), []).append(name)
        for words, names in told.items():
            yield f"{paint('yellow', 'warning')}: at {_names(names)} {one_line(words)}\n"


def _table(survey: Survey) -> Iterator[str]:
    """A line for every entry but the goal, newest first."""
    rows = [("FROM", "VERSION", "ROADS", "SHORTEST", "LONGEST")]
    for name in survey.network.place:
        if name != survey.goal:
            version = survey.network.versions.get(name)
            rows.append((quote_empty(name), str(version or ""), *_counts(survey.tallies.get(name))))
    yield from columns(rows)
    if len(survey.longest) > 1:
        yield f"\nlongest: {_road(survey.network, survey.longest)}\n"


def _counts(tally: Tally | None) -> tuple[str, str, str]:
    if tally is None:
        return "none", "", ""
    longest = f"{tally.longest}" if tally.is_exact else f"{tally.longest} or more"
    return _number(tally), f"{tally.shortest}", longest


def _number(tally: Tally) -> str:
    """The number of roads; what nobody would read to the end by its size."""
    text = f"{tally.roads:,}" if tally.roads < 10**_MOST_DIGITS else _power(tally.roads)
    return text if tally.is_exact else f"at least {text}"


def _power(number: int) -> str:
    """`about 1.3e45`, also for numbers that no float holds."""
    exponent = int((number.bit_length() - 1) * 0.30102999566)
    exponent += number >= 10 ** (exponent + 1)
    return f"about {number * 10 // 10**exponent / 10}e{exponent}"


def _listed(survey: Survey) -> Iterator[str]:
    """The first roads from one entry, and a longest one where that is not among them."""
    start, tally = survey.start or "", survey.tallies.get(survey.start or "")
    way = f"from {quote_empty(start)} to {quote_empty(survey.goal)}"
    if start == survey.goal:
        yield one_line(f"{quote_empty(start)} is there already") + "\n"
        return
    if tally is None:
        yield one_line(f"no road leads {way}") + "\n"
        return
    hops, noun = count(tally.longest, "hop"), "road" if tally.roads == 1 else "roads"
    span = hops if tally.shortest == tally.longest else f"{tally.shortest} to {hops}"
    yield one_line(f"{_number(tally)} {noun} {way}, of {span}") + "\n"
    rows = [(count(len(road) - 1, "hop"), _road(survey.network, road)) for road in survey.listed]
    if survey.longest not in survey.listed:
        rows.append(("longest", _road(survey.network, survey.longest)))
    yield from (f"  {line}" for line in columns(rows))
    if (more := tally.roads - len(rows)) > 0:
        yield f"and {_number(tally._replace(roads=more))} more (--limit lists more)\n"
    if not tally.is_exact:
        loop = f"a loop of more than {MOST_IN_LOOP} entries is on the way"
        yield f"{loop}: roads that go down in it are not counted\n"


def _road(net: Network, road: Road) -> str:
    """`a -[replaces]-> b -[skips, skipRange]-> c`; where channels can be switched, with the channels."""
    text = quote_empty(road[0])
    for hop in net.hops(road):
        edge = ", ".join(kind.value for kind in hop.kinds) or "same version"
        where = f" in {', '.join(hop.channels)}" if len(net.graphs) > 1 and hop.channels else ""
        text += f" -[{edge}{where}]-> {quote_empty(hop.end)}"
    return one_line(text)


def _names(names: Sequence[str]) -> str:
    """Names in a sentence, of many the first."""
    if len(names) <= _MOST_NAMES:
        return one_line(join_names([quote_empty(name) for name in names]))
    shown = ", ".join(quote_empty(name) for name in names[: _MOST_NAMES - 1])
    return one_line(f"{shown} and {len(names) - _MOST_NAMES + 1:,} more")


def _verdict(verdict: Verdict, paint: Paint) -> Iterator[str]:
    subject = verdict.demand.subject
    text = one_line(subject.text if " " not in subject.text else f"'{subject.text}'")
    must_pass = verdict.demand.kind is DemandKind.MUST_PASS
    demand = f"every road passes {text}" if must_pass else f"no road lands on {text}"
    nobody = "" if subject.names else "; no bundle is in that range"
    state = "holds" if verdict.holds else "broken" if verdict.offences else "unsettled"
    yield f"{paint('green' if verdict.holds else 'red', state)}: {demand}{nobody}\n"
    if verdict.stuck:
        yield f"  OLM fails for {_names(verdict.stuck)}, and then there is no road that could keep it\n"
    for net, offence in verdict.offences:
        yield from _offence(net, offence, must_pass=must_pass)


def _offence(net: Network, offence: Offence, *, must_pass: bool) -> Iterator[str]:
    where = _channels([graph.name for graph in net.graphs])
    if offence.culprit is None:
        yield one_line(f"  {where}: a new install is {quote_empty(offence.road[0])}") + "\n"
        return
    yield f"  {one_line(where)}: {_road(net, offence.road)}\n"
    start, end = offence.culprit
    [hop] = net.hops((start, end))
    by = f" by {join_names([kind.value for kind in hop.kinds])}" if hop.kinds else ""
    leads = f"which leads {'past' if must_pass else 'onto'} it"
    yield one_line(f"    {quote_empty(end)} accepts {quote_empty(start)}{by}, {leads}") + "\n"
    if offence.road[0] in net.absent:
        yield one_line(f"    {_presence(net, offence.road)}") + "\n"
    others = [name for name in offence.starts if name != offence.road[0]]
    if others:
        yield f"    there is such a road also from {_names(others)}\n"


def _presence(net: Network, road: Road) -> str:
    """Why somebody counts who is in none of the channels."""
    kinds = next(net.hops(road)).kinds
    if EdgeKind.REPLACES in kinds or EdgeKind.SKIPS in kinds:
        first, second = map(quote_empty, road[:2])
        return f"{first} is no entry there, but {second} names it, and users may have it"
    return f"{quote_empty(road[0])} is no entry there: it stands for all that the same ranges accept"


def _mirror(question: Question, mirror: Mirror, paint: Paint) -> Iterator[str]:
    kept, total = len(mirror.bundles), mirror.total
    head = f"package {question.package.name}, OLM {mirror.policy}: keep {kept} of {count(total, 'bundle')}"
    proof = "no mirror needs fewer" if mirror.is_smallest else f"no mirror needs fewer than {mirror.at_least}"
    yield f"{paint('bold', one_line(head))}, {total - kept} can go; {proof}\n"
    for each in mirror.channels:
        yield "\n"
        yield from _kept(question, mirror, each, paint)


def _kept(question: Question, mirror: Mirror, kept: Kept, paint: Paint) -> Iterator[str]:
    if not kept.goals:
        all_of_it = "; keep " + (f"all {count(kept.total, 'entry')}" if kept.total else "nothing")
        because = f"OLM {mirror.policy} fails or brings nobody to a goal, and so no mirror can be judged"
        yield one_line(f"channel {kept.channel}: {because}{all_of_it}") + "\n"
        return
    summary = f"channel {kept.channel}: {len(kept.entries)} of {count(kept.total, 'entry')}"
    goals = " or ".join(quote_empty(name) for name in kept.goals if name in kept.entries)
    yield one_line(f"{summary}; users of {count(len(kept.served), 'version')} come to {goals}") + "\n"
    bundles = question.package.package.by_name
    rows = [("KEEP", "VERSION", "WHY")]
    for name in kept.entries:
        bundle = bundles.get(name)
        rows.append((quote_empty(name), (bundle.version or "") if bundle else "", _why(mirror, kept, name)))
    yield from (f"  {line}" for line in columns(rows))
    if kept.cut_off:
        yield f"  {paint('yellow', 'no road even in the whole channel')}: {_names(kept.cut_off)}\n"
    if kept.offered:
        yield f"  {paint('yellow', 'warning')}: nobody is left who skips {_names(kept.offered)}\n"


def _why(mirror: Mirror, kept: Kept, name: str) -> str:
    if name in kept.goals:
        return "is where everybody goes" if len(kept.goals) == 1 else "is where users arrive"
    if by := kept.needed_by.get(name):
        return f"without it no road for {_names(by)}"
    if mirror.policy == "v0":
        return "holds the chain together: without it there are two heads"
    elsewhere = any(name in other.needed_by or name in other.goals for other in mirror.channels)
    return "is kept for another channel" if elsewhere else "does the same as others that are kept"
