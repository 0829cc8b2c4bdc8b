"""Streams: patches of one minor, withdrawn releases, and moving between channels."""

from __future__ import annotations

__all__ = ["channel_switch", "drift", "withdrawn_target", "zstream"]

from collections.abc import Iterator

from everpath.graph import ChannelGraph, PackageGraph
from everpath.model import Entry
from everpath.policies import olm_v0, olm_v1
from everpath.policies.walks import destinations
from everpath.ranges import IntervalSet
from everpath.rules._words import listed, plural, skip, widened
from everpath.rules.findings import Flaw, Severity
from everpath.rules.registry import channel_rule, package_rule


@channel_rule("EP231", "zstream", Severity.WARNING)
def zstream(graph: ChannelGraph) -> Iterator[Flaw]:
    """Every patch of a minor version reaches the latest patch of that minor, without leaving the minor.

    Otherwise a cluster that must stay on the minor cannot take its fixes. Where OLM v0 moves users past
    the latest patch anyway, nobody is stuck and it is only noted.
    Cost: each minor's entries and edges once; ranges are asked only about patches not reached yet.
    """
    hops = olm_v0.hops(graph).next
    ends = destinations(hops, graph.head, graph.entries)
    for latest, patches in _minors(graph):
        reaching = _reaching(graph, latest, patches)
        missed = [p for p in patches if p not in reaching]
        if not missed:
            continue
        passes = all(_is_past(graph, ends[p].name, latest) for p in missed if p in ends)
        yield Flaw(
            graph.entries[latest].place.at("name"),
            f"{latest} is the latest patch of its minor, but {listed(missed)} cannot reach it",
            because=tuple(f"no way from {p} to {latest} inside the minor" for p in missed[:5]),
            fix=widened(graph, latest, missed),
            entry=latest,
            severity=Severity.NOTE if passes else None,
        )


def _minors(graph: ChannelGraph) -> Iterator[tuple[str, list[str]]]:
    """Minors with several entries: the latest one that is not withdrawn, and all others."""
    groups: dict[tuple[int, int], list[str]] = {}
    for name in graph.by_version:
        groups.setdefault(graph.versions[name].minor_stream, []).append(name)
    for names in groups.values():
        standing = [n for n in names if n not in graph.skippers]
        if len(names) > 1 and standing:
            yield standing[-1], [n for n in names if n != standing[-1]]


def _reaching(graph: ChannelGraph, latest: str, patches: list[str]) -> set[str]:
    """The patches from which some road inside the minor leads to the latest one."""
    left, reached, waiting = dict.fromkeys(patches), set[str](), [latest]
    while waiting and left:
        successor = waiting.pop()
        entry = graph.entries[successor]
        accepted = [n for n in (entry.replaces, *entry.skips) if n in left]
        if successor in graph.ranges:
            accepted += [n for n in left if any(graph.accepts(successor, n))]
        for name in dict.fromkeys(accepted):
            assert name is not None  # a key of `left`
            del left[name]
            reached.add(name)
            waiting.append(name)
    # What is newer than the latest standing patch was withdrawn, and what accepts it comes after it.
    return reached | {
        n for n in left if graph.versions[n] > graph.versions[latest] or any(graph.accepts(n, latest))
    }


def _is_past(graph: ChannelGraph, end: str, latest: str) -> bool:
    return end in graph.versions and graph.versions[end] >= graph.versions[latest]


@channel_rule("EP232", "withdrawn-target", Severity.WARNING, policy="v1")
def withdrawn_target(graph: ChannelGraph) -> Iterator[Flaw]:
    """A withdrawn release, that is a skipped one, is nobody's target.

    OLM v0 never offers it. OLM v1 does not look at skips this way: it installs and upgrades to a skipped
    entry whenever that is the highest version on offer. Cost: O((edges + ranges) · log n).
    """
    arrivals: dict[str, list[str]] = {}
    withdrawn = {n for n, skippers in graph.skippers.items() if set(skippers) - {n}}
    for name, target in olm_v1.hops(graph).items():
        if target in withdrawn:
            arrivals.setdefault(target, []).append(name)
    fresh = olm_v1.fresh_install(graph)
    for target, entry in graph.entries.items():
        who = [f"whoever runs {listed(arrivals[target])}"] if target in arrivals else []
        who += ["new installs"] if target == fresh and target in withdrawn else []
        if who:
            yield _withdrawn(graph, entry, who)


def _withdrawn(graph: ChannelGraph, entry: Entry, who: list[str]) -> Flaw:
    skippers = [s for s in graph.skippers[entry.name] if s != entry.name]
    return Flaw(
        entry.place.at("name"),
        f"{skip(skippers)} {entry.name}, yet OLM v1 sends {' and '.join(who)} to it",
        because=tuple(graph.named_edges(entry.name)),
        fix=f"let {skippers[-1]}, with a version above {entry.name}, accept them by skips or skipRange",
        entry=entry.name,
    )


@package_rule("EP233", "channel-switch", Severity.NOTE)
def channel_switch(package: PackageGraph) -> Iterator[Flaw]:
    """From every version one can switch to every channel that holds a higher one.

    A Subscription that changes its channel stays where it is, without a word, when no entry there accepts
    the installed version; OLM v1 reports an error. Cost: one look-up for each version and channel.
    """
    homes = {name: graph for graph in package.channels for name in graph.entries}
    for target in package.channels:
        if not target.by_version:
            continue
        covered = _covered(target)
        top = target.versions[target.by_version[-1]]
        lost = [
            name
            for name, home in homes.items()
            if name not in target.entries
            and name not in target.replacers
            and name not in target.skippers
            and (version := home.versions.get(name)) is not None
            and version < top
            and not covered.contains(version)
        ]
        if lost:
            yield Flaw(
                target.channel.place,
                f"{plural(len(lost), 'version')} of other channels cannot switch to {target.name}: "
                f"{listed(lost)}",
                fix=f"give {target.heads[0] if target.heads else target.name} a skipRange that covers them",
                channel=target.name,
            )


def _covered(graph: ChannelGraph) -> IntervalSet:
    """All versions that some range of a channel accepts."""
    return IntervalSet.union(span.intervals for span in graph.ranges.values())


@package_rule("EP234", "drift", Severity.NOTE)
def drift(package: PackageGraph) -> Iterator[Flaw]:
    """An entry replaces the same one in every channel that holds both candidates.

    Edges belong to a channel, so one bundle may say different things in two of them; where each could say
    the other's, one of the two is probably a mistake. Cost: one comparison for each membership.
    """
    seen: dict[str, tuple[ChannelGraph, str]] = {}
    for graph in package.channels:
        for name, entry in graph.entries.items():
            target = entry.replaces
            if not target or target not in graph.entries:
                continue
            first, other = seen.setdefault(name, (graph, target))
            if other != target and other in graph.entries and target in first.entries:
                yield Flaw(
                    entry.place.at("replaces"),
                    f"{name} replaces {target} in {graph.name}, but {other} in {first.name}",
                    fix=f"let it replace {other} here too, unless the difference is meant",
                    entry=name,
                    channel=graph.name,
                )
