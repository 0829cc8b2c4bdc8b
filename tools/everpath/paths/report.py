"""The answer to one question about a package: its roads, what became of the demands, and the mirrors."""

from __future__ import annotations

__all__ = ["Question", "Roadbook", "Survey", "Verdict", "roadbook"]

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from everpath.graph import ChannelGraph, PackageGraph
from everpath.paths.bundle_selector import Subject
from everpath.paths.constraints import Demand, DemandKind, Offence, must_pass, never
from everpath.paths.hop_graph import Network, Policy, goals, network
from everpath.paths.mirror import Mirror
from everpath.paths.mirror_v0 import mirror_v0
from everpath.paths.mirror_v1 import mirror_v1
from everpath.paths.outside_versions import in_ranges, named
from everpath.paths.path_counts import Road, Tally, first_roads, longest_road, loops, tallies
from everpath.paths.reachability import onward
from everpath.resolvers.resolution import FailureKind, InstalledBundle, ResolutionFailure
from everpath.rules.opm_errors import Refusal, opm_errors
from everpath.versions import Version


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of some channels of a package.

    `across`: roads may switch between the channels; else each is looked at alone. `start` and `goal` limit
    the roads; `limit` is how many are listed. `mirror` asks for the smallest, for those `since` a version.
    """

    package: PackageGraph
    channels: tuple[ChannelGraph, ...]
    policy: Policy = "any"
    across: bool = False
    start: InstalledBundle | None = None
    goal: Subject | None = None
    limit: int = 20
    demands: tuple[Demand, ...] = ()
    mirror: bool = False
    since: Version | None = None


@dataclass(frozen=True, slots=True)
class Survey:
    """The roads to one goal, from everybody or from `start`.

    `listed` are the first roads from `start`, shortest first. `longest` is a longest one of them, or of all.
    """

    network: Network
    goal: str
    start: str | None
    tallies: Mapping[str, Tally]
    loops: tuple[Road, ...] = ()
    listed: tuple[Road, ...] = ()
    longest: Road = ()

    @property
    def channels(self) -> tuple[str, ...]:
        return tuple(graph.name for graph in self.network.graphs)


class Verdict(NamedTuple):
    """What became of a demand: the roads that break it, each in the network it was found in.

    `stuck` are those whose road the resolver does not go on with, because it fails: of them nothing is known.
    """

    demand: Demand
    offences: tuple[tuple[Network, Offence], ...] = ()
    stuck: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        return not self.offences and not self.stuck


class Roadbook(NamedTuple):
    """All that was asked for, and what opm refuses of the package."""

    question: Question
    surveys: tuple[Survey, ...] = ()
    verdicts: tuple[Verdict, ...] = ()
    mirrors: tuple[Mirror, ...] = ()
    networks: tuple[Network, ...] = ()
    refused: tuple[Refusal, ...] = ()


def roadbook(question: Question) -> Roadbook:
    """The answer. Roads are not counted where only demands or a mirror are asked for. Cost: the edges."""
    networks = tuple(_networks(question))
    verdicts = tuple(_verdict(question, networks, demand) for demand in question.demands)
    mirrors = tuple(_mirrors(question)) if question.mirror else ()
    surveys = () if verdicts or mirrors else tuple(_surveys(question, networks))
    return Roadbook(question, surveys, verdicts, mirrors, networks, opm_errors(question.package.package))


def _networks(question: Question) -> Iterator[Network]:
    """One for each channel, or one for all of them."""
    groups = [question.channels] if question.across else [(graph,) for graph in question.channels]
    installed = () if question.start is None else (question.start,)
    found = [network(group, question.policy, installed) for group in groups if group]
    goal, start = question.goal, question.start
    found = [net for net in found if goal is None or goal.names & net.place.keys()]
    concerned = [net for net in found if start is None or _knows(net, start.name)]
    return iter(concerned or found)


def _knows(net: Network, start: str) -> bool:
    return bool(net.ahead(start)) or any(start in graph.entries for graph in net.graphs)


def _goals(question: Question, net: Network) -> Sequence[str]:
    if question.goal is None:
        return tuple(dict.fromkeys(goal for graph in net.graphs for goal in goals(graph, net.policy)))
    return sorted(question.goal.names & net.place.keys(), key=net.place.__getitem__)


def _surveys(question: Question, networks: Sequence[Network]) -> Iterator[Survey]:
    start = question.start.name if question.start else None
    for net in networks:
        for goal in _goals(question, net):
            yield _survey(net, goal, start, question.limit)


def _survey(net: Network, goal: str, start: str | None, limit: int) -> Survey:
    tally = tallies(net, goal)
    listed = tuple(islice(first_roads(net, start, goal), limit)) if start is not None else ()
    starts = [start] if start is not None else list(net.place)
    furthest = max((name for name in starts if name in tally), key=lambda n: tally[n].longest, default=None)
    longest = longest_road(tally, furthest) if furthest is not None else ()
    return Survey(net, goal, start, tally, loops(net), listed, longest)


def _verdict(question: Question, networks: Sequence[Network], demand: Demand) -> Verdict:
    offences: list[tuple[Network, Offence]] = []
    stuck: dict[str, None] = {}
    for plain in networks:
        for net in _peopled(question, plain, demand):
            found = [(net, offence) for offence in _offences(question, net, demand)]
            stuck |= dict.fromkeys(_stuck(question, net))
            if found:
                offences += found
                break
    return Verdict(demand, tuple(offences), tuple(stuck))


def _peopled(question: Question, net: Network, demand: Demand) -> Iterator[Network]:
    """A network with all who may be on its roads: first whom an entry names, then whom a range holds.

    Versions that nobody is known to have are thought of only where nobody else breaks the demand.
    """
    if question.start is not None:
        yield net
        return
    known = named(net.graphs, net.policy)
    yield network(net.graphs, net.policy, known) if known else net
    version = demand.subject.version
    more = tuple(in_ranges(net.graphs, known, () if version is None else (version,)))
    if more:
        yield network(net.graphs, net.policy, (*known, *more))


def _stuck(question: Question, net: Network) -> Iterator[str]:
    """For whom the resolver fails on the way: whoever has arrived has gone all of it."""
    there = _goals(question, net) if net.stuck else ()
    if question.start is not None:
        met = onward(net, (question.start.name,))
        return (name for name in net.stuck if name in met and name not in there)
    found = [
        name for name, failure in net.stuck.items() if name not in there and not _stays(net, name, failure)
    ]
    entries = [name for name in found if name not in net.absent]
    # What stops a whole channel is told of its entries.
    return iter(n for n in found if not entries or n in entries or net.stuck[n] not in net.failures.values())


def _stays(net: Network, name: str, failure: ResolutionFailure) -> bool:
    """Whether somebody who is no entry has no offer in OLM v1: it says so, and leaves what is installed."""
    return name in net.absent and failure.kind is FailureKind.NO_BUNDLES


def _offences(question: Question, net: Network, demand: Demand) -> Iterator[Offence]:
    start = question.start.name if question.start else None
    if demand.kind is DemandKind.MUST_PASS:
        found = [must_pass(net, demand, goal, start) for goal in _goals(question, net)]
    elif question.goal is None:
        found = [never(net, demand, None, start)]
    else:
        found = [never(net, demand, goal, start) for goal in _goals(question, net)]
    return (offence for offence in found if offence is not None)


def _mirrors(question: Question) -> Iterator[Mirror]:
    if question.policy != "v1":
        yield mirror_v0(question.channels, question.since)
    if question.policy != "v0":
        yield mirror_v1(question.channels, question.since)
